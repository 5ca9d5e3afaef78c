"""The ordinal objective: derivatives, blocks, layouts, crossing thresholds, many classes."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.differences import check_gradient, check_hessian
from likely.likelihoods import Ordinal
from likely.links import LINKS, UnitLink
from likely.objectives.ordinal import OrdinalObjective
from likely.objectives.softmax import block_class_weight
from likely.penalties import L2, ElasticNet
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

UNIT = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}
every_link = pytest.mark.parametrize("link", UNIT.values(), ids=UNIT)
seeds = st.integers(0, 999)


def some_data(seed, n=40, p=3, K=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.r_[np.arange(K), rng.integers(0, K, n - K)].astype(np.int32)
    return X, y, rng.uniform(0.5, 2, n), rng.normal(size=n) / 2


def an_objective(X, y, weight=None, offset=None, *, K=4, link=UNIT["logit"], l2=0.7, rows=None):
    design = Dense(X) if isinstance(X, np.ndarray) else X
    strengths = np.r_[np.full(design.n_features, l2), np.zeros(K - 1)]
    blocks = ArrayBlocks(design, y, weight, offset, rows_per_block=rows)
    return OrdinalObjective(Ordinal(K, link), L2(strengths), blocks, Serial())


def a_theta(seed, p=3, K=4):
    rng = np.random.default_rng(seed + 1)
    return np.r_[rng.normal(size=p) / 2, np.sort(rng.normal(size=K - 1))[::-1] - np.arange(K - 1)]


@every_link
@given(seed=seeds)
def test_the_gradient_and_the_observed_hessian_are_derivatives(link, seed):
    objective = an_objective(*some_data(seed), link=link)
    theta = a_theta(seed)
    gradient = lambda at: objective.first_order(at).gradient  # noqa: E731
    assert check_gradient(objective.value, gradient, theta, epsilon=1e-6) < 2e-6
    assert check_hessian(gradient, lambda at: objective.observed(at).hessian, theta) < 2e-6
    both = objective.observed(theta)
    assert_allclose(both.value, objective.value(theta))
    assert_allclose(both.gradient, gradient(theta))


@every_link
def test_the_expected_hessian_is_the_average_of_the_observed_over_the_model(link):
    X, _, _, _ = some_data(seed=3, n=5)
    theta, K = a_theta(3), 4
    probability = Ordinal(K, link).probability(X @ theta[:3], theta[3:])
    average = np.zeros((6, 6))
    for i, row in enumerate(X):
        for k in range(K):
            one = an_objective(row[None], np.array([k], dtype=np.int32), link=link, l2=0.0)
            average += probability[i, k] * one.observed(theta).hessian
    y = np.zeros(5, dtype=np.int32)
    found = an_objective(X, y, link=link, l2=0.0).expected(theta).hessian
    assert_allclose(found, average, rtol=1e-12, atol=1e-12)


@every_link
@given(seed=seeds)
def test_the_hessian_that_newton_sees_is_positive_definite(link, seed):
    objective = an_objective(*some_data(seed), link=link)
    hessian = objective.second_order(a_theta(seed)).hessian
    assert np.linalg.eigvalsh(hessian).min() > 0


@pytest.mark.parametrize("derivatives", ["observed", "expected"])
def test_blocks_add_and_weight_two_is_the_row_twice(derivatives):
    X, y, weight, offset = some_data(seed=5)
    theta = a_theta(5)
    whole = getattr(an_objective(X, y, weight, offset), derivatives)(theta)
    parts = getattr(an_objective(X, y, weight, offset, rows=7), derivatives)(theta)
    twice = np.r_[X, X], np.r_[y, y], np.r_[weight, weight] / 2, np.r_[offset, offset]
    doubled = getattr(an_objective(*twice), derivatives)(theta)
    for other in (parts, doubled):
        assert_allclose(other.value, whole.value, rtol=1e-12)
        assert_allclose(other.gradient, whole.gradient, rtol=1e-10, atol=1e-12)
        assert_allclose(other.hessian, whole.hessian, rtol=1e-10, atol=1e-12)


def test_dense_sparse_and_codes_give_the_same_derivatives():
    numbers, y, weight, offset = some_data(seed=6, p=2)
    codes = np.random.default_rng(6).integers(-1, 3, (len(y), 1)).astype(np.int32)
    X = np.column_stack([numbers, codes == np.arange(3)])
    theta = a_theta(6, p=5)
    layouts = [X, Csr(csr_array(X)), Mixed(numbers, codes, (3,))]
    for derivatives in ("observed", "expected"):
        dense, *others = (
            getattr(an_objective(layout, y, weight, offset), derivatives)(theta)
            for layout in layouts
        )
        for other in others:
            assert_allclose(other.gradient, dense.gradient, rtol=1e-10, atol=1e-12)
            assert_allclose(other.hessian, dense.hessian, rtol=1e-10, atol=1e-12)


def test_threads_give_the_same_bits_as_one_thread():
    X, y, weight, offset = some_data(seed=7)
    serial = an_objective(X, y, weight, offset, rows=6)
    threads = OrdinalObjective(
        serial.likelihood, serial.penalty_on, serial.blocks, Threads(workers=2)
    )
    theta = a_theta(7)
    assert_allclose(threads.observed(theta).hessian, serial.observed(theta).hessian, rtol=0)


def test_thresholds_that_cross_cost_infinity_and_a_search_turns_back():
    objective = an_objective(*some_data(seed=8))
    crossed = np.r_[np.zeros(3), 0.0, 1.0, -1.0]
    for value in (
        objective.value(crossed),
        objective.first_order(crossed).value,
        objective.second_order(crossed).value,
    ):
        assert value == inf
    far = np.r_[np.zeros(3), 6.0, 0.0, -6.0]
    first = Newton().init(objective, far)
    assert objective.value(far + first.direction) == inf  # a whole step crosses
    solution = minimise(Newton(), objective, far, tol=1e-18)
    assert solution.converged
    assert np.isfinite(solution.trace).all()
    assert np.abs(objective.first_order(solution.theta).gradient).max() < 1e-6


@every_link
def test_a_hundred_classes_reach_the_optimum_in_few_steps(link):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(4000, 2))
    latent = X @ [1.0, -0.5] + rng.logistic(size=4000)
    y = np.argsort(np.argsort(latent)) // 40  # forty examples of each
    objective = an_objective(X, y.astype(np.int32), K=100, link=link)
    start = objective.start(np.bincount(y))
    solution = minimise(Newton(), objective, start, tol=1e-14)
    assert solution.converged
    assert solution.n_iter < 20
    assert (np.diff(solution.theta[2:]) < 0).all()
    assert np.abs(objective.first_order(solution.theta).gradient).max() < 1e-4


def test_the_start_gives_the_class_frequencies():
    X, y, weight, _ = some_data(seed=10)
    block = next(iter(an_objective(X, y, weight).blocks))
    count = np.asarray(block_class_weight(4, block).value)
    assert_allclose(count, [weight[y == k].sum() for k in range(4)])
    theta = an_objective(X, y).start(count)
    assert_allclose(Ordinal(4).probability(np.zeros(1), theta[3:])[0], count / count.sum())


def test_a_lasso_part_stays_out_of_the_smooth_value():
    X, y, _, _ = some_data(seed=11)
    theta = a_theta(11)
    free = np.zeros(3)
    both = ElasticNet(np.r_[np.full(3, 0.3), free], np.r_[np.full(3, 0.7), free])
    plain = an_objective(X, y)
    objective = OrdinalObjective(plain.likelihood, both, plain.blocks, Serial())
    assert_allclose(objective.value(theta), plain.value(theta))
    assert_allclose(objective.penalty(theta), 0.3 * np.abs(theta[:3]).sum())
    assert_allclose(objective.l1, [0.3, 0.3, 0.3, 0, 0, 0])
    assert_allclose(objective.prox(theta, 100.0), np.r_[free, theta[3:]])
    columns = np.array([0, 4])
    assert_allclose(
        objective.hessian_on(theta, columns),
        plain.second_order(theta).hessian[np.ix_(columns, columns)],
    )
