"""Penalised generalized linear models with offsets and categorical columns, against glum.

glum's objective is the deviance over 2 Σw, with alpha·(ρ‖β‖₁ + ½(1 − ρ)‖β‖²): ours over Σw, so
l1 = alpha·ρ·Σw and l2 = alpha·(1 − ρ)·Σw.  Both search to a gradient of 1e-10 or so, which leaves
1e-6 of the coefficients; coordinate descent of the elastic nets leaves 1e-5.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely
from likely.likelihoods import NegativeBinomial, Tweedie

glum = pytest.importorskip("glum", reason="glum is not installed")

TIGHT = 1e-15  # scoring converges linearly where the link is not canonical, and stops early
N = 400
FAMILIES = {
    "gaussian": ("normal", "gaussian", None),
    "poisson": ("poisson", "poisson", None),
    "binomial": ("binomial", "bernoulli", None),
    "gamma": ("gamma", "gamma", "log"),
    "tweedie": (glum.TweedieDistribution(1.5), Tweedie(1.5), None),
    "negative binomial": (glum.NegativeBinomialDistribution(1.0), NegativeBinomial(1.0), None),
    "inverse gaussian": ("inverse.gaussian", "inverse-gaussian", "log"),
}
every = pytest.mark.parametrize("name", FAMILIES)


def policies(name, seed=0):
    """A frame of numbers and categories in mixed order, responses, exposures and weights."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south", "east", "west"], N)
    frame = pd.DataFrame(
        {
            "region": pd.Categorical(region),
            "age": rng.normal(size=N),
            "fuel": pd.Categorical(rng.choice(["diesel", "petrol"], N)),
            "power": rng.uniform(-1, 1, N),
        }
    )
    eta = 0.5 + 0.3 * frame["age"] - 0.4 * frame["power"] + 0.5 * (region == "west")
    mean, offset = np.exp(eta.to_numpy()), rng.normal(0, 0.2, N)
    draws = {
        "gaussian": lambda: mean + rng.normal(size=N),
        "poisson": lambda: rng.poisson(mean),
        "binomial": lambda: rng.random(N) < mean / (1 + mean),
        "gamma": lambda: rng.gamma(2.0, mean / 2),
        "tweedie": lambda: rng.poisson(mean) * rng.gamma(2.0, 0.5, N),
        "negative binomial": lambda: rng.poisson(mean * rng.gamma(1.0, 1.0, N)),
        "inverse gaussian": lambda: rng.wald(mean, 2.0),
    }
    return frame, draws[name]().astype(float), offset, rng.uniform(0.5, 2, N)


def theirs(name, X, y, *, weight, offset, **options):
    family, _, link = FAMILIES[name]
    link = "auto" if link is None else link
    model = glum.GeneralizedLinearRegressor(
        family=family, link=link, gradient_tol=1e-10, max_iter=1000, **options
    )
    return model.fit(X, y, sample_weight=weight, offset=offset)


def assert_same_coefficients(ours, them, rtol):
    expected = dict(zip(them.feature_names_, them.coef_, strict=True))
    assert set(ours.terms_) == set(expected)
    assert_allclose(ours.coef_, [expected[term] for term in ours.terms_], rtol=rtol, atol=rtol / 10)
    assert_allclose(ours.intercept_, them.intercept_, rtol=rtol, atol=rtol / 10)


@pytest.mark.diagonal(3)
@every
def test_without_a_penalty_the_first_category_is_dropped(name):
    X, y, offset, weight = policies(name)
    _, response, link = FAMILIES[name]
    ours = likely.GLM(response, link, tol=TIGHT).fit(X, y, weight, offset=offset)
    them = theirs(name, X, y, weight=weight, offset=offset, alpha=0.0, drop_first=True)
    assert_same_coefficients(ours, them, 1e-6)
    assert "region[east]" not in ours.terms_
    assert_allclose(ours.predict(X, offset=offset), them.predict(X, offset=offset), rtol=1e-6)


@pytest.mark.diagonal(3)
@every
def test_under_a_ridge_every_category_has_a_coefficient(name):
    X, y, offset, weight = policies(name)
    _, response, link = FAMILIES[name]
    ours = likely.GLM(response, link, l2=0.05 * weight.sum(), tol=TIGHT)
    ours.fit(X, y, weight, offset=offset)
    them = theirs(name, X, y, weight=weight, offset=offset, alpha=0.05)
    assert_same_coefficients(ours, them, 1e-6)
    assert len(ours.terms_) == 8


@pytest.mark.diagonal(3)
@every
def test_elastic_nets(name):
    X, y, offset, weight = policies(name)
    _, response, link = FAMILIES[name]
    alpha, ratio, total = 0.03, 0.7, weight.sum()
    ours = likely.GLM(
        response, link, l1=alpha * ratio * total, l2=alpha * (1 - ratio) * total, tol=TIGHT
    ).fit(X, y, weight, offset=offset)
    them = theirs(name, X, y, weight=weight, offset=offset, alpha=alpha, l1_ratio=ratio)
    assert_same_coefficients(ours, them, 1e-5)
    assert 0 < (ours.coef_ == 0).sum() < 8
    assert (ours.coef_ == 0).sum() == (them.coef_ == 0).sum()


def test_strengths_of_each_column():
    X, y, offset, weight = policies("poisson")
    numbers = X[["age", "power"]]
    strengths = {"age": 2.0, "power": 30.0}
    ours = likely.GLM("poisson", l2=strengths, tol=TIGHT).fit(numbers, y, weight, offset=offset)
    them = theirs(
        "poisson",
        numbers,
        y,
        weight=weight,
        offset=offset,
        alpha=1.0,
        P2=np.array([2.0, 30.0]) / weight.sum(),
    )
    assert_same_coefficients(ours, them, 1e-6)
