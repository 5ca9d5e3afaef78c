"""The content of a graph file: gzip and xz are undone when it is read, and done when written.

Compressed content may expand to ``MOST_EXPANDED`` bytes.  A file of a few kilobytes can claim to
hold terabytes, and is refused as soon as it has given that many.

The words of a file, read one after the other; a word that is not as expected is named by line.

UAI files are words with white space between them, wherever the lines end.  ``#`` and ``//`` begin
a comment.

What a format loses: names it has no place for, and logs that it must write as numbers.

    f = exp(log f)        log f < log(5e-324) would be written as 0, log f > log(1.8e308) not at all

UAI, BIF and XMLBIF hold linear tables.  Where exp would turn a possible configuration into an
impossible one, or a number into infinity, the graph is refused; where only digits change, the
file is written with a warning.
"""

import gzip
import lzma
import re
import zlib
from collections.abc import Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import FormatLoss, InvalidFile, InvalidInput, warn_user
from likely.graphical.model.factor import Factor
from likely.output.formatting import count
from likely.storage.files import write_atomically

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


LARGEST = 10**15  # a whole number in a file; more would not be exact as a float
COMMENT = re.compile(r"(?:#|//).*")


@final
class Words:
    """A position in the words of a file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = COMMENT.sub("", text) if "#" in text or "//" in text else text
        self._words = self._text.split()
        self.position = 0
        if "_" in self._text or not self._text.isascii():  # int() would read 1_0 and ١
            for position, word in enumerate(self._words):
                if "_" in word or not word.isascii():
                    raise self.wrong(f"{shortened(word)} is no word of such a file.", position)

    @property
    def left(self) -> int:
        """How many words there are still to read."""
        return len(self._words) - self.position

    def __len__(self) -> int:
        return len(self._words)

    def word(self, what: str) -> str:
        """The next word."""
        return self._take(1, what)[0]

    def whole(self, what: str, *, least: int = 0, most: int = LARGEST) -> int:
        """The next word as a whole number between ``least`` and ``most``."""
        return self.wholes(1, what, least=least, most=most)[0]

    def wholes(self, n: int, what: str, *, least: int = 0, most: int = LARGEST) -> list[int]:
        """The next ``n`` words as whole numbers between ``least`` and ``most``."""
        words = self._take(n, what)
        try:
            numbers = list(map(int, words))
        except ValueError:
            position = next(i for i, word in enumerate(words) if not _is_whole(word))
            raise self._not_a_number(position - n, "a whole number", what) from None
        if numbers and not least <= min(numbers) <= max(numbers) <= most:
            position = next(i for i, x in enumerate(numbers) if not least <= x <= most)
            span = f"at least {least}" if most == LARGEST else f"{least} to {most}"
            raise self._not_a_number(position - n, f"a number of {span}", what)
        return numbers

    def numbers(self, n: int, what: str) -> Array:
        """The next ``n`` words as finite numbers of at least 0."""
        words = self._take(n, what)
        try:
            numbers = np.array(floats(words))
        except ValueError:
            position = next(i for i, word in enumerate(words) if not is_number(word))
            raise self._not_a_number(position - n, "a number", what) from None
        bad = ~((numbers >= 0) & (numbers < np.inf))
        if bad.any():
            position = int(bad.argmax())
            raise self._not_a_number(position - n, "a finite number of at least 0", what)
        return numbers

    def end(self) -> None:
        """Refuse words after the last one that was expected."""
        if self.left:
            raise self.wrong(
                f"there {'is' if self.left == 1 else 'are'} {count(self.left, 'more word')} after "
                f"the end, from {shortened(self._words[self.position])} on; nothing was expected. "
                "Check the numbers of variables and factors at the beginning.",
                self.position,
            )

    def wrong(self, problem: str, position: int | None = None) -> InvalidFile:
        """The error at a word, by default at the one that was read last."""
        position = max(self.position - 1, 0) if position is None else position
        if position >= len(self._words):
            return InvalidFile(self.path, problem, line=self._text.rstrip().count("\n") + 1)
        found = next(islice(re.finditer(r"\S+", self._text), position, None))
        line = self._text.count("\n", 0, found.start()) + 1
        return InvalidFile(self.path, problem, line=line)

    def lines(self) -> list[int]:
        """How many words each line has that is not empty."""
        return [len(line.split()) for line in self._text.split("\n") if line.strip()]

    def upcoming_wholes(self, n: int) -> list[int]:
        """The next ``n`` words as whole numbers, without reading them; −1 for any other word."""
        words = self._words[self.position : self.position + n]
        numbers = [int(word) if word.isdigit() and len(word) < 16 else -1 for word in words]
        return numbers + [-1] * (n - len(words))

    def after_last(self, separator: str) -> None:
        """Go to the word after the last ``separator`` among the words still to read, if any."""
        for position in range(len(self._words) - 1, self.position - 1, -1):
            if self._words[position] == separator:
                self.position = position + 1
                return

    def _take(self, n: int, what: str) -> list[str]:
        if n > self.left:
            raise self.wrong(
                f"the file ends before {what}; {count(n, 'more word')} "
                f"{'was' if n == 1 else 'were'} expected, and {self.left} "
                f"{'is' if self.left == 1 else 'are'} left.",
                len(self._words),
            )
        start, self.position = self.position, self.position + n
        return self._words[start : self.position]

    def _not_a_number(self, back: int, expected: str, what: str) -> InvalidFile:
        position = self.position + back
        word = shortened(self._words[position])
        return self.wrong(f"{word} was found for {what}; {expected} was expected.", position)


def shortened(word: str) -> str:
    """A word of a file for a message, in quotes and not too long."""
    return repr(word if len(word) <= 40 else word[:37] + "…")


def _is_whole(word: str) -> bool:
    try:
        int(word)
    except ValueError:
        return False
    return True


def floats(words: Sequence[str]) -> list[float]:
    """Words as numbers; ValueError unless all are numbers as files of any program have them."""
    joined = "".join(words)
    if "_" in joined or not joined.isascii():  # float() would read 1_0 and ١
        raise ValueError("no number has such characters")
    return list(map(float, words))


def is_number(word: str) -> bool:
    try:
        floats([word])
    except ValueError:
        return False
    return True


# ── what a format loses ────────────────────────────────────────────────────────────────────────


def linear_tables(
    factors: Sequence[Factor], path: Path, format: str, lost: Sequence[str] = ()
) -> list[Array]:
    """The tables as linear numbers, with a warning of what a file of this format loses.

    That is what the caller has ``lost``, names of factors, and digits where exp changes them.
    """
    tables, largest, n_changed = [], 0.0, 0
    for factor in factors:
        tables.append(factor.stored if factor.scale == "linear" else _exponential(factor, format))
        with np.errstate(divide="ignore"):
            back = np.log(tables[-1]) if factor.scale == "log" else factor.stored
        different = back != factor.stored
        if different.any():
            n_changed += 1
            largest = max(largest, float(np.abs(back - factor.stored)[different].max()))
    lost = list(lost)
    if n_named := sum(1 for factor in factors if factor.name):
        lost.append(count(n_named, "name of a factor", "names of factors"))
    if n_changed:
        changed = count(n_changed, "factor")
        lost.append(f"the logs of {changed}, which change by up to {largest:.1g}")
    if lost:
        warn_user(
            f"{path}: {format} cannot hold {'; '.join(lost)}. Write a .json file to keep all of "
            "the graph.",
            FormatLoss,
        )
    return tables


def _exponential(factor: Factor, format: str) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        table = np.exp(factor.stored)
    outside = np.isinf(table) | ((table == 0) & (factor.stored > -np.inf))
    if outside.any():
        cell = tuple(int(i) for i in np.argwhere(outside)[0])
        named = ", ".join(
            f"{v.name}={v.states[i]}" for v, i in zip(factor.variables, cell, strict=True)
        )
        raise InvalidInput(
            f"The table of {factor.title} holds the log {factor.stored[cell]:g} at ({named}), and "
            f"{format} holds exp of it, which is {table[cell]:g} in floating point; logs from -745 "
            "to 709 were expected. Write a .json file, which keeps logs, or add a constant to the "
            "factor."
        )
    return table
