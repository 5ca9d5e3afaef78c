"""The content of a graph file: gzip and xz are undone when it is read, and done when written.

Compressed content may expand to ``MOST_EXPANDED`` bytes.  A file of a few kilobytes can claim to
hold terabytes, and is refused as soon as it has given that many.
"""

import gzip
import lzma
import zlib
from io import BytesIO
from pathlib import Path

from likely.errors import InvalidFile
from likely.files import write_atomically

MOST_EXPANDED = 2**28  # bytes: 256 MiB, a hundred times the largest network that is shared
XZ_MEMORY = 2**28  # bytes of the dictionary that a file may ask for; xz -9 asks for 65 MiB
PIECE = 2**20
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"  # how such files begin


def file_content(path: Path) -> bytes:
    """All of the file, decompressed if its first bytes say that it is compressed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidFile(
            path, f"it cannot be read ({error.strerror or error}). Check its name."
        ) from None
    try:
        if data.startswith(GZIP):
            return _expanded(path, gzip.GzipFile(fileobj=BytesIO(data)))
        if data.startswith(XZ):
            lzma.LZMADecompressor(memlimit=XZ_MEMORY).decompress(data[:PIECE], 1)
            return _expanded(path, lzma.LZMAFile(BytesIO(data)))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise InvalidFile(
            path, f"it cannot be decompressed ({error}). Get the file again."
        ) from None
    return data


def file_text(path: Path) -> str:
    """The content of the file as text."""
    return decoded(path, file_content(path))


def decoded(path: Path, content: bytes) -> str:
    """Content as text, which is UTF-8; a mark at its beginning is dropped."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(
            path,
            f"the byte {content[error.start]:#04x} is not UTF-8 text. Convert the file to UTF-8.",
            line=content.count(b"\n", 0, error.start) + 1,
        ) from None


def write_content(path: Path, content: bytes) -> None:
    """Write all of the content or nothing, compressed if the name ends with .gz or .xz."""
    if path.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)  # the same graph is the same file
    elif path.suffix.lower() == ".xz":
        content = lzma.compress(content)
    write_atomically(path, content)


def format_suffix(path: Path) -> str:
    """The suffix that names the format, in small letters: ``.bif`` of ``alarm.BIF.gz``."""
    name = path.with_suffix("") if path.suffix.lower() in (".gz", ".xz") else path
    return name.suffix.lower()


def _expanded(path: Path, stream: gzip.GzipFile | lzma.LZMAFile) -> bytes:
    pieces, size = [], 0
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > MOST_EXPANDED:
            raise InvalidFile(
                path,
                f"it expands to more than {MOST_EXPANDED // 2**20} MiB, the most that is read from "
                "a compressed file. If you trust it, decompress it first.",
            )
        pieces.append(piece)
    return b"".join(pieces)
