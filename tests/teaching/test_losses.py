"""A linear classifier with a chosen loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression as LogisticOfScikitLearn
from sklearn.pipeline import make_pipeline

from likely.differences import check_gradient
from likely.errors import InvalidInput, UnknownName
from likely.features.basis_functions import BasisFunctions
from likely.features.polynomial import PolynomialFeatures
from likely.fitting.separation import separability
from likely.linear.logistic import LogisticRegression
from likely.solvers import LBFGS, Newton, minimise
from likely.special import expit
from likely.teaching.hinge import Smoothing
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


def losses_by_hand(name, y, eta):
    """Each loss from its formula, of one class."""
    margin, f = np.where(y == 1, eta, -eta), expit(eta)
    return {
        "cross-entropy": -np.log(expit(margin)),
        "logistic": -np.log(expit(margin)),
        "square-error": (f - y) ** 2 / 2,
        "hinge": np.maximum(0, 1 - margin),
        "squared": (1 - margin) ** 2,
        "sigmoid-squared": (1 - expit(margin)) ** 2,
        "zero-one": ((eta >= 0) != (y == 1)).astype(float),
    }[name]


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_soft_targets_and_a_mean_are_in_every_loss(loss, reduction):
    """LR-3: t of class 1 and 1 − t of class 0; a mean is over the weights."""
    X, _ = some_data()
    rng = np.random.default_rng(1)
    t, weight = rng.random(80), rng.integers(0, 4, 80) * 0.5
    t[:5] = 0.0, 1.0, 1.0, 0.0, 0.5
    theta = np.array([0.7, -0.4, 0.2])
    objective = loss_objective(X, t, weight, loss=loss, l2=0.3, reduction=reduction)
    eta = X @ theta[:2] + theta[2]
    each = t * losses_by_hand(loss, 1, eta) + (1 - t) * losses_by_hand(loss, 0, eta)
    if loss == "square-error":
        each = (expit(eta) - t) ** 2 / 2
    expected = weight @ each + 0.15 * theta[:2] @ theta[:2]
    share = 1.0 if reduction == "sum" else weight.sum()
    assert_allclose(objective.value(theta), expected / share, rtol=1e-12)
    if loss != "zero-one":
        assert check_gradient(objective.value, objective.gradient, theta) < 1e-6


def test_a_weighted_hinge_is_certified_by_the_gap_of_repeated_rows():
    """A weight of 2 is a row twice, also in the dual; soft targets are two rows."""
    X, y = some_data()
    repeats = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = loss_objective(X, y, repeats, loss="hinge", l2=0.5)
    repeated = loss_objective(
        np.repeat(X, repeats, axis=0), np.repeat(y, repeats), loss="hinge", l2=0.5
    )
    ends = [minimise(Smoothing(), each, np.zeros(3), tol=1e-9) for each in (weighted, repeated)]
    assert all(end.converged for end in ends)
    assert_allclose(ends[0].trace[-1], ends[1].trace[-1], rtol=1e-8)
    soft = loss_objective(X, 0.1 + 0.8 * y, loss="hinge", l2=0.5)
    found = minimise(Smoothing(), soft, np.zeros(3), tol=1e-8)
    assert found.converged
    rng = np.random.default_rng(3)
    lowest = min(soft.value(found.theta + 0.1 * rng.normal(size=3)) for _ in range(300))
    assert lowest >= found.trace[-1] - 1e-7


def probability(X, y, l2):
    theta = minimise(Newton(), loss_objective(X, y, l2=l2), np.zeros(X.shape[1] + 1)).theta
    return expit(X @ theta[:-1] + theta[-1])


def trained(features, X, y):
    """LR-17: one training routine; the function, a map of the columns, is its first argument."""
    seen = features(X)
    objective = LogisticRegression(l2=0.0).objective(seen, y)
    return objective.fitted_model(minimise(Newton(), objective, objective.start).theta), seen


def test_functions_are_swapped_without_changing_loss_training_or_prediction():
    """LR-17: a degree-1 polynomial in another basis, whose array is another, is the same model.

    The columns are those of the polynomial seen through an invertible matrix, so only the fit can
    make the probabilities agree; a polynomial of degree 2 differs.
    """
    X, y = some_data()
    turned = np.array([[2.0, -1.0], [0.5, 3.0]])

    def polynomial(degree):
        return lambda rows: PolynomialFeatures(degree).fit_transform(rows @ turned + [3.0, -1.0])

    linear, seen = trained(np.asarray, X, y)
    of_degree_1, other = trained(polynomial(1), X, y)
    assert np.abs(seen - other[:, :2]).max() > 1
    p = linear.predict_proba(seen)
    assert_allclose(of_degree_1.predict_proba(other), p, atol=1e-6)
    by_theirs = LogisticOfScikitLearn(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    assert_allclose(by_theirs.predict_proba(X), p, atol=1e-5)
    of_degree_2, wide = trained(polynomial(2), X, y)
    assert np.abs(of_degree_2.predict_proba(wide) - p).max() > 1e-3


def test_a_polynomial_of_degree_1_is_the_linear_model():
    """LR-19: monomials of rows in another order of columns are fitted to the same boundary."""
    X, y = some_data()
    monomials = PolynomialFeatures(monomials=[["x1"], ["x0"]]).fit(X)
    swapped = LogisticRegression(l2=0.1, tol=1e-14).fit(monomials.transform(X), y)
    plain = LogisticRegression(l2=0.1, tol=1e-14).fit(X, y)
    assert_allclose(swapped.coef_[0, ::-1], plain.coef_[0], rtol=1e-6)
    degree_1 = make_pipeline(PolynomialFeatures(1), LogisticRegression(l2=0.1, tol=1e-14))
    new = np.random.default_rng(4).normal(size=(50, 2))
    p = 1 / (1 + np.exp(-(new @ plain.coef_[0] + plain.intercept_)))
    assert_allclose(degree_1.fit(X, y).predict_proba(new)[:, 1], p, atol=1e-6)
    assert degree_1[0].transform(new).shape[1] == 2


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
