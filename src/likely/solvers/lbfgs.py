"""L-BFGS: a quasi-Newton method with a Hessian approximated from the last few steps.

    d = −B g        B built from pairs s = θ′ − θ, y = g′ − g by the two-loop recursion

A preconditioner is, or holds, the lower Cholesky factor L of a matrix M near the Hessian:

    M = LLᵀ        φ = Lᵀθ        ∂f/∂φ = L⁻¹ ∂f/∂θ

The method then works on φ, in which the Hessian is near the identity: badly scaled columns do not
slow it down.  M need not be the Hessian at any θ: a bound on it works for a whole search with one
factorisation.

The gap is the quasi-Newton decrement gᵀBg / 2, with B started from the
least curvature remembered, so that directions outside the memory count fully.  It is infinite
before the first step, unless the preconditioner approximates the Hessian; one that approximates
parts of it must be corrected by a few pairs first.

References
----------
Nocedal & Wright, Numerical Optimization, 2nd ed., §5.1 (preconditioning), §7.2 and algorithm
7.4.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar, NamedTuple, Self, final

import numpy as np
from scipy.linalg import solve_triangular

from likely._typing import Array
from likely.numerics.cholesky import factorise
from likely.solvers.base import FirstOrderObjective, Solver, State
from likely.solvers.line_search import NO_LOWER_VALUE, Point, along, strong_wolfe
from likely.solvers.stopping import rounding_of, scale_of

LEAST_CURVATURE = 1e-14  # a pair with sᵀy below this part of ‖s‖‖y‖ is rounding
# relative to a unit diagonal: directions in which the columns depend on one another keep some
# curvature, and the factor of a matrix that is singular but for rounding exists
JITTER = 1e-10


class Preconditioner(ABC):
    """A change of units."""

    fewest_pairs: ClassVar[int]  # of L-BFGS, before a gap in these units is reliable

    @abstractmethod
    def whiten(self, gradient: Array) -> Array:
        """L⁻¹g, the gradient in the new units."""

    @abstractmethod
    def back(self, direction: Array) -> Array:
        """L⁻ᵀd, a direction converted from new to old units."""

    @abstractmethod
    def forward(self, step: Array) -> Array:
        """Lᵀs, a step converted from old to new units."""


class Pair(NamedTuple):
    """One step and the change of the gradient along it, in preconditioned coordinates."""

    step: Array
    change: Array


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LBFGSState(State):
    gradient: Array
    pairs: tuple[Pair, ...] = ()  # oldest first


@final
@dataclass(frozen=True, eq=False)
class LBFGS(Solver[FirstOrderObjective, LBFGSState]):
    """For many parameters: one step costs one or two passes and O(memory · d)."""

    memory: int = 10
    preconditioner: Preconditioner | Array | None = None  # an array is L, lower triangular (d, d)

    name: ClassVar[str] = "L-BFGS"
    contract: ClassVar[type] = FirstOrderObjective
    needs: ClassVar[str] = "a value and a gradient"

    def init(self, objective: FirstOrderObjective, theta: Array) -> LBFGSState:
        here = objective.first_order(theta)
        stuck = "" if isfinite(here.value) else "the value at the start is not finite"
        return LBFGSState(
            theta=theta,
            value=here.value,
            gap=self._gap(here.gradient, ()) / scale_of(objective, here.value),
            stuck=stuck,
            gradient=here.gradient,
        )

    def step(self, objective: FirstOrderObjective, state: LBFGSState) -> LBFGSState:
        point = self._search(objective, state)
        if point is None and state.pairs:  # the memory misleads: steepest descent instead
            state = replace(state, pairs=())
            point = self._search(objective, state)
        if point is None:
            gap = self._estimate(state.gradient, state.pairs) / scale_of(objective, state.value)
            return replace(state, gap=gap, stuck=NO_LOWER_VALUE)
        pairs = self._remember(state, point)
        gap = self._gap(point.gradient, pairs) / scale_of(objective, point.value)
        return LBFGSState(
            theta=point.theta, value=point.value, gap=gap, gradient=point.gradient, pairs=pairs
        )

    def _search(self, objective: FirstOrderObjective, state: LBFGSState) -> Point | None:
        g = self._whiten(state.gradient)
        direction = self._back(-two_loops(g, state.pairs, self._usual_scale(state.pairs)))
        slope = float(np.dot(state.gradient, direction))
        slack = rounding_of(objective, state.value)
        start = Point(0.0, state.theta, state.value, state.gradient, slope, slack)
        if state.pairs or self.preconditioner is not None:
            first = 1.0
        else:
            first = 1.0 / max(float(np.linalg.norm(g)), np.finfo(float).tiny)
        return strong_wolfe(along(objective, state.theta, direction), start, first=first)

    def _remember(self, state: LBFGSState, point: Point) -> tuple[Pair, ...]:
        step = point.theta - state.theta
        if self._units is not None:
            step = self._units.forward(step)
        change = self._whiten(point.gradient - state.gradient)
        floor = LEAST_CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(change))
        if float(np.dot(step, change)) <= floor:
            return state.pairs
        return (*state.pairs, Pair(step, change))[-self.memory :]

    def _gap(self, gradient: Array, pairs: tuple[Pair, ...]) -> float:
        if not gradient.any():
            return 0.0
        needed = 1 if self._units is None else self._units.fewest_pairs
        return inf if len(pairs) < needed else self._estimate(gradient, pairs)

    def _estimate(self, gradient: Array, pairs: tuple[Pair, ...]) -> float:
        if not pairs and self._units is None:
            return inf
        g = self._whiten(gradient)
        scale = max((float(np.dot(s, s) / np.dot(s, y)) for s, y in pairs), default=1.0)
        return float(np.dot(g, two_loops(g, pairs, scale))) / 2

    def _usual_scale(self, pairs: tuple[Pair, ...]) -> float:
        """sᵀy / yᵀy of the newest pair: steps of about length 1."""
        if not pairs:
            return 1.0
        s, y = pairs[-1]
        return float(np.dot(s, y) / np.dot(y, y))

    @property
    def _units(self) -> Preconditioner | None:
        if isinstance(self.preconditioner, np.ndarray):
            return Triangular(self.preconditioner)
        return self.preconditioner

    def _whiten(self, gradient: Array) -> Array:
        return gradient if self._units is None else self._units.whiten(gradient)

    def _back(self, direction: Array) -> Array:
        return direction if self._units is None else self._units.back(direction)


def two_loops(gradient: Array, pairs: tuple[Pair, ...], scale: float) -> Array:
    """B g, for B started from ``scale`` times the identity."""
    q, weights = gradient.copy(), []
    for s, y in reversed(pairs):
        alpha = float(np.dot(s, q) / np.dot(s, y))
        weights.append(alpha)
        q -= alpha * y
    r = scale * q
    for (s, y), alpha in zip(pairs, reversed(weights), strict=True):
        r += (alpha - float(np.dot(y, r) / np.dot(s, y))) * s
    return np.asarray(r)


@final
@dataclass(frozen=True, eq=False)
class Triangular(Preconditioner):
    """One factor for all of θ, of a matrix that approximates the Hessian."""

    factor: Array  # L, lower triangular (d, d)

    fewest_pairs: ClassVar[int] = 0

    def whiten(self, gradient: Array) -> Array:
        return np.asarray(solve_triangular(self.factor, gradient, lower=True, check_finite=False))

    def back(self, direction: Array) -> Array:
        return np.asarray(
            solve_triangular(self.factor, direction, lower=True, trans="T", check_finite=False)
        )

    def forward(self, step: Array) -> Array:
        return np.dot(self.factor.T, step)


@final
@dataclass(frozen=True, eq=False)
class PerClass(Preconditioner):
    """The same factor for each of K equal parts of θ: what classes share is factorised once.

    Steps stay centred over classes when gradients are.  Interactions between classes are ignored,
    so that the curvature may be far less than 1 in some directions of the new units.
    """

    factor: Array  # L, lower triangular (p, p)
    n_classes: int

    fewest_pairs: ClassVar[int] = 5

    @classmethod
    def of(cls, matrix: Array, n_classes: int) -> Self:
        """From a positive semidefinite matrix, also with columns that are 0 or repeat others."""
        return cls(robust_factor(matrix), n_classes)

    def whiten(self, gradient: Array) -> Array:
        return self._each(
            solve_triangular(self.factor, self._columns(gradient), lower=True, check_finite=False)
        )

    def back(self, direction: Array) -> Array:
        columns = self._columns(direction)
        return self._each(
            solve_triangular(self.factor, columns, lower=True, trans="T", check_finite=False)
        )

    def forward(self, step: Array) -> Array:
        return self._each(np.dot(self.factor.T, self._columns(step)))

    def _columns(self, theta: Array) -> Array:
        return theta.reshape(self.n_classes, -1).T  # (p, K)

    def _each(self, columns: Array) -> Array:
        return np.asarray(columns.T.ravel())


def robust_factor(matrix: Array) -> Array:
    """The lower Cholesky factor of M, scaled to a unit diagonal and given a little jitter."""
    diagonal = np.diag(matrix)
    added = np.where(diagonal > 0, JITTER * diagonal, 1.0 - diagonal)
    found = factorise(matrix + np.diag(added), hold=False)
    return found.lower / found.scale[:, None]
