"""Expectation–maximisation on a problem small enough to follow by hand."""

import numpy as np
from numpy.testing import assert_allclose

from likely.solvers.em import EM, Expectation, ExpectationObjective
from likely.solvers.minimise import minimise


class Coins(ExpectationObjective):
    """A known mixture of two coins; the share of the first is unknown.

    θ ← mean of p(first | x) over tosses x
    """

    def __init__(self, heads, bias=(0.9, 0.2)):
        self.heads, self.bias, self.calls = np.asarray(heads, dtype=float), bias, 0

    def expect(self, theta):
        self.calls += 1
        first, second = (np.where(self.heads == 1, p, 1 - p) for p in self.bias)
        total = theta * first + (1 - theta) * second
        r = theta * first / total
        return Expectation(r.sum(), float(np.log(total).sum()), float(len(r)))

    def maximise(self, totals):
        return totals / len(self.heads)


def test_it_finds_the_maximum():
    """p(heads) = 0.9 θ + 0.2 (1 − θ) is the share of heads at the maximum."""
    found = minimise(EM(), Coins([1] * 6 + [0] * 4), 0.5, tol=1e-14, max_iter=5000)
    assert found.converged
    assert_allclose(found.theta, (0.6 - 0.2) / 0.7, atol=1e-5)
    assert (np.diff(found.trace) <= 0).all()


def test_a_step_costs_one_pass():
    objective = Coins([1, 0, 1])
    found = minimise(EM(), objective, 0.5, tol=-1.0, max_iter=7)
    assert objective.calls == 8 == len(found.trace)


def test_the_gap_is_what_is_left_to_gain_in_nats_per_example():
    """Not the last gain, which is a small part of it where EM is slow."""
    objective = Coins([1] * 13 + [0] * 12, bias=(0.7, 0.3))
    best = minimise(EM(), objective, 0.5, tol=-1.0, max_iter=2000).trace[-1]
    first = EM().init(objective, 0.5)
    second = EM().step(objective, first)
    assert first.gap == second.gap == np.inf  # one gain does not say how fast they fall
    state = second
    for _ in range(8):
        before, state = state, EM().step(objective, state)
    assert_allclose(state.gap, (state.value - best) / 25, rtol=0.1)
    assert state.gap > 2 * (before.value - state.value) / 25


def test_a_plateau_is_no_end():
    """Gains that still grow leave an unknown distance, and a fixed point leaves none."""
    objective = Coins([1] * 6 + [0] * 4)
    state = EM().init(objective, 1e-6)
    for _ in range(4):
        state = EM().step(objective, state)
    assert state.gap == np.inf
    fixed = EM().init(objective, (0.6 - 0.2) / 0.7)
    assert EM().step(objective, fixed).gap < 1e-15


def test_an_impossible_start_is_stuck():
    objective = Coins([1, 0], bias=(1.0, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = minimise(EM(), objective, 0.5)
    assert not found.converged
    assert found.reason == "the likelihood is not finite"
    assert found.n_iter == 0
