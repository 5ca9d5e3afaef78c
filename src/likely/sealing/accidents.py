"""Sealed rows in other places: found by their fingerprints, before they do harm.

A sealed row has a fingerprint unless a training row equals it in all features, for then the two
cannot be told apart.  A table holds a seal's rows when it has the columns of the seal and a tenth
or more of the fingerprinted rows.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import BrokenLedger, CannotWrite, HonestyRefusal
from likely.files import lock
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.folder import FEATURES, SealFolder

if TYPE_CHECKING:
    import pyarrow as pa

ENOUGH = 0.1  # of the sealed rows; fewer may be coincidence


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

    batches: Any = [table] if isinstance(table, pa.Table) else table
    found: list[Array] = [np.zeros(0, dtype=np.uint64) for _ in seals]
    columns = [_features(seal) for seal in seals]
    known = [seal.fingerprints() for seal in seals]
    for batch in batches:
        names = set(batch.schema.names)
        for i, seal in enumerate(seals):
            if names.issuperset(columns[i]):
                here = row_fingerprints(batch, columns[i], seal.manifest.salt)
                found[i] = np.union1d(found[i], np.intersect1d(here, known[i]))
    held = (
        Held(seal, len(rows), len(all_rows))
        for seal, rows, all_rows in zip(seals, found, known, strict=True)
    )
    return tuple(one for one in held if one.n_sealed and one.n_found >= ENOUGH * one.n_sealed)


def refuse_sealed_rows(
    table: "pa.Table | Iterable[pa.RecordBatch]",
    seals: Sequence[SealFolder],
    *,
    label: str,
    doing: str,
) -> None:
    """Before a fit: rows that are sealed are refused, and each seal remembers it."""
    held = holds_sealed_rows(table, seals)
    if not held:
        return
    for one in held:
        with suppress(BrokenLedger, CannotWrite):  # refused all the same
            log_event(one.seal, "refused", {"doing": doing, "data": label, "rows": one.n_found})
    names = ", ".join(one.seal.path.name for one in held)
    raise HonestyRefusal(
        f"{label} holds {'; '.join(str(one) for one in held)}; a model that has seen them cannot "
        f"be scored on them. Use {names} in place of {label}: it gives the other rows."
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


def _features(seal: SealFolder) -> list[str]:
    from pyarrow.parquet import read_schema

    return list(read_schema(seal.path / FEATURES).names)
