"""The methods of inference by name, and which one ``auto`` takes.

    tree             the factor graph has no cycle once the observed variables are cut out
    junction-tree    otherwise, if its tables fit the memory
    elimination      otherwise, for a few variables: its tables come and go

``auto`` never takes a method that is not exact.  To add a method, write an ``InferenceMethod``
(``contract.py``) in a file of its own and list it in ``INFERENCE``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, NotAnswered
from likely.graphical.contract import (
    BestStates,
    Codes,
    InferenceAnswer,
    InferenceMethod,
    Request,
    drawn_in_blocks,
    exact_method,
)
from likely.graphical.exact.cost import memory_limit
from likely.graphical.exact.elimination import Elimination
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.exact.tree_inference import TreeInference
from likely.graphical.model.exactness import NOT_STATED, OF_METHOD, Exactness, LogPartition
from likely.names import known_name

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

INFERENCE: dict[str, InferenceMethod] = {
    "tree": exact_method("messages on the tree", TreeInference(cycles=False)),
    "junction-tree": exact_method("a junction tree", TreeInference()),
    "elimination": exact_method("variable elimination", Elimination()),
    "enumeration": exact_method("enumeration", Enumeration()),
}
FEW = 8  # marginals and joints, one elimination for each

T = TypeVar("T")
Verb = Callable[[InferenceMethod], Callable[..., T] | None]


def answer(
    graph: "FactorGraph", request: Request, method: str = "auto"
) -> tuple[str, InferenceAnswer]:
    """Marginals and joints, and the name of the method that was used."""
    few = len(request.variables) + len(request.joints) <= FEW
    name, found = _asked("marginals", lambda m: m.marginals, graph, request, method, few=few)
    if is_exact(name):
        return name, found
    exactness = _stated(name, found.exactness)
    if isnan(found.log_partition):
        exactness = exactness.without_log_partition()
    return name, replace(found, exactness=exactness)


def most_probable(
    graph: "FactorGraph", request: Request, method: str = "auto"
) -> tuple[str, BestStates]:
    """The most probable configuration, and the name of the method that was used."""
    name, found = _asked("most probable states", lambda m: m.best, graph, request, method)
    return name, replace(found, exactness=_stated(name, found.exactness))


def log_partition(graph: "FactorGraph", request: Request, method: str = "auto") -> LogPartition:
    """log Z(e)."""
    name, found = _asked("log Z", lambda m: m.partition, graph, request, method)
    exactness = found.exactness if isinstance(found, LogPartition) else OF_METHOD
    return LogPartition(found, _stated(name, exactness))


def log_partition_like(graph: "FactorGraph", request: Request, method: str) -> LogPartition:
    """log Z(e) as ``method`` gives it, to be compared with an answer of the same method.

    Exact answers are all equal, so that any exact method may give theirs.
    """
    return log_partition(graph, request, "auto" if is_exact(method) else method)


def is_exact(method: str) -> bool:
    """Whether a method is exact by itself, as ``auto`` and messages are."""
    return method not in INFERENCE or INFERENCE[method].exact


def _stated(method: str, exactness: Exactness) -> Exactness:
    """The exactness of an answer; one that says nothing is as exact as its method."""
    return NOT_STATED if exactness is OF_METHOD and not is_exact(method) else exactness


def sample(graph: "FactorGraph", request: Request, n_samples: int, method: str = "auto") -> Codes:
    """Codes of each variable in ``n_samples`` configurations drawn from P(x | e)."""
    whole = isinstance(n_samples, int | np.integer) and not isinstance(n_samples, bool)
    if not whole or n_samples < 0:
        raise InvalidInput(
            f"n_samples={n_samples!r} was given; a whole number from 0 up was expected. Use 1."
        )
    evidence = request.evidence
    in_order = graph.draw_in_order
    if method == "auto" and not evidence.codes and not evidence.soft and in_order:
        checked_name(request, method)
        return drawn_in_blocks(graph, request, n_samples, in_order)
    return _asked("samples", lambda m: m.samples, graph, request, method, n_samples)[1]


def checked_name(request: Request, method: str) -> str:
    """The name of a method as it is listed; settings that it has no use for are refused."""
    name = method
    if name != "auto":
        name = known_name("method of inference", method, ["auto", *INFERENCE])
    if request.options is None and request.seconds is None:
        return name
    options = None if name == "auto" else INFERENCE[name].options
    given = type(request.options).__name__
    if request.options is not None and type(request.options) is not options:
        expected = f"{options.__name__}(…)" if options else "none, because it has no settings"
        raise InvalidInput(
            f"options={given}(…) was given for method={name!r}; {expected} was expected. Leave "
            "options out, or name the method that they belong to."
        )
    if request.seconds is not None:
        if name == "auto" or INFERENCE[name].exact:
            raise InvalidInput(
                f"seconds={request.seconds!r} was given for method={name!r}, which is exact and "
                f"cannot stop early. Leave seconds out{_approximate(lambda m: m.marginals)}."
            )
        if not request.seconds > 0:
            raise InvalidInput(f"seconds={request.seconds!r} was given; use a number above 0.")
    return name


def _asked(
    what: str,
    verb: Verb[T],
    graph: "FactorGraph",
    request: Request,
    method: str,
    *more: Any,
    few: bool = True,
) -> tuple[str, T]:
    """The name of the method and what it gives; ``auto`` goes on to elimination where it must.

    ``few`` says that one elimination for each answer is affordable.
    """
    asked = checked_name(request, method)
    name = asked
    if asked == "auto":
        is_forest = graph.plans.is_forest(request.evidence.observed)
        name = "tree" if is_forest else "junction-tree"
    function = verb(INFERENCE[name])
    if function is None:
        others = ", ".join(each for each, m in INFERENCE.items() if verb(m))
        raise NotAnswered(
            f"method={name!r} gives no {what}; a method that does was expected. Use one of "
            f"{others}."
        )
    try:
        return name, function(graph, request, *more)
    except ImpossibleEvidence as impossible:
        if request.evidence.codes or request.evidence.soft:
            raise
        raise ImpossibleEvidence(evidence=False) from impossible
    except GraphTooLarge as too_large:
        if asked == "auto" and few and (eliminate := verb(INFERENCE["elimination"])):
            with suppress(GraphTooLarge):
                return "elimination", eliminate(graph, request, *more)
        raise too_large.within(memory_limit(request.memory), _approximate(verb)) from None


@contextmanager
def other_methods_named(verb: Verb[Any], request: Request) -> Iterator[None]:
    """Name the methods that are not exact where rows of a table are too large a question."""
    try:
        yield
    except GraphTooLarge as too_large:
        raise too_large.within(memory_limit(request.memory), _approximate(verb)) from None


def _approximate(verb: Verb[Any]) -> str:
    """A hint at the methods that are not exact and give an answer."""
    names = [repr(name) for name, m in INFERENCE.items() if not m.exact and verb(m)]
    return f", or use an approximate method: {', '.join(names)}" if names else ""
