"""Recognition of sealed rows in other tables, by their fingerprints.

A sealed row has a fingerprint unless a training row equals it in all features, because the two
are then indistinguishable.  A table contains a seal's rows when it has the columns of the seal and
a tenth or more of the fingerprinted rows; or when it has rows *like* them, with columns left out or
changed, other types or rounded numbers.  ``bands`` says how.

Fewer rows, if they are more than chance explains, are recorded in the ledger (*seen*), so that a
test set cannot be used in slices: together they must be less than a tenth.  The same rows count
once.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import BrokenLedger, CannotWrite, SealedRows, SomeSealedRows, warn_user
from likely.output.control_characters import printable
from likely.output.formatting import all_listed
from likely.sealing.bands import (
    ENOUGH,
    FEWEST_ALIKE,
    IMPROBABLE,
    Band,
    are_copies,
    bands_of,
    found_in,
    marked,
    same_counts_by_chance,
)
from likely.sealing.fingerprints import is_detailed, rough_words, row_fingerprints
from likely.sealing.folder import FEATURES, SealFolder, column_names
from likely.sealing.ledger import used_in_words
from likely.storage.files import lock

if TYPE_CHECKING:
    import pyarrow as pa


TABLE = "the table"  # what has no name
SCORE = "score"  # doing: a score of a model that is there


class FoundRows(NamedTuple):
    """A seal, and how many of its sealed rows a table holds."""

    seal: SealFolder
    n_found: int
    n_sealed: int
    which: str = ""  # a hash of the rows that were found

    def __str__(self) -> str:
        name, n_test = printable(self.seal.path.name), self.seal.manifest.n_test
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
        self.total = np.uint64(0)  # of the fingerprints, so far
        self.bands: tuple[Band, ...] = ()
        self.alike: list[Array] = []  # roughly, so far, for each band
        self.n_rows = 0
        self.n_looked = 0  # rows that were compared roughly

    def look(self, piece: Any) -> None:
        self.n_rows += piece.num_rows
        if set(piece.schema.names).issuperset(self.features):
            here = row_fingerprints(piece, self.features, self.seal.manifest.salt)
            self.found |= marked(self.known, here)
            self.total += here.sum()
        if self.enough:
            return  # no need to look more closely
        if not self.n_looked:
            self.bands = bands_of(self.seal, piece)
            self.alike = [np.zeros(band.known.size, dtype=bool) for band in self.bands]
        self.n_looked += piece.num_rows
        found = found_in(piece, self.bands)
        self.alike = [one | more for one, more in zip(self.alike, found, strict=True)]

    @cached_property
    def rows(self) -> Array:
        """The fingerprints of all rows of the seal, the sealed ones first."""
        salt, tables = self.seal.manifest.salt, (self.seal.features, self.seal.train)
        return np.concatenate([row_fingerprints(table, self.features, salt) for table in tables])

    @property
    def whole(self) -> bool:
        """Whether the table has all rows of the seal, each as often, which is no chance."""
        if self.n_rows != self.seal.manifest.n_train + self.seal.manifest.n_test:
            return False
        return self.total == self.rows.sum() and same_counts_by_chance(self.rows) < IMPROBABLE

    @cached_property
    def exact(self) -> Band:
        """All columns, exactly.

        Amounts with many digits and long texts, nearly all different, are not equal by chance:
        their copies are kept on one side.
        """
        tables, rows = (self.seal.features, self.seal.train), self.rows
        n_sealed = tables[0].num_rows
        detailed = (
            np.append(*(rough_words(table, name) for table in tables))
            for name in self.features
            if is_detailed(tables[0].column(name))
        )
        if are_copies(rows, n_sealed, detailed):
            return Band((), self.known, None)
        return Band.of((), rows[:n_sealed], rows[n_sealed:])

    @property
    def n_exact(self) -> int:
        """How many rows were found that no row of the seal equals by chance."""
        if not self.found.any():
            return 0
        return int((self.found & marked(self.known, self.exact.known)).sum())

    @property
    def enough(self) -> bool:
        if not self.found.sum() >= ENOUGH * self.known.size > 0:
            return False
        return self.exact.enough(self.n_exact, self.n_rows)

    def held(self) -> FoundRows | None:
        if self.enough:
            return FoundRows(self.seal, int(self.found.sum()), self.known.size)
        alike = self._most_alike(Band.enough)
        if alike is not None:
            return FoundRows(self.seal, int(alike.sum()), alike.size)
        n_test = self.seal.manifest.n_test
        return FoundRows(self.seal, n_test, n_test) if self.whole else None

    def some(self) -> FoundRows | None:
        """Rows that are fewer than a tenth, and more than chance explains."""
        if self.found.any() and self.exact.beyond_chance(self.n_exact, self.n_rows):
            return self._found_rows(self.found)
        alike = self._most_alike(Band.beyond_chance)
        return None if alike is None else self._found_rows(alike)

    def _most_alike(self, is_evidence: Callable[[Band, int, int], bool]) -> Array | None:
        """The rows that were found roughly in the band with most of them, of those that count."""
        counted = [
            alike
            for band, alike in zip(self.bands, self.alike, strict=True)
            if alike.sum() >= FEWEST_ALIKE and is_evidence(band, int(alike.sum()), self.n_looked)
        ]
        return max(counted, key=np.sum, default=None)

    def _found_rows(self, found: Array) -> FoundRows:
        which = sha256(np.packbits(found).tobytes()).hexdigest()[:16]
        return FoundRows(self.seal, int(found.sum()), found.size, which)


def refuse_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]",
    seals: Sequence[SealFolder],
    *,
    label: str,
    doing: str,
    target: str | None = None,
) -> None:
    """Before a fit or a score: sealed rows are refused, and the ledger records it.

    Fewer than a tenth are recorded, until all that were used so make a tenth.  ``target`` is the
    column to predict; a table that was sealed with another is sealed again.
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
    scoring, same = doing == SCORE, [o for o in held if o.seal.manifest.target == target]
    held, other = (held, None) if scoring else (same or held, None if same else target)
    message = _refusal(held, label, doing, other)
    raise SealedRows(message, held[0].seal.path, scoring=scoring, other=other)


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


def _refusal(held: Sequence[FoundRows], label: str, doing: str, other_target: str | None) -> str:
    holds = f"{_started(label)} holds {all_listed(held)}"
    if any(one.which for one in held):
        holds += ", with those of earlier commands a tenth or more"
    if doing == SCORE:
        return (
            f"{holds}; a score on them is an evaluation, and likely final counts it. Choose by "
            "cross-validation on the training rows, and at the end use likely final."
        )
    names = all_listed([printable(one.seal.path.name) for one in held], "or")
    if other_target is not None:
        return (
            f"{holds}; a model that has seen them cannot be scored on them. {names} was sealed to "
            f"predict {held[0].seal.manifest.target!r}; seal {label} again to predict "
            f"{other_target!r}."
        )
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
