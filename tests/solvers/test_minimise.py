"""The one loop: when it stops, and what it says."""

from dataclasses import dataclass

import pytest

from likely.progress import listening
from likely.solvers.base import Solver, State
from likely.solvers.minimise import minimise


@dataclass(frozen=True)
class Halving(Solver):
    """θ ← θ/2 on f(θ) = θ², stuck below ``wall``."""

    wall: float = 0.0
    name = "halving"

    def init(self, objective, theta):
        value = objective(theta)
        stuck = "the wall is here" if theta < self.wall else ""
        return State(theta=theta, value=value, gap=value, stuck=stuck)

    def step(self, objective, state):
        return self.init(objective, state.theta / 2)


def square(theta):
    return theta**2


def test_it_stops_within_the_tolerance():
    found = minimise(Halving(), square, 1.0, tol=1e-3)
    assert found.converged
    assert found.gap <= 1e-3 < found.trace[-2]
    assert found.theta == 2.0**-5
    assert found.n_iter == 5
    assert found.trace == tuple(4.0**-i for i in range(6))
    assert found.reason == "the gap 9.8e-04 is within tol=0.001"


def test_a_start_at_the_optimum_takes_no_step():
    assert minimise(Halving(), square, 0.0).n_iter == 0


@pytest.mark.parametrize("max_iter", [0, 1, 4])
def test_it_stops_after_max_iter_steps(max_iter):
    found = minimise(Halving(), square, 1.0, tol=0.0, max_iter=max_iter)
    assert not found.converged
    assert found.n_iter == max_iter
    assert f"max_iter={max_iter} was reached with a gap of" in found.reason


def test_it_stops_where_no_step_is_possible():
    found = minimise(Halving(wall=0.3), square, 1.0, tol=0.0)
    assert not found.converged
    assert found.reason == "the wall is here"
    assert found.theta == 0.25


def test_every_step_is_reported_to_whoever_listens():
    heard = []
    with listening(heard.append):
        minimise(Halving(), square, 1.0, tol=0.0, max_iter=3)
    assert [said.what for said in heard] == ["halving step"] * 3
    assert heard[-1].detail == "objective 0.015625, gap 1.6e-02"
