"""Documents on standard input, one per line, predicted as they come.

A block is what the pipe holds at the moment: the lines that are complete are predicted, and their
predictions written, before the next block is read.  So a line is answered before the next one is
written, and a long input is read in large blocks.
"""

import select
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from likely.errors import ReplacedBytes, warn_user
from likely.tasks.request import Exit, Refusal

if TYPE_CHECKING:
    import pyarrow as pa


BLOCK_BYTES = 4 * 2**20
READ_BYTES = 2**16  # what a pipe holds
LONGEST_LINE = 64 * 2**20  # bytes


def document_tables(name: str) -> "Iterator[pa.Table]":
    """The documents of standard input, block by block, as tables of one column."""
    import pyarrow as pa

    start, noted = 1, False
    for block in _blocks():
        texts = []
        for number, line in enumerate(block.split(b"\n"), start):
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            try:
                texts.append(line.removesuffix(b"\r").decode(encoding))
            except UnicodeDecodeError as error:  # it does not end the stream
                texts.append(error.object.decode(encoding, errors="replace"))
                if not noted:
                    _note(number, error)
                noted = True
        yield pa.table({name: pa.array(texts, pa.string())})
        start += len(texts)


def _blocks() -> Iterator[bytes]:
    """Complete lines without the last line feed; each block as long as what is there."""
    begun: list[bytes] = []  # of the line that has not ended
    while data := _available():
        whole, feed, last = data.rpartition(b"\n")
        if feed:
            yield b"".join([*begun, whole])
            begun = []
        begun.append(last)
        if sum(map(len, begun)) > LONGEST_LINE:
            raise Refusal(
                f"A line of standard input has more than {LONGEST_LINE >> 20} MB; one document "
                "per line was expected. Check the input.",
                Exit.DATA,
                "likely predict --help",
            )
    if rest := b"".join(begun):
        yield rest


def _available() -> bytes:
    """The bytes that are there, at least one unless the input has ended."""
    stream: Any = sys.stdin.buffer
    data: bytes = stream.read1(READ_BYTES)
    while len(data) < BLOCK_BYTES and data and _has_more(stream):
        more = stream.read1(READ_BYTES)
        if not more:
            break
        data += more
    return data


def _has_more(stream: Any) -> bool:
    """Whether a read would not wait; False where that cannot be asked."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):  # no file, or a system that asks only sockets
        return False


def _note(number: int, error: UnicodeDecodeError) -> None:
    """Say once that bytes were replaced; a log may have them in every line."""
    warn_user(
        f"Line {number} of standard input: byte 0x{error.object[error.start]:02x} is not UTF-8, in "
        "which documents are read; it was read as \N{REPLACEMENT CHARACTER}, and so are any that "
        "follow. Convert the input, for instance with iconv.",
        ReplacedBytes,
    )
