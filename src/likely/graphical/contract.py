"""One call for every method of inference: what is asked and answered, and what a method can do.

A method has a function for each kind of answer that it gives:

    marginals    P(x_i | e), joints, and log Z(e) where the method has it
    best         a configuration of the highest score
    partition    log Z(e)
    samples      configurations drawn from P(x | e)

A question that it has no function for is refused, with the methods that answer it.  Answers carry
their exactness (``exactness.py``); one that does not say is as exact as its method.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from likely._typing import Array
from likely.graphical.model.exactness import NOT_KNOWN, OF_METHOD, Exactness
from likely.graphical.model.graph_evidence import GraphEvidence

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

BLOCK = 2**24  # numbers drawn at one time

Seed = int | np.random.Generator | np.random.RandomState | None
Codes = Mapping[str, Array]  # of each variable, (n_samples,)


@final
@dataclass(frozen=True, eq=False)
class Request:
    """What is wanted and what is known, and what an answer may cost."""

    variables: tuple[str, ...] = ()
    joints: tuple[tuple[str, ...], ...] = ()
    evidence: GraphEvidence = field(default_factory=GraphEvidence)
    memory: int | None = None  # bytes; None is half of the free memory
    options: object = None  # the method's own settings; None is its defaults
    random_state: Seed = None  # for methods that draw numbers
    seconds: float | None = None  # after which a method that is not exact stops

    def of_log_partition(self) -> "Request":
        """The question for log Z, without evidence, at the same cost."""
        return replace(self, variables=(), joints=(), evidence=GraphEvidence())


@final
@dataclass(frozen=True, eq=False)
class InferenceAnswer:
    """Normalised marginals and joints, and log Z(e).  Observed variables are point masses."""

    marginals: Mapping[str, Array]
    joints: Mapping[tuple[str, ...], Array]
    log_partition: float = NOT_KNOWN
    exactness: Exactness = OF_METHOD


@final
@dataclass(frozen=True, eq=False)
class BestStates:
    """The code of every variable in a configuration of the highest score that was found.

    No configuration has a log score above ``upper``; None is that of the configuration itself
    where it is exact, and no bound where it is not.
    """

    codes: Mapping[str, int]
    unique: bool  # whether no other configuration is as good; False where it is not known
    exactness: Exactness = OF_METHOD
    upper: float | None = None


@final
@dataclass(frozen=True, kw_only=True)
class InferenceMethod:
    """What a method can do: a function for each kind of answer; None where it has none.

    ``words`` say what it is to a person ("a junction tree").  ``options`` is the frozen dataclass
    of its settings.  ``auto`` takes exact methods only.
    """

    words: str
    marginals: Callable[["FactorGraph", Request], InferenceAnswer] | None = None
    best: Callable[["FactorGraph", Request], BestStates] | None = None
    partition: Callable[["FactorGraph", Request], float] | None = None
    samples: Callable[["FactorGraph", Request, int], Codes] | None = None
    options: type[Any] | None = None
    exact: bool = False


class ExactVerbs(Protocol):
    """What an exact method does; ImpossibleEvidence where Z(e) = 0."""

    def answer(self, graph: "FactorGraph", request: Request) -> InferenceAnswer:
        """Marginals, joints and log Z."""

    def most_probable(self, graph: "FactorGraph", request: Request) -> BestStates:
        """A configuration of the highest score."""

    def log_partition(self, graph: "FactorGraph", request: Request) -> float:
        """log Z(e); −inf where the evidence is impossible."""

    def sample(self, graph: "FactorGraph", request: Request, uniform: Array) -> Codes:
        """Codes of each variable in configurations drawn from P(x | e).

        ``uniform`` (n, n_variables) has the draws from U(0, 1), one for each variable.
        """


def exact_method(words: str, verbs: ExactVerbs) -> InferenceMethod:
    """A method that gives all answers, and exactly."""

    def samples(graph: "FactorGraph", request: Request, n_samples: int) -> Codes:
        return drawn_in_blocks(
            graph, request, n_samples, lambda uniform: verbs.sample(graph, request, uniform)
        )

    return InferenceMethod(
        words=words,
        marginals=verbs.answer,
        best=verbs.most_probable,
        partition=verbs.log_partition,
        samples=samples,
        exact=True,
    )


def drawn_in_blocks(
    graph: "FactorGraph", request: Request, n_samples: int, draw: Callable[[Array], Codes]
) -> Codes:
    """Samples from one number in [0, 1) for each variable, some rows after the other."""
    generator = np.random.default_rng(request.random_state)
    block = max(1, BLOCK // max(1, len(graph.names)))
    parts = []
    for start in range(0, max(n_samples, 1), block):
        rows = min(block, n_samples - start)
        parts.append(draw(generator.random((rows, len(graph.names)))))
    return {name: np.concatenate([part[name] for part in parts]) for name in graph.names}
