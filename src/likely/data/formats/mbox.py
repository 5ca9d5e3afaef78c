"""A mailbox in the format mbox: a row for each message, with its text and its headers.

    text        the subject, and the parts of type text/plain; of a message that has none, text/html
                without its tags.  Attachments are left out
    a header    such as Subject, List-Id or X-Label; the first, if a message has several

Parts are decoded by Python's ``email`` package: transfer encodings, character sets, and encoded
words in headers.  Bytes that a character set does not have are replaced by U+FFFD.
"""

import mailbox
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email import message_from_binary_file, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, final

from likely.data.source import Source, column_indices
from likely.errors import InvalidFile
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = "text"
BATCH_MESSAGES = 512
FIRST_LINE = b"From "  # of a message
UNSEEN = ("script", "style", "head")  # of a page: no text for a reader


@final
@dataclass(frozen=True, eq=False)
class MboxSource(Source):
    """The messages of a mailbox."""

    path: Path
    names: tuple[str, ...]  # the columns that are read
    n_rows: int
    nbytes: int

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]  # read-only here
        category: ColumnKind = "category"
        return (category,) * len(self.names)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        rows: list[list[str | None]] = []
        for message in _messages(self.path):
            rows.append([_cell(message, name) for name in self.names])
            if len(rows) == BATCH_MESSAGES:
                yield _batch(rows, self.names)
                rows = []
        if rows:
            yield _batch(rows, self.names)

    def select(self, names: Sequence[str]) -> "MboxSource":
        column_indices(self.names, names)
        return replace(self, names=tuple(names))


def open_mbox(path: Path) -> MboxSource:
    """The source of a mailbox, after a pass that finds its headers."""
    with open(path, "rb") as stream:
        if stream.read(len(FIRST_LINE)) != FIRST_LINE:
            raise InvalidFile(
                path,
                "the first line does not begin with 'From '; a mailbox in the format mbox was "
                "expected. Export it as mbox, or pass the format that the file has.",
                line=1,
            )
    headers: dict[str, str] = {}  # as first written, by lower case
    n_rows = 0
    for message in _messages(path):
        n_rows += 1
        for name in message.keys():  # noqa: SIM118  # a message is no mapping
            headers.setdefault(name.lower(), name)
    headers.pop(TEXT, None)
    return MboxSource(path, (TEXT, *headers.values()), n_rows, path.stat().st_size)


def text_of_message(message: EmailMessage) -> str:
    """The subject and the text of a message."""
    parts = [part for part in message.walk() if not part.is_multipart() and not _attached(part)]
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    pages = [part for part in parts if part.get_content_type() == "text/html"]
    if plain:
        bodies = [_decoded(part) for part in plain]
    else:
        bodies = [_without_tags(_decoded(part)) for part in pages]
    subject = _header(message, "Subject")
    return "\n".join([*([] if subject is None else [subject]), *bodies])


def _messages(path: Path) -> Iterator[EmailMessage]:
    def parsed(stream: IO[bytes]) -> Any:
        return message_from_binary_file(stream, policy=policy.default)

    box: Any = mailbox.mbox(str(path), factory=parsed, create=False)  # type: ignore[arg-type]  # any message
    try:
        yield from box
    finally:
        box.close()


def _cell(message: EmailMessage, name: str) -> str | None:
    return text_of_message(message) if name == TEXT else _header(message, name)


def _header(message: EmailMessage, name: str) -> str | None:
    """The first header of that name, decoded; None where there is none."""
    try:
        value = message.get(name)
    except (ValueError, IndexError, AttributeError):  # Python's parser fails on some
        value = None
    return None if value is None else _clean(" ".join(str(value).split()))


def _attached(part: Any) -> bool:
    return part.get_content_disposition() == "attachment"


def _decoded(part: Any) -> str:
    """The text of a part; an unknown character set is read as Latin-1."""
    data = part.get_payload(decode=True) or b""
    try:
        return _clean(data.decode(part.get_content_charset() or "utf-8", errors="replace"))
    except LookupError:
        return _clean(data.decode("latin-1"))


def _clean(text: str) -> str:
    """Text without halves of surrogate pairs, which stand for bytes that were no characters."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


@final
class _Visible(HTMLParser):
    """Collects the text of a page that a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.unseen = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.unseen += tag in UNSEEN

    def handle_endtag(self, tag: str) -> None:
        self.unseen = max(self.unseen - (tag in UNSEEN), 0)

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.found.append(data)


def _without_tags(page: str) -> str:
    parser = _Visible()
    parser.feed(page)
    parser.close()
    return " ".join(" ".join(parser.found).split())


def _batch(rows: list[list[str | None]], names: Sequence[str]) -> "pa.RecordBatch":
    import pyarrow as pa

    columns = [pa.array(list(column), pa.string()) for column in zip(*rows, strict=True)]
    return pa.record_batch(columns, names=list(names))
