"""Terms in numbers: the column of a hashed term, sums over documents, and weights of counts.

    column      = ⌊(hash >> 32) · n_features / 2³²⌋
    frequency_v = the number of documents with term v      total_v = the number of its occurrences
    weight      = tf · idf_v                               of term v in a document

The sums add, so that documents may come in parts.  The hash of a term is the same on every machine
and in every version that reads a file; terms that share a column are counted together, without
signs.  Each function below has its formula.

References
----------
Weinberger, Dasgupta, Langford, Smola and Attenberg, Feature hashing for large scale multitask
learning, ICML 2009.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.sequences import TermIds

MOST_SPARE = 1 << 20  # terms, for which there is room before they are met
SEED, MULTIPLIER = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
ALL = (1 << 64) - 1
CHUNK = 8  # bytes


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
        """The sums of at least n terms, with 0 for those that no document has had."""
        frequency, total = _wider(self.frequency, n), _wider(self.total, n)
        return TermSums(frequency, total, self.n_documents)

    def at_columns(self, columns: Array, n_columns: int) -> "TermSums":
        """The sums where term j is in column ``columns[j]``, of ``n_columns``."""
        frequency, total = np.zeros((2, n_columns), np.int64)
        frequency[columns] = self.frequency[: columns.size]
        total[columns] = self.total[: columns.size]
        return TermSums(frequency, total, self.n_documents)

    def add(self, found: TermIds, n_terms: int) -> None:
        """Add the terms of some documents; ``n_terms`` are known by now."""
        from likely.fast.term_counts import sum_terms  # Numba is loaded when terms are counted

        if n_terms > self.frequency.size:
            room = max(n_terms, min(2 * self.frequency.size, n_terms + MOST_SPARE))
            self.frequency, self.total = _wider(self.frequency, room), _wider(self.total, room)
        last_seen = np.zeros(n_terms, np.int32)
        sum_terms(found.ids, found.stops, last_seen, self.frequency, self.total)
        self.n_documents += found.stops.size


def _wider(values: Array, n: int) -> Array:
    return np.concatenate([values, np.zeros(max(n - values.size, 0), values.dtype)])


def reorder_columns(counts: Any, order: Array, n_columns: int, *, count_others: bool) -> None:
    """Make column ``order[j]`` of a CSR matrix its column j.  Changes ``counts``, which are large.

    Other columns are left out, or counted in the last of ``n_columns``.
    """
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


def inverse_frequency(frequency: Array, n_documents: int, *, smooth: bool) -> Array:
    """idf_v = 1 + ln ((n + s) / (n_v + s)), s = 1 if smooth else 0: as in scikit-learn."""
    extra = float(smooth)
    with np.errstate(divide="ignore"):
        ratio = (n_documents + extra) / (frequency + extra)
    return np.asarray(np.log(ratio) + 1.0)


def weighted(counts: Any, idf: Array | None, *, sublinear: bool, norm: str | None) -> Any:
    """The weights of a CSR matrix of counts x, as in scikit-learn.

        weight = tf · idf_v        tf = x, or 1 + ln x if sublinear

    Each row may then be divided by the sum (l1) or the root of the sum of squares (l2) of its
    weights.
    """
    weights = counts.astype(np.float64)
    if sublinear:
        weights.data = 1.0 + np.log(weights.data)
    if idf is not None:
        weights.data *= idf[weights.indices]
    if norm is not None:
        from sklearn.preprocessing import normalize  # the runtime has no scikit-learn

        weights = normalize(weights, norm=norm, copy=False)
    return weights


def hash_of(term: str) -> int:
    """The hash of a word, or of a run of characters; ``fast/letters.py`` has the compiled twin.

        h = SEED;   h ← mixed(h ⊕ c) for each 8 bytes c of the term in UTF-8;   hash = mixed(h)

    The bytes are little-endian, the last ones padded with 0.
    """
    letters, h = term.encode(), SEED
    for i in range(0, len(letters), CHUNK):
        h = _mixed(h ^ int.from_bytes(letters[i : i + CHUNK], "little"))
    return _mixed(h)


def hash_of_run(words: Sequence[str]) -> int:
    """The hash of a run: mixed(mixed((hash of all words but the last · M) ⊕ hash of the last))."""
    h = hash_of(words[0])
    for word in words[1:]:
        h = _mixed(_mixed((h * MULTIPLIER & ALL) ^ hash_of(word)))
    return h


def column_of(h: int, n_features: int) -> int:
    """⌊(hash >> 32) · n_features / 2³²⌋; of 2ᵏ columns, the upper k bits of the hash."""
    return (h >> 32) * n_features >> 32


def column_of_term(term: str, n_features: int, *, of_words: bool) -> int:
    """The column of a term, which is a run of words or of characters."""
    return column_of(hash_of_run(term.split(" ")) if of_words else hash_of(term), n_features)


def _mixed(h: int) -> int:
    """(h M) ⊕ ((h M) >> 32) modulo 2⁶⁴, with the ``MULTIPLIER`` M."""
    h = h * MULTIPLIER & ALL
    return h ^ h >> 32
