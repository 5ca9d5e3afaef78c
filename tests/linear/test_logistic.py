"""Logistic regression: its boundary, its ties, its losses, and Firth's penalty at the door."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

import likely
from likely.errors import InvalidInput

UNIT_LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]
every = pytest.mark.parametrize("link", UNIT_LINKS)


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X @ [1.0, -0.5] + rng.logistic(size=n) > 0.3, "b", "a")


@cache
def fitted(link="logit", **options):
    return likely.LogisticRegression(link, **options).fit(*data())


@every
@given(seed=st.integers(0, 999))
def test_class_1_is_where_its_probability_is_at_least_a_half(link, seed):
    """LR-1."""
    model = fitted(link)
    X = np.random.default_rng(seed).normal(0, 3, (50, 2))
    margin, probability = model.decision_function(X), model.predict_proba(X)[:, 1]
    assert_array_equal(model.predict(X) == "b", margin >= 0)
    clear = np.abs(margin) > 1e-12
    assert_array_equal((probability >= 0.5)[clear], (margin >= 0)[clear])


@every
def test_points_of_the_boundary_lie_on_it_and_go_to_class_1(link):
    """LR-1: a hyperplane, whatever the link."""
    model = fitted(link)
    w = model.coef_[0]
    half = model.likelihood_.link.link(np.array(0.5))
    base = w * (half - model.intercept_[0]) / (w @ w)
    along = np.array([-w[1], w[0]])
    X = base + np.linspace(-3, 3, 7)[:, None] * along
    assert_allclose(model.decision_function(X), 0, rtol=1e-12, atol=1e-12)
    assert_allclose(model.predict_proba(X), 0.5, rtol=1e-12, atol=1e-12)


def test_a_tie_goes_to_class_1():
    """Symmetric rows: the intercept is 0 exactly at the centre."""
    X = np.array([[-1.0], [1.0]])
    model = likely.LogisticRegression(fit_intercept=False).fit(X, ["n", "y"])
    assert model.decision_function([[0.0]])[0] == 0.0
    assert model.predict([[0.0]])[0] == "y"


def test_a_threshold_moves_the_boundary():
    X, _ = data()
    model = fitted()
    probability = model.predict_proba(X)[:, 1]
    for threshold in (0.2, 0.5, 0.9):
        assert_array_equal(model.predict(X, threshold=threshold) == "b", probability >= threshold)


@every
def test_the_log_likelihood_is_minus_the_cross_entropy(link):
    """LR-2, LR-3: the sum, and n times the mean."""
    X, y = data()
    model = fitted(link)
    probability = model.predict_proba(X)
    total = model.log_likelihood(X, y)
    assert_allclose(total, -log_loss(y, probability, normalize=False), rtol=1e-10)
    assert_allclose(total, -len(y) * log_loss(y, probability), rtol=1e-10)
    assert_allclose(np.exp(model.predict_log_proba(X)), probability)
    assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)


@every
def test_the_logs_stay_finite_far_out(link):
    """GLM-7: |a| of 30 and more."""
    model = fitted(link)
    X = np.array([[40.0, 0.0], [-40.0, 0.0]]) / model.coef_[0, 0]
    logs = model.predict_log_proba(X)
    if link in ("logit", "probit", "cauchit"):
        assert np.isfinite(logs).all()
    assert not np.isnan(logs).any()
    assert (logs <= 0).all()


def test_a_penalty_keeps_separated_classes_finite_and_l1_gives_exact_zeros():
    """LR-16."""
    X, _ = data()
    model = likely.LogisticRegression(l2=0.01).fit(X, X[:, 0] > 0)
    assert 1 < np.abs(model.coef_).max() < 100
    sparse = likely.LogisticRegression(l1=8.0, l2=0.0).fit(X, X[:, 0] > 0)
    assert sparse.coef_[0, 1] == 0.0 != sparse.coef_[0, 0]


def test_priors_are_penalties():
    """LR-16: variance τ² is l2 = 1/τ², scale b is l1 = 1/b: the posterior's mode."""
    X, y = data()
    tau, scale = 0.5, 0.2
    t = (y == "b").astype(float)
    for options, log_prior in (
        ({"l2": 1 / tau**2}, lambda w: -np.sum(w**2) / (2 * tau**2)),
        ({"l1": 1 / scale, "l2": 0.0}, lambda w: -np.abs(w).sum() / scale),
    ):
        model = likely.LogisticRegression(tol=1e-14, **options).fit(X, y)
        mode = np.append(model.coef_, model.intercept_)

        def log_posterior(theta, log_prior=log_prior):
            eta = X @ theta[:-1] + theta[-1]
            return np.sum(t * eta - np.logaddexp(0, eta)) + log_prior(theta[:-1])

        for move in np.vstack([np.eye(3), -np.eye(3)]):
            assert log_posterior(mode) > log_posterior(mode + 1e-4 * move)


def test_the_other_class_has_the_coefficients_negated():
    X, y = data()
    swapped = np.where(y == "a", "z", y)
    one, other = (likely.LogisticRegression(tol=1e-14).fit(X, labels) for labels in (y, swapped))
    assert other.classes_.tolist() == ["b", "z"]
    assert_allclose(one.coef_, -other.coef_, rtol=1e-7)


def test_an_interval_of_the_probability_holds_it():
    X, _ = data()
    model = fitted(l2=0.0)
    interval, probability = model.predict_interval(X, 0.9), model.predict_proba(X)[:, 1]
    assert (interval[:, 0] < probability).all() and (probability < interval[:, 1]).all()
    assert (interval > 0).all() and (interval < 1).all()


def test_shapes_are_those_of_two_classes():
    model = fitted()
    assert model.coef_.shape == (1, 2)
    assert model.intercept_.shape == (1,)
    assert model.classes_.tolist() == ["a", "b"]


def test_firth_needs_the_logit():
    with pytest.raises(
        InvalidInput, match=r"firth=True needs the logit link; the link is 'probit'"
    ):
        fitted("probit", firth=True)


def test_links_of_other_means_are_refused():
    with pytest.raises(InvalidInput, match=r"'sqrt' gives means.*Choose one of identity, log"):
        fitted("sqrt")
