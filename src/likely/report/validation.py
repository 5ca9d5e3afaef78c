"""Predictions of rows while they were held out, and where each number lies in what was predicted.

    PIT = (#{draws < y} + v (1 + #{draws = y})) / (1 + #draws),   v uniform

With draws from the predictive distribution this is uniform exactly where the model is calibrated,
for amounts and for counts.

References
----------
Czado, Gneiting & Held (2009), Predictive model assessment for count data, Biometrics 65, §2.1.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidFile
from likely.files import write_atomically
from likely.kinds import CLASS_KINDS, TargetKind
from likely.metrics import Prediction, Truth
from likely.workbench.folds import Folds
from likely.workbench.identifiers import identifier_of
from likely.workbench.objective import strata_of
from likely.workbench.predictions import Spread, predict_for, spread_of, truth_of
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

TABLE, FACTS = "validation.parquet", "validation.json"
DRAWS = 199  # of each row's predictive distribution: PIT in steps of half a percent
MOST_SURPRISING = 12
LONGEST_CELL = 200  # letters kept of a cell


@final
@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out predictions of training rows, each row at most once."""

    kind: TargetKind
    target: str
    truth: Truth
    prediction: Prediction
    row: Codes  # (n,)
    fold: Codes  # (n,)
    pit: Array | None = None  # (n,)
    surprising: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # folds, seed

    @property
    def has_classes(self) -> bool:
        return self.kind in CLASS_KINDS

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.truth.classes)


def validate(
    model: Any,
    table: "pa.Table",
    task: Task,
    *,
    n_folds: int = 5,
    seed: int = 0,
    folds: Folds | None = None,
) -> Validation:
    """Fit clones of the model without each fold, and keep what they say of it.

    ``table`` is the training part, with the target; a model for mixed tables comes as
    ``Prepared(model)``, so that its preparation is learned without the fold as well.  ``folds``
    are of the rows with a target, by group or by time, in place of stratified ones.
    """
    from sklearn.base import clone

    places = np.flatnonzero(task.known(table))
    table = table.take(places)
    if folds is None:
        stratify = strata_of(table, task) if task.has_classes else None
        folds = Folds(n_rows=table.num_rows, n_folds=n_folds, seed=seed, stratify=stratify)
    rng = np.random.default_rng(seed)
    parts = []
    for train, test in folds:
        held = table.take(test)
        fitted = clone(model).fit(table.take(train), task.target)
        said = predict_for(fitted, task, held)
        spread = None if task.has_classes else spread_of(fitted)
        parts.append((test, said, _pit(spread, task, held, said, rng)))
    return _joined(table, task, parts, places, {"folds": folds.n_folds, "seed": seed})


def of_held_out(
    said: Prediction,
    table: "pa.Table",
    task: Task,
    *,
    places: Codes,
    weight: Array | None,
    spread: Spread | None,
    facts: Mapping[str, Any],
) -> Validation:
    """One part that was held out; ``places`` are those of its rows in the whole table.

    ``facts`` has ``held_out``, the number of rows of which these may be some, and ``measures``:
    value, low, high and constant of each metric on all of them.
    """
    rng = np.random.default_rng(facts["seed"])
    part = (np.arange(table.num_rows), said, _pit(spread, task, table, said, rng))
    return _joined(table, task, [part], places, facts, weight)


def write(folder: Path, validation: Validation) -> None:
    """``validation.parquet`` and ``validation.json``."""
    import pyarrow as pa

    from likely.sealing.folder import parquet_bytes

    said = validation.prediction
    columns: dict[str, Any] = {
        "row": validation.row,
        "fold": validation.fold,
        "truth": validation.truth.y,
    }
    if said.log_proba is not None:
        columns |= {f"log_p_{k}": said.log_proba[:, k] for k in range(said.log_proba.shape[1])}
    numbers = {
        "mean": said.mean,
        "log_density": said.log_density,
        "pit": validation.pit,
        "weight": validation.truth.weight,
    }
    columns |= {name: values for name, values in numbers.items() if values is not None}
    facts = {
        **validation.facts,
        "kind": validation.kind,
        "target": validation.target,
        "classes": list(validation.truth.classes),
        "rows": len(validation.row),
        "surprising": list(validation.surprising),
    }
    write_atomically(folder / TABLE, parquet_bytes(pa.table(columns)))
    text = json.dumps(_finite(facts), indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / FACTS, text.encode() + b"\n")


def read_validation(folder: Path) -> Validation | None:
    """What ``write`` has written; None where there is nothing."""
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    if not (folder / TABLE).is_file() or not (folder / FACTS).is_file():
        return None
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        table = read_table(folder / TABLE)
        return _of_table(facts, {name: table[name].to_numpy() for name in table.column_names})
    except (OSError, ValueError, KeyError, ArrowException) as error:
        raise InvalidFile(
            folder / TABLE, f"it is not as it was written ({error}). Remove it, or train again."
        ) from None


def _of_table(facts: Mapping[str, Any], columns: Mapping[str, Array]) -> Validation:
    classes = tuple(facts["classes"])
    if classes:
        log_p = np.stack([columns[f"log_p_{k}"] for k in range(len(classes))], axis=1)
        said = Prediction.of_classes(log_p)
    else:
        said = Prediction.of_numbers(columns["mean"], columns.get("log_density"))
    return Validation(
        kind=facts["kind"],
        target=facts["target"],
        truth=Truth(columns["truth"], columns.get("weight"), classes, facts["kind"]),
        prediction=said,
        row=columns["row"],
        fold=columns["fold"],
        pit=columns.get("pit"),
        surprising=tuple(facts["surprising"]),
        facts=facts,
    )


def _joined(
    table: "pa.Table",
    task: Task,
    parts: list[tuple[Codes, Prediction, Array | None]],
    places: Codes,
    facts: Mapping[str, Any],
    weight: Array | None = None,
) -> Validation:
    """The folds in the order of the rows; ``places`` are those of the rows in the whole table."""
    held = np.concatenate([test for test, _, _ in parts])
    order = np.argsort(held, kind="stable")
    table, places = table.take(held[order]), places[held[order]]  # by time, the first are not held
    fold = np.concatenate([np.full(len(test), k) for k, (test, _, _) in enumerate(parts)])
    truth = truth_of(task, table, None if weight is None else weight[held[order]])
    prediction = Prediction(
        log_proba=_stacked([said.log_proba for _, said, _ in parts], order),
        mean=_stacked([said.mean for _, said, _ in parts], order),
        log_density=_stacked([said.log_density for _, said, _ in parts], order),
    )
    return Validation(
        kind=task.kind,
        target=task.target,
        truth=truth,
        prediction=prediction,
        row=places,
        fold=fold[order],
        pit=_stacked([pit for _, _, pit in parts], order),
        surprising=_surprising(table, task, truth, prediction, places),
        facts={**facts, "identifier": identifier_of(table, task.target)},
    )


def _stacked(parts: list[Array | None], order: Codes) -> Array | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present)[order] if len(present) == len(parts) else None


def _pit(
    spread: Spread | None, task: Task, held: "pa.Table", said: Prediction, rng: np.random.Generator
) -> Array | None:
    """Where each number lies among draws of what was predicted for it."""
    if spread is None:
        return None
    low, high = spread.response.means
    if not ((said.means > low) & (said.means < high)).all():
        return None
    y = task.numbers(held)
    below, equal = np.zeros(len(y)), np.zeros(len(y))
    for _ in range(DRAWS):
        drawn = np.asarray(spread.response.sample(said.means, rng, spread.dispersion))
        drawn = np.round(drawn) if task.kind == "count" else drawn
        below += drawn < y
        equal += drawn == y
    return np.asarray((below + rng.uniform(size=len(y)) * (1 + equal)) / (1 + DRAWS))


def row_losses(truth: Truth, said: Prediction) -> Array:
    """How surprising each row was: −log p, or the squared error where there is no density."""
    if said.log_proba is not None:
        return -np.take_along_axis(said.log_proba, truth.y[:, None], axis=1)[:, 0]
    if said.log_density is not None:
        return -said.log_density
    return np.square(truth.y - said.means)


def _surprising(
    table: "pa.Table", task: Task, truth: Truth, said: Prediction, places: Codes
) -> tuple[dict[str, Any], ...]:
    losses = row_losses(truth, said)
    worst = np.argsort(-losses, kind="stable")[:MOST_SURPRISING]
    features = [name for name in table.column_names if name != task.target]
    found = []
    for i in worst.tolist():
        found.append(
            {
                "row": int(places[i]),
                "truth": _plain(task.classes[truth.y[i]] if task.has_classes else truth.y[i]),
                "said": _said(task, said, i),
                "loss": float(losses[i]) if np.isfinite(losses[i]) else None,
                "cells": {name: _plain(table.column(name)[i].as_py()) for name in features},
            }
        )
    return tuple(found)


def _said(task: Task, said: Prediction, i: int) -> dict[str, Any]:
    if said.log_proba is None:
        return {"mean": float(said.means[i])}
    best = int(said.log_proba[i].argmax())
    return {"class": _plain(task.classes[best]), "p": float(np.exp(said.log_proba[i, best]))}


def _finite(value: Any) -> Any:
    """Null for what is not finite, for JSON has no such numbers."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return str(value)[:LONGEST_CELL]
