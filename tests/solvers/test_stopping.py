"""Stopping rules: each fires in its case, they combine, and the loop obeys them."""

from math import inf

import numpy as np
import pytest

from likely.solvers.gradient_descent import FixedStep
from likely.solvers.minimise import minimise
from likely.solvers.stopping import (
    Iterations,
    Patience,
    Progress,
    Seconds,
    SmallChange,
    SmallStep,
    Stuck,
    Tolerance,
)
from tests.solver_objectives import random_quadratic

STEP = (np.array([1.0, 2.0]), np.array([1.0, 1.5]))
FALLING = Progress(gap=1e-3, trace=(3.0, 2.0, 1.0), seconds=5.0, last_step=STEP)


@pytest.mark.parametrize(
    ("rule", "later", "reason", "converged"),
    [
        (Tolerance(1e-2), Tolerance(1e-4), r"gap 1.0e-03 is within tol=0.01", True),
        (Iterations(2), Iterations(3), r"max_iter=2 was reached with a gap of 1.0e-03", False),
        (Seconds(5.0), Seconds(6.0), r"5 seconds had passed", False),
        (SmallChange(1.5), SmallChange(1.0), r"objective changed by 1.0e+00, less than 1.5", False),
        (SmallStep(0.6), SmallStep(0.5), r"parameters moved by 5.0e-01, less than 0.6", False),
        (Patience(2, least=1.5), Patience(3, least=1.5), r"not fallen", False),
    ],
)
def test_a_rule_fires_in_its_case_and_not_before(rule, later, reason, converged):
    verdict = rule.verdict(FALLING)
    if isinstance(rule, Patience):  # a fall of 2 is one, of 1 is none
        assert verdict is None
        verdict = rule.verdict(FALLING._replace(trace=(3.0, 2.0, 1.9, 1.8)))
    assert reason in verdict.reason
    assert verdict.converged is converged
    assert later.verdict(FALLING) is None


def test_patience_counts_from_the_best_value():
    rule = Patience(2)
    assert rule.verdict(Progress(inf, (3.0, 1.0, 2.0))) is None
    assert rule.verdict(Progress(inf, (3.0, 1.0, 2.0, 0.5))) is None
    assert rule.verdict(Progress(inf, (3.0, 1.0, 2.0, 1.0))) is not None


def test_a_search_that_cannot_step_stops_and_says_why():
    assert Stuck().verdict(FALLING) is None
    assert Stuck().verdict(FALLING._replace(stuck="no lower value")).reason == "no lower value"
    lost = Stuck().verdict(FALLING._replace(gap=float("nan")))
    assert not lost.converged
    assert "not a number" in lost.reason


def test_an_unknown_gap_is_not_within_any_tolerance():
    assert Tolerance(1e9).verdict(Progress(float("nan"), (1.0,))) is None


def test_either_rule_stops_and_both_wait():
    certain, early = Tolerance(1e-2), Iterations(9)
    assert (certain | early).verdict(FALLING).converged
    assert (early | certain).verdict(FALLING).converged
    assert (certain & early).verdict(FALLING) is None
    both = (certain & Iterations(1)).verdict(FALLING)
    assert both.converged
    assert "tol=0.01 and max_iter=1" in both.reason


def test_the_loop_stops_when_a_rule_says_so():
    objective = random_quadratic(0, 3)
    solution = minimise(
        FixedStep(1e-6), objective, np.ones(3), max_iter=50, stopping=Patience(4, least=1.0)
    )
    assert solution.n_iter == 4
    assert not solution.converged
    assert "not fallen for 4 steps" in solution.reason


def test_a_rule_that_certifies_makes_a_search_converge():
    objective = random_quadratic(0, 3)
    rule = Tolerance(1e-2) & Iterations(30)
    solution = minimise(
        FixedStep(0.05), objective, np.ones(3), tol=0.0, max_iter=2000, stopping=rule
    )
    assert solution.converged
    assert solution.n_iter >= 30
    assert 0 < solution.gap <= 1e-2


@pytest.mark.parametrize("rule", [SmallChange(1e-6), SmallStep(1e-6)], ids=["loss", "parameters"])
def test_a_small_change_stops_a_search_and_certifies_nothing(rule):
    """Steps of 1e-9 along the gradient: slow, and far from the optimum."""
    objective = random_quadratic(0, 3)
    solution = minimise(
        FixedStep(1e-9), objective, np.ones(3), tol=1e-12, max_iter=50, stopping=rule
    )
    assert solution.n_iter == 1
    assert not solution.converged
    assert "less than 1e-06" in solution.reason


@pytest.mark.parametrize("rule", [SmallChange(1e-9), SmallStep(1e-6)], ids=["loss", "parameters"])
def test_a_small_change_near_the_optimum_is_near_it(rule):
    objective = random_quadratic(0, 3)
    t = 1 / np.linalg.eigvalsh(objective.Q).max()
    solution = minimise(FixedStep(t), objective, np.ones(3), tol=0.0, max_iter=5000, stopping=rule)
    assert 1 < solution.n_iter < 5000
    np.testing.assert_allclose(solution.theta, np.linalg.solve(objective.Q, objective.c), atol=1e-3)


def test_before_the_first_step_nothing_is_small():
    start = Progress(inf, (1.0,))
    assert SmallChange(1e9).verdict(start) is None
    assert SmallStep(1e9).verdict(start) is None
