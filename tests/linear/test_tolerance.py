"""What ``tol`` means: a share of the null deviance, whatever the units of y and of the weights.

And where estimates have errors: a Newton decrement of 1e-10 nats, and the Hessian at the end.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.responses import likelihood_of
from likely.likelihoods.tweedie import Tweedie

N = 300
LOGISTIC = ("logit", "probit", "cloglog", "loglog", "cauchit")


def table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    eta = 0.5 + X @ [0.5, -0.3, 0.2]
    return {
        "X": X,
        "count": rng.poisson(np.exp(eta)).astype(float),
        "square": rng.poisson((eta + 2) ** 2).astype(float),
        "over": rng.negative_binomial(2, 2 / (2 + np.exp(eta))).astype(float),
        "positive": rng.gamma(1, np.exp(eta)) + 1e-3,
        "real": eta + rng.normal(size=N),
        "two": (eta + rng.logistic(size=N) > 0).astype(int),
        "three": np.digitize(eta + rng.logistic(size=N), [-0.5, 1.0]),
        "weight": rng.integers(1, 4, N).astype(float),
    }


MODELS = {
    "poisson": (lambda **o: likely.GLM("poisson", **o), "count"),
    "poisson-sqrt": (lambda **o: likely.GLM("poisson", "sqrt", **o), "square"),
    "negative-binomial": (lambda **o: likely.GLM(NegativeBinomial(0.5), **o), "over"),
    "gamma-log": (lambda **o: likely.GLM("gamma", "log", **o), "positive"),
    "inverse-gaussian-log": (lambda **o: likely.GLM("inverse-gaussian", "log", **o), "positive"),
    "tweedie": (lambda **o: likely.GLM(Tweedie(1.5), **o), "over"),
    "gaussian-log": (lambda **o: likely.GLM("gaussian", "log", **o), "positive"),
    "gaussian": (lambda **o: likely.GLM("gaussian", **o), "real"),
    "ordinal": (lambda **o: likely.OrdinalRegression(l2=0.0, **o), "three"),
    **{
        link: (lambda link=link, **o: likely.LogisticRegression(link, l2=0.0, **o), "two")
        for link in LOGISTIC
    },
}
every = pytest.mark.parametrize("name", MODELS)


def estimates(model):
    return model.inference_.theta, model.inference_.standard_errors


def fitted(name, scale=None, **settings):
    make, y = MODELS[name]
    data = table()
    weight = None if scale is None else scale * data["weight"]
    return make(**settings).fit(data["X"], data[y], weight)


@every
def test_the_default_has_the_digits_of_a_tight_search(name):
    for found, expected in zip(
        estimates(fitted(name)), estimates(fitted(name, tol=1e-15)), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-8)


@every
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e4])
def test_the_unit_of_the_weights_does_not_matter(name, scale):
    one, other = fitted(name, 1.0), fitted(name, scale)
    assert_allclose(other.inference_.theta, one.inference_.theta, rtol=1e-8)
    assert other.solution_.converged and other.solution_.n_iter == one.solution_.n_iter
    if one.inference_.dispersion_is_known:
        errors = np.sqrt(scale) * other.inference_.standard_errors
        assert_allclose(errors, one.inference_.standard_errors, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-12, 1e4])
def test_softmax_and_searches_by_gradients_have_no_unit_either(scale):
    data = table()
    for model, y in (
        (likely.SoftmaxRegression(l2=0.0), "three"),
        (likely.LogisticRegression(l2=0.0, solver="lbfgs"), "two"),
        (likely.GLM("gamma", "log", solver="lbfgs"), "positive"),
    ):
        one = np.array(model.fit(data["X"], data[y], data["weight"]).coef_)
        other = model.fit(data["X"], data[y], scale * data["weight"]).coef_
        assert_allclose(other, one, rtol=1e-4, atol=1e-6)
        assert np.abs(other).min() > 0


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("settings", [{"l1": 1.0}, {"solver": "newton"}, {"solver": "lbfgs"}])
def test_the_unit_of_a_gaussian_response_does_not_matter(unit, settings):
    data = table()
    one = likely.LinearRegression(**settings).fit(data["X"], data["real"])
    if "l1" in settings:
        settings = {"l1": unit}
    other = likely.LinearRegression(**settings).fit(data["X"], unit * data["real"])
    assert_allclose(other.coef_ / unit, one.coef_, rtol=1e-7)
    assert_allclose(
        other.inference_.standard_errors / unit, one.inference_.standard_errors, rtol=1e-7
    )


def test_constants_in_y_do_not_matter():
    """Counts about 1e6: f is 1e9 and the null deviance a few hundred."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = rng.poisson(1e6 * np.exp(1e-3 * X[:, 0])).astype(float)
    model = likely.GLM("poisson").fit(X, y)
    tight = likely.GLM("poisson", tol=1e-15).fit(X, y)
    assert_allclose(model.coef_, tight.coef_, rtol=1e-8)
    loose = likely.GLM("poisson", standard_errors=None).fit(X, y)
    assert_allclose(
        loose.coef_, tight.coef_, atol=0.01 * tight.inference_.standard_errors[:2].min()
    )


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient-descent", "proximal-newton"])
def test_errors_are_those_at_the_estimates(solver):
    data = table()
    X, y = data["X"], data["two"]
    model = likely.LogisticRegression(l2=0.0, solver=solver).fit(X, y)
    A = np.column_stack([X, np.ones(N)])
    p = model.predict_proba(X)[:, 1]
    H = (A.T * (p * (1 - p))) @ A
    assert_allclose(model.inference_.standard_errors, np.sqrt(np.diag(np.linalg.inv(H))), rtol=1e-9)
    g = A.T @ (p - y)
    assert g @ np.linalg.solve(H, g) / 2 < 1e-10


def test_a_rare_level_in_many_rows_has_the_right_error():
    """Of 30,000 rows 12 have it, and the search starts on a tenth."""
    rng = np.random.default_rng(0)
    rare = np.zeros(30_000)
    rare[rng.choice(30_000, 12, replace=False)] = 1
    y = rng.random(30_000) < np.where(rare == 1, 0.5, 0.01)
    y[np.flatnonzero(rare)[:6]], y[np.flatnonzero(rare)[6:]] = True, False
    model = likely.LogisticRegression(l2=0.0).fit(rare[:, None], y)
    ones = y[rare == 0].sum()
    zeros = (~y[rare == 0]).sum()
    assert_allclose(model.coef_[0, 0], np.log(zeros / ones), rtol=1e-9)
    expected = np.sqrt(1 / 6 + 1 / 6 + 1 / ones + 1 / zeros)
    assert_allclose(model.inference_.standard_errors[0], expected, rtol=1e-9)


def test_the_gap_that_was_reached_is_a_share_of_the_null_deviance():
    data = table()
    X, y = data["X"], data["count"]
    model = likely.GLM("poisson", standard_errors=None, solver="lbfgs", tol=1e-3).fit(X, y)
    best = likely.GLM("poisson").fit(X, y)
    fall = (best.log_likelihood(X, y) - model.log_likelihood(X, y)) / best.inference_.null_deviance
    assert 0 <= fall < 3e-3
    assert model.solution_.gap <= 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_many_rows_are_those_at_the_estimates(seed):
    """There the last step is taken without a pass; one column is 1 in three rows only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 60))
    X[:, 0] = np.arange(4000) < 3
    y = (X[:, 1:] @ rng.normal(size=59) * 0.3 + rng.logistic(size=4000) > 0).astype(int)
    y[:3] = [0, 1, 1]
    model = likely.LogisticRegression(l2=0.0).fit(X, y)
    Z = np.column_stack([X, np.ones(4000)])
    p = 1 / (1 + np.exp(-Z @ np.append(model.coef_.ravel(), model.intercept_)))
    H, gradient = Z.T @ (Z * (p * (1 - p))[:, None]), Z.T @ (p - y)
    assert gradient @ np.linalg.solve(H, gradient) / 2 <= 1e-12
    errors = np.sqrt(np.diag(np.linalg.inv(H)))
    assert_allclose(model.inference_.standard_errors, errors, rtol=1e-6)


def test_slow_last_digits_are_not_called_a_failure():
    """Fisher scoring gains a factor of 0.7 a step here, so that 25 last steps are not enough."""
    rng, likelihood = np.random.default_rng(5), likelihood_of("exponential", "log")
    for _ in range(8):  # the eighth table
        X, new = rng.normal(size=(80, 3)), rng.normal(size=(40, 3))
        rng.uniform(0.5, 2, (2, 80))
        y, _ = (likelihood.sample(rows @ [0.3, -0.2, 0.1] + 1, rng, 1.0) for rows in (X, new))
    model = likely.GLM("exponential", "log").fit(X, y)  # a warning would be an error
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-8
