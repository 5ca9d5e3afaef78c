"""Documents in parts of a few megabytes, on threads where there are several."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from likely.compute.executor import Executor, executor_for
from likely.text.documents import document_parts

R = TypeVar("R")


def over_parts(executor: str | Executor, term: Callable[[Any], R], documents: Any) -> Iterator[R]:
    """``term`` of each part of the documents, an Arrow array of text, in their order."""
    chosen, parts = executor_and_parts(executor, documents)
    with chosen.mapping(term, parts) as found:
        yield from found


def executor_and_parts(executor: str | Executor, documents: Any) -> tuple[Executor, Iterator[Any]]:
    """The parts of the documents, and where they are read: "auto" needs two parts for threads."""
    parts = document_parts(documents)
    first = list(islice(parts, 2))
    return executor_for(executor, 0 if len(first) < 2 else None), chain(first, parts)
