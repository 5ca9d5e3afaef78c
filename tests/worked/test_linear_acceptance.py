"""What the specification asks of linear models and no other test holds to the letter.

Each test names its capability.  Identities hold to 1e-10 unless the specification says otherwise.
"""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import norm
from sklearn import linear_model
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

import likely as lk
from likely.compute.serial import Serial
from likely.data.block import ArrayBlocks
from likely.data.design import Dense, Intercept
from likely.differences import check_gradient
from likely.information import cross_entropy
from likely.likelihoods import Gaussian, likelihood_of
from likely.likelihoods.categorical import Categorical
from likely.linear.losses import loss_objective
from likely.objectives.linear import LinearObjective
from likely.objectives.softmax import SoftmaxObjective
from likely.penalties import L1, L2, NoPenalty
from likely.solvers import FISTA, FixedStep, Newton, minimise
from likely.special import expit, one_hot

TIGHT = 1e-14  # the gap of a search that is compared to 1e-6 or less


def labelled(seed=0, n=200, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ np.linspace(1, -1, p) + rng.logistic(size=n) > 0.2).astype(int)


def measured(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    return X, X @ np.linspace(2, -1, p) + 3 + rng.normal(size=n)


def with_bias(X):
    return np.column_stack([X, np.ones(len(X))])


# ---------------------------------------------------------------- logistic and softmax regression


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_class_1_is_predicted_where_the_predictor_is_not_negative(link):
    """LR-1: p ≥ ½ ⇔ a ≥ 0; the second class has a ≥ 0."""
    X, y = labelled()
    model = lk.LogisticRegression(link).fit(X, y)
    new = np.random.default_rng(1).normal(scale=3, size=(10_000, 3))
    a, p = model.decision_function(new), model.predict_proba(new)[:, 1]
    assert_array_equal(a >= 0, model.predict(new) == 1)
    clear = np.abs(a) > 1e-12
    assert_array_equal((a >= 0)[clear], (p >= 0.5)[clear])
    assert_array_equal(model.predict(new, threshold=0.8) == 1, p >= 0.8)


def test_a_tie_goes_to_class_1():
    """LR-1: two equal examples of either class leave w = b = 0, and a = 0 everywhere."""
    model = lk.LogisticRegression().fit([[1.0], [1.0], [2.0], [2.0]], ["a", "b", "a", "b"])
    assert_array_equal(model.decision_function([[0.0], [5.0]]), 0.0)
    assert_array_equal(model.predict([[0.0], [5.0]]), ["b", "b"])


def test_points_of_the_boundary_have_a_predictor_of_0():
    """LR-1: x − a(x) w/‖w‖² lies on the hyperplane."""
    X, y = labelled()
    model = lk.LogisticRegression().fit(X, y)
    w = model.coef_[0]
    foot = X - np.outer(model.decision_function(X) / (w @ w), w)
    assert np.abs(model.decision_function(foot)).max() < 1e-12


def test_cross_entropies_total_minus_the_log_likelihood_and_average_to_the_log_loss():
    """LR-3."""
    X, y = labelled()
    model = lk.LogisticRegression().fit(X, y)
    proba = model.predict_proba(X)
    total = -model.log_likelihood(X, y)
    assert_allclose(cross_entropy(one_hot(y, classes=[0, 1]), proba).sum(), total, rtol=1e-12)
    assert_allclose(total, log_loss(y, proba, normalize=False), rtol=1e-12)
    assert_allclose(total / len(y), log_loss(y, proba), rtol=1e-12)
    assert_allclose(loss_objective(X, y).value(np.append(model.coef_, model.intercept_)), total)


def test_soft_targets_and_weights_enter_the_cross_entropy():
    """LR-3: t ∈ [0, 1]."""
    X, y = labelled()
    rng = np.random.default_rng(2)
    t, weight = 0.1 + 0.8 * y, rng.uniform(0.5, 2, len(y))
    model = lk.GLM("bernoulli").fit(X, t, weight)
    f = model.predict(X)
    by_hand = weight @ (t * np.log(f) + (1 - t) * np.log1p(-f))
    nll = likelihood_of("bernoulli").nll(t, model.linear_predictor(X))
    assert_allclose(-weight @ nll, by_hand, rtol=1e-12)


def test_the_logistic_gradient_is_the_error_times_the_input():
    """LR-4."""
    X, y = labelled()
    objective, rng = loss_objective(X, y), np.random.default_rng(3)
    for theta in rng.normal(size=(5, 4)):
        gradient = objective.first_order(theta).gradient
        by_hand = -with_bias(X).T @ (y - expit(with_bias(X) @ theta))
        assert_allclose(gradient, by_hand, atol=1e-10)
        found = check_gradient(objective.value, lambda t: objective.first_order(t).gradient, theta)
        assert found < 1e-7
        step = minimise(FixedStep(1e-3), objective, theta, tol=0.0, max_iter=1)
        assert step.trace[-1] < step.trace[0]


def test_the_gradient_of_an_example_grows_with_its_error():
    """LR-4: |t − f| ‖x‖, for the same x."""
    f = np.linspace(0.01, 0.99, 99)
    eta = np.log(f / (1 - f))
    for t in (0.0, 1.0):
        norms = np.abs(likelihood_of("bernoulli").derivatives(np.full(99, t), eta)[1])
        by_error = np.argsort(np.abs(t - f))
        assert np.all(np.diff(norms[by_error]) > 0)


def softmax_problem(seed=0, n=50, p=3, K=4):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.integers(0, K, n)
    return X, y, rng.normal(size=(K, p + 1)), one_hot(y, classes=list(range(K)))


def test_the_three_forms_of_the_softmax_likelihood_agree():
    """LR-8: −Σ t ln y, −Σ(Σ t a − LSE(a)), Σ H(t, y)."""
    X, y, theta, T = softmax_problem()
    a = with_bias(X) @ theta.T
    P = softmax(a, axis=1)
    first = -(T * np.log(P)).sum()
    second = -(np.sum(T * a, axis=1) - np.logaddexp.reduce(a, axis=1)).sum()
    third = cross_entropy(T, P).sum()
    ours = Categorical(4).nll(y, a).sum()
    assert_allclose([second, third, ours], first, rtol=1e-12)


def test_the_matrix_form_enumerates_the_one_hot_vectors():
    """LR-12: exp(yᵀΘx̃) over its sum, Θ = [W b], and ∇ℓ = Σ (t − y) x̃ᵀ."""
    X, y, theta, T = softmax_problem()
    rows, corners = with_bias(X), np.eye(4)
    each = np.exp(np.stack([rows @ theta.T @ corner for corner in corners], axis=1))
    P = each / each.sum(axis=1, keepdims=True)
    assert_allclose(P, lk.special.softmax(rows @ theta.T, axis=1), rtol=1e-12)

    blocks = ArrayBlocks(Intercept(Dense(X)), y)
    objective = SoftmaxObjective(4, L2(0.0), blocks, Serial())
    gradient = objective.first_order(theta.ravel()).gradient.reshape(4, 4)
    assert_allclose(-gradient, (T - P).T @ rows, atol=1e-12)

    model = lk.SoftmaxRegression(l2=0.0).fit(X, y)
    packed = np.column_stack([model.coef_, model.intercept_])
    P = softmax(rows @ packed.T, axis=1)
    assert_allclose(model.predict_proba(X), P, rtol=1e-12)


def test_maximum_entropy_with_indicators_is_softmax_regression():
    """LR-10, to 1e-10: f_(c,d)(y, x) = 1{y = c} x_d, every weight penalised alike."""
    X, y, _, _ = softmax_problem(n=120)
    features = np.einsum("yc,nd->nycd", np.eye(4), with_bias(X)).reshape(len(X), 4, -1)
    search = {"l2": 0.7, "solver": "newton", "tol": 1e-21}  # 1e-10 of a weight
    wide = lk.MaxEntropy(**search).fit(features, y)
    plain = lk.SoftmaxRegression(penalise_intercept=True, **search).fit(X, y)
    assert_allclose(wide.predict_proba(features), plain.predict_proba(X), rtol=0, atol=1e-10)
    packed = np.column_stack([plain.coef_, plain.intercept_])
    assert_allclose(wide.coef_, packed.ravel(), rtol=0, atol=1e-10)
    assert_allclose(wide.predict_proba(features).sum(axis=1), 1.0, rtol=1e-14)


# ------------------------------------------------------------------------------ linear regression


def test_the_gaussian_log_likelihood_is_the_sum_of_scipys_and_is_largest_at_rss_over_n():
    """REG-1."""
    X, y = measured()
    model = lk.LinearRegression().fit(X, y)
    mean, n = model.predict(X), len(y)
    scipys = norm.logpdf(y, mean, np.sqrt(model.variance_)).sum()
    assert_allclose(model.log_likelihood(X, y), scipys, rtol=1e-12)
    best = np.sum((y - mean) ** 2) / n
    assert_allclose(model.variance_ * (n - 5) / n, best, rtol=1e-12)
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
    assert_allclose(with_bias(X).T @ residual, 0.0, atol=1e-10 * np.abs(Y).sum())
    numpys = np.linalg.lstsq(with_bias(X), Y, rcond=None)[0]
    assert_allclose(np.column_stack([model.coef_, model.intercept_]), numpys.T, atol=1e-10)


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
    assert_allclose(A @ P @ A, A, atol=1e-10)
    assert_allclose(P @ A @ P, P, atol=1e-10)
    assert_allclose(A @ P, (A @ P).T, atol=1e-10)
    assert_allclose(P @ A, (P @ A).T, atol=1e-10)
    assert_allclose(P, np.linalg.pinv(A), atol=1e-10)
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
    assert_allclose(model.coef_, by_hand, atol=1e-10)
    named = lk.LinearRegression(l2={f"x{j}": s for j, s in enumerate(strengths)})
    assert_allclose(named.set_params(fit_intercept=False).fit(X, y).coef_, by_hand, atol=1e-10)


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
    assert_allclose(model[-1].coef_, np.append(plain.coef_, plain.intercept_), atol=1e-10)
    assert_allclose(model.predict(X), plain.predict(X), atol=1e-10)


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
    assert_allclose(glm.dispersion_, line.variance_, rtol=1e-10)
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
    assert_allclose(one_step.theta, numpys, atol=1e-10)


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
