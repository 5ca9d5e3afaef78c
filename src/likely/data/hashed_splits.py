"""Splits by a hash of the example's index: no state, and no dependence on the blocks.

    uᵢ = hash(i, seed) in [0, 1)        held out: uᵢ < fraction        fold: ⌊uᵢ · n_folds⌋

The hash is SplitMix64 (``likely.numerics.keyed_random``).

References
----------
Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014, §3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.source import Source, column_indices
from likely.kinds import ColumnKind
from likely.numerics.keyed_random import GOLDEN, mix

if TYPE_CHECKING:
    import pyarrow as pa

FOLD_SEED = 0  # of folds inside a fit without its own seed


def hashed_uniforms(start: int, n: int, seed: int) -> Array:
    """uᵢ for the examples ``start`` to ``start + n``."""
    key = mix(np.array([seed % 2**64], dtype=np.uint64) + GOLDEN)
    index = np.arange(start + 1, start + n + 1, dtype=np.uint64)
    return (mix(index * GOLDEN + key) >> np.uint64(11)) * 2.0**-53


def some_rows(known: Array, most: int) -> Array:
    """The indices of the rows that are known; if there are many, those that a hash chooses."""
    rows = np.flatnonzero(known)
    if rows.size <= most:
        return rows
    return rows[hashed_uniforms(0, known.size, 0)[rows] < most / rows.size]


def hashed_values(values: Array, seed: int) -> Array:
    """A number in [0, 1) for each value, the same for equal values."""
    key = mix(np.array([seed % 2**64], dtype=np.uint64) + GOLDEN)
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # −0 becomes 0
    return (mix(mix(bits) + key) >> np.uint64(11)) * 2.0**-53


def split_mask(
    start: int, n: int, seed: int, fraction: float, copies: Codes | None = None
) -> Array:
    """Which of the examples ``start`` to ``start + n`` are held out.

    ``copies`` has for every example the first one that it is a copy of, which decides for it.
    """
    if copies is not None:
        return (hashed_uniforms(0, copies.size, seed) < fraction)[copies[start : start + n]]
    return hashed_uniforms(start, n, seed) < fraction


def content_mask(words: Array, seed: int, fraction: float) -> Array:
    """Which rows are held out, by a word for each: equal words are on one side."""
    key = mix(np.array([seed % 2**64], dtype=np.uint64) + GOLDEN)
    return (mix(words + key) >> np.uint64(11)) * 2.0**-53 < fraction


@final
@dataclass(frozen=True, eq=False)
class SomeRows(Source):
    """The rows of a source that are held out, or the others."""

    source: Source
    seed: int
    fraction: float  # of the rows, held out
    held_out: bool
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    n_rows: None
    nbytes: int | None
    held: Array | None = None  # a bit for every row, if it is held out; None is by its index

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        start = 0
        for batch in self.source:
            mask = self._mask(start, batch.num_rows)
            start += batch.num_rows
            kept = batch.filter(pa.array(mask if self.held_out else ~mask))
            if kept.num_rows:
                yield kept

    def _mask(self, start: int, n: int) -> Array:
        if self.held is None:
            return split_mask(start, n, self.seed, self.fraction)
        bits = np.unpackbits(self.held[start // 8 : -(-(start + n) // 8)])
        return bits[start % 8 : start % 8 + n].astype(bool)

    def select(self, names: Sequence[str]) -> "SomeRows":
        kinds = tuple(self.kinds[j] for j in column_indices(self.names, names))
        return replace(self, source=self.source.select(names), names=tuple(names), kinds=kinds)


def split_source(
    source: Source, seed: int, fraction: float, held: Array | None = None
) -> tuple[SomeRows, SomeRows]:
    """The rows to learn from, and the rows held out.

    ``held`` has a bit for every row, where copies are to be on one side (see ``copies``).
    """
    about = (source.names, source.kinds, None, source.nbytes, held)
    learned, scored = (SomeRows(source, seed, fraction, part, *about) for part in (False, True))
    return learned, scored


def sampled(batches: "Iterable[pa.RecordBatch]", share: float) -> "Iterator[pa.RecordBatch]":
    """About that share of the rows of a source, always the same ones."""
    start = 0
    for batch in batches:
        yield batch.take(np.flatnonzero(split_mask(start, batch.num_rows, 0, share)))
        start += batch.num_rows


def fold_of(start: int, n: int, seed: int, n_folds: int) -> Codes:
    """The fold, 0 to ``n_folds`` − 1, of the examples ``start`` to ``start + n``."""
    fold = (hashed_uniforms(start, n, seed) * n_folds).astype(np.int32)
    return np.minimum(fold, n_folds - 1)  # the product may round up to n_folds


def stratified_fold_of(
    labels: Codes, seed: int, n_folds: int, copies: Codes | None = None
) -> Codes:
    """The fold of each example: classes, and the folds as a whole, differ by at most one.

    ``copies`` are units by their first example, which stay together: the largest are assigned
    first, each to the smallest fold, and single examples fill up what is missing.
    """
    drawn = hashed_uniforms(0, labels.size, seed)
    fold = np.empty(labels.size, dtype=np.int32)
    if copies is None:
        order = np.lexsort((drawn, labels))
        fold[order] = np.arange(labels.size) % n_folds  # one class after the other, in turn
        return fold
    size = np.bincount(copies, minlength=labels.size)
    several, single = np.flatnonzero(size > 1), np.flatnonzero(size == 1)
    rows = np.zeros(n_folds, dtype=np.int64)
    for unit in several[np.lexsort((drawn[several], labels[several], -size[several]))]:
        fold[unit] = int(rows.argmin())
        rows[fold[unit]] += size[unit]
    # each fold has as many places left as it needs to become as large as the others
    wanted = np.maximum(_level(rows, labels.size) - rows, 0)
    order = single[np.lexsort((drawn[single], labels[single]))]
    turn = np.concatenate([(np.arange(n) + 0.5) / max(n, 1) for n in wanted])
    places = np.repeat(np.arange(n_folds), wanted)[np.argsort(turn, kind="stable")]
    fold[order] = places[: order.size]
    return fold[copies]


def _level(rows: Array, total: int) -> Array:
    """The sizes of folds after filling the smallest up to a common level, as far as it goes."""
    filled, left = rows.copy(), total - int(rows.sum())
    order = np.argsort(rows, kind="stable")
    for n in range(1, rows.size + 1):  # the n smallest folds share one level
        members = order[:n]
        room = left + int(rows[members].sum())
        if n == rows.size or room <= n * rows[order[n]]:
            filled[members] = room // n
            filled[members[: room % n]] += 1
            break
    return filled


def share_of_each_class(
    target: Array, share: float, random_state: int, copies: Codes | None = None
) -> Array:
    """A share of the rows, drawn at random: of each class where the target holds codes.

    Shares are rounded down, so that rows are left in every class.  ``copies`` are units of rows by
    their first one: the first row of a unit decides for all.
    """
    if copies is not None:
        first = np.flatnonzero(copies == np.arange(len(target)))
        drawn = np.zeros(len(target), dtype=bool)
        drawn[first] = share_of_each_class(target[first], share, random_state)
        return drawn[copies]
    order = np.random.default_rng(random_state).permutation(len(target))
    coded = target.dtype.kind in "iu" and target.ndim == 1
    strata = target if coded else np.zeros(len(target))
    drawn = np.zeros(len(target), dtype=bool)
    for value in np.unique(strata):
        members = order[strata[order] == value]
        drawn[members[: int(share * len(members))]] = True
    return drawn
