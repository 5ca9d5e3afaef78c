"""Documents as sequences of word ids, and their counts and presence.

    document i = (x_1, …, x_d),  x_j from 0 to V − 1, with its own length d

    counts_v = the number of j with x_j = v        presence_v = 1 if counts_v > 0

``Sequences.of_counts`` gives the one sequence of the counts whose ids are in order.  Counts
forget the order.  There are B = d! / ∏_v counts_v! sequences with the same counts, so that under a
multinomial model log p(counts) = log p(sequence) + ln B (NB-10 and NB-11 of the SPEC).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput


class TermIds(NamedTuple):
    """The terms of some documents: ``ids[stops[i − 1] : stops[i]]`` are those of the i-th."""

    ids: Array  # int32; −1 is unknown
    stops: Array  # int64, one for each document


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


@final
@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences one after the other: ``ids[offsets[i] : offsets[i + 1]]`` is the i-th."""

    ids: Codes  # int32
    offsets: Codes  # int64, (n + 1,)
    n_words: int

    @classmethod
    def of(cls, given: Any, n_words: int | None = None) -> "Sequences":
        """Lists or arrays of whole numbers from 0 up, of any lengths, or an Arrow list array.

        ``n_words`` is the size of the vocabulary; the largest id and one by default.  A table of
        whole numbers is read as ids, a document in each row; ``of_counts`` reads it as counts.
        """
        if isinstance(given, Sequences):
            return given
        ids, offsets = _from_arrow(given) if _is_arrow(given) else _from_lists(given)
        most = int(ids.max()) + 1 if ids.size else 0
        if ids.size and ids.min() < 0:
            raise InvalidInput(
                f"an id of a word is {ids.min()}; whole numbers from 0 up were expected. Leave out "
                "unknown words, or give them an id of their own."
            )
        if n_words is not None and most > n_words:
            raise InvalidInput(
                f"an id of a word is {most - 1}; the vocabulary has {n_words} words, numbered from "
                "0. Leave out unknown words, or give them an id of their own."
            )
        return cls(ids.astype(np.int32), offsets, most if n_words is None else int(n_words))

    @classmethod
    def of_counts(cls, counts: Any) -> "Sequences":
        """Each word as often as it is counted, in the order of the columns.

        ``counts`` is a table of whole numbers from 0 up, dense or sparse, with a document in each
        row and a word in each column; presence (0 and 1, or True and False) is a count, too.
        """
        table = _checked_counts(counts)
        ids = np.repeat(table.indices, table.data).astype(np.int32)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(table.data)])
        return cls(ids, ends[table.indptr], table.shape[1])

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words: the shape of the counts."""
        return len(self), self.n_words

    @property
    def lengths(self) -> Array:
        """The number of words of each document."""
        return np.diff(self.offsets)

    def __iter__(self) -> Iterator[Array]:
        return (self.ids[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True))

    def __getitem__(self, rows: Any) -> Any:
        """The ids of one document, or the sequences of several: a slice, places or a mask."""
        if isinstance(rows, int | np.integer):
            i = range(len(self))[rows]
            return self.ids[self.offsets[i] : self.offsets[i + 1]]
        chosen = np.arange(len(self))[rows]
        lengths = self.lengths[chosen]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        places = np.repeat(self.offsets[chosen], lengths) + within
        return Sequences(self.ids[places], offsets, self.n_words)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequences)
            and self.n_words == other.n_words
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.ids, other.ids)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def to_counts(self) -> Any:
        """How often each word occurs in each document, as a CSR matrix."""
        counts = counted(TermIds(self.ids, self.offsets[1:]), self.n_words)
        return stacked([counts], self.n_words)

    def to_presence(self) -> Any:
        """Whether each word occurs in each document, as a CSR matrix of 0 and 1."""
        presence = self.to_counts()
        presence.data.fill(1)
        return presence

    def to_arrow(self) -> Any:
        """An Arrow list array of ids."""
        import pyarrow as pa

        return pa.LargeListArray.from_arrays(self.offsets, self.ids)

    def log_orders(self) -> Array:
        """ln B: the log of the number of sequences with the same counts, by document."""
        from scipy.special import gammaln

        counts = self.to_counts()
        each = np.concatenate([[0.0], np.cumsum(gammaln(counts.data + 1.0))])
        return np.asarray(gammaln(self.lengths + 1.0) - np.diff(each[counts.indptr]))


def is_sequences(given: Any) -> bool:
    """Whether rows are sequences of ids: ``Sequences``, an Arrow list array, or lists of integers
    that are not all of one length.
    """
    if isinstance(given, Sequences) or _is_arrow(given):
        return True
    return is_lists(given) and len({len(row) for row in given}) > 1


def is_lists(given: Any) -> bool:
    """Whether rows are a list of lists, or of arrays of one axis."""
    if not isinstance(given, list | tuple) or not given:
        return False
    return all(
        isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)
        for row in given
    )


def _checked_counts(given: Any) -> Any:
    """A table of counts as CSR of int64, columns in order, each once."""
    from scipy.sparse import csr_matrix, issparse

    table: Any = csr_matrix(given) if issparse(given) else np.asarray(given)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise InvalidInput(
            f"counts of shape {table.shape} and type {table.dtype} were given; a table of whole "
            "numbers was expected, a row for each document. Sequences.of takes ids."
        )
    values = table.data if issparse(table) else table
    whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    if not whole.all():
        raise InvalidInput(
            f"a count is {values[~whole][0]}; whole numbers from 0 up were expected. Give counts "
            "without weights, as BagOfWords() makes them."
        )
    counts = csr_matrix(table, dtype=np.int64, copy=True)
    counts.sum_duplicates()
    return counts


def _is_arrow(given: Any) -> bool:
    return type(given).__module__.startswith("pyarrow") and "list" in str(
        getattr(given, "type", "")
    )


def _from_arrow(given: Any) -> tuple[Array, Array]:
    import pyarrow as pa

    array = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
    array = array.cast(pa.large_list(pa.int64()))
    if array.null_count or array.flatten().null_count:
        raise InvalidInput(
            "a sequence, or an id in it, is missing. Drop the row, or make it an empty list."
        )
    lengths = array.value_lengths().to_numpy()
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return array.flatten().to_numpy(), offsets


def _from_lists(given: Sequence[Any]) -> tuple[Array, Array]:
    rows = [np.asarray(row) for row in given]
    for i, row in enumerate(rows):
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            raise InvalidInput(
                f"sequence {i} is {given[i]!r:.60}; a row of whole numbers was expected, the ids "
                "of its words. TokenIds makes them from text."
            )
    offsets = np.concatenate([[0], np.cumsum([row.size for row in rows])]).astype(np.int64)
    ids = np.concatenate([np.zeros(0, np.int64), *(row.astype(np.int64) for row in rows)])
    return ids, offsets
