"""Line searches: how far to go along a direction of descent.

    φ(t) = f(θ + t d)
    Armijo          φ(t) ≤ φ(0) + c₁ t φ′(0)
    strong Wolfe    Armijo, and |φ′(t)| ≤ c₂ |φ′(0)|

Near the optimum the predicted decrease is less than the rounding of f.  Both searches allow for
that: an increase within the objective's ``rounding`` is ignored.  The slope is still accurate
there, so the Wolfe search uses it.

References
----------
Nocedal & Wright, Numerical Optimization, 2nd ed., §3.1 and algorithms 3.5, 3.6.
Hager & Zhang, A new conjugate gradient method with guaranteed descent, 2005 (rounding).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, TypeVar, final

import numpy as np

from likely._typing import Array
from likely.solvers.base import FirstOrderObjective
from likely.solvers.stopping import rounding_of

ARMIJO = 1e-4  # c₁: the part of the promised decrease that a step must deliver
CURVATURE = 0.9  # c₂: the part of the slope that may be left
SHORTEST_STEP = 2.0**-40
MOST_TRIALS = 40  # each is a pass over the data
EDGE = 0.1  # an interpolated step keeps this part of the bracket from either end

NO_LOWER_VALUE = "the line search found no lower value"
NO_FURTHER_DIGITS = "double precision allows no further progress"


class HasValue(Protocol):
    """What was computed at a step; the search reads only its value."""

    @property
    def value(self) -> float: ...


T = TypeVar("T", bound=HasValue)


@final
@dataclass(frozen=True, eq=False)
class Point:
    """φ and φ′ at t, with the gradient they came from."""

    t: float
    theta: Array
    value: float
    gradient: Array
    slope: float  # φ′(t) = ∇f(θ + t d)ᵀd
    slack: float = 0.0  # what rounding may change of φ(t)


def along(
    objective: FirstOrderObjective, theta: Array, direction: Array
) -> Callable[[float], Point]:
    """φ as a function of t; one pass for each evaluation."""

    def at(t: float) -> Point:
        there = theta + t * direction
        here = objective.first_order(there)
        slope = float(np.dot(here.gradient, direction))
        slack = rounding_of(objective, here.value)
        return Point(t, there, here.value, here.gradient, slope, slack)

    return at


def armijo_trials(
    at: Callable[[float], T],
    value: float,
    decrease: float,
    *,
    first: float = 1.0,
    slack: float = 0.0,
) -> Iterator[T]:
    """The steps ``first``, ½ first, … with sufficient decrease, each computed when needed.

    ``decrease`` is the predicted decrease of a full step: −φ′(0) for a smooth function.  ``slack``
    is what rounding may change of the value.
    """
    t = first
    while t >= first * SHORTEST_STEP:
        trial = at(t)
        if trial.value <= value - ARMIJO * t * decrease + slack:
            yield trial
        t /= 2


def armijo_with_slope(
    at: Callable[[float], Point], start: Point, *, first: float, share: float = ARMIJO
) -> Point | None:
    """Armijo with c₁ = ``share``, and φ′(t) ≤ (2c₁ − 1) φ′(0), which is the same on a quadratic.

    The slope still sees a step that is too long when the rise of φ is lost in rounding.
    """
    t = first
    while t >= first * SHORTEST_STEP:
        trial = at(t)
        low_enough = not _too_high(trial, start, share)
        if low_enough and trial.slope <= (2 * share - 1) * start.slope:
            return trial
        t /= 2
    return None


def strong_wolfe(at: Callable[[float], Point], start: Point, *, first: float = 1.0) -> Point | None:
    """A point that satisfies strong Wolfe, or the lowest one found; None if nothing is lower."""
    low, t = start, first
    for _ in range(MOST_TRIALS):
        trial = at(t)
        if not isfinite(trial.value) or _too_high(trial, start) or _higher(trial, low):
            return _narrow(at, start, low, trial)
        if abs(trial.slope) <= -CURVATURE * start.slope:
            return trial
        if trial.slope >= 0:
            return _narrow(at, start, trial, low)
        low, t = trial, 2 * t
    return _lower_or_none(low, start)


def _narrow(at: Callable[[float], Point], start: Point, low: Point, high: Point) -> Point | None:
    """Shrink a bracket whose lower end is ``low``, until a point satisfies strong Wolfe."""
    for _ in range(MOST_TRIALS):
        if abs(high.t - low.t) <= SHORTEST_STEP * max(high.t, low.t):
            break
        trial = at(_between(low, high))
        if not isfinite(trial.value) or _too_high(trial, start) or _higher(trial, low):
            high = trial
            continue
        if abs(trial.slope) <= -CURVATURE * start.slope:
            return trial
        if trial.slope * (high.t - low.t) >= 0:
            high = low
        low = trial
    return _lower_or_none(low, start)


def _between(low: Point, high: Point) -> float:
    """The minimum of the parabola through φ(low), φ′(low) and φ(high), kept away from the ends."""
    width = high.t - low.t
    rise = high.value - low.value - low.slope * width
    part = -low.slope * width / (2 * rise) if isfinite(rise) and rise > 0 else 0.5
    return low.t + min(max(part, EDGE), 1 - EDGE) * width


def _too_high(trial: Point, start: Point, share: float = ARMIJO) -> bool:
    allowed = start.value + share * trial.t * start.slope + start.slack
    return not trial.value <= allowed


def _higher(trial: Point, low: Point) -> bool:
    return trial.value >= low.value + 2 * low.slack


def _lower_or_none(low: Point, start: Point) -> Point | None:
    return low if low.t > 0 and low.value < start.value else None
