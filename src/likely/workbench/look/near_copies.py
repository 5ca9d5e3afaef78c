"""Rows that are nearly copies of others: equal but for noise in the last digits, or for one column.

A table is made coarser, and the rule of ``likely.data.copies`` is asked again: numbers are rounded
to a thousandth of their standard deviation, on two grids, of which one is shifted by half a step;
or one column after the other is left out.  Folds keep copies together, and these they do not.
"""

import numpy as np

from likely._typing import Array, Codes
from likely.data.copies import copies_in
from likely.formatting import count, percent
from likely.workbench.look.column_checks import group_of_rows
from likely.workbench.look.findings import Finding, finding
from likely.workbench.look.leaks import some_rows
from likely.workbench.look.profile import Column, Profile

MOST_ROWS = 20_000  # examined
MOST_COLUMNS = 60  # with more, none is left out
FEWEST_LEFT = 3  # columns beside the one that is left out
KINDS = ("number", "boolean", "category")
STEP = 1e-3  # standard deviations
FEWEST = 10  # near copies that are reported
WORTH_SAYING = 0.05  # of the rows
FOLDS = 5  # a row of more copies than a fold holds, and fewer different rows, are reported


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def near_copies(profile: Profile) -> Finding | None:
    """Rows that equal others after rounding, or in all columns but one, beyond chance."""
    columns = [each for each in profile.features if each.n_distinct > 1 and each.kind in KINDS]
    if not columns or profile.texts & {each.name for each in profile.features}:
        return None
    rows = some_rows(np.ones(profile.n_rows, dtype=bool), MOST_ROWS)
    coded = np.column_stack([each.codes[rows] for each in columns])
    exact = _number(copies_in(coded))
    for shift in (0.0, 0.5):
        stepped = np.column_stack([_in_steps(each, rows, shift) for each in columns])
        more = _number(copies_in(stepped)) - exact
        if more >= max(FEWEST, WORTH_SAYING * rows.size):
            return _said(profile, more, rows, "but for small differences")
    if not FEWEST_LEFT < len(columns) <= MOST_COLUMNS:
        return None
    for j, column in enumerate(columns):
        more = _number(copies_in(np.delete(coded, j, axis=1))) - exact
        if more >= max(FEWEST, WORTH_SAYING * rows.size):
            return _said(profile, more, rows, f"in all features but {column.name!r}")
    return None


def too_few_different(profile: Profile) -> Finding | None:
    """Copies that no split can keep apart: fewer different rows than folds, or one row a fold."""
    columns = profile.features
    if not columns or profile.texts & {each.name for each in columns}:
        return None
    values = [np.append(each.numbers, np.nan) if each.is_number else None for each in columns]
    table = [
        each.codes.astype(np.float64) if of is None else of[each.codes]  # code −1 is the last
        for each, of in zip(columns, values, strict=True)
    ]
    copies = copies_in(np.column_stack(table))
    if copies is None:
        return None
    size = np.bincount(copies)
    n_different, largest = int(np.count_nonzero(size)), int(size.max())
    if n_different < FOLDS:
        return finding("LK206", f"There are only {n_different} different rows")
    if largest * FOLDS > profile.n_rows:
        share = percent(largest / profile.n_rows)
        return finding("LK206", f"One row occurs {largest:,} times ({share} of all rows)")
    return None


def _in_steps(column: Column, rows: Codes, shift: float) -> Array:
    """The codes of a column; of numbers, those of their steps."""
    if not column.is_number:
        return column.codes[rows]
    x = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
    spread = float(np.nanstd(x)) if np.isfinite(x).any() else 0.0
    steps = np.rint(x / (STEP * spread) + shift) if 0 < spread < np.inf else column.numbers
    return np.append(steps, np.nan)[column.codes[rows]]  # code −1 is the last


def _number(copies: Codes | None) -> int:
    """How many rows are copies of earlier ones."""
    return 0 if copies is None else int((copies != np.arange(copies.size)).sum())


def _said(profile: Profile, n: int, rows: Codes, what: str) -> Finding:
    share = percent(n / rows.size)
    groups = [each.name for each in profile.columns if group_of_rows(each, profile) is not None]
    hint = f"; {groups[0]!r} may be their group" if groups else ""
    return finding("LK205", f"{count(n, 'row')} ({share}) equal an earlier row {what}{hint}")
