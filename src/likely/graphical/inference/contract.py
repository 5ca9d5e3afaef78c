"""One call for every method of inference: what is asked, what is answered, and the registry.

A method is a frozen object with three verbs.  ``auto`` takes the first method that is exact and
fits the memory: message passing on trees, a junction tree, then elimination.
Approximate methods enter the same registry and say in their answer that they are not exact.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from likely._typing import Array
from likely.graphical.evidence import Evidence

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph


@final
@dataclass(frozen=True, eq=False)
class Request:
    """The marginals and joints that are wanted, what is known, and the limit of memory."""

    variables: tuple[str, ...]
    joints: tuple[tuple[str, ...], ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    memory: int | None = None  # bytes; None is half of the free memory


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """Normalised marginals and joints, and log Z(e).  Observed variables are point masses."""

    marginals: Mapping[str, Array]
    joints: Mapping[tuple[str, ...], Array]
    log_partition: float
    exact: bool = True
    converged: bool = True


@final
@dataclass(frozen=True, eq=False)
class BestStates:
    """The code of every variable in a configuration of the highest score."""

    codes: Mapping[str, int]
    unique: bool
    exact: bool = True


class InferenceMethod(ABC):
    """A method of inference in one factor graph."""

    @abstractmethod
    def answer(self, graph: "FactorGraph", request: Request) -> Answer:
        """Marginals, joints and log Z; ImpossibleEvidence where Z(e) = 0."""

    @abstractmethod
    def log_partition(self, graph: "FactorGraph", evidence: Evidence, memory: int | None) -> float:
        """log Z(e); −inf where the evidence is impossible."""

    @abstractmethod
    def most_probable(
        self, graph: "FactorGraph", evidence: Evidence, memory: int | None
    ) -> BestStates:
        """A configuration of the highest score; ImpossibleEvidence where all have score 0."""

    @abstractmethod
    def sample(
        self, graph: "FactorGraph", evidence: Evidence, uniform: Array, memory: int | None
    ) -> Mapping[str, Array]:
        """Codes of each variable in configurations drawn from P(x | e).

        ``uniform`` (n, n_variables) has the draws from U(0, 1), one for each variable.
        """
