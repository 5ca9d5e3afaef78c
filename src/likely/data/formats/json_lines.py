"""JSON lines, streamed: one object per line, keys are columns, an absent key is missing.

The file is cut at line ends into pieces that Arrow parses; a piece in which a column
has values of several types is parsed by Python.

JSON has a null of its own, so that "NA" and "null" are text in a column of text, as documents and
labels may be; in a column of numbers they are missing, and so is empty text everywhere.
"""

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from likely.data.formats.column_types import (
    MISSING,
    ColumnTypes,
    ValueType,
    arrow_type,
    join,
    type_of_value,
)
from likely.data.formats.text_files import MOST_COLUMNS, TextFile, refuse_many_columns
from likely.data.source import Source, column_indices
from likely.errors import InvalidFile
from likely.kinds import ColumnKind
from likely.numerics.additive import pairwise_total

if TYPE_CHECKING:
    import pyarrow as pa

PIECE_BYTES = 2 * 2**20
DEEPEST = 100  # brackets within brackets: parsers are recursive
BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[^][{}"]+')  # what is none: text, and all else
BRACKET_BITS = 0xDF  # "[" and "{" differ in the bit that is left out
SURROGATES = re.compile("[\ud800-\udfff]")


class Piece(NamedTuple):
    """Whole lines of the file."""

    data: bytes
    line: int  # the number of the first


@final
@dataclass(frozen=True, eq=False)
class JsonLinesSource(Source):
    """A file of JSON lines whose types are known."""

    file: TextFile
    types: dict[str, ValueType]
    names: tuple[str, ...]  # the columns that are read
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    nbytes: int

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        types = {name: self.types[name] for name in self.names}
        for piece in _pieces(self.file):
            yield _batch(self.file, piece, types)

    def select(self, names: Sequence[str]) -> "JsonLinesSource":
        kinds = tuple(self.kinds[j] for j in column_indices(self.names, names))
        return replace(self, names=tuple(names), kinds=kinds)


def open_json_lines(file: TextFile) -> JsonLinesSource:
    """The source of a file, after the pass that determines its types."""
    found = pairwise_total(_types_of(file, piece) for piece in _pieces(file))
    if not found.n_rows or not found.types:
        raise InvalidFile(
            file.label, "there is no object with a key; rows were expected. Check how it was made."
        )
    refuse_many_columns(file.label, len(found.types))  # of all lines together
    return JsonLinesSource(
        file, found.types, tuple(found.types), found.kinds(), found.n_rows, file.nbytes
    )


def _pieces(file: TextFile) -> Iterator[Piece]:
    """The file in pieces of whole lines; at least one."""
    line, rest = 1, b""
    with file.open() as stream, file.named_errors():
        while data := stream.read(PIECE_BYTES):
            cut = data.rfind(b"\n") + 1
            whole, rest = rest + data[:cut], (data[cut:] if cut else rest + data)
            if cut:
                yield Piece(whole, line)
                line += whole.count(b"\n")
    if rest or line == 1:
        yield Piece(rest, line)


def _refuse_deep(file: TextFile, piece: Piece) -> None:
    """Refuse objects in objects in objects, which would exhaust the stack of a parser."""
    letters = np.frombuffer(piece.data, np.uint8)
    opening = np.flatnonzero((letters & BRACKET_BITS) == ord("["))
    if opening.size <= DEEPEST:
        return
    line_of = np.searchsorted(np.flatnonzero(letters == ord("\n")), opening)
    many = np.flatnonzero(np.bincount(line_of) > DEEPEST)
    if not many.size:
        return
    lines = piece.data.split(b"\n")
    for number in many.tolist():
        deep = most = 0
        for bracket in BRACKETS.sub(b"", lines[number]):
            deep += 1 if bracket in b"[{" else -1
            most = max(most, deep)
        if most > DEEPEST:
            _refuse(file, piece.line + number, f"the line has {most:,} brackets within brackets")


def _refuse_wide(file: TextFile, piece: Piece) -> None:
    """Refuse an object of very many keys before a column is made of each."""
    if piece.data.count(b'":') <= MOST_COLUMNS:
        return
    for line in piece.data.split(b"\n"):
        if line.count(b'":') > MOST_COLUMNS:
            try:
                row = json.loads(line)
            except ValueError:  # refused later, with the reason
                continue
            refuse_many_columns(file.label, len(row))


def _types_of(file: TextFile, piece: Piece) -> ColumnTypes:
    _refuse_deep(file, piece)
    _refuse_wide(file, piece)
    table = _parse(piece, None)
    refuse_many_columns(file.label, 0 if table is None else table.num_columns)
    if table is None:
        rows = _rows(file, piece)
        types: dict[str, ValueType] = {}
        for row in rows:
            for name, value in row.items():
                types[name] = join(types.get(name, "null"), type_of_value(value))
        return ColumnTypes(types, len(rows))
    return ColumnTypes(
        {name: _type_of_arrow(table.column(name)) for name in table.column_names}, table.num_rows
    )


def _parse(piece: Piece, schema: Any) -> Any:
    """The piece as an Arrow table; None when Arrow cannot read it."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        piece.data.decode("utf-8")  # Arrow would let other bytes pass
        if not piece.data.strip():
            return None
        return arrow_json.read_json(
            io.BytesIO(piece.data),
            arrow_json.ReadOptions(use_threads=False, block_size=len(piece.data) + 1),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
            if schema is not None
            else None,
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _type_of_arrow(column: Any) -> ValueType:
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = column.type
    if pa.types.is_null(type_):
        return "null"
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_):
        return "float"
    if pa.types.is_nested(type_):
        return "nested"
    if pa.types.is_string(type_):
        known = pc.invert(pc.is_in(column, value_set=_missing()))
        return "text" if pc.any(known).as_py() else "null"
    return "text"  # Arrow reads some text as times


def _missing() -> Any:
    import pyarrow as pa

    return pa.array([*MISSING, None], pa.string())


def _batch(file: TextFile, piece: Piece, types: dict[str, ValueType]) -> "pa.RecordBatch":
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = pa.schema([(name, arrow_type(type_)) for name, type_ in types.items()])
    table = None if "nested" in types.values() else _parse(piece, schema)
    if table is None:
        rows = _rows(file, piece)
        columns = [
            pa.array([_converted(row.get(name), type_) for row in rows], arrow_type(type_))
            for name, type_ in types.items()
        ]
        return pa.record_batch(columns, schema=schema)
    columns = []
    for name, type_ in types.items():
        column = table.column(name).combine_chunks()
        if type_ == "text":
            column = pc.if_else(pc.equal(column, ""), None, column)
        columns.append(column)
    return pa.record_batch(columns, schema=schema)


def _converted(value: Any, type_: ValueType) -> Any:
    if type_ == "text" and isinstance(value, str):
        return value or None
    if type_of_value(value) == "null":
        return None
    if type_ == "text" and isinstance(value, float) and isnan(value):
        return None  # pandas and Python write a missing text as NaN
    if type_ in ("text", "nested"):
        return value if isinstance(value, str) else json.dumps(value)
    return float(value) if type_ == "float" else value


def _rows(file: TextFile, piece: Piece) -> list[dict[str, Any]]:
    """The objects of a piece, line by line; the first line that is not an object is refused."""
    rows = []
    for number, line in enumerate(piece.data.splitlines(), start=piece.line):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (ValueError, RecursionError) as error:
            _refuse(file, number, f"the line is not valid JSON in UTF-8 ({error})")
        if not isinstance(row, dict):
            _refuse(file, number, f"the line holds {type(row).__name__}, not an object")
        if b"\\u" in line and SURROGATES.search(json.dumps(row, ensure_ascii=False)):
            _refuse(file, number, "the line has half of a surrogate pair, such as \\ud800")
        rows.append(row)
    return rows


def _refuse(file: TextFile, line: int, problem: str) -> NoReturn:
    raise InvalidFile(
        file.label,
        f'{problem}; JSON lines has one object per line, {{"column": value, …}}. '
        "Fix the line, or pass the format that the file has.",
        line=line,
    ) from None
