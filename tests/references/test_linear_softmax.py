"""Softmax regression against scikit-learn's LogisticRegression.

Ours goes to a gap of 1e-12.  scikit-learn's lbfgs stops by the largest entry of the gradient of the
*mean* loss, which leaves its weights some 1e-5 from the optimum of these problems.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from likely.likelihoods.categorical import Categorical
from likely.linear.softmax import SoftmaxRegression

THEIRS = {"tol": 1e-12, "max_iter": 10_000}


def centred(weights):
    return weights - weights.mean(axis=0)


@pytest.mark.parametrize("load", [load_iris, load_wine], ids=["iris", "wine"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_penalised_fits_agree(load, C, intercept):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = LogisticRegression(C=C, fit_intercept=intercept, **THEIRS).fit(X, y)
    ours = SoftmaxRegression(l2=1 / C, fit_intercept=intercept, tol=1e-12).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, centred(theirs.intercept_), atol=1e-4)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_unpenalised_fits_agree():
    """SPEC LR-7: probabilities, and weights centred over classes, to 1e-4."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = (X @ rng.normal(size=(5, 4)) + rng.gumbel(size=(500, 4))).argmax(axis=1)
    theirs = LogisticRegression(C=np.inf, **THEIRS).fit(X, y)
    ours = SoftmaxRegression(l2=0.0, tol=1e-12).fit(X, y)
    assert_allclose(ours.coef_, centred(theirs.coef_), atol=1e-4)
    assert_allclose(ours.intercept_, centred(theirs.intercept_), atol=1e-4)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_two_classes_agree_at_twice_the_penalty():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    theirs = LogisticRegression(C=0.5, **THEIRS).fit(X, y)
    ours = SoftmaxRegression(l2=4.0, tol=1e-12).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_elastic_nets_agree(share):
    """scikit-learn's saga is stochastic: its last weights are within 1e-6 of ours, not 1e-12."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = LogisticRegression(
        C=0.5, l1_ratio=share, solver="saga", tol=1e-10, max_iter=20_000, random_state=0
    ).fit(X, y)
    ours = SoftmaxRegression(l1=2 * share, l2=2 * (1 - share), tol=1e-12).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_the_summed_cross_entropy_is_scikit_learns_and_scipys():
    """LR-8: −Σ_n (a_ny − LSE(a_n)), the sum that torch calls CrossEntropyLoss(reduction="sum")."""
    rng = np.random.default_rng(1)
    a, y = 3 * rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    ours = Categorical(4).nll(y, a).sum()
    assert_allclose(ours, log_loss(y, softmax(a, axis=1), normalize=False), rtol=1e-13)
    assert_allclose(ours, -log_softmax(a, axis=1)[np.arange(200), y].sum(), rtol=1e-13)


def test_weighted_fits_agree():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y)) * 3
    theirs = LogisticRegression(C=1.0, **THEIRS).fit(X, y, weight)
    ours = SoftmaxRegression(l2=1.0, tol=1e-12).fit(X, y, weight)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("kind", ["model", "HC0", "clustered"])
def test_errors_are_those_of_statsmodels(kind):
    """MNLogit's reference is the first class; its HC1 has no factor n/(n − p), ours has."""
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    X = rng.normal(loc=[0.0, 3.0, -1.0], size=(500, 3))
    y = ((X - X.mean(axis=0)) @ rng.normal(size=(3, 4)) + rng.gumbel(size=(500, 4))).argmax(axis=1)
    groups = rng.integers(0, 30, 500)
    robust = {
        "model": {},
        "HC0": {"cov_type": "HC0"},
        "clustered": {"cov_type": "cluster", "cov_kwds": {"groups": groups}},
    }
    model = statsmodels.MNLogit(y, np.column_stack([X, np.ones(500)]))
    theirs = model.fit(method="newton", disp=0, tol=1e-14, **robust[kind])
    ours = SoftmaxRegression(l2=0.0, reference=0, standard_errors=kind, tol=1e-14)
    ours.fit(X, y, groups=groups if kind == "clustered" else None)
    found = ours.inference_
    assert_allclose(found.theta, np.ravel(theirs.params, order="F"), rtol=1e-9)
    assert_allclose(found.covariance, theirs.cov_params(), rtol=1e-8, atol=1e-12)
    assert_allclose(found.log_likelihood, theirs.llf, rtol=1e-12)
    assert_allclose(found.null_log_likelihood, theirs.llnull, rtol=1e-9)
    assert_allclose([found.aic, found.bic], [theirs.aic, theirs.bic], rtol=1e-12)
