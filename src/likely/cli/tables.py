"""DATA as a source: a file, a SEAL, the standard input or a built-in name, with its hash.

Small files are read into memory once; larger ones are read in chunks, each time they are
asked for.
"""

import csv
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast, final

from likely.cli.builtin import BUILTIN, builtin_table
from likely.data.formats.csv_files import delimiter_of
from likely.data.formats.registry import read
from likely.data.memory import in_one_table
from likely.data.source import Source, column_index
from likely.errors import InvalidFile, InvalidInput, LikelyError
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.sealing.folder import SealFolder

IN_MEMORY_BYTES = 256 * 2**20  # files below this are read into memory
HASHED_BYTES = 2**20  # at a time
HEADER_BYTES = 2**16  # a header is shorter
CHUNK_ROWS = 65536
MANIFEST = "manifest.json"  # a folder with it is a SEAL


@final
@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """A table in memory."""

    table: "pa.Table"
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    nbytes: int

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        yield from self.table.to_batches(max_chunksize=CHUNK_ROWS)

    def select(self, names: Sequence[str]) -> "TableSource":
        kinds = tuple(self.kinds[column_index(self.names, name)] for name in names)
        table = self.table.select(list(names))
        return replace(self, table=table, names=tuple(names), kinds=kinds)


@final
@dataclass(frozen=True, eq=False)
class Data:
    """What was given as DATA."""

    label: str
    source: Source
    digest: str  # SHA-256 of the bytes
    target: str | None = None  # known of built-in data and seals
    seal: "SealFolder | None" = None  # whose training rows these are

    @property
    def in_memory(self) -> bool:
        return isinstance(self.source, TableSource)


@final
class HeaderAlone(InvalidFile):
    """A file of one line, and what it names: a table without rows, if these are its columns."""

    def __init__(self, error: InvalidFile, names: tuple[str, ...]) -> None:
        LikelyError.__init__(self, str(error))
        self.path, self.line, self.names = error.path, error.line, names


def open_data(name: str, *, load: bool = True) -> Data:
    """DATA by name; with ``load`` a small file is read into memory."""
    if name in BUILTIN:
        table = builtin_table(name)
        return Data(name, table_source(table), _digest_of_table(table), BUILTIN[name].target)
    if Path(name, MANIFEST).is_file():
        return _training_part(name)
    if name == "-":
        stream = _Hashed(sys.stdin)
        with _header_alone(lambda: stream.first):
            source = read(cast(IO[Any], stream))
        data = Data("standard input", source, stream.digest.hexdigest())
    else:
        _refuse_unknown(name)
        with _header_alone(lambda: _first_bytes(Path(name))):
            source = read(name)
        data = Data(name, source, _digest_of_file(Path(name)))
    small = (data.source.nbytes or 0) < IN_MEMORY_BYTES
    return replace(data, source=table_source(in_one_table(data.source))) if load and small else data


def table_source(table: "pa.Table") -> TableSource:
    from likely.data.frames import kinds_of

    kinds = kinds_of(table).kinds
    return TableSource(table, tuple(table.column_names), kinds, table.num_rows, table.nbytes)


def _training_part(name: str) -> Data:
    """Of a SEAL that is as it was written, the rows that are not sealed."""
    from likely.sealing.folder import TRAIN, open_folder

    seal = open_folder(name)
    seal.check()
    digest, target = seal.manifest.files[TRAIN], seal.manifest.target
    return Data(name, table_source(seal.train()), digest, target, seal)


@final
class _Hashed:
    """A stream that is hashed as it is read."""

    name = "standard input"

    def __init__(self, stream: Any) -> None:
        self._stream = getattr(stream, "buffer", stream)
        self.digest = hashlib.sha256()
        self.first = b""

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self.digest.update(data)
        if len(self.first) < HEADER_BYTES:
            self.first += data[:HEADER_BYTES]
        return data


@contextmanager
def _header_alone(first: Callable[[], bytes]) -> Iterator[None]:
    """Say so where a file that cannot be read as a table is a single line of names."""
    try:
        yield
    except InvalidFile as error:
        lines = first().decode("utf-8-sig", errors="replace").splitlines()
        if len(lines) != 1:
            raise
        cells = next(csv.reader(lines, delimiter=delimiter_of(lines[0])))
        raise HeaderAlone(error, tuple(cells)) from None


def _first_bytes(path: Path) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(HEADER_BYTES)
    except OSError:
        return b""


def _refuse_unknown(name: str) -> None:
    """A word that is neither a file nor a built-in name gets the nearest one."""
    if Path(name).suffix or Path(name).exists():
        return
    files = [path.name for path in Path(".").iterdir()] if "/" not in name else []
    close = get_close_matches(name, [*BUILTIN, *files], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(
        f"There is no file {name!r}, and no built-in data of that name. Give a CSV, TSV, ARFF, "
        f"JSON lines or Parquet file, or one of {', '.join(BUILTIN)}.{hint}"
    )


def _digest_of_file(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            while piece := stream.read(HASHED_BYTES):
                digest.update(piece)
    except OSError as error:
        raise InvalidFile(path, f"it cannot be read ({error.strerror}). Check it.") from None
    return digest.hexdigest()


def _digest_of_table(table: "pa.Table") -> str:
    import pyarrow as pa

    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return hashlib.sha256(sink.getvalue()).hexdigest()
