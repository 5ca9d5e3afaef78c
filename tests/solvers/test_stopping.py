"""Stopping rules: each fires in its case, they combine, and the loop obeys them."""

from math import inf

import numpy as np
import pytest

from likely.errors import InvalidInput
from likely.solvers.gradient_descent import FixedStep
from likely.solvers.minimise import minimise, search
from likely.solvers.newton import Newton
from likely.solvers.stopping import (
    HeldOutPatience,
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
        FixedStep(1e-6), objective, np.ones(3), max_iter=50, stop=Patience(4, least=1.0)
    )
    assert solution.n_iter == 4
    assert not solution.converged
    assert "not fallen for 4 steps" in solution.reason


def test_a_rule_that_certifies_makes_a_search_converge():
    objective = random_quadratic(0, 3)
    rule = Tolerance(1e-2) & Iterations(30)
    solution = minimise(FixedStep(0.05), objective, np.ones(3), tol=0.0, max_iter=2000, stop=rule)
    assert solution.converged
    assert solution.n_iter >= 30
    assert 0 < solution.gap <= 1e-2


@pytest.mark.parametrize("rule", [SmallChange(1e-6), SmallStep(1e-6)], ids=["loss", "parameters"])
def test_a_small_change_stops_a_search_and_certifies_nothing(rule):
    """Steps of 1e-9 along the gradient: slow, and far from the optimum."""
    objective = random_quadratic(0, 3)
    solution = minimise(FixedStep(1e-9), objective, np.ones(3), tol=1e-12, max_iter=50, stop=rule)
    assert solution.n_iter == 1
    assert not solution.converged
    assert "less than 1e-06" in solution.reason


@pytest.mark.parametrize("rule", [SmallChange(1e-9), SmallStep(1e-6)], ids=["loss", "parameters"])
def test_a_small_change_near_the_optimum_is_near_it(rule):
    objective = random_quadratic(0, 3)
    t = 1 / np.linalg.eigvalsh(objective.Q).max()
    solution = minimise(FixedStep(t), objective, np.ones(3), tol=0.0, max_iter=5000, stop=rule)
    assert 1 < solution.n_iter < 5000
    np.testing.assert_allclose(solution.theta, np.linalg.solve(objective.Q, objective.c), atol=1e-3)


def test_before_the_first_step_nothing_is_small():
    start = Progress(inf, (1.0,))
    assert SmallChange(1e9).verdict(start) is None
    assert SmallStep(1e9).verdict(start) is None


def falls(*losses):
    return Progress(1.0, tuple(range(len(losses))), held_out=losses)


def test_held_out_patience_counts_from_the_best_and_names_it():
    rule = HeldOutPatience(2)
    assert rule.verdict(falls(5.0, 4.0, 4.5)) is None
    stop = rule.verdict(falls(5.0, 4.0, 4.5, 4.0))
    assert not stop.converged
    assert "not fallen for 2 steps; step 1 is kept, whose loss a row is 4" in stop.reason
    assert HeldOutPatience(2, least=0.5).verdict(falls(5.0, 4.8, 4.6)) is not None
    assert (Seconds(9) | (Iterations(3) & rule)).held_out_rule() is rule
    assert Patience(2).held_out_rule() is None


@pytest.mark.parametrize("options", [{"share": 0.0}, {"share": 1.0}, {"steps": 0}])
def test_a_share_or_patience_that_cannot_be_is_refused(options):
    with pytest.raises(InvalidInput, match=r"HeldOutPatience has s.*expected. Use"):
        HeldOutPatience(**options)


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (Iterations, (0, -1, 1.5, True, "3", None)),
        (Seconds, (0, -1, float("nan"), "60")),
        (Patience, (0, 2.5, float("nan"))),
        (HeldOutPatience, (0, 2.5, float("nan"))),
        (SmallChange, (0, -1.0, float("nan"))),
        (SmallStep, (0, -1.0, float("nan"))),
        (lambda least: Patience(3, least), (-1.0, float("nan"))),
        (lambda least: HeldOutPatience(3, least=least), (-1.0, float("nan"))),
        (lambda share: HeldOutPatience(3, share=share), (float("nan"), "half")),
    ],
)
def test_a_rule_with_a_number_that_cannot_be_is_refused(rule, values):
    for value in values:
        with pytest.raises(InvalidInput, match=f"{value!r}; a .* was expected. Use "):
            rule(value)


def test_numbers_of_numpy_are_numbers():
    assert Iterations(np.int64(3)).max_iter == 3
    assert Seconds(np.float64(0.5)).limit == 0.5


def test_without_held_out_rows_it_is_refused():
    with pytest.raises(InvalidInput, match="a rule for estimators"):
        minimise(FixedStep(0.1), random_quadratic(0, 3), np.ones(3), stop=HeldOutPatience())


def test_the_best_state_on_held_out_rows_is_kept():
    """The loss is least at the third step; the search goes on for two, and returns."""
    objective = random_quadratic(0, 3)
    seen = []

    def loss(theta):
        seen.append(np.array(theta))
        return abs(len(seen) - 4.0)

    found, state = search(
        FixedStep(0.01), objective, np.ones(3), stop=HeldOutPatience(2), held_out=loss
    )
    assert len(seen) == 6
    assert found.n_iter == 3
    assert found.held_out == (3.0, 2.0, 1.0, 0.0, 1.0, 2.0)
    assert found.stopped
    assert not found.converged
    np.testing.assert_array_equal(found.theta, seen[3])
    assert state.value == found.trace[-1]


def test_an_optimum_that_is_worse_on_held_out_rows_is_not_kept():
    objective = random_quadratic(0, 3)
    losses = iter([1.0, 0.5, *np.full(50, 2.0)])
    found, _ = search(
        Newton(), objective, np.ones(3), stop=HeldOutPatience(40), held_out=lambda _: next(losses)
    )
    assert found.n_iter == 1  # where Newton's method is at the optimum of a quadratic
    assert found.converged
    losses = iter([0.5, *np.full(50, 2.0)])
    found, _ = search(
        Newton(), objective, np.ones(3), stop=HeldOutPatience(40), held_out=lambda _: next(losses)
    )
    assert not found.converged
    assert "step 0 is kept, the best on held-out rows" in found.reason
    np.testing.assert_array_equal(found.theta, np.ones(3))
