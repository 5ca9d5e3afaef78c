"""Which rows are copies of each other: equal in all columns, more often than chance explains.

A table of few categories has equal rows that are no copies.  Such rows have *neighbours*, which
agree with them in all columns but one.  Where columns vary by chance, m equal rows with the value v
in column j are expected beside N rows that differ from them in column j alone:

    m ≈ 1 + N p_v / (1 − p_v)        p_v: the share of the rows with the value v in column j

Equal rows are copies if all columns together explain less than a third of them in this way, or if
over the whole table they explain less than a quarter of the pairs of equal rows.  Columns may
depend on each other, because N is counted among rows that agree in all the others; columns that are
renamed versions of another are left out.  Sets of equal rows are chosen because they are equal, so
first all rows are asked: if the neighbours of all rows by one column alone foretell half as many
pairs as there are, chance explains them.  Three rules for what neighbours do not tell:

    equal texts (of more than 40 characters or four words on average, more than 50 of them, with
    fewer than ten rows to each), and equal numbers of seven digits or more, are not by chance,
    unless each different row is repeated ten times, as the levels of a design are
    a table with at most √n different rows, and no such numbers, consists of cells
    counts of cells are mixtures of Poisson's, (k! f_k)² ≤ (k − 1)! f_{k−1} (k + 1)! f_{k+1} for the
    f_k cells with k rows: rows that are nearly all repeated equally often, in less than half of the
    possible cells, are copies

A unit is named by its first row.  Where nothing is equal, as in most tables, the cost is one hash
of each cell and one sort.

The rows of a stream are not compared all with all.  A sample of them is, by these rules; if chance
explains its equal rows, a row's index decides its side.  Else a hash of the cells decides for every
row whose hash shares one of 2²⁵ counters with another, so that equal rows are on one side.

References
----------
Good (1953), The population frequencies of species, Biometrika 40, §2: f_k under sampling by chance.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes, NumbersAndCodes
from likely.data.arrow import arrow_table_of, decoded
from likely.data.arrow_columns import floats_of_arrow, kind_of_arrow
from likely.data.block import ArrayBlocks, Blocks
from likely.data.frames import is_sparse
from likely.data.hashed_splits import content_mask, sampled, split_mask
from likely.data.labels import has_many_values, is_prose
from likely.data.source import Source
from likely.numerics.keyed_random import GOLDEN, MISSING, keyed, mix

if TYPE_CHECKING:
    import pyarrow as pa

EXPLAINED = 3.0  # neighbours explain equal rows if they predict at least one in so many
EXPLAINED_PAIRS = 4.0  # the same of all pairs of equal rows
FORETOLD = 2.0  # pairs of equal rows to each that the neighbours of all rows foretell: by chance
LONG = 2e-7  # a number this far, relatively, from its six digits has more; float32 adds 6e-8
MOST_REPEATED = 10  # rows to each different one; with more, long numbers are levels of a design
FEWEST_EQUAL = 20  # sets with the same number of repeats
UNEVEN = 4.0  # times the bound of mixtures
FEWEST_ENTRIES = 8  # of a sparse row: with fewer, rows are equal by chance
MOST_CELLS = 20_000_000  # in which neighbours are counted; of more, in some rows
SAMPLED_ROWS = 2**16  # of a stream, compared with each other
SAMPLED_BYTES = 2**26
COUNTERS = 25  # bits of the number of counters of a stream


class CellColumn(NamedTuple):
    """One column: a word for each cell, and how to read its cells as numbers."""

    words: Array  # (n,) uint64, equal where cells are
    numbers: Callable[[Codes], Array] | None = None  # of some rows; None of what has no digits
    prose: Array | None = None  # (n,) Booleans: texts that are not equal by chance


def copies_in_table(
    table: "pa.Table", columns: Sequence[str], *, texts: Sequence[str] = ()
) -> Codes | None:
    """The first row that each row is a copy of, itself if it is none; None if no row is a copy.

    ``texts`` are columns of documents, which are not equal by chance.
    """
    found = [arrow_column(table.column(name)) for name in columns]
    return copies_among(
        found, table.num_rows, never_by_chance=any(name in texts for name in columns)
    )


def copies_in(X: Any) -> Codes | None:
    """The same for what an estimator is given: a frame, an array, dense or sparse, or documents."""
    if is_sparse(X):
        return _sparse_copies(X)
    try:
        rows = np.asarray(X) if isinstance(X, np.ndarray | list) else None
    except ValueError:  # rows of unequal length, which the estimator refuses
        return None
    if rows is not None and rows.ndim == 2 and rows.dtype.kind in "fiub":
        return copies_among([number_column(rows[:, j]) for j in range(rows.shape[1])], len(rows))
    if rows is not None and rows.ndim == 1 and rows.dtype.kind in "OUT":
        words = np.unique(rows.astype(str), return_inverse=True)[1].astype(np.uint64)
        return copies_among([CellColumn(words)], len(rows), never_by_chance=True)
    if rows is not None and rows.ndim != 2:
        return None
    table = arrow_table_of(X)
    return copies_among([arrow_column(column) for column in table.columns], table.num_rows)


def copies_in_blocks(blocks: Blocks) -> Codes | None:
    """The same for rows in memory as a model stores them; None, too, where rows are read."""
    if not isinstance(blocks, ArrayBlocks):
        return None
    X = blocks.X.stored()
    if not isinstance(X, NumbersAndCodes):
        return copies_in(X)
    if is_sparse(X.numeric):
        return _sparse_copies(X.numeric, X.codes)
    return copies_in(np.column_stack([X.numeric, X.codes]))


def held_out_of_stream(
    features: Source, seed: int, fraction: float, *, texts: Sequence[str] = ()
) -> Array | None:
    """A bit for every row, 1 where it is held out, packed; None: the index decides for all.

    The same as in memory where all rows are compared.
    """
    import pyarrow as pa

    if not features.names:
        return None
    n_rows = features.n_rows  # None where a pass would tell
    n_rows = sum(batch.num_rows for batch in features) if n_rows is None else n_rows
    if not n_rows:
        return None
    share = min(1.0, SAMPLED_ROWS / n_rows, SAMPLED_BYTES / max(features.nbytes or 1, 1))
    sample = pa.Table.from_batches(sampled(features, share))
    units = copies_in_table(sample, features.names, texts=texts)
    if share >= 1:
        return None if units is None else np.packbits(split_mask(0, n_rows, seed, fraction, units))
    if units is None and np.unique(words_of_rows(sample)).size < sample.num_rows:
        return None
    counts = np.zeros(2**COUNTERS, dtype=np.uint8)
    for words in _words_of(features):
        place, times = np.unique(_counter(words), return_counts=True)
        counts[place] = np.minimum(counts[place] + np.minimum(times, 2), 2)
    held, n = np.empty(n_rows, dtype=bool), 0
    for words in _words_of(features):
        here = split_mask(n, words.size, seed, fraction)
        shared = counts[_counter(words)] > 1
        here[shared] = content_mask(words[shared], seed, fraction)
        held[n : n + words.size] = here
        n += words.size
    return np.packbits(held)


def words_of_rows(rows: "pa.Table | pa.RecordBatch") -> Array:
    """64 bits for each row of an Arrow table or batch, equal where all cells are."""
    total = np.zeros(rows.num_rows, dtype=np.uint64)
    for j, column in enumerate(rows.columns):
        total += mix(words_of_cells(column) * GOLDEN + keyed(0, j))
    return total


def _words_of(source: Source) -> Iterator[Array]:
    return (words_of_rows(batch) for batch in source)


def _counter(words: Array) -> Array:
    return mix(words) >> np.uint64(64 - COUNTERS)


def words_of_cells(column: "pa.Array | pa.ChunkedArray") -> Array:
    """As ``CellColumn.words``, but the same in every batch."""
    import pyarrow as pa

    column = decoded(column)
    if pa.types.is_null(column.type):
        return np.full(len(column), MISSING)
    if kind_of_arrow(column.type) in ("number", "boolean"):
        return number_column(floats_of_arrow(column)).words
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    try:
        encoded = whole.dictionary_encode()
        values, codes = encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1)
        codes = np.asarray(codes.to_numpy(zero_copy_only=False))
    except pa.ArrowNotImplementedError:  # lists and the like
        values, codes = whole.to_pylist(), np.arange(len(whole))
    digests = (blake2b(str(value).encode(), digest_size=8).digest() for value in values)
    words = np.frombuffer(b"".join(digests), dtype="<u8")
    return np.append(words, MISSING)[codes]  # −1 is the last


def joined_units(first: Codes, second: Codes) -> Codes:
    """Units of rows that share either code, directly or through other rows, from 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    one, other = (np.unique(each, return_inverse=True)[1] for each in (first, second))
    n = int(one.max()) + 1
    size = n + int(other.max()) + 1
    graph = coo_array((np.ones(one.size, dtype=np.int8), (one, n + other)), shape=(size, size))
    whole = connected_components(graph, directed=False)[1][:n][one]
    return np.asarray(np.unique(whole, return_inverse=True)[1], dtype=np.int64)


def arrow_column(column: Any) -> CellColumn:
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return CellColumn(np.full(len(column), MISSING))
    declared = pa.types.is_dictionary(column.type)  # to be categories
    column = decoded(column)
    if kind_of_arrow(column.type) in ("number", "boolean"):
        return number_column(floats_of_arrow(column))
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    try:
        encoded = whole.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    except pa.ArrowNotImplementedError:  # lists and the like, as Python writes them
        written = np.array([repr(value) for value in whole.to_pylist()], dtype=object)
        codes, encoded = np.unique(written.astype(str), return_inverse=True)[1], None
    prose = None
    if encoded is not None and not declared and kind_of_arrow(whole.type) == "category":
        texts, known = encoded.dictionary, np.asarray(codes) >= 0
        if has_many_values(len(texts), int(known.sum())) and is_prose(texts):
            prose = known
    return CellColumn(np.asarray(codes).astype(np.int64).view(np.uint64), prose=prose)


def number_column(values: Array) -> CellColumn:
    values = np.asarray(values, dtype=np.float64)
    words = np.where(np.isnan(values), MISSING, (values + 0.0).view(np.uint64))  # −0 becomes 0
    return CellColumn(words, lambda rows: np.asarray(values[rows]))


def copies_among(
    columns: Sequence[CellColumn], n: int, *, never_by_chance: bool = False
) -> Codes | None:
    """As ``copies_in_table``, of columns of words."""
    if not columns or n < 2:
        return None
    total = np.zeros(n, dtype=np.uint64)
    for each, key in zip(columns, keyed(0, np.arange(len(columns))), strict=True):
        total += mix(each.words * GOLDEN + key)
    _, first, unit, size = np.unique(
        total, return_index=True, return_inverse=True, return_counts=True
    )
    several = np.flatnonzero(size > 1)
    if not several.size:
        return None
    kept = np.ones(several.size, dtype=bool)
    if not never_by_chance:
        groups = _Groups(first[several], size[several], first, size, n)
        kept = groups.are_copies(columns)
    if not kept.any():
        return None
    together = np.zeros(size.size, dtype=bool)
    together[several[kept]] = True
    return np.where(together[unit], first[unit], np.arange(n))


class _Groups(NamedTuple):
    """Sets of equal rows, by their first row, in a table of so many different rows."""

    first: Codes  # (G,)
    size: Codes  # (G,)
    all_first: Codes  # (n_different,), single rows too
    all_size: Codes
    n: int

    @property
    def n_different(self) -> int:
        return len(self.all_first)

    def are_copies(self, columns: Sequence[CellColumn]) -> Array:
        """Which sets chance does not explain."""
        long = self._have_long_numbers(columns)
        repeated = self.n_different * MOST_REPEATED < self.n
        certain = np.zeros_like(long) if repeated else long
        if certain.all() or (self.n_different**2 <= self.n and not long.any()):
            return certain
        cells, n_cells = _different(columns, self.first)
        pairs = float((self.size * (self.size - 1.0)).sum())
        foretold = self._foretold(cells, self.all_first, self.all_size) @ self.all_size
        if pairs <= FORETOLD * foretold.max(initial=0.0):
            return certain
        explained = self._foretold(cells, self.first, self.size).sum(axis=0)
        all_pairs = pairs > EXPLAINED_PAIRS * float(self.size @ explained)
        if all_pairs or (self._equally_often and self.n_different < n_cells / 2):
            return np.ones_like(long)
        return certain | (EXPLAINED * explained < self.size - 1)

    @property
    def _equally_often(self) -> bool:
        """Whether one number of repeats is too frequent for a mixture of Poisson's."""
        cells = np.bincount(self.size, minlength=3).astype(np.float64)
        cells[1] = self.n_different - self.size.size
        k = int(cells[2:].argmax()) + 2
        fewer, more = cells[k - 1] + 1, (cells[k + 1] if k + 1 < cells.size else 0) + 1
        return bool(
            cells[k] >= FEWEST_EQUAL and cells[k] ** 2 > UNEVEN * (k + 1) / k * fewer * more
        )

    def _have_long_numbers(self, columns: Sequence[CellColumn]) -> Array:
        """Which sets have a fraction in a column where most have more than six digits, or prose.

        Such a column that renames a shorter one, as its logarithm does, does not count.
        """
        long = np.zeros(self.first.size, dtype=bool)
        shorter, found = [], []
        for column in columns:
            if column.numbers is not None:
                x = column.numbers(self.first)
                x = np.where(np.isfinite(x), x, 0.0)
                some, fraction = np.abs(x), x != np.rint(x)
                scale = 10.0 ** np.clip(5 - np.floor(np.log10(some + (some == 0))), -300, 300)
                far = np.abs(some - np.rint(some * scale) / scale) > LONG * some
                if fraction.any() and far[fraction].mean() > 0.5:
                    found.append((column, fraction))
                    continue
            shorter.append(column)
            if column.prose is not None:
                long |= column.prose[self.first]
        for column, fraction in found:
            if not any(self._renames(column, other) for other in shorter):
                long |= fraction
        return long

    def _renames(self, column: CellColumn, other: CellColumn) -> bool:
        """Whether columns that repeat among the different rows do so in the same rows."""
        one, two = (each.words[self.all_first] for each in (column, other))
        n_values = np.unique(one).size
        if not 1 < n_values <= one.size / 2 or n_values != np.unique(two).size:
            return False
        return np.unique(mix(one * GOLDEN + keyed(0, 0)) + two).size == n_values

    def _foretold(self, cells: Sequence[Array], first: Codes, size: Codes) -> Array:
        """How many equal rows the neighbours of each row by each column foretell, (d, rows)."""
        step = max(1, -(-self.n * len(cells) // MOST_CELLS))
        some = slice(None, None, step)  # of many rows, every so manieth
        total = np.zeros(self.n, dtype=np.uint64)
        for cell in cells:
            total += cell
        found = np.empty((len(cells), first.size))
        for j, cell in enumerate(cells):
            others = total - cell
            agreeing = step * _occurrences(others[some], others[first])
            share = step * _occurrences(cell[some], cell[first]) / self.n
            share = np.clip(share, 1 / self.n, 1 - 1 / self.n)
            found[j] = np.maximum(agreeing - size, 0.0) * share / (1 - share)
        return found


def _different(columns: Sequence[CellColumn], first: Codes) -> tuple[list[Array], float]:
    """The words of columns that vary among the sets without renamed versions of others, and the
    number of cells that their values there can form."""
    seen, n_cells = {}, 1.0
    for j, column in enumerate(columns):
        values, place, code = np.unique(column.words[first], return_index=True, return_inverse=True)
        named = place[code].tobytes()  # for each set, the first one with the same value
        if values.size > first.size / 2:  # as good as different in all sets: no renaming is seen
            named += bytes([j % 256, j // 256 % 256])
        if named not in seen:
            seen[named] = mix(column.words * GOLDEN + keyed(0, j))
            n_cells *= max(values.size, 1)
    return list(seen.values()), n_cells


def _occurrences(among: Array, wanted: Array) -> Array:
    """How often each word occurs."""
    words, place = np.unique(wanted, return_inverse=True)
    at = np.searchsorted(words, among)
    at = np.minimum(at, words.size - 1)
    hit = words[at] == among
    return np.bincount(at[hit], minlength=words.size)[place].astype(np.float64)


def _sparse_copies(X: Any, codes: Codes | None = None) -> Codes | None:
    """Equal rows that have several entries each, as documents have words; codes may be beside."""
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    words = number_column(rows.data).words
    entry = mix(mix(words * GOLDEN + keyed(1, rows.indices)))
    entry[rows.data == 0] = 0
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entry, dtype=np.uint64)])
    total = np.diff(before[rows.indptr])
    if codes is not None:
        beside = codes.astype(np.int64).view(np.uint64) * GOLDEN + keyed(
            2, np.arange(codes.shape[1])
        )
        total = total + mix(beside).sum(axis=1, dtype=np.uint64)
    _, first, unit, size = np.unique(
        total, return_index=True, return_inverse=True, return_counts=True
    )
    together = (size > 1) & (np.diff(rows.indptr)[first] >= FEWEST_ENTRIES)
    if not together.any():
        return None
    return np.where(together[unit], first[unit], np.arange(rows.shape[0]))
