"""``l2="auto"``: the strength of the largest marginal likelihood, by one code for all models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

import likely as lk
from likely.errors import InvalidInput


def rows(seed=0, n=300, d=10, size=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ (size * rng.normal(size=d)), rng


MODELS = {
    "linear": (lk.LinearRegression, lambda eta, rng: eta + rng.normal(size=len(eta))),
    "glm": (lambda **o: lk.GLM("poisson", **o), lambda eta, rng: rng.poisson(np.exp(eta))),
    "counts": (
        lambda **o: lk.GLM("negative-binomial", **o),
        lambda eta, rng: rng.negative_binomial(2, 2 / (2 + np.exp(eta))),
    ),
    "logistic": (
        lk.LogisticRegression,
        lambda eta, rng: (eta + rng.logistic(size=len(eta)) > 0) * 1,
    ),
    "ordinal": (
        lk.OrdinalRegression,
        lambda eta, rng: np.digitize(eta + rng.logistic(size=len(eta)), [-1.0, 1.0]),
    ),
}


@pytest.mark.long
def test_it_maximises_the_marginal_likelihood_of_a_gaussian():
    X, eta, rng = rows()
    y = eta + rng.normal(size=len(eta))
    basis = np.linalg.svd(np.ones((1, len(y))))[2][1:]
    Z, r = basis @ X, basis @ y

    def loss(log_strength):  # the variance of the noise at its best
        cov = np.eye(len(r)) + Z @ Z.T / np.exp(log_strength)
        noise = r @ np.linalg.solve(cov, r) / len(r)
        return -multivariate_normal(np.zeros(len(r)), noise * cov).logpdf(r)

    best = minimize_scalar(loss, bounds=(-5, 10), method="bounded", options={"xatol": 1e-8})
    model = lk.LinearRegression(l2="auto").fit(X, y)
    assert_allclose(model.l2_, np.exp(best.x), rtol=1e-2)
    assert_allclose(loss(np.log(model.l2_)), best.fun, rtol=1e-8)
    same = lk.LinearRegression(l2=model.l2_).fit(X, y)
    assert_allclose(model.coef_, same.coef_, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_more_noise_more_penalty_and_the_next_number_forgets_it(name, tmp_path):
    made, draw = MODELS[name]
    X, eta, rng = rows()
    strong = made(l2="auto").fit(X, draw(0 * eta, rng))
    model = made(l2="auto").fit(X, draw(2 * eta, rng))
    assert 0 < model.l2_ < strong.l2_ / 3
    plain = made(l2=0.0).fit(X, draw(0 * eta, rng))
    assert np.square(strong.coef_).sum() < 0.8 * np.square(plain.coef_).sum()
    lk.save(model, tmp_path / "m.likely")
    assert lk.load(tmp_path / "m.likely").l2_ == model.l2_
    model.set_params(l2=2.0).fit(X, draw(eta, rng))
    assert "l2_" not in vars(model)


def test_overdispersed_counts_are_penalised_for_their_noise():
    X, _, rng = rows(1, 400)
    y = rng.negative_binomial(0.5, 0.5 / (0.5 + 3.0), 400)  # noise of ten times a Poisson's
    model = lk.GLM("poisson", l2="auto").fit(X, y)
    plain = lk.GLM("poisson").fit(X, y)
    assert np.abs(model.coef_).max() < 0.3 * np.abs(plain.coef_).max()


@pytest.mark.parametrize("name", MODELS)
def test_a_lasso_beside_it_is_refused(name):
    made, draw = MODELS[name]
    X, eta, rng = rows()
    with pytest.raises(InvalidInput, match="l2='auto' were given"):
        made(l2="auto", l1=1.0).fit(X, draw(eta, rng))


def test_several_targets_are_refused():
    X, eta, _ = rows()
    with pytest.raises(InvalidInput, match="several columns and l2='auto'"):
        lk.LinearRegression(l2="auto").fit(X, np.c_[eta, eta])
