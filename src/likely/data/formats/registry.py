"""Files as sources: tables that are read in chunks, as often as needed.

``read`` chooses the reader by the suffix of the name.  To add a format, write one
file with one source and list it in ``READERS``.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, final

from likely.data.arrow import plain_types
from likely.data.arrow_columns import kind_of_arrow
from likely.data.formats.arff import looks_like_arff, open_arff
from likely.data.formats.csv_files import open_csv
from likely.data.formats.folders import open_folder_of_texts
from likely.data.formats.json_lines import open_json_lines
from likely.data.formats.mbox import open_mbox
from likely.data.formats.text_files import (
    PARQUET,
    first_bytes,
    refuse_many_columns,
    spooled,
    text_file,
)
from likely.data.formats.workbooks import WORKBOOKS, ZIP, is_opendocument, open_workbook
from likely.data.readings.table_readings import AskedReadings, Given, with_readings
from likely.data.source import Source, column_indices
from likely.errors import InvalidFile, UnknownName
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "ParquetSource", "Source", "read"]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arff", "mbox", "xlsx", "ods")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".mbox": "mbox",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".ods": "ods",
}
BATCH_ROWS = 16384
SMALL_TABLE = 2**26  # bytes, which any file may hold; look needs up to nine times as much
MOST_EXPANSION = 300  # times the bytes of a Parquet file, in the table of a larger one
LARGE_FILE = 16 * 2**20  # bytes; its cells are not measured before it is read
SHEETS = (".xls", ".xlsb", ".numbers")  # workbooks of other forms


@final
@dataclass(frozen=True, eq=False)
class ParquetSource(Source):
    """A Parquet file, which knows its types."""

    path: Path
    label: str
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    nbytes: int
    spool: Any = None  # keeps a temporary file in being

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        try:
            # a buffer ahead would keep all that was read until the end
            with ParquetFile(self.path, pre_buffer=False) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=list(self.names)):
                    yield plain_types(batch.select(list(self.names)))
        except (pa.ArrowException, OSError) as error:
            raise InvalidFile(
                self.label,
                f"a part cannot be read ({error}); a complete Parquet file was expected. "
                "Download or write it again.",
            ) from None

    def select(self, names: Sequence[str]) -> "ParquetSource":
        kinds = tuple(self.kinds[j] for j in column_indices(self.names, names))
        return replace(self, names=tuple(names), kinds=kinds)


def read(
    path: str | Path | IO[Any],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    number: Given | None = None,
    date: Given | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Source:
    """The table in a file: CSV, TSV, JSON lines, ARFF (each also gzipped), Parquet or mbox.

    A folder is read as texts, if it has a folder of them for each class.

    ``path`` may be an open stream, and ``"-"`` is the standard input; both are copied to a
    temporary file, as the data are read more than once.  ``format`` is one of ``FORMATS``;
    None uses the name, and for a stream its first bytes.

    Numbers and dates of a text file or a workbook are recognised as spreadsheets write them, column
    by column; ``source.readings`` says how, and which columns leave a question.

    Parameters
    ----------
    number : sequence of str, or mapping of str to str
        Columns of numbers, such as ``["price"]``; or with their decimal mark, ``{"price": ","}``
        (``",%"`` for per cent).  Words in them are missing.
    date : sequence of str, or mapping of str to str
        Columns of dates; or with their form: day-first, month-first, year-first, iso, excel (days
        since 1899-12-30), or a format such as ``{"when": "%d/%m/%Y"}``.
    decimal : {".", ","}
        The decimal mark of all columns in which both are possible.
    sheet : str
        The sheet of a workbook; it may be left out if one sheet has a table.

    Returns
    -------
    Source
        Reads the rows in chunks as often as needed; ``to_frame()`` gives a frame.

    Examples
    --------
    >>> import io, likely
    >>> file = io.BytesIO(b'price;sold\\n"1.204,50 EUR";18/05/2021\\n3,20 EUR;02/06/2021\\n')
    >>> table = likely.read(file)
    >>> table.to_frame("pyarrow").to_pylist()[0]
    {'price': 1204.5, 'sold': datetime.datetime(2021, 5, 18, 0, 0)}
    """
    asked = AskedReadings.of(number, date, decimal)
    return read_as(path, HowToRead(asked, sheet), format=format, delimiter=delimiter)


class HowToRead(NamedTuple):
    """What was said about the way in which a file is written."""

    asked: AskedReadings = AskedReadings()
    sheet: str | None = None  # of a workbook


def read_as(
    path: str | Path | IO[Any],
    how: HowToRead,
    *,
    format: str | None = None,
    delimiter: str | None = None,
) -> Source:
    """The table in a file, read as was said."""
    asked, sheet = how
    if format is not None and format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if not isinstance(path, str | Path):
        place, label, spool = spooled(path)
    elif str(path) == "-":
        place, label, spool = spooled(_standard_input())
    elif Path(path).is_dir():
        return with_readings(open_folder_of_texts(Path(path)), asked)
    else:
        place, label, spool = _existing_file(Path(path)), str(path), None
    chosen = format or (_format_of_name(place) if spool is None else _format_of_bytes(place))
    try:
        if chosen in WORKBOOKS:
            return open_workbook(place, label, chosen, sheet, asked)
        if sheet is not None:
            raise InvalidFile(
                label,
                f"the sheet {sheet!r} was given, and the file is no workbook (.xlsx, .ods). Leave "
                "the sheet out.",
            )
        if chosen == "parquet":
            return with_readings(_open_parquet(place, label, spool), asked)
        if chosen == "mbox":
            return with_readings(open_mbox(place), asked)
        file = text_file(place, label, spool=spool)
        if chosen in ("jsonl", "arff"):
            opened = open_json_lines(file) if chosen == "jsonl" else open_arff(file)
            return with_readings(opened, asked)
        mark = delimiter or ("\t" if chosen == "tsv" else None)
        return open_csv(file, delimiter=mark, asked=asked)
    except BaseException:
        if spool is not None:
            spool.close()
        raise


def _standard_input() -> IO[Any]:
    import sys

    return sys.stdin


def _format_of_name(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    known = f"the known suffixes are {', '.join(SUFFIXES)}"
    if suffix in SHEETS:
        raise InvalidFile(
            path,
            f"it is a workbook of another form; {known}. Save it as .xlsx, .ods or CSV in the "
            "program that made it.",
        )
    if suffix == ".json":
        raise InvalidFile(
            path,
            f"the name ends in '.json'; {known}. Write one object per line and name it .jsonl, for "
            "instance with jq -c '.[]'.",
        )
    ends = f"the name ends in {suffix!r}" if suffix else "the name has no suffix of a table format"
    raise InvalidFile(
        path,
        f"{ends}; {known}. Rename the file, or in Python pass format='csv' or another of "
        f"{', '.join(FORMATS)}.",
    )


def _format_of_bytes(path: Path) -> str:
    start = first_bytes(path)
    if start.startswith(ZIP):
        return "ods" if is_opendocument(path) else "xlsx"
    if start.startswith(PARQUET):
        return "parquet"
    if start.lstrip()[:1] == b"{":
        return "jsonl"
    return "arff" if looks_like_arff(path) else "csv"


def _open_parquet(path: Path, label: str, spool: object) -> ParquetSource:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            refuse_many_columns(label, file.metadata.num_columns)
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
            most = max(SMALL_TABLE, MOST_EXPANSION * path.stat().st_size)
            decoded = _decoded_bytes(path, file, most)
    except (pa.ArrowException, OSError) as error:
        text = not first_bytes(path).startswith(PARQUET)
        do = "Pass the format that it has, such as format='csv'." if text else "Write it again."
        raise InvalidFile(
            label, f"it is not a complete Parquet file, although its name says so ({error}). {do}"
        ) from None
    names = tuple(schema.names)
    columns = Counter(names)
    for name in names:
        if columns[name] > 1:
            raise InvalidFile(
                label, f"two columns are called {name!r}; names must differ. Rename one of them."
            )
    if not n_rows:
        raise InvalidFile(label, "there is no row; a table was expected. Check how it was made.")
    if decoded > most:
        raise InvalidFile(
            label,
            f"the file has {path.stat().st_size:,} bytes, and its table would have at least "
            f"{decoded:,}, because long or many cells are repeated; it may be damaged or made to "
            "fill the memory. Keep the columns that are needed, with short cells, write equal rows "
            "once with a column of their number (weight=), and write it again.",
        )
    kinds = tuple(kind_of_arrow(type_) for type_ in schema.types)
    return ParquetSource(path, label, names, kinds, n_rows, path.stat().st_size, spool)


def _decoded_bytes(path: Path, file: Any, most: int) -> int:
    """The bytes of the table in a Parquet file, until they exceed ``most``.

    Text that is repeated is in the file once, in a dictionary, which is read as it is; of a large
    file it is not measured.
    """
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

    metadata = file.metadata
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    of_row = sum(map(_fewest_bytes, file.schema_arrow.types))
    total = sum(max(g.total_byte_size, int(g.num_rows * of_row)) for g in groups)
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    if path.stat().st_size > LARGE_FILE or not texts or total > most:
        return total
    with ParquetFile(path, read_dictionary=texts) as coded:
        for batch in coded.iter_batches(BATCH_ROWS, columns=texts):
            for column in batch.columns:
                places = column.indices.drop_null().to_numpy(zero_copy_only=False)
                total += int(pc.binary_length(column.dictionary).to_numpy()[places].sum())
            if total > most:
                break
    return total


def _fewest_bytes(kind: "pa.DataType") -> float:
    """Of a cell of this type, whatever it holds: a number, or where a text starts."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return 1.0
    if pa.types.is_primitive(kind):
        return float(kind.bit_width) / 8
    return 4.0 if _is_text(kind) else 1.0


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _existing_file(path: Path) -> Path:
    """The path of an existing file that is not empty."""
    if not path.exists():
        folder = path.parent
        others = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        close = get_close_matches(path.name, others, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InvalidFile(path, f"there is no such file. Check the path.{hint}")
    if not path.is_file():
        raise InvalidFile(
            path,
            "is a pipe or a device, which cannot be read twice; a file was expected. Give '-' as "
            "DATA, and the pipe as standard input.",
        )
    if not os.access(path, os.R_OK):
        raise InvalidFile(path, "permission to read the file is denied. Change its permissions.")
    if path.is_file() and path.stat().st_size == 0:
        raise InvalidFile(
            path, "the file is empty; a table was expected. Check how it was written."
        )
    return path
