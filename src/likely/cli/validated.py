"""Models with their preparation inside: cross-validated on every row, then fitted to all.

validate    each row predicted by a fit that had not seen it; medians, scales and categories
            are learned without it as well
fit         the model of the RUN, on all rows

The best constant of a row is that of the other folds, as in ``compare``; by time it is that of all
rows held out.  Where rows were held out by group, intervals are those of groups.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Codes
from likely.cli.kinds import task_facts
from likely.cli.measures import MEDIAN
from likely.cli.parting import UNPARTED, Parting, parted_or_sealed
from likely.cli.registry import Model, arguments
from likely.cli.show import table, wrapped
from likely.formatting import DASH, count, estimate_cells, listed
from likely.intervals import mean_interval, n_groups_of
from likely.metrics import Metric, metrics_for
from likely.metrics.base import Estimate, constant_prediction
from likely.workbench.models import CANDIDATES
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.cli.tables import Data
    from likely.workbench.folds import Folds
    from likely.workbench.validation import Validation

FEWEST_ROWS = 20  # below this nothing is held out
FOLDS = 5
LEVEL = 0.95  # of intervals
SHOWN = (
    "log-loss",
    "accuracy",
    "auc",
    "brier",
    "ranked-probability",
    "rank-error",
    "log-likelihood",
)
MOST_SHOWN = 6  # JSON has all
LARGEST_LOSS = 745.0  # −log of the least number above 0, in place of what is infinite


class Fitted(NamedTuple):
    """A model of all rows, and what cross-validation says of it."""

    model: Any  # Prepared
    task: Task
    rows: "pa.Table"  # with a target
    validation: "Validation | None"
    parting: Parting  # how rows were held out


def estimator_of(chosen: Model, task: Task, given: dict[str, Any], seed: int) -> Any:
    """The model with the settings that suit the task; what was given overrules them."""
    candidate = CANDIDATES.get(chosen.name)
    if candidate is None:
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
    parting: Parting = UNPARTED,
) -> Fitted:
    """``model`` is not yet fitted; its preparation may be inside already.

    Rows of a seal are validated as they were sealed: by group, or by time; ``folds``, of rows
    that all have a target and were parted by ``parting``, overrule that.
    """
    from dataclasses import replace

    from sklearn.base import clone

    from likely.workbench.preparation.prepared import Prepared
    from likely.workbench.rows import Rows
    from likely.workbench.validation import validate

    known = rows.filter(task.known(rows))
    whole = model if isinstance(model, Prepared) else Prepared(model)
    validation = None
    if folds is None:
        parting = parted_or_sealed(parting, data)
    if known.num_rows >= FEWEST_ROWS and folds is None and parting.anything:
        sealed = Rows(known, task, data.label, 0, *parting, sealed=True)
        folds = sealed.folds(n_folds=n_folds, repeats=1, seed=seed)
    known = _without_groups(data, known)
    if known.num_rows >= FEWEST_ROWS:
        validation = validate(whole, known, task, n_folds=n_folds, seed=seed, folds=folds)
        validation = replace(validation, facts={**validation.facts, **parting._asdict()})
        validation = replace(validation, facts={**validation.facts, **_measured(validation, folds)})
    fitted = clone(whole).fit(known.drop_columns([task.target]), known.column(task.target))
    return Fitted(fitted, task, known, validation, parting)


def facts_of(found: Fitted, chosen: Model, data: "Data") -> dict[str, Any]:
    """What ``run.json`` says of a model with its preparation inside."""
    task = found.task
    return {
        "model": chosen.name,
        "data": data.label,
        "rows": found.rows.num_rows,
        "columns": [str(name) for name in found.model.feature_names_in_],
        "target": task.target,
        **found.parting._asdict(),
        "beside": {},
        "classes": list(task.classes) if task.has_classes else None,
        "task": task_facts(task),
    }


def _without_groups(data: "Data", rows: "pa.Table") -> "pa.Table":
    """The group of a sealed table names rows, and is no feature."""
    group = None if data.seal is None else data.seal.manifest.group
    return rows.drop_columns([group]) if group in rows.column_names else rows


def estimates(validation: "Validation") -> dict[str, tuple[Metric, Estimate]]:
    """All metrics of the task that the model can have, the main one first."""
    from likely.report.sections.scores import estimate_of

    kind: Any = validation.kind
    return {
        metric.name: (metric, estimate_of(validation, metric))
        for metric in metrics_for(kind)
        if metric.suits(validation.prediction)
    }


def _measured(validation: "Validation", folds: "Folds | None") -> dict[str, Any]:
    """Each metric of all rows held out, and the gain over the constant; for ``Validation.facts``.

    What is infinite is left out here, for JSON has no such number.
    """
    truth, said = validation.truth, validation.prediction
    by_time = folds is not None and folds.time is not None
    groups = None if folds is None or folds.groups is None else folds.groups[validation.row]
    measures = {}
    for metric in (each for each in metrics_for(validation.kind) if each.suits(said)):
        told = metric.estimate(truth, truth, said, groups=groups)
        if not by_time:
            told = told._replace(constant=metric.constant_of_folds(truth, validation.fold))
        if np.isfinite((told.value, told.constant)).all():
            measures[metric.name] = told._asdict()
    fold = np.zeros_like(validation.fold) if by_time else validation.fold
    found = {"measures": measures, "gain": tuple(_gain(validation, fold, groups))}
    return found if groups is None else found | {"groups": n_groups_of(groups)}


def score_facts(validation: "Validation | None", n_folds: int) -> dict[str, Any] | None:
    """What ``run.json`` keeps of a cross-validation."""
    if validation is None:
        return None
    found = estimates(validation)
    main, estimate = next(iter(found.values()))
    gain, low, high = validation.facts["gain"]
    facts = validation.facts
    groups = {name: facts[name] for name in ("group", "groups")} if "groups" in facts else {}
    return {
        "name": main.title,
        "metric": main.name,
        "how": f"{n_folds}-fold cross-validation",
        "folds": n_folds,
        "rows": len(validation.row),
        **groups,
        "value": estimate.value,
        "interval": (estimate.low, estimate.high),
        "best_constant": estimate.constant,
        "gain": gain,
        "gain_interval": (low, high),
        "measures": [_measure(*pair) for pair in found.values()],
    }


def score_text(scores: Mapping[str, Any] | None) -> list[str]:
    """The scores as a table, with how they were measured."""
    if scores is None:
        return ["The model was fitted on all rows."]
    lines = sorted(scores["measures"], key=lambda line: line["metric"] not in SHOWN)[:MOST_SHOWN]
    rows = [[line["name"], *_cells(line)] for line in lines]
    told = (
        f"Each of {count(scores['rows'], 'row')} was predicted by a fit without it "
        f"({scores['how']}); intervals are for these rows together{_in_groups(scores)}. "
        f"The model was then fitted on all rows.{_why_dashes(lines)}{_about_median(lines)}"
    )
    header = ["cross-validation", "value", "95 % interval", "baseline"]
    return [table(header, rows), wrapped(told)]


def _in_groups(scores: Mapping[str, Any]) -> str:
    if "groups" not in scores:
        return ""
    return f", in {count(scores['groups'], 'group')} of {scores['group']}"


def _cells(line: Mapping[str, Any]) -> list[str]:
    """Value, interval and baseline; a dash in place of what is not finite."""
    if not np.isfinite(line["value"]):
        return estimate_cells(None, None, None, line["best_constant"])
    return estimate_cells(line["value"], *line["interval"], line["best_constant"])


def _about_median(lines: Sequence[Mapping[str, Any]]) -> str:
    return f" {MEDIAN}" if any(line["metric"] == "mae" for line in lines) else ""


def _why_dashes(lines: Sequence[Mapping[str, Any]]) -> str:
    gone = [str(line["name"]) for line in lines if not np.isfinite(line["value"])]
    if not gone:
        return ""
    return (
        f" {DASH} {', '.join(gone)}: infinite, because a predicted mean is 0 or below, or a value "
        "that occurs was given probability 0."
    )


def score_findings(scores: Mapping[str, Any] | None, n_rows: int) -> tuple[str, ...]:
    if scores is None:
        rows = count(n_rows, "row")
        return (f"There are only {rows}, too few to hold some out, so there is no score.",)
    if scores["gain_interval"][0] > 0:
        return ()
    return ("On these rows the model is not shown to be better than the baseline (constant).",)


def dropped_columns(model: Any) -> tuple[str, ...]:
    """A note about columns that the preparation left out."""
    gone = [name for name, what in model.steps_ if what.startswith("dropped")]
    if not gone:
        return ()
    return (f"Dropped as uninformative: {listed(gone, 6)}. likely explain gives the reasons.",)


def _measure(metric: Metric, estimate: Estimate) -> dict[str, Any]:
    return {
        "name": metric.title,
        "metric": metric.name,
        "value": estimate.value,
        "interval": (estimate.low, estimate.high),
        "best_constant": estimate.constant,
    }


def _gain(
    validation: "Validation", fold: Codes, groups: Codes | None
) -> tuple[float, float, float]:
    """What the model saves of the constant's loss per row, with a 95 % interval.

    The constant of a row is that of the other folds; of one fold alone, that of its rows.
    """
    from likely.workbench.validation import row_losses

    truth, said = validation.truth, validation.prediction
    difference = -np.minimum(row_losses(truth, said), LARGEST_LOSS)
    for held in np.unique(fold):
        here, others = fold == held, fold != held
        rows = truth.rows(here)
        constant = constant_prediction(truth.rows(others) if others.any() else rows, rows)
        if said.log_density is None and not truth.classes:
            constant = type(constant).of_numbers(constant.means)  # squared errors on both sides
        difference[here] += np.minimum(row_losses(rows, constant), LARGEST_LOSS)
    return (float(difference.mean()), *mean_interval(difference, LEVEL, groups))
