"""A vocabulary that grows: the terms of further documents come after those that are known."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.text.reader import Reader
from likely.text.term_counts import TermSums
from likely.text.vocabulary import Vocabulary


class LearnedTerms(NamedTuple):
    """All terms after further documents, and the sums of these documents by column."""

    terms: Vocabulary
    reader: Reader
    columns: Array | None  # of the ids of the reader; None where each is its own
    sums: TermSums


def with_new_terms(
    reader: Reader,
    columns: Array | None,
    terms: Vocabulary,
    X: Iterable[str],
    executor: str | Executor,
) -> LearnedTerms:
    """Read documents; terms without a column get the next ones, in the order of appearance."""
    sums = TermSums()
    columns = np.arange(reader.n_ids, dtype=np.int32) if columns is None else columns
    for found in reader.learn(X, executor):
        sums.add(found, reader.n_ids)
    frequency = sums.wider(reader.n_ids).frequency[: reader.n_ids]
    columns = np.append(columns, np.full(reader.n_ids - columns.size, -1, np.int32))
    new = np.flatnonzero((frequency > 0) & (columns < 0))
    columns[new] = len(terms) + np.arange(new.size)
    terms = terms + Vocabulary.of_arrow(reader.names().take(new))
    seen = np.flatnonzero(frequency)
    by_column = np.zeros(len(terms), np.int64)
    by_column[columns[seen]] = frequency[seen]
    in_order = columns.size == len(terms) and (np.diff(columns) == 1).all()
    sums = TermSums(by_column, by_column, sums.n_documents)
    return LearnedTerms(terms, reader, None if in_order else columns, sums)
