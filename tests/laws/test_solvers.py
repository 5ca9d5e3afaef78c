"""Laws of solvers: they find the optimum, do not climb, certify the gap, and agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import cholesky
from scipy.optimize import minimize

from likely.solvers.choice import SOLVERS
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton
from likely.solvers.proximal import FISTA
from likely.solvers.proximal_newton import ProximalNewton
from tests.solver_objectives import random_logistic, random_quadratic

ON_TOTALS = {name: entry for name, entry in SOLVERS.items() if entry.on_totals}
SMOOTH = {name: entry.solver for name, entry in ON_TOTALS.items()}
SPARSE = {name: entry.solver for name, entry in ON_TOTALS.items() if not entry.smooth_only}
every_solver = pytest.mark.parametrize("name", SMOOTH)
every_sparse_solver = pytest.mark.parametrize("name", SPARSE)
seeds = st.integers(0, 9999)
few = settings(max_examples=10)


@every_solver
@few
@given(seed=seeds, d=st.integers(1, 5))
def test_the_optimum_of_a_random_convex_quadratic_is_found(name, seed, d):
    objective = random_quadratic(seed, d)
    solution = minimise(SMOOTH[name], objective, np.ones(d), tol=1e-12, max_iter=5000)
    best = np.linalg.solve(objective.Q, objective.c)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, best, atol=1e-5)
    assert solution.trace[-1] - objective.value(best) <= 1e-11 * max(1, abs(solution.trace[-1]))


@every_solver
@few
@given(seed=seeds)
def test_the_trace_never_rises(name, seed):
    objective = random_logistic(seed, l1=1.0 if name in SPARSE else 0.0)
    solution = minimise(SMOOTH[name], objective, np.full(6, 3.0), tol=1e-10, max_iter=2000)
    assert solution.converged, solution.reason
    assert len(solution.trace) > 2
    assert np.diff(solution.trace).max() <= 1e-11


@every_solver
@few
@given(seed=seeds)
def test_all_agree_on_l2_logistic_regression(name, seed):
    objective = random_logistic(seed)
    theirs = minimise(Newton(), objective, np.zeros(6), tol=1e-14)
    ours = minimise(SMOOTH[name], objective, np.zeros(6), tol=1e-14, max_iter=5000)
    assert ours.converged, ours.reason
    assert_allclose(ours.theta, theirs.theta, atol=1e-6)


@few
@given(seed=seeds, l1=st.sampled_from([0.3, 2.0, 8.0]), d=st.integers(1, 8))
def test_all_agree_on_l1_logistic_regression(seed, l1, d):
    objective = random_logistic(seed, d=d, l1=l1, l2=0.1)
    fista = minimise(FISTA(), objective, np.zeros(d + 1), tol=1e-14, max_iter=5000)
    newton = minimise(ProximalNewton(), objective, np.zeros(d + 1), tol=1e-14)
    assert newton.converged, newton.reason
    assert fista.converged, fista.reason
    assert_allclose(fista.theta, newton.theta, atol=1e-6)


@every_sparse_solver
@few
@given(seed=seeds, l1=st.sampled_from([0.5, 4.0]))
def test_a_sparse_optimum_has_balanced_forces(name, seed, l1):
    """|g_j| ≤ λ_j everywhere, with g_j = −λ_j sign θ_j where θ_j ≠ 0."""
    objective = random_logistic(seed, l1=l1)
    theta = minimise(SPARSE[name], objective, np.zeros(6), tol=1e-14, max_iter=5000).theta
    g = objective.first_order(theta).gradient
    assert (np.abs(g) <= objective.l1 + 1e-5).all()
    moved = theta != 0
    assert_allclose(g[moved], -(objective.l1 * np.sign(theta))[moved], atol=1e-5)


@every_solver
@few
@given(seed=seeds, tol=st.sampled_from([1e-3, 1e-6]))
def test_the_gap_certifies_the_value(name, seed, tol):
    """Within a factor of ten: the curvature at θ is not the curvature on the way to the optimum."""
    objective = random_logistic(seed, l1=1.0 if name in SPARSE else 0.0)
    solution = minimise(SMOOTH[name], objective, np.zeros(6), tol=tol, max_iter=5000)
    best = minimise(ProximalNewton(), objective, np.zeros(6), tol=1e-15).trace[-1]
    assert solution.converged
    assert solution.trace[-1] - best <= 10 * tol * max(1, abs(best))


@pytest.mark.parametrize("name", ["newton", "proximal-newton", "preconditioned lbfgs"])
@few
@given(seed=seeds)
def test_badly_scaled_columns_are_no_obstacle(name, seed):
    scale = np.array([1.0, 1e8, 1e-8, 1e4, 1.0])
    objective, plain = random_logistic(seed, scale=scale), random_logistic(seed)
    factor = cholesky(objective.second_order(np.zeros(6)).hessian, lower=True)
    solvers = SMOOTH | {"preconditioned lbfgs": LBFGS(preconditioner=factor)}
    solution = minimise(solvers[name], objective, np.zeros(6), tol=1e-12)
    assert solution.converged, solution.reason
    expected = minimise(Newton(), plain, np.zeros(6), tol=1e-14).theta
    assert_allclose(solution.theta * np.append(scale, 1.0), expected, atol=1e-5)


def test_the_smooth_optimum_is_the_one_scipy_finds():
    objective = random_logistic(0)
    ours = minimise(LBFGS(), objective, np.zeros(6), tol=1e-12)
    theirs = minimize(objective.value, np.zeros(6), tol=1e-10)
    assert_allclose(ours.theta, theirs.x, atol=1e-4)  # SciPy's gradient is by differences
