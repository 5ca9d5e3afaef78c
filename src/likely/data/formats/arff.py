"""ARFF, Weka's format: a header that declares the columns, then rows of values.

    @relation name
    @attribute name {level, 'other level'}      categories, with these levels
    @attribute name numeric | real | integer    numbers
    @attribute name string | date [format]      text
    @data
    value, 'quoted value', ?                    ? is missing; % begins a comment

References
----------
Witten, Frank & Hall, Data Mining, 3rd ed., §2.4.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

from likely.data.formats.column_types import ValueType, arrow_type, join, type_of_strings
from likely.data.formats.text_files import TextFile, refuse_many_columns
from likely.data.source import Source, column_indices
from likely.errors import InvalidFile
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 16384
PEEK_BYTES = 2**16  # comments before the first declaration are shorter
NUMERIC = ("numeric", "real", "integer")
TEXT = ("string", "date")  # a date stays as it is written
TOKEN = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,%'"\s][^,%]*?)|)\s*(,|%|$)"""
)
ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{'"]+))\s*(.+)$""",
    re.IGNORECASE,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Attribute(NamedTuple):
    """A column as the header declares it."""

    name: str
    type: str  # "nominal", "number" or "text"
    levels: tuple[str, ...] = ()  # of a nominal one, in the order of the header


@final
@dataclass(frozen=True, eq=False)
class ArffSource(Source):
    """An ARFF file whose rows have been checked once."""

    file: TextFile
    attributes: tuple[Attribute, ...]  # of the file
    types: tuple[ValueType, ...]  # integer or float, where it is a number
    names: tuple[str, ...]  # the columns that are read
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    nbytes: int

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        wanted = column_indices([a.name for a in self.attributes], self.names)
        for rows in _pieces(self.file, self.attributes):
            columns = [
                _converted(self.file, rows, j, self.attributes[j], self.types[j]) for j in wanted
            ]
            yield pa.RecordBatch.from_arrays(columns, names=list(self.names))

    def select(self, names: Sequence[str]) -> "ArffSource":
        kinds = tuple(self.kinds[j] for j in column_indices(self.names, names))
        return replace(self, names=tuple(names), kinds=kinds)


class Row(NamedTuple):
    """The cells of a row, None where missing, and its line."""

    line: int
    cells: list[str | None]


def open_arff(file: TextFile) -> ArffSource:
    """The source of a file, after a pass that checks every row."""
    attributes = _header(file)
    refuse_many_columns(file.label, len(attributes))
    types: list[ValueType] = ["null" if a.type == "number" else "text" for a in attributes]
    n_rows = 0
    for rows in _pieces(file, attributes):
        n_rows += len(rows)
        for j, attribute in enumerate(attributes):
            if attribute.type == "number":
                types[j] = _number_type(file, rows, j, attribute, types[j])
            elif attribute.type == "nominal":
                _converted(file, rows, j, attribute, "text")  # refuses what is not declared
    if not n_rows:
        raise InvalidFile(
            file.label, "there is no row after @data; a table was expected. Check how it was made."
        )
    kinds: tuple[ColumnKind, ...] = tuple(
        "number" if attribute.type == "number" else "category" for attribute in attributes
    )
    names = tuple(attribute.name for attribute in attributes)
    return ArffSource(file, attributes, tuple(types), names, kinds, n_rows, file.nbytes)


def looks_like_arff(path: Path) -> bool:
    """Whether the first line that is not a comment is a declaration."""
    with open(path, "rb") as stream:
        lines = stream.read(PEEK_BYTES).decode("utf-8-sig", errors="replace").splitlines()
    stripped = (line.strip() for line in lines)
    return (
        next((line for line in stripped if line and line[0] != "%"), "").lower().startswith("@rel")
    )


def _content_lines(file: TextFile) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments."""
    for number, line in file.lines():
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _header(file: TextFile) -> tuple[Attribute, ...]:
    attributes: dict[str, Attribute] = {}
    for line, text in _content_lines(file):
        word = text.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                _refuse(file, line, "@data comes before any @attribute", "Declare the columns")
            return tuple(attributes.values())
        if word == "@attribute":
            attribute = _attribute(file, line, text)
            if attribute.name in attributes:
                problem = f"two columns are called {attribute.name!r}; names must differ"
                _refuse(file, line, problem, "Rename one of them")
            attributes[attribute.name] = attribute
        elif word != "@relation":
            problem = f"{text[:40]!r} comes before @data; @relation or @attribute was expected"
            _refuse(file, line, problem, "Fix the header, or pass the format that the file has")
    raise InvalidFile(file.label, "there is no @data line; rows were expected. Download it again.")


def _attribute(file: TextFile, line: int, text: str) -> Attribute:
    found = ATTRIBUTE.match(text)
    if found is None:
        problem = f"{text[:60]!r} is not a declaration; @attribute NAME TYPE was expected"
        _refuse(file, line, problem, "Give the column a name and a type")
    name = _unescaped(next(part for part in found.groups()[:3] if part is not None))
    type_ = found[4].strip()
    if type_.startswith("{"):
        return Attribute(name, "nominal", _levels(file, line, name, type_))
    word = type_.split()[0].lower()
    if word in NUMERIC:
        return Attribute(name, "number")
    if word in TEXT:
        return Attribute(name, "text")
    problem = (
        f"column {name!r} is of type {word!r}; numeric, string, date or {{levels}} was expected"
    )
    _refuse(file, line, problem, "Export it as a flat table, for instance as CSV")


def _levels(file: TextFile, line: int, name: str, text: str) -> tuple[str, ...]:
    body = re.match(r"""\{((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^}'"])*)\}""", text)
    if body is None:
        _refuse(file, line, f"the levels of {name!r} do not end with }}", "Close the brace")
    levels = _cells(file, line, body[1])
    if len(set(levels)) < len(levels) or not levels:
        what = "are not all different" if levels else "are none"
        _refuse(file, line, f"the levels of {name!r} {what}; each once was expected", "Fix them")
    return tuple("?" if level is None else level for level in levels)


def _pieces(file: TextFile, attributes: Sequence[Attribute]) -> Iterator[list[Row]]:
    """The rows after @data, some thousand at a time."""
    rows = _rows(file, len(attributes))
    while piece := list(islice(rows, BATCH_ROWS)):
        yield piece


def _rows(file: TextFile, width: int) -> Iterator[Row]:
    lines = _content_lines(file)
    next(None for _, text in lines if text.lower().startswith("@data"))
    for line, text in lines:
        if text[0] == "{":
            problem = "the row is sparse ({index value, …}); dense rows were expected"
            do = "Write it dense, in Weka with the filter SparseToNonSparse, or as CSV"
            _refuse(file, line, problem, do)
        cells = _cells(file, line, text)
        if len(cells) == width + 1 and (cells[-1] or "").startswith("{"):
            problem = f"the row ends with the weight {cells[-1]}; values alone were expected"
            _refuse(file, line, problem, "Make the weight a column, and name it with --weight")
        if len(cells) != width:
            problem = f"the row has {len(cells)} values; the header declares {width} columns"
            _refuse(file, line, problem, "Add or remove values, or quote the one with a comma")
        yield Row(line, cells)


def _cells(file: TextFile, line: int, text: str) -> list[str | None]:
    """The values of a line; None is an unquoted ``?``."""
    if not any(mark in text for mark in "'\"%"):
        mark = "\t" if "\t" in text and "," not in text else ","
        plain = [cell.strip() for cell in text.split(mark)]
        if "" in plain:
            _refuse_empty(file, line, plain.index(""))
        return [None if cell == "?" else cell for cell in plain]
    cells: list[str | None] = []
    place, more = 0, True
    while more:
        token = TOKEN.match(text, place)
        if token is None:
            problem = f"value {len(cells) + 1} is not quoted correctly"
            _refuse(file, line, problem, "Close it, and write \\' for a quote within")
        single, double, bare, end = token.groups()
        quoted = double if single is None else single
        if quoted is None and not bare:
            _refuse_empty(file, line, len(cells))
        cells.append(_unescaped(quoted) if quoted is not None else None if bare == "?" else bare)
        place, more = token.end(), end == ","
    return cells


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text)


def _converted(
    file: TextFile, rows: list[Row], j: int, attribute: Attribute, type_: ValueType
) -> Any:
    """A column as an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array([row.cells[j] for row in rows], pa.string())
    if attribute.type == "text":
        return texts
    if attribute.type == "number":
        return pc.cast(texts, arrow_type(type_))
    levels = pa.array(attribute.levels, pa.string())
    codes = pc.index_in(texts, value_set=levels)
    if codes.null_count > texts.null_count:
        row = next(
            row
            for row, code in zip(rows, codes.to_pylist(), strict=True)
            if code is None and row.cells[j] is not None
        )
        problem = (
            f"column {attribute.name!r} has the value {row.cells[j]!r}; one of its declared levels "
            f"({', '.join(attribute.levels[:6])}{', …' if len(attribute.levels) > 6 else ''}) was "
            "expected"
        )
        _refuse(file, row.line, problem, "Declare the level in the header, or fix the value")
    return pa.DictionaryArray.from_arrays(codes, levels)


def _number_type(
    file: TextFile, rows: list[Row], j: int, attribute: Attribute, known: ValueType
) -> ValueType:
    """Integer or float: the narrowest type that holds the numbers so far."""
    import pyarrow as pa

    for_numbers: ValueType = (
        "integer" if known == "null" else known
    )  # true and false are not numbers
    found = type_of_strings(pa.array([row.cells[j] for row in rows], pa.string()), for_numbers)
    if found != "text":
        only_missing = known == "null" and all(row.cells[j] is None for row in rows)
        return "null" if only_missing else join(known, found)
    for row in rows:
        cell = row.cells[j]
        if cell is not None and type_of_strings(pa.array([cell]), "integer") == "text":
            problem = f"column {attribute.name!r} has the value {cell!r}; a number was expected"
            _refuse(file, row.line, problem, "Fix it, or write ? for a missing value")
    raise AssertionError("one of the values is not a number")


def _refuse_empty(file: TextFile, line: int, place: int) -> NoReturn:
    problem = f"value {place + 1} is empty; a value, or ? where it is missing, was expected"
    _refuse(file, line, problem, "Write ? or the value")


def _refuse(file: TextFile, line: int, problem: str, do: str) -> NoReturn:
    raise InvalidFile(file.label, f"{problem}. {do}.", line=line) from None
