"""What the specification asks of logistic and softmax regression, to the letter.

Each test names its capability.  Identities hold to 1e-10 unless the specification says otherwise.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss

import likely as lk
from likely.differences import check_gradient
from likely.information import cross_entropy
from likely.likelihoods.categorical import Categorical
from likely.solvers import gradient_step
from likely.special import expit, one_hot
from likely.teaching.losses import loss_objective
from tests.worked.problems import labelled, with_bias


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
    for reduction, share in (("sum", 1.0), ("mean", weight.sum())):
        objective = lk.GLM("bernoulli").objective(X, t, weight, reduction=reduction)
        theta = objective.pack(model.coef_, model.intercept_)
        assert_allclose(objective.loss(theta), -by_hand / share, rtol=1e-12)
        taught = loss_objective(X, t, weight, reduction=reduction)
        assert_allclose(taught.value(theta), -by_hand / share, rtol=1e-12)


def test_the_logistic_gradient_is_the_error_times_the_input():
    """LR-4."""
    X, y = labelled()
    objective, rng = lk.LogisticRegression(l2=0.0).objective(X, y), np.random.default_rng(3)
    for theta in rng.normal(size=(5, 4)):
        gradient = objective.gradient(theta)
        by_hand = -with_bias(X).T @ (y - expit(with_bias(X) @ theta))
        assert_allclose(gradient, by_hand, rtol=1e-10, atol=1e-10)
        assert check_gradient(objective.value, objective.gradient, theta) < 1e-7
        stepped = gradient_step(objective, theta, 1e-3)
        assert_allclose(stepped, theta - 1e-3 * by_hand, rtol=1e-14, atol=1e-14)
        assert objective.value(stepped) < objective.value(theta)


def test_the_gradient_of_an_example_grows_with_its_error():
    """LR-4: |t − f| ‖x‖, for the same x."""
    f = np.linspace(0.01, 0.99, 99)
    eta = np.log(f / (1 - f))
    both = lk.LogisticRegression(l2=0.0).objective([[2.0], [2.0]], [0, 1])
    for t in (0, 1):
        norms = np.array([np.linalg.norm(both.gradient([0.0, b], rows=t)) for b in eta])
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

    objective = lk.SoftmaxRegression(l2=0.0).objective(X, y)
    gradient = objective.gradient(theta.ravel()).reshape(4, 4)
    assert_allclose(-gradient, (T - P).T @ rows, rtol=1e-12, atol=1e-12)
    assert_allclose(objective.fitted_model(theta.ravel()).predict_proba(X), P, rtol=1e-12)

    model = lk.SoftmaxRegression(l2=0.0).fit(X, y)
    packed = objective.pack(model.coef_, model.intercept_).reshape(4, 4)
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
