"""Whether a maximum of the likelihood exists, from the next Newton step."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from likely import GLM, LogisticRegression, MaxEntropy, OrdinalRegression, SoftmaxRegression
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import LikelyWarning, Separation
from likely.fitting.divergence import diverging
from likely.likelihoods import likelihood_of
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers import Newton
from likely.solvers.minimise import search


def verdict(X, y, response="bernoulli"):
    blocks = ArrayBlocks(Intercept(Dense(X)), y.astype(float))
    objective = LinearObjective(likelihood_of(response), NoPenalty(), blocks, Serial())
    start = np.zeros(X.shape[1] + 1)
    _, state = search(Newton(), objective, start, tol=1e-8)
    at_start = objective.second_order(start).hessian
    return diverging(objective.value, state.theta, state.direction, state.hessian, at_start)


def some(seed=0, n=100):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng


def test_overlapping_classes_have_a_maximum():
    X, rng = some()
    assert verdict(X, X[:, 0] + rng.logistic(size=100) > 0) is None


def test_a_very_good_fit_is_no_separation():
    """Two of two thousand rows on the wrong side are enough for a maximum."""
    X, _ = some(n=2000)
    y = X[:, 0] > 0
    wrong = np.argsort(np.abs(X[:, 0] - 0.4))[:2]
    y[wrong] = ~y[wrong]
    assert verdict(X, y) is None


def test_the_column_that_separates_is_named_first():
    X, _ = some()
    found = verdict(X, X[:, 1] > 0)
    assert found is not None
    assert found.columns[0] == 1
    assert found.direction[1] > 0


def test_rows_that_one_column_decides_are_found_though_others_overlap():
    X, rng = some()
    X[:, 2] = np.arange(100) % 10 == 0
    y = (X[:, 0] + rng.logistic(size=100) > 0) | (X[:, 2] == 1)
    found = verdict(X, y)
    assert found is not None
    assert_array_equal(found.columns[:1], [2])


def test_counts_that_are_0_wherever_a_column_is_set_have_no_rate_there():
    X, rng = some()
    X[:, 2] = np.arange(100) % 10 == 0
    y = np.where(X[:, 2] == 1, 0, rng.poisson(3.0, 100))
    found = verdict(X, y, "poisson")
    assert found is not None
    assert found.columns[0] == 2
    assert found.direction[2] < 0


@pytest.mark.parametrize("penalty", [{"l1": 1.0, "l2": 0.0}, {"l2": 1.0}], ids=["l1", "l2"])
def test_an_intercept_alone_without_a_penalty_can_still_diverge(penalty):
    """All responses at one end; with both classes, a column that decides them is penalised."""
    X, _ = some()
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not LogisticRegression(**penalty).fit(X, y).separated_
    with pytest.warns(LikelyWarning, match="not finite|infinite|no finite"):
        GLM("poisson", **penalty).fit(X, np.zeros(len(X)))


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0, 1e6])
@pytest.mark.parametrize(
    "model",
    [
        SoftmaxRegression(l2=0.0),
        OrdinalRegression(l2=0.0),
        MaxEntropy(l2=0.0),
        LogisticRegression(l2=0.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_unit_of_the_weights_hides_no_separation(model, unit):
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 19).astype(int) + (X[:, 0] > 29) * (type(model) is not LogisticRegression)
    weight = np.full(40, unit)
    with pytest.warns(Separation):
        clone(model).fit(X, y, sample_weight=weight)
    overlapping = np.where(np.arange(40) % 5 == 0, 1 - np.minimum(y, 1), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Separation)
        clone(model).fit(X, overlapping, sample_weight=weight)
