"""Text for the terminal: paragraphs and tables that fit the screen, with bold and dim letters."""

import shutil
from collections.abc import Collection, Sequence

import click

from likely.formatting import WIDEST, paragraph, text_table


def width() -> int:
    """Columns of the screen, as far as they are easy to read."""
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def wrapped(text: str, indent: int = 0) -> str:
    """The paragraph within the screen; ``indent`` columns of its first line are taken."""
    return ("\n" + " " * indent).join(paragraph(text, max(width() - indent, 20)))


def heading(text: str) -> str:
    return click.style(text, bold=True)


def headed(title: str, text: str) -> str:
    """The paragraph within the screen, with its first words, the title, in bold."""
    whole = wrapped(f"{title}{text}")
    return heading(whole[: len(title)]) + whole[len(title) :] if whole.startswith(title) else whole


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Collection[int] = (0,),
    indent: int = 2,
) -> str:
    """A table with a dim head; columns in ``words`` are flush left, the others flush right."""
    head, *lines = text_table(header, rows, words=words, indent=indent)
    return "\n".join([click.style(head, dim=True), *lines])
