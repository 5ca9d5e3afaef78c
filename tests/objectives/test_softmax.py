"""The softmax objective: derivatives, blocks, layouts, soft labels, ties and reference classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept, Mixed
from likely.differences import check_gradient, check_hessian
from likely.objectives.softmax import SoftmaxObjective
from likely.penalties import ElasticNet

K, P = 3, 4
EXACT = 1e-6  # what central differences can tell


def some_rows(seed=0, n=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, P)), rng.integers(0, K, n), rng.random(n) + 0.5


def objective_of(design, y, weight=None, **options):
    reference = options.pop("reference", None)
    size = (K - (reference is not None)) * design.n_features
    strengths = np.random.default_rng(3).random((2, size))
    rows, executor = options.pop("rows", None), options.pop("executor", Serial())
    blocks = ArrayBlocks(design, y, weight, rows_per_block=rows)
    return SoftmaxObjective(K, ElasticNet(*strengths), blocks, executor, reference, **options)


def theta_of(objective, seed=1):
    return np.random.default_rng(seed).normal(size=objective.size)


VARIANTS = {
    "plain": {},
    "tied": {"tie": np.array([0.0, 2.0, 0.0, 0.0, 5.0])},
    "first class as reference": {"reference": 0},
    "middle class as reference": {"reference": 1},
}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("soft", [False, True], ids=["labels", "soft labels"])
def test_derivatives_are_those_of_the_value(name, soft):
    X, y, weight = some_rows()
    y = np.random.default_rng(2).dirichlet(np.ones(K), len(y)) if soft else y
    objective = objective_of(Intercept(Dense(X)), y, weight, **VARIANTS[name])
    theta = theta_of(objective)
    here = objective.second_order(theta)
    assert check_gradient(objective.value, lambda t: objective.first_order(t).gradient, theta) < (
        EXACT
    )
    gradient = check_hessian(
        lambda t: objective.first_order(t).gradient,
        lambda t: objective.second_order(t).hessian,
        theta,
    )
    assert gradient < EXACT
    assert_allclose(here.value, objective.value(theta), rtol=1e-13)
    assert_allclose(here.gradient, objective.first_order(theta).gradient, rtol=1e-12)


@pytest.mark.parametrize("name", VARIANTS)
def test_parts_and_products_of_the_hessian_agree_with_the_whole(name):
    X, y, weight = some_rows(4)
    objective = objective_of(Intercept(Dense(X)), y, weight, **VARIANTS[name])
    theta, direction = theta_of(objective), theta_of(objective, 9)
    whole = objective.second_order(theta).hessian
    columns = np.array([7, 2, objective.size - 1, 4])
    assert_allclose(objective.hessian_on(theta, columns), whole[np.ix_(columns, columns)])
    assert_allclose(objective.hessian_times(theta, direction), whole @ direction, rtol=1e-10)


def test_the_gradient_is_the_double_loop_of_the_textbook():
    X, y, weight = some_rows(5)
    objective = objective_of(Dense(X), y, weight)
    theta = theta_of(objective)
    Theta = theta.reshape(K, P)
    expected = np.zeros((K, P))
    for i in range(len(y)):
        score = np.exp(Theta @ X[i])
        for k in range(K):
            expected[k] += weight[i] * (score[k] / score.sum() - (y[i] == k)) * X[i]
    smooth = objective.first_order(theta).gradient - objective.penalty_on.gradient(theta)
    assert_allclose(smooth.reshape(K, P), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(smooth.reshape(K, P).sum(axis=0), 0.0, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 99), shift=st.floats(-5, 5))
@settings(max_examples=20)
def test_a_vector_added_to_all_classes_changes_no_likelihood(seed, shift):
    X, y, _ = some_rows(seed)
    objective = objective_of(Intercept(Dense(X)), y)
    theta = theta_of(objective, seed)
    moved = (theta.reshape(K, -1) + shift * np.arange(P + 1)).ravel()
    penalty = objective.penalty_on.value
    likelihood = objective.value(theta) - penalty(theta) + objective.penalty(theta)
    other = objective.value(moved) - penalty(moved) + objective.penalty(moved)
    assert_allclose(other, likelihood, rtol=1e-12, atol=1e-11)


def test_one_hot_rows_are_labels():
    X, y, weight = some_rows(6)
    hard = objective_of(Dense(X), y, weight)
    soft = objective_of(Dense(X), np.eye(K)[y], weight)
    theta = theta_of(hard)
    assert_allclose(soft.value(theta), hard.value(theta), rtol=1e-13)
    one, other = hard.second_order(theta), soft.second_order(theta)
    assert_allclose(other.gradient, one.gradient, rtol=1e-11)
    assert_allclose(other.hessian, one.hessian, rtol=1e-12)


@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_blocks_add(executor):
    X, y, weight = some_rows(7, n=50)
    whole = objective_of(Intercept(Dense(X)), y, weight)
    cut = objective_of(Intercept(Dense(X)), y, weight, rows=7, executor=executor)
    theta = theta_of(whole)
    one, other = whole.second_order(theta), cut.second_order(theta)
    assert_allclose(other.value, one.value, rtol=1e-13)
    assert_allclose(other.gradient, one.gradient, rtol=1e-11)
    assert_allclose(other.hessian, one.hessian, rtol=1e-11, atol=1e-13)
    assert_allclose(cut.curvature_bound(), whole.curvature_bound(), rtol=1e-12, atol=1e-13)
    assert_allclose(
        cut.shared_curvature(theta), whole.shared_curvature(theta), rtol=1e-12, atol=1e-12
    )


def test_dense_sparse_and_codes_are_the_same():
    rng = np.random.default_rng(8)
    numbers, codes = rng.normal(size=(40, 2)), rng.integers(0, 3, (40, 1)).astype(np.int32)
    expanded = np.hstack([numbers, np.eye(3)[codes[:, 0]]])
    y = rng.integers(0, K, 40)
    layouts = [Dense(expanded), Csr(sparse.csr_array(expanded)), Mixed(numbers, codes, (3,))]
    objectives = [objective_of(Intercept(layout), y) for layout in layouts]
    theta = theta_of(objectives[0])
    first, *others = [objective.second_order(theta) for objective in objectives]
    for other in others:
        assert_allclose(other.value, first.value, rtol=1e-13)
        assert_allclose(other.gradient, first.gradient, rtol=1e-10, atol=1e-12)
        assert_allclose(other.hessian, first.hessian, rtol=1e-10, atol=1e-12)


def test_the_bound_exceeds_every_hessian():
    X, y, weight = some_rows(9)
    objective = objective_of(Intercept(Dense(X)), y, weight)
    penalty = np.diag(objective.penalty_on.curvature(np.zeros(objective.size)))
    bound = np.kron(np.eye(K), objective.curvature_bound())
    for seed in range(5):
        hessian = objective.second_order(3 * theta_of(objective, seed)).hessian - penalty
        assert np.linalg.eigvalsh(bound - hessian).min() > -1e-10


def test_the_shared_curvature_is_the_mean_of_the_diagonal_blocks():
    X, y, weight = some_rows(10)
    size = K * P
    blocks = ArrayBlocks(Dense(X), y, weight)
    objective = SoftmaxObjective(K, ElasticNet(0.0, np.ones(size)), blocks, Serial())
    theta = theta_of(objective)
    hessian = objective.second_order(theta).hessian
    blocks_of = [hessian[k * P : (k + 1) * P, k * P : (k + 1) * P] for k in range(K)]
    assert_allclose(objective.shared_curvature(theta), np.mean(blocks_of, axis=0), rtol=1e-11)


def test_confident_scores_keep_their_curvature():
    """1 − p_k of a class with p_k near 1 would be rounding, or 0."""
    design = Dense(np.ones((1, 1)))
    blocks = ArrayBlocks(design, np.array([0]))
    objective = SoftmaxObjective(2, ElasticNet(0.0, np.zeros(2)), blocks, Serial())
    hessian = objective.second_order(np.array([40.0, 0.0])).hessian
    assert_allclose(hessian, np.exp(-40.0) * np.array([[1, -1], [-1, 1]]), rtol=1e-12)
