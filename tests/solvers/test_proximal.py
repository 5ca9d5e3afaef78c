"""FISTA: exact on what has a closed form, for every penalty with a proximal map."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.penalties import L1, L2, ElasticNet, Group, NoPenalty, Penalty
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.minimise import minimise
from likely.solvers.proximal import FISTA


@dataclass(frozen=True, eq=False)
class Squares(FirstOrderObjective):
    """½‖y − Xθ‖² + penalty."""

    X: np.ndarray
    y: np.ndarray
    h: Penalty

    def value(self, theta):
        return 0.5 * float(np.sum((self.y - self.X @ theta) ** 2))

    def first_order(self, theta):
        return FirstOrder(self.value(theta), self.X.T @ (self.X @ theta - self.y))

    def penalty(self, theta):
        return self.h.value(theta)

    def prox(self, theta, step):
        return self.h.prox(theta, step)


PENALTIES = [NoPenalty(), L2(0.5), L1(0.5), ElasticNet(0.5, 2.0), Group(np.array([0, 0, 1]), 0.5)]
every_penalty = pytest.mark.parametrize("h", PENALTIES, ids=lambda h: type(h).__name__)


@every_penalty
def test_with_orthonormal_columns_the_answer_is_one_proximal_map(h):
    rng = np.random.default_rng(0)
    X, y = np.linalg.qr(rng.normal(size=(20, 3)))[0], rng.normal(size=20)
    solution = minimise(FISTA(), Squares(X, y, h), np.ones(3), tol=1e-14, max_iter=1000)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, h.prox(X.T @ y, 1.0), atol=1e-6)


@every_penalty
def test_the_optimum_is_a_fixed_point_of_the_proximal_step(h):
    rng = np.random.default_rng(1)
    objective = Squares(rng.normal(size=(20, 3)), rng.normal(size=20), h)
    theta = minimise(FISTA(), objective, np.ones(3), tol=1e-14, max_iter=1000).theta
    gradient = objective.first_order(theta).gradient
    assert_allclose(h.prox(theta - 0.01 * gradient, 0.01), theta, atol=1e-7)


def test_worked_example_lasso_elastic_net_orthonormal():
    """SPEC's ‖y − Aw‖² + λ₁‖w‖₁ + λ₂‖w‖² is ours with l1 = λ₁/2, l2 = λ₂."""
    t = np.arange(-2.0, 3.0)
    A = np.column_stack([np.ones(5) / 5**0.5, -t / 10**0.5, (t**2 - 2) / 14**0.5])
    y = np.array([1.0, 2.9, 5.2, 6.8, 9.1])
    expected = {
        L1(0.75): [10.430339887498947, -5.606178096938444, 0.0],
        ElasticNet(0.75, 0.4): [7.450242776784963, -4.004412926384603, 0.0],
        L2(0.4): [7.985957062499248, -4.540127212098889, 0.01909008870803033],
    }
    for h, theta in expected.items():
        assert_allclose(h.prox(A.T @ y, 1.0), theta, rtol=1e-10, atol=1e-10)
        solution = minimise(FISTA(), Squares(A, y, h), np.zeros(3), tol=1e-15, max_iter=500)
        assert_allclose(solution.theta, theta, atol=1e-6)


def test_momentum_pays_on_a_narrow_valley():
    """Proximal steps alone need about κ = 1e4 steps for each digit."""
    X, y = np.diag(np.geomspace(1, 100, 10)), np.arange(10.0)
    solution = minimise(FISTA(), Squares(X, y, L1(0.1)), np.ones(10), tol=1e-10, max_iter=3000)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, L1(0.1 / np.diag(X) ** 2).prox(y / np.diag(X), 1.0), atol=1e-4)


def test_a_strong_enough_penalty_leaves_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    strength = np.abs(X.T @ y).max()
    solution = minimise(FISTA(), Squares(X, y, L1(1.001 * strength)), np.zeros(3))
    assert solution.n_iter == 0
    assert solution.converged
    assert minimise(FISTA(), Squares(X, y, L1(0.9 * strength)), np.zeros(3)).theta.any()


def test_a_start_without_a_value_is_reported():
    objective = Squares(np.eye(2), np.ones(2), L1(1.0))
    solution = minimise(FISTA(), objective, np.full(2, np.nan))
    assert not solution.converged
    assert "start is not finite" in solution.reason
