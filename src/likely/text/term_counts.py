"""Counts of terms: by document, as sparse matrices, and summed over documents.

    frequency_v = the number of documents with term v      total_v = the number of its occurrences

Both sums add, so that documents may come in parts.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.text.term_tables import TermIds

MOST_SPARE = 1 << 20  # terms, for which there is room before they are met


@final
class TermSums:
    """The number of documents with each term, and of its occurrences, in documents so far."""

    def __init__(
        self, frequency: Array | None = None, total: Array | None = None, n_documents: int = 0
    ) -> None:
        none = np.zeros(0, np.int64)
        self.frequency = none if frequency is None else frequency
        self.total = none if total is None else total
        self.n_documents = n_documents

    @classmethod
    def of(cls, counts: Any) -> "TermSums":
        """The sums of a CSR matrix of counts."""
        n_columns = counts.shape[1]
        frequency = np.bincount(counts.indices, minlength=n_columns)
        total = np.bincount(counts.indices, counts.data, minlength=n_columns)
        return cls(frequency, total.astype(np.int64), int(counts.shape[0]))

    def __add__(self, other: "TermSums") -> "TermSums":
        n = max(self.frequency.size, other.frequency.size)
        ours, theirs = self.wider(n), other.wider(n)
        return TermSums(
            ours.frequency + theirs.frequency,
            ours.total + theirs.total,
            ours.n_documents + theirs.n_documents,
        )

    def wider(self, n: int) -> "TermSums":
        """The sums of at least so many terms, with 0 for further ones."""
        frequency, total = _wider(self.frequency, n), _wider(self.total, n)
        return TermSums(frequency, total, self.n_documents)

    def at_columns(self, columns: Array, n_columns: int) -> "TermSums":
        """The sums of terms that have other columns, of so many."""
        frequency, total = np.zeros((2, n_columns), np.int64)
        frequency[columns] = self.frequency[: columns.size]
        total[columns] = self.total[: columns.size]
        return TermSums(frequency, total, self.n_documents)

    def add(self, found: TermIds, n_terms: int) -> None:
        """Add the terms of some documents; there are so many terms by now."""
        from likely.fast.term_counts import sum_terms

        if n_terms > self.frequency.size:
            room = max(n_terms, min(2 * self.frequency.size, n_terms + MOST_SPARE))
            self.frequency, self.total = _wider(self.frequency, room), _wider(self.total, room)
        last_seen = np.zeros(n_terms, np.int32)
        sum_terms(found.ids, found.stops, last_seen, self.frequency, self.total)
        self.n_documents += found.stops.size


def _wider(values: Array, n: int) -> Array:
    return np.concatenate([values, np.zeros(max(n - values.size, 0), values.dtype)])


def counted(found: TermIds, n_columns: int) -> Any:
    """The counts of each document as a CSR matrix."""
    from scipy.sparse import csr_matrix

    from likely.fast.term_counts import count_terms

    ids, stops = found
    columns, counts = np.empty(ids.size, np.int32), np.empty(ids.size, np.int64)
    starts, place = np.zeros(stops.size + 1, np.int64), np.zeros(n_columns, np.int32)
    n = count_terms(ids, stops, place, columns, counts, starts)
    matrix = csr_matrix((stops.size, n_columns), dtype=np.int64)
    matrix.data, matrix.indices, matrix.indptr = counts[:n].copy(), columns[:n].copy(), starts
    return matrix


def stacked(parts: Sequence[Any], n_columns: int) -> Any:
    """Matrices one below the other, with so many columns, sorted."""
    from scipy.sparse import csr_matrix

    n_rows = sum(part.shape[0] for part in parts)
    matrix = csr_matrix((n_rows, n_columns), dtype=np.int64)
    if parts:
        before = np.cumsum([0, *(part.nnz for part in parts)])
        ends = [part.indptr[1:] + first for part, first in zip(parts, before[:-1], strict=True)]
        starts = np.concatenate([np.zeros(1, np.int64), *ends])
        index = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
        matrix.data = np.concatenate([part.data for part in parts])
        matrix.indices = np.concatenate([part.indices for part in parts], dtype=index)
        matrix.indptr = starts.astype(index)
    matrix.has_sorted_indices = False
    matrix.sort_indices()
    return matrix


def renumbered(counts: Any, order: Array, n_columns: int, *, count_others: bool) -> Any:
    """The columns in another order; others are left out, or counted in the last column."""
    place = np.full(counts.shape[1], n_columns - 1 if count_others else -1, np.int32)
    place[order] = np.arange(order.size)
    columns = place[counts.indices]
    if not count_others and order.size < counts.shape[1]:
        kept = columns >= 0
        before = np.concatenate([np.zeros(1, counts.indptr.dtype), np.cumsum(kept)])
        counts.indptr = before[counts.indptr].astype(counts.indptr.dtype)
        counts.data, columns = counts.data[kept], columns[kept]
    counts.indices = columns
    counts._shape = (counts.shape[0], n_columns)
    counts.has_sorted_indices = False
    if count_others:
        counts.has_canonical_format = False
        counts.sum_duplicates()
    counts.sort_indices()
    return counts
