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


class SmoothObjective(ABC):
    """f(θ), to be minimised, already totalled."""

    @abstractmethod
    def second_order(self, theta: Array) -> SecondOrder: ...


@final
@dataclass(frozen=True, eq=False)
class FirstOrder(FieldwiseAdditive):
    """f and ∇f at one θ.  Sums over examples add."""

    value: float
    gradient: Array


class FirstOrderObjective(ABC):
    """f(θ), to be minimised, already totalled; for solvers that need no Hessian."""

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    @abstractmethod
    def first_order(self, theta: Array) -> FirstOrder: ...


def rounding(value: float) -> float:
    """How far two evaluations of the same sum may differ: a line search must allow for it."""
    return ROUNDING * max(1.0, abs(value))


def without_curvature(parameter: int) -> str:
    """Why a search cannot go on where a parameter wants to move and nothing tells how far."""
    return f"the curvature of parameter {parameter} has vanished, but not its gradient"


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """The part of every solver's state that the loop reads; each solver adds its own."""

    theta: Any  # the parameters: an array, or a fitted model
    value: float
    gap: float  # distance from the optimum, in the solver's own measure
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
