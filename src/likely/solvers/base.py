"""The contract between an objective and a solver.

A solver sees an objective only as a function of θ that is already totalled over the
data; it never sees a row, a block or an executor.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, final

from likely._typing import Array
from likely.additive import FieldwiseAdditive

ROUNDING = 1e-13  # relative: sums of a million terms, merged pairwise
UNDERFLOW = 1e-150  # slopes below it have squares of 0, and so may curvatures in a tail


@final
@dataclass(frozen=True, eq=False)
class SecondOrder(FieldwiseAdditive):
    """f, ∇f and ∇²f (or its expectation) at one θ.  Sums over examples add."""

    value: float
    gradient: Array
    hessian: Array


class Measured:
    """A function whose gaps have a unit: that of ``tol``.

    A model's is its null deviance, so that neither constants in y, nor the dispersion, nor the
    unit of the weights matter.  Any other function has max(1, |f|).
    """

    unit: float | None = None

    def scale(self, value: float) -> float:
        """What a gap is divided by, where f has this value."""
        return max(1.0, abs(value)) if self.unit is None else self.unit

    def rounding(self, value: float) -> float:
        """How far two evaluations of one sum may differ: a line search must allow for it."""
        return ROUNDING * max(self.scale(value), abs(value))


class SmoothObjective(Measured, ABC):
    """f(θ), to be minimised, already totalled."""

    @abstractmethod
    def second_order(self, theta: Array) -> SecondOrder: ...

    def hessian(self, theta: Array) -> Array:
        """∇²f(θ), or its expectation."""
        return self.second_order(theta).hessian


@final
@dataclass(frozen=True, eq=False)
class FirstOrder(FieldwiseAdditive):
    """f and ∇f at one θ.  Sums over examples add."""

    value: float
    gradient: Array


class FirstOrderObjective(Measured, ABC):
    """f(θ), to be minimised, already totalled; for solvers that need no Hessian."""

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    @abstractmethod
    def first_order(self, theta: Array) -> FirstOrder: ...

    def gradient(self, theta: Array) -> Array:
        """∇f(θ)."""
        return self.first_order(theta).gradient


def without_curvature(parameter: int) -> str:
    """Why a search stops at a parameter with a gradient and without a curvature."""
    return f"the likelihood is flat in parameter {parameter}, and the search could not go on"


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """The part of every solver's state that the loop reads; each solver adds its own."""

    theta: Any  # the parameters: an array, or a fitted model
    value: float
    gap: float  # f(θ) − min f as the solver estimates it, in the unit of the objective
    stuck: str = ""  # why no further step is possible


Objective = TypeVar("Objective", contravariant=True)
S = TypeVar("S", bound=State)


class Solver(ABC, Generic[Objective, S]):
    """Two pure functions; the loop is in ``minimise``."""

    name: ClassVar[str]

    @abstractmethod
    def init(self, objective: Objective, theta: Any) -> S: ...

    @abstractmethod
    def step(self, objective: Objective, state: S) -> S: ...
