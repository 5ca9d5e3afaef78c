"""Links whose η is not free: starts that are valid, and optima at an edge, with certificates.

A point is the optimum of a convex loss under low ≤ η ≤ high exactly if its gradient is a
combination, with weights of 0 or more, of the rows at an edge (Karush, Kuhn and Tucker);
non-negative least squares finds the weights, or that there are none.
"""

import warnings
from dataclasses import astuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls

import likely
from likely.errors import BoundaryEstimate, InvalidInput, OutsideLink
from likely.fitting.edge import Slack
from likely.links import Power

TOL = 1e-10
TOUCHING = 1e-6  # slack of rows that the test takes to be at an edge
PAIRS = [
    ("bernoulli", "identity"),
    ("bernoulli", "log"),
    ("poisson", "identity"),
    ("poisson", "sqrt"),
    ("negative-binomial(1)", "identity"),
    ("gamma", "identity"),
    ("inverse-gaussian", "identity"),
    ("inverse-gaussian", "inverse"),
    ("tweedie", "identity"),
]


def table(response, link, seed):
    """Few rows, steep effects: the best means of some are often at an edge."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 2, (n, d)).astype(float)
    if response == "bernoulli":
        mean = 0.5 + 0.3 * X[:, 0] if link == "identity" else np.exp(-1 + 0.6 * X[:, 0])
        return X, (rng.random(n) < np.clip(mean, 0.02, 0.98)).astype(float)
    mean = np.clip(1 + 0.8 * X[:, 0], 0.03, None)
    draw = {
        "poisson": lambda: rng.poisson(mean),
        "negative-binomial(1)": lambda: rng.poisson(rng.gamma(1, mean)),
        "gamma": lambda: rng.gamma(2, mean / 2),
        "inverse-gaussian": lambda: rng.wald(mean, 2),
        "tweedie": lambda: rng.gamma(2 * rng.poisson(mean), 0.5),
    }[response]
    return X, np.asarray(draw(), dtype=float)


def certificate(model, X, y):
    """How far the gradient is from the rows at an edge, as part of its size; which those are."""
    A = np.column_stack([X, np.ones(len(y))])
    likelihood = model.likelihood_
    low, high = likelihood.etas
    eta = A @ np.append(model.coef_, model.intercept_)
    slack = np.minimum(eta - low, high - eta)
    at = slack < TOUCHING * np.median(slack)
    side = np.where(eta - low < high - eta, 1.0, -1.0)
    slope = likelihood.derivatives(y, np.clip(eta, low + 1e-300, np.nextafter(high, low)))[1]
    gradient = A.T @ slope
    left = nnls((A[at] * side[at, None]).T, gradient)[1] if at.any() else np.linalg.norm(gradient)
    return left / (np.abs(A.T) @ np.abs(slope)).max(), at


@pytest.mark.diagonal(3)
@pytest.mark.parametrize(("response", "link"), PAIRS)
def test_every_fit_is_an_optimum_and_says_whether_it_is_at_an_edge(response, link):
    at_edge = 0
    for seed in range(20):
        X, y = table(response, link, seed)
        if not y.any() or y.std() == 0:
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = likely.GLM(response, link, tol=TOL).fit(X, y)
        residual, at = certificate(model, X, y)
        assert residual < 2e-4, seed  # √TOL and a factor
        assert at.any() == any(issubclass(w.category, BoundaryEstimate) for w in told), seed
        assert at.any() == bool(model.inference_.n_at_edge), seed
        at_edge += at.any()
    assert at_edge > 2 or response == "gamma" or (response, link) == PAIRS[6]


def test_counts_of_zero_have_a_mean_of_zero_and_no_errors():
    """Three groups, of which one never counted anything: its mean is 0, and the others theirs."""
    X = np.repeat(np.eye(3)[:, 1:], 4, axis=0)
    y = np.array([3.0, 5, 4, 4, 0, 0, 0, 0, 1, 3, 2, 2])
    with pytest.warns(
        BoundaryEstimate, match=r"4 rows a mean at the edge.*poisson.*\(0\).*no stan"
    ):
        model = likely.GLM("poisson", "identity").fit(X, y)
    assert_allclose(model.predict(X[8:9]), [2.0], rtol=1e-6)
    assert_allclose(np.append(model.coef_, model.intercept_), [-4, -2, 4], atol=1e-6)
    assert np.isnan(model.inference_.standard_errors).all()
    assert "boundary: 4 of the rows" in str(model.summary())
    assert np.isnan(model.predict_interval(X[8:], of="mean")).all()
    assert_allclose(model.inference_.log_likelihood, model.log_likelihood(X, y), rtol=1e-6)


def test_a_weight_of_zero_is_no_row_at_an_edge():
    X, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array([3.0, 5, 4, 4, 0, 0, 2, 2])
    weight = np.array([1.0, 1, 1, 1, 0, 0, 1, 1])
    model = likely.GLM("poisson", "identity").fit(X, y, sample_weight=weight)
    assert_allclose([model.intercept_, model.coef_[0]], [4.0, -2.0], rtol=1e-6)


@pytest.mark.parametrize("link", ["log", "identity"])
def test_risk_ratios_and_differences_of_a_two_by_two_table(link):
    """20 of 80 and 45 of 90: p = ¼ and ½; the delta method for the errors."""
    x, y = np.array([[0], [0], [1], [1]]), np.array(["no", "yes", "no", "yes"])
    people = np.array([60, 20, 45, 45])
    model = likely.LogisticRegression(link, l2=0.0, tol=1e-14).fit(x, y, sample_weight=people)
    p0, p1 = 20 / 80, 45 / 90
    v0, v1 = p0 * (1 - p0) / 80, p1 * (1 - p1) / 90
    effect = np.log(p1 / p0) if link == "log" else p1 - p0
    variance = v0 / p0**2 + v1 / p1**2 if link == "log" else v0 + v1
    assert_allclose(model.coef_[0, 0], effect, rtol=1e-9)
    assert_allclose(model.inference_.standard_errors[0], np.sqrt(variance), rtol=1e-6)
    assert_allclose(model.predict_proba([[0], [1]])[:, 1], [p0, p1], rtol=1e-9)
    assert model.predict([[0], [1.5]]).tolist() == ["no", "yes"]  # x = 1 is a tie
    low, high = model.predict_interval([[0], [1]], of="mean").T
    assert (low < [p0, p1]).all() and (high > [p0, p1]).all() and (high <= 1).all()


def test_a_risk_of_one_is_reported():
    x = np.array([[0.0], [0], [1], [1], [1]])
    y = np.array([0, 1, 1, 1, 1])
    with pytest.warns(BoundaryEstimate, match=r"3 rows a mean at the edge.*\(0 or 1\)"):
        model = likely.LogisticRegression("log", l2=0.0).fit(x, y)
    assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.5, 1.0], rtol=1e-6)
    said = r"'log' of a bernoulli response needs it below 0, so its .* 0 or 1, for 1 row\..*logit"
    with pytest.warns(OutsideLink, match=said):
        assert model.predict_proba([[2.0]])[0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("link", ["identity", "log"])
def test_a_probability_outside_its_range_is_0_or_1_in_both_models(link):
    x = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.append(np.arange(50) < 10, np.arange(50) < 30).astype(float)
    new = np.array([[-5.0], [0.5], [5.0]])
    with pytest.warns(OutsideLink, match="linear predictor of row .* mean is taken as 0 or 1"):
        mean = likely.GLM("bernoulli", link).fit(x, y).predict(new)
    with pytest.warns(OutsideLink, match="linear predictor of row .* mean is taken as 0 or 1"):
        classified = likely.LogisticRegression(link, l2=0.0).fit(x, y).predict_proba(new)[:, 1]
    assert_allclose(mean, classified, rtol=1e-6)
    assert mean[2] == 1.0
    assert (mean[0] == 0.0) == (link == "identity")


@pytest.mark.parametrize(
    ("response", "link"),
    [
        ("gamma", "inverse"),
        ("poisson", "sqrt"),
        ("gamma", Power(0.5)),
        ("inverse-gaussian", "inverse-squared"),
        ("poisson", "identity"),
        ("bernoulli", "log"),
        ("bernoulli", "identity"),
    ],
)
def test_no_intercept_needs_no_predictor_of_zero(response, link):
    """Against a general optimiser from a point that the test knows to be valid."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.uniform(0.5, 1.5, 60), rng.uniform(-0.4, 0.4, 60)])
    sign, share = (-1.0, 1.0) if link == "log" else (1.0, 0.5 if response == "bernoulli" else 1.0)
    beta = sign * share * np.array([0.7, 0.3])
    model = likely.GLM(response, link, fit_intercept=False, tol=1e-13)
    likelihood = model.fit(np.ones((3, 1)), [0.4, 0.5, 0.6]).likelihood_
    y = likelihood.sample(X @ beta, rng, 1.0 if likelihood.response.dispersion_is_known else 0.1)
    model.fit(X, y)

    def nll(theta):
        return likelihood.nll(y, X @ theta).sum()

    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10_000, "maxfev": 10_000}
    best = minimize(nll, beta, method="Nelder-Mead", options=options)
    assert_allclose(nll(model.coef_), best.fun, rtol=1e-10)
    assert_allclose(model.coef_, best.x, atol=1e-5)


def test_offsets_that_make_the_constant_model_invalid_are_started_around():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 200)
    offset = np.where(x < 0.3, -0.9, 0.0)  # the constant mean less 0.9 would be below 0
    mean = 0.2 + 1.5 * (x < 0.3) + 0.5 * x + offset
    y = rng.poisson(mean)
    X = np.column_stack([x < 0.3, x]).astype(float)
    model = likely.GLM("poisson", "identity", tol=1e-13).fit(X, y, offset=offset)
    assert model.solution_.converged
    slope = 1 - y / model.predict(X, offset=offset)
    assert_allclose(X.T @ slope, 0, atol=1e-3)


def test_rows_that_no_coefficients_make_valid_are_refused():
    X, y = np.array([[1.0], [-1.0], [2.0]]), [1.0, 2.0, 3.0]
    with pytest.raises(InvalidInput, match=r"No coefficients.*'inverse'.*gamma.*between 0 and inf"):
        likely.GLM("gamma", "inverse", fit_intercept=False).fit(X, y)


def test_an_inverse_gaussian_with_the_inverse_link_never_ends_at_an_infinite_deviance():
    """The loss of a row, yη²/2 − η, is finite at η = 0, where the mean is infinite."""
    x = np.array([[0.0], [1], [2], [3], [4], [5]])
    y = np.array([0.1, 0.2, 0.5, 40.0, 900.0, 5000.0])
    with pytest.warns(BoundaryEstimate):
        model = likely.GLM("inverse-gaussian", "inverse").fit(x, y)
    assert np.isfinite(model.inference_.deviance)
    assert np.isfinite(model.inference_.log_likelihood)
    assert certificate(model, x, y)[0] < 1e-5


def test_the_slack_of_two_parts_of_the_rows_is_that_of_all():
    one, two = Slack(0.5, 1.0, 2.0, 3.0, 4.0), Slack(0.25, 10.0, 20.0, 30.0, 40.0)
    assert astuple(one + two) == astuple(two + one) == (0.25, 11.0, 22.0, 33.0, 44.0)
