"""What a report is made of: sections of blocks.  Each block has a ``kind`` that the page draws.

Blocks hold plain text; the page escapes it.  Only ``Picture.svg`` is markup, made by ``figures``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, final

Tone = Literal["good", "plain", "note", "warn", "stop"]


@final
@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str
    small: bool = False


@final
@dataclass(frozen=True)
class Heading:
    """A title inside of a section."""

    kind: ClassVar[str] = "heading"
    text: str


@final
@dataclass(frozen=True)
class Facts:
    """Names with what they are."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, str], ...]
    strong: frozenset[str] = frozenset()  # names that must not be overlooked
    code: frozenset[str] = frozenset()  # names whose value is a hash or a command


@final
@dataclass(frozen=True)
class Table:
    """Rows of cells; the first ``left`` columns are words, the others numbers."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    left: int = 1
    words: frozenset[int] = frozenset()  # further columns of words
    marked: frozenset[int] = frozenset()  # rows that stand out
    more: str = ""  # what was left out


@final
@dataclass(frozen=True)
class Picture:
    """A drawing, with what it shows in words for those who do not see it."""

    kind: ClassVar[str] = "picture"
    svg: str
    label: str
    caption: str = ""
    width: float = 30.0  # at most, in rem


@final
@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, where there is room."""

    kind: ClassVar[str] = "gallery"
    pictures: tuple[Picture, ...]


@final
@dataclass(frozen=True)
class Remark:
    """A sentence in a box, with a badge such as the code of a finding."""

    kind: ClassVar[str] = "remark"
    text: str
    badge: str = ""
    title: str = ""
    tone: Tone = "plain"


@final
@dataclass(frozen=True)
class Code:
    """A command to copy."""

    kind: ClassVar[str] = "code"
    text: str


Block = Text | Heading | Facts | Table | Picture | Gallery | Remark | Code


@final
@dataclass(frozen=True)
class Section:
    """A part of the report."""

    key: str  # in links
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)


@final
@dataclass(frozen=True)
class LeftOut:
    """A part that the report does not have, and why."""

    title: str
    why: str
