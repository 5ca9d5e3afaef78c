"""What all estimators share around a fit: seeds, refusals that change nothing, warnings."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.errors import BadCell, InvalidInput
from likely.inputs.estimators import (
    columns_named,
    generator,
    unchanged_if_refused,
    warn_unless_converged,
)
from likely.solvers.minimise import Solution


class Some(BaseEstimator):
    """An estimator without a mind of its own."""


def test_a_seed_is_a_seed_in_every_form():
    assert generator(3).random() == generator(3).random() == np.random.default_rng(3).random()
    given = np.random.default_rng(0)
    assert generator(given) is given
    one, other = (generator(np.random.RandomState(0)).random() for _ in range(2))
    assert one == other


def test_an_estimator_is_as_it_was_after_a_refusal():
    model = likely.GLM()
    model.kept_ = 1
    with pytest.raises(InvalidInput), unchanged_if_refused(model):
        model.kept_, model.new_ = 2, 3
        raise InvalidInput("no")
    assert model.kept_ == 1
    assert not hasattr(model, "new_")


def test_a_search_that_stopped_early_says_so():
    stopped = Solution(None, False, "max_iter=3 was reached with a gap of 1", (1.0,), 1.0)
    with pytest.warns(ConvergenceWarning, match=r"Some did not converge: max_iter=3.*Raise"):
        warn_unless_converged(Some(), stopped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(Some(), Solution(None, True, "", (1.0,), 0.0))


def test_a_complaint_about_a_cell_names_its_column():
    model = Some()
    model.n_features_in_ = 2
    with pytest.raises(InvalidInput, match=r"Row 3, column 'x1': no"), columns_named(model):
        raise BadCell("no", row=3, column=1)
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    with pytest.raises(InvalidInput, match=r"Row 3, column 'b': no"), columns_named(model):
        raise BadCell("no", row=3, column=1)
