"""Sealed rows in other places: found by their fingerprints, before they do harm.

A sealed row has a fingerprint unless a training row equals it in all features, for then the two
cannot be told apart.  A table holds a seal's rows when it has the columns of the seal and a tenth
or more of the fingerprinted rows; or, with columns missing or changed, when ``likeness`` finds
them.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import BrokenLedger, CannotWrite, SealedRows
from likely.files import lock
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.folder import FEATURES, SealFolder, column_names
from likely.sealing.likeness import ENOUGH, Band, bands_of, found_in, marked

if TYPE_CHECKING:
    import pyarrow as pa


TABLE = "the table"  # what has no name
SCORE = "score"  # doing: a score of a model that is there


class Held(NamedTuple):
    """A seal, and how many of its sealed rows a table holds."""

    seal: SealFolder
    n_found: int
    n_sealed: int

    def __str__(self) -> str:
        name, manifest = self.seal.path.name, self.seal.manifest
        return (
            f"{self.n_found:,} of the {manifest.n_test:,} sealed rows of {name} "
            f"({said_looks(self.seal)})"
        )


def sealed_fingerprints(sealed: "pa.Table", train: "pa.Table", salt: str) -> Array:
    """Sorted fingerprints of the sealed rows that no training row equals."""
    columns = sealed.column_names
    return np.setdiff1d(
        row_fingerprints(sealed, columns, salt), row_fingerprints(train, columns, salt)
    )


def holds_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]", seals: Sequence[SealFolder]
) -> tuple[Held, ...]:
    """The seals of which the table, or the batches of a source, hold a tenth or more."""
    import pyarrow as pa

    pieces: Any = [table] if isinstance(table, pa.Table) else table
    searches = [_Search(seal) for seal in seals]
    for piece in pieces:
        for search in searches:
            search.look(piece)
    return tuple(held for search in searches if (held := search.held()) is not None)


class _Search:
    """One seal's rows in a table that comes in pieces."""

    def __init__(self, seal: SealFolder) -> None:
        self.seal = seal
        self.features = column_names(seal.path / FEATURES)
        self.known = seal.fingerprints()
        self.found = np.zeros(self.known.size, dtype=bool)  # exactly, so far
        self.bands: tuple[Band, ...] = ()
        self.alike: list[Array] = []  # roughly, so far, for each band
        self.n_rows = 0

    def look(self, piece: Any) -> None:
        if set(piece.schema.names).issuperset(self.features):
            here = row_fingerprints(piece, self.features, self.seal.manifest.salt)
            self.found |= marked(self.known, here)
        if self.enough:
            return  # no need to look more closely
        if not self.n_rows:
            self.bands = bands_of(self.seal, piece)
            self.alike = [np.zeros(band.known.size, dtype=bool) for band in self.bands]
        self.n_rows += piece.num_rows
        found = found_in(piece, self.bands)
        self.alike = [one | more for one, more in zip(self.alike, found, strict=True)]

    @property
    def enough(self) -> bool:
        return bool(self.found.sum() >= ENOUGH * self.known.size > 0)

    def held(self) -> Held | None:
        if self.enough:
            return Held(self.seal, int(self.found.sum()), self.known.size)
        for band, alike in zip(self.bands, self.alike, strict=True):
            if band.enough(int(alike.sum()), self.n_rows):
                return Held(self.seal, int(alike.sum()), band.known.size)
        return None


def refuse_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]",
    seals: Sequence[SealFolder],
    *,
    label: str,
    doing: str,
) -> None:
    """Before a fit or a score: sealed rows are refused, and each seal remembers it."""
    held = holds_sealed_rows(table, seals)
    if not held:
        return
    for one in held:
        with suppress(BrokenLedger, CannotWrite):  # refused all the same
            log_event(one.seal, "refused", {"doing": doing, "data": label, "rows": one.n_found})
    raise SealedRows(_refusal(held, label, doing), held[0].seal.path, scoring=doing == SCORE)


def _refusal(held: Sequence[Held], label: str, doing: str) -> str:
    start = label.capitalize() if label == TABLE else label
    holds = f"{start} holds {' and '.join(str(one) for one in held)}"
    if doing == SCORE:
        return (
            f"{holds}; a score on them is a look, and likely final counts it. Choose by "
            "cross-validation on the training rows, and at the end use likely final."
        )
    names = " or ".join(one.seal.path.name for one in held)
    gives = "it gives the other rows" if len(held) == 1 else "each gives the rows it has not sealed"
    return (
        f"{holds}; a model that has seen them cannot be scored on them. Use {names} in place of "
        f"{label}: {gives}."
    )


def log_prediction(
    table: "pa.Table | Iterable[pa.RecordBatch]", seals: Sequence[SealFolder], *, label: str
) -> tuple[Held, ...]:
    """Predictions for sealed rows go on, and each seal remembers them."""
    held = holds_sealed_rows(table, seals)
    for one in held:
        with suppress(BrokenLedger):  # that shows by itself
            log_event(one.seal, "predict", {"data": label, "rows": one.n_found})
    return held


def log_event(seal: SealFolder, event: str, facts: dict[str, Any]) -> None:
    """One more line in a seal's ledger."""
    with lock(seal.path):
        seal.ledger.add(event, facts)


def said_looks(seal: SealFolder) -> str:
    """Looks and budget in words."""
    try:
        looks = seal.looks()
    except BrokenLedger:
        return "its ledger is broken"
    return f"{looks} look{'' if looks == 1 else 's'} of {seal.manifest.budget} used"
