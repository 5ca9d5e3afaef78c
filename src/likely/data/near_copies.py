"""Which rows are nearly copies of each other: equal but for small differences, or for one column.

A table is made coarser, and the rule of ``likely.data.copies`` is asked again:

    numbers are rounded to a thousandth of their standard deviation, on two grids, of which one is
    shifted by half a step
    one column after the other is left out
    columns whose values are only ever equal or not, such as dates, are left out together

Rows that are equal then, beyond chance, are near copies where they are a twentieth of the rows.
Folds and seals keep them on one side, as they do with copies, so that a score of them is honest,
and count the rows of a unit as one.  Where that leaves no folds of equal size, nothing is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import decoded
from likely.data.arrow_columns import kind_of_arrow
from likely.data.copies import (
    CellColumn,
    arrow_column,
    copies_among,
    copies_in_table,
    joined_units,
    number_column,
)
from likely.data.hashed_splits import some_rows
from likely.numerics.keyed_random import GOLDEN, keyed, mix

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COMPARED = 20_000  # rows that may be near copies
MOST_LEFT_OUT = 60  # columns; with more, none is left out
FEWEST_LEFT = 3  # columns beside the one that is left out
COMPARED = ("number", "boolean", "category")
STEP_OF_COPIES = 1e-3  # standard deviations
FEWEST_COPIES = 10  # near copies that are reported
WORTH_SAYING = 0.05  # of the rows
FOLDS = 5  # a unit of more rows than a fold holds, or fewer units, cannot be held out


class NearCopies(NamedTuple):
    """How many of the examined rows equal an earlier one only nearly, and the units of all rows."""

    n: int
    n_examined: int
    but: tuple[str, ...]  # the columns in which they may differ; none: in all, a little
    units: Codes  # (n_rows,), the first row that each row is a copy of, or nearly

    def are_held_together(self, groups: Codes | None = None) -> bool:
        """Whether folds can keep them on one side, or rows of a group do that already."""
        if groups is not None:
            return np.unique(joined_units(self.units, groups)).size == np.unique(groups).size
        size = np.bincount(self.units)
        n_units, largest = int(np.count_nonzero(size)), int(size.max())
        return n_units >= FOLDS and largest * FOLDS <= self.units.size


class _View(NamedTuple):
    """A coarser table, as words of its cells, and the columns in which equal rows may differ."""

    words: Sequence[Array]
    but: tuple[str, ...]

    def copies(self, rows: Codes) -> Codes:
        """The first of some rows that each of them is a copy of here."""
        found = copies_among([CellColumn(each[rows]) for each in self.words], rows.size)
        return np.arange(rows.size) if found is None else found

    def n_copies(self, rows: Codes) -> int:
        return rows.size - np.unique(self.copies(rows)).size

    def n_equal(self, rows: Codes) -> int:
        """At least as many as there are copies."""
        total = np.zeros(rows.size, dtype=np.uint64)
        for j, each in enumerate(self.words):
            total += mix(each[rows] * GOLDEN + keyed(0, j))
        return rows.size - np.unique(total).size


def units_in_table(
    table: "pa.Table", columns: Sequence[str], *, texts: Sequence[str] = ()
) -> Codes | None:
    """The first row of each row's unit of copies and near copies; None where each is alone."""
    near = near_copies_in_table(table, columns, texts=texts)
    if near is None or not near.are_held_together():
        return copies_in_table(table, columns, texts=texts)
    return near.units


def near_copies_in_table(
    table: "pa.Table", columns: Sequence[str], *, texts: Sequence[str] = ()
) -> NearCopies | None:
    """The near copies beyond chance; None where they are few, or where there are documents."""
    n = table.num_rows
    if n < FEWEST_COPIES or any(name in texts for name in columns):
        return None
    some, every = some_rows(np.ones(n, dtype=bool), MOST_COMPARED), np.arange(n)
    least, found = max(FEWEST_COPIES, WORTH_SAYING * some.size), []
    for finer, coarser in _views(table, columns):
        exact = finer.n_copies(some)
        for view in coarser:
            if view.n_equal(some) - exact >= least:  # chance may explain some
                found.append((view.n_copies(some) - exact, view))
    found = [each for each in found if each[0] >= least]
    if not found:
        return None
    units = [copies_in_table(table, columns), *(view.copies(every) for _, view in found)]
    joined = reduce(joined_units, [each for each in units if each is not None])
    _, first, unit = np.unique(joined, return_index=True, return_inverse=True)
    return NearCopies(found[0][0], some.size, found[0][1].but, first[unit])


def _views(
    table: "pa.Table", names: Sequence[str]
) -> Iterator[tuple[_View, Iterator[_View] | list[_View]]]:
    """A table and coarser ones; columns that never vary are left out."""
    cells = {name: arrow_column(table.column(name)) for name in names}
    cells = {name: each for name, each in cells.items() if np.ptp(each.words) > 0}
    kinds = {name: kind_of_arrow(decoded(table.column(name)).type) for name in cells}
    others = tuple(name for name in cells if kinds[name] not in COMPARED)
    words = {name: each.words for name, each in cells.items() if name not in others}
    if not words:
        return
    exact = _View([*words.values()], others)
    if others and len(words) >= FEWEST_LEFT:  # such as dates, by which folds keep rows apart
        yield _View([each.words for each in cells.values()], ()), [exact]
    yield exact, _coarser(cells, words)


def _coarser(cells: Mapping[str, CellColumn], words: Mapping[str, Array]) -> Iterator[_View]:
    """Numbers in steps, on two grids; and one column left out."""
    for shift in (0.0, 0.5):
        yield _View([_in_steps(cells[name], words[name], shift) for name in words], ())
    if FEWEST_LEFT < len(words) <= MOST_LEFT_OUT:
        for name in words:
            yield _View([words[other] for other in words if other != name], (name,))


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def _in_steps(column: CellColumn, words: Array, shift: float) -> Array:
    """The words of a column; of numbers, those of their steps."""
    if column.numbers is None:
        return words
    x = column.numbers(np.arange(words.size))
    known = np.unique(x[np.isfinite(x)])
    step = STEP_OF_COPIES * float(known.std()) if known.size else 0.0
    if not 0 < step < np.inf:
        return words
    x = np.where(np.isinf(x), np.nan, x)
    return number_column(np.rint(x / step + shift)).words
