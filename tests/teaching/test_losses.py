"""A linear classifier with a chosen loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.differences import check_gradient
from likely.errors import InvalidInput, UnknownName
from likely.features.basis_functions import BasisFunctions
from likely.features.polynomial import PolynomialFeatures
from likely.linear.separation import separability
from likely.solvers import LBFGS, Newton, minimise
from likely.special import expit
from likely.teaching.losses import LOSSES, loss_objective

XOR, LABEL = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def some_data(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X @ [2.0, -1.0] + rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "zero-one"])
def test_the_gradient_is_that_of_the_total(loss):
    objective = loss_objective(*some_data(), loss=loss, l2=0.3)
    theta = np.array([0.7, -0.4, 0.2])
    assert (
        check_gradient(objective.value, lambda t: objective.first_order(t).gradient, theta) < 1e-6
    )


def test_the_zero_one_loss_counts_errors():
    X, y = some_data()
    theta = np.array([1.0, 0.0, 0.0])
    errors = loss_objective(X, y, loss="zero-one").value(theta)
    assert errors == np.sum((X[:, 0] >= 0) != y)
    assert 0 < errors < len(y) / 2


def test_cross_entropy_and_the_logistic_loss_are_one():
    fits = [
        minimise(LBFGS(), loss_objective(*some_data(), loss=loss, l2=1.0), np.zeros(3)).theta
        for loss in ("cross-entropy", "logistic")
    ]
    assert_allclose(*fits, atol=1e-6)


def test_the_penalty_leaves_the_intercept_free():
    X, y = some_data()
    theta = minimise(LBFGS(), loss_objective(X, y, l2=1e9), np.zeros(3), max_iter=500).theta
    assert_allclose(theta[:2], 0, atol=1e-6)
    share = y.mean()
    assert_allclose(theta[2], np.log(share / (1 - share)), atol=1e-4)


def test_a_misspelt_loss_and_labels_of_plus_and_minus_one_are_refused():
    X, y = some_data()
    with pytest.raises(UnknownName, match="Did you mean 'hinge'"):
        loss_objective(X, y, loss="hing")
    with pytest.raises(InvalidInput, match="between 0 and 1; found -1"):
        loss_objective(X, 2 * y - 1)


def probability(X, y, l2):
    theta = minimise(Newton(), loss_objective(X, y, l2=l2), np.zeros(X.shape[1] + 1)).theta
    return expit(X @ theta[:-1] + theta[-1])


def test_a_polynomial_of_degree_1_is_the_linear_model():
    """LR-17: the functions are swapped, and neither the loss nor the search notices."""
    X, y = some_data()
    polynomial = PolynomialFeatures(1).fit_transform(X)
    assert_allclose(probability(polynomial, y, 0.1), probability(X, y, 0.1), atol=1e-6)


@pytest.mark.parametrize(
    "features",
    [
        BasisFunctions("distance", centres=[[0, 0], [1, 1]]),
        PolynomialFeatures(monomials=[["x0"], ["x1"], ["x0", "x1"]]),
    ],
    ids=["distances", "product"],
)
def test_a_feature_map_takes_xor_apart(features):
    seen = features.fit_transform(XOR)
    assert not separability(XOR, LABEL).separable
    assert separability(seen, LABEL).separable
    assert ((probability(seen, LABEL, 0.01) > 0.5) == LABEL).all()
