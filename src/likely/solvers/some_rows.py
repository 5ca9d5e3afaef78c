"""The start of a search: the optimum for some of the rows, which is near that of all."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import search
from likely.solvers.newton import Newton
from likely.solvers.search_problem import SearchProblem

START_TOL = 1e-3  # of a search on some rows: their optimum is not nearer to that of all rows
START_STEPS = 20
START_PULL = 0.01  # of the curvature: less than some rows err by, enough where they are separated


@final
@dataclass(frozen=True, eq=False)
class Pulled(SmoothObjective):
    """f(θ) + ½ Σ_j s_j (θ_j − θ⁰_j)²: a subset of rows may be separated."""

    objective: Any
    start: Array
    strength: Array
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        here, move = self.objective.second_order(theta), theta - self.start
        pull = self.strength * move
        return SecondOrder(
            here.value + float(np.dot(pull, move)) / 2,
            here.gradient + pull,
            here.hessian + np.diag(self.strength),
        )


def start_on_some_rows(problem: SearchProblem, start: Array) -> Array:
    """The optimum for the rows to start from, or ``start`` if they have none."""
    if problem.share == 1.0:
        return start
    some = problem.on_start_rows
    curvature = np.diag(some.second_order(start).hessian)
    if not np.isfinite(curvature).all():
        return start
    pulled = Pulled(some, start, START_PULL * curvature, some.unit)
    solution, state = search(Newton(), pulled, start, tol=START_TOL / 10, max_iter=START_STEPS)
    usable = solution.converged and isfinite(state.value) and np.isfinite(state.theta).all()
    return state.theta if usable else start
