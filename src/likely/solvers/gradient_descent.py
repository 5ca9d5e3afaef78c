"""Steepest descent, with a step found by backtracking or given.

    θ ← θ − t ∇f(θ)

Climbing the log-likelihood ℓ is the same procedure: θ + t ∇ℓ = θ − t ∇(−ℓ).

The gap is ‖∇f‖² / (2 m̂).  With m the least curvature of f this bounds
f(θ) − min f (Polyak, Łojasiewicz); m̂ is the smallest recent curvature sᵀy / sᵀs.  A single step
zigzags across the valley, but several together follow its flattest direction, so s is also
taken over several steps.  In a narrow valley the gap is an estimate, a few times too small.
Before the first step the curvature is unknown, and the gap is infinite.

References
----------
Boyd & Vandenberghe, Convex Optimization, §9.1.2 and §9.3.
"""

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array
from likely.solvers.base import FirstOrderObjective, Solver, State, as_objective
from likely.solvers.line_search import NO_LOWER_VALUE, Point, along, armijo_with_slope
from likely.solvers.settings import refuse_step
from likely.solvers.stopping import rounding_of, scale_of

SHARE = 0.3  # c₁: a weaker condition accepts steps of nearly 2/L, which hardly descend
MEMORY = 20  # curvatures that are remembered
SPAN = 10  # steps from one anchor to the next


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class DescentState(State):
    gradient: Array
    t: float  # the step to try next
    curvatures: tuple[float, ...] = ()  # recent sᵀy / sᵀs
    anchor: tuple[Array, Array]  # θ and ∇f of some steps ago
    age: int = 0  # steps since the anchor


@final
@dataclass(frozen=True)
class GradientDescent(Solver[FirstOrderObjective, DescentState]):
    """Backtracking from twice the last step; one step costs two or three passes."""

    name: ClassVar[str] = "gradient descent"
    contract: ClassVar[type] = FirstOrderObjective
    needs: ClassVar[str] = "a value and a gradient"

    def init(self, objective: FirstOrderObjective, theta: Array) -> DescentState:
        state = _begin(objective, theta, t=1.0)
        length = float(np.linalg.norm(state.gradient))
        return replace(state, t=1.0 / length) if length > 0 else state  # move by 1 at first

    def step(self, objective: FirstOrderObjective, state: DescentState) -> DescentState:
        at = along(objective, state.theta, -state.gradient)
        slope = -float(np.dot(state.gradient, state.gradient))
        slack = rounding_of(objective, state.value)
        start = Point(0.0, state.theta, state.value, state.gradient, slope, slack)
        point = armijo_with_slope(at, start, first=2 * state.t, share=SHARE)
        if point is None:
            return replace(state, stuck=NO_LOWER_VALUE)
        return _moved(objective, state, point, t=point.t)


@final
@dataclass(frozen=True)
class FixedStep(Solver[FirstOrderObjective, DescentState]):
    """The textbook's method: every step has the same length t.

    It decreases f for t < 2/L, L the largest curvature, and diverges beyond.
    """

    t: float

    name: ClassVar[str] = "gradient descent with a fixed step"
    contract: ClassVar[type] = FirstOrderObjective
    needs: ClassVar[str] = "a value and a gradient"

    def __post_init__(self) -> None:
        refuse_step("t", self.t)

    def init(self, objective: FirstOrderObjective, theta: Array) -> DescentState:
        return _begin(objective, theta, t=self.t)

    def step(self, objective: FirstOrderObjective, state: DescentState) -> DescentState:
        point = along(objective, state.theta, -state.gradient)(self.t)
        if not isfinite(point.value):
            return replace(state, stuck=f"the value is not finite: the step {self.t:g} is too long")
        return _moved(objective, state, point, t=self.t)


def gradient_step(objective: Any, theta: Any, rate: float) -> Array:
    """θ − rate ∇f(θ): one step by hand, which ``FixedStep(rate)`` repeats.

    >>> import numpy as np
    >>> from likely import LinearRegression
    >>> objective = LinearRegression().objective([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> gradient_step(objective, np.zeros(2), 0.1)  # 0.1 Σ y x, and 0.1 Σ y
    array([1.3, 0.9])
    """
    refuse_step("rate", rate)
    theta = np.asarray(theta, dtype=np.float64)
    return np.asarray(theta - rate * as_objective(objective, FixedStep).gradient(theta))


def least_curvature(
    seen: tuple[float, ...], step: Array, change: Array, *, memory: int = MEMORY
) -> tuple[float, ...]:
    """``seen``, with sᵀy / sᵀs of one more step, unless rounding hides it."""
    squares, product = float(np.dot(step, step)), float(np.dot(step, change))
    return (*seen, product / squares)[-memory:] if product > 0 and squares > 0 else seen


def gap_by_curvature(gradient: Array, curvatures: tuple[float, ...], scale: float) -> float:
    """‖g‖² / 2m̂ in units of ``scale``; 0 for a zero gradient, infinite for an unknown m̂."""
    squares = float(np.dot(gradient, gradient))
    if squares == 0.0:
        return 0.0
    return squares / (2 * min(curvatures)) / scale if curvatures else inf


def _begin(objective: FirstOrderObjective, theta: Array, t: float) -> DescentState:
    here = objective.first_order(theta)
    gap = gap_by_curvature(here.gradient, (), scale_of(objective, here.value))
    stuck = "" if isfinite(here.value) else "the value at the start is not finite"
    return DescentState(
        theta=theta,
        value=here.value,
        gap=gap,
        stuck=stuck,
        gradient=here.gradient,
        t=t,
        anchor=(theta, here.gradient),
    )


def _moved(
    objective: FirstOrderObjective, state: DescentState, point: Point, t: float
) -> DescentState:
    curvatures = least_curvature(
        state.curvatures, point.theta - state.theta, point.gradient - state.gradient
    )
    anchor, age = state.anchor, state.age + 1
    curvatures = least_curvature(curvatures, point.theta - anchor[0], point.gradient - anchor[1])
    if age == SPAN:
        anchor, age = (point.theta, point.gradient), 0
    return DescentState(
        theta=point.theta,
        value=point.value,
        gap=gap_by_curvature(point.gradient, curvatures, scale_of(objective, point.value)),
        gradient=point.gradient,
        t=t,
        curvatures=curvatures,
        anchor=anchor,
        age=age,
    )
