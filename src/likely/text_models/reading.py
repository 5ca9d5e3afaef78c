"""Documents in parts of a few megabytes, on threads where there are several."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from likely.compute.executor import executor_for
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import document_parts
from likely.text.term_tables import TermIds

R = TypeVar("R")


def over_parts(words: BagOfWords, term: Callable[[TermIds], R], documents: Any) -> Iterator[R]:
    """``term`` of the columns of each part of the documents, in their order."""
    words._known()  # made here, not by every thread

    def of_part(part: Any) -> R:
        return term(words._columns(part))

    parts = document_parts(documents)
    first = list(islice(parts, 2))
    executor = executor_for(words.executor, 0 if len(first) < 2 else None)
    with executor.mapping(of_part, chain(first, parts)) as found:
        yield from found
