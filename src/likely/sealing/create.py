"""Sealing: split once, write the folder, start the ledger.

The folder is filled under another name and renamed at the end, so a seal is never incomplete.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely.data.arrow import decoded, refuse_infinities, refuse_twins
from likely.data.labels import are_names, refuse_names
from likely.errors import InvalidInput, UnknownName
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.folder import (
    FEATURES,
    FINGERPRINTS,
    LABELS,
    SUFFIX,
    TRAIN,
    SealFolder,
    hidden,
    open_folder,
    parquet_bytes,
    seals_in,
)
from likely.sealing.judges import JUDGES
from likely.sealing.ledger import MANIFEST, Ledger
from likely.sealing.manifest import Manifest
from likely.sealing.recognition import evaluations_used, holds_sealed_rows, sealed_fingerprints
from likely.sealing.split import Split, split_rows
from likely.storage.files import folder_made_whole, remove, write_atomically

if TYPE_CHECKING:
    import pyarrow as pa


Findings = Callable[["pa.Table"], Sequence[Mapping[str, Any]]]  # about training rows


@final
@dataclass(frozen=True, eq=False)
class Origin:
    """The rows to seal, and where they came from."""

    table: "pa.Table"
    label: str
    digest: str  # SHA-256 of the file, or of the table
    library: str | None = None
    path: Path | None = None


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SealTerms:
    """The terms of a seal, fixed before its rows are split; the columns are in the table."""

    target: str
    test: Any  # a share, or the rows
    group: str | None
    by_time: str | None
    budget: int
    judge: str
    escrow: Path | None
    seed: int
    kind: str | None = None  # of the target; None is as its values say
    order: tuple[Any, ...] | None = None  # of the classes; the kind is then ordinal
    weight: str | None = None  # columns that are not features
    offset: str | None = None
    exposure: str | None = None
    dropped: tuple[str, ...] = ()  # columns that no model is to see
    categories: tuple[str, ...] = ()  # columns declared to be categories
    declared_features: tuple[str, ...] = ()  # columns used as they are
    declared_texts: tuple[str, ...] = ()  # columns whose words are counted
    identifiers: tuple[str, ...] | None = None  # columns that identify rows; None is not known
    texts: tuple[str, ...] | None = None  # columns of free text
    readings: Mapping[str, Any] = field(default_factory=dict)  # how text was read


def create_seal(
    origin: Origin,
    terms: SealTerms,
    path: Path,
    *,
    notes: tuple[str, ...] = (),
    findings: "Findings | None" = None,
) -> SealFolder:
    """Seal a table as the folder ``path``; kind and order must suit the values of the target.

    ``notes`` about the rows are kept with those about the split; ``findings`` gives what is found
    in the training rows.
    """
    _check_terms(terms)
    _check_columns(origin.table, terms)
    _check_place(path, terms.escrow)
    split = split_rows(
        origin.table,
        terms.target,
        test=terms.test,
        group=terms.group,
        by_time=terms.by_time,
        seed=terms.seed,
        kind=terms.kind,
        texts=(*(terms.texts or ()), *terms.declared_texts),
        apart=(
            *(terms.identifiers or ()),
            *terms.dropped,
            *(name for name in (terms.weight, terms.offset, terms.exposure) if name),
        ),
    )
    _check_weights(origin.table, split, terms.weight)
    earlier = _earlier_seals(origin, path)
    notes = (*notes, *split.notes, *earlier, *_still_holds(origin, split, path))
    _write_seal(origin, terms, path, split=split, earlier=earlier, notes=notes, findings=findings)
    return open_folder(path)


def _check_terms(terms: SealTerms) -> None:
    by_index = np.ndim(terms.test) > 0
    is_share = isinstance(terms.test, int | float | np.number) and 0 < terms.test < 1
    if not by_index and not is_share:
        raise InvalidInput(
            f"test is {terms.test!r}; expected a share of the rows between 0 and 1. Use 0.2."
        )
    whole = isinstance(terms.budget, int | np.integer) and not isinstance(terms.budget, bool)
    if not whole or terms.budget < 1:
        raise InvalidInput(
            f"budget is {terms.budget!r}; expected a whole number of evaluations, at least 1. "
            "Use 1."
        )
    if terms.judge not in JUDGES:
        raise UnknownName("judge", terms.judge, JUDGES)
    if by_index and (terms.group or terms.by_time) is not None:
        raise InvalidInput(
            f"test names the rows, and {terms.group or terms.by_time!r} is a column to split by; "
            "rows are split by one rule. Choose one of them."
        )


def _check_columns(table: "pa.Table", terms: SealTerms) -> None:
    if not table.num_columns:
        raise InvalidInput("The table has no columns; a target and features are needed. Add them.")
    refuse_twins(table.column_names)
    if len(table.column_names) < 2:
        raise InvalidInput(
            f"The table has only the column {terms.target!r}; expected features besides the "
            "target. Check the delimiter of the file."
        )
    check_target(table.column(terms.target), terms.target)
    refuse_infinities(table.to_batches())  # no model could read them when the seal is opened


def _check_weights(table: "pa.Table", split: Split, weight: str | None) -> None:
    """Refuse a part in which all weights are 0: there would be nothing to fit or to score."""
    for part, rows in (("training", ~split.sealed), ("sealed", split.sealed)):
        if weight is not None and not (table.column(weight).to_numpy()[rows] > 0).any():
            raise InvalidInput(
                f"The weight {weight!r} is 0 in all {part} rows; at least one above 0 was "
                "expected. Seal other rows, or leave rows of weight 0 out."
            )


def _check_place(path: Path, escrow: Path | None) -> None:
    if path.exists():
        known = (path / MANIFEST).is_file()
        used = f" ({evaluations_used(SealFolder(path))})" if known else ""
        again = "Use it as it is (in Python, likely.open_seal opens it), or give"
        raise InvalidInput(
            f"{path} exists already{used}; a seal is made once. {again if known else 'Give'} "
            "another name."
        )
    if escrow is not None and escrow.exists():
        raise InvalidInput(
            f"The escrow file {escrow} exists already; it may hold the labels of another seal. "
            "Name another file; delete this one only if it was left by an interrupted "
            "sealing."
        )


def _earlier_seals(origin: Origin, path: Path) -> tuple[str, ...]:
    """Notes on seals of the same rows, with the number of their evaluations."""
    places = {path.parent, *([origin.path.parent] if origin.path is not None else [])}
    seals = seals_in(places)
    same = [seal for seal in seals if seal.manifest.data_sha256 == origin.digest]
    others = [seal for seal in seals if seal not in same]
    held = [one.seal for one in holds_sealed_rows(origin.table, others)]
    return tuple(
        f"The same table was sealed before: {seal.path.name}, {evaluations_used(seal)}."
        for seal in (*same, *held)
    )


def _still_holds(origin: Origin, split: Split, path: Path) -> tuple[str, ...]:
    if origin.path is None:
        return ()
    count = int(split.sealed.sum())
    return (f"{origin.label} still holds the {count:,} sealed rows; use {path.name} from now on.",)


def _write_seal(
    origin: Origin,
    terms: SealTerms,
    path: Path,
    *,
    split: Split,
    earlier: tuple[str, ...],
    notes: tuple[str, ...],
    findings: "Findings | None",
) -> None:
    import pyarrow as pa

    train = origin.table.filter(pa.array(~split.sealed))
    test = origin.table.filter(pa.array(split.sealed))
    features, salt = test.drop_columns([terms.target]), token_hex(16)
    labels = hidden(test.column(terms.target))
    contents = {
        TRAIN: parquet_bytes(train),
        FEATURES: parquet_bytes(features),
        FINGERPRINTS: sealed_fingerprints(features, train, salt).astype("<u8").tobytes(),
    }
    if terms.escrow is None:
        contents[LABELS] = labels
    manifest = Manifest(
        **_settled(origin, terms),
        name=path.name.removesuffix(SUFFIX),
        rule=split.rule,
        n_train=train.num_rows,
        n_test=test.num_rows,
        salt=salt,
        files={name: sha256(content).hexdigest() for name, content in contents.items()},
        labels_sha256=sha256(labels).hexdigest(),
        notes=notes,
        earlier=earlier,
        findings=() if findings is None else tuple(findings(train)),
    )
    _write_folder(path, contents, manifest, terms.escrow, labels)


def _settled(origin: Origin, terms: SealTerms) -> dict[str, Any]:
    """The part of the manifest that was given."""
    return {
        "data": origin.label,
        "data_sha256": origin.digest,
        "library": origin.library,
        "target": terms.target,
        "group": terms.group,
        "by_time": terms.by_time,
        "seed": terms.seed,
        "budget": terms.budget,
        "judge": terms.judge,
        "escrow": terms.escrow is not None,
        "kind": terms.kind,
        "order": terms.order,
        "weight": terms.weight,
        "offset": terms.offset,
        "exposure": terms.exposure,
        "dropped": terms.dropped,
        "categories": terms.categories,
        "declared_features": terms.declared_features,
        "declared_texts": terms.declared_texts,
        "identifiers": terms.identifiers,
        "texts": terms.texts,
        "readings": dict(terms.readings),
    }


def _write_folder(
    path: Path, contents: dict[str, bytes], manifest: Manifest, escrow: Path | None, labels: bytes
) -> None:
    """Write all files or none; labels in escrow are written last, before the folder is renamed."""
    try:
        with folder_made_whole(path) as draft:
            for name, content in contents.items():
                write_atomically(draft / name, content)
            write_atomically(draft / MANIFEST, manifest.to_bytes())
            digest = sha256(manifest.to_bytes()).hexdigest()
            Ledger(draft).begin({"manifest": digest, "rows": manifest.n_test})
            if escrow is not None:
                write_atomically(escrow, labels)
    except BaseException:
        if escrow is not None and not path.exists():  # else the seal is whole, and needs it
            remove(escrow)
        raise


def check_target(column: Any, name: str) -> None:
    """Refuse unusable targets: missing or infinite values, one value, identifiers, dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    if not len(column) or n_missing == len(column):
        raise InvalidInput(
            f"The target {name!r} has no value in {len(column):,} rows; at least two different "
            "ones were expected. Choose another column."
        )
    if n_missing:
        row = pc.index(pc.is_null(column, nan_is_null=True), True).as_py()
        raise InvalidInput(
            f"The target {name!r} is missing in {n_missing:,} rows, the first of them row {row}; a "
            "row without it cannot be used for training or scoring. Drop those rows first."
        )
    if pa.types.is_floating(column.type):
        _check_finite(column, name)
    if pa.types.is_temporal(column.type):
        raise InvalidInput(
            f"The target {name!r} holds {column.type} values; labels or numbers were expected. "
            "Turn them into numbers, such as days since the first, or choose another column."
        )
    _check_values(column, name)


def _check_finite(column: Any, name: str) -> None:
    import pyarrow.compute as pc

    row = pc.index(pc.is_finite(column), False).as_py()
    if row >= 0:
        raise InvalidInput(
            f"The target {name!r} is {column[row].as_py()} in row {row}; finite numbers were "
            "expected. Fix or drop such rows first."
        )


def _check_values(column: Any, name: str) -> None:
    import pyarrow as pa

    n_values = len(np.unique(row_fingerprints(pa.table({name: column}), [name], "")))
    if n_values < 2:
        raise InvalidInput(
            f"The target {name!r} has one value in all {len(column):,} rows; there is nothing to "
            "predict. Choose another column."
        )
    column = decoded(column)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if text and are_names(n_values, len(column)):
        refuse_names(name, column.unique().to_pylist(), len(column))
