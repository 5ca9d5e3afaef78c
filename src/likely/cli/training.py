"""The two ways in which a model of a RUN is fitted and scored.

prepared    columns are prepared inside the fit; the score is by cross-validation
direct      columns are used as they are, from memory or a file; the score is of one held-out part
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.answer import Exit, Refusal
from likely.cli.models import UNLABELLED
from likely.cli.options import DataOptions
from likely.cli.suitability import (
    about_task,
    settings_with_order,
    task_facts,
    task_for,
)
from likely.cli.terminal import Settings
from likely.cli.training_report import (
    losses_text,
    opening,
    progressive_table,
    score_findings,
    score_text,
)
from likely.cli.weka import Weka
from likely.cli.word_options import word_parameters
from likely.formatting import count, listed
from likely.workbench.models.model_entry import ModelEntry, refuse_no_text
from likely.workbench.models.word_settings import split_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likely.description import ColumnsRead
    from likely.kinds import TargetKind
    from likely.metrics import Score
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.folds import Folds
    from likely.workbench.data.task import Task
    from likely.workbench.scoring.held_out import OnePart
    from likely.workbench.scoring.progressive import ProgressiveLoss
    from likely.workbench.scoring.validation import Validation

FOLDS = 5


class TrainRequest(NamedTuple):
    """A model with the options of ``likely train``."""

    model: ModelEntry
    given: dict[str, Any]  # by --set
    weka: Weka = Weka()
    options: DataOptions = DataOptions()


class TrainedModel(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    data: "Dataset"
    parameters: dict[str, Any]
    validation: "Validation | None" = None


def fit_prepared(settings: Settings, data: "Dataset", request: TrainRequest) -> TrainedModel:
    """Prepare the columns inside the fit, and cross-validate it on every row."""
    from likely.cli.terminal import showing_progress
    from likely.workbench.data.unlabelled import with_unlabelled
    from likely.workbench.preparation.prepared import prepared
    from likely.workbench.scoring.held_out import FEWEST_ROWS

    chosen = request.model
    task = task_for(data, chosen, request.given)
    places, rows = data.counted(task), data.of_task(task)
    if request.given.get(UNLABELLED) is not None:
        data = rows = with_unlabelled(rows, data)
    task, entry = rows.settled, chosen.with_settings(request.given)
    model = prepared(entry.build(task, seed=settings.seed), entry.words)
    _refuse_without_probabilities(chosen, model, task)
    n_folds, folds = request.weka.folds or FOLDS, None
    if len(places) >= FEWEST_ROWS:
        folds = rows.folds(n_folds, seed=settings.seed)
    with showing_progress(settings, f"cross-validating {chosen.name}", None):
        found = fit_and_validate(model, rows, folds, seed=settings.seed, places=places)
    facts = {
        **prepared_facts(found, rows, chosen),
        "events": {},
        "scores": None if found.score is None else found.score.to_json(),
    }
    findings = about_task(task) + dropped_columns(found.model) + rows.notes
    findings += score_findings(found.score, len(places))
    streamed = progressive_text(settings, found, rows)
    facts["progressive"] = [each._asdict() for each in streamed.losses]
    parts = [opening(facts), *streamed.text, *score_text(found.score), *losses_text(found.model)]
    return TrainedModel(
        found.model,
        facts,
        "\n\n".join(parts),
        findings,
        data,
        plain_parameters(model),
        found.validation,
    )


def with_unlabelled_marked(
    data: "Dataset", request: TrainRequest, mark: Any
) -> "tuple[Dataset, TrainRequest]":
    """The data with missing labels where they equal the mark, and the request that says so."""
    from likely.workbench.data.unlabelled import MISSING, with_mark_missing

    if data.sealed:
        raise Refusal(
            f"--set {UNLABELLED}={mark} was given with a SEAL, whose rows were split as if all had "
            "labels; rows of a table were expected. Train on DATA.",
            Exit.USAGE,
            "likely train --help",
        )
    if not data.in_memory and data.texts:
        raise Refusal(
            f"--set {UNLABELLED}={mark} was given with a file that is larger than memory; EM reads "
            "the documents many times. Train on fewer rows, or leave it out.",
            Exit.USAGE,
            "likely train --help",
        )
    if not data.in_memory:
        return data, request
    given = {**request.given, UNLABELLED: MISSING}
    return with_mark_missing(data, mark), request._replace(given=given)


class ProgressiveText(NamedTuple):
    """Losses of texts that were predicted before they were learned from, and their table."""

    losses: "Sequence[ProgressiveLoss]" = ()
    text: tuple[str, ...] = ()


def progressive_text(
    settings: Settings, found: "ValidatedModel", rows: "Dataset"
) -> ProgressiveText:
    """The progressive losses of a model of texts that can be fitted in a stream; else none."""
    from sklearn.base import clone

    from likely.cli.terminal import showing_progress
    from likely.names import has_method
    from likely.workbench.scoring.progressive import progressive_losses

    if not rows.settled.text or rows.group is not None:
        return ProgressiveText()
    if not has_method(found.model.model, "partial_fit"):
        return ProgressiveText()
    with showing_progress(settings, "progressive validation", None):
        losses = progressive_losses(clone(found.model), rows, seed=settings.seed)
    return ProgressiveText(losses, progressive_table(losses))


def _refuse_without_probabilities(chosen: ModelEntry, model: Any, task: "Task") -> None:
    from likely.errors import InvalidInput
    from likely.workbench.scoring.predictions import has_probabilities

    if task.has_classes and not has_probabilities(model):
        name = type(model).__name__
        raise InvalidInput(
            f"{chosen.name} has no predict_proba; the scores of a RUN need probabilities. Compare "
            f"it by --metric accuracy, or calibrate it in Python: PlattScaling({name}())."
        )


class ValidatedModel(NamedTuple):
    """A model with its preparation, fitted to all rows, and its cross-validation."""

    model: Any  # Prepared
    score: "Score | None"
    validation: "Validation | None"


def fit_and_validate(
    model: Any,
    rows: "Dataset",
    folds: "Folds | None",
    *,
    seed: int = 0,
    places: Any = None,
) -> ValidatedModel:
    """Cross-validate on the folds, if any, and fit to all rows.

    The score is the mean over repeats; the predictions that are kept are those of the first.
    ``places`` are those of the rows in the whole table.
    """
    from dataclasses import replace

    from sklearn.base import clone

    from likely.metrics import mean_score
    from likely.workbench.final.unfitted import refuse_fitted
    from likely.workbench.preparation.prepared import prepared
    from likely.workbench.scoring.cross_validation import Loop, cross_validate
    from likely.workbench.scoring.validation import validation_of

    whole = prepared(model)
    if rows.sealed:  # its RUN may be evaluated on the sealed rows
        refuse_fitted(clone(whole))
    score = validation = None
    if folds is not None:
        loop = Loop(rows, folds)
        held = [cross_validate(whole, loop, repeat=k).held for k in range(folds.repeats)]
        mean = held[0].score() if len(held) == 1 else mean_score([one.score() for one in held])
        score = replace(mean, group=rows.group)
        validation = validation_of(
            held[0], rows.shown, score, places=places, seed=seed, by_time=rows.by_time
        )
    return ValidatedModel(rows.fit(clone(whole)), score, validation)


def prepared_facts(found: ValidatedModel, rows: "Dataset", chosen: ModelEntry) -> dict[str, Any]:
    """The facts for ``run.json`` of a model with its preparation inside."""
    task = rows.settled
    return {
        "model": chosen.name,
        "data": rows.label,
        "rows": rows.table.num_rows,
        "columns": [str(name) for name in found.model.feature_names_in_],
        "target": task.target,
        "group": rows.group,
        "by_time": rows.by_time,
        "roles": rows.roles.given(),
        "classes": list(task.classes) if task.has_classes else None,
        "task": task_facts(task),
    }


def dropped_columns(model: Any) -> tuple[str, ...]:
    """A note about columns that the preparation left out."""
    if not model.dropped_:
        return ()
    return (f"Dropped as uninformative: {listed(model.dropped_, 6)}. likely explain shows why.",)


def plain_parameters(model: Any) -> dict[str, Any]:
    """The settings of an estimator that JSON can hold, and those of words that were given."""
    from likely.workbench.models.model_inside import unprepared

    plain = (str, int, float, bool, list, dict)
    found = {**unprepared(model).get_params(deep=True), **word_parameters(model)}
    return {name: value for name, value in found.items() if isinstance(value, plain)}


def fit_direct(
    settings: Settings, name: str, data: "Dataset", request: TrainRequest
) -> TrainedModel:
    """Fit the model to the columns as they are; a file may be larger than memory."""
    from likely.cli.suitability import PlannedFit, check_suitable

    chosen = request.model
    refuse_no_text(split_settings(request.given)[1])
    needed, findings = _needed(data, chosen, request.given)
    check_suitable(needed.source, PlannedFit(name, chosen, needed.roles))
    given = settings_with_order(needed, chosen, request.given)
    task = _task_in_memory(needed, chosen, given)
    given = chosen.arguments(None, seed=settings.seed) | given
    part, model = _scored_and_fitted(settings, needed, chosen, given, task)
    score, n_rows = None if part is None else part.score, needed.source.n_rows
    read: ColumnsRead = model.columns_read(n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": needed.target,
        "roles": needed.roles.given(),
        "classes": model.classes_.tolist() if chosen.has_classes else None,
        "task": None if task is None else task_facts(task),
        "events": dict(read.kinds),
        "scores": None if score is None else score.to_json(),
    }
    doubt = () if task is None or chosen.is_ordinal else about_task(task)  # that model warns
    findings += doubt + read.remarks + _about_rows(part) + _about_split(data)
    findings += score_findings(score, n_rows)
    columns = f"Columns are read as: {read}." if read.kinds else ""
    first = " ".join(filter(None, [opening(facts), columns]))
    text = "\n\n".join([first, *score_text(score)])
    kept = None if task is None else _kept_rows(part, needed, settings.seed)
    return TrainedModel(model, facts, text, findings, data, given, kept)


def _task_in_memory(data: "Dataset", chosen: ModelEntry, given: dict[str, Any]) -> "Task | None":
    """The task of the target for this model, which may take whole numbers as classes.

    None for a streamed file, and for a target that no task fits.
    """
    from likely.errors import InvalidInput
    from likely.workbench.data.task import task_of

    if data.target is None or not data.in_memory:
        return None
    try:
        task = task_for(data, chosen, given)
        if data.declared:
            return task
        if chosen.has_classes and not chosen.is_ordinal and not task.has_classes:
            return task_of(data.table, data.target, kind="classes")
        if not chosen.has_classes and given.get("response", "gaussian") == "gaussian":
            return task_of(data.table, data.target, kind="real")
    except InvalidInput:
        if data.declared:
            raise
        return None
    return task


def _kept_rows(part: "OnePart | None", data: "Dataset", seed: int) -> "Validation | None":
    """The held-out rows of a table in memory, for the report."""
    from likely.workbench.scoring.validation import validation_of

    if part is None or part.held is None or not data.in_memory:
        return None
    return validation_of(part.held, data.shown, part.score, seed=seed)


def _about_rows(part: "OnePart | None") -> tuple[str, ...]:
    """Notes about held-out rows without a label, or with a class not seen in the fit."""
    if part is None:
        return ()
    notes = []
    if part.n_unlabelled:
        rows = count(part.n_unlabelled, "held-out row")
        notes.append(f"{rows} had no label and were left out of the score.")
    if part.n_unseen:
        rows = count(part.n_unseen, "held-out row")
        notes.append(
            f"{rows} had a class that was not in the training rows; such a row is scored with "
            "probability 2⁻⁵²."
        )
    return tuple(notes)


def _about_split(data: "Dataset") -> tuple[str, ...]:
    """A note that rows sealed by group or time were held out individually here."""
    column = data.group or data.by_time
    if column is None:
        return ()
    return (
        f"The held-out rows were chosen individually, but the sealed rows by {column}, so this "
        f"score may be too optimistic. Without --clusters, rows are held out by {column} too.",
    )


def _scored_and_fitted(
    settings: Settings,
    data: "Dataset",
    chosen: ModelEntry,
    given: dict[str, Any],
    task: "Task | None",
) -> "tuple[OnePart | None, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.cli.terminal import showing_progress
    from likely.workbench.scoring.held_out import fit_on, hold_out

    make, kind = chosen.load(), _kind_taken(chosen, given)
    with showing_progress(settings, f"scoring {chosen.name}", data.source.n_rows):
        part = hold_out(lambda: make(**given), data, kind, seed=settings.seed, task=task)
    with showing_progress(settings, f"fitting {chosen.name}", data.source.n_rows):
        return part, fit_on(make(**given), data, data.source)


def _kind_taken(chosen: ModelEntry, given: dict[str, Any]) -> "TargetKind | None":
    """The kind of target that a model takes; None if it needs no target."""
    if not chosen.supervised:
        return None
    if not chosen.has_classes:
        return chosen.with_settings(given).first_kind or "real"
    return "ordinal" if chosen.is_ordinal else "classes"


def _needed(
    data: "Dataset", chosen: ModelEntry, given: dict[str, Any]
) -> "tuple[Dataset, tuple[str, ...]]":
    """The columns and rows that the model reads: no target if it needs none, else labelled rows."""
    from dataclasses import replace

    from likely.workbench.data.dataset_notes import target_left_out

    if chosen.supervised and given.get("unlabelled") is None:
        data = data.labelled()
    read, notes = data.settled_columns.readable()
    kept = replace(read, source=read.rows.drop(sorted(read.apart - {*read.roles.columns})))
    notes += data.notes
    if chosen.supervised or data.target is None:
        return kept, notes
    return kept.without_target(), (target_left_out(data.target, chosen.name), *notes)
