"""Tables written by chunks: CSV, TSV, JSON lines (each also gzipped) or Parquet."""

import csv
import json
from codecs import getwriter
from collections.abc import Iterable
from gzip import GzipFile
from pathlib import Path
from typing import Any, BinaryIO

from likely.errors import InvalidInput
from likely.storage.files import file_made_whole

Chunk = dict[str, Any]  # columns of equal length: lists, or Arrow arrays
TEXTS = (".csv", ".tsv", ".jsonl")
WORKBOOKS = (".xlsx", ".xls", ".ods")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet runs
SUFFIXES = (*TEXTS, *(f"{suffix}.gz" for suffix in TEXTS), ".parquet")


def write_table(
    path: Path, names: list[str], chunks: Iterable[Chunk], *, safe: bool = False
) -> int:
    """Write all chunks; the number of rows.

    The file gets its name only when it is complete.  In ``safe`` CSV or TSV, no cell of text is a
    formula of a spreadsheet.
    """
    suffix = next((each for each in SUFFIXES if path.name.lower().endswith(each)), None)
    if suffix is None:
        raise InvalidInput(about_suffix(path))
    with file_made_whole(path) as file:
        if suffix == ".parquet":
            return _write_parquet(file, names, chunks)
        if not suffix.endswith(".gz"):
            return _write_text(file, suffix, names, chunks, safe)
        with GzipFile("", "wb", fileobj=file, mtime=0) as compressed:  # equal tables, equal bytes
            return _write_text(compressed, suffix, names, chunks, safe)


def about_suffix(path: Path) -> str:
    """Why no table is written to a file of that name."""
    opened = " A spreadsheet opens .csv." if path.suffix.lower() in WORKBOOKS else ""
    return (
        f"{str(path)!r} has the suffix {path.suffix!r}; expected one of {', '.join(SUFFIXES)}. "
        f"Choose another name.{opened}"
    )


def _write_text(
    file: Any, suffix: str, names: list[str], chunks: Iterable[Chunk], safe: bool
) -> int:
    text = getwriter("utf-8")(file)
    if suffix.startswith(".jsonl"):
        return _write_json_lines(text, chunks)
    tabs = suffix.startswith(".tsv")
    return write_delimited(text, names, chunks, "\t" if tabs else ",", safe)


def is_same_file(given: str, output: str) -> bool:
    """Whether both are names of one file, which the output would replace."""
    return Path(given).is_file() and Path(output).is_file() and Path(given).samefile(output)


def write_delimited(
    file: Any, names: list[str], chunks: Iterable[Chunk], delimiter: str, safe: bool
) -> int:
    """CSV or TSV, written chunk by chunk; the number of rows."""
    writer, n = csv.writer(file, delimiter=delimiter, lineterminator="\n"), 0
    written = _no_formulas if safe else list
    writer.writerow(written(names))
    for columns in chunks:
        cells = (written(_plain_cells(column)) for column in columns.values())
        writer.writerows(zip(*cells, strict=True))
        n += len(columns[names[0]])
    return n


def _write_json_lines(file: Any, chunks: Iterable[Chunk]) -> int:
    """One JSON object per row; the number of rows."""
    n = 0
    for columns in chunks:
        lists = (each if isinstance(each, list) else each.to_pylist() for each in columns.values())
        for row in zip(*lists, strict=True):
            record = dict(zip(columns, row, strict=True))
            file.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")
            n += 1
    return n


def _no_formulas(cells: list[Any]) -> list[Any]:
    """Text that a spreadsheet would run as a formula, after an apostrophe; numbers as they are."""
    return [
        f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in cells
    ]


def _plain_cells(column: Any) -> list[Any]:
    """A column as a list; of an Arrow array, Booleans as text files write them."""
    if isinstance(column, list):
        return column
    words = {True: "true", False: "false"}
    return [words[each] if isinstance(each, bool) else each for each in column.to_pylist()]


def _write_parquet(file: BinaryIO, names: list[str], chunks: Iterable[Chunk]) -> int:
    """Parquet, with the types of the first chunk; the number of rows."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = [pa.string(), *[pa.float64()] * (len(names) - 1)]
    writer, n = None, 0
    try:
        for columns in chunks:
            table = pa.table(columns)
            writer = writer or ParquetWriter(file, table.schema)
            writer.write_table(table)
            n += table.num_rows
        if writer is None:  # no chunk: the columns without rows
            writer = ParquetWriter(file, pa.schema(list(zip(names, types, strict=True))))
    finally:
        if writer is not None:
            writer.close()
    return n
