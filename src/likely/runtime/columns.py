"""Columns of plain Python and NumPy values, read as data frames are read.

numbers    ints, floats, decimals; None and NaN are missing
Booleans   true and false alone; beside numbers they are 1 and 0
text       a category; numbers beside text are categories, too
dates      days since 1970-01-01 (UTC where there is a zone); the time of day is a fraction
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.data.categories import CodedValues, factor_of, is_missing
from likely.data.frames import InMemoryTable, side_by_side
from likely.data.source import column_label
from likely.errors import InvalidInput
from likely.kinds import ColumnKind
from likely.output.formatting import listed
from likely.runtime.count_rows import CountRows

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_A_DAY = 86_400e6
START = datetime(1970, 1, 1)
NUMBERS = (bool, int, float, Decimal, np.number, np.bool_)


class TableColumn(NamedTuple):
    """A column; one of ``values`` and ``factor`` is set."""

    kind: ColumnKind
    values: Array | None  # numbers, Booleans, days, or objects
    factor: CodedValues | None = None
    measured: bool = False  # a time of day in hours, or a duration in days

    def __len__(self) -> int:
        return len(self.codes if self.values is None else self.values)

    @property
    def codes(self) -> Array:
        assert self.factor is not None
        return self.factor.codes


def column_of(values: Any, label: str) -> TableColumn:
    """A list, a tuple or a 1-d array as a column; ``label`` is for messages."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind != "O":
        return _of_array(values)
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim == 1):
        return _of_objects(list(values))
    raise InvalidInput(
        f"{label} is {_described(values)}; a list or a 1-d array with a value for each row was "
        "expected. Convert it, for instance with list()."
    )


def _described(values: Any) -> str:
    if isinstance(values, np.ndarray):
        return f"an array of shape {values.shape}"
    return f"the value {values!r}" if isinstance(values, (*NUMBERS, str)) else type(values).__name__


def _of_array(values: Array) -> TableColumn:
    kind = values.dtype.kind
    if kind in "fiu":
        return TableColumn("number", values)
    if kind == "b":
        return TableColumn("boolean", values)
    if kind == "U":
        return TableColumn("category", values.astype(object))
    if kind == "M":
        return TableColumn("date", _of_units(values.astype("datetime64[us]")))
    if kind == "m":
        return TableColumn("other", _of_units(values.astype("timedelta64[us]")), measured=True)
    return TableColumn("other", values.astype(object))


def _of_units(stamps: Array) -> Array:
    """Microseconds as days; not-a-time is missing."""
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / MICROSECONDS_A_DAY)


def _of_objects(values: list[Any]) -> TableColumn:
    known = [value for value in values if not is_missing(value)]
    gaps = len(known) < len(values)
    if all(isinstance(value, NUMBERS) for value in known):
        return _of_numbers(values, known, gaps=gaps)
    if any(isinstance(value, str) for value in known):
        return TableColumn("category", _objects(values))
    for kinds, kind, read in (
        ((date, np.datetime64), "date", _days),
        ((timedelta, np.timedelta64), "other", _days_of_duration),
        ((time,), "other", _hours),
    ):
        if all(isinstance(value, kinds) for value in known):
            numbers = [np.nan if is_missing(value) else read(value) for value in values]
            return TableColumn(kind, np.array(numbers), measured=kind == "other")  # type: ignore[arg-type]
    return TableColumn("other", _objects(values))


def _of_numbers(values: list[Any], known: list[Any], *, gaps: bool) -> TableColumn:
    booleans = bool(known) and all(isinstance(value, bool | np.bool_) for value in known)
    kind: ColumnKind = "boolean" if booleans else "number"
    if not gaps and booleans:
        return TableColumn(kind, np.array(values, dtype=bool))
    whole = all(isinstance(value, int | np.integer) for value in known)
    if not gaps and known and whole and all(abs(int(value)) < 2**63 for value in known):
        return TableColumn(kind, np.array([int(value) for value in values], dtype=np.int64))
    floats = [np.nan if is_missing(value) else float(value) for value in values]
    return TableColumn(kind, np.array(floats, dtype=np.float64))


def _days(stamp: Any) -> float:
    if isinstance(stamp, np.datetime64):
        return float(_of_units(np.asarray(stamp, dtype="datetime64[us]")))
    if not isinstance(stamp, datetime):
        stamp = datetime(stamp.year, stamp.month, stamp.day)
    if stamp.tzinfo is not None:
        stamp = stamp.astimezone(UTC).replace(tzinfo=None)
    return float((stamp - START) // MICROSECOND / MICROSECONDS_A_DAY)


def _days_of_duration(length: Any) -> float:
    if isinstance(length, np.timedelta64):
        return float(_of_units(np.asarray(length, dtype="timedelta64[us]")))
    return float(length // MICROSECOND / MICROSECONDS_A_DAY)


def _hours(clock: time) -> float:
    passed = timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second)
    return 24 * float((passed.total_seconds() * 1e6 + clock.microsecond) / MICROSECONDS_A_DAY)


def _objects(values: list[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@final
@dataclass(frozen=True, eq=False)
class ColumnTable(InMemoryTable):
    """A table of columns."""

    columns: Sequence[TableColumn]
    n_rows: int
    names: tuple[str, ...] | None
    words: CountRows | None = None  # further columns, of the words of texts

    native = None

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]  # read-only here
        return tuple(column.kind for column in self.columns)

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return 8 * self.n_rows * len(self.columns)

    def numbers(self, j: int) -> Array:
        values = self.columns[j].values
        if values is None or values.dtype.kind == "O":
            raise InvalidInput(
                f"{column_label(self.names, j)} must hold numbers; found other values. Convert it."
            )
        return values.astype(np.float64, copy=False)

    def factor(self, j: int) -> CodedValues:
        column = self.columns[j]
        if column.values is None:
            assert column.factor is not None
            return column.factor
        return factor_of(column.values)

    def matrix(self, columns: Sequence[int]) -> Array:
        return side_by_side([self.numbers(j) for j in columns], self.n_rows, np.float64)

    def take(self, rows: Array) -> Self:
        taken = []
        for column in self.columns:
            if column.factor is not None:
                column = column._replace(factor=column.factor._replace(codes=column.codes[rows]))
            else:
                assert column.values is not None
                column = column._replace(values=column.values[rows])
            taken.append(column)
        assert self.words is None  # words are counted when rows are chosen
        return type(self)(taken, len(rows), self.names)


# ── Rows to predict, in the forms that need no data frame ─────────────────────────────────────────
#     {"age": [34, 51], "town": ["Ulm", "Bonn"]}                    columns
#     [{"age": 34, "town": "Ulm"}, {"age": 51, "town": "Bonn"}]     rows by name
#     array of shape (n, p), or a list of rows                      by position
#
# Columns are found by name: their order does not matter, others are ignored, and one that is not
# there is refused.  In rows by name, a cell that a row does not have is missing.

FORMS = (
    "a dict of columns, a list of dicts, or an array or list of rows with the columns of the fit"
)


def table_of(
    rows: Any, names: Sequence[str] | None, n_columns: int, unneeded: Sequence[str] = ()
) -> ColumnTable:
    """The rows as a table with the columns of the fit; ``unneeded`` ones may be absent."""
    if isinstance(rows, Mapping):
        return _named_columns(rows, names, unneeded)
    if isinstance(rows, np.ndarray):
        return _by_position(rows, names, n_columns)
    if not isinstance(rows, list | tuple) or not rows or isinstance(rows[0], str):
        raise InvalidInput(f"The rows are {_in_words(rows)}; expected {FORMS}. Convert them.")
    if isinstance(rows[0], Mapping):
        keys = dict.fromkeys(key for row in rows for key in row)
        columns = {key: [row.get(key) for row in rows] for key in keys}
        return _named_columns(columns, names, unneeded)
    try:
        values = np.array(rows)
    except ValueError:
        raise InvalidInput(
            "The rows have different lengths; expected a value for each column in every row. Fill "
            "cells that are missing with None."
        ) from None
    if values.dtype.kind in "US":
        values = np.array(rows, dtype=object)  # numbers among text stay numbers
    return _by_position(values, names, n_columns)


def numbers_beside(rows: Any, given: Any, what: str, n_rows: int, *, positive: bool) -> Array:
    """An offset or an exposure: a number, one for each row, or the name of a column of the rows."""
    if isinstance(given, str):
        if isinstance(rows, Mapping) and given in rows:
            given = rows[given]
        elif isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
            given = [row.get(given) for row in rows]
        else:
            raise InvalidInput(
                f"{what} is {given!r}, and the rows have no column of that name. Give one number "
                "for each row, or rows with that column."
            )
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must hold numbers; {error}. Pass one number per row.") from None
    column = np.full(n_rows, column) if column.ndim == 0 else column
    if column.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has shape {column.shape}; there are {n_rows} rows. Pass one number per row."
        )
    valid = np.isfinite(column) & (column > 0) if positive else np.isfinite(column)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InvalidInput(
            f"{what} of row {row} is {column[row]:g}; it must be finite"
            f"{' and above 0' if positive else ''}. Fix it, or drop the row."
        )
    return column


def _named_columns(
    given: Mapping[Any, Any], names: Sequence[str] | None, unneeded: Sequence[str]
) -> ColumnTable:
    if names is None:
        raise InvalidInput(
            f"The rows have the columns {listed([str(name) for name in given])}; the model was "
            "fitted to an array, whose columns have no names. Pass an array with its columns in "
            "the same order."
        )
    by_name = {str(name): values for name, values in given.items()}
    missing = [name for name in names if name not in by_name]
    needed = [name for name in missing if name not in {*unneeded}]
    if needed:
        close = get_close_matches(needed[0], [name for name in by_name if name not in names], n=1)
        hint = f" Was {needed[0]!r} renamed to {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"The rows have no column {listed([repr(name) for name in needed])}; the model was "
            f"fitted with {listed(list(names))}. Add {'it' if len(needed) == 1 else 'them'}.{hint}"
        )
    found = {
        name: column_of(by_name[name], f"Column {name!r}") for name in names if name in by_name
    }
    if not found:
        raise InvalidInput(f"There are no columns; expected {FORMS}. Pass at least one row.")
    first, n_rows = next((name, len(column)) for name, column in found.items())
    for name, column in found.items():
        if len(column) != n_rows:
            raise InvalidInput(
                f"Column {name!r} has {len(column)} values and column {first!r} has {n_rows}; "
                "expected as many in each. Fill cells that are missing with None."
            )
    empty = TableColumn("number", np.full(n_rows, np.nan))
    columns = [found.get(name, empty) for name in names]
    return _some(ColumnTable(columns, n_rows, tuple(names)))


def _by_position(values: Array, names: Sequence[str] | None, n_columns: int) -> ColumnTable:
    if values.ndim != 2:
        raise InvalidInput(
            f"The rows are an array of shape {values.shape}; expected (n, {n_columns}). Reshape "
            "it: values.reshape(1, -1) for one row."
        )
    if values.shape[1] != n_columns:
        raise InvalidInput(
            f"The rows have {values.shape[1]} columns; the model was fitted with {n_columns}. "
            "Pass the columns of the fit, in their order."
        )
    if values.dtype.kind == "O":
        values = _numbers_if_possible(values)
    known = None if names is None else tuple(names)
    columns = [column_of(values[:, j], f"Column {j}") for j in range(n_columns)]
    return _some(ColumnTable(columns, len(values), known))


def _numbers_if_possible(values: Array) -> Array:
    """Objects that all are numbers as floats; those with text stay as they are."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _some(table: ColumnTable) -> ColumnTable:
    if not table.n_rows:
        raise InvalidInput(f"There are no rows; expected {FORMS}. Pass at least one row.")
    return table


def _in_words(rows: Any) -> str:
    if isinstance(rows, list | tuple):
        return "a list of text" if rows else "an empty list"
    return "text" if isinstance(rows, str) else f"a {type(rows).__name__}"
