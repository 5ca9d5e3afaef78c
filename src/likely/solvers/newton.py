"""Newton's method with a backtracking line search.

    d = −H⁻¹g        θ ← θ + t d        t ∈ {1, ½, ¼, …}

With the expected information for H, this is iteratively reweighted least squares.  The gap is half
the squared Newton decrement, gᵀH⁻¹g / 2, which estimates f(θ) − min f.  The units of the columns
have no effect, and columns that earlier ones determine are fixed at their start.

Where H is not positive definite, as for a function that is not convex, it is
damped: its eigenvalues are replaced by their absolute values, bounded from below.  Such a step
decreases f, and no search ends on it.

A step s can lower f and still end in a flat tail, where the curvature has nearly vanished: the next
step s⁺ would lead back past the start of this one, s⁺ᵀH s < −sᵀH s in the curvature H that s was
made with, or a column is fixed that could move before.  Such
a point is not accepted; the step is halved.  This is computed from the totals of the trial, so an
ordinary fit needs no further pass.  Where a fixed column has a gradient of its own, no search may
end: the gap is infinite.

References
----------
Boyd & Vandenberghe, Convex Optimization, §9.2 (backtracking), §9.5 (Newton).
"""

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar, final

import numpy as np
from scipy.linalg import LinAlgError

from likely._typing import Array
from likely.numerics.cholesky import LEAST_PIVOT, ScaledCholesky, factorise
from likely.solvers.base import (
    HasSecondOrder,
    SecondOrder,
    SmoothObjective,
    Solver,
    State,
    without_curvature,
)
from likely.solvers.line_search import NO_FURTHER_DIGITS, NO_LOWER_VALUE
from likely.solvers.stopping import rounding_of, scale_of

NOT_DEFINITE = "the Hessian is not positive definite"
LEAST_CURVATURE = 1e-8  # relative, of a Hessian that is damped
ARMIJO = 1e-4  # the part of the promised decrease that a step must deliver
SHORTEST_STEP = 2.0**-30
FADED = 1e-6  # of the least pivot before the step; for the logit this is a move of 14 in η


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class NewtonState(State):
    direction: Array  # d, from the current θ
    decrease: float  # gᵀH⁻¹g, promised by a whole step
    hessian: Array  # H at the current θ, damped where it must be
    held: tuple[int, ...] = ()  # the columns that earlier ones explain
    least_pivot: float  # of the columns that are not held


@final
@dataclass(frozen=True)
class Newton(Solver[HasSecondOrder, NewtonState]):
    """For up to a few thousand parameters: one step costs a d×d factorisation.

    Of dependent columns the later one is fixed; the last ``intercepts`` are fixed last.
    """

    intercepts: int = 0

    name: ClassVar[str] = "Newton"
    contract: ClassVar[type] = SmoothObjective
    needs: ClassVar[str] = "second derivatives, as a SmoothObjective of likely.solvers has them"

    def init(self, objective: HasSecondOrder, theta: Array) -> NewtonState:
        here = objective.second_order(theta)
        found = self._factor(here)
        if found is None:
            return _lost(theta, here)
        factor, hessian = found
        direction = -factor.solve(here.gradient)
        decrease = -float(np.dot(here.gradient, direction))
        unexplained = _unexplained(here, direction, factor.held, scale_of(objective, here.value))
        stuck = "" if unexplained is None else without_curvature(unexplained)
        damped = hessian is not here.hessian
        if damped and not decrease > 0:
            stuck = NOT_DEFINITE
        usable = not stuck and not damped and isfinite(here.value)
        return NewtonState(
            theta=theta,
            value=here.value,
            gap=decrease / 2 / scale_of(objective, here.value) if usable else inf,
            stuck=stuck,
            direction=direction,
            decrease=decrease,
            hessian=hessian,
            held=factor.held,
            least_pivot=factor.least_pivot,
        )

    def _factor(self, here: SecondOrder) -> tuple[ScaledCholesky, Array] | None:
        """The factor of H, or of the damped H, and that matrix; None where H is not finite."""
        if not np.isfinite(here.hessian).all() or not np.isfinite(here.gradient).all():
            return None
        try:
            return factorise(here.hessian, first=self.intercepts), here.hessian
        except LinAlgError:
            values, vectors = np.linalg.eigh(here.hessian)
            sizes = np.abs(values)
            sizes = np.maximum(sizes, LEAST_CURVATURE * float(sizes.max()))
            if not sizes.min() > 0:
                return None
            damped = np.dot(vectors * sizes, vectors.T)
            return factorise(damped, hold=False), damped

    def step(self, objective: HasSecondOrder, state: NewtonState) -> NewtonState:
        t, stuck = 1.0, NO_LOWER_VALUE
        while t >= SHORTEST_STEP:
            # one pass, kept if accepted
            trial = self.init(objective, state.theta + t * state.direction)
            # only a whole step may hide in rounding: shorter ones would continue without end
            slack = rounding_of(objective, state.value) if t == 1.0 else 0.0
            if trial.value <= state.value - ARMIJO * t * state.decrease + slack:
                faded = sorted(set(trial.held) - set(state.held))
                if not trial.stuck and not faded and not _too_far(state, trial):
                    return _noted(state, trial, slack)
                stuck = trial.stuck or (without_curvature(faded[0]) if faded else stuck)
            if 0 < state.decrease <= slack:  # of a full step: halves would show rounding
                return replace(state, stuck=NO_FURTHER_DIGITS)
            t /= 2
        return replace(state, stuck=stuck)


def _lost(theta: Array, here: SecondOrder) -> NewtonState:
    """The state where H cannot be factorised."""
    return NewtonState(
        theta=theta,
        value=here.value,
        gap=inf,
        stuck=NOT_DEFINITE,
        direction=-here.gradient,
        decrease=inf,
        hessian=here.hessian,
        least_pivot=0.0,
    )


def _too_far(state: NewtonState, trial: NewtonState) -> bool:
    """Whether the curvature has vanished at the end of a step that lowers f."""
    if trial.least_pivot < FADED * state.least_pivot:  # separation lets it fade too, step by step
        return True
    return overshoots(state.hessian, trial.theta - state.theta, trial.direction)


def overshoots(hessian: Array, step: Array, following: Array) -> bool:
    """Whether the step that follows leads back past where this one began."""
    bent = np.dot(hessian, step)
    return float(np.dot(bent, following)) < -float(np.dot(bent, step))


def _noted(state: NewtonState, trial: NewtonState, slack: float) -> NewtonState:
    """The trial, marked as stuck where steps no longer get shorter because of rounding."""
    certified = isfinite(state.gap) and isfinite(trial.gap)
    if certified and state.decrease <= slack and trial.decrease >= state.decrease > 0:
        return replace(trial, stuck=NO_FURTHER_DIGITS)
    return trial


def _unexplained(
    here: SecondOrder, direction: Array, held: tuple[int, ...], scale: float
) -> int | None:
    """A fixed column with a gradient that the kept ones do not explain, if there is one.

    (g + Hd)_j is the gradient left after a full step.  A column that earlier ones determine, even
    to six digits only, could lower f by (g + Hd)_j² / 2εH_jj at most, where ε, its pivot, is at
    most the least that counts.  More than ``scale`` cannot be gained, so a larger gradient shows
    that it is not determined by them: its curvature has vanished here.
    """
    if not held:
        return None
    columns = np.array(held)
    left = (here.gradient + np.dot(here.hessian, direction))[columns]
    beyond = left**2 > LEAST_PIVOT * np.diag(here.hessian)[columns] * scale
    return int(columns[beyond][0]) if beyond.any() else None
