"""Recognition of sealed rows in other tables, by their fingerprints.

A sealed row has a fingerprint unless a training row equals it in all features, because the two
are then indistinguishable.  A table contains a seal's rows when it has the columns of the seal and
a tenth or more of the fingerprinted rows; or when it has rows *like* them, with columns left out,
other types or rounded numbers.

Cells are then compared roughly: whole numbers as they are, others to four digits, and a number that
is written as text is the number.  A column of a table *agrees* with the seal's column of that
name if a tenth or more of its cells occur there; rows are compared in the columns that agree, in
all of them and in bands of at least four, so that a changed column affects one band only.  Keys,
whose cells are nearly all different whole numbers or texts, identify rows and do not describe them:
the customers 1 to 100 of two shops are not the same, so keys are not evidence.

Few and rough columns agree by chance too.  The training part shows how often:

    by chance = (sealed rows that a training row equals + 1) / (sealed rows + 1) · n / n_train

of a table of n rows.  A table contains sealed rows when a tenth more than that is found.  Nothing
of this is stored: the features of the sealed rows are in the seal.

Fewer rows, if they are more than chance explains, are recorded in the ledger (*seen*), so that a
test set cannot be used in slices: together they must be less than a tenth.  The same rows count
once.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from likely._typing import Array
from likely.errors import BrokenLedger, CannotWrite, SealedRows, SomeSealedRows, warn_user
from likely.files import lock
from likely.formatting import all_listed
from likely.sealing.fingerprints import is_amount, joined, rough_words, row_fingerprints
from likely.sealing.folder import FEATURES, TRAIN, SealFolder, column_names, read_parquet
from likely.sealing.ledger_text import used_in_words

if TYPE_CHECKING:
    import pyarrow as pa

    Piece: TypeAlias = pa.Table | pa.RecordBatch


TABLE = "the table"  # what has no name
SCORE = "score"  # doing: a score of a model that is there
ENOUGH = 0.1  # of the sealed rows; fewer may be coincidence
SOME = 0.1  # of a column's cells
SAMPLE = 2000  # rows of a table that say whether a column agrees
KEY = 0.9  # of the cells are different
MOST_COLUMNS = 64  # are compared; more do not help to identify a row
FEWEST_ALIKE = 3  # rows that are found only roughly are recorded
FEWEST_COLUMNS = 4  # that must agree, or half of the seal's if that is less
MOST_BANDS = 4  # so up to three changed columns of many leave one as it was


class FoundRows(NamedTuple):
    """A seal, and how many of its sealed rows a table holds."""

    seal: SealFolder
    n_found: int
    n_sealed: int
    which: str = ""  # a hash of the rows that were found

    def __str__(self) -> str:
        name, n_test = self.seal.path.name, self.seal.manifest.n_test
        rows = f"{self.n_found:,} of the {n_test:,} sealed rows"
        if self.n_sealed < n_test:  # repeated rows count once, rows as in training not at all
            known = f"{self.n_sealed:,} that can be recognised"
            rows = f"{self.n_found:,} of {known}, of the {n_test:,} sealed rows"
            if self.n_found == self.n_sealed:
                rows = f"all of the {known}, of the {n_test:,} sealed rows"
        return f"{rows} of {name} ({evaluations_used(self.seal)})"


def sealed_fingerprints(sealed: "pa.Table", train: "pa.Table", salt: str) -> Array:
    """Sorted fingerprints of the sealed rows that no training row equals."""
    columns = sealed.column_names
    return np.setdiff1d(
        row_fingerprints(sealed, columns, salt), row_fingerprints(train, columns, salt)
    )


def holds_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]", seals: Sequence[SealFolder]
) -> tuple[FoundRows, ...]:
    """The seals of which the table, or the batches of a source, hold a tenth or more."""
    found = (search.held() for search in _searched(table, seals))
    return tuple(held for held in found if held is not None)


def _searched(
    table: "pa.Table | Iterable[pa.RecordBatch]", seals: Sequence[SealFolder]
) -> "list[_RowSearch]":
    """The searches for the rows of each seal, after one pass over the table."""
    import pyarrow as pa

    pieces: Any = [table] if isinstance(table, pa.Table) else table
    searches = [_RowSearch(seal) for seal in seals]
    for piece in pieces:
        for search in searches:
            search.look(piece)
    return searches


class _RowSearch:
    """The search for one seal's rows in a table that is read in pieces."""

    def __init__(self, seal: SealFolder) -> None:
        self.seal = seal
        self.features = column_names(seal.path / FEATURES)
        self.known = seal.fingerprints()
        self.found = np.zeros(self.known.size, dtype=bool)  # exactly, so far
        self.bands: tuple[Band, ...] = ()
        self.alike: list[Array] = []  # roughly, so far, for each band
        self.n_rows = 0
        self.n_looked = 0  # rows that were compared roughly

    def look(self, piece: Any) -> None:
        self.n_rows += piece.num_rows
        if set(piece.schema.names).issuperset(self.features):
            here = row_fingerprints(piece, self.features, self.seal.manifest.salt)
            self.found |= marked(self.known, here)
        if self.enough:
            return  # no need to look more closely
        if not self.n_looked:
            self.bands = bands_of(self.seal, piece)
            self.alike = [np.zeros(band.known.size, dtype=bool) for band in self.bands]
        self.n_looked += piece.num_rows
        found = found_in(piece, self.bands)
        self.alike = [one | more for one, more in zip(self.alike, found, strict=True)]

    @property
    def enough(self) -> bool:
        return bool(self.found.sum() >= ENOUGH * self.known.size > 0)

    def held(self) -> FoundRows | None:
        if self.enough:
            return FoundRows(self.seal, int(self.found.sum()), self.known.size)
        for band, alike in zip(self.bands, self.alike, strict=True):
            if band.enough(int(alike.sum()), self.n_looked):
                return FoundRows(self.seal, int(alike.sum()), band.known.size)
        return None

    def some(self) -> FoundRows | None:
        """Rows that are fewer than a tenth, and more than chance explains."""
        n_test, n_train = self.seal.manifest.n_test, self.seal.manifest.n_train
        share = (n_test - self.known.size + 1) / (n_test + 1)  # as in Band.of
        expected = share / max(n_train, 1) * self.n_rows * self.known.size
        if beyond_chance(int(self.found.sum()), expected):
            return self._found_rows(self.found)
        for band, alike in zip(self.bands, self.alike, strict=True):
            expected = band.by_chance * self.n_looked * band.known.size
            if alike.sum() >= FEWEST_ALIKE and beyond_chance(int(alike.sum()), expected):
                return self._found_rows(alike)
        return None

    def _found_rows(self, found: Array) -> FoundRows:
        which = sha256(np.packbits(found).tobytes()).hexdigest()[:16]
        return FoundRows(self.seal, int(found.sum()), found.size, which)


def beyond_chance(n_found: int, expected: float) -> bool:
    """Whether a count is more than three standard deviations above its Poisson mean."""
    return n_found > expected + 3 * expected**0.5


def refuse_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]",
    seals: Sequence[SealFolder],
    *,
    label: str,
    doing: str,
) -> None:
    """Before a fit or a score: sealed rows are refused, and the ledger records it.

    Fewer than a tenth are recorded, until all that were used so make a tenth.
    """
    searches = _searched(table, seals)
    held = [found for search in searches if (found := search.held()) is not None]
    few = [found for search in searches if (found := search.some()) is not None]
    if not held:
        held = [found for found in few if not _recorded_as_seen(found, label, doing)]
    if not held:
        return
    for one in held:
        with suppress(BrokenLedger, CannotWrite):  # refused all the same
            log_event(one.seal, "refused", {"command": doing, "data": label, "rows": one.n_found})
    raise SealedRows(_refusal(held, label, doing), held[0].seal.path, scoring=doing == SCORE)


def _recorded_as_seen(found: FoundRows, label: str, doing: str) -> bool:
    """Record a few sealed rows; False if they are a tenth, together with those before.

    A score on rows that cannot be recorded is refused too.
    """
    seal = found.seal
    try:
        with lock(seal.path):
            seen = {
                e["which"]: int(e["rows"]) for e in seal.ledger.entries() if e["event"] == "seen"
            }
            total = sum({**seen, found.which: found.n_found}.values())
            if total >= ENOUGH * found.n_sealed:
                return False
            if found.which not in seen:
                facts = {"command": doing, "data": label, "rows": found.n_found}
                seal.ledger.add("seen", {**facts, "which": found.which})
    except (BrokenLedger, CannotWrite):
        return doing != SCORE
    warn_user(
        f"{_started(label)} holds {found}; this is recorded in the ledger. All uses together may "
        f"hold up to a tenth of them: so far {total:,}.",
        SomeSealedRows,
    )
    return True


def _started(label: str) -> str:
    return label.capitalize() if label == TABLE else label


def _refusal(held: Sequence[FoundRows], label: str, doing: str) -> str:
    holds = f"{_started(label)} holds {all_listed(held)}"
    if any(one.which for one in held):
        holds += ", with those of earlier commands a tenth or more"
    if doing == SCORE:
        return (
            f"{holds}; a score on them is an evaluation, and likely final counts it. Choose by "
            "cross-validation on the training rows, and at the end use likely final."
        )
    names = all_listed([one.seal.path.name for one in held], "or")
    gives = (
        "it contains only the training rows"
        if len(held) == 1
        else "each gives the rows it has not sealed"
    )
    return (
        f"{holds}; a model that has seen them cannot be scored on them. Use {names} in place of "
        f"{label}: {gives}."
    )


def log_prediction(
    table: "pa.Table | Iterable[pa.RecordBatch]", seals: Sequence[SealFolder], *, label: str
) -> tuple[FoundRows, ...]:
    """Record predictions for sealed rows, also for a few, in the ledger of each seal."""
    found = (search.held() or search.some() for search in _searched(table, seals))
    held = tuple(one for one in found if one is not None)
    for one in held:
        with suppress(BrokenLedger):  # that shows by itself
            log_event(one.seal, "predict", {"data": label, "rows": one.n_found})
    return held


def log_event(seal: SealFolder, event: str, facts: dict[str, Any]) -> None:
    """One more line in a seal's ledger."""
    with lock(seal.path):
        seal.ledger.add(event, facts)


def evaluations_used(seal: SealFolder) -> str:
    """The evaluations that were used and the budget, in words."""
    try:
        return used_in_words(seal.evaluations(), seal.manifest.budget)
    except BrokenLedger:
        return "its ledger is broken"


def share_sealed_rows(one: SealFolder, other: SealFolder) -> bool:
    """Whether two seals have a tenth or more of the sealed rows of either in common.

    Rows are compared roughly, in all columns of the same name that are no keys: at least half of
    the columns of each seal, or none are compared.
    """
    their_names = set(other.features.column_names)
    shared = [name for name in one.features.column_names if name in their_names]
    if 2 * len(shared) < max(one.features.num_columns, other.features.num_columns):
        return False
    words = {}
    for name in shared:
        cells = [rough_words(table, name) for table in (one.train, one.features)]
        if not _is_key(one.features.column(name), np.concatenate(cells)):
            words[name] = cells
    if not words:
        return False
    train, sealed = (joined(cells[k] for cells in words.values()) for k in (0, 1))
    their_train, theirs = (
        joined(rough_words(table, name) for name in words)
        for table in (other.train, other.features)
    )
    columns = tuple(words)
    return _holds(Band.of(columns, sealed, train), theirs) or _holds(
        Band.of(columns, theirs, their_train), sealed
    )


def _holds(band: "Band", here: Array) -> bool:
    n_found, expected = int(marked(band.known, here).sum()), band.by_chance * here.size
    if n_found < FEWEST_ALIKE or not band.enough(n_found, here.size):
        return False
    return beyond_chance(n_found, expected * band.known.size)


class Band(NamedTuple):
    """Columns by which sealed rows are recognised."""

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
    """The bands by the first piece of a table; none where too few columns agree."""
    features = column_names(seal.path / FEATURES)
    here = set(piece.schema.names)
    shared = [name for name in features if name in here]
    if not shared or not piece.num_rows:
        return ()
    shared = shared[:: -(-len(shared) // MOST_COLUMNS)]  # some from all over a wide table
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
    """Sorted, each once; ``numpy.unique`` takes ten times as long for a million numbers."""
    words = np.sort(words)
    return words[np.append(True, words[1:] != words[:-1])] if words.size else words
