"""Columns by which sealed rows are recognised, and how often other rows equal them by chance.

Cells are compared roughly: whole numbers as they are, others to four digits or to the decimals of
the table, text without case, and a number that is written as text is the number.  A column of a
table *agrees* with the seal's column of that name (without case, blanks and underscores) if a tenth
or more of its cells occur there.  Rows are compared in the columns that agree: in all of them; in
all but one or two of up to eight blocks of columns, so that any two changed columns leave a *band*
as it was; and in bands of a half or a quarter, of at least four columns.  Keys, whose cells are
nearly all different whole numbers or texts, identify rows and do not describe them: the customers
1 to 100 of two shops are not the same, so keys are not evidence.

Few and rough columns agree by chance too.  The rows of the seal show how often.  If K of the T
sealed rows equal no other row of the M of the seal, the others m_1, m_2, … rows, then a table of
n = r M other rows has by chance, of these K rows, the share

    S / (K + S),  S = Σ r^m_i,      r ≤ 1: as if a part r of the M rows were the table
    1 − (K / T)^r                   r > 1: at most

where two more equal rows are added than were counted.  A table contains sealed rows when a tenth
more than that is found, and so many have a binomial probability below 10⁻⁵.  Rows with copies are
counted once if the split kept copies on one side and the cells have so many digits or letters that
chance cannot explain them.  Nothing of this is stored: the features of the sealed rows are in the
seal.

References
----------
Good, The population frequencies of species and the estimation of population parameters, 1953.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.special import bdtrc, gammaln

from likely._typing import Array
from likely.sealing.fingerprints import (
    is_amount,
    is_detailed,
    joined,
    least_decimals,
    rough_words,
)
from likely.sealing.folder import FEATURES, TRAIN, SealFolder, column_names, read_parquet

if TYPE_CHECKING:
    import pyarrow as pa

    Piece: TypeAlias = pa.Table | pa.RecordBatch


ENOUGH = 0.1  # of the sealed rows; fewer may be coincidence
SOME = 0.1  # of a column's cells
SAMPLE = 2000  # rows of a table that say whether a column agrees
KEY = 0.9  # of the cells are different
MOST_COLUMNS = 64  # are compared; more do not help to identify a row
FEWEST_ALIKE = 3  # rows that are found only roughly are recorded
FEWEST_COLUMNS = 4  # that must agree, or half of the seal's if that is less
MOST_BANDS = 4  # so up to three changed columns of many leave one as it was
BLOCKS = 8  # of columns, of which one or two are left out
DOUBT = 2  # equal rows, more than were counted
IMPROBABLE = 1e-5  # as the probability of so many equal rows
FILTER = 16  # places of a filter for each fingerprint


def share_sealed_rows(one: SealFolder, other: SealFolder) -> bool:
    """Whether two seals have a tenth or more of the sealed rows of either in common.

    Rows are compared roughly, if at least half of the columns of each seal have names in the other.
    """
    names = [seal.features.column_names for seal in (one, other)]
    if 2 * len(matched_names(*names)) < max(len(columns) for columns in names):
        return False
    return _holds(one, other.features) or _holds(other, one.features)


def _holds(seal: SealFolder, rows: "pa.Table") -> bool:
    bands = bands_of(seal, rows)
    counts = [int(found.sum()) for found in found_in(rows, bands)]
    return any(
        n_found >= FEWEST_ALIKE and band.enough(n_found, rows.num_rows)
        for n_found, band in zip(counts, bands, strict=True)
    )


class SharedColumn(NamedTuple):
    """A column of a seal in a table."""

    name: str
    here: str  # its name in the table
    decimals: int | None  # of the table, where the seal has more

    def words(self, table: "Piece", name: str) -> Array:
        """One uint64 per row of the seal or the table, where the column has the given name."""
        return rough_words(table, name, key=self.name, decimals=self.decimals)


Block: TypeAlias = tuple[SharedColumn, ...]


class Band(NamedTuple):
    """Columns by which sealed rows are recognised."""

    blocks: tuple[Block, ...]
    known: Array  # sorted fingerprints of the sealed rows that no other row equals
    equals: Array | None  # for each other sealed row, how many equal it; None: none by chance
    n_rows: int = 0  # of the seal

    @classmethod
    def of(cls, blocks: tuple[Block, ...], sealed: Array, train: Array) -> Self:
        rows = np.sort(np.append(sealed, train))
        others = np.searchsorted(rows, sealed, "right") - np.searchsorted(rows, sealed) - 1
        return cls(blocks, np.sort(sealed[others == 0]), others[others > 0], rows.size)

    @property
    def columns(self) -> tuple[SharedColumn, ...]:
        return tuple(column for block in self.blocks for column in block)

    def by_chance(self, n_rows: int) -> float:
        """The share of the known rows that a table of so many others has."""
        if self.equals is None:
            return 0.0
        part, n_known = n_rows / self.n_rows, self.known.size
        if part < 1:
            twins = float(np.power(part, self.equals).sum()) + DOUBT * part
            return twins / (n_known + twins)
        return 1.0 - (n_known / (n_known + self.equals.size + DOUBT)) ** part

    def beyond_chance(self, n_found: int, n_rows: int) -> bool:
        """Whether so many of the known rows are improbable by chance."""
        share = self.by_chance(n_rows)
        return n_found > 0 and bdtrc(n_found - 1, self.known.size, share) < IMPROBABLE

    def enough(self, n_found: int, n_rows: int) -> bool:
        """Whether a tenth of the known rows was found, beyond those by chance."""
        least = (ENOUGH + self.by_chance(n_rows)) * self.known.size
        return n_found >= min(least, self.known.size) and self.beyond_chance(n_found, n_rows)


def same_counts_by_chance(rows: Array) -> float:
    """The probability that as many rows of the same source have each row as often.

    M! Π_x (c_x / M)^c_x / c_x!, where the row x is there c_x times.
    """
    counts = np.unique(rows, return_counts=True)[1].astype(np.float64)
    log_shares = counts @ np.log(counts / rows.size)
    return float(np.exp(log_shares + gammaln(rows.size + 1) - gammaln(counts + 1).sum()))


def matched_names(features: Sequence[str], here: Sequence[str]) -> dict[str, str]:
    """The names of a table for those of a seal: the same, or the same but for case and blanks.

    >>> matched_names(["Age", "home town"], ["Home_Town ", "age", "income"])
    {'Age': 'age', 'home town': 'Home_Town '}
    """
    same = set(features) & set(here)
    plain, theirs = _plain_names(set(features) - same), _plain_names(set(here) - same)
    found = {name: theirs[word] for word, name in plain.items() if word in theirs}
    return {name: found.get(name, name) for name in features if name in same or name in found}


def _plain_names(names: Iterable[str]) -> dict[str, str]:
    """Each name by its form without case, blanks, underscores and hyphens, if only one has it."""
    words: dict[str, list[str]] = {}
    for name in names:
        words.setdefault("".join(re.split(r"[\s_-]+", name.casefold())), []).append(name)
    return {word: same[0] for word, same in words.items() if len(same) == 1}


def bands_of(seal: SealFolder, piece: "Piece") -> tuple[Band, ...]:
    """The bands by the first piece of a table; none where too few columns agree."""
    features = column_names(seal.path / FEATURES)
    names = matched_names(features, piece.schema.names)
    shared = list(names)
    if not shared or not piece.num_rows:
        return ()
    shared = shared[:: -(-len(shared) // MOST_COLUMNS)]  # some from all over a wide table
    sealed = read_parquet(seal.path / FEATURES, shared)
    train = read_parquet(seal.path / TRAIN, shared)
    sample = piece.take(np.unique(np.linspace(0, piece.num_rows - 1, SAMPLE).astype(np.int64)))
    n_keys, words, detailed = 0, {}, []
    rows, n_sealed = np.zeros(sealed.num_rows + train.num_rows, dtype=np.uint64), sealed.num_rows
    for name in shared:
        cells = sample.column(names[name])
        column = SharedColumn(name, names[name], least_decimals(sealed.column(name), cells))
        inside = np.append(column.words(sealed, name), column.words(train, name))
        rows += inside
        if is_detailed(sealed.column(name)):
            detailed.append(inside)
        if _is_key(sealed.column(name), inside):
            n_keys += 1
        elif _agrees(column.words(sample, names[name]), inside):
            words[column] = inside
    least = max(min((len(features) - n_keys + 1) // 2, FEWEST_COLUMNS), 1)
    if len(words) < least:
        return ()
    kept = np.arange(rows.size)
    if are_copies(rows, n_sealed, detailed):
        kept = np.sort(np.unique(rows, return_index=True)[1])
    sums = {
        block: np.sum([words[column][kept] for column in block], axis=0)
        for block in _blocks(tuple(words))
    }
    n_left = int((kept < n_sealed).sum())
    return tuple(
        Band.of(blocks, rows[:n_left], rows[n_left:])
        for blocks in _banded(tuple(sums), least)
        for rows in [joined(sums[block] for block in blocks)]
    )


def are_copies(rows: Array, n_sealed: int, detailed: Iterable[Array]) -> bool:
    """Whether equal rows, of which the first are sealed, are copies and not equal by chance.

    They are if the split kept them on one side, and a column with many digits or letters has
    nearly as many different cells as there are different rows.
    """
    if marked(_different(rows[:n_sealed]), rows[n_sealed:]).any():
        return False
    once = np.unique(rows, return_index=True)[1]
    return any(_different(words[once]).size > KEY * once.size for words in detailed)


def found_in(piece: "Piece", bands: tuple[Band, ...]) -> list[Array]:
    """For each band, which of its known rows are in a piece, as Booleans."""
    sums = {
        block: np.sum([column.words(piece, column.here) for column in block], axis=0)
        for block in {block for band in bands for block in band.blocks}
    }
    return [marked(band.known, joined(sums[block] for block in band.blocks)) for band in bands]


def marked(known: Array, here: Array) -> Array:
    """Which of the sorted fingerprints are here, as Booleans."""
    found = np.zeros(known.size, dtype=bool)
    if not known.size:
        return found
    n_bits = (FILTER * known.size).bit_length()
    maybe = np.zeros(1 << n_bits, dtype=bool)  # a look into it is ten times as fast as a search
    low = np.uint64((1 << n_bits) - 1)
    maybe[known & low] = True
    here = here[maybe[here & low]]
    place = np.minimum(np.searchsorted(known, here), known.size - 1)
    found[place[known[place] == here]] = True
    return found


def _blocks(columns: tuple[SharedColumn, ...]) -> list[tuple[SharedColumn, ...]]:
    """Up to eight blocks of columns."""
    n = min(len(columns), BLOCKS)
    return [columns[start::n] for start in range(n)]


def _banded(blocks: tuple[Block, ...], least: int) -> list[tuple[Block, ...]]:
    """All blocks; all but one and but two; each second or fourth where enough columns are left."""
    n_columns = sum(len(block) for block in blocks)
    n = 2 * (n_columns >= 2 * FEWEST_COLUMNS) + 2 * (n_columns >= 4 * FEWEST_COLUMNS)
    bands = [blocks, *(blocks[start::n] for start in range(n))]
    for n_left in range(len(blocks) - 1, max(len(blocks) - 3, 0), -1):
        bands += combinations(blocks, n_left)
    return [band for band in bands if sum(len(block) for block in band) >= least]


def _is_key(column: "pa.ChunkedArray", words: Array) -> bool:
    return not is_amount(column) and _different(words).size > KEY * words.size


def _agrees(here: Array, inside: Array) -> bool:
    cells = _different(here)
    return bool(marked(cells, inside).sum() >= max(SOME * cells.size, 1))


def _different(words: Array) -> Array:
    """Sorted, each once; ``numpy.unique`` takes ten times as long for a million numbers."""
    words = np.sort(words)
    return words[np.append(True, words[1:] != words[:-1])] if words.size else words
