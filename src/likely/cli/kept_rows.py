"""What a scored fit said of the rows that it did not see, kept for the report.

A file that is streamed keeps none: its rows are not in memory.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array
from likely.cli.held_out import FRACTION
from likely.cli.kinds import Said, task_for
from likely.cli.measures import best_constant
from likely.cli.registry import Model
from likely.cli.roles import Roles
from likely.cli.tables import table_source
from likely.data.split import split_mask
from likely.metrics import Prediction, Truth, metrics_for
from likely.workbench.predictions import spread_of, truth_of
from likely.workbench.task import Task, task_of

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.validation import Validation

MOST_KEPT = 20_000  # rows: pictures show no more
CLASSES = ("class", "two classes")


def task_of_fit(
    rows: "pa.Table", target: str, chosen: Model, given: dict[str, Any], said: Said
) -> Task:
    """The task as the model takes it: a number that it tells apart as classes is a class."""
    task = task_for(rows, target, chosen, given, said)
    if said.anything:
        return task
    if chosen.target in CLASSES and not task.has_classes:
        return task_of(rows, target, kind="classes")
    if chosen.target == "number" and given.get("response", "gaussian") == "gaussian":
        return task_of(rows, target, kind="real")
    return task


def kept_rows(
    model: Any, rows: "pa.Table", task: Task, roles: Roles, *, seed: int
) -> "Validation | None":
    """The held-out rows as ``model`` sees them, which was fitted to the others."""
    from likely.workbench.validation import of_held_out

    task = _as_met(task, model)
    held = split_mask(0, rows.num_rows, seed, FRACTION)
    counts = _counts(rows, roles) & task.known(rows)
    seen, test = np.flatnonzero(~held & counts), np.flatnonzero(held & counts)
    if len(test) == 0 or len(seen) == 0:
        return None
    table = rows.take(test)
    said = _said(model, table, task, roles)
    truth = truth_of(task, table, _weight(table, roles))
    learned = rows.take(seen)
    measures = _measures(task, truth_of(task, learned, _weight(learned, roles)), truth, said)
    if not task.has_classes:
        measures |= _beside_constant(model, learned, table, task, roles, measures)
    few = np.arange(min(len(test), MOST_KEPT))  # chosen by a hash, so the first are as good as any
    return of_held_out(
        said.rows(few),
        table.slice(0, len(few)),
        task,
        places=test[few],
        weight=None if truth.weight is None else truth.weight[few],
        spread=None if task.has_classes else spread_of(model),
        facts={
            "seed": seed,
            "held_out": len(test),
            "measures": measures,
            "moved": bool(roles.at_prediction()),
        },
    )


def _said(model: Any, table: "pa.Table", task: Task, roles: Roles) -> Prediction:
    """Offsets and exposures go with the rows."""
    asked, given = table.select(list(model.feature_names_in_)), roles.to_predict(table)
    if task.has_classes:
        own = model.classes_.tolist()
        log_proba = np.asarray(model.predict_log_proba(asked, **given), dtype=np.float64)
        return Prediction.of_classes(log_proba[:, [own.index(label) for label in task.classes]])
    mean = np.asarray(model.predict(asked, **given), dtype=np.float64)
    spread = spread_of(model)
    if spread is None:
        return Prediction.of_numbers(mean)
    counts = task.kind == "count"
    return Prediction.of_numbers(mean, spread.log_density(task.numbers(table), mean, counts=counts))


def _measures(task: Task, learned: Truth, truth: Truth, said: Prediction) -> dict[str, Any]:
    """Every metric of all held-out rows; the constant is that of the rows learned from."""
    found = {}
    for metric in metrics_for(task.kind):
        if metric.suits(said):
            found[metric.name] = metric.estimate(learned, truth, said)._asdict()
    return found


def _beside_constant(
    model: Any,
    learned: "pa.Table",
    table: "pa.Table",
    task: Task,
    roles: Roles,
    measures: dict[str, Any],
) -> dict[str, Any]:
    """Those measures whose constant follows the model's family or its offsets, as in the score."""
    constant = best_constant(model, table_source(learned), roles)
    if constant.kind != task.kind:  # the target was said to be of another kind
        return {}
    truth = truth_of(task, table, _weight(table, roles))
    mean = constant.mean(table, roles)
    plain = Prediction.of_numbers(mean, constant.log_density(truth.y, mean))
    moved = bool(roles.at_prediction())
    return {
        metric.name: told | {"constant": metric.value(metric.statistics(truth, plain))}
        for metric in metrics_for(task.kind)
        if (moved or metric.needs_density) and (told := measures.get(metric.name)) is not None
    }


def _as_met(task: Task, model: Any) -> Task:
    """With the classes that the fit had met; the score leaves rows of others out as well."""
    if not task.has_classes:
        return task
    own = model.classes_.tolist()
    met = tuple(label for label in task.classes if label in own)
    kind = "binary" if task.kind == "classes" and len(met) == 2 else task.kind
    return replace(task, classes=met, kind=kind)


def _counts(rows: "pa.Table", roles: Roles) -> Array:
    """Rows whose weight is above 0."""
    weight = _weight(rows, roles)
    return np.ones(rows.num_rows, dtype=bool) if weight is None else weight > 0


def _weight(rows: "pa.Table", roles: Roles) -> Array | None:
    if roles.weight is None:
        return None
    return np.asarray(rows.column(roles.weight).to_numpy(), dtype=np.float64)
