"""Held-out predictions of rows, and the quantile of each number in its predicted distribution.

    PIT = (#{draws < y} + v (1 + #{draws = y})) / (1 + #draws),   v uniform

With draws from the predictive distribution this is uniform exactly where the model is calibrated,
for amounts and for counts.

The cells of a row that are far from those of other rows: the reason for a surprising prediction.

z = |x − median| / s,    s = (upper quartile − lower quartile) / 1.35,  a Gaussian's SD

References
----------
Czado, Gneiting & Held (2009), Predictive model assessment for count data, Biometrics 65, §2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import CLASS_KINDS, TargetKind
from likely.metrics import Prediction, Score, Truth
from likely.workbench.data.roles import identifier_of
from likely.workbench.data.task import Task
from likely.workbench.scoring.held_out import HeldOut

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 3
FAR = 3.0  # z beyond which a cell is unusual
QUARTILES_PER_SD = 1.35  # of a Gaussian
SHARES = (0.25, 0.5, 0.75)
COLUMNS_AT_ONCE = 512  # a matrix of some columns, not a copy of the whole table
DRAWS = 199  # of each row's predictive distribution: PIT in steps of half a percent
MOST_KEPT = 20_000  # rows: pictures show no more
MOST_SURPRISING = 12
LONGEST_CELL = 200  # letters kept of a cell


@final
@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out predictions of training rows, each row at most once, and their score."""

    kind: TargetKind
    target: str
    truth: Truth
    prediction: Prediction
    row: Codes  # (n,)
    fold: Codes  # (n,)
    score: Score  # of all rows held out, of which these may be some
    pit: Array | None = None  # (n,)
    gain: Array | None = None  # (n,), over the constant of the same fold
    surprising: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # seed, by_time, identifier
    groups: Codes | None = None  # (n,); groups or copies that were held out together

    @property
    def has_classes(self) -> bool:
        return self.kind in CLASS_KINDS

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.truth.classes)

    def columns(self) -> dict[str, Any]:
        """The columns of a table of the rows; columns that the model does not have are absent."""
        shown = self.prediction
        found: dict[str, Any] = {"row": self.row, "fold": self.fold, "truth": self.truth.y}
        if shown.log_proba is not None:
            found |= {f"log_p_{k}": column for k, column in enumerate(shown.log_proba.T)}
        numbers = {
            "mean": shown.mean,
            "log_density": shown.log_density,
            "pit": self.pit,
            "gain": self.gain,
            "weight": self.truth.weight,
            "group": self.groups,
        }
        return found | {name: values for name, values in numbers.items() if values is not None}

    def to_json(self) -> dict[str, Any]:
        """Everything except the columns, as JSON."""
        return {
            **self.facts,
            "kind": self.kind,
            "target": self.target,
            "classes": list(self.truth.classes),
            "rows": len(self.row),
            "score": self.score.to_json(),
            "surprising": list(self.surprising),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any], columns: Mapping[str, Array]) -> "Validation":
        """Read what ``to_json`` and ``columns`` have written."""
        classes = tuple(facts["classes"])
        if classes:
            log_p = np.stack([columns[f"log_p_{k}"] for k in range(len(classes))], axis=1)
            prediction = Prediction.of_classes(log_p)
        else:
            prediction = Prediction.of_numbers(columns["mean"], columns.get("log_density"))
        return cls(
            kind=facts["kind"],
            target=facts["target"],
            truth=Truth(columns["truth"], columns.get("weight"), classes, facts["kind"]),
            prediction=prediction,
            row=columns["row"],
            fold=columns["fold"],
            score=Score.from_json(facts["score"]),
            pit=columns.get("pit"),
            gain=columns.get("gain"),
            surprising=tuple(facts["surprising"]),
            facts=facts,
            groups=columns.get("group"),
        )


def validation_of(
    held: HeldOut,
    table: "pa.Table",
    score: Score,
    *,
    places: Codes | None = None,
    seed: int = 0,
    by_time: str | None = None,
) -> Validation:
    """The validation that is saved for held-out rows; for one large part, its first rows.

    ``held.row`` are rows of ``table``, which has the features and the target; ``places`` are those
    of its rows in the whole table.
    """
    if held.n_folds is None and len(held.row) > MOST_KEPT:
        held = held.rows(np.arange(MOST_KEPT))  # chosen by a hash, so the first are as good as any
    table = table.take(held.row)
    row = held.row if places is None else places[held.row]
    return Validation(
        kind=held.task.kind,
        target=held.task.target,
        truth=held.truth,
        prediction=held.prediction,
        row=row,
        fold=held.fold,
        score=score,
        pit=_pit(held, np.random.default_rng(seed)),
        gain=held.prediction.gain_over(held.constant, held.truth),
        surprising=_surprising(held, table, row),
        facts={
            "seed": seed,
            "by_time": by_time,
            "identifier": identifier_of(table, held.task.target),
        },
        groups=held.groups,
    )


def _pit(held: HeldOut, rng: np.random.Generator) -> Array | None:
    """The rank of each number among draws of its predictive distribution."""
    if held.task.has_classes:
        return None
    found = np.empty(len(held.row))
    for place, family in enumerate(held.families):
        part = held.rows(np.flatnonzero(held.fold == place))
        if family is None:
            return None
        low, high = family.response.means
        mean, y = part.prediction.means, part.truth.y
        if not ((mean > low) & (mean < high)).all():
            return None
        below, equal = np.zeros(len(y)), np.zeros(len(y))
        for _ in range(DRAWS):
            drawn = family.sample(mean, rng, part.prediction.spread)
            drawn = np.round(drawn) if held.task.kind == "count" else drawn
            below += drawn < y
            equal += drawn == y
        inside = (below + rng.uniform(size=len(y)) * (1 + equal)) / (1 + DRAWS)
        found[held.fold == place] = inside
    return found


def _surprising(held: HeldOut, table: "pa.Table", row: Codes) -> tuple[dict[str, Any], ...]:
    """The rows with the largest losses, the largest first."""
    task, truth = held.task, held.truth
    losses = held.prediction.losses(truth)
    worst = np.argsort(-losses, kind="stable")[:MOST_SURPRISING].tolist()
    features = [name for name in table.column_names if name != task.target]
    cells = table.select(features).take(worst).to_pylist()
    unusual = unusual_cells_of_rows(table, worst, features)
    found = []
    for place, i in enumerate(worst):
        found.append(
            {
                "row": int(row[i]),
                "truth": _json_value(task.classes[truth.y[i]] if task.has_classes else truth.y[i]),
                "predicted": _predicted(task, held.prediction, i),
                "loss": float(losses[i]) if np.isfinite(losses[i]) else None,
                "cells": {name: _json_value(value) for name, value in cells[place].items()},
                "unusual": {name: _json_value(value) for name, value in unusual[place].items()},
            }
        )
    return tuple(found)


def _predicted(task: Task, prediction: Prediction, i: int) -> dict[str, Any]:
    if prediction.log_proba is None:
        return {"mean": float(prediction.means[i])}
    log_p = prediction.log_proba[i]
    best = int(log_p.argmax())
    return {"class": _json_value(task.classes[best]), "p": float(np.exp(log_p[best]))}


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return str(value)[:LONGEST_CELL]


def unusual_cells(table: "pa.Table", row: int, features: list[str]) -> dict[str, Any]:
    """The numbers of a row that are far from the middle of their columns, the farthest first."""
    return unusual_cells_of_rows(table, [row], features)[0]


@np.errstate(invalid="ignore")  # ∞ − ∞ is NaN, which is not far
def unusual_cells_of_rows(
    table: "pa.Table", rows: list[int], features: list[str]
) -> list[dict[str, Any]]:
    """The unusual cells of each row; the quartiles of a column are computed once for all rows."""
    numbers = [name for name in features if _is_number(table.schema.field(name).type)]
    far: list[dict[str, float]] = [{} for _ in rows]
    for start in range(0, len(numbers), COLUMNS_AT_ONCE):
        names = numbers[start : start + COLUMNS_AT_ONCE]
        columns = [table.column(name).to_numpy().astype(np.float64) for name in names]
        middle, spread = _middle_and_spread(table, names, columns)
        for found, row in zip(far, rows, strict=True):
            distance = np.abs(np.array([column[row] for column in columns]) - middle)
            for k in np.flatnonzero(distance > FAR * spread).tolist():
                found[names[k]] = float(distance[k] / spread[k])
    return [
        {
            name: table.column(name)[row].as_py()
            for name in sorted(found, key=lambda name: -found[name])[:MOST_CELLS]
        }
        for found, row in zip(far, rows, strict=True)
    ]


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _middle_and_spread(
    table: "pa.Table", names: list[str], columns: list[Array]
) -> tuple[Array, Array]:
    """The median and the spread of each column; a missing cell, here NaN, is left out."""
    import pyarrow.compute as pc

    quartiles = np.full((3, len(columns)), np.nan)
    gaps = np.array([bool(np.isnan(column).any()) for column in columns])
    whole = np.flatnonzero(~gaps)
    if whole.size and columns[0].size:
        matrix = np.stack([columns[k] for k in whole.tolist()])
        quartiles[:, whole] = np.quantile(matrix, SHARES, axis=1)
    for k in np.flatnonzero(gaps).tolist():
        known = columns[k][~np.isnan(columns[k])]
        if known.size:
            quartiles[:, k] = np.quantile(known, SHARES)
    low, middle, high = quartiles
    spread = (high - low) / QUARTILES_PER_SD
    for k in np.flatnonzero(spread == 0).tolist():
        spread[k] = pc.stddev(table.column(names[k])).as_py() or 0.0
    return middle, spread
