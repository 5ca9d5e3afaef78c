"""The columns of the terms of documents, part by part, on threads where there are several."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from likely.text.bag_of_words import BagOfWords
from likely.text.parts import over_parts
from likely.text.term_tables import TermIds

R = TypeVar("R")


def over_columns(words: BagOfWords, term: Callable[[TermIds], R], documents: Any) -> Iterator[R]:
    """``term`` of the columns of each part of the documents, in their order."""
    words._known()  # made here, not by every thread

    def of_part(part: Any) -> R:
        return term(words._columns(part))

    return over_parts(words.executor, of_part, documents)
