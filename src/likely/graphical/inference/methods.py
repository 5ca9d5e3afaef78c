"""The methods of inference by name, and which one ``auto`` takes.

    tree             the factor graph has no cycle once the observed variables are cut out
    junction-tree    otherwise, if its tables fit the memory
    elimination      otherwise, for a few variables: its tables come and go

To add a method, write one class (``inference.InferenceMethod``) and list it in ``INFERENCE``.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from likely._typing import Array
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.evidence import Evidence
from likely.graphical.inference.contract import Answer, BestStates, InferenceMethod, Request
from likely.graphical.inference.elimination import Elimination
from likely.graphical.inference.enumeration import Enumeration
from likely.graphical.inference.memory import memory_limit
from likely.graphical.inference.tree_inference import TreeInference
from likely.names import known_name

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph

INFERENCE: dict[str, InferenceMethod] = {
    "tree": TreeInference(cycles=False),
    "junction-tree": TreeInference(),
    "elimination": Elimination(),
    "enumeration": Enumeration(),
}
FEW = 8  # marginals and joints, one elimination for each
BLOCK = 2**24  # numbers drawn at one time

T = TypeVar("T")


class Asked(NamedTuple):
    """Which graph is asked by which method, given what, and how large its tables may be."""

    graph: "FactorGraph"
    evidence: Evidence
    method: str
    memory: int | None
    few: bool = True  # one elimination for each answer is affordable


def answer(graph: "FactorGraph", request: Request, method: str = "auto") -> tuple[str, Answer]:
    """Marginals, joints and log Z(e), and the name of the method that was used."""
    few = len(request.variables) + len(request.joints) <= FEW
    asked = Asked(graph, request.evidence, method, request.memory, few)
    return _by_method(asked, lambda chosen: chosen.answer(graph, request))


def most_probable(
    graph: "FactorGraph", evidence: Evidence, method: str = "auto", memory: int | None = None
) -> tuple[str, BestStates]:
    """The most probable configuration, and the name of the method that was used."""
    asked = Asked(graph, evidence, method, memory)
    return _by_method(asked, lambda chosen: chosen.most_probable(graph, evidence, memory))


def log_partition(
    graph: "FactorGraph", evidence: Evidence, method: str = "auto", memory: int | None = None
) -> float:
    """log Z(e)."""
    asked = Asked(graph, evidence, method, memory)
    return _by_method(asked, lambda chosen: chosen.log_partition(graph, evidence, memory))[1]


def sample(
    graph: "FactorGraph",
    evidence: Evidence,
    n_samples: int,
    random_state: Any = None,
    method: str = "auto",
    memory: int | None = None,
) -> Mapping[str, Array]:
    """Codes of each variable in ``n_samples`` configurations drawn from P(x | e)."""
    whole = isinstance(n_samples, int | np.integer) and not isinstance(n_samples, bool)
    if not whole or n_samples < 0:
        raise InvalidInput(
            f"n_samples={n_samples!r} was given; a whole number from 0 up was expected. Use 1."
        )
    generator = np.random.default_rng(random_state)
    block = max(1, BLOCK // max(1, len(graph.names)))
    parts = []
    for start in range(0, max(n_samples, 1), block):
        uniform = generator.random((min(block, n_samples - start), len(graph.names)))
        parts.append(_sample(graph, evidence, uniform, method, memory))
    return {name: np.concatenate([part[name] for part in parts]) for name in graph.names}


def _sample(
    graph: "FactorGraph", evidence: Evidence, uniform: Array, method: str, memory: int | None
) -> Mapping[str, Array]:
    if method == "auto" and not evidence.codes and not evidence.soft:
        drawn = graph.ancestral_sample(uniform)
        if drawn is not None:
            return drawn
    asked = Asked(graph, evidence, method, memory)
    return _by_method(asked, lambda chosen: chosen.sample(graph, evidence, uniform, memory))[1]


def _by_method(asked: Asked, verb: Callable[[InferenceMethod], T]) -> tuple[str, T]:
    """The name of the method and what it gives; ``auto`` goes on to elimination where it must."""
    if asked.method != "auto":
        name = known_name("method of inference", asked.method, ["auto", *INFERENCE])
    elif asked.graph.plans.is_forest(asked.evidence.observed):
        name = "tree"
    else:
        name = "junction-tree"
    try:
        return name, verb(INFERENCE[name])
    except ImpossibleEvidence as impossible:
        if asked.evidence.codes or asked.evidence.soft:
            raise
        raise ImpossibleEvidence(evidence=False) from impossible
    except GraphTooLarge as too_large:
        if asked.method == "auto" and asked.few:
            with suppress(GraphTooLarge):
                return "elimination", verb(INFERENCE["elimination"])
        raise too_large.within(memory_limit(asked.memory)) from None
