"""A text file, plain or gzipped, and the first check of any file that is read.

A file is refused with a sentence when it is not what its name says, before any
reader opens it.  While it is read, a line that is too long to be a row of a table, or that has
NUL bytes, is refused, so that a small archive or a file of holes takes little memory.
"""

import gzip
import shlex
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn, final

from likely.errors import CannotWrite, InvalidFile, InvalidInput

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
TO_UTF_8 = "Convert it to UTF-8, for instance with iconv."
EXPORT = "Export the sheet as CSV."
UNPACK = "Decompress it."
NO_TEXT = (  # how a file begins, what it is, what to do
    (PARQUET, "a Parquet file", "Name it .parquet, or pass format='parquet'."),
    (b"PK\x03\x04", "a zip archive or a workbook", "Decompress it, or export the sheet as CSV."),
    (b"\xd0\xcf\x11\xe0", "an old workbook or document", EXPORT),
    (b"\xff\xfe\0\0", "text in UTF-32", TO_UTF_8),
    (b"\0\0\xfe\xff", "text in UTF-32", TO_UTF_8),
    (b"\xff\xfe", "text in UTF-16", TO_UTF_8),
    (b"\xfe\xff", "text in UTF-16", TO_UTF_8),
    (b"BZh", "compressed with bzip2", UNPACK),
    (b"\xfd7zXZ", "compressed with xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", UNPACK),
    (b"%PDF", "a PDF document", "Export the table in it as CSV."),
    (b"\x89PNG", "a picture", "Name the file of the table."),
    (b"<!DOCTYPE", "a web page", "Download the file itself, not the web page about it."),
    (b"<!doctype", "a web page", "Download the file itself, not the web page about it."),
    (b"<html", "a web page", "Download the file itself, not the web page about it."),
)
FIRST_BYTES = 16  # hold every beginning above
LONGEST_LINE = 64 * 2**20  # bytes
MOST_COLUMNS = 100_000  # each takes some kilobytes, however short the file is
NO_CONTROLS = bytes({*range(256)} - {*range(0x80, 0xA0)})  # in LATIN1
NOT_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
BROKEN_STREAM = (OSError, EOFError, zlib.error)  # what a damaged gzip file raises


@final
@dataclass(frozen=True, eq=False)
class TextFile:
    """Where the bytes are, and what to call the file in messages."""

    path: Path
    label: str
    gzipped: bool = False
    spool: Any = field(default=None, repr=False)  # keeps a temporary file in being
    begin: int = 1  # the line of the header: what is above is a title
    end: int | None = None  # bytes, after which there are totals

    @property
    def nbytes(self) -> int:
        return self.path.stat().st_size

    def open(self) -> "GuardedStream":
        stream: Any = gzip.open(self.path, "rb") if self.gzipped else open(self.path, "rb")  # noqa: SIM115  # closed with its guard
        guarded = GuardedStream(stream, self.label, self.end)
        for _ in range(self.begin - 1):
            guarded.skip_line()
        return guarded

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, from 1; a line that is not UTF-8 is refused."""
        with self.open() as stream, self.named_errors():
            for number, line in enumerate(stream.lines(), start=self.begin):
                try:
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    byte = error.object[error.start]
                    raise not_utf_8(self.label, byte, self._encoding(), number) from None

    def _encoding(self) -> str | None:
        with self.open() as stream:
            return encoding_of(iter(lambda: stream.read(LONGEST_LINE), b""))

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """An interrupted stream becomes an error about this file."""
        try:
            yield
        except BROKEN_STREAM as error:
            raise InvalidFile(
                self.label,
                f"the file is cut short or damaged ({error}); a complete file was expected. "
                "Download or write it again.",
            ) from None


@final
class GuardedStream:
    """Bytes of a text file; a line that no row has is refused."""

    def __init__(self, stream: IO[bytes], label: str, end: int | None = None) -> None:
        self._stream, self._label, self._left = stream, label, end
        self._line, self._length = 1, 0  # the number of the current line, and its bytes so far

    def read(self, size: int = -1) -> bytes:
        most = min(size, LONGEST_LINE) if size >= 0 else LONGEST_LINE
        data = self._up_to_end(self._stream.read(most))
        self._check(data)
        return data

    def skip_line(self) -> None:
        """Read one line, of a title."""
        self._check(self._up_to_end(self._stream.readline(LONGEST_LINE + 1)))

    def lines(self) -> Iterator[bytes]:
        while line := self._up_to_end(self._stream.readline(LONGEST_LINE + 1)):
            self._check(line)
            yield line

    def _up_to_end(self, data: bytes) -> bytes:
        if self._left is None:
            return data
        data = data[: self._left]
        self._left -= len(data)
        return data

    def _check(self, data: bytes) -> None:
        if b"\0" in data:
            line = self._line + data.count(b"\n", 0, data.index(b"\0"))
            self._refuse("the line contains NUL bytes, as binary files do; text was expected", line)
        lines = data.count(b"\n")
        first = data.find(b"\n") if lines else len(data)
        if self._length + first > LONGEST_LINE:
            self._refuse(
                "the line is longer than 64 MiB; a row of a table was expected", self._line
            )
        self._line += lines
        self._length = len(data) - data.rfind(b"\n") - 1 if lines else self._length + len(data)

    def _refuse(self, problem: str, line: int) -> NoReturn:
        remedy = "Write one row per line, and check how the file was made."
        raise InvalidFile(self._label, f"{problem}. {remedy}", line=line)

    def __enter__(self) -> "GuardedStream":
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()


def encoding_of(chunks: Iterable[bytes]) -> str | None:
    """A name for iconv, of bytes that are not UTF-8; None if neither of the usual two.

    0x80 to 0x9f are letters and signs (€) in CP1252, all but five, and control codes in LATIN1.
    """
    found = {byte for chunk in chunks for byte in chunk.translate(None, NO_CONTROLS)}
    if found & NOT_IN_CP1252:
        return None
    return "CP1252" if found else "LATIN1"


def not_utf_8(label: object, byte: int, encoding: str | None, line: int) -> InvalidFile:
    """The error, with the command that converts the file."""
    convert, path, next = f"iconv -f {encoding or 'ENCODING'} -t UTF-8", Path(str(label)), ""
    command = f"{convert} OLD > NEW"
    if encoding and path.is_file():
        plain = path.with_name(path.name.removesuffix(".gz"))
        old, new = (
            shlex.quote(str(each)) for each in (path, plain.with_stem(f"{plain.stem}-utf8"))
        )
        command = f"{convert} {old} > {new}"
        if plain != path:
            command = f"gzip -dc {old} | {convert} > {new}"
        next = f"likely look {new}"
    other = "or from the encoding that it was" if encoding else "with the encoding that it was"
    error = InvalidFile(
        label,
        f"byte 0x{byte:02x} is not UTF-8, in which text files are read. Convert the file: "
        f"{command}, {other} written in.",
        line=line,
    )
    error.next = next
    return error


@final
class QuoteCount:
    """The number of quotes that a pass has read."""

    def __init__(self) -> None:
        self.count = 0


@final
class QuoteCountingStream:
    """A stream that counts the quotes in it."""

    def __init__(self, stream: GuardedStream, quotes: QuoteCount) -> None:
        self._stream, self._quotes = stream, quotes
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._quotes.count += data.count(b'"')
        return data

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def writable(self) -> bool:
        return False


def refuse_many_columns(label: str, n_columns: int) -> None:
    """Refuse a table whose columns alone would fill the memory."""
    if n_columns > MOST_COLUMNS:
        raise InvalidFile(
            label,
            f"there are {n_columns:,} columns; a table may have {MOST_COLUMNS:,}. If rows and "
            "columns are exchanged, transpose it; else keep the columns that matter, or in Python "
            "give a model the numbers as a NumPy array or a SciPy sparse matrix.",
        )


def first_bytes(path: Path) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(FIRST_BYTES)


def text_file(path: Path, label: str, *, spool: object = None) -> TextFile:
    """The file as text, unless its first bytes say that it is something else."""
    magic = first_bytes(path)
    gzipped = magic.startswith(GZIP)
    if gzipped != label.endswith(".gz") and spool is None:
        found, do = (
            ("is gzipped, although its name does not end in .gz", "Rename it, or decompress it.")
            if gzipped
            else ("is not gzipped, although its name ends in .gz", "Rename it.")
        )
        raise InvalidFile(label, f"the file {found}; name and content must agree. {do}")
    for start, name, do in NO_TEXT:
        if magic.startswith(start):
            raise InvalidFile(label, f"the file is {name}; text in UTF-8 was expected. {do}")
    if b"\0" in magic and not gzipped:
        raise InvalidFile(
            label,
            "the file begins with NUL bytes, as UTF-16, UTF-32 and binary files do; text in "
            f"UTF-8 was expected. {TO_UTF_8}",
        )
    return TextFile(path, label, gzipped, spool)


def spooled(stream: IO[Any]) -> tuple[Path, str, Any]:
    """The path, the label and the temporary file of a stream, copied to be read repeatedly."""
    label = "standard input" if stream is sys.stdin else str(getattr(stream, "name", "stream"))
    source = getattr(stream, "buffer", stream)
    if not callable(getattr(source, "read", None)):
        raise InvalidInput(
            f"A {type(stream).__name__} was given; the path of a file, or an open stream, was "
            "expected. A table in memory need not be read; pass it directly to the function that "
            "uses it."
        )
    sample = source.read(0)  # fails here where it cannot be read, before there is a file
    try:
        keeper = _copied(source, sample)
    except OSError as error:
        raise CannotWrite(f"A copy of {label} in the temporary folder", error) from None
    if not keeper.tell():
        raise InvalidFile(
            label, "the input is empty; a table was expected. Check the program that writes it."
        )
    return Path(keeper.name), label, keeper


def _copied(source: Any, sample: str | bytes) -> Any:
    """A temporary file that is deleted with the object."""
    keeper = tempfile.NamedTemporaryFile(prefix="likely-")  # noqa: SIM115  # lives with the source
    try:
        if isinstance(sample, str):
            for piece in iter(lambda: source.read(2**20), sample):
                keeper.write(piece.encode())
        else:
            shutil.copyfileobj(source, keeper, 2**20)
        keeper.flush()
    except BaseException:
        with suppress(OSError):  # what is still in the buffer has no place either
            keeper.close()
        raise
    return keeper
