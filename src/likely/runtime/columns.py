"""Columns of plain Python and NumPy values, read as data frames are read.

numbers    ints, floats, decimals; None and NaN are missing
Booleans   true and false alone; beside numbers they are 1 and 0
text       a category; numbers beside text are categories, too
dates      days since 1970-01-01 (UTC where there is a zone); the time of day is a fraction
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.data.categories import Factor, factor_of, is_missing
from likely.data.frames import InMemoryTable, side_by_side
from likely.data.source import column_label
from likely.errors import InvalidInput
from likely.kinds import ColumnKind
from likely.runtime.count_rows import CountRows

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_A_DAY = 86_400e6
START = datetime(1970, 1, 1)
NUMBERS = (bool, int, float, Decimal, np.number, np.bool_)


class Column(NamedTuple):
    """A column; one of ``values`` and ``factor`` is set."""

    kind: ColumnKind
    values: Array | None  # numbers, Booleans, days, or objects
    factor: Factor | None = None
    measured: bool = False  # a time of day in hours, or a duration in days

    def __len__(self) -> int:
        return len(self.codes if self.values is None else self.values)

    @property
    def codes(self) -> Array:
        assert self.factor is not None
        return self.factor.codes


def column_of(values: Any, label: str) -> Column:
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


def _of_array(values: Array) -> Column:
    kind = values.dtype.kind
    if kind in "fiu":
        return Column("number", values)
    if kind == "b":
        return Column("boolean", values)
    if kind == "U":
        return Column("category", values.astype(object))
    if kind == "M":
        return Column("date", _of_units(values.astype("datetime64[us]")))
    if kind == "m":
        return Column("other", _of_units(values.astype("timedelta64[us]")), measured=True)
    return Column("other", values.astype(object))


def _of_units(stamps: Array) -> Array:
    """Microseconds as days; not-a-time is missing."""
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / MICROSECONDS_A_DAY)


def _of_objects(values: list[Any]) -> Column:
    known = [value for value in values if not is_missing(value)]
    gaps = len(known) < len(values)
    if all(isinstance(value, NUMBERS) for value in known):
        return _of_numbers(values, known, gaps=gaps)
    if any(isinstance(value, str) for value in known):
        return Column("category", _objects(values))
    for kinds, kind, read in (
        ((date, np.datetime64), "date", _days),
        ((timedelta, np.timedelta64), "other", _days_of_duration),
        ((time,), "other", _hours),
    ):
        if all(isinstance(value, kinds) for value in known):
            numbers = [np.nan if is_missing(value) else read(value) for value in values]
            return Column(kind, np.array(numbers), measured=kind == "other")  # type: ignore[arg-type]
    return Column("other", _objects(values))


def _of_numbers(values: list[Any], known: list[Any], *, gaps: bool) -> Column:
    booleans = bool(known) and all(isinstance(value, bool | np.bool_) for value in known)
    kind: ColumnKind = "boolean" if booleans else "number"
    if not gaps and booleans:
        return Column(kind, np.array(values, dtype=bool))
    whole = all(isinstance(value, int | np.integer) for value in known)
    if not gaps and known and whole and all(abs(int(value)) < 2**63 for value in known):
        return Column(kind, np.array([int(value) for value in values], dtype=np.int64))
    floats = [np.nan if is_missing(value) else float(value) for value in values]
    return Column(kind, np.array(floats, dtype=np.float64))


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

    columns: Sequence[Column]
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

    def factor(self, j: int) -> Factor:
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
