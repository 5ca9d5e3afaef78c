"""Models with their preparation inside: cross-validated on every row, then fitted to all.

validate    each row predicted by a fit that had not seen it; medians, scales and categories
            are learned without it as well
fit         the model of the RUN, on all rows
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.cli.registry import Model, arguments
from likely.cli.show import count, number, table, wrapped
from likely.evaluate.metrics import Metric, metrics_for
from likely.evaluate.metrics.base import Estimate, constant_prediction
from likely.evaluate.models import CANDIDATES
from likely.evaluate.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.cli.tables import Data
    from likely.evaluate.folds import Folds
    from likely.report.validation import Validation

FEWEST_ROWS = 20  # below this nothing is held out
FOLDS = 5
Z = 1.959963984540054  # the normal quantile of 0.975
SHOWN = ("log-loss", "accuracy", "auc", "brier", "ranked-probability", "log-likelihood")
MOST_SHOWN = 5  # metrics for a person; JSON has all
LARGEST_LOSS = 745.0  # −log of the least number above 0, in place of what is infinite


class Fitted(NamedTuple):
    """A model of all rows, and what cross-validation says of it."""

    model: Any  # Prepared
    task: Task
    rows: "pa.Table"  # with a target
    validation: "Validation | None"


def estimator_of(chosen: Model, task: Task, given: dict[str, Any], seed: int) -> Any:
    """The model with the settings that suit the task; what was given overrules them."""
    candidate = CANDIDATES.get(chosen.name)
    if candidate is None or (chosen.name == "softmax" and task.kind == "binary"):
        return chosen.load()(**(arguments(chosen, (), seed) | given))
    return candidate.build(task, given, seed=seed)


def fit_and_validate(
    model: Any,
    data: "Data",
    rows: "pa.Table",
    task: Task,
    *,
    n_folds: int = FOLDS,
    seed: int = 0,
    folds: "Folds | None" = None,
) -> Fitted:
    """``model`` is not yet fitted; its preparation may be inside already.

    Rows of a seal are validated as they were sealed: by group, or by time; ``folds``, of rows
    that all have a target, overrule that.
    """
    from sklearn.base import clone

    from likely.evaluate.prepared import Prepared
    from likely.report.validation import validate

    known = rows.filter(task.known(rows))
    whole = model if isinstance(model, Prepared) else Prepared(model)
    validation = None
    if known.num_rows >= FEWEST_ROWS and folds is None:
        folds = _folds_of_seal(data, known, task, n_folds=n_folds, seed=seed)
    known = _without_groups(data, known)
    if known.num_rows >= FEWEST_ROWS:
        validation = validate(whole, known, task, n_folds=n_folds, seed=seed, folds=folds)
    fitted = clone(whole).fit(known.drop_columns([task.target]), known.column(task.target))
    return Fitted(fitted, task, known, validation)


def _without_groups(data: "Data", rows: "pa.Table") -> "pa.Table":
    """The group of a sealed table names rows, and is no feature."""
    group = None if data.seal is None else data.seal.manifest.group
    return rows.drop_columns([group]) if group in rows.column_names else rows


def _folds_of_seal(
    data: "Data", known: "pa.Table", task: Task, *, n_folds: int, seed: int
) -> "Folds | None":
    """By the group or the time of a seal; None where it has neither."""
    from likely.evaluate.rows import Rows

    if data.seal is None:
        return None
    manifest = data.seal.manifest
    if manifest.group is None and manifest.by_time is None:
        return None
    rows = Rows(known, task, data.label, 0, manifest.group, manifest.by_time, True)
    return rows.folds(n_folds=n_folds, repeats=1, seed=seed)


def estimates(validation: "Validation") -> dict[str, tuple[Metric, Estimate]]:
    """All metrics of the task that the model can have, the main one first."""
    truth, said = validation.truth, validation.prediction
    kind: Any = validation.kind
    return {
        metric.name: (metric, metric.estimate(truth, truth, said))
        for metric in metrics_for(kind)
        if metric.suits(said)
    }


def score_facts(validation: "Validation | None", n_folds: int) -> dict[str, Any] | None:
    """What ``run.json`` keeps of a cross-validation."""
    if validation is None:
        return None
    found = estimates(validation)
    main, estimate = next(iter(found.values()))
    gain, low, high = _gain(validation)
    return {
        "name": main.title,
        "metric": main.name,
        "how": f"{n_folds}-fold cross-validation",
        "folds": n_folds,
        "rows": len(validation.row),
        "value": estimate.value,
        "interval": (estimate.low, estimate.high),
        "best_constant": estimate.constant,
        "gain": gain,
        "gain_interval": (low, high),
        "measures": [_measure(*pair) for pair in found.values()],
    }


def score_text(scores: Mapping[str, Any] | None) -> list[str]:
    """The same for a person."""
    if scores is None:
        return ["The model was fitted on all rows."]
    lines = sorted(scores["measures"], key=lambda line: line["metric"] not in SHOWN)[:MOST_SHOWN]
    rows = [
        [
            line["name"],
            *_value_and_ends(line),
            number(line["best_constant"]),
        ]
        for line in lines
    ]
    told = (
        f"Each of {count(scores['rows'], 'row')} was predicted by a fit that had not seen it "
        f"({scores['how']}); intervals are of these rows together. The model was then fitted on "
        f"all rows.{_why_dashes(lines)}"
    )
    header = ["by cross-validation", "", "95 % interval", "best constant"]
    return [table(header, rows), wrapped(told)]


def _value_and_ends(line: Mapping[str, Any]) -> list[str]:
    """A dash in place of what is not finite."""
    if not np.isfinite(line["value"]):
        return ["–", "–"]
    return [number(line["value"]), " to ".join(number(end) for end in line["interval"])]


def _why_dashes(lines: Sequence[Mapping[str, Any]]) -> str:
    gone = [str(line["name"]) for line in lines if not np.isfinite(line["value"])]
    if not gone:
        return ""
    return (
        f" – {', '.join(gone)}: infinite, for the model predicts means at or below 0, or denies a "
        "value that occurs."
    )


def score_findings(scores: Mapping[str, Any] | None, n_rows: int) -> tuple[str, ...]:
    if scores is None:
        rows = count(n_rows, "row")
        return (f"There are only {rows}, too few to hold some out, so there is no honest score.",)
    if scores["gain_interval"][0] > 0:
        return ()
    return ("On these rows the model is not shown to be better than the best constant.",)


def dropped_columns(model: Any) -> tuple[str, ...]:
    """A note about columns that the preparation left out."""
    gone = [name for name, what in model.steps_ if what.startswith("dropped")]
    if not gone:
        return ()
    more = f" and {len(gone) - 6} more" if len(gone) > 6 else ""
    return (
        f"Left out, for they tell nothing: {', '.join(gone[:6])}{more}. likely explain says why.",
    )


def _measure(metric: Metric, estimate: Estimate) -> dict[str, Any]:
    return {
        "name": metric.title,
        "metric": metric.name,
        "value": estimate.value,
        "interval": (estimate.low, estimate.high),
        "best_constant": estimate.constant,
    }


def _gain(validation: "Validation") -> tuple[float, float, float]:
    """What the model saves of the constant's loss per row, with a 95 % interval."""
    from likely.report.validation import row_losses

    truth = validation.truth
    constant = constant_prediction(truth, truth)
    if validation.prediction.log_density is None and not truth.classes:
        constant = type(constant).of_numbers(constant.means)  # squared errors on both sides
    own, other = (
        np.minimum(row_losses(truth, said), LARGEST_LOSS)
        for said in (validation.prediction, constant)
    )
    difference = other - own
    mean, half = float(difference.mean()), Z * float(difference.std()) / np.sqrt(len(difference))
    return mean, mean - half, mean + half
