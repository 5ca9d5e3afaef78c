"""Tables written chunk by chunk: CSV, TSV, JSON lines or Parquet, by the suffix of the name.

A file is written under a temporary name and renamed when it is whole.  To add a format, write
one class and list it in ``WRITERS``.
"""

import csv
import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO, final

from likely.cli.exits import Exit, Refusal

Columns = dict[str, list[Any]]  # equally long


class Writer(ABC):
    """The contract: chunks come in order, ``close`` ends the file."""

    @abstractmethod
    def write(self, columns: Columns) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


@final
class Delimited(Writer):
    """CSV, or TSV with another delimiter."""

    def __init__(self, stream: TextIO, names: list[str], delimiter: str) -> None:
        self._stream = stream
        self._writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(names)

    def write(self, columns: Columns) -> None:
        self._writer.writerows(zip(*columns.values(), strict=True))

    def close(self) -> None:
        self._stream.flush()


@final
class JsonLines(Writer):
    """One JSON object per row."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, columns: Columns) -> None:
        for row in zip(*columns.values(), strict=True):
            record = dict(zip(columns, row, strict=True))
            self._stream.write(json.dumps(record, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._stream.flush()


@final
class Parquet(Writer):
    """Parquet; the first chunk settles the types."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self._path = path
        self._names = names
        self._writer: Any = None

    def write(self, columns: Columns) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table = pa.table(columns)
        if self._writer is None:
            self._writer = ParquetWriter(self._path, table.schema)
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
        return _write_all(Delimited(sys.stdout, names, ","), chunks), None
    path = Path(output)
    if path.suffix.lower() not in WRITERS:
        raise Refusal(
            f"{output!r} ends in {path.suffix or 'no suffix'!r}; predictions are written as "
            f"{', '.join(WRITERS)}. Choose one of these names.",
            Exit.USAGE,
            "likely predict --help",
        )
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        n = _write_file(draft, path.suffix.lower(), names, chunks)
        os.replace(draft, path)
    except OSError as error:
        raise Refusal(
            f"{output} cannot be written ({error.strerror}). Choose another place with -o FILE, "
            "or change the permissions of the folder.",
            Exit.DATA,
            "likely predict --help",
        ) from None
    finally:
        draft.unlink(missing_ok=True)
    return n, path


def _write_file(draft: Path, suffix: str, names: list[str], chunks: Iterable[Columns]) -> int:
    if suffix == ".parquet":
        draft.touch()  # a folder that cannot be written is refused before the work
        return _write_all(Parquet(draft, names), chunks)
    with open(draft, "w", encoding="utf-8", newline="") as stream:
        if suffix == ".jsonl":
            return _write_all(JsonLines(stream), chunks)
        return _write_all(Delimited(stream, names, "\t" if suffix == ".tsv" else ","), chunks)


def _write_all(writer: Writer, chunks: Iterable[Columns]) -> int:
    n = 0
    try:
        for columns in chunks:
            writer.write(columns)
            n += len(next(iter(columns.values())))
    finally:
        writer.close()
    return n
