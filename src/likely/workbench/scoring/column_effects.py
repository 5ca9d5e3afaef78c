"""Importance and partial effects of the columns of a model, on rows that it has not seen.

One fold of the rows is held out, the model is fitted to the others, and the held-out rows measure
what it loses without each column.  The time is bounded: some rows, the most important columns, few
shuffles.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.data.frames import as_table
from likely.errors import EffectsLeftOut, warn_user
from likely.explanations.any_model import explained
from likely.explanations.effects import PartialEffects, ReadsDates, partial_effects
from likely.explanations.importance import Importance, permutation_importance
from likely.names import has_method
from likely.workbench.data.dataset import Dataset
from likely.workbench.preparation.steps import Preparation

FOLDS = 5
FEWEST_ROWS = 40
MOST_ROWS = 300
MOST_COLUMNS = 300  # of a table; more are not shuffled
MOST_SHUFFLED = 20
MOST_EFFECTS = 4
REPEATS = 2
POINTS = 12
DRAWN = ("number", "boolean", "category")  # kinds of columns, beside dates that the model splits


@final
@dataclass(frozen=True, eq=False)
class ColumnEffects:
    """The importance of columns, and the partial effects of the most important."""

    importance: Importance
    effects: PartialEffects
    held_out: bool  # whether the model had not seen the rows

    def to_json(self) -> dict[str, Any]:
        return {
            "importance": self.importance.to_json(),
            "effects": self.effects.to_json(),
            "held_out": self.held_out,
        }

    @classmethod
    def from_json(cls, record: Any) -> "ColumnEffects":
        """Read what ``to_json`` has written."""
        return cls(
            Importance.from_json(record["importance"]),
            PartialEffects.from_json(record["effects"]),
            bool(record["held_out"]),
        )


def held_out_effects(model: Any, rows: Dataset, *, seed: int = 0) -> ColumnEffects | None:
    """The effects of columns in a clone of the model, fitted without one fold of the rows.

    None where that would say little or take long: few rows, very many columns, a density, or
    predictions that need an offset or exposure.
    """
    n_rows, n_columns = rows.table.num_rows, len(rows.features.column_names)
    if rows.task is None or why_no_effects(n_rows, n_columns, rows.roles.at_prediction()):
        return None
    *_, fold = rows.folds(FOLDS, seed=seed)  # in the order of time, the last
    train, held = rows.take(fold.train), rows.take(fold.test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows has shown them
        fitted = train.fit(clone(model))
        return effects_on(fitted, held.features, _targets(held), held_out=True)


def why_no_effects(n_rows: int, n_columns: int, moving: Sequence[str]) -> str:
    """Why the effects of columns are not measured; empty where they are."""
    if moving:
        return f"predictions also need the offset or exposure {moving[0]!r}"
    if n_rows < FEWEST_ROWS:
        return f"there are fewer than {FEWEST_ROWS} rows"
    return f"there are more than {MOST_COLUMNS} columns" if n_columns > MOST_COLUMNS else ""


def held_out_effects_or_note(model: Any, rows: Dataset, *, seed: int = 0) -> ColumnEffects | None:
    """The effects of columns; where an estimator fails without one fold, None and a warning.

    A model that was trained is worth more than its report, so any error is only noted.
    """
    try:
        return held_out_effects(model, rows.with_task(model), seed=seed)
    except Exception as error:
        why = " ".join(str(error).split())
        warn_user(
            "The importance and the effects of columns are left out, because the fit or the "
            f"prediction without one fold failed ({type(error).__name__}: {why}).",
            EffectsLeftOut,
        )
        return None


def effects_on(model: Any, X: Any, y: Any, *, held_out: bool) -> ColumnEffects:
    """The effects of columns in a fitted model, on these rows."""
    columns = _most_important(model, X)
    importance = permutation_importance(
        model, X, y, columns=columns, repeats=REPEATS, rows=MOST_ROWS
    )
    if columns is not None:
        which = "those with the largest contributions" if _explains_quickly(model) else "the first"
        note = f"{len(columns)} of {len(_names(X))} columns were shuffled, {which}."
        importance = replace(importance, notes=(note, *importance.notes))
    kinds = dict(zip(_names(X), as_table(X).kinds, strict=True))
    texts = _texts(model)  # an effect of whole documents says nothing
    dates = {part.column for part in model.date_parts(X)} if isinstance(model, ReadsDates) else ()
    clear = [
        name
        for name, low in zip(importance.names, importance.low, strict=True)
        if low > 0 and (name in dates or kinds.get(name) in DRAWN) and name not in texts
    ]
    effects = partial_effects(model, X, clear[:MOST_EFFECTS], points=POINTS, rows=MOST_ROWS)
    return ColumnEffects(importance, effects, held_out)


def _texts(model: Any) -> tuple[str, ...]:
    """The columns of a prepared model whose words are counted."""
    preparation = vars(model).get("preparation_")
    return preparation.texts if isinstance(preparation, Preparation) else ()


def _most_important(model: Any, X: Any) -> list[str] | None:
    """The columns with the largest contributions; None for all of a few."""
    names = _names(X)
    if len(names) <= MOST_SHUFFLED:
        return None
    if not _explains_quickly(model):
        return list(names[:MOST_SHUFFLED])
    some = as_table(X).take(np.arange(min(as_table(X).n_rows, 50))).native
    return list(explained(model, some).importance())[:MOST_SHUFFLED]


def _explains_quickly(model: Any) -> bool:
    """Whether the model, or the one that it prepares columns for, explains itself."""
    inner = vars(model).get("model_", model)
    return has_method(inner, "explain") and not hasattr(inner, "architecture_")


def _names(X: Any) -> tuple[str, ...]:
    table = as_table(X)
    return table.names or tuple(f"x{j}" for j in range(len(table.kinds)))


def _targets(rows: Dataset) -> Array:
    """The labels or numbers of rows, as the model predicts them."""
    task = rows.settled
    if not task.has_classes:
        return task.numbers(rows.table)
    labels = np.empty(len(task.classes), dtype=object)
    labels[:] = task.classes
    return np.array(labels[task.codes(rows.table)].tolist())
