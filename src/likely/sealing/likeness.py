"""Sealed rows that were changed on the way: columns left out, other types, numbers rounded.

Cells are compared *roughly*: whole numbers as they are, others to four digits, and a number that
is written as text is the number.  A column of a table *agrees* with the seal's column of that
name if a tenth or more of its cells occur there; rows are compared in the columns that agree, in
all of them and in bands of at least four, so that a changed column spoils one band only.  Keys,
whose cells are nearly all different whole numbers or texts, name rows and do not describe them:
the customers 1 to 100 of two shops are not the same, so keys are no evidence.

Few and rough columns agree by chance too.  How often, the training part tells:

    by chance = (sealed rows that a training row equals + 1) / (sealed rows + 1) · n / n_train

of a table of n rows.  A table holds sealed rows when a tenth more than that is found.  Nothing of
this is stored: the features of the sealed rows are in the seal.
"""

from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

import numpy as np

from likely._typing import Array
from likely.sealing.fingerprints import is_amount, joined, rough_words
from likely.sealing.folder import FEATURES, TRAIN, SealFolder, column_names, read_parquet

if TYPE_CHECKING:
    import pyarrow as pa

    Piece: TypeAlias = pa.Table | pa.RecordBatch

ENOUGH = 0.1  # of the sealed rows; fewer may be coincidence
SOME = 0.1  # of a column's cells
SAMPLE = 2000  # rows of a table that say whether a column agrees
KEY = 0.9  # of the cells are different
MOST_COLUMNS = 64  # are compared; more tell nothing more about which row it is
FEWEST_COLUMNS = 4  # that must agree, or half of the seal's if that is less
MOST_BANDS = 4  # so up to three changed columns of many leave one as it was


class Band(NamedTuple):
    """Columns by which sealed rows are known."""

    columns: tuple[str, ...]
    known: Array  # sorted fingerprints of the sealed rows that no training row equals
    by_chance: float  # share of them, for each row of a table

    @classmethod
    def of(cls, columns: tuple[str, ...], sealed: Array, train: Array) -> Self:
        different = _different(sealed)
        twins = marked(different, train)
        share = (int(twins.sum()) + 1) / (different.size + 1)
        return cls(columns, different[~twins], share / max(train.size, 1))

    def enough(self, n_found: int, n_rows: int) -> bool:
        return n_found >= (ENOUGH + self.by_chance * n_rows) * self.known.size > 0


def bands_of(seal: SealFolder, piece: "Piece") -> tuple[Band, ...]:
    """By the first piece of a table; none where too few columns agree to tell rows apart."""
    features = column_names(seal.path / FEATURES)
    shared = _some([name for name in features if name in set(piece.schema.names)])
    if not shared or not piece.num_rows:
        return ()
    sealed = read_parquet(seal.path / FEATURES, shared)
    train = read_parquet(seal.path / TRAIN, shared)
    sample = piece.take(np.unique(np.linspace(0, piece.num_rows - 1, SAMPLE).astype(np.int64)))
    n_keys, words = 0, {}
    for name in shared:
        inside = np.append(rough_words(train, name), rough_words(sealed, name))
        if _is_key(sealed.column(name), inside):
            n_keys += 1
        elif _agrees(rough_words(sample, name), inside):
            words[name] = inside
    if len(words) < max(min((len(features) - n_keys + 1) // 2, FEWEST_COLUMNS), 1):
        return ()
    return tuple(
        Band.of(columns, rows[train.num_rows :], rows[: train.num_rows])
        for columns in _banded(tuple(words))
        for rows in [joined(words[name] for name in columns)]
    )


def found_in(piece: "Piece", bands: tuple[Band, ...]) -> list[Array]:
    """For each band, which of its known rows are in a piece, as Booleans."""
    words = {name: rough_words(piece, name) for band in bands for name in band.columns}
    return [marked(band.known, joined(words[name] for name in band.columns)) for band in bands]


def marked(known: Array, here: Array) -> Array:
    """Which of the sorted fingerprints are here, as Booleans."""
    found = np.zeros(known.size, dtype=bool)
    if known.size:
        place = np.minimum(np.searchsorted(known, here), known.size - 1)
        found[place[known[place] == here]] = True
    return found


def _some(names: list[str]) -> list[str]:
    """Of very many columns, some from all over the table."""
    return names[:: -(-len(names) // MOST_COLUMNS)] if names else names


def _banded(columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All columns, and every second, third or fourth where four and more are left."""
    n = min(len(columns) // FEWEST_COLUMNS, MOST_BANDS)
    return [columns, *(columns[start::n] for start in range(n) if n > 1)]


def _is_key(column: "pa.ChunkedArray", words: Array) -> bool:
    return not is_amount(column) and _different(words).size > KEY * words.size


def _agrees(here: Array, inside: Array) -> bool:
    cells = _different(here)
    return bool(marked(cells, inside).sum() >= max(SOME * cells.size, 1))


def _different(words: Array) -> Array:
    """Sorted, each once; ``numpy.unique`` takes ten times as long for a million words."""
    words = np.sort(words)
    return words[np.append(True, words[1:] != words[:-1])] if words.size else words
