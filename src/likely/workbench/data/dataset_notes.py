"""Notes about data that every command shows: rows and columns that were left out, and weights."""

from typing import TYPE_CHECKING

from likely.formatting import count, listed
from likely.workbench.data.identifiers import ROWS_PER_CATEGORY

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset

NEAR_ONE = 0.01  # a mean weight that differs by more is not that of rows
MOST_NAMED = 6  # columns in a note


def notes_of(data: "Dataset") -> tuple[str, ...]:
    """What should be known about a fit to these rows, or a score of them."""
    return (*about_rows(data), *_about_columns(data), *_about_weights(data))


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


def _about_columns(data: "Dataset") -> tuple[str, ...]:
    """Notes about identifiers and rare categories, which no model sees, and about free text."""
    notes = []
    if names := data.identifiers:
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
