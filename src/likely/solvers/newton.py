"""Newton's method with a backtracking line search.

    d = −H⁻¹g        θ ← θ + t d        t ∈ {1, ½, ¼, …}

With the expected information for H, this is iteratively reweighted least squares.  The gap is half
the squared Newton decrement, gᵀH⁻¹g / 2, which estimates f(θ) − min f, relative to max(1, |f|).
The units of the columns do not matter, and columns that earlier ones explain are held where they
start.

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
from likely.cholesky import factorise
from likely.solvers.base import SmoothObjective, Solver, State, rounding

ARMIJO = 1e-4  # the part of the promised decrease that a step must deliver
SHORTEST_STEP = 2.0**-30


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class NewtonState(State):
    direction: Array  # d, from the current θ
    decrease: float  # gᵀH⁻¹g, promised by a whole step
    hessian: Array  # H, at the current θ
    held: tuple[int, ...] = ()  # the columns that earlier ones explain


@final
@dataclass(frozen=True)
class Newton(Solver[SmoothObjective, NewtonState]):
    """For up to a few thousand parameters: one step costs a d×d factorisation.

    Of dependent columns the later is held, but none of the last ``intercepts`` before the others.
    """

    intercepts: int = 0

    name: ClassVar[str] = "Newton"

    def init(self, objective: SmoothObjective, theta: Array) -> NewtonState:
        here = objective.second_order(theta)
        held: tuple[int, ...] = ()
        try:
            factor = factorise(here.hessian, first=self.intercepts)
            direction, held = -factor.solve(here.gradient), factor.held
            decrease, stuck = -float(np.dot(here.gradient, direction)), ""
        except LinAlgError:
            direction, decrease = -here.gradient, inf
            stuck = "the Hessian is not positive definite"
        return NewtonState(
            theta=theta,
            value=here.value,
            gap=decrease / 2 / max(1.0, abs(here.value)) if isfinite(here.value) else inf,
            stuck=stuck,
            direction=direction,
            decrease=decrease,
            hessian=here.hessian,
            held=held,
        )

    def step(self, objective: SmoothObjective, state: NewtonState) -> NewtonState:
        t = 1.0
        while t >= SHORTEST_STEP:
            # one pass, kept if accepted
            trial = self.init(objective, state.theta + t * state.direction)
            # only a whole step may hide in rounding: shorter ones would creep on for ever
            slack = rounding(state.value) if t == 1.0 else 0.0
            if trial.value <= state.value - ARMIJO * t * state.decrease + slack:
                return trial
            t /= 2
        return replace(state, stuck="the line search found no lower value")
