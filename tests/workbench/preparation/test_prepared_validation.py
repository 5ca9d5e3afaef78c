"""A validation set of the model inside is prepared as the table is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from likely import NeuralNetworkClassifier
from likely.errors import InvalidInput
from likely.workbench.preparation.prepared import Prepared


def network(validation, **given):
    return NeuralNetworkClassifier(
        (4,), validation=validation, early_stopping=True, max_epochs=6, tol=None, **given
    )


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    size, town = 1e3 + 50 * rng.normal(size=n), rng.choice(["Ghent", "Mons"], n)
    y = (size + 40 * (town == "Mons") + 20 * rng.normal(size=n) > 1020).astype(int)
    size[::9] = np.nan
    return pd.DataFrame({"size": size, "town": town, "planet": "Earth"}), y


def validation_losses(validation):
    X, y = rows()
    return Prepared(network(validation, random_state=0)).fit(X, y).model_.history_.validation


def test_the_losses_are_those_of_prepared_rows():
    (X, y), held = rows(), rows(40, seed=1)
    prepared = Prepared(network(held, random_state=0)).fit(X, y)
    by_hand = network((prepared.prepare(held[0]), held[1]), random_state=0)
    by_hand.fit(prepared.prepare(X), y)
    assert_array_equal(prepared.model_.history_.validation, by_hand.history_.validation)
    assert prepared.model.validation is held  # what was given is not changed


def test_the_target_and_the_weights_may_be_columns():
    X, y = rows(40, seed=1)
    weight = np.arange(40) % 3.0
    named = (X.assign(y=y, weight=weight), "y", "weight")
    assert_array_equal(validation_losses(named), validation_losses((X, y, weight)))


def test_training_together_prepares_it_too():
    (X, y), held = rows(), rows(40, seed=1)
    outer = Prepared(network(held))
    preparation = outer.prepared_rows(X, y, {}).preparation
    table, target = outer.model_on_prepared(clone(outer.model), preparation).validation
    assert_array_equal(target, held[1])
    assert table.equals(clone(outer).fit(X, y).prepare(held[0]))


def test_a_set_with_other_columns_is_refused():
    X, y = rows(40, seed=1)
    with pytest.raises(InvalidInput, match=r"(?s)The validation set cannot be used: .*town"):
        validation_losses((X.drop(columns="town"), y))
