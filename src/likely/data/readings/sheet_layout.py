"""Where the table of a sheet is: below its titles, above its totals, without blank rows.

    title      a row above the header with one cell, or none, in a table of several columns
    header     the first row with several cells; or the first two, where the upper one has merged
               cells ("2020" above "spring" and "autumn" is "2020 spring" and "2020 autumn")
    rows       all further rows that are not blank
    totals     last rows whose first cell is a word such as Total, and no other row's
    footnotes  last rows with a single cell of text, in a table of several columns

What is left out is said in remarks.  A header with a cell missing above values, and a sheet of
several tables, are refused with what to do: nothing is guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import pairwise
from typing import final

from likely.output.formatting import count, listed, shortened

Cell = str | int | float | bool | datetime | date | time | None
Row = Sequence[Cell]

TOTALS = {
    *("total", "totals", "grand total", "sum", "overall", "average", "mean", "summe", "gesamt"),
    *("gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "somme", "total général"),
    *("moyenne", "totale", "somma", "suma", "totaal", "razem", "celkem"),
}
MOST_SHOWN = 3  # cells in a remark
LONGEST_SHOWN = 40  # characters of a cell in a remark


class UnclearSheet(ValueError):
    """Why no table was found in a sheet, and what to do; perhaps the option that does it."""

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(message)
        self.option = option


@final
@dataclass(frozen=True, eq=False)
class SheetTable:
    """The names, the rows below them, and what was left out."""

    names: tuple[str, ...]
    rows: list[list[Cell]]
    remarks: tuple[str, ...]


def table_in(sheet: Sequence[Row]) -> SheetTable:
    """The table of a sheet; UnclearSheet where there is none, or not one."""
    width = max((len(row) for row in sheet), default=0)
    full: list[list[Cell]] = [[*row, *[None] * (width - len(row))] for row in sheet]
    full = [[c.strip() or None if isinstance(c, str) else c for c in row] for row in full]
    rows = [(number, row) for number, row in enumerate(full, start=1) if _n_cells(row)]
    remarks: list[str] = []
    n_titles = next((k for k, (_, row) in enumerate(rows) if _n_cells(row) > 1), 0)
    if n_titles:
        said = [next(cell for cell in row if cell is not None) for _, row in rows[:n_titles]]
        remarks.append(left_out(n_titles, "above the header", said))
    rows = rows[n_titles:]
    below: list[Cell] = []
    while len(rows) > 2 and _n_cells(rows[0][1]) > 1:
        last = rows[-1][1]
        label = next(cell for cell in last if cell is not None)
        note = _n_cells(last) == 1 and isinstance(label, str) and not label[0].isdigit()
        alone = sum(label in row for _, row in rows) == 1
        if not alone or not (note or is_total(last)):
            break
        below.insert(0, label)
        rows.pop()
    if len(rows) < 2:
        raise UnclearSheet(
            "the sheet has no table: a header and rows below it were expected. Choose another "
            "sheet, or check how it was made."
        )
    used = [j for j in range(width) if any(row[j] is not None for _, row in rows)]
    rows = [(number, [row[j] for j in used]) for number, row in rows]
    two = _has_two_rows(rows)
    names = _names(*rows[0], rows[1][1] if two else None)
    rows = rows[1 + two :]
    if two:
        joined = listed(_shown(names), MOST_SHOWN)
        remarks.append(f"The names are of two rows, joined: {joined}.")
    _refuse_second_table(rows)
    if below:
        remarks.append(left_out(len(below), "below the table", below))
    return SheetTable(names, [row for _, row in rows], tuple(remarks))


def is_total(row: Sequence[Cell]) -> bool:
    """Whether a row has totals: its first cell says so, and another has a number."""
    first = next((cell for cell in row if cell not in (None, "")), None)
    if not isinstance(first, str) or first.strip().rstrip(":").casefold() not in TOTALS:
        return False
    return any(_holds_digit(cell) for cell in row if cell is not first)


def is_title(row: Sequence[Cell]) -> bool:
    """Whether a row as wide as the table has at most one cell."""
    return len(row) > 1 and _n_cells([cell or None for cell in row]) <= 1


def left_out(n: int, where: str, said: Sequence[Cell]) -> str:
    """A remark about rows that are no examples, with what they say."""
    words = _shown(said)
    what = f" ({listed(words, MOST_SHOWN)})" if words else ""
    return f"{count(n, 'row')} {where} {'was' if n == 1 else 'were'} left out{what}."


def _shown(cells: Sequence[Cell]) -> list[str]:
    return [repr(shortened(str(cell), LONGEST_SHOWN)) for cell in cells if cell not in (None, "")]


def _names(number: int, head: Row, under: Row | None) -> tuple[str, ...]:
    """The names in a header, of one row or two; only the first, of an index, may be missing.

    A merged cell of the upper row stands above each of its columns.
    """
    names: list[str] = []
    upper: Cell = None
    for j, over in enumerate(head):
        below = None if under is None else under[j]
        upper = over if over is not None else upper if below is not None else None
        parts = [part for part in (upper, below) if part is not None]
        parts = [int(p) if isinstance(p, float) and p.is_integer() else p for p in parts]
        names.append(" ".join(map(str, parts)))
        if not names[-1] and j:
            raise UnclearSheet(
                f"row {number} is the header, and column {j + 1} has values but no name there. "
                "Name the column, or remove it."
            )
    return tuple(names)


def _has_two_rows(rows: list[tuple[int, list[Cell]]]) -> bool:
    """Whether the first row has gaps that the second one fills with text, and numbers follow."""
    if len(rows) < 3:
        return False
    head, under, below = rows[0][1], rows[1][1], [row for _, row in rows[2:]]
    gaps = [j for j, cell in enumerate(head) if cell is None and j]
    if not gaps or not all(isinstance(under[j], str) for j in gaps):
        return False
    if not all(cell is None or isinstance(cell, str) for cell in under):
        return False
    return any(_holds_digit(row[j]) for row in below for j in gaps) and not any(
        _holds_digit(under[j]) and not isinstance(head[j - 1], str) for j in gaps
    )


def _refuse_second_table(rows: list[tuple[int, list[Cell]]]) -> None:
    """Refuse words in all cells after a blank row, where numbers were above."""
    held = set()
    for (before, above), (number, row) in pairwise(rows):
        held |= {j for j, cell in enumerate(above) if isinstance(cell, int | float)}
        words = [j for j, cell in enumerate(row) if isinstance(cell, str)]
        all_words = len(words) > 1 and len(words) == _n_cells(row)
        if number > before + 1 and all_words and held & set(words) and not is_total(row):
            raise UnclearSheet(
                f"row {number} follows a blank row and looks like the header of another table; one "
                "table was expected. Move it to a sheet of its own, or remove the blank row."
            )


def _n_cells(row: Sequence[Cell]) -> int:
    return sum(cell is not None for cell in row)


def _holds_digit(cell: Cell) -> bool:
    return any(letter.isdigit() for letter in cell) if isinstance(cell, str) else cell is not None
