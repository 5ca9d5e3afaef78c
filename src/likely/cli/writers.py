"""Tables written chunk by chunk: CSV, TSV, JSON lines or Parquet, by the suffix of the name.

A file is written under a temporary name and renamed when it is whole; the standard output as it
comes.  To add a format, write one class and list it in ``WRITERS``.
"""

import csv
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO, final

from likely.cli.exits import Exit, Refusal
from likely.files import file_made_whole

Columns = dict[str, list[Any]]  # equally long
Say = Callable[[str], object]


class Writer(ABC):
    """The contract: chunks come in order, ``close`` ends the file."""

    @abstractmethod
    def write(self, columns: Columns) -> None: ...

    def close(self) -> None:  # noqa: B027  # text needs no end
        pass


@final
class Delimited(Writer):
    """CSV, or TSV with another delimiter."""

    def __init__(self, say: Say, names: list[str], delimiter: str) -> None:
        self._say, self._delimiter = say, delimiter
        self._write_rows([names])

    def write(self, columns: Columns) -> None:
        self._write_rows(zip(*columns.values(), strict=True))

    def _write_rows(self, rows: Iterable[Iterable[Any]]) -> None:
        text = StringIO(newline="")
        csv.writer(text, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        self._say(text.getvalue())


@final
class JsonLines(Writer):
    """One JSON object per row."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def write(self, columns: Columns) -> None:
        for row in zip(*columns.values(), strict=True):
            record = dict(zip(columns, row, strict=True))
            self._say(json.dumps(record, ensure_ascii=False) + "\n")


@final
class Parquet(Writer):
    """Parquet; the first chunk settles the types."""

    def __init__(self, file: BinaryIO, names: list[str]) -> None:
        self._file = file
        self._names = names
        self._writer: Any = None

    def write(self, columns: Columns) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table = pa.table(columns)
        if self._writer is None:
            self._writer = ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is None:  # no chunk: the columns alone
            import pyarrow as pa

            types = [pa.string(), *[pa.float64()] * (len(self._names) - 1)]
            empty = zip(self._names, types, strict=True)
            self.write({name: pa.array([], kind) for name, kind in empty})
        self._writer.close()


WRITERS = (".csv", ".tsv", ".jsonl", ".parquet")


def write_table(
    output: str, names: list[str], chunks: Iterable[Columns]
) -> tuple[int, Path | None]:
    """Write all chunks; the number of rows, and the file (None for the standard output)."""
    if output == "-":
        n = _write_all(Delimited(sys.stdout.write, names, ","), chunks)
        sys.stdout.flush()
        return n, None
    path = Path(output)
    if path.suffix.lower() not in WRITERS:
        raise Refusal(
            f"{output!r} ends in {path.suffix or 'no suffix'!r}; predictions are written as "
            f"{', '.join(WRITERS)}. Choose one of these names.",
            Exit.USAGE,
            "likely predict --help",
        )
    with file_made_whole(path) as file:
        n = _write_all(_writer_of(path.suffix.lower(), file, names), chunks)
    return n, path


def _writer_of(suffix: str, file: BinaryIO, names: list[str]) -> Writer:
    def say(text: str) -> None:
        file.write(text.encode())

    if suffix == ".parquet":
        return Parquet(file, names)
    if suffix == ".jsonl":
        return JsonLines(say)
    return Delimited(say, names, "\t" if suffix == ".tsv" else ",")


def _write_all(writer: Writer, chunks: Iterable[Columns]) -> int:
    n = 0
    try:
        for columns in chunks:
            writer.write(columns)
            n += len(next(iter(columns.values())))
    finally:
        writer.close()
    return n
