"""What the specification asks of linear models and no other test holds to the letter.

Each test names its capability.  Identities hold to 1e-10 unless the specification says otherwise.
"""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn import linear_model
from sklearn.pipeline import make_pipeline

import likely as lk
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.likelihoods import Gaussian, likelihood_of
from likely.objectives.linear import LinearObjective
from likely.penalties import L1, NoPenalty
from likely.solvers import FISTA, Newton, minimise
from likely.special import expit
from likely.teaching.losses import loss_objective
from tests.worked.problems import TIGHT, labelled, measured, with_bias

# ------------------------------------------------------------------------------ linear regression


def test_the_gaussian_log_likelihood_is_the_sum_of_scipys_and_is_largest_at_rss_over_n():
    """REG-1."""
    X, y = measured()
    model = lk.LinearRegression().fit(X, y)
    mean, n = model.predict(X), len(y)
    scipys = norm.logpdf(y, mean, np.sqrt(model.ml_dispersion_)).sum()
    assert_allclose(model.log_likelihood(X, y), scipys, rtol=1e-12)
    best = np.sum((y - mean) ** 2) / n
    assert_allclose(model.ml_dispersion_, best, rtol=1e-12)
    assert_allclose(model.log_likelihood(X, y), model.inference_.log_likelihood, rtol=1e-12)
    assert_allclose(model.dispersion_ * (n - 5) / n, best, rtol=1e-12)
    around = [Gaussian().log_prob(y, mean, best * c).sum() for c in (0.99, 1.0, 1.01)]
    assert np.argmax(around) == 1
    assert_allclose(model.inference_.log_likelihood, around[1], rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient-descent"])
def test_maximum_likelihood_is_least_squares_for_every_noise(sigma, solver):
    """REG-2: a search on Σ (y − μ)²/2σ² ends at the closed form; 1/σ² is a weight."""
    X, y = measured()
    searched = lk.LinearRegression(solver=solver, tol=TIGHT, max_iter=10_000)
    searched.fit(X, y, np.full(len(y), sigma**-2))
    closed = lk.LinearRegression(solver="qr").fit(X, y)
    assert_allclose(searched.coef_, closed.coef_, rtol=1e-6)
    assert_allclose(searched.intercept_, closed.intercept_, rtol=1e-6)


def test_residuals_are_orthogonal_to_the_columns_and_numpy_agrees():
    """REG-3, with several responses."""
    X, y = measured()
    Y = np.column_stack([y, y**2, np.sin(y)])
    model = lk.LinearRegression().fit(X, Y)
    residual = Y - model.predict(X)
    assert_allclose(with_bias(X).T @ residual, 0.0, rtol=0, atol=1e-10 * np.abs(Y).sum())
    numpys = np.linalg.lstsq(with_bias(X), Y, rcond=None)[0]
    assert_allclose(
        np.column_stack([model.coef_, model.intercept_]), numpys.T, rtol=1e-10, atol=1e-10
    )


DEPENDENT = np.random.default_rng(5).normal(size=(8, 3)) @ np.random.default_rng(6).normal(
    size=(3, 5)
)


@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")
@pytest.mark.parametrize(
    "A", [measured()[0][:9], DEPENDENT, DEPENDENT.T], ids=["full rank", "tall", "wide"]
)
def test_minimum_norm_is_the_pseudoinverse(A):
    """REG-4: with Y = I the coefficients are A⁺; Penrose's four conditions."""
    options = {"solver": "minimum-norm", "fit_intercept": False}
    model = lk.LinearRegression(**options).fit(A, np.eye(len(A)))
    P = model.coef_.T
    assert_allclose(A @ P @ A, A, rtol=1e-10, atol=1e-10)
    assert_allclose(P @ A @ P, P, rtol=1e-10, atol=1e-10)
    assert_allclose(A @ P, (A @ P).T, rtol=1e-10, atol=1e-10)
    assert_allclose(P @ A, (P @ A).T, rtol=1e-10, atol=1e-10)
    assert_allclose(P, np.linalg.pinv(A), rtol=1e-10, atol=1e-10)
    assert model.rank_ == np.linalg.matrix_rank(A)
    ridge = lk.LinearRegression(l2=1e-9, fit_intercept=False).fit(A, np.eye(len(A)))
    assert_allclose(ridge.coef_.T, P, atol=1e-6)


def test_a_stronger_ridge_has_shorter_weights_and_one_of_1e_8_solves_a_singular_problem():
    """REG-5."""
    X, y = measured()
    lengths = [
        np.linalg.norm(lk.LinearRegression(l2=s).fit(X, y).coef_) for s in np.logspace(-3, 5)
    ]
    assert np.all(np.diff(lengths) < 0)
    twice = np.column_stack([X, X[:, 0]])
    weights = lk.LinearRegression(l2=1e-8).fit(twice, y).coef_
    plain = lk.LinearRegression().fit(X, y).coef_
    assert_allclose(weights[[0, 4]], plain[0] / 2, rtol=1e-6)


def test_one_strength_per_weight():
    """REG-5: (AᵀA + diag λ)⁻¹Aᵀy, by array or by name."""
    X, y = measured()
    strengths = np.array([0.0, 1.0, 10.0, 100.0])
    model = lk.LinearRegression(l2=strengths, fit_intercept=False).fit(X, y)
    by_hand = np.linalg.solve(X.T @ X + np.diag(strengths), X.T @ y)
    assert_allclose(model.coef_, by_hand, rtol=1e-10, atol=1e-10)
    named = lk.LinearRegression(l2={f"x{j}": s for j, s in enumerate(strengths)})
    assert_allclose(
        named.set_params(fit_intercept=False).fit(X, y).coef_, by_hand, rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_the_mode_under_a_laplace_prior_is_the_lasso(sigma):
    """REG-7: noise variance σ² and scale b are l1 = σ²/b, scikit-learn's alpha σ²/(bn)."""
    X, y = measured()
    X, y, scale = X - X.mean(axis=0), y - y.mean(), 0.05
    blocks = ArrayBlocks(Dense(X), y, np.full(len(y), sigma**-2))
    posterior = LinearObjective(likelihood_of("gaussian"), L1(1 / scale), blocks, Serial())
    mode = minimise(FISTA(), posterior, np.zeros(4), tol=TIGHT, max_iter=10_000)
    model = lk.LinearRegression(l1=sigma**2 / scale, fit_intercept=False, tol=TIGHT).fit(X, y)
    theirs = linear_model.Lasso(sigma**2 / (scale * len(y)), fit_intercept=False, tol=1e-14)
    assert mode.converged
    assert_allclose(mode.theta, model.coef_, atol=1e-6)
    assert_allclose(mode.theta, theirs.fit(X, y).coef_, atol=1e-6)


def test_forces_balance_at_the_lasso_and_a_strong_one_is_all_zero():
    """REG-8: |Aᵀr| ≤ l1, with equality where w ≠ 0; zero from max |Aᵀ(y − ȳ)|, A centred."""
    X, y = measured(p=8)
    A = X - X.mean(axis=0)
    top = np.abs(A.T @ (y - y.mean())).max()
    for share in (0.01, 0.1, 0.5, 0.999):
        model = lk.LinearRegression(l1=share * top, tol=TIGHT).fit(X, y)
        force = X.T @ (y - model.predict(X))
        active = model.coef_ != 0
        assert active.any()
        assert_allclose(force[active], share * top * np.sign(model.coef_[active]), rtol=1e-5)
        assert np.all(np.abs(force) <= share * top * (1 + 1e-5))
    assert not lk.LinearRegression(l1=top * (1 + 1e-9)).fit(X, y).coef_.any()


def test_an_elastic_net_shares_between_equal_columns():
    """REG-9; with l1 = 0 it is ridge, with l2 = 0 the lasso."""
    X, y = measured()
    twice = np.column_stack([X, X[:, 0]])
    weights = lk.LinearRegression(l1=3.0, l2=2.0, tol=TIGHT).fit(twice, y).coef_
    assert weights[0] != 0
    assert_allclose(weights[0], weights[4], rtol=1e-6)


def test_the_residual_squares_never_rise_with_the_degree():
    """REG-11."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (40, 1))
    y = np.sin(4 * x[:, 0]) + rng.normal(scale=0.2, size=40)
    left = []
    for degree in range(1, 9):
        model = make_pipeline(lk.PolynomialFeatures(degree), lk.LinearRegression()).fit(x, y)
        assert_allclose(model.predict(x), np.polyval(np.polyfit(x[:, 0], y, degree), x[:, 0]))
        left.append(np.sum((y - model.predict(x)) ** 2))
    assert np.all(np.diff(left) <= 1e-12)


def test_the_basis_of_the_columns_themselves_is_the_linear_model():
    """REG-12: Φ(x) = [x; 1]."""
    X, y = measured()
    basis = lk.BasisFunctions(with_bias)
    model = make_pipeline(basis, lk.LinearRegression(fit_intercept=False)).fit(X, y)
    plain = lk.LinearRegression().fit(X, y)
    assert_allclose(
        model[-1].coef_, np.append(plain.coef_, plain.intercept_), rtol=1e-10, atol=1e-10
    )
    assert_allclose(model.predict(X), plain.predict(X), rtol=1e-10, atol=1e-10)


def test_shifting_every_target_shifts_only_a_free_bias():
    """NUM-8: with the bias left out of the penalty."""
    X, y = measured()
    for l1, l2 in ((0.0, 0.0), (0.0, 5.0), (3.0, 0.0), (3.0, 5.0)):
        fits = [lk.LinearRegression(l1=l1, l2=l2, tol=TIGHT).fit(X, y + c) for c in (0, 100)]
        assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-7)
        assert_allclose(fits[1].intercept_ - fits[0].intercept_, 100, rtol=1e-9)


# ---------------------------------------------------------------------- generalised linear models


def test_gaussian_identity_is_least_squares_and_bernoulli_logit_is_logistic_regression():
    """GLM-1, GLM-6."""
    X, y = measured()
    glm, line = lk.GLM(tol=TIGHT).fit(X, y), lk.LinearRegression().fit(X, y)
    assert_allclose(glm.coef_, line.coef_, rtol=1e-10)
    assert_allclose(glm.dispersion_, line.dispersion_, rtol=1e-10)
    X, y = labelled()
    glm = lk.GLM("bernoulli", tol=TIGHT).fit(X, y)
    logistic = lk.LogisticRegression(l2=0.0, tol=TIGHT).fit(X, y)
    assert_allclose(glm.coef_, logistic.coef_[0], rtol=1e-10)
    assert_allclose(glm.predict(X), logistic.predict_proba(X)[:, 1], rtol=1e-10)


def test_an_intercept_alone_is_the_log_of_the_mean():
    """GLM-4: a column of zeros holds nothing; with an exposure, total over total."""
    y, exposure = np.array([0.0, 3, 5, 1, 7]), np.array([1.0, 2, 1, 0.5, 3])
    model = lk.GLM("poisson", l2=1.0, tol=TIGHT).fit(np.zeros((5, 1)), y)
    assert_allclose(model.intercept_, np.log(y.mean()), rtol=1e-10)
    model.fit(np.zeros((5, 1)), y, exposure=exposure)
    assert_allclose(model.intercept_, np.log(y.sum() / exposure.sum()), rtol=1e-10)


def test_swapping_labels_turns_a_loglog_fit_into_the_complementary_one():
    """GLM-5: with every coefficient negated."""
    X, y = labelled()
    one = lk.LogisticRegression("loglog", l2=0.0, tol=1e-15).fit(X, y)
    other = lk.LogisticRegression("cloglog", l2=0.0, tol=1e-15).fit(X, 1 - y)
    assert_allclose(one.coef_, -other.coef_, rtol=1e-6)
    assert_allclose(one.intercept_, -other.intercept_, rtol=1e-6)
    assert_allclose(likelihood_of("bernoulli", "loglog").mean(np.zeros(1)), np.exp(-1), rtol=1e-15)


@pytest.mark.parametrize("response", ["poisson", "bernoulli"])
def test_pearsons_dispersion_and_the_errors_of_quasi_likelihood_are_statsmodels(response):
    """GLM-8: for families whose dispersion is otherwise 1."""
    rng = np.random.default_rng(8)
    X, y = labelled()
    y = rng.negative_binomial(2, 0.3, len(X)) if response == "poisson" else y
    family = {"poisson": sm.families.Poisson(), "bernoulli": sm.families.Binomial()}[response]
    theirs = sm.GLM(y, with_bias(X), family=family).fit(scale="X2", tol=1e-12)
    model = lk.GLM(response, tol=TIGHT).fit(X, y)
    found = model.inference_
    psi = found.pearson / found.df_residual
    assert_allclose(psi, theirs.scale, rtol=1e-6)
    assert_allclose(found.standard_errors * np.sqrt(psi), theirs.bse, rtol=1e-6)


# ------------------------------------------------------------------------------- Newton's method


def test_newton_reaches_a_gradient_of_1e_10_in_under_ten_steps():
    """OPT-14, GLM-9: on regularised logistic data; one step solves least squares."""
    X, y = labelled(n=500, p=10)
    objective = loss_objective(X, y, l2=1.0)
    found = minimise(Newton(), objective, np.zeros(11), tol=1e-24, max_iter=9)
    assert np.linalg.norm(objective.first_order(found.theta).gradient) < 1e-10
    assert np.all(np.diff(found.trace) <= 1e-9)

    X, y = measured()
    blocks = ArrayBlocks(Intercept(Dense(X)), y)
    squares = LinearObjective(likelihood_of("gaussian"), NoPenalty(), blocks, Serial())
    one_step = minimise(Newton(), squares, np.zeros(5), tol=1e-20, max_iter=1)
    numpys = np.linalg.lstsq(with_bias(X), y, rcond=None)[0]
    assert_allclose(one_step.theta, numpys, rtol=1e-10, atol=1e-10)


def test_weighted_least_squares_on_working_responses_is_newton_on_the_logit():
    """GLM-9: β ← (XᵀSX)⁻¹XᵀSz visits what Newton's method visits."""
    X, y = labelled()
    A, theta = with_bias(X), np.zeros(4)
    objective = loss_objective(X, y)
    seen = []
    minimise(Newton(), objective, theta, tol=0.0, max_iter=5, watch=seen.append)
    for state in seen[1:]:
        eta = A @ theta
        mu = expit(eta)
        S = mu * (1 - mu)
        z = eta + (y - mu) / S
        theta = np.linalg.solve(A.T @ (S[:, None] * A), A.T @ (S * z))
        assert_allclose(state.theta, theta, rtol=1e-7, atol=1e-10)
