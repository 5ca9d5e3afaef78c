"""Rows to learn from, in two steps: check what was given, then encode its columns.

    check_rows(estimator, X, y, …)  →  CheckedRows: the kinds of the columns are known
    CheckedRows.encode(as_codes)    →  EncodedRows: blocks, categories, classes

Between the steps the caller decides, by the kinds, which columns are read as categories.  A table
in memory becomes blocks of views; a file becomes blocks that are read as they are needed.  A row
of weight 0 is left out.

Offsets and exposures beside rows: a model that was fitted with one is judged with one.

    η = b + xᵀβ + offset + ln exposure

Without them predictions are of an offset of 0 and an exposure of 1: rates, where y are counts.  A
score, a deviance or a likelihood that compares these with y means nothing, so it is refused.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks
from likely.data.formats.registry import read
from likely.data.frames import InMemoryTable, is_sparse, library_of
from likely.data.schema import EncodedTable, Schema, warn_of_unseen
from likely.data.source import Source, TableKinds, column_index, kinds_of
from likely.data.source_blocks import SourceBlocks, find_schema, find_schema_and_classes
from likely.errors import InvalidInput, SomeSealedRows, warn_user
from likely.inputs.tables import check_table, own_columns, refuse_file, remember_names
from likely.inputs.targets import (
    check_numbers,
    check_offset,
    check_response,
    check_weight,
    classes_of,
    known_classes,
    label_array,
    required,
)
from likely.output.formatting import all_listed, listed

AT_PREDICTION = ("offset", "exposure")  # arguments that a prediction needs, too
TargetForm = Literal["class", "number", "numbers", "none"]  # how y is read; "none": it is not
C = TypeVar("C")


class RowExtras(NamedTuple):
    """What a row has besides its features and its target: arrays, or names of columns of X."""

    weight: Any = None
    offset: Any = None
    exposure: Any = None
    groups: Any = None


class EncodedRows(NamedTuple, Generic[C]):
    """Rows that a fit can sum over: checked, encoded, and cut into blocks."""

    blocks: Blocks  # y numbers or class codes (−1 unknown), with weights, offsets and groups
    coding: C  # how columns became numbers and codes: a Schema, or what a model makes of it
    classes: Array  # empty where y is not read as classes
    executor: Executor
    library: str | None  # the caller's frame library, to answer in
    n_groups: int = 0
    position: Array | None = None  # of each row that was given, −1 at weight 0; None: as given


class CheckedRows(ABC):
    """X, y and the extras, checked; columns are not encoded yet."""

    kinds: TableKinds
    sparse: bool
    executor: Executor

    @abstractmethod
    def encode(self, as_codes: Sequence[bool]) -> EncodedRows[Schema]:
        """The rows, with the columns of these flags read as categories."""

    def orders(self) -> tuple[list[Any] | None, ...]:
        """The order of the categories of each column, where its type gives one."""
        return (None,) * len(self.kinds.kinds)

    def as_numbers(self) -> EncodedRows[Schema]:
        """The rows, with every column read as numbers."""
        return self.encode((False,) * len(self.kinds.kinds))

    def with_categories(self) -> EncodedRows[Schema]:
        """The rows, with text and categories read as codes, numbers and Booleans as numbers."""
        kinds = self.kinds.kinds
        if "category" not in kinds:
            return self.as_numbers()  # the quick way for a hundred thousand columns
        return self.encode(tuple(kind == "category" for kind in kinds))


@final
@dataclass(frozen=True, eq=False)
class RowsInMemory(CheckedRows):
    """Rows of an array, a sparse array or a frame."""

    table: InMemoryTable
    kinds: TableKinds
    executor: Executor
    y: Array | None
    classes: Array
    weight: Array | None
    offset: Array | None
    group: Codes | None
    n_groups: int
    position: Array | None = None

    @property
    def sparse(self) -> bool:  # type: ignore[override]  # read-only here
        return is_sparse(self.table.native)

    def orders(self) -> tuple[list[Any] | None, ...]:
        kinds = self.kinds.kinds
        return tuple(
            self.table.order(j) if kind == "category" else None for j, kind in enumerate(kinds)
        )

    def encode(self, as_codes: Sequence[bool]) -> EncodedRows[Schema]:
        schema, design = Schema.learn(self.table, as_codes)
        blocks = ArrayBlocks(design, self.y, self.weight, self.offset, self.group)
        library = library_of(self.table.native)
        return EncodedRows(
            blocks, schema, self.classes, self.executor, library, self.n_groups, self.position
        )


@final
@dataclass(frozen=True, eq=False)
class RowsInFile(CheckedRows):
    """Rows of a file: y and the extras are columns of it, by name."""

    source: Source
    features: Source
    kinds: TableKinds
    executor: Executor
    y: str | None
    target: TargetForm
    extras: RowExtras
    unlabelled: Any
    sparse: bool = False

    def encode(self, as_codes: Sequence[bool]) -> EncodedRows[Schema]:
        labels = self.y if self.target == "class" else None
        weight, offset, exposure, group = self.extras
        schema, classes = find_schema_and_classes(
            self.source, self.features, as_codes, labels, weight, self.executor
        )
        if self.target == "class":
            classes = known_classes(classes, self.unlabelled)
        groups = None
        if group is not None:
            groups = find_schema(self.source.select([group]), [True], self.executor).categories[0]
        blocks = SourceBlocks(
            self.source,
            schema,
            self.y,
            classes if self.target == "class" else None,
            weight,
            numeric_target=self.target != "class",
            gaps=self.unlabelled is not None and self.unlabelled != self.unlabelled,
            offset=offset,
            exposure=exposure,
            group=group,
            groups=groups,
        )
        n_groups = 0 if groups is None else len(groups)
        return EncodedRows(blocks, schema, classes, self.executor, "pyarrow", n_groups)


def check_rows(
    estimator: Any,
    X: Any,
    y: Any,
    extras: RowExtras,
    *,
    target: TargetForm,
    unlabelled: Any = None,
    sparse: bool = True,
    reset: bool = True,
) -> CheckedRows:
    """Check X, y and the extras; the estimator stores the columns of X.

    X is an array, a sparse array, a frame, a source of rows, or the path of a file; y and the
    extras may be names of columns of a frame, and are names of columns of a file.  Labels equal to
    ``unlabelled`` are unknown.  With ``reset=False`` X must have the columns of an earlier fit.
    """
    if isinstance(X, str | Path):
        _warn_of_seal(Path(X))
        X = read(X)
    if isinstance(X, Source):
        return _check_file(estimator, X, y, extras, target, unlabelled)
    X, y, *others = own_columns(X, y, *extras)
    table = check_table(estimator, X, reset=reset, sparse=sparse)
    n_rows, (weight, offset, exposure, groups) = table.n_rows, others
    weight = check_weight(weight, n_rows=n_rows)
    if offset is not None or exposure is not None:
        offset = np.asarray(check_offset(offset, exposure, n_rows=n_rows))
    group, n_groups = group_codes(groups, n_rows)
    if target == "class":
        y = label_array(required(y, estimator))
    elif target != "none":
        y = check_response(y, n_rows=n_rows, estimator=estimator, several=target == "numbers")
    position = None
    if weight is not None and not (weight > 0).all() and (y is None or len(y) == n_rows):
        kept = np.flatnonzero(weight)
        position = np.where(weight > 0, np.cumsum(weight > 0) - 1, -1)
        table, weight = table.take(kept), weight[kept]
        y, offset, group = (None if each is None else each[kept] for each in (y, offset, group))
    classes: Array = np.empty(0)
    if target == "class":
        classes, y = classes_of(y, unlabelled=unlabelled, n_rows=table.n_rows)
    executor = executor_for(vars(estimator).get("executor", "auto"), table.nbytes)
    return RowsInMemory(
        table, kinds_of(table), executor, y, classes, weight, offset, group, n_groups, position
    )


def group_codes(groups: Any, n_rows: int) -> tuple[Codes | None, int]:
    """The group of each row as a code, and how many groups there are."""
    if groups is None:
        return None, 0
    labels = label_array(groups)
    if len(labels) != n_rows:
        raise InvalidInput(
            f"groups has {len(labels)} entries; X has {n_rows} rows. Pass one group per row."
        )
    try:
        names, codes = classes_of(labels)
    except InvalidInput as error:
        raise InvalidInput(
            f"groups must name a group for every row, all of one type; {error}"
        ) from None
    return codes, len(names)


def _check_file(
    estimator: Any, source: Source, y: Any, extras: RowExtras, target: TargetForm, unlabelled: Any
) -> RowsInFile:
    if target != "none" and y is None:
        raise InvalidInput(
            f"{type(estimator).__name__} requires y to be passed, but X is a file and y is None; y "
            f"must name the target column. Columns are {listed(source.names)}."
        )
    arguments = ("y", "sample_weight", "offset", "exposure", "groups")
    for argument, name in zip(arguments, (y, *extras), strict=True):
        _check_column(argument, name, source)
    features = source.drop([name for name in (y, *extras) if name is not None])
    if not features.names:
        raise InvalidInput(
            "The file has no column besides the target and the weights; a model needs at least one "
            "feature. Add columns to it."
        )
    remember_names(estimator, features.names)
    executor = executor_for(vars(estimator).get("executor", "auto"), source.nbytes)
    kinds = kinds_of(features)
    return RowsInFile(source, features, kinds, executor, y, target, extras, unlabelled)


def _check_column(argument: str, name: Any, source: Source) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InvalidInput(
            f"X is a file, so {argument} must be the name of one of its columns; "
            f"found {type(name).__name__}. Columns are {listed(source.names)}."
        )
    column_index(source.names, name)


def recode_rows(rows: EncodedRows[Schema], wider: Schema) -> EncodedRows[Schema]:
    """The rows recoded for ``wider``, a schema with more categories; none is read again."""
    blocks = rows.blocks
    if isinstance(blocks, ArrayBlocks):
        design = rows.coding.recoded(blocks.X, wider)
        return rows._replace(blocks=replace(blocks, X=design), coding=wider)
    assert isinstance(blocks, SourceBlocks)  # the only other blocks that rows are encoded to
    return rows._replace(blocks=replace(blocks, schema=wider), coding=wider)


def encode_new_rows(estimator: Any, schema: Schema, X: Any, *, sparse: bool = True) -> EncodedTable:
    """New rows by the schema of the fit; categories not seen in training are ignored."""
    advice = "Read it into a frame, or stream it with the command `likely predict`."
    refuse_file(X, "a prediction", advice)
    return encode_checked(schema, check_table(estimator, X, reset=False, sparse=sparse))


def encode_checked(schema: Schema, table: InMemoryTable) -> EncodedTable:
    """Rows that were checked, by the schema of the fit; unseen categories are a warning."""
    encoded = schema.encode(table)
    warn_of_unseen(encoded.unseen)
    return encoded


def _warn_of_seal(path: Path) -> None:
    """Warn about a file beside the seal that has its name; its rows are not compared."""
    seal = path.with_suffix(".seal")
    if (seal / "manifest.json").is_file():
        warn_user(
            f"{path.name} may hold the sealed rows of {seal.name}: a fit of an estimator reads all "
            f"rows, and does not look for them. Use likely.open_seal({str(seal)!r}).train, or "
            "train and compare on the seal, which leave the sealed rows out.",
            SomeSealedRows,
        )


def fitted_with(model: Any) -> tuple[str, ...]:
    """Which of offset and exposure the model was fitted with, or the one inside a wrapper."""
    own: tuple[str, ...] = tuple(vars(model).get("moved_by_", ()))
    inner = vars(model).get("model_")
    return own if own or inner is None else fitted_with(inner)


def refuse_without_offset(model: Any, **given: Any) -> None:
    """Refuse to judge a model by y without the offset or exposure that it was fitted with."""
    used = fitted_with(model)
    if used and all(value is None for value in given.values()):
        raise InvalidInput(
            f"This {type(model).__name__} was fitted with {all_listed(used)}, and none was given: "
            "its predictions would be rates, which cannot be compared with y. Give "
            f"{all_listed([f'{name}=' for name in used])}, one number per row or the name of a "
            "column of X."
        )


def offset_arguments(model: Any, method: str, **given: Any) -> dict[str, Any]:
    """The offset and the exposure that were given, refused where the method does not take them."""
    found = {name: value for name, value in given.items() if value is not None}
    takes = inspect.signature(getattr(model, method)).parameters
    for name in found:
        if name not in takes:
            raise InvalidInput(
                f"{name} was given, which {type(model).__name__}.{method} does not take. Leave it "
                "out."
            )
    return found


def offset_numbers(n_rows: int, **given: Any) -> dict[str, Array]:
    """The offset and the exposure that were given, one number per row."""
    return {
        name: np.asarray(check_numbers(values, name, n_rows=n_rows), dtype=np.float64)
        for name, values in given.items()
        if values is not None
    }


def about_missing_offset(model: Any, **given: Any) -> str:
    """A sentence on predictions that leave out what the fit had; may be empty."""
    used = fitted_with(model)
    if not used or any(value is not None for value in given.values()):
        return ""
    each = {"offset": "an offset of 0", "exposure": "an exposure of 1"}
    return (
        f"The model was fitted with {all_listed(used)} and none was given: predictions are for "
        f"{all_listed([each[name] for name in used])}."
    )
