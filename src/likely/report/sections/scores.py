"""Every metric of the task in one table: on sealed rows, where there are, and on rows held out."""

from math import inf, isfinite, nan
from typing import Any

from likely.formatting import DASH, capitalised, count, estimate_cells, percent_level
from likely.metrics import METRICS, Metric, metrics_for
from likely.metrics.base import Estimate
from likely.report.section import Table
from likely.runs.records import Record
from likely.workbench.folds import parted_by
from likely.workbench.validation import Validation

SEALED, HELD = "sealed rows", "held out"
OPEN = {"value": nan, "low": -inf, "high": inf, "constant": nan}  # what JSON writes as null


def estimate_of(validation: Validation, metric: Metric) -> Estimate:
    """As it was kept when it was scored; else it is made from the rows."""
    told = (validation.facts.get("measures") or {}).get(metric.name)
    if told is not None:
        return Estimate(**{name: OPEN[name] if x is None else x for name, x in told.items()})
    return metric.estimate(validation.truth, validation.truth, validation.prediction)


def rows_held(validation: Validation) -> str:
    """``960 rows, each held out once in 5 folds``."""
    part = validation.facts.get("held_out")
    if part:
        return f"{count(int(part), 'row')} not used for the scored fit"
    n_groups, group = (validation.facts.get(name) for name in ("groups", "group"))
    parts = f" in {count(int(n_groups), 'group')} of {group}" if n_groups else ""
    rows = f"{count(len(validation.row), 'row')}{parts}"
    return f"{rows}, each held out once in {folds_of(validation)}"


def folds_of(validation: Validation) -> str:
    """``5 folds, whole groups of shop``."""
    facts = validation.facts
    number_of = int(facts.get("folds", validation.fold.max() + 1))
    return f"{count(number_of, 'fold')}{parted_by(facts.get('group'), facts.get('by_time'))}"


def metrics_table(validation: Validation, final: Record | None) -> Table:
    """One row per metric; a value that is not finite is a dash, and the caption says why."""
    sealed = ((final or {}).get("extras") or {}).get("measures") or {}
    rows, infinite = [], []
    for metric in metrics_for(validation.kind):
        if not metric.suits(validation.prediction):
            continue
        found = estimate_of(validation, metric)
        cells = _cells(found._asdict())
        if cells[0] == DASH:
            infinite.append(metric.title)
        if sealed:
            cells = [*_cells(sealed.get(metric.name) or {}), *cells]
        arrow = "↓" if metric.better == "lower" else "↑"
        rows.append((f"{capitalised(metric.title)} {arrow}", *cells))
    level = percent_level((final or {}).get("level", 0.95))
    first = (SEALED, f"{level} interval", "baseline") if sealed else ()
    head = ("metric", *first, HELD, "95 % interval", "baseline")
    said = [_held(validation), "↓ lower is better, ↑ higher is better."]
    said += [*_about_two(validation), *_about_median(validation), *_about_infinite(infinite)]
    return Table(head, tuple(rows), caption=" ".join(said))


def scores_table(scores: Any) -> Table:
    """What ``train`` said of the rows that it held out, where no predictions were kept."""
    rows = tuple(
        (
            capitalised(line["name"]),
            *_cells(
                {
                    "value": line["value"],
                    "low": line["interval"][0],
                    "high": line["interval"][1],
                    "constant": line["best_constant"],
                }
            ),
        )
        for line in scores["measures"]
    )
    caption = f"On {count(scores['rows'], 'row')} not used for the scored fit."
    return Table(("metric", "value", "95 % interval", "baseline"), rows, caption=caption)


def _cells(found: Record) -> list[str]:
    """Value, interval and baseline; a dash in place of what is not finite."""
    constant = found.get("constant")
    known = constant if constant is not None and isfinite(constant) else None
    value = found.get("value")
    if value is None or not isfinite(value):
        return estimate_cells(None, None, None, known)
    return estimate_cells(value, found["low"], found["high"], known)


def _held(validation: Validation) -> str:
    part = validation.facts.get("held_out")
    if part:
        return f"Held out: {count(int(part), 'row')} not used for the scored fit."
    return (
        f"Held out: training rows, in {folds_of(validation)}; intervals are for these rows taken "
        "together."
    )


def _about_two(validation: Validation) -> list[str]:
    """F₁ and accuracy have different baselines, and one of two classes is the positive one."""
    if validation.kind != "binary":
        return []
    return [
        f"F₁ is that of {validation.labels[1]}, predicted if its probability is above 0.5; its "
        f"baseline predicts {validation.labels[1]} for every row, that of accuracy the more common "
        "class."
    ]


def _about_median(validation: Validation) -> list[str]:
    """No one number has both the least squared and the least absolute error."""
    if validation.has_classes or validation.facts.get("moved"):
        return []
    title = METRICS["mae"].title
    return [f"The baseline of the {title} is the median; of the others it is the mean."]


def _about_infinite(titles: list[str]) -> list[str]:
    if not titles:
        return []
    return [
        f"{DASH} {', '.join(titles)}: infinite, because a predicted mean is 0 or below, or a value "
        "that occurs was given probability 0."
    ]
