"""The compiled passes over sequences: scales, floors, and the bound on what the floors added."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.fast.chain import FLOOR, LOWEST, scaled_beliefs, shift_rows


def run(likelihood, transition, start=None):
    n, n_states = likelihood.shape
    start = np.full(n_states, 1 / n_states) if start is None else start
    state, scale, ratio = np.empty((n, n_states)), np.ones(n), np.empty((n, n_states))
    exact, work = np.zeros(1, dtype=bool), likelihood.copy()
    before, first = transition.T.copy(), np.array([0, n])
    scaled_beliefs(work, first, start, transition, before, np.ones(1), state, scale, ratio, exact)
    return bool(exact[0]), state, scale, work


def test_rows_are_shifted_and_minus_infinity_stays():
    given = np.array([[-5.0, -7.0], [-np.inf, 3.0], [-np.inf, -np.inf], [0.0, -9e9]])
    shifted, top = np.empty((4, 2)), np.empty(4)
    shift_rows(given, shifted, top)
    assert_array_equal(top, [-5.0, 3.0, -np.inf, 0.0])
    assert_array_equal(shifted, [[0, -2], [-np.inf, 0], [-np.inf, -np.inf], [0, LOWEST]])


def test_a_state_that_may_occur_is_held_at_the_floor():
    """Where every transition is likely, what the floor adds is nothing."""
    likelihood = np.tile([1.0, 1e-300], (50, 1))
    exact, state, _, filtered = run(likelihood, np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert exact
    assert (filtered[:, 1] == FLOOR).all()
    assert_allclose(state[:, 0], 1.0)


def test_a_state_that_cannot_occur_stays_at_zero():
    likelihood = np.tile([1.0, 0.0], (5, 1))
    exact, state, _, filtered = run(likelihood, np.array([[0.5, 0.5], [0.5, 0.5]]))
    assert exact
    assert_array_equal(filtered[:, 1], 0.0)
    assert_array_equal(state[:, 1], 0.0)


@pytest.mark.parametrize(("turn", "certain"), [(10, False), (49, True)])
def test_a_posterior_at_the_floor_is_doubted(turn, certain):
    """The second state is at the floor, and then rows prefer it by e^230: one of them, or 40."""
    likelihood = np.tile([1.0, 1e-200], (50, 1))
    likelihood[turn:] = [1e-100, 1.0]
    exact, _, scale, _ = run(likelihood, np.eye(2))
    assert exact == certain
    assert scale.min() >= 1e-140  # no single step was too small


def test_a_step_with_nothing_left_is_given_up():
    exact, _, _, _ = run(np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(2))
    assert not exact
