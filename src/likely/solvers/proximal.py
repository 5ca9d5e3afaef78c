"""Accelerated proximal gradients (FISTA), for any penalty with a proximal map.

    F(θ) = f(θ) + h(θ)        f smooth, h convex

    x′ = prox_h( z − t ∇f(z), t )        z′ = x′ + (x′ − x)(k − 1)/k′        k′ = (1 + √(1 + 4k²))/2

A step that would increase F is repeated without momentum, which restarts from there: the trace
never increases.

The gap is ‖G‖² / (2 m̂): G = (z − x′)/t is the prox-gradient mapping, and
m̂ the smallest curvature of f along recent steps.  With the true least curvature m this bounds
F(x′) − min F, because F(y) ≥ F(x′) + Gᵀ(y − z) + ½ m ‖y − z‖² for every y.

References
----------
Beck & Teboulle, A fast iterative shrinkage-thresholding algorithm, 2009.
O'Donoghue & Candès, Adaptive restart for accelerated gradient schemes, 2015.
"""

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import ClassVar, NamedTuple, Protocol, final, runtime_checkable

import numpy as np

from likely._typing import Array
from likely.solvers.base import FirstOrder, FirstOrderObjective, Solver, State
from likely.solvers.gradient_descent import gap_by_curvature, least_curvature
from likely.solvers.stopping import rounding_of, scale_of

SHORTEST_STEP = 1e-40
PROBE = 1e-4  # the first step to measure the curvature, in units of the gradient


@runtime_checkable
class CompositeObjective(Protocol):
    """F = f + h.  ``value`` and ``first_order`` are of the smooth f alone."""

    @property
    def unit(self) -> float | None: ...

    def value(self, theta: Array) -> float: ...

    def first_order(self, theta: Array) -> FirstOrder: ...

    def penalty(self, theta: Array) -> float:
        """h(θ)."""

    def prox(self, theta: Array, step: Array | float) -> Array:
        """argmin_x ½‖x − θ‖² + step · h(x); a step of each parameter if h is a sum over them."""


@final
@dataclass(frozen=True, eq=False)
class InUnits(FirstOrderObjective):
    """F as a function of φ = u ∘ θ, where h is a sum over single parameters.

    Units in which all curvatures are about 1 make a search independent of those of the columns.
    """

    inner: CompositeObjective
    units: Array  # u
    unit: float | None  # of gaps, as that of F

    def value(self, theta: Array) -> float:
        return self.inner.value(theta / self.units)

    def first_order(self, theta: Array) -> FirstOrder:
        here = self.inner.first_order(theta / self.units)
        return FirstOrder(here.value, here.gradient / self.units)

    def penalty(self, theta: Array) -> float:
        return self.inner.penalty(theta / self.units)

    def prox(self, theta: Array, step: Array | float) -> Array:
        return self.units * self.inner.prox(theta / self.units, step / self.units**2)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FISTAState(State):
    point: Array  # z, where the next gradient is taken
    momentum: float  # k
    t: float
    last_point: Array  # the z before
    last_gradient: Array  # ∇f there
    curvatures: tuple[float, ...] = ()


class Move(NamedTuple):
    """One proximal step from z, short enough for the quadratic bound to hold."""

    theta: Array  # x′
    value: float  # F(x′)
    t: float
    here: FirstOrder  # of f, at z


@final
@dataclass(frozen=True)
class FISTA(Solver[CompositeObjective, FISTAState]):
    """For many parameters and any penalty; one step costs two passes."""

    name: ClassVar[str] = "FISTA"
    contract: ClassVar[type] = CompositeObjective
    needs: ClassVar[str] = "a penalty apart from f, as objective(X, y).composite of a model has it"

    def init(self, objective: CompositeObjective, theta: Array) -> FISTAState:
        here = objective.first_order(theta)
        value = here.value + objective.penalty(theta)
        t = _first_step(objective, theta, here.gradient)
        mapping = (theta - objective.prox(theta - t * here.gradient, t)) / t
        return FISTAState(
            theta=theta,
            value=value,
            gap=gap_by_curvature(mapping, (), scale_of(objective, value)),
            stuck="" if isfinite(value) else "the value at the start is not finite",
            point=theta,
            momentum=1.0,
            t=t,
            last_point=theta,
            last_gradient=here.gradient,
        )

    def step(self, objective: CompositeObjective, state: FISTAState) -> FISTAState:
        moved = _proximal_step(objective, state.point, state.t)
        if moved is not None and moved.value > state.value and state.momentum > 1.0:
            state = replace(state, point=state.theta, momentum=1.0, t=2 * state.t)
            moved = _proximal_step(objective, state.theta, state.t)
        if moved is None or moved.value > state.value + rounding_of(objective, state.value):
            return replace(state, stuck="no step along the gradient found a lower value")
        curvatures = least_curvature(
            state.curvatures,
            state.point - state.last_point,
            moved.here.gradient - state.last_gradient,
        )
        point, momentum = _accelerated(state, moved.theta)
        mapping = (state.point - moved.theta) / moved.t
        return FISTAState(
            theta=moved.theta,
            value=moved.value,
            gap=gap_by_curvature(mapping, curvatures, scale_of(objective, moved.value)),
            point=point,
            momentum=momentum,
            t=moved.t,
            last_point=state.point,
            last_gradient=moved.here.gradient,
            curvatures=curvatures,
        )


def _accelerated(state: FISTAState, theta: Array) -> tuple[Array, float]:
    """The next z and k."""
    momentum = (1 + sqrt(1 + 4 * state.momentum**2)) / 2
    return theta + (state.momentum - 1) / momentum * (theta - state.theta), momentum


def _proximal_step(objective: CompositeObjective, z: Array, t: float) -> Move | None:
    """Halve t until f(x′) ≤ f(z) + ∇f(z)ᵀ(x′ − z) + ‖x′ − z‖² / 2t."""
    here = objective.first_order(z)
    while t >= SHORTEST_STEP:
        theta = objective.prox(z - t * here.gradient, t)
        step, smooth = theta - z, objective.value(theta)
        bound = here.value + float(np.dot(here.gradient, step)) + float(np.dot(step, step)) / 2 / t
        if smooth <= bound + rounding_of(objective, here.value):
            return Move(theta, smooth + objective.penalty(theta), t, here)
        t /= 2
    return None


def _first_step(objective: CompositeObjective, theta: Array, gradient: Array) -> float:
    """One over the curvature along the gradient; backtracking corrects it."""
    length = float(np.linalg.norm(gradient))
    if length == 0.0:
        return 1.0
    probe = PROBE / length
    change = objective.first_order(theta - probe * gradient).gradient - gradient
    curvature = float(np.linalg.norm(change)) / PROBE
    return 1.0 / curvature if isfinite(curvature) and curvature > 0 else 1.0
