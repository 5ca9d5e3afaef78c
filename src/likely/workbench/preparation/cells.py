"""The cells of one column, for preparation: numbers, Booleans, days, or text.

    a date    →  days since 1970-01-01 (UTC where it has a zone); the time of day is a fraction
    a time of day  →  hours since midnight;  a duration  →  days
    a label   →  text, so that the code 1 in one file equals the code "1" in another

Text is read as dates if every value is a date in ISO 8601 form.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.arrow_columns import floats_of_arrow
from likely.data.categories import CodedValues
from likely.data.frames import ArrayTable, FrameTable, InMemoryTable, as_table
from likely.data.labels import are_written_numbers
from likely.errors import InvalidInput
from likely.kinds import FEATURE_KINDS, ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

MICROSECONDS_A_DAY = 86_400e6


class Cells(NamedTuple):
    """One column of a table; one of ``numbers`` and ``factor`` is set."""

    name: str
    kind: ColumnKind
    numbers: Array | None  # floats; NaN is missing, Booleans are 0 and 1, dates are days
    factor: CodedValues | None  # codes of text; −1 is missing
    declared: bool = False  # whether its type says that it holds categories, or measurements
    order: tuple[str, ...] = ()  # of its categories, where the type of the column gives one
    text: bool = False  # whether it was declared to be text, whose words are counted


def read_cells(table: InMemoryTable, j: int, name: str) -> Cells:
    """Column j; anything but numbers, Booleans, dates and text is refused."""
    kind = table.kinds[j]
    if isinstance(table, FrameTable) and table.is_text(j):
        return Cells(name, "category", None, _as_text(table.factor(j)), text=True)
    if kind == "category":
        order = tuple(_texts(table.order(j) or []))
        order = () if list(order) == sorted(order) else order
        factor = _as_text(table.factor(j))
        return Cells(name, "category", None, factor, _is_declared(table, j), order)
    if kind not in FEATURE_KINDS:
        return _temporal(_arrow(table, j), name)
    numbers = np.ascontiguousarray(table.numbers(j), dtype=np.float64)
    infinite = np.isinf(numbers)
    if infinite.any():
        raise InvalidInput(
            f"Row {int(infinite.argmax())}, column {name!r}: found inf; a number must be finite or "
            "missing. Remove the row, or replace the value by NaN."
        )
    return Cells(name, kind, numbers, None, _is_declared(table, j))


def gaps_of(cells: Cells) -> Array:
    """Which cells are missing."""
    if cells.factor is not None:
        return cells.factor.codes < 0
    assert cells.numbers is not None
    return np.isnan(cells.numbers)


def numbers_of(cells: Cells, *, date: bool) -> Array:
    """A column that was numeric (or dates) in the fit; anything else is refused."""
    gaps = gaps_of(cells)
    if gaps.all():  # the type is unknown
        return np.full(len(gaps), np.nan)
    if cells.numbers is not None and (cells.kind == "date") == date:
        return cells.numbers
    days = days_of_text(cells.factor) if date and cells.factor is not None else None
    if days is None:
        raise InvalidInput(
            f"Column {cells.name!r} must hold {'dates' if date else 'numbers'}, as in the fit"
            f"{_stranger(cells, date=date)}; found {'text' if cells.factor else f'{cells.kind}s'}. "
            "Convert it, or correct the other values."
        )
    return days


def text_of(cells: Cells) -> CodedValues:
    """A column that was categories in the fit; numbers are read as text."""
    if cells.factor is not None:
        return cells.factor
    assert cells.numbers is not None
    known = ~np.isnan(cells.numbers)
    values, codes = np.unique(cells.numbers[known], return_inverse=True)
    out = np.full(len(known), -1, dtype=np.int32)
    out[known] = codes
    if cells.kind == "boolean":
        return CodedValues(out, np.where(values > 0, "true", "false").astype(object))
    return _as_text(CodedValues(out, values.astype(object)))


def levels_of(factor: CodedValues) -> Array:
    """The different texts that occur, in any order."""
    return np.array(list(set(factor.values[_used(factor)].tolist())), dtype=object)


def date_columns(table: "pa.Table") -> Iterator[str]:
    """The columns of dates or times, or of text that is all dates; they become numbers."""
    import pyarrow as pa

    for name in table.column_names:
        column = table.column(name)
        kind = column.type
        if pa.types.is_temporal(kind):
            yield name
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        known = column.drop_null() if text else []
        if not len(known) or not known[0].as_py()[:4].isdigit():  # no year: no need to read on
            continue
        cells = read_cells(as_table(table.select([name])), 0, name)
        if cells.factor is not None and days_of_text(cells.factor) is not None:
            yield name


def days_of_text(factor: CodedValues) -> Array | None:
    """Days of text that is all dates; None if some value is not a date."""
    import pyarrow as pa
    import pyarrow.compute as pc

    used = _used(factor)
    values = pa.array(factor.values[used].tolist(), pa.string())
    for type_ in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            stamps = pc.cast(values, type_)
        except pa.ArrowInvalid:
            continue
        days = np.full(len(factor.values) + 1, np.nan)  # the last is for a missing cell
        days[used] = _days_of_stamps(stamps)
        return days[factor.codes]
    return None


def _temporal(column: Any, name: str) -> Cells:
    """Dates as days, times of day as hours, durations as days; other types are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        stamps = pc.cast(column, pa.timestamp("us", tz=zone), safe=False)
        return Cells(name, "date", _days_of_stamps(stamps), None)
    if pa.types.is_time(column.type):
        hours = 24 * _days_of_stamps(pc.cast(column, pa.time64("us"), safe=False))
        return Cells(name, "number", hours, None, declared=True)
    if pa.types.is_duration(column.type):
        days = _days_of_stamps(pc.cast(column, pa.duration("us"), safe=False))
        return Cells(name, "number", days, None, declared=True)
    raise InvalidInput(
        f"Column {name!r} holds {column.type} values; numbers, Booleans, dates or text were "
        "expected. Convert the column, or drop it."
    )


def _days_of_stamps(stamps: Any) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return floats_of_arrow(pc.cast(stamps, pa.int64())) / MICROSECONDS_A_DAY


def _used(factor: CodedValues) -> Array:
    """The codes that occur; a dictionary may hold more."""
    present = np.zeros(len(factor.values) + 1, dtype=bool)
    present[factor.codes] = True  # a missing cell marks the last
    return np.flatnonzero(present[:-1])


def _is_declared(table: InMemoryTable, j: int) -> bool:
    """Whether a column has the type of categories, or of floats."""
    if isinstance(table, ArrayTable):
        return bool(table.values.dtype.kind == "f")
    return table.is_declared(j) if isinstance(table, FrameTable) else True


def _arrow(table: InMemoryTable, j: int) -> Any:
    import pyarrow as pa

    if isinstance(table, FrameTable):
        return table.series(j).to_arrow()
    assert isinstance(table, ArrayTable)  # a sparse table holds numbers only
    return pa.array(table.values[:, j], from_pandas=True)


def _as_text(factor: CodedValues) -> CodedValues:
    """The factor with every value as text."""
    given = factor.values.tolist()
    if all(type(value) is str for value in given):
        return factor
    values = np.empty(len(given), dtype=object)
    values[:] = _texts(given)
    return CodedValues(factor.codes, values)


def _texts(values: list[Any]) -> list[str]:
    """Labels as text: 1.0 is the code 1."""
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in values
    ]


def _stranger(cells: Cells, *, date: bool) -> str:
    """A phrase with the first value that is neither a date nor a number."""
    if cells.factor is None:
        return ""
    factor = _as_text(cells.factor)
    for code in _used(factor):
        text = factor.values[code]
        alone = CodedValues(np.zeros(1, dtype=factor.codes.dtype), factor.values[[code]])
        known = days_of_text(alone) is not None if date else are_written_numbers([text]).all()
        if not known:
            return f", which {text!r} is not"
    return ""
