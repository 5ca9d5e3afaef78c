"""The types of columns in files without types: determined by a pass over the whole file.

    null < integer < float < text,    null < boolean < text,    text < nested

The type of a column is the narrowest that holds all of its values, so the types of two
blocks of rows merge to the narrowest that holds both: a summary like any other.

Digits after a leading zero (the zip code 02134, the label 01) are text, because a number would lose
the zero; so is 0x1F.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

from likely.kinds import ColumnKind
from likely.numerics.additive import Additive

ValueType = Literal["null", "boolean", "integer", "float", "text", "nested"]

MISSING = (  # how text files write a missing value: spreadsheets, databases, R and pandas
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "null",
    "NULL",
)
LEADING_ZERO = r"^[+-]?0(\d+$|[xX])"  # 02134, 00, 0x1F; not 0, 0.5
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")

_BELOW: dict[ValueType, tuple[ValueType, ...]] = {  # what each type holds, besides itself
    "null": (),
    "boolean": ("null",),
    "integer": ("null",),
    "float": ("null", "integer"),
    "text": ("null", "boolean", "integer", "float"),
    "nested": ("null", "boolean", "integer", "float", "text"),
}
TRIED: tuple[ValueType, ...] = ("integer", "float", "boolean")  # of several columns at once
_KINDS: dict[ValueType, ColumnKind] = {
    "null": "number",  # nothing but missing values
    "boolean": "boolean",
    "integer": "number",
    "float": "number",
    "text": "category",
    "nested": "other",
}


@final
@dataclass(frozen=True, eq=False)
class ColumnTypes(Additive):
    """The types seen so far, in the order in which the columns appeared."""

    types: dict[str, ValueType]
    n_rows: int

    def __add__(self, other: "ColumnTypes") -> "ColumnTypes":
        merged = dict(self.types)
        for name, type_ in other.types.items():
            merged[name] = join(merged.get(name, "null"), type_)
        return ColumnTypes(merged, self.n_rows + other.n_rows)

    def kinds(self) -> tuple[ColumnKind, ...]:
        return tuple(_KINDS[type_] for type_ in self.types.values())


def join(a: ValueType, b: ValueType) -> ValueType:
    """The narrowest type that holds both."""
    for candidate, below in _BELOW.items():
        if all(type_ == candidate or type_ in below for type_ in (a, b)):
            return candidate
    raise AssertionError("nested holds every type")


def arrow_type(type_: ValueType) -> Any:
    """How a column of that type is read."""
    import pyarrow as pa

    return {
        "null": pa.float64(),
        "boolean": pa.bool_(),
        "integer": pa.int64(),
        "float": pa.float64(),
        "text": pa.string(),
        "nested": pa.string(),
    }[type_]


def type_of_strings(column: Any, known: ValueType) -> ValueType:
    """The type of an Arrow column of strings, which holds at least what ``known`` says.

    Types that are already excluded are not tried: a column known to be text is not read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if known == "text" or column.null_count == len(column):
        return known
    if known in ("null", "boolean"):
        words = pc.is_in(column, value_set=pa.array([*TRUE, *FALSE, None], pa.string()))
        if pc.all(words).as_py():
            return "boolean"
    if known != "boolean":
        numbers = pc.ascii_trim_whitespace(column)  # as the reader of numbers does
        if _have_leading_zeros(numbers):
            return "text"
        if known != "float" and _casts(numbers, pa.int64()):
            return "integer"
        if _casts(numbers, pa.float64()):
            return "float"
    return "text"


def types_of_strings(columns: Sequence[Any], known: Sequence[ValueType]) -> list[ValueType]:
    """The types of several columns of strings, each joined with what is known of it.

    Columns of one known type are checked together, end to end: as a rule no block of rows after
    the first changes a type.  Where one does, it is searched for by halves.  Of a column of which
    nothing is known yet, the type of its first cell is tried.
    """
    out = list(known)
    tried = [
        _type_of_first(columns[j]) if type_ == "null" else type_ for j, type_ in enumerate(known)
    ]
    for type_ in TRIED:
        same = [j for j, each in enumerate(tried) if each == type_]
        for j in same:
            out[j] = type_
        for j in _changed(columns, same, type_):
            out[j] = join(known[j], type_of_strings(columns[j], known[j]))
    for j, each in enumerate(tried):
        if each == "null" or (each == "text" and known[j] == "null"):
            out[j] = type_of_strings(columns[j], "null")
    return out


def _type_of_first(column: Any) -> ValueType:
    """The type of the first cell of a column of strings; null where it is missing."""
    cell = column[0].as_py() if len(column) else None
    if cell is None:
        return "null"
    if cell in TRUE or cell in FALSE:
        return "boolean"
    return "integer" if _reads(int, cell) else "float" if _reads(float, cell) else "text"


def _reads(number: type[int] | type[float], cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


def _changed(columns: Sequence[Any], same: list[int], known: ValueType) -> list[int]:
    """Which columns of a known type hold something else."""
    import pyarrow as pa

    if not same:
        return []
    ends = pa.concat_arrays([columns[j] for j in same]) if len(same) > 1 else columns[same[0]]
    if join(known, type_of_strings(ends, known)) == known:
        return []
    if len(same) == 1:
        return same
    half = len(same) // 2
    return [*_changed(columns, same[:half], known), *_changed(columns, same[half:], known)]


def _have_leading_zeros(column: Any) -> bool:
    """Whether a text is a code such as 02134, or hexadecimal: Arrow would read a number."""
    import pyarrow.compute as pc

    signed = pc.or_(pc.starts_with(column, "-0"), pc.starts_with(column, "+0"))
    zeros = column.filter(pc.or_(pc.starts_with(column, "0"), signed))  # few, as a rule
    return bool(pc.any(pc.match_substring_regex(zeros, LEADING_ZERO)).as_py())


def _casts(column: Any, type_: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(column, type_)
    except pa.ArrowInvalid:
        return False
    return True


def type_of_value(value: object) -> ValueType:
    """The type of one value of a JSON object."""
    if value is None or (isinstance(value, str) and value in MISSING):
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "float"
    if isinstance(value, float):
        return "float"
    return "text" if isinstance(value, str) else "nested"
