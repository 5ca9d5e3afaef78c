"""All metrics in one table: on sealed rows, if they were evaluated, and on held-out rows."""

import numpy as np

from likely.formatting import DASH, capitalised, count, estimate_cells, percent_level
from likely.intervals import NO_ESTIMATE, measures_from_json
from likely.metrics import METRICS, Score
from likely.metrics.score import about_median, groups_text, title_of, why_dashes
from likely.reports.section import TableBlock
from likely.runs import RunFacts
from likely.workbench.data.folds import split_text
from likely.workbench.scoring.validation import Validation

SEALED, HELD = "sealed rows", "held out"


def score_of_run(facts: RunFacts) -> Score | None:
    """The score of the held-out rows of a run; None if it has none."""
    if facts.run.get("scores"):
        return Score.from_json(facts.run["scores"])
    return None if facts.validation is None else facts.validation.score


def rows_held(facts: RunFacts, score: Score) -> str:
    """``960 rows, each held out once in 5 folds``."""
    if score.folds is None:
        return f"{count(score.n_rows, 'row')} not used for the scored fit"
    parts = f" in {groups_text(score.n_groups, score.group)}" if score.n_groups else ""
    rows = f"{count(score.n_rows, 'row')}{parts}"
    return f"{rows}, each held out once in {folds_of(facts, score)}"


def folds_of(facts: RunFacts, score: Score) -> str:
    """``5 folds, whole groups of shop``."""
    by_time = facts.run.get("by_time")
    if by_time is None and facts.validation is not None:
        by_time = facts.validation.facts.get("by_time")
    return f"{count(score.folds or 0, 'fold')}{split_text(score.group, by_time)}"


def metrics_table(facts: RunFacts, score: Score) -> TableBlock:
    """One row per metric; a value that is not finite is a dash, and the caption says why."""
    final, validation = facts.final or {}, facts.validation
    sealed = measures_from_json(final.get("measures", ()))
    baselines = {} if validation is None else _kinds_of_baseline(validation, score)
    rows, gone = [], []
    for name, found in score.estimates.items():
        cells = estimate_cells(*found)
        if cells[0] == DASH:
            gone.append(title_of(name))
        if sealed:
            cells = [*estimate_cells(*sealed.get(name, NO_ESTIMATE)), *cells]
        kind = baselines.get(name, "")
        cells = [f"{cell}{kind}" if i % 3 == 2 else cell for i, cell in enumerate(cells)]
        arrow = "↓" if METRICS[name].better == "lower" else "↑"
        rows.append((f"{capitalised(title_of(name))} {arrow}", *cells))
    level = percent_level(final.get("level", 0.95))
    first = (SEALED, f"{level} interval", "baseline") if sealed else ()
    head = ("metric", *first, HELD, "95 % interval", "baseline")
    caption = [_held(facts, score), "↓ lower is better, ↑ higher is better."]
    if validation is not None:
        caption += _about_two(validation)
    caption += filter(
        None, [about_median(score), why_dashes(gone, of_classes="accuracy" in score.estimates)]
    )
    return TableBlock(head, tuple(rows), caption=" ".join(caption))


def _held(facts: RunFacts, score: Score) -> str:
    if score.folds is None:
        return f"Held out: {count(score.n_rows, 'row')} not used for the scored fit."
    return (
        f"Held out: training rows, in {folds_of(facts, score)}; intervals are for these rows taken "
        "together."
    )


def _kinds_of_baseline(validation: Validation, score: Score) -> dict[str, str]:
    """What a baseline predicts, for metrics whose baseline is not the usual one."""
    if not validation.has_classes:
        return {"mae": " (median)"} if about_median(score) else {}
    weight = np.bincount(validation.truth.y, validation.truth.weights)
    always = {"accuracy": validation.labels[int(weight.argmax())]}
    if validation.kind == "binary":
        always["f1"] = validation.labels[1]
    return {name: f" (always {label})" for name, label in always.items()}


def _about_two(validation: Validation) -> list[str]:
    """One of two classes is the positive one of F₁."""
    if validation.kind != "binary":
        return []
    positive = validation.labels[1]
    return [
        f"F₁ is for {positive}, predicted if its probability is above 0.5; its baseline predicts "
        f"{positive} for every row, that of accuracy the more common class; those of probabilities "
        "are the class shares."
    ]
