"""Standard input, output and error of the command, whatever they are connected to.

A closed one gets a place: otherwise the next file that is opened would have its number, and what is
printed could end in that file.  A closed output refuses what is written to it, as a full disk does,
so that the answer can be printed on standard error.  Errors of standard error are ignored, because
there is nowhere else to say anything.  Letters that an encoding lacks are written as similar ones.
"""

import codecs
import errno
import io
import os
import sys
import unicodedata
from typing import Any, final

NEAREST = "likely.nearest"  # the handler of letters that cannot be encoded
SIMILAR = {
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "x",
    "·": "*",
    "•": "*",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "±": "+/-",
    "°": " deg",
    "χ": "chi",
    "μ": "mu",
    "σ": "sigma",
    "κ": "kappa",
    "‘": "'",
    "’": "'",
    "“": "'",
    "”": "'",
    "█": "#",
    "│": "|",
    "─": "-",
}
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE)
CLOSED = (io.UnsupportedOperation, OSError, ValueError)


def open_streams() -> None:
    """Make the three standard streams usable; called once, before anything is opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _fill(number)
    sys.stderr = _lenient(sys.stderr)
    codecs.register_error(NEAREST, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=NEAREST)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors=NEAREST)


def abandon_output() -> None:
    """Write nothing more to standard output, where it has failed: not even what is buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def is_of_output(error: Exception) -> bool:
    """Whether it is an error of writing to an open file without a name, as standard output is."""
    return isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE


@final
class OutputFailed(OSError):
    """Standard output refused a table."""


def output_fails() -> bool:
    """Whether standard output still refuses what it has not written yet."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def encodable(text: str) -> bool:
    """Whether standard output has all letters of the text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _fill(number: int) -> None:
    """A place for a closed stream: input is empty, output is refused, errors are ignored."""
    flags = os.O_WRONLY if number == 2 else os.O_RDONLY  # the output too: a write must fail
    found = os.open(os.devnull, flags)
    if found != number:
        os.dup2(found, number)
        os.close(found)
    stream: Any = io.TextIOWrapper(
        io.FileIO(0, "r", closefd=False)
        if number == 0
        else io.BufferedWriter(io.FileIO(number, "w", closefd=False)),
        encoding="utf-8",
    )
    setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


def _lenient(stream: Any) -> Any:
    """Standard error without errors of its own."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    try:
        number = stream.fileno()
    except CLOSED:
        return stream
    raw = io.BufferedWriter(_Ignoring(number, "w", closefd=False))
    return io.TextIOWrapper(
        raw, encoding=stream.encoding, errors=stream.errors, line_buffering=True, write_through=True
    )


@final
class _Ignoring(io.FileIO):
    """A file that accepts everything, and writes what it can."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError:
            return memoryview(content).nbytes


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Similar letters; a byte of a file name that is no text as ``\\xff``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_similar, error.object[error.start : error.end])), error.end


def _similar(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xDC00:02x}"
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return SIMILAR.get(letter) or plain or "?"
