"""Linear regression: least squares is maximum likelihood, and penalties are priors."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import laplace, norm

import likely
from likely.errors import InvalidInput
from likely.penalties import L1, L2

TIGHT = 1e-14


def data(seed=0, n=80, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + np.arange(p)
    return X, X @ np.linspace(1, -1, p) + 2 + 0.5 * rng.normal(size=n)


def constant(X):
    return np.column_stack([X, np.ones(len(X))])


def line(model):
    return np.append(model.coef_, model.intercept_)


def test_the_log_likelihood_is_the_sum_of_normal_densities():
    """REG-1."""
    X, y = data()
    model = likely.LinearRegression().fit(X, y)
    mean, sigma = model.predict(X), np.sqrt(model.ml_dispersion_)
    assert_allclose(model.log_likelihood(X, y), norm.logpdf(y, mean, sigma).sum())
    weight = np.arange(80) % 3
    expected = np.dot(weight, norm.logpdf(y, mean, sigma))
    assert_allclose(model.log_likelihood(X, y, weight), expected)


@pytest.mark.parametrize("options", [{}, {"l2": 2.0}, {"l1": 1.0}, {"standard_errors": None}])
def test_the_log_likelihood_of_the_training_rows_is_the_largest_over_the_variance(options):
    """REG-1: σ̂² = RSS/n, for every way of fitting, and in the summary."""
    X, y = data()
    model = likely.LinearRegression(**options).fit(X, y)
    squares = np.sum((y - model.predict(X)) ** 2)
    assert_allclose(model.ml_dispersion_, squares / 80, rtol=1e-9)
    if model.inference_ is not None:
        assert_allclose(model.log_likelihood(X, y), model.inference_.log_likelihood, rtol=1e-9)
    glm = likely.GLM(tol=1e-14, **options).fit(X, y)
    assert_allclose(glm.log_likelihood(X, y), model.log_likelihood(X, y), rtol=1e-6)


def test_a_row_has_a_normal_predictive_distribution():
    """REG-1."""
    X, y = data()
    model = likely.LinearRegression().fit(X, y)
    found = model.predict_distribution(X[:3])
    sigma = np.sqrt(model.dispersion_)
    assert_allclose(found.log_prob(y[:3]), norm.logpdf(y[:3], model.predict(X[:3]), sigma))
    assert_allclose(found.variance, model.dispersion_)
    assert_allclose(
        found.interval(0.9), model.predict(X[:3])[:, None] + sigma * norm.ppf([0.05, 0.95])
    )
    assert_allclose(found.cdf(found.quantile(0.3)), 0.3)


def test_a_prior_of_given_variance_is_a_ridge():
    """REG-6: τ² = 2 under noise σ² = 1 is l2 = ½, by number or as a penalty."""
    X, y = data()
    prior = likely.LinearRegression(l2=L2.of_prior(2.0, noise=1.0)).fit(X, y)
    assert_allclose(prior.coef_, likely.LinearRegression(l2=0.5).fit(X, y).coef_, rtol=1e-12)
    laplace = likely.LinearRegression(l1=L1.of_prior(0.5)).fit(X, y)
    assert_allclose(laplace.coef_, likely.LinearRegression(l1=2.0).fit(X, y).coef_, rtol=1e-9)
    with pytest.raises(InvalidInput, match=r"l2=L1.*takes a number or an L2"):
        likely.LinearRegression(l2=L1(1.0)).fit(X, y)
    with pytest.raises(InvalidInput, match=r"variance=0\.0 was given"):
        L2.of_prior(0.0)


def test_the_variance_is_the_residual_over_the_degrees_of_freedom():
    X, y = data()
    for intercept, lost in ((True, 4), (False, 3)):
        model = likely.LinearRegression(fit_intercept=intercept).fit(X, y)
        squares = np.square(y - model.predict(X)).sum()
        assert_allclose(model.dispersion_, squares / (80 - lost))
        assert_allclose(model.dispersion_, model.inference_.dispersion)


def test_a_penalised_intercept_is_one_parameter_not_two():
    X, y = data()
    model = likely.LinearRegression(l2=1e-9, penalise_intercept=True).fit(X, y)
    free = likely.LinearRegression().fit(X, y)
    assert_allclose(model.dispersion_, free.dispersion_, rtol=1e-6)
    assert_allclose(line(model), line(free), rtol=1e-6)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_maximum_likelihood_is_least_squares_whatever_the_variance(sigma):
    """REG-2."""
    X, y = data()
    A = constant(X)
    found = minimize(
        lambda theta: -norm.logpdf(y, A @ theta, sigma).sum(),
        np.zeros(4),
        jac=lambda theta: A.T @ (A @ theta - y) / sigma**2,
        method="BFGS",
        options={"gtol": 1e-7 / sigma**2},
    )
    assert_allclose(line(likely.LinearRegression().fit(X, y)), found.x, atol=1e-6)


def test_residuals_are_orthogonal_to_the_columns():
    """REG-3."""
    X, y = data()
    model = likely.LinearRegression().fit(X, y)
    assert_allclose(constant(X).T @ (y - model.predict(X)), 0, rtol=1e-10, atol=1e-10)
    assert_allclose(line(model), np.linalg.lstsq(constant(X), y)[0], rtol=1e-10)


@given(l2=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_a_stronger_ridge_has_smaller_coefficients(l2, seed):
    """REG-5."""
    X, y = data(seed)
    norms = [
        np.linalg.norm(likely.LinearRegression(l2=s, standard_errors=None).fit(X, y).coef_)
        for s in (l2, 2 * l2)
    ]
    assert norms[1] < norms[0]


def test_a_gaussian_prior_is_a_ridge_of_the_two_variances():
    """REG-6: l2 = σ²/τ²."""
    X, y = data()
    A, sigma, tau = constant(X), 0.7, 1.3

    def log_posterior(theta):
        return norm.logpdf(y, A @ theta, sigma).sum() + norm.logpdf(theta[:-1], 0, tau).sum()

    model = likely.LinearRegression(l2=sigma**2 / tau**2).fit(X, y)
    best = minimize(lambda t: -log_posterior(t), line(model), tol=1e-12).x
    assert_allclose(line(model), best, atol=1e-5)  # of differences without a gradient


def test_a_laplace_prior_is_a_lasso():
    """REG-7: SPEC's λ₁ = 2σ²/b is l1 = σ²/b; no point about it is more probable."""
    X, y = data()
    sigma, scale = 0.7, 0.02
    model = likely.LinearRegression(l1=sigma**2 / scale, tol=TIGHT).fit(X, y)
    theta = line(model)

    def log_posterior(t):
        density = laplace.logpdf(t[:-1], 0, scale).sum()
        return norm.logpdf(y, constant(X) @ t, sigma).sum() + density

    for move in np.vstack([np.eye(4), -np.eye(4)]):
        assert log_posterior(theta) > log_posterior(theta + 1e-4 * move)


def test_the_forces_of_a_lasso_balance_and_a_strong_one_leaves_nothing():
    """REG-8: |A_dᵀr| ≤ l1, with equality where the coefficient is not 0."""
    X, y = data(p=6)
    centred = X - X.mean(axis=0)
    largest = np.abs(centred.T @ (y - y.mean())).max()
    model = likely.LinearRegression(l1=largest / 4, tol=TIGHT).fit(X, y)
    force = centred.T @ (y - model.predict(X))
    active = model.coef_ != 0
    assert 0 < active.sum() < 6
    assert_allclose(force[active], largest / 4 * np.sign(model.coef_[active]), rtol=1e-6)
    assert (np.abs(force[~active]) < largest / 4).all()
    nothing = likely.LinearRegression(l1=largest * 1.000001).fit(X, y)
    assert_allclose(nothing.coef_, 0, rtol=0, atol=0)
    assert_allclose(nothing.intercept_, y.mean())
    assert (likely.LinearRegression(l1=largest * 0.999).fit(X, y).coef_ != 0).sum() == 1


def test_an_elastic_net_shares_between_equal_columns():
    """REG-9."""
    X, y = data()
    model = likely.LinearRegression(l1=2.0, l2=1.0, tol=TIGHT).fit(X[:, [0, 0, 1, 2]], y)
    assert_allclose(model.coef_[0], model.coef_[1], rtol=1e-6)
    assert model.coef_[0] != 0


def test_an_elastic_net_is_a_ridge_without_l1_and_a_lasso_without_l2():
    X, y = data()
    ridge = likely.LinearRegression(l2=2.0).fit(X, y)
    assert_allclose(
        likely.LinearRegression(l1=1e-9, l2=2.0, tol=TIGHT).fit(X, y).coef_, ridge.coef_, rtol=1e-6
    )
    lasso = likely.LinearRegression(l1=2.0, tol=TIGHT).fit(X, y)
    near = likely.LinearRegression(l1=2.0, l2=1e-9, tol=TIGHT).fit(X, y)
    assert_allclose(near.coef_, lasso.coef_, rtol=1e-6)


def test_several_responses_are_fitted_as_one_by_one():
    X, y = data()
    Y = np.column_stack([y, -y + X[:, 0], np.cos(y)])
    offset = np.linspace(0, 1, 80)
    for l2 in (0.0, 3.0):
        both = likely.LinearRegression(l2=l2).fit(X, Y, offset=offset)
        assert both.coef_.shape == (3, 3)
        for j in range(3):
            one = likely.LinearRegression(l2=l2).fit(X, Y[:, j], offset=offset)
            assert_allclose(both.coef_[j], one.coef_, rtol=1e-10)
            assert_allclose(both.intercept_[j], one.intercept_, rtol=1e-10)
            assert_allclose(both.dispersion_[j], one.dispersion_, rtol=1e-9 if l2 == 0 else 0.1)
            assert_allclose(both.predict(X, offset=offset)[:, j], one.predict(X, offset=offset))


def test_several_responses_need_a_closed_form():
    X, y = data()
    with pytest.raises(
        InvalidInput, match=r"several columns, which need a closed form.*Use l2 alone"
    ):
        likely.LinearRegression(l1=1.0).fit(X, np.column_stack([y, y]))


def test_an_interval_of_a_new_response_is_wider_than_that_of_its_mean():
    X, y = data()
    model = likely.LinearRegression().fit(X, y)
    mean, new = model.predict_interval(X, of="mean"), model.predict_interval(X, of="y")
    assert (mean[:, 0] > new[:, 0]).all() and (mean[:, 1] < new[:, 1]).all()
    assert 0.9 <= np.mean((y > new[:, 0]) & (y < new[:, 1])) <= 1
    with pytest.raises(InvalidInput, match="'mean' or 'y' was expected"):
        model.predict_interval(X, of="median")


def test_intervals_of_new_responses_are_those_of_statsmodels():
    X, y = data()
    them = sm.OLS(y, constant(X)).fit().get_prediction(constant(X))
    model = likely.LinearRegression().fit(X, y)
    assert_allclose(model.predict_interval(X, 0.9, of="y"), them.conf_int(obs=True, alpha=0.1))
    assert_allclose(model.predict_interval(X, 0.9, of="mean"), them.conf_int(alpha=0.1))


def test_samples_have_the_mean_and_the_variance():
    X, y = data()
    model = likely.LinearRegression(random_state=0).fit(X, y)
    drawn = model.sample(np.repeat(X[:1], 20_000, axis=0))
    assert_allclose(
        drawn.mean(), model.predict(X[:1])[0], atol=4 * np.sqrt(model.dispersion_ / 2e4)
    )
    assert_allclose(drawn.var(), model.dispersion_, rtol=0.05)
    assert_allclose(model.sample(X, random_state=3), model.sample(X, random_state=3))
