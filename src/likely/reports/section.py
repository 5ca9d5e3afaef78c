"""What a report is made of: sections of blocks.  Each block has a ``kind`` that the page draws.

Blocks hold plain text; the page escapes it.  Only ``Picture.svg`` is markup, made by ``figures``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, final

MANY_FACTS, SHORT = 8, 24  # rows of facts, and letters of each, to be set in columns
PHONE = 56  # letters of a table beside each other on a phone
LONGEST_LINE, GAP = 26, 2  # letters of a cell before it is broken, and between cells

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
    """A title inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


@final
@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, str], ...]
    strong: frozenset[str] = frozenset()  # names that must not be overlooked
    code: frozenset[str] = frozenset()  # names whose value is a hash or a command

    @property
    def compact(self) -> bool:
        """Whether there are many short facts, which fit into several columns."""
        return len(self.rows) >= MANY_FACTS and all(len(text) < SHORT for _, text in self.rows)


@final
@dataclass(frozen=True)
class TableBlock:
    """Rows of cells; the first ``left`` columns are words, the others numbers."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    left: int = 1
    words: frozenset[int] = frozenset()  # further columns of words
    names: frozenset[int] = frozenset()  # heads that are names in the data, written as they are
    marked: frozenset[int] = frozenset()  # rows that stand out
    more: str = ""  # what was left out

    @property
    def wide(self) -> bool:
        """Whether the table is too wide for a phone."""
        rows = (self.head, *self.rows)
        longest = (max(len(row[j]) for row in rows) for j in range(len(self.head)))
        return sum(min(letters, LONGEST_LINE) + GAP for letters in longest) > PHONE


@final
@dataclass(frozen=True)
class Picture:
    """A drawing, with a description in words for readers who cannot see it."""

    kind: ClassVar[str] = "picture"
    svg: str
    label: str
    caption: str = ""
    width: float = 30.0  # at most, in rem
    least: float = 0.0  # pixels below which its letters cannot be read; it then scrolls


@final
@dataclass(frozen=True)
class Gallery:
    """Blocks side by side, if there is room: pictures, or words and a picture."""

    kind: ClassVar[str] = "gallery"
    blocks: "tuple[Block, ...]"

    @property
    def uneven(self) -> bool:
        """Whether one of them is a table, which needs more room than a picture."""
        return any(each.kind == TableBlock.kind for each in self.blocks)


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
class CodeBlock:
    """A command to copy."""

    kind: ClassVar[str] = "code"
    text: str


Block = Text | Heading | Facts | TableBlock | Picture | Gallery | Remark | CodeBlock


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
