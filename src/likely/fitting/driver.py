"""The driver of every fit of linear predictors: its steps, in their order.

    problem → start → search → divergence → last digits → dependent columns → warnings → inference
    → the user's units

A model is a ``Specification``: what is minimised on framed rows, where a search starts, and how its
end is read.  The driver does the rest, and does it alike for all.  Rows are those of any design
with named columns: of a table, of a spline basis, of a factor of a Gram matrix.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.errors import InvalidInput, RedundantColumns, Separation, warn_user
from likely.fitting.covariance import MOST_FOR_INFERENCE, Dispersion, check_covariance
from likely.fitting.divergence import Divergence, divergence
from likely.fitting.edge import EdgeOptimum, warn_of_edge
from likely.fitting.framing import hold_out
from likely.fitting.inference import Inference
from likely.fitting.problem import (
    Problem,
    warn_of_condition,
    with_orthogonal_columns,
    with_redundant,
)
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import warn_unless_converged
from likely.objectives.linear import Packing
from likely.output.formatting import quoted
from likely.solvers.choice import finish, solve
from likely.solvers.minimise import Solution
from likely.solvers.search_problem import Found
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule

SAME = 1e-6  # of the largest entry of a direction
USUAL_STEPS = 3  # of the last digits; a search that diverges takes more
GIVEN = "the parameters were given, not searched for"


@final
@dataclass(frozen=True, eq=False)
class DesignRows:
    """The rows of a design without an intercept, and the names of its columns."""

    blocks: Blocks
    executor: Executor
    names: Callable[[], tuple[str, ...]]
    n_groups: int = 0  # clusters of rows
    references: Callable[[], Sequence[tuple[str, Any]]] = tuple  # columns, and their category


class Searched(Protocol):
    """An estimator with the arguments of a search."""

    @property
    def solver(self) -> str | StochasticDescent: ...
    @property
    def tol(self) -> float: ...
    @property
    def max_iter(self) -> int: ...
    @property
    def stop(self) -> StoppingRule | None: ...
    @property
    def standard_errors(self) -> str | None: ...
    @property
    def warm_start(self) -> bool: ...


@final
@dataclass(frozen=True, eq=False)
class FitSettings:
    """How a search is run, and which standard errors follow it."""

    name: str  # of the estimator, in warnings
    solver: str | StochasticDescent = "auto"
    tol: float = 1e-8
    max_iter: int = 1000
    stop: StoppingRule | None = None
    standard_errors: str | None = "model"
    last: Array | None = None  # the θ of the last fit, where a search starts from it
    can_penalise_intercept: bool = False  # whether the estimator has that setting

    @classmethod
    def of(cls, estimator: Searched, *, warned_by: object = None) -> "FitSettings":
        """What an estimator was told; ``warned_by`` is another one, for which it works."""
        named = estimator if warned_by is None else warned_by
        fitted, last = vars(estimator), None
        if estimator.warm_start and "solution_" in fitted:
            last = np.asarray(fitted["solution_"].theta)
        return cls(
            type(named).__name__,
            estimator.solver,
            estimator.tol,
            estimator.max_iter,
            estimator.stop,
            estimator.standard_errors,
            last,
            "penalise_intercept" in vars(named),
        )


class LinearFit(NamedTuple):
    """A fitted model, in the user's units."""

    coef: Array
    intercept: Any  # or thresholds; 0 where there is none
    solution: Solution
    inference: Inference | None = None
    separated: bool = False
    dispersion: Dispersion = Dispersion(1.0, 1.0)
    held_out: tuple[int, int] | None = None  # rows that a rule held out, and the others


class Begun(NamedTuple):
    """A problem in units of its null deviance, and where its search starts."""

    problem: Problem
    start: Array


class End(NamedTuple):
    """Where a search ended: inside, at the edge of the valid parameters, or going to infinity."""

    found: Found
    infinite: Divergence | None = None
    edge: EdgeOptimum | None = None


class Specification(ABC):
    """One model: its problem on framed rows, its start, and how the end of a search is read.

    Models without a method of their own take those here.
    """

    remedy: str = "Give a penalty (l2=1.0)"  # for responses that are separated
    has_columns: ClassVar[bool] = True  # whether parameters are of columns, which may be dependent

    rows: DesignRows

    @property
    @abstractmethod
    def packing(self) -> Packing:
        """The shapes of the coefficients and intercepts that the model stores."""

    @abstractmethod
    def problem(self, *, centre: bool = True) -> Problem:
        """What is minimised on the rows; not centred, in the user's units."""

    @abstractmethod
    def begin(self, problem: Problem) -> Begun:
        """The constant model, or weights that were given, in units of the null deviance."""

    @abstractmethod
    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        """Standard errors of a kind."""

    def n_inferred(self, problem: Problem) -> int:
        """How many parameters have standard errors."""
        return problem.n_parameters

    def last(self, problem: Problem, theta: Array | None) -> Array | None:
        """Where the search of ``theta``, in the user's units, ended: to start there."""
        return None if theta is None else problem.data.framing.from_user(theta)

    def settings(self, problem: Problem, given: FitSettings) -> FitSettings:
        """How a search is run, where the model decides some of it."""
        return given

    def search(self, problem: Problem, start: Array, settings: FitSettings) -> Found:
        """The end of a search for the optimum."""
        settings = self.settings(problem, settings)
        theta = settings.last
        if theta is not None and theta.shape != (problem.n_parameters,):
            theta = None
        return solve(
            problem,
            start,
            solver=settings.solver,
            tol=settings.tol,
            max_iter=settings.max_iter,
            last=self.last(problem, theta),
            stop=settings.stop,
        )

    def edge(
        self, problem: Problem, found: Found, start: Array, settings: FitSettings
    ) -> EdgeOptimum | None:
        """The optimum at the edge of the valid parameters, where they have one."""
        return None

    def divergence(self, problem: Problem, found: Found, start: Array) -> Divergence | None:
        """A direction in which the likelihood never decreases."""
        return divergence(problem, found, start)

    def last_digits(
        self, problem: Problem, found: Found, start: Array, settings: FitSettings
    ) -> Found:
        """An end that is exact enough for standard errors."""
        finishing, tol = problem.finishing, settings.tol
        return finish(finishing, start, found, tol=tol, max_iter=settings.max_iter)

    def is_centred(self, problem: Problem) -> bool:
        """Whether an intercept, or thresholds, make up for the means of the columns."""
        return problem.data.framing.intercept

    def names(self) -> tuple[str, ...]:
        """The names of the parameters, but for the intercept."""
        return self.rows.names()

    def columns(self, parameters: Sequence[int]) -> tuple[int, ...]:
        """The columns of parameters; beyond the last column are intercepts or thresholds."""
        return tuple(parameters)

    def redundancy(self, held: Sequence[int]) -> str:
        """The warning that parameters were fixed at 0."""
        labels, columns = (*self.names(), "the intercept"), self.columns(held)
        named = [labels[j] for j in dict.fromkeys(columns)]
        return (
            f"{quoted(named)} can be computed from the columns before "
            f"{'it' if len(named) == 1 else 'them'} (or never varies); the coefficient is fixed at "
            "0. Drop the column, or give a penalty (l2=1.0)."
        )

    def to_user(self, problem: Problem, theta: Array) -> Array:
        """θ of the data as they are."""
        return problem.data.framing.to_user(theta)

    def dispersion(self, problem: Problem, found: Found, inference: Inference | None) -> Dispersion:
        """ψ; 1 where the model has none."""
        return Dispersion(1.0, 1.0)


def fit(
    specify: Callable[[DesignRows], Specification], rows: DesignRows, settings: FitSettings
) -> LinearFit:
    """Solve, warn about problems, and estimate the standard errors of the coefficients."""
    if settings.standard_errors is not None:
        check_covariance(settings.standard_errors, rows.n_groups)
    with rows.executor.session():
        fitted, held, counts = hold_out(settings.stop, rows.blocks)
        specification = specify(replace(rows, blocks=fitted))
        problem = replace(specification.problem(), held_rows=held)
        problem, end = _optimum(specification, problem, settings)
        if specification.has_columns:
            problem, end = _with_all_columns(specification, problem, end, settings)
        _warn(specification, end, settings.name, settings.can_penalise_intercept)
        return _in_user_units(specification, problem, end, settings)._replace(held_out=counts)


def given_fit(specification: Specification, problem: Problem, theta: Array) -> LinearFit:
    """The model of parameters, in the user's units, that no search has found."""
    whole, found = problem.objective, specification.packing.unpack(theta)
    solution = Solution(theta, False, GIVEN, (whole.value(theta) + whole.penalty(theta),), np.inf)
    end = Found(theta, solution, None)
    return LinearFit(*found, solution, dispersion=specification.dispersion(problem, end, None))


def _optimum(
    specification: Specification, problem: Problem, settings: FitSettings
) -> tuple[Problem, End]:
    """Search, and search on where standard errors need an estimate that is more exact."""
    problem, start = specification.begin(problem)
    found, edge = specification.search(problem, start, settings), None
    if not found.solution.stopped:
        edge = specification.edge(problem, found, start, settings)
        found = found if edge is None else edge.found
    refuse_if_not_finite(found, specification.rows)
    infinite = specification.divergence(problem, found, start) if edge is None else None
    inside = infinite is None and (edge is None or not edge.n_rows)
    if inside and has_errors(problem, settings):
        n_iter = found.solution.n_iter
        found = specification.last_digits(problem, found, start, settings)
        if edge is None and found.solution.n_iter > n_iter + USUAL_STEPS:
            infinite = specification.divergence(problem, found, start)
    return problem, End(found, infinite, edge)


def has_errors(problem: Problem, settings: FitSettings) -> bool:
    """Whether standard errors are computed: they are requested, and no matrix is too large."""
    return settings.standard_errors is not None and problem.n_parameters <= MOST_FOR_INFERENCE


def _with_all_columns(
    specification: Specification, problem: Problem, end: End, settings: FitSettings
) -> tuple[Problem, End]:
    """The search again, with orthogonal columns, where some nearly depend on others."""
    centre = specification.is_centred(problem)
    other = with_orthogonal_columns(problem, end.found, centre=centre)
    if other is None:
        return problem, end
    warn_of_condition(settings.name, other.solved, specification.rows.names)
    problem, end = _optimum(specification, other.problem, settings)
    return problem, end._replace(found=with_redundant(problem, end.found))


def _in_user_units(
    specification: Specification, problem: Problem, end: End, settings: FitSettings
) -> LinearFit:
    found, kind = end.found, settings.standard_errors
    inference = None
    if kind is not None and specification.n_inferred(problem) <= MOST_FOR_INFERENCE:
        inference = specification.inference(problem, end, kind)
    theta = np.ravel(specification.to_user(problem, found.theta))
    passes = float(sum(problem.data.passes))
    return LinearFit(
        *specification.packing.unpack(theta),
        replace(found.solution, theta=theta, passes=passes),
        inference,
        end.infinite is not None,
        specification.dispersion(problem, found, inference),
    )


def refuse_if_not_finite(found: Found, rows: DesignRows) -> None:
    """Finite totals prove finite data; the bad value is searched for only when they are not."""
    finite = isfinite(found.solution.trace[0]) and bool(np.isfinite(found.theta).all())
    if finite and found.solution.converged:
        return
    refuse_gaps(rows.blocks, rows.names)
    if finite:
        return
    raise InvalidInput(
        "The objective is not finite where the search starts: some values are too large for double "
        "precision. Divide the columns, the offsets or the responses by a round number."
    )


def _warn(specification: Specification, end: End, name: str, can_penalise: bool) -> None:
    """The warnings of a fit: separation, redundant columns, a search that did not converge."""
    found, infinite = end.found, end.infinite
    if infinite is not None:
        labels = (*specification.names(), "the intercept")  # of many columns only when needed
        columns = dict.fromkeys(specification.columns(infinite.columns))
        named = [labels[j] for j in columns if j < len(labels) - 1]
        shown = quoted(named or [labels[-1]])
        shown = at_reference(specification.rows.references(), labels, infinite.direction) or shown
        advice = specification.remedy
        if not named:  # every response is at one end of what it can be
            advice = "All responses are alike, and penalties leave the intercept free: give "
            if can_penalise:
                advice += "l2=1.0 with penalise_intercept=True, or "
            advice += "rows with other responses"
        warn_user(
            f"{name}: the responses are separated along {shown}, so no finite estimate "
            f"exists; the values shown are where the search stopped. {advice}.",
            Separation,
        )
    if found.held:
        warn_user(f"{name}: {specification.redundancy(found.held)}", RedundantColumns)
    if infinite is None:
        warn_unless_converged(name, found.solution)
    if end.edge is not None and end.edge.n_rows:
        warn_of_edge(name, end.edge)


def at_reference(
    references: Sequence[tuple[str, Any]], labels: Sequence[str], direction: Array
) -> str:
    """The reference category that is separated, where all others move alike; may be empty."""
    if len(direction) > len(labels):
        return ""
    size = float(np.abs(direction).max())
    for column, value in references:
        levels = [j for j, label in enumerate(labels[:-1]) if label.startswith(f"{column}[")]
        moved = direction[levels]
        others = np.delete(direction[: len(labels) - 1], levels)
        alike = moved.size > 0 and np.ptp(moved) <= SAME * size and abs(moved[0]) > SAME * size
        if alike and (np.abs(others) <= SAME * size).all():
            return f"{column!r}, at its reference {value!r}"
    return ""
