"""Files of evidence for a whole table: CSV, TSV or Parquet, with a row for each observation.

Cells of text files stay text: a network may have states called ``NA``, ``None`` or ``007``.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from likely.data.formats.csv_files import delimiter_of
from likely.data.formats.text_files import TextFile
from likely.errors import InvalidFile

PARQUET = (".parquet", ".pq")


def read_rows(path: str) -> Any:
    """The rows of a file as an Arrow table; ``-`` is standard input, as CSV."""
    import pyarrow as pa

    if path == "-":
        with TemporaryDirectory() as folder:
            copy = Path(folder, "rows.csv")
            copy.write_bytes(sys.stdin.buffer.read())
            return pa.table(_columns(TextFile(copy, "standard input")))
    file = Path(path)
    if not file.is_file():
        raise InvalidFile(path, "there is no such file; rows of evidence were expected.")
    if file.suffix.lower() in PARQUET:
        from pyarrow.parquet import read_table

        try:
            return read_table(file)
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidFile(path, f"it is no Parquet file ({error}).") from None
    return pa.table(_columns(TextFile(file, path, gzipped=file.suffix.lower() == ".gz")))


def _columns(file: TextFile) -> dict[str, list[str]]:
    """The cells of each column, as they are written."""
    first = next((line for _, line in file.lines()), "")
    rows = _rows(file, delimiter_of(first))
    names = next(rows, (1, []))[1]
    if not names or len(set(names)) < len(names):
        raise InvalidFile(
            file.label, "its first line has no names, or one twice; a header was expected.", line=1
        )
    cells: list[list[str]] = []
    for line, row in rows:
        if not row:
            continue
        if len(row) != len(names):
            raise InvalidFile(
                file.label,
                f"there are {len(row)} cells; {len(names)} were expected, as in the header.",
                line=line,
            )
        cells.append(row)
    return {name: [row[j] for row in cells] for j, name in enumerate(names)}


def _rows(file: TextFile, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((line for _, line in file.lines()), delimiter=delimiter, strict=True)
    while True:
        try:
            yield reader.line_num + 1, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidFile(file.label, f"{error}", line=reader.line_num) from None
