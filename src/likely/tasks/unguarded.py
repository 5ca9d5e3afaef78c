"""The score of a fitted model on another file, which no ledger counts."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from likely.tasks.request import DataOptions, Exit, Refusal

if TYPE_CHECKING:
    from likely.numerics.intervals import Estimate
    from likely.sealing.folder import SealFolder
    from likely.workbench.data.dataset import Dataset

UNGUARDED = "unguarded: evaluations on this file are not counted. Use likely seal and likely final."


def scored_elsewhere(
    model: Any,
    test: str,
    learned: DataOptions,
    *,
    training: "Dataset | None" = None,
    seal: "SealFolder | None" = None,
) -> tuple[str, dict[str, Any]]:
    """The score of a fitted model on another file: text and facts.

    ``learned`` are the options that the model was trained with, including its target. The baseline
    is learned from the training rows; there is none where they are not known. A file that holds
    sealed rows is refused, because its score would be an evaluation that is not counted.
    """
    from likely.output.formatting import count
    from likely.workbench.data.opening import dataset
    from likely.workbench.data.roles import UnusedColumns
    from likely.workbench.data.task import task_of_fit
    from likely.workbench.scoring.held_out import predict_elsewhere

    data, target = dataset(test), str(learned.target)
    data.refuse_sealed_rows("score", also=seal if training is None else training.seal)
    if target not in data.source.names:
        raise Refusal(
            f"{test} has no column {target!r}; a score needs the target. Give a file that has it.",
            Exit.DATA,
            "likely train --help",
        )
    present = [name for name in learned.category if name in data.source.names]
    rows = dataset(
        data,
        target,
        category=present,
        weight=learned.weight,
        offset=learned.offset,
        exposure=learned.exposure,
    )
    rows = replace(rows, found_unused=UnusedColumns())  # the model knows its columns
    task = task_of_fit(model, rows.table, target, kind=learned.kind, order=learned.order)
    new = rows.table.column(target).filter(~task.known(rows.table)).drop_null().to_pylist()
    rows = rows.of_task(task)
    held = predict_elsewhere(model, rows, rows if training is None else training)
    if held is None:
        raise Refusal(
            f"{test} has no row with a known {target!r} and a weight above 0; a score needs at "
            "least one. Give another file.",
            Exit.DATA,
            "likely train --help",
        )
    score = held.score()
    found = score.main if training is not None else score.main._replace(baseline=nan)
    text, facts = _unguarded(score.metric, found, score.n_rows, test)
    n_left_out = rows.n_without_target
    if n_left_out:
        text += f" {count(n_left_out, 'row')} not scored: {_reason(new, n_left_out)}."
    return text, facts | {"left_out": n_left_out}


def _reason(new: Sequence[Any], n_rows: int) -> str:
    """Why so many rows are not scored, of which some have labels that the model does not know."""
    from likely.output.formatting import quoted

    missing = "the target is missing"
    if not len(new):
        return missing
    unknown = f"the model has not learned {quoted(sorted({*map(str, new)}))}"
    return unknown if len(new) == n_rows else f"{unknown}, or {missing}"


def _unguarded(
    metric: str, found: "Estimate", n_rows: int, test: str
) -> tuple[str, dict[str, Any]]:
    """The score as text, and as values."""
    from likely.metrics.score import score_sentence, title_of
    from likely.output.formatting import count

    sentence = score_sentence(title_of(metric), found, f"{count(n_rows, 'row')} of {test}")
    text = f"{sentence.removesuffix('.')}; {UNGUARDED}"
    facts = {
        "data": test,
        "rows": n_rows,
        "metric": metric,
        **found.to_json(),
        "baseline": None if isnan(found.baseline) else found.baseline,
        "guarded": False,
    }
    return text, facts
