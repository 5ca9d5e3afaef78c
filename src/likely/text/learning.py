"""Learn terms on several threads, with the ids that one thread would give.

Each thread reads parts of the documents with a table of its own.  The terms that are new to its
table go to the common one part by part, in the order of the documents.  A term that is new to all
is new to the thread that meets it first, so that common ids are in the order of first appearance,
whichever thread read which part.
"""

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.text.documents import Documents
from likely.text.term_tables import GROW, TermIds, TermTable


@final
class _Learner:
    """The table of one thread, and the common id of each of its ids."""

    def __init__(self) -> None:
        self.terms = TermTable()
        self.common = np.zeros(0, np.int32)


class _PartTerms(NamedTuple):
    """What a thread found in a part of the documents."""

    learner: _Learner
    found: tuple[Array, Array]  # its own ids, and where each document stops
    new: Documents  # terms that it had not met before


def learned_ids(
    common: TermTable,
    read: Callable[[TermTable, Any], tuple[Array, Array]],
    parts: Iterator[Any],
    executor: Executor,
) -> Iterator[TermIds]:
    """The ids of the terms of each part of the documents; new terms enter the common table.

    ``read`` gives the ids of a part by a table that grows.
    """
    free: SimpleQueue[_Learner] = SimpleQueue()

    def of_part(part: Any) -> _PartTerms:
        try:
            learner = free.get_nowait()
        except Empty:
            learner = _Learner()
        before = len(learner.terms)
        found = read(learner.terms, part)
        new = learner.terms.documents(before)
        free.put(learner)
        return _PartTerms(learner, found, new)

    with executor.mapping(of_part, parts) as results:
        for learner, (ids, stops), new in results:
            learner.common = np.append(learner.common, common.whole(new, GROW))
            yield TermIds(learner.common[ids], stops)
