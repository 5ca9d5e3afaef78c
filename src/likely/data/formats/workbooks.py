"""Workbooks, ``.xlsx`` and ``.ods``: one sheet as a table in memory.

Cells keep the values that the program has computed, with their types: numbers, per cent as
fractions, dates (also where they are stored as days since 1899-12-30), Booleans and text.  Text is
read as in any text file, and ``sheet_layout`` says where the table is.

``.xlsx`` needs the package openpyxl (extra ``sheets``).  Every part of the archive is checked
before it is parsed: one that declares entities is refused, and so is an archive that is very large
when it is unpacked.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ParseError, iterparse
from xml.parsers.expat import ExpatError, ParserCreate
from zipfile import BadZipFile, ZipFile

from likely.data.arrow import TableSource
from likely.data.formats.text_files import refuse_many_columns
from likely.data.readings.sheet_layout import Cell, Row, SheetTable, UnclearSheet, table_in
from likely.data.readings.table_readings import AskedReadings, with_readings
from likely.data.readings.written_values import NO_VALUE, shown
from likely.data.source import Source
from likely.errors import InvalidFile, InvalidInput, LikelyError
from likely.output.formatting import all_listed, count

if TYPE_CHECKING:
    import pyarrow as pa

WORKBOOKS = ("xlsx", "ods")
ZIP = b"PK\x03\x04"
INSTALL = "pip install 'likely[sheets]'"
MOST_BYTES = 2**30  # of a workbook whose parts are unpacked
MOST_CELLS = 50_000_000
WIDEST = 2**14  # columns of a sheet, in every spreadsheet program
SAMPLE_BYTES = 2**16  # of a part, in which declarations of entities are looked for at a time
SHEETS_OF_XLSX = "xl/worksheets/"
MOST_CHECKED = 2**28  # bytes of a sheet whose formulas are looked at
NOT_COMPUTED = re.compile(rb"(?:</f>|<f[^>]*/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")
NOT_WHOLE = (BadZipFile, ParseError, ExpatError, KeyError, EOFError, OSError)


def is_opendocument(path: Path) -> bool:
    """Whether an archive is a workbook of OpenDocument."""
    with ZipFile(path) as archive:
        return "content.xml" in archive.namelist()


def open_workbook(
    path: Path, label: str, format: str, sheet: str | None, asked: AskedReadings
) -> Source:
    """The table of a sheet; a workbook that is damaged, unclear or dangerous is refused."""
    try:
        _refuse_bombs(path, label)
        sheets = SHEETS_OF[format](path)
        name, table = _chosen(sheets, sheet)
    except NOT_WHOLE as error:
        raise InvalidFile(
            label,
            f"it is not a complete workbook, although its name says so ({error}). Save it again, "
            "or export the sheet as CSV.",
        ) from None
    except UnclearSheet as error:
        raise InvalidFile(label, str(error), option=error.option) from None
    refuse_many_columns(label, len(table.names))
    for name_ in table.names:
        if table.names.count(name_) > 1:
            raise InvalidFile(
                label, f"two columns are called {name_!r}; names must differ. Rename one of them."
            )
    remarks = list(table.remarks)
    columns = {
        column: _column([row[j] for row in table.rows], column, remarks)
        for j, column in enumerate(table.names)
    }
    if len(sheets) > 1:
        remarks.insert(0, f"The table is that of sheet {name!r}.")
    import pyarrow as pa

    table_of = TableSource(pa.table(columns))
    own = name if len(sheets) > 1 else None
    return with_readings(table_of, asked, every=True, remarks=remarks, sheet=own)


def _chosen(sheets: dict[str, list[Row]], sheet: str | None) -> tuple[str, SheetTable]:
    """The sheet that was named; else the only one that holds a table."""
    if sheet is not None:
        if sheet not in sheets:
            named = all_listed([repr(name) for name in sheets])
            raise UnclearSheet(f"there is no sheet {sheet!r}; the sheets are {named}. Name one.")
        return sheet, table_in(sheets[sheet])
    found = [name for name, rows in sheets.items() if any(map(any, rows))]
    if len(found) > 1:
        option = f"--sheet {shlex.quote(found[0])}"
        raise UnclearSheet(
            f"there are {len(found)} sheets with cells, "
            f"{all_listed([repr(n) for n in found])}; one table was expected. "
            f"Say which, for instance {option} (sheet={found[0]!r}).",
            option,
        )
    name = found[0] if found else next(iter(sheets), "")
    return name, table_in(sheets.get(name, []))


def _refuse_bombs(path: Path, label: str) -> None:
    """Refuse an archive that unpacks to very much, or whose parts declare entities."""
    with ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > MOST_BYTES:
            raise InvalidFile(
                label,
                f"its parts would take {unpacked:,} bytes, more than {MOST_BYTES:,}; it may be "
                "made to fill the memory. Export the sheet as CSV.",
            )
        for part in archive.infolist():
            if not part.filename.lower().endswith((".xml", ".rels")):
                continue
            met: list[str] = []
            parser = ParserCreate()
            parser.StartDoctypeDeclHandler = lambda *_, met=met: met.append("type")
            parser.StartElementHandler = lambda *_, met=met: met.append("element")
            with archive.open(part) as stream:
                while not met and (piece := stream.read(SAMPLE_BYTES)):
                    parser.Parse(piece, False)
            if "type" in met[:1]:
                raise InvalidFile(
                    label,
                    f"its part {part.filename!r} declares entities, which no workbook needs; it is "
                    "not read. Save it again in the program that made it.",
                )
            is_sheet = part.filename.startswith(SHEETS_OF_XLSX) and part.file_size < MOST_CHECKED
            n = len(NOT_COMPUTED.findall(archive.read(part))) if is_sheet else 0
            if n:
                raise InvalidFile(
                    label,
                    f"{count(n, 'cell')} hold a formula without its value, as in files that no "
                    "spreadsheet program has saved. Open and save it in one.",
                )


def _sheets_of_xlsx(path: Path) -> dict[str, list[Row]]:
    try:
        import openpyxl
    except ImportError:
        raise InvalidInput(
            f"{path.name} is a workbook, which the package openpyxl reads, and it is not "
            f"installed. Install it ({INSTALL}), or export the sheet as CSV."
        ) from None
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and validations, which are not read
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    found: dict[str, list[Row]] = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # which some programs write wrongly
        found[sheet.title] = _trimmed_rows((row, 1) for row in sheet.iter_rows(values_only=True))
    book.close()
    return found


def _sheets_of_ods(path: Path) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    with ZipFile(path) as archive, archive.open("content.xml") as stream:
        for _, element in iterparse(stream, events=("end",)):
            if element.tag == f"{TABLE}table":
                name = element.get(f"{TABLE}name", "")
                found[name] = _trimmed_rows(_rows_of_ods(element, name))
                element.clear()
    return found


def _rows_of_ods(table: Element, sheet: str) -> "Iterator[tuple[Row, int]]":
    """Each row, and how often it stands there."""
    number = 1
    for row in table.iter(f"{TABLE}table-row"):
        cells: list[Cell] = []
        for cell in row:
            place = f"the cell in row {number:,}, column {len(cells) + 1:,} of sheet {sheet!r}"
            times = _times(cell, "columns", place)
            value = _value_of_ods(cell, place) if cell.tag == f"{TABLE}table-cell" else None
            if value is not None and len(cells) + times > WIDEST:
                raise UnclearSheet(
                    f"{place} is repeated {times:,} times; a sheet of {WIDEST:,} columns at most "
                    "was expected. Export it as CSV."
                )
            cells += [value] * min(times, WIDEST - len(cells))
        times = _times(row, "rows", f"row {number:,} of sheet {sheet!r}")
        yield cells, times
        number += times


def _times(element: Element, what: str, place: str) -> int:
    """How often a cell or a row stands there."""
    written = element.get(f"{TABLE}number-{what}-repeated", "1")
    if not re.fullmatch(r"[1-9][0-9]{0,17}", written):
        raise _misread(place, f"is repeated {written!r} times", "a whole number")
    return int(written)


def _value_of_ods(cell: Element, place: str) -> Cell:
    kind = cell.get(f"{OFFICE}value-type")
    if kind is None:
        return None
    if kind in ("float", "currency", "percentage"):
        written = cell.get(f"{OFFICE}value", "nan")
        try:
            return int(written) if re.fullmatch(r"-?\d{1,15}", written) else float(written)
        except ValueError:
            raise _misread(place, f"holds {written!r}", "a number such as 1.5") from None
    if kind == "boolean":
        return cell.get(f"{OFFICE}boolean-value") == "true"
    if kind == "date":
        written = cell.get(f"{OFFICE}date-value", "")
        try:
            return datetime.fromisoformat(written[:26])
        except ValueError:
            raise _misread(place, f"holds {written!r}", "a date such as 2021-05-13") from None
    if kind == "time" and (parts := DURATION.fullmatch(cell.get(f"{OFFICE}time-value", ""))):
        hours, minutes, seconds = map(int, parts.groups())
        return (hours + minutes / 60 + seconds / 3600) / 24  # a part of a day, as in .xlsx
    return "\n".join("".join(part.itertext()) for part in cell.iter(f"{TEXT}p"))


def _misread(place: str, found: str, expected: str) -> UnclearSheet:
    return UnclearSheet(
        f"{place} {found}; {expected} was expected, as spreadsheet programs write it. Open and "
        "save it in one, or export the sheet as CSV."
    )


def _trimmed_rows(rows: "Iterable[tuple[Row, int]]") -> list[Row]:
    """The rows up to the last one that has a cell; refused if there are too many cells."""
    kept: list[Row] = []
    blank, width = 0, 0
    for row, times in rows:
        n = max((j for j, cell in enumerate(row, start=1) if cell is not None), default=0)
        if not n:
            blank += times
            continue
        width = max(width, n)
        if width * (len(kept) + blank + times) > MOST_CELLS:
            raise UnclearSheet(
                f"a sheet has more than {MOST_CELLS:,} cells from its first to its last. Export "
                "it as CSV, which is read in chunks."
            )
        kept += [()] * blank
        kept += [row[:n]] * times
        blank = 0
    return kept


def _column(cells: Sequence[Cell], name: str, remarks: list[str]) -> "pa.Array":
    """Cells as one Arrow column: of one type, else as text."""
    import pyarrow as pa

    values = [cell for cell in cells if cell is not None]
    others = {cell for cell in values if isinstance(cell, str)}
    if others and others <= NO_VALUE and len(others) < len({*map(str, values)}):
        n = sum(isinstance(cell, str) for cell in values)
        named = all_listed([repr(word) for word in sorted(others)])
        what = "is" if n == 1 else "are"
        remarks.append(
            f"Column {name!r}: {count(n, 'cell')} without a value ({named}) {what} read as missing."
        )
        cells = [None if isinstance(cell, str) else cell for cell in cells]
        values = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool) for cell in values):
        return pa.array(cells, pa.bool_() if values else pa.float64())
    if any(isinstance(cell, bool) for cell in values):
        return pa.array([None if cell is None else _written(cell) for cell in cells], pa.string())
    if all(isinstance(cell, int) and abs(cell) < 2**63 for cell in values):
        return pa.array(cells, pa.int64())
    if all(isinstance(cell, int | float) for cell in values):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())  # type: ignore[arg-type]  # numbers
    if all(isinstance(cell, datetime | date) for cell in values):
        return pa.array(cells, pa.timestamp("us"))
    if all(isinstance(cell, time | timedelta) for cell in values):
        return pa.array([None if cell is None else _part_of_day(cell) for cell in cells])
    return pa.array([None if cell is None else _written(cell) for cell in cells], pa.string())


def _part_of_day(cell: object) -> float:
    """A time of day, or a duration, as the fraction of a day that the workbook holds."""
    if isinstance(cell, timedelta):
        return cell / timedelta(days=1)
    assert isinstance(cell, time)
    seconds = cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
    return float(seconds / 86400)


def _written(cell: Cell) -> str:
    """A cell beside cells of another type, as text."""
    return str(cell).lower() if isinstance(cell, bool) else shown(cell)


SHEETS_OF: Mapping[str, Callable[[Path], dict[str, list[Row]]]] = {
    "xlsx": _sheets_of_xlsx,
    "ods": _sheets_of_ods,
}


def has_sheet(data: object, sheet: str | None) -> bool:
    """Whether data are the path of a workbook that has such a sheet."""
    format = Path(data).suffix[1:].lower() if isinstance(data, str | Path) else ""
    if sheet is None or format not in SHEETS_OF or not Path(str(data)).is_file():
        return False
    try:
        _refuse_bombs(Path(str(data)), str(data))
        return sheet in SHEETS_OF[format](Path(str(data)))
    except (*NOT_WHOLE, LikelyError, UnclearSheet):
        return False  # reading it says why
