"""Compiled coordinate descent equals its readable definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.fast.coordinate import descend_coordinates
from tests.solver_objectives import random_quadratic

seeds = st.integers(0, 9999)


def sweep(Q, c, l1, theta):
    """One sweep, as in the book: θ_j ← S(c_j − Σ_{k≠j} Q_jk θ_k, λ_j) / Q_jj."""
    theta = theta.copy()
    for j in range(len(theta)):
        pull = c[j] - Q[j] @ theta + Q[j, j] * theta[j]
        theta[j] = np.sign(pull) * max(abs(pull) - l1[j], 0) / Q[j, j]
    return theta


@given(seed=seeds, d=st.integers(1, 6))
def test_one_sweep_equals_its_definition(seed, d):
    objective, theta = random_quadratic(seed, d, l1=0.5), np.ones(d)
    expected = sweep(objective.Q, objective.c, objective.l1, theta)
    used = descend_coordinates(objective.Q, objective.c, objective.l1, theta, -1.0, 1)
    assert used == 2  # one sweep was allowed, and was too few for a tolerance below 0
    assert_allclose(theta, expected, rtol=1e-10, atol=1e-12)


@given(seed=seeds, d=st.integers(1, 6))
def test_the_end_has_balanced_forces(seed, d):
    objective, theta = random_quadratic(seed, d, l1=0.5), np.zeros(d)
    used = descend_coordinates(objective.Q, objective.c, objective.l1, theta, 1e-20, 100_000)
    g = objective.Q @ theta - objective.c
    assert used <= 100_000
    assert (np.abs(g) <= 0.5 + 1e-7).all()
    assert_allclose(g[theta != 0], -0.5 * np.sign(theta[theta != 0]), atol=1e-7)


def test_without_a_penalty_it_solves_the_equations():
    objective, theta = random_quadratic(1, 4), np.zeros(4)
    descend_coordinates(objective.Q, objective.c, np.zeros(4), theta, 1e-24, 100_000)
    assert_allclose(objective.Q @ theta, objective.c, rtol=1e-10, atol=1e-9)


def test_a_strong_penalty_leaves_nothing_after_one_sweep():
    objective, theta = random_quadratic(1, 4), np.zeros(4)
    assert descend_coordinates(objective.Q, objective.c, np.full(4, 9.0), theta, 0.0, 10) == 1
    assert_allclose(theta, 0.0)
