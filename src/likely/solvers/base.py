"""The contract between an objective and a solver.

A solver sees an objective only as a function of θ that is already totalled over the
data; it never sees a row, a block or an executor.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar


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
