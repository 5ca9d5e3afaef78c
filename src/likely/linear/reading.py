"""How linear models read a table: numbers as they are, categories as codes.

    η = b + Σ_j x_j β_j + Σ_c β_c[category of column c]

The first category of a column without a penalty is its reference and has no coefficient; under a
penalty every category has one, so that none is favoured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Columns
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Block, Blocks, checked, redesigned
from likely.data.formats.registry import read
from likely.data.frames import kinds_of, library_of
from likely.data.layouts.intercept import Csr, Dense, Design, Mixed
from likely.data.schema import Encoded, Schema, TableKinds
from likely.data.source import Source
from likely.data.source_blocks import SourceBlocks, find_schema, find_schema_and_classes
from likely.errors import BadCell, InvalidInput
from likely.linear.offsets import new_offset
from likely.linear.per_column import per_column
from likely.opening import (
    check_column,
    check_response,
    encode_new,
    feature_names,
    n_rows_of,
    nbytes_of,
    own_columns,
    required,
    rows_of,
)
from likely.validate import (
    as_frame,
    check_labels,
    check_table,
    check_weight,
    is_frame,
    label_array,
)

Target = Literal["number", "numbers", "class"]

MOST_TO_EXPAND = 200  # coefficients: beyond, sums by code beat BLAS on indicators
CELLS_TO_EXPAND = 1_000_000  # 8 MB of indicators: beyond, compiled sums by code beat them


@final
@dataclass(frozen=True, eq=False)
class Coding:
    """How columns become coefficients."""

    schema: Schema
    reference: tuple[bool, ...]  # per column of codes, whether its first category has none

    @property
    def n_coefficients(self) -> int:
        return self.schema.as_codes.count(False) + sum(self._sizes())

    def design(self, encoded: Design) -> Design:
        """The encoded columns as the model reads them: floats, and codes past the reference."""
        if isinstance(encoded, Mixed):
            codes = np.ascontiguousarray(encoded.codes, dtype=np.int32)
            if any(self.reference):
                codes = codes - np.asarray(self.reference, dtype=np.int32)
            return Mixed(encoded.numeric, np.maximum(codes, -1), self._sizes())
        values: Any = encoded.stored()
        if isinstance(encoded, Csr):
            return Csr(_floats_of_sparse(values))
        return Dense(_floats(values))

    def to_fit(self, encoded: Design) -> Design:
        """The same, of rows to learn from: a missing category is refused, few rows are expanded."""
        _refuse_missing_categories(self.schema, Encoded(encoded, ()))
        design = self.design(encoded)
        if not isinstance(design, Mixed) or design.n_features > MOST_TO_EXPAND:
            return design
        return design.expanded() if design.n_rows * design.n_features <= CELLS_TO_EXPAND else design

    def check(self, block: Block) -> None:
        """Refuse a missing category in a row of a file; a row of weight 0 is absent."""
        present = None if block.weight is None else block.weight > 0
        _refuse_missing_categories(self.schema, Encoded(block.X, ()), present)

    def names(self) -> tuple[str, ...]:
        """One name per coefficient: the column's, or column[category]."""
        plain = [self._label(j) for j, coded in enumerate(self.schema.as_codes) if not coded]
        coded = [
            (j, values) for j, values in enumerate(self.schema.categories) if values is not None
        ]
        levels = [
            f"{self._label(j)}[{value}]"
            for (j, values), dropped in zip(coded, self.reference, strict=True)
            for value in values[int(dropped) :].tolist()
        ]
        return tuple(plain + levels)

    def column_of_coefficient(self) -> Array:
        """The input column that each coefficient belongs to."""
        if not any(self.schema.as_codes):
            return np.arange(len(self.schema.as_codes))
        plain = [j for j, coded in enumerate(self.schema.as_codes) if not coded]
        coded = [j for j, is_coded in enumerate(self.schema.as_codes) if is_coded]
        repeats = [np.full(size, j) for j, size in zip(coded, self._sizes(), strict=True)]
        return np.concatenate([np.asarray(plain, dtype=np.intp), *repeats]).astype(np.intp)

    def _sizes(self) -> tuple[int, ...]:
        pairs = zip(self.schema.sizes, self.reference, strict=True)
        return tuple(max(size - int(dropped), 0) for size, dropped in pairs)

    def _label(self, j: int) -> str:
        return f"x{j}" if self.schema.names is None else self.schema.names[j]


class LinearRows(NamedTuple):
    """Data at the door of a linear model; designs without an intercept."""

    blocks: Blocks  # y numbers or class codes, weights, offsets and groups beside them
    coding: Coding
    classes: Array  # empty where y is a number
    executor: Executor
    library: str | None  # the caller's frame library
    n_groups: int = 0


class Beside(NamedTuple):
    """What comes with a row besides its features and its response; arrays, or names of columns."""

    weight: Any = None
    offset: Any = None
    exposure: Any = None
    groups: Any = None


def open_linear(
    estimator: Any,
    X: Any,
    y: Any,
    beside: Beside,
    *,
    target: Target,
    penalties: tuple[Any, Any],
) -> LinearRows:
    """Check everything, and cut it into blocks.

    X is an array, a CSR array, a frame, or a file; y and what is beside it may be names of columns
    of a frame or a file.
    """
    if isinstance(X, str | Path):
        X = read(X)
    estimator.beside_ = tuple(name for name in (y, *beside) if isinstance(name, str))
    if isinstance(X, Source):
        _refuse_idle_groups(estimator, beside)
        return _open_file(estimator, X, y, beside, target, penalties)
    _refuse_idle_groups(estimator, beside)
    X, y, *others = own_columns(X, y, *beside)
    X = check_table(estimator, X, reset=True)
    n_rows = n_rows_of(X)
    weight, offset, group, n_groups = _checked(Beside(*others), X, n_rows)
    classes: Array = np.empty(0)
    if target == "class":
        y = label_array(required(y, estimator))
    else:
        y = check_response(y, n_rows=n_rows, estimator=estimator, several=target == "numbers")
    if weight is not None and len(y) == n_rows and not (weight > 0).all():
        kept = weight > 0
        X, y, weight = rows_of(X, kept), y[kept], weight[kept]
        offset = None if offset is None else offset[kept]
        group = None if group is None else group[kept]
    if target == "class":
        classes, y = check_labels(y, n_rows=n_rows_of(X))
    schema, design = Schema.learn(X, category_flags(kinds_of(X)))
    coding = Coding(schema, _references(estimator, schema, penalties))
    blocks = ArrayBlocks(_named(estimator, coding.to_fit, design), y, weight, offset, group)
    executor = executor_for(estimator.executor, nbytes_of(X))
    return LinearRows(blocks, coding, classes, executor, library_of(X), n_groups)


def _refuse_idle_groups(estimator: Any, beside: Beside) -> None:
    if beside.groups is not None and vars(estimator).get("covariance") != "clustered":
        raise InvalidInput(
            "groups were given, which only clustered errors use; covariance is "
            f"{vars(estimator).get('covariance')!r}. Set covariance='clustered', or leave them out."
        )


def _references(estimator: Any, schema: Schema, penalties: tuple[Any, Any]) -> tuple[bool, ...]:
    """Per column of codes, whether its coefficients are free and need a reference."""
    n = len(schema.kinds)
    free = np.zeros(n, dtype=bool)
    if any(schema.as_codes):
        l1, l2 = (
            per_column(estimator, name, strength, n)
            for name, strength in zip(("l1", "l2"), penalties, strict=True)
        )
        free = (l1 == 0) & (l2 == 0)
    flags = [bool(free[j]) for j, coded in enumerate(schema.as_codes) if coded]
    if not vars(estimator).get("fit_intercept", True) and True in flags:
        flags[flags.index(True)] = False  # one column has all its levels in place of an intercept
    return tuple(flags)


def new_rows(estimator: Any, coding: Coding, X: Any) -> Design:
    """Rows to predict, by the coding of the fit; an unseen category has no coefficient."""
    X = without_beside(estimator, X)
    encoded = encode_new(estimator, coding.schema, X)
    _named(estimator, partial(_refuse_missing_categories, coding.schema), encoded)
    return coding.design(encoded.design)


def without_beside(estimator: Any, X: Any) -> Any:
    """A frame as it was given to fit holds the target, too: by that name it is left out."""
    known = set(feature_names(estimator))
    names = [name for name in vars(estimator).get("beside_", ()) if name not in known]
    if not names or not is_frame(as_frame(X)):
        return X
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    return frame.drop([name for name in names if name in frame.columns]).to_native()


def _named(estimator: Any, read: Callable[[Any], Any], value: Any) -> Any:
    """What ``read`` makes of the value; a complaint about a cell names its column."""
    try:
        return read(value)
    except BadCell as error:
        raise error.named(feature_names(estimator)) from None


def category_flags(kinds: TableKinds) -> tuple[bool, ...]:
    """Text and categories are read as codes, numbers and Booleans as numbers."""
    if "category" not in kinds.kinds:
        return (False,) * len(kinds.kinds)  # the quick way for a hundred thousand columns
    return tuple(kind == "category" for kind in kinds.kinds)


def refuse_gaps(blocks: Blocks, names: Callable[[], tuple[str, ...]]) -> None:
    """Name the first cell of the numbers that is missing or infinite, if there is one."""
    for block in blocks:
        stored = block.X.stored()
        values: Any = stored.numeric if isinstance(stored, Columns) else stored
        if sparse.issparse(values):
            values = values.tocoo()
            bad = np.flatnonzero(~np.isfinite(values.data))
            if bad.size:
                i = bad[0]
                _refuse_cell(
                    block.start + int(values.row[i]), names()[values.col[i]], values.data[i]
                )
        elif not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            _refuse_cell(block.start + int(row), names()[column], values[row, column])


def _refuse_cell(row: int, name: str, value: float) -> None:
    what = "NaN" if np.isnan(value) else "infinity or a value too large for dtype('float64')"
    raise InvalidInput(
        f"Input X contains {what}: row {row}, column {name!r}. A linear model needs a finite "
        "number in every cell. Fill it (scikit-learn's SimpleImputer), drop the row, or use "
        "NaiveBayes, which sums missing cells out."
    )


def _checked(
    beside: Beside, X: Any, n_rows: int
) -> tuple[Array | None, Array | None, Array | None, int]:
    """Weights, offsets and group codes of rows in memory."""
    weight = check_weight(beside.weight, X, n_rows=n_rows)
    offset: Array | None = None
    if beside.offset is not None or beside.exposure is not None:
        offset = np.asarray(new_offset(beside.offset, beside.exposure, n_rows))
    if beside.groups is None:
        return weight, offset, None, 0
    labels = label_array(beside.groups)
    if len(labels) != n_rows:
        raise InvalidInput(
            f"groups has {len(labels)} entries; X has {n_rows} rows. Pass one group per row."
        )
    try:
        names, codes = check_labels(labels)
    except InvalidInput as error:
        raise InvalidInput(
            f"groups must name a group for every row, all of one type; {error}"
        ) from None
    return weight, offset, codes, len(names)


def _open_file(
    estimator: Any,
    source: Source,
    y: Any,
    beside: Beside,
    target: Target,
    penalties: tuple[Any, Any],
) -> LinearRows:
    """A file: y, weights, offsets and groups are columns of it, by name."""
    required(y, estimator)
    for what, name in zip(("y", *Beside._fields), (y, *beside), strict=True):
        check_column("sample_weight" if what == "weight" else what, name, source)
    features = source.drop([name for name in (y, *beside) if name is not None])
    if not features.names:
        raise InvalidInput(
            "The file has no column beside the target; a model needs at least one feature. "
            "Add columns to it."
        )
    estimator.feature_names_in_ = np.asarray(features.names, dtype=object)
    estimator.n_features_in_ = len(features.names)
    executor = executor_for(estimator.executor, source.nbytes)
    flags = category_flags(kinds_of(features))
    classes: Array = np.empty(0)
    if target == "class":
        schema, classes = find_schema_and_classes(
            source, features, flags, y, beside.weight, executor
        )
    else:
        schema = find_schema(features, flags, executor, table=source, weight=beside.weight)
    groups = None
    if beside.groups is not None:
        groups = find_schema(source.select([beside.groups]), [True], executor).categories[0]
    coding = Coding(schema, _references(estimator, schema, penalties))
    blocks = SourceBlocks(
        source,
        schema,
        y,
        classes if target == "class" else None,
        beside.weight,
        numeric_target=target != "class",
        offset=beside.offset,
        exposure=beside.exposure,
        group=beside.groups,
        groups=groups,
    )
    sound = checked(blocks, coding.check)
    seen = redesigned(sound, coding.design, coding.n_coefficients)
    return LinearRows(
        seen, coding, classes, executor, "pyarrow", 0 if groups is None else len(groups)
    )


def _refuse_missing_categories(
    schema: Schema, encoded: Encoded, present: Array | None = None
) -> None:
    """A code of −1 in a column where nothing was unseen is a missing cell."""
    if not isinstance(encoded.design, Mixed):
        return
    unseen = {name for name, _ in encoded.unseen}
    coded = [j for j, is_coded in enumerate(schema.as_codes) if is_coded]
    for position, j in enumerate(coded):
        missing = encoded.design.codes[:, position] < 0
        if present is not None:
            missing &= present
        name = f"column {j}" if schema.names is None else schema.names[j]
        if missing.any() and name not in unseen:
            raise BadCell(
                "Input X contains NaN: there is no category. A linear model needs one in every "
                "row. Fill it with a word such as 'missing', or drop the row.",
                row=int(missing.argmax()),
                column=j,
            )


def _floats(values: Array) -> Array:
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)


def _floats_of_sparse(values: Any) -> Any:
    return values if values.dtype == np.float64 else values.astype(np.float64)
