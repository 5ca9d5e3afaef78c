"""What the choice of a solver needs to know about an objective, and the result of a search.

A model builds one ``SearchProblem``; every solver of ``SOLVERS`` can then be run on it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.solvers.lbfgs import Preconditioner
from likely.solvers.line_search import NO_FURTHER_DIGITS, NO_LOWER_VALUE
from likely.solvers.minimise import Solution
from likely.solvers.stopping import StoppingRule
from likely.solvers.tolerances import (
    ALL_DIGITS,
    CHEAP_PASS,
    DECREMENT,
    FEW,
    LAST_STEP,
    LAST_STEP_OF_A_ROW,
    SMALLEST_SHARE,
)

MOST_FOR_NEWTON = 2000  # parameters: a factorisation of that size costs as much as a pass
MOST_OF_SEVERAL = 1500  # parameters of several predictors
ALWAYS_NEWTON = 200  # parameters of several predictors
WORK_OF_NEWTON = 5e8  # multiplications in one Hessian: beyond, L-BFGS is done before
ALWAYS_PAIRS = 20  # predictors
WORK_OF_PAIRS = 2e7  # rows times pairs of predictors: beyond, L-BFGS is done before
MOST_FOR_WORKING_SETS = 5000  # parameters of several predictors


HeldOutLoss = Callable[[Array], float]


class Limits(NamedTuple):
    """When a search ends: its tolerance, its steps, and a rule that was asked for."""

    tol: float
    max_iter: int
    stop: StoppingRule | None = None


class Found(NamedTuple):
    """The end of a search, in the units of the objective."""

    theta: Array
    solution: Solution
    hessian: Array | None  # of the smooth part there, if the solver knows it
    held: tuple[int, ...] = ()  # columns that earlier ones explain
    direction: Array | None = None  # the next Newton step, if the solver knows it
    least_pivot: float = 1.0  # of the Hessian: 1 − R² of a column given those before it


class Shape(NamedTuple):
    """What the rules of "auto" use."""

    n_parameters: int
    n_rows: float = inf
    n_predictors: int = 1  # with parameters of their own, as the classes of softmax regression
    rough: bool = False  # whether the penalty is not smooth
    corners: bool = False  # whether it has corners at 0, as l1 has
    groups: bool = False  # whether it has groups of coefficients
    has_columns: bool = False  # whether columns of numbers are in memory
    has_dual: bool = False  # whether it is logistic regression with one ridge on sparse rows

    @property
    def hessian_is_affordable(self) -> bool:
        """With several predictors it has a block for each pair, and costs more than a gradient."""
        n, k = self.n_parameters, self.n_predictors
        if k == 1:
            return n <= MOST_FOR_NEWTON
        if k > ALWAYS_PAIRS and self.n_rows * k**2 > WORK_OF_PAIRS:
            return False
        return n <= ALWAYS_NEWTON or (n <= MOST_OF_SEVERAL and self.n_rows * n**2 <= WORK_OF_NEWTON)

    @property
    def has_working_sets(self) -> bool:
        """Whether proximal Newton can model the penalty, with a Hessian of the active columns."""
        few = self.n_predictors == 1 or self.n_parameters <= MOST_FOR_WORKING_SETS
        return (self.corners or self.groups) and few


class SearchProblem(ABC):
    """An objective with the facts that the choice of a solver needs.

    ``columns``, ``dual`` and ``batches`` give access to the data beyond sums (decision 7); a
    problem that has none raises ``UnsupportedAccess``, and its shape shows it.
    """

    @property
    @abstractmethod
    def objective(self) -> Any:
        """f on all rows, as in ``PenalisedSum``."""

    @property
    @abstractmethod
    def on_start_rows(self) -> Any:
        """f on the rows to start from, with the penalty that is their share."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The share of the rows to start from; 1 where a search starts on all."""

    @property
    @abstractmethod
    def shape(self) -> Shape: ...

    @property
    @abstractmethod
    def nat(self) -> float:
        """One nat, for weights of mean 1, in the unit of the objective."""

    @property
    @abstractmethod
    def n_rows(self) -> float:
        """How many rows there are, or about how many."""

    @property
    @abstractmethod
    def intercepts(self) -> int:
        """How many of the last parameters are intercepts, which are fixed last."""

    @property
    @abstractmethod
    def held_out(self) -> HeldOutLoss | None:
        """The loss a row on held-out rows; None where none are."""

    @abstractmethod
    def columns(self) -> Any:
        """The objective on data in memory, column by column."""

    @abstractmethod
    def dual(self) -> Any:
        """Logistic regression with one ridge penalty, on rows in memory."""

    @abstractmethod
    def batches(self, start: Array) -> Any:
        """The objective in batches of rows, in units of the curvature at ``start``."""

    @abstractmethod
    def from_data(self, theta: Array) -> Array:
        """Parameters of the objective from those of the data as they are."""

    @abstractmethod
    def to_data(self, theta: Array) -> Array: ...

    @abstractmethod
    def count_passes(self, passes: float) -> None:
        """Passes of a solver that reads the data itself."""

    @abstractmethod
    def near(self, start: Array) -> Array:
        """A better start for a solver that sees only gradients; ``start`` where there is none."""

    @abstractmethod
    def units(self, theta: Array) -> Preconditioner | None:
        """Units in which the Hessian near θ is about the identity."""

    @abstractmethod
    def single_units(self, theta: Array) -> Array | None:
        """Units of single parameters in which the curvatures near θ are 1, or None.

        None where a Hessian costs too much, or the penalty is not a sum over parameters.
        """

    @property
    @abstractmethod
    def steps_between_units(self) -> int | None:
        """The number of steps after which the units are computed again; None is never."""


class LastDigits(NamedTuple):
    """The gaps at which standard errors are computed."""

    aim: float
    all_digits: float  # below, a further step is rounding
    enough: float
    tol: float  # will do where the other digits are lost in rounding

    @classmethod
    def of(cls, problem: SearchProblem, tol: float) -> "LastDigits":
        enough = min(tol, DECREMENT * problem.nat)
        n, p = problem.n_rows, problem.shape.n_parameters
        all_digits = last = ALL_DIGITS * n / p
        if n * p**2 > CHEAP_PASS:
            last = min(LAST_STEP, LAST_STEP_OF_A_ROW * n)
        if has_few_rows(problem):
            all_digits *= SMALLEST_SHARE
        aim = min(enough, last * problem.nat)
        return cls(aim, min(aim, all_digits * problem.nat), enough, tol)

    def one_more(self, gap: float) -> bool:
        """Whether a step that is not evaluated is worth taking, and the Hessian stays the same."""
        return self.all_digits < gap <= self.aim

    def settled(self, solution: Solution) -> Solution:
        """The solution, converged if its gap is small enough, also if rounding stopped it."""
        rounded = solution.reason in (NO_FURTHER_DIGITS, NO_LOWER_VALUE)
        if solution.converged or not solution.gap <= (self.tol if rounded else self.enough):
            return solution
        return replace(solution, converged=True, reason=f"the gap is {solution.gap:.1e}")


def has_few_rows(problem: SearchProblem) -> bool:
    """Whether this may be a table, whose rows have weights that differ by millions."""
    return problem.n_rows * problem.shape.n_parameters**2 <= FEW


def hessian_at(problem: SearchProblem, found: Found) -> Array:
    """∇² of the smooth part at the end of a search: known, or one more pass.

    What is known is that before the last step, which may be long for a group with a small share of
    the weight.  A table of few rows is read again.
    """
    if found.hessian is None or (found.solution.converged and has_few_rows(problem)):
        return np.asarray(problem.objective.second_order(found.theta).hessian)
    return found.hessian
