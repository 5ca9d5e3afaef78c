"""Worked examples of linear models: likelihoods, losses, XOR, and priors as penalties.

Each test is named after its entry of ``worked_examples.json``.  The numbers are repeated here, so
that the tests run without that file; where it is present, it must say the same.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from likely import (
    GLM,
    BasisFunctions,
    LinearRegression,
    LogisticRegression,
    PolynomialFeatures,
    SoftmaxRegression,
    separability,
)
from likely.likelihoods import Bernoulli, Categorical, Gaussian, likelihood_of
from likely.penalties import L1, L2, ElasticNet
from likely.solvers import FixedStep, GradientDescent, Newton, minimise
from likely.teaching import MARGIN_LOSSES, Cascade, SquareErrorLogistic, loss_objective

EXAMPLES = Path(__file__).parents[3] / "shared" / "spec" / "worked_examples.json"

MARGINS = [-3.0, -1.0, -0.25, 0.0, 1.0, 3.0]
NATS = [
    3.048587351573742,
    1.3132616875182228,
    0.8259394198788436,
    0.6931471805599453,
    0.31326168751822286,
    0.04858735157374206,
]
SIGMOID = [
    0.9073974670915211,
    0.534446645388523,
    0.3160424181481997,
    0.25,
    0.07232948812851325,
    0.0022492134466546346,
]
CASES = [  # target, a, f, slope of the cross-entropy, slope of the square error
    (1, -20.0, 2.0611536181902033e-09, -0.9999999979388463, -2.0611536096934942e-09),
    (1, -10.0, 4.5397868702434395e-05, -0.9999546021312976, -4.5393746863032435e-05),
    (1, -2.0, 0.11920292202211755, -0.8807970779778823, -0.09247804322982975),
    (1, 0.0, 0.5, -0.5, -0.125),
    (1, 2.0, 0.8807970779778823, -0.11920292202211755, -0.012515542173676723),
    (1, 10.0, 0.9999546021312976, -4.5397868702434395e-05, -2.0608729192376897e-09),
    (1, 20.0, 0.9999999979388463, -2.0611536181902033e-09, -4.2483542290220554e-18),
    (0, -20.0, 2.0611536181902033e-09, 2.0611536181902033e-09, 4.2483542290220554e-18),
    (0, -10.0, 4.5397868702434395e-05, 4.5397868702434395e-05, 2.0608729192376897e-09),
    (0, -2.0, 0.11920292202211755, 0.11920292202211755, 0.012515542173676723),
    (0, 0.0, 0.5, 0.5, 0.125),
    (0, 2.0, 0.8807970779778823, 0.8807970779778823, 0.09247804322982976),
    (0, 10.0, 0.9999546021312976, 0.9999546021312976, 4.5393746863032435e-05),
    (0, 20.0, 0.9999999979388463, 0.9999999979388463, 2.0611536096934946e-09),
]
XOR, LABEL = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
HIDDEN = [
    [4.5397868702434395e-05, 0.9999999999999065],
    [0.9999546021312976, 0.9999546021312976],
    [0.9999546021312976, 0.9999546021312976],
    [0.9999999999999065, 4.5397868702434395e-05],
]
OUTPUT = [4.543910487654591e-05, 0.999954519621495, 0.999954519621495, 4.543910487654575e-05]
A, Y = np.column_stack([np.ones(5), np.arange(5.0)]), np.array([1.0, 2.9, 5.2, 6.8, 9.1])
RIDGE = [0.9077490774907764, 2.000738007380073]
SOFTMAX_P = [
    [0.3886035219521703, 0.40852765057824236, 0.2028688274695873],
    [0.2507912631074925, 0.39331899394595154, 0.355889742946556],
    [0.2706842260414412, 0.5185066867524072, 0.2108090872061516],
]
SOFTMAX_GRADIENT = [
    [-0.3407122520063885, 0.5214754891489337, -0.08992098889889599],
    [0.9270343373306495, -0.08817431930164121, 0.32035333127660115],
    [-0.586322085324261, -0.43330116984729233, -0.23043234237770505],
]

KEYS = ("target", "a", "f", "ce_grad", "se_grad_half")
LITERALS = {
    ("margin_loss_upper_bound", "inputs", "margin"): MARGINS,
    ("margin_loss_upper_bound", "expected", "logistic_nats"): NATS,
    ("margin_loss_upper_bound", "expected", "square_of_sigmoid_error"): SIGMOID,
    ("xor_table", "inputs", "X"): XOR.tolist(),
    ("xor_table", "inputs", "class1_indicator"): LABEL.tolist(),
    ("xor_cascaded_logistic", "expected", "hidden"): HIDDEN,
    ("xor_cascaded_logistic", "expected", "output"): OUTPUT,
    ("linear_and_ridge_closed_form", "inputs", "A"): A.tolist(),
    ("linear_and_ridge_closed_form", "inputs", "y"): Y.tolist(),
    ("linear_and_ridge_closed_form", "expected", "ridge_all_penalised"): RIDGE,
    ("softmax_regression_gradient", "expected", "P"): SOFTMAX_P,
    ("softmax_regression_gradient", "expected", "grad_theta_augmented"): SOFTMAX_GRADIENT,
}


def examples():
    return {e["id"]: e for e in json.loads(EXAMPLES.read_text())["examples"]}


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the specification is not beside the checkout")
@pytest.mark.parametrize("key", LITERALS, ids="/".join)
def test_the_literals_here_are_those_of_the_specification(key):
    entry, part, field = key
    assert examples()[entry][part][field] == LITERALS[key]


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the specification is not beside the checkout")
def test_the_gradients_here_are_those_of_the_specification():
    cases = examples()["square_error_vs_cross_entropy_gradient"]["expected"]["cases"]
    assert [tuple(case[key] for key in KEYS) for case in cases] == CASES


def gaussian(l2):
    return LinearRegression(l2=l2, fit_intercept=False).objective(A, Y)


def test_three_point_bernoulli_likelihood():
    """0.9 · 0.6 · (1 − 0.3); the document's −ln L lacks the minus signs on the right."""
    f, target = np.array([0.9, 0.6, 0.3]), np.array([1.0, 1.0, 0.0])
    terms = [0.10536051565782628, 0.5108256237659907, 0.35667494393873245]
    assert_allclose(Bernoulli().nll(target, f), terms, rtol=1e-12, atol=1e-12)
    assert_allclose(np.exp(Bernoulli().log_prob(target, f)).prod(), 0.378, rtol=1e-12, atol=1e-12)
    logit = likelihood_of("bernoulli")
    eta = logit.eta_of_mean(f)
    assert_allclose(logit.nll(target, eta).sum(), 0.9728610833625494, rtol=1e-12, atol=1e-12)


def test_square_error_vs_cross_entropy_gradient():
    """Relative too: a slope of 4e-18 is not 0."""
    target, a, f, cross, square = np.array(CASES).T
    assert_allclose(SquareErrorLogistic().mean(a), f, rtol=1e-12)
    assert_allclose(likelihood_of("bernoulli").derivatives(target, a)[1], cross, rtol=1e-12)
    assert_allclose(SquareErrorLogistic().derivatives(target, a)[1], square, rtol=1e-12)


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_square_error_vs_cross_entropy_gradient_in_the_limits(target):
    """At f = 0 and f = 1 square error has no slope, right or wrong; cross-entropy has f − t."""
    y, a = np.full(2, target), np.array([-800.0, 800.0])
    assert_allclose(SquareErrorLogistic().derivatives(y, a)[1], 0.0, rtol=1e-12, atol=1e-12)
    assert_allclose(likelihood_of("bernoulli").derivatives(y, a)[1], [0 - target, 1 - target])


def test_margin_loss_upper_bound():
    margins = np.array(MARGINS)
    expected = {
        "zero-one": [1, 1, 1, 0, 0, 0],
        "logistic": NATS,
        "hinge": [4.0, 2.0, 1.25, 1.0, 0.0, 0.0],
        "squared": [16.0, 4.0, 1.5625, 1.0, 0.0, 4.0],
        "sigmoid-squared": SIGMOID,
    }
    assert list(expected) == list(MARGIN_LOSSES)
    for name, values in expected.items():
        assert_allclose(MARGIN_LOSSES[name].value(margins), values, rtol=1e-12, atol=1e-12)
    bits = [
        4.398181853832257,
        1.8946361239720115,
        1.191578705133915,
        1.0,
        0.4519410830830482,
        0.07009673116536624,
    ]
    logistic = MARGIN_LOSSES["logistic"]
    assert_allclose(logistic.upper_bound(margins), bits, rtol=1e-12, atol=1e-12)
    assert not logistic.bounds_zero_one
    assert_allclose(logistic.value(np.array(-0.541324854612918)), 1.0, rtol=1e-12, atol=1e-12)


def test_xor_table():
    found = separability(XOR, LABEL)
    assert not found.separable
    assert found.verify(XOR, LABEL)
    fit = minimise(Newton(), loss_objective(XOR, LABEL), np.ones(3), tol=1e-14)
    assert_allclose(fit.theta, 0, atol=1e-7)
    assert_allclose(fit.trace[-1] / 4, 0.6931471805599453, rtol=1e-12, atol=1e-12)
    three_of_four = [
        separability(XOR, np.where(np.arange(4) == i, 1 - LABEL, LABEL)) for i in range(4)
    ]
    assert all(found.separable for found in three_of_four)  # so the best accuracy is 0.75


def test_xor_table_by_distances():
    """LR-14: the library's distances, chained with its linear model."""
    map_ = BasisFunctions("distance", centres=[[0, 0], [1, 1]])
    distances = map_.fit_transform(XOR)
    root = 1.4142135623730951
    assert_allclose(distances, [[0, root], [1, 1], [1, 1], [root, 0]], rtol=1e-12, atol=1e-12)
    found = separability(distances, LABEL)
    assert found.separable
    scale = found.coef[0]
    assert_allclose(found.coef / scale, [1, 1], rtol=1e-9, atol=1e-9)
    assert_allclose(found.intercept / scale, -1.7071067811865475, rtol=1e-9, atol=1e-9)
    squared = separability(distances**2, LABEL)
    assert not squared.separable
    assert squared.verify(distances**2, LABEL)
    chained = make_pipeline(map_, LogisticRegression(l2=0.01)).fit(XOR, LABEL)
    assert_array_equal(chained.predict(XOR), LABEL)
    assert LogisticRegression(l2=0.01).fit(XOR, LABEL).score(XOR, LABEL) <= 0.75
    with_squares = LogisticRegression(l2=0.01).fit(distances**2, LABEL)
    assert with_squares.score(distances**2, LABEL) <= 0.75


def test_xor_table_with_the_product_feature():
    """LR-19: x₁x₂ beside x₁ and x₂ is enough."""
    monomials = PolynomialFeatures(monomials=[["x0"], ["x1"], ["x0", "x1"]])
    features = monomials.fit_transform(XOR)
    assert_array_equal(features, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    assert separability(features, LABEL).separable
    chained = make_pipeline(monomials, LogisticRegression(l2=0.01)).fit(XOR, LABEL)
    assert_array_equal(chained.predict(XOR), LABEL)


def test_xor_cascaded_logistic():
    cascade = Cascade([[20, 20], [-20, -20]], [-10, 30], coef=[20, 20], intercept=-30)
    assert_allclose(cascade.hidden(XOR), HIDDEN, rtol=1e-12, atol=1e-12)
    assert_allclose(cascade.probability(XOR), OUTPUT, rtol=1e-12, atol=1e-12)
    assert_array_equal(cascade.decision(XOR) >= 0, LABEL)


def test_softmax_regression_gradient():
    """Σ (p − t) x̃ᵀ; the document's gradient of b has the other sign."""
    X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])  # with ones
    theta = np.array([[0.1, -0.2, 0.05], [0.3, 0.4, -0.1], [-0.5, 0.2, 0.0]])
    nll, slope, probability = Categorical(3).derivatives(np.arange(3), X @ theta.T)
    assert_allclose(probability, SOFTMAX_P, rtol=1e-12, atol=1e-12)
    assert_allclose(nll.sum(), 3.435132340878957, rtol=1e-12, atol=1e-12)
    assert_allclose(slope.T @ X, SOFTMAX_GRADIENT, rtol=1e-12, atol=1e-12)
    objective = SoftmaxRegression(l2=0.0).objective(X[:, :2], [0, 1, 2])
    assert_allclose(objective.value(theta.ravel()), 3.435132340878957, rtol=1e-12, atol=1e-12)
    assert_allclose(
        objective.gradient(theta.ravel()), np.ravel(SOFTMAX_GRADIENT), rtol=1e-12, atol=1e-12
    )
    model = objective.fitted_model(theta.ravel())
    assert_allclose(model.predict_proba(X[:, :2]), SOFTMAX_P, rtol=1e-12, atol=1e-12)


def test_linear_and_ridge_closed_form():
    """REG-3, EST-7: a flat prior gives the maximum of the likelihood."""
    flat = minimise(Newton(), gaussian(0.0), np.zeros(2), tol=1e-15)
    assert_allclose(flat.theta, [0.98, 2.01], rtol=1e-10, atol=1e-10)
    assert_allclose(np.linalg.pinv(A) @ Y, flat.theta, rtol=1e-10, atol=1e-10)
    residual = Y - A @ flat.theta
    variance = float(np.mean(residual**2))
    assert_allclose(variance, 0.01979999999999997, rtol=1e-12, atol=1e-12)
    log_likelihood = Gaussian().log_prob(Y, A @ flat.theta, variance).sum()
    assert_allclose(log_likelihood, 2.7104906871807586, rtol=1e-10, atol=1e-10)


def test_linear_and_ridge_closed_form_as_the_mode_of_a_posterior():
    """REG-6, EST-7: noise σ² = 1 and prior τ² = 2 are the ridge of λ = σ²/τ² = 0.5."""
    sigma2, tau2 = 1.0, 2.0
    penalty = L2(sigma2 / tau2)
    mode = minimise(Newton(), gaussian(penalty), np.zeros(2), tol=1e-15).theta
    assert_allclose(mode, RIDGE, rtol=1e-10, atol=1e-10)

    def log_posterior(w):
        """Normalised densities, all of them."""
        prior = L2(1 / tau2).log_prior(w)
        return Gaussian().log_prob(Y, A @ w, sigma2).sum() + prior

    for move in np.vstack([np.eye(2), -np.eye(2)]):
        assert log_posterior(mode) > log_posterior(mode + 1e-4 * move)
    slow = minimise(GradientDescent(), gaussian(penalty), np.zeros(2), tol=1e-15, max_iter=2000)
    assert_allclose(slow.theta, RIDGE, atol=1e-6)


@pytest.mark.parametrize(
    "prior",
    [L2.of_prior(0.7), L1.of_prior(0.4), ElasticNet(0.8, 1.5)],
    ids=["gaussian", "laplace", "elastic-net"],
)
@pytest.mark.parametrize("response", ["bernoulli", "poisson"])
def test_a_penalised_fit_is_the_mode_of_likelihood_times_prior(response, prior):
    """EST-7: −Σ ln p(y | x) − ln p(β) by normalised densities rises from the fit, every way.

    The fit without a prior has a lower density, and is the limit of ever flatter priors.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = likelihood_of(response).sample(X @ [0.9, -0.4], rng)
    l1, l2 = prior.corners(2)[0], prior.curvature(np.zeros(2))[0]
    model = GLM(response, l1=l1, l2=l2, fit_intercept=False, tol=1e-14)
    objective = model.objective(X, y)

    def log_posterior(beta):
        return objective.fitted_model(beta).log_likelihood(X, y) + prior.log_prior(beta)

    mode, best = model.fit(X, y).coef_, log_posterior(model.coef_)
    for move in np.vstack([np.eye(2), -np.eye(2), np.ones((1, 2)), [[1.0, -1.0]]]):
        assert log_posterior(mode + 1e-4 * move) < best
    flat = GLM(response, fit_intercept=False, tol=1e-14).fit(X, y).coef_
    assert log_posterior(flat) < best - 1e-3
    flatter = GLM(response, l1=1e-9 * l1, l2=1e-9 * l2, fit_intercept=False, tol=1e-16)
    assert_allclose(flatter.fit(X, y).coef_, flat, atol=1e-6)
    assert np.abs(mode - flat).max() > 1e-3


def test_linear_and_ridge_closed_form_with_a_free_bias():
    mode = minimise(Newton(), gaussian(L2(np.array([0.0, 0.5]))), np.zeros(2), tol=1e-15)
    assert_allclose(mode.theta, [1.1714285714285726, 1.9142857142857137], rtol=1e-10, atol=1e-10)


def test_weight_decay_shrinks_by_a_factor_each_step():
    """REG-6: θ ← (1 − tλ) θ − t ∇, the penalty's part of a gradient step."""
    theta, t, l2 = np.array([3.0, -1.0]), 0.01, 0.5
    decayed = minimise(FixedStep(t), gaussian(L2(l2)), theta, tol=0.0, max_iter=1).theta
    plain = minimise(FixedStep(t), gaussian(0.0), theta, tol=0.0, max_iter=1).theta
    assert_allclose(decayed, plain - t * l2 * theta, rtol=1e-14)


@pytest.mark.parametrize(("part", "reaches"), [(0.9, True), (1.02, False)])
def test_a_step_below_two_over_the_largest_eigenvalue_converges_and_above_diverges(part, reaches):
    """REG-13: λ_max of AᵀA, for the least squares of the same five points."""
    t = part * 2 / np.linalg.eigvalsh(A.T @ A).max()
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimise(FixedStep(t), gaussian(0.0), np.zeros(2), tol=0.0, max_iter=3000)
    if reaches:
        assert_allclose(found.theta, [0.98, 2.01], atol=1e-6)
    else:
        assert found.trace[-1] > 1e6 * found.trace[0]
