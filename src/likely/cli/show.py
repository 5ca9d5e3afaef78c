"""Text for a person: numbers, paragraphs and tables that fit the screen."""

import shutil
import textwrap
from collections.abc import Sequence

import click

WIDEST = 100  # longer lines are hard to read
ROUNDING = 1e-12  # smaller scores are zeros that floating point has left
SMALLEST_FIXED, DECIMALS = 1e-3, 3  # smaller numbers have digits that count, unless larger are near


def width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def number(value: float) -> str:
    """Three digits after the point, or three that count."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if abs(value) < ROUNDING:
        value = 0.0
    if value == 0 or SMALLEST_FIXED <= abs(value) < 1e5:
        return f"{value:.{DECIMALS}f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:.3g}"


def beside_each_other(*values: float) -> list[str]:
    """Scores of one line: 0.000 for what is tiny beside the others; where all are, their digits."""
    tiny = [abs(value) < SMALLEST_FIXED for value in values]
    if all(tiny):
        return [number(value) for value in values]
    return [
        f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}" if small else number(value)  # not −0.000
        for value, small in zip(values, tiny, strict=True)
    ]


def significant(value: float, digits: int = 3) -> str:
    """So many digits that count, without a power of ten where a person would write none."""
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e" in text and 1 <= abs(value) < 1e7 else text


def count(n: int, one: str, many: str | None = None) -> str:
    """``1 row``, ``1,400 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def wrapped(text: str, indent: int = 0) -> str:
    """The paragraph within the screen; ``indent`` columns of its first line are taken."""
    lines = [
        line
        for paragraph in text.splitlines()
        for line in textwrap.wrap(
            paragraph,
            max(width() - indent, 20),
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
    return ("\n" + " " * indent).join(lines)


def heading(text: str) -> str:
    return click.style(text, bold=True)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, indent: int = 2
) -> str:
    """Columns side by side, the first ``left`` of them flush left, the others flush right."""
    widths = [
        max(len(click.unstyle(row[j])) for row in (header, *rows)) for j in range(len(header))
    ]
    lines = []
    for i, row in enumerate((header, *rows)):
        cells = []
        for j, (cell, wide) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (wide - len(click.unstyle(cell)))
            cells.append(cell + gap if j < left else gap + cell)
        line = (" " * indent + "  ".join(cells)).rstrip()
        lines.append(click.style(line, dim=True) if i == 0 else line)
    return "\n".join(lines)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
