"""Training that goes on, part by part, after a fit or after settings were changed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely import solvers
from likely.errors import InvalidInput
from likely.likelihoods import Bernoulli
from tests.neural.estimators import blobs, classifier


@pytest.mark.parametrize("schedule", ["constant", "reduce-on-plateau"])
def test_the_history_after_early_stopping_goes_on_with_training_losses(schedule):
    """There are no validation rows in partial_fit; both columns would differ in length."""
    X, y = blobs()
    model = classifier(early_stopping=True, schedule=schedule).fit(X, y)
    before = model.history_
    model.partial_fit(X, y).partial_fit(X, y)
    assert model.history_.validation is None
    assert_array_equal(model.history_.loss[:-2], before.loss)
    assert len(model.history_.to_frame()) == before.n_epochs + 2
    assert str(model.history_).startswith("NeuralNetworkClassifier: 8 epochs, by partial_fit.")


@pytest.mark.parametrize("changed", [{"hidden": (7,)}, {"activation": "tanh"}, {"bias": False}])
@pytest.mark.parametrize("method", ["partial_fit", "fine_tune"])
def test_layers_that_were_changed_are_refused(method, changed):
    """With another activation it would be trained as one network and predict as another."""
    X, y = blobs()
    model = classifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InvalidInput, match="hidden, activation or bias was changed"):
        getattr(model.set_params(**changed), method)(X, y)
    assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(("first", "then"), [("adam", "momentum"), ("momentum", "adagrad")])
def test_another_rule_starts_without_the_memory_of_the_first(first, then):
    """Running means of gradients are no steps: they have the opposite sign."""
    X, y = blobs()
    model = classifier(solver=first, batch="full").fit(X, y)
    theta = model.parameters_.copy()
    fresh = classifier(solver=then, batch="full", initialise=theta).partial_fit(X, y, np.unique(y))
    model.set_params(solver=then).partial_fit(X, y)
    assert_allclose(model.parameters_, fresh.parameters_, rtol=1e-5, atol=1e-7)


def test_the_same_rule_goes_on_with_its_memory():
    X, y = blobs()
    options = {"solver": solvers.Clip(1.0) | solvers.Adam(), "batch": "full"}
    whole = classifier(**options, max_epochs=7).fit(X, y)
    parts = classifier(**options, max_epochs=6).fit(X, y).partial_fit(X, y)
    assert_array_equal(parts.parameters_, whole.parameters_)


@pytest.mark.parametrize("response", ["bernoulli", Bernoulli(), "square-error-sigmoid"])
def test_soft_labels_of_0_and_1_are_labels_for_every_output_of_two_classes(response):
    X, y = blobs(n_classes=2)
    hard = classifier(response=response, validation=(X, y)).fit(X, y)
    soft = classifier(response=response, validation=(X, np.eye(2)[y])).fit(X, np.eye(2)[y])
    assert_array_equal(soft.parameters_, hard.parameters_)
    assert_array_equal(soft.history_.validation, hard.history_.validation)


@pytest.mark.parametrize(
    "options", [{"response": "ordinal"}, {"class_weight": "balanced"}, {"balanced": True}]
)
def test_a_validation_set_of_soft_labels_needs_a_training_that_has_them(options):
    X, y = blobs(n_classes=2)
    with pytest.raises(InvalidInput, match="validation set cannot be used: y holds soft labels"):
        classifier(**options, validation=(X, np.eye(2)[y])).fit(X, y)


def test_soft_labels_are_taken_in_the_first_part_and_in_later_ones():
    X, y = blobs()
    hard, soft, frame = (classifier() for _ in range(3))
    named = pd.DataFrame(np.eye(3)[y][:, ::-1], columns=["2", "1", "0"])  # another order
    for _ in range(2):
        hard.partial_fit(X, y, classes=[0, 1, 2])
        soft.partial_fit(X, np.eye(3)[y], classes=[0, 1, 2])
        frame.partial_fit(X, named, classes=[0, 1, 2])
    assert_array_equal(soft.parameters_, hard.parameters_)
    assert_array_equal(frame.parameters_, hard.parameters_)
    for model in (classifier(), soft):
        with pytest.raises(InvalidInput, match=r"soft labels of 2 classes; there are 3: 0, 1"):
            model.partial_fit(X, np.ones((len(X), 2)) / 2, classes=[0, 1, 2])


def test_other_columns_in_a_later_part_are_refused_in_words():
    X, y = blobs()
    model = classifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InvalidInput, match=r"X has 1 features, but .*Pass the columns of the fit"):
        model.partial_fit(X[:, :1], y)


def test_callbacks_that_are_no_functions_are_refused():
    X, y = blobs()
    with pytest.raises(InvalidInput, match="callbacks has 3; functions"):
        classifier(callbacks=3).fit(X, y)
