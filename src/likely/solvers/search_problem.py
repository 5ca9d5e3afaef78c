"""What the choice of a solver needs to know about an objective, and the result of a search.

A model builds one ``SearchProblem``; every solver of ``SOLVERS`` can then be run on it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from likely._typing import Array
from likely.solvers.base import HasSecondOrder
from likely.solvers.batched import BatchedObjective
from likely.solvers.coordinate_descent import ColumnObjective
from likely.solvers.dual_coordinate_descent import RowObjective
from likely.solvers.lbfgs import Preconditioner
from likely.solvers.minimise import Solution
from likely.solvers.proximal_newton import L1Objective
from likely.solvers.stopping import StoppingRule

if TYPE_CHECKING:
    from likely.solvers.choice import Shape

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


class WholeObjective(L1Objective, HasSecondOrder, Protocol):
    """f and a penalty with corners, for any solver."""


class SearchProblem(ABC):
    """An objective with the facts that the choice of a solver needs.

    ``columns``, ``dual`` and ``batches`` give access to the data beyond sums (decision 7); a
    problem that has none raises ``UnsupportedAccess``, and its shape shows it.
    """

    @property
    @abstractmethod
    def objective(self) -> WholeObjective:
        """f on all rows."""

    @property
    @abstractmethod
    def on_start_rows(self) -> WholeObjective:
        """f on the rows to start from, with the penalty that is their share."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The share of the rows to start from; 1 where a search starts on all."""

    @property
    @abstractmethod
    def shape(self) -> "Shape": ...

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
    def columns(self) -> ColumnObjective:
        """The objective on data in memory, column by column."""

    @abstractmethod
    def dual(self) -> RowObjective:
        """Logistic regression with one ridge penalty, on rows in memory."""

    @abstractmethod
    def batches(self, start: Array) -> BatchedObjective:
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
