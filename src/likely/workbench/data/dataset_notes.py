"""Notes about data that every command shows: rows and columns that were left out, and weights."""

from typing import TYPE_CHECKING

import numpy as np

from likely.output.formatting import column_named, count, listed, percent
from likely.workbench.data.roles import ROWS_PER_CATEGORY, is_index

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset

NEAR_ONE = 0.01  # a mean weight that differs by more is not that of rows
FEWEST_FOLDS = 5  # different rows, for folds that keep copies together
LARGE_UNIT = 0.2  # of the rows: more than one of five folds holds
MOST_NAMED = 6  # columns in a note


def notes_of(data: "Dataset") -> tuple[str, ...]:
    """What should be known about a fit to these rows, or a score of them."""
    read = data.readings.remarks
    return (
        *read,
        *about_rows(data),
        *_about_copies(data),
        *_about_columns(data),
        *_about_weights(data),
    )


def target_left_out(target: str, model: str) -> str:
    """A note about the target of data for a model that needs none."""
    return f"Column {target!r} was left out, because {model} needs no target."


def about_rows(data: "Dataset") -> tuple[str, ...]:
    """A note about rows without a target: left out, or learned from without a label."""
    if data.unlabelled is not None:
        rows = count(data.unlabelled.num_rows, "row")
        return (f"{rows} without a label ({data.target}) are learned from by EM, and not scored.",)
    n, was = data.n_without_target, "was" if data.n_without_target == 1 else "were"
    return (f"{count(n, 'row')} without a target ({data.target}) {was} left out.",) if n else ()


def _about_copies(data: "Dataset") -> tuple[str, ...]:
    """A note about rows that are copies, and one if a row has too many for folds of equal size."""
    if not data.in_memory or (copies := data.copies) is None:
        return ()
    n, size = len(copies), np.bincount(copies)
    n_different, largest = int(np.count_nonzero(size)), int(size.max())
    found = f"{n - n_different:,} rows equal an earlier row in all features, beyond chance"
    if n_different < FEWEST_FOLDS:
        return (
            f"{found}. There are only {n_different:,} different rows, too few to be held out "
            "apart: scores do not tell how well new rows are predicted.",
        )
    notes = [
        f"{found}: equal rows are never on both sides of a split, and intervals count different "
        "rows."
    ]
    if largest > LARGE_UNIT * n:
        notes.append(
            f"One row occurs {largest:,} times, {percent(largest / n)} of all rows: folds are of "
            "unequal size, and the score of that fold is the score of one row."
        )
    return tuple(notes)


def _about_columns(data: "Dataset") -> tuple[str, ...]:
    """Notes about identifiers and rare categories, which no model sees, and about free text."""
    notes = []
    if index := tuple(name for name in data.identifiers if is_index(name)):
        named = " and ".join(f"{'' if name else 'the '}{column_named(name)}" for name in index)
        notes.append(
            f"Left out as an index, which numbers the rows and says nothing else: {named}."
        )
    if names := tuple(name for name in data.identifiers if not is_index(name)):
        what = "an identifier" if len(names) == 1 else "identifiers"
        notes.append(
            f"Left out as {what} (different in every row): {_named(names)}. To use such a column, "
            "declare it: --feature COL (feature=[...])."
        )
    if names := tuple(name for name in data.texts if name not in data.declared_texts):
        notes.append(
            f"Read as text, of which words are counted: {_named(names)}. To leave such a column "
            "out: --drop COL (drop=[...])."
        )
    if names := data.rare:
        notes.append(
            f"Left out, because there are fewer than {ROWS_PER_CATEGORY} rows for each category: "
            f"{_named(names)}. To use such a column, declare it: --category COL (category=[...]), "
            "or replace it by one of fewer groups."
        )
    return tuple(notes)


def _named(names: tuple[str, ...]) -> str:
    return listed([*map(repr, names)], MOST_NAMED)


def _about_weights(data: "Dataset") -> tuple[str, ...]:
    """A note about weights that do not count rows."""
    weight = data.weights if data.weight is not None and data.in_memory else None
    if weight is None or abs((weight := weight[weight > 0]).mean() - 1) <= NEAR_ONE:
        return ()
    total = f"{weight.sum():,.6g}"
    return (
        f"Weights count rows: the total weight is {total} for {count(len(weight), 'row')}, and "
        f"intervals are those of {total} rows. Divide the weights by their mean if they are "
        "sampling weights.",
    )
