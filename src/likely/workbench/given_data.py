"""Data as they are given, each opened once: a file, a seal, a built-in name, a frame, an array.

The standard input is called ``-``.
"""

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast, final

from likely.data.arrow import arrow_table_of, plain_types
from likely.data.digest import digest_of_file, digest_of_table
from likely.data.formats.csv_files import delimiter_of
from likely.data.formats.registry import read
from likely.data.frames import library_of
from likely.data.memory import TableSource, in_one_table
from likely.data.source import Source
from likely.errors import InvalidFile, InvalidInput, LikelyError
from likely.sealing.folder import TRAIN, SealFolder, is_seal, open_folder
from likely.sealing.sealed import Sealed, folder_of

if TYPE_CHECKING:
    import pyarrow as pa


STANDARD_INPUT = "-"
UNNAMED = "table"  # what a frame or an array is called
HEADER_BYTES = 2**16  # a header is shorter


class GivenData(NamedTuple):
    """A source, and what is known of it by where it comes from."""

    source: Source
    label: str  # what the data are called
    hashing: Callable[[], str]  # SHA-256 of the data; once computed, kept
    target: str | None = None  # of built-in data, and of a seal
    place: Path | None = None  # the file or the seal
    seal: SealFolder | None = None
    library: str | None = None  # of a frame


@final
class HeaderAlone(InvalidFile):
    """A file of one line, and what it names: a table without rows, if these are its columns."""

    def __init__(self, error: InvalidFile, names: tuple[str, ...]) -> None:
        LikelyError.__init__(self, str(error))
        self.path, self.line, self.names = error.path, error.line, names


def opened(data: Any) -> GivenData:
    """Open any data but a ``Dataset``; what is no table is refused."""
    if isinstance(data, Sealed):
        data = folder_of(data)
    if isinstance(data, SealFolder):
        return _training_part(data)
    if isinstance(data, str | Path):
        return _training_part(open_folder(data)) if is_seal(Path(data)) else _named(str(data))
    if isinstance(data, Source):
        return GivenData(data, UNNAMED, cache(lambda: digest_of_table(in_one_table(data))))
    return _in_memory(data)


def _training_part(seal: SealFolder) -> GivenData:
    """The training rows of a seal, which must be as it was written."""
    seal.check(TRAIN)
    manifest = seal.manifest
    return GivenData(
        read(seal.path / TRAIN),
        str(seal.path),
        lambda: manifest.files[TRAIN],
        manifest.target,
        seal.path,
        seal,
    )


def _named(name: str) -> GivenData:
    """The data of that name; a word that is neither a file nor a built-in name is refused."""
    if name in BUILTIN:
        table = builtin_table(name)
        hashing = cache(partial(digest_of_table, table))
        return GivenData(TableSource(table), name, hashing, BUILTIN[name].target)
    if name == STANDARD_INPUT:
        import sys

        stream = _Hashed(sys.stdin)
        with _header_alone(lambda: stream.first):
            source = read(cast(IO[Any], stream))
        return GivenData(source, stream.name, stream.digest.hexdigest)
    _refuse_unknown(name)
    path = Path(name)
    with _header_alone(lambda: _first_bytes(path)):
        source = read(path)
    return GivenData(source, name, cache(partial(_digest_of, path)), place=path)


def _in_memory(data: Any) -> GivenData:
    """A frame of any library, a record batch, or an array."""
    import pyarrow as pa

    library = library_of(data)
    if library == "likely":
        raise InvalidInput(
            f"A {type(data).__name__} was given; a table or a seal was expected. Pass the data "
            "frame or the path of the file."
        )
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    table = plain_types(data if isinstance(data, pa.Table) else arrow_table_of(data))
    if not table.num_rows or not table.num_columns:
        raise InvalidInput(
            f"The table has {table.num_rows} rows and {table.num_columns} columns; at least "
            "one of each was expected. Check how it was made."
        )
    hashing = cache(partial(digest_of_table, table))
    return GivenData(TableSource(table), UNNAMED, hashing, library=library)


@final
class _Hashed:
    """A stream that is hashed as it is read."""

    name = "standard input"

    def __init__(self, stream: Any) -> None:
        self._stream = getattr(stream, "buffer", stream)
        self.digest = sha256()
        self.first = b""

    def read(self, size: int = -1) -> bytes:
        given = self._stream.read(size)
        data: bytes = given.encode() if isinstance(given, str) else given
        self.digest.update(data)
        if len(self.first) < HEADER_BYTES:
            self.first += data[:HEADER_BYTES]
        return data


@contextmanager
def _header_alone(first: Callable[[], bytes]) -> Iterator[None]:
    """Raise ``HeaderAlone`` where a file that cannot be read is a single line of names."""
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


def _digest_of(path: Path) -> str:
    try:
        return digest_of_file(path)
    except OSError as error:
        raise InvalidFile(path, f"it cannot be read ({error.strerror}). Check it.") from None


def _refuse_unknown(name: str) -> None:
    """Refuse a word that is neither a file nor a built-in name, with the nearest one."""
    if Path(name).suffix or Path(name).exists():
        return
    files = [path.name for path in Path(".").iterdir()] if "/" not in name else []
    close = get_close_matches(name, [*BUILTIN, *files], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(
        f"There is no file {name!r}, and no built-in data of that name. Give a CSV, TSV, ARFF, "
        f"JSON lines or Parquet file, or one of {', '.join(BUILTIN)}.{hint}"
    )


class Builtin(NamedTuple):
    """A built-in data set: how it is loaded, and the name of its target."""

    loader: str  # in sklearn.datasets
    target: str
    about: str


BUILTIN = {
    "iris": Builtin("load_iris", "species", "150 flowers of three species, measured in cm"),
    "wine": Builtin("load_wine", "cultivar", "178 wines of three cultivars, analysed"),
    "breast-cancer": Builtin("load_breast_cancer", "diagnosis", "569 tumours, measured by image"),
    "digits": Builtin("load_digits", "digit", "1,797 handwritten digits of 8 × 8 pixels"),
    "diabetes": Builtin("load_diabetes", "progression", "442 patients and a number a year later"),
}


def builtin_table(name: str) -> "pa.Table":
    """The table of a built-in set, its target in the last column."""
    import pyarrow as pa
    from sklearn import datasets

    entry = BUILTIN[name]
    loaded = getattr(datasets, entry.loader)()
    columns = {}
    for j, feature in enumerate(loaded.feature_names):  # "sepal length (cm)" is sepal_length
        tidy = re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", str(feature)).strip())
        columns[tidy] = pa.array(loaded.data[:, j])
    y = loaded.target
    if name not in ("digits", "diabetes"):  # classes by name; those two are numbers
        y = [str(loaded.target_names[code]) for code in y]
    columns[entry.target] = pa.array(y)
    return pa.table(columns)
