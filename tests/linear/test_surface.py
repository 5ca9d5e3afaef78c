"""What fitted linear models answer: the log-likelihood of each row, and of all by weight."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import likely
from likely import (
    GLM,
    FrankHall,
    LinearRegression,
    LogisticRegression,
    MaxEntropy,
    OrdinalRegression,
    PenaltyPath,
    SoftmaxRegression,
)
from likely.errors import InvalidInput

N = 60


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] + rng.logistic(size=N) > 0).astype(int) + (X[:, 1] + rng.logistic(size=N) > 0)
    return X, y, rng.integers(0, 4, N).astype(float)


MODELS = {
    "linear": (LinearRegression(), lambda y: y + 0.5),
    "poisson": (GLM("poisson"), lambda y: y),
    "gamma": (GLM("gamma", "log"), lambda y: y + 1.0),
    "logistic": (LogisticRegression(), lambda y: y > 0),
    "softmax": (SoftmaxRegression(), lambda y: y),
    "maxent": (MaxEntropy(), lambda y: y),
    "ordinal": (OrdinalRegression(), lambda y: y),
    "frank-hall": (FrankHall(LogisticRegression()), lambda y: y),
    "path": (PenaltyPath(LogisticRegression(), n_penalties=5), lambda y: y > 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_log_likelihood_is_the_weighted_total_over_rows(name):
    model, response = MODELS[name]
    X, y, weight = rows()
    y = response(y)
    model.fit(X, y)
    each = model.log_likelihoods(X, y)
    assert each.shape == (N,) and np.isfinite(each).all()
    assert model.log_likelihood(X, y) == pytest.approx(each.sum(), rel=1e-12)
    assert model.log_likelihood(X, y, weight) == pytest.approx(weight @ each, rel=1e-12)
    assert_allclose(model.log_likelihoods(X[:7], y[:7]), each[:7], rtol=1e-12)


@pytest.mark.parametrize("name", ["poisson", "softmax", "ordinal", "logistic", "maxent"])
def test_the_log_likelihood_of_the_rows_of_a_fit_is_that_of_its_summary(name):
    model, response = MODELS[name]
    X, y, weight = rows()
    model.fit(X, response(y), weight)
    found = model.log_likelihood(X, response(y), weight)
    assert found == pytest.approx(model.inference_.log_likelihood, rel=1e-9)


def test_labels_and_weights_may_be_columns_of_the_frame():
    X, y, weight = rows()
    frame = pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "y": y, "w": weight})
    model = SoftmaxRegression().fit(frame, "y", "w")
    expected = model.log_likelihood(frame[["u", "v"]], y, weight)
    assert model.log_likelihood(frame, "y", "w") == pytest.approx(expected, rel=1e-12)


def test_soft_labels_have_a_log_likelihood_as_they_have_a_fit():
    X, y, weight = rows()
    soft = np.random.default_rng(1).dirichlet(np.ones(3), N)
    soft[0] = [1.0, 0.0, 0.0]
    model = SoftmaxRegression(tol=1e-12).fit(X, soft, weight)
    each = model.log_likelihoods(X, soft)
    assert_allclose(each, (soft * model.predict_log_proba(X)).sum(axis=1))
    assert model.log_likelihood(X, soft, weight) == pytest.approx(weight @ each)
    assert model.inference_.log_likelihood == pytest.approx(weight @ each)
    hard = np.eye(3)[y]
    assert_allclose(model.log_likelihoods(X, hard), model.log_likelihoods(X, y))
    with pytest.raises(InvalidInput, match=r"expected \(60, 3\): soft labels"):
        model.log_likelihoods(X, soft[:, :2])
    with pytest.raises(InvalidInput, match="soft labels are probabilities"):
        model.log_likelihoods(X, soft * 2)


def test_maximum_entropy_has_corners_and_a_choice_of_intercept():
    X, y, _ = rows()
    softmax = SoftmaxRegression(l1=4.0, l2=0.5, fit_intercept=False, tol=1e-12).fit(X, y)
    same = MaxEntropy(l1=4.0, l2=0.5, fit_intercept=False, tol=1e-12).fit(X, y)
    assert_allclose(same.predict_proba(X), softmax.predict_proba(X))
    assert same.coef_.size == 6
    F = np.zeros((N, 3, 6))
    for k in range(3):
        F[:, k, 2 * k : 2 * k + 2] = X
    own = MaxEntropy(l1=4.0, l2=0.5, tol=1e-12).fit(F, y)
    assert_allclose(own.predict_proba(F), softmax.predict_proba(X), atol=1e-6)
    assert (own.coef_ == 0).any()
    assert own.inference_.excluded == tuple(np.flatnonzero(own.coef_ == 0))


def test_features_that_separate_the_labels_are_told_of():
    F = np.zeros((6, 2, 1))
    F[:, 1, 0] = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]
    with pytest.warns(likely.errors.Separation, match="MaxEntropy.*'f0'"):
        model = MaxEntropy(l2=0.0).fit(F, [0, 0, 0, 1, 1, 1])
    assert model.separated_ and np.isnan(model.inference_.standard_errors[0])


@pytest.mark.parametrize("name", MODELS)
def test_a_warm_start_ends_where_it_began(name):
    model, response = MODELS[name]
    X, y, _ = rows()
    known = model.get_params(deep=False)
    if "warm_start" not in known:  # they have no search of their own
        assert name in ("frank-hall", "path")
        return
    solver = {} if name != "linear" else {"solver": "newton"}
    warm = clone(model).set_params(warm_start=True, tol=1e-12, **solver).fit(X, response(y))
    first, steps = np.ravel(warm.coef_).copy(), warm.solution_.n_iter
    warm.fit(X, response(y))
    assert warm.solution_.n_iter <= min(steps, 2)
    assert_allclose(np.ravel(warm.coef_), first, rtol=1e-8)
    other = warm.fit(X[:, :1], response(y))  # too few columns to start from the last fit
    cold = clone(model).set_params(tol=1e-12).fit(X[:, :1], response(y))
    assert_allclose(other.coef_, cold.coef_, rtol=1e-7)


def test_features_of_x_and_y_start_from_the_last_fit():
    X, y, _ = rows()
    features = [lambda X, label: X[:, 0] * label, lambda X, label: X[:, 1] * (label == 1)]
    warm = MaxEntropy(features, warm_start=True).fit(X, y)
    steps = warm.solution_.n_iter
    assert warm.fit(X, y).solution_.n_iter < steps
