"""The three ways in which a model of a RUN is fitted and scored.

prepared    columns are prepared inside the fit; the score is by cross-validation
direct      columns are used as they are, from memory or a file; the score is of one held-out part
streamed    texts of a file larger than memory: naive Bayes on hashed words, in one pass; the score
            is progressive
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from likely.output.formatting import count, listed
from likely.output.progress import stage
from likely.tasks.request import UNLABELLED, Caller, DataOptions, Exit, Refusal
from likely.tasks.suitability import (
    PlannedFit,
    about_task,
    check_suitable,
    dates_in_file,
    settings_with_order,
    task_facts,
    task_for,
    task_of_file,
)
from likely.tasks.train_text import (
    Part,
    losses_text,
    opening,
    progressive_table,
    score_findings,
    score_text,
)
from likely.workbench.models.model_entry import (
    ModelEntry,
    refuse_no_text,
    settings_of_words,
    split_settings,
    with_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likely.kinds import TargetKind
    from likely.metrics import Score
    from likely.output.description import ColumnsRead
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.folds import Folds
    from likely.workbench.data.task import Task
    from likely.workbench.scoring.held_out import OnePart
    from likely.workbench.scoring.progressive import ProgressiveLoss, StreamedText
    from likely.workbench.scoring.validation import Validation

FOLDS = 5
STREAMED = "naive-bayes"  # the model of counts that is fitted from sums


class TrainRequest(NamedTuple):
    """What to train, on which data, and what to do with it."""

    data: Any  # a path, a built-in name, a frame or a Dataset
    model: ModelEntry
    given: dict[str, Any]  # settings of the model
    options: DataOptions = DataOptions()
    folds: int | None = None
    test: str | None = None  # a file to score the model on, unguarded
    copy: str | None = None  # a file for a copy of the model outside its RUN
    caller: Caller = Caller()
    label: str = "DATA"  # the data as a command names them


class TrainedModel(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    parts: tuple[Part, ...]
    findings: tuple[str, ...]
    data: "Dataset"
    parameters: dict[str, Any]
    validation: "Validation | None" = None
    score: "Score | None" = None


def fit_prepared(data: "Dataset", request: TrainRequest) -> TrainedModel:
    """Prepare the columns inside the fit, and cross-validate it on every row."""
    from likely.workbench.data.dataset import with_unlabelled
    from likely.workbench.preparation.prepared import prepared
    from likely.workbench.scoring.held_out import FEWEST_ROWS

    chosen, seed = request.model, request.caller.seed
    task = task_for(data, chosen, request.given)
    places, rows = data.counted(task), data.of_task(task)
    if request.given.get(UNLABELLED) is not None:
        data = rows = with_unlabelled(rows, data)
    task, entry = rows.settled, chosen.with_settings(request.given)
    model = prepared(entry.build(task, seed=seed), entry.words)
    _refuse_without_probabilities(chosen, model, task)
    n_folds, folds = request.folds or FOLDS, None
    if len(places) >= FEWEST_ROWS:
        folds = rows.folds(n_folds, seed=seed)
    with stage(f"cross-validating {chosen.name}"):
        found = fit_and_validate(model, rows, folds, seed=seed, places=places)
    facts = {
        **prepared_facts(found, rows, chosen),
        "events": {},
        "scores": None if found.score is None else found.score.to_json(),
    }
    findings = about_task(task) + dropped_columns(found.model) + rows.notes
    findings += score_findings(found.score, len(places))
    losses = _progressive_losses(found, rows, seed)
    facts["progressive"] = [each._asdict() for each in losses]
    parts = opening(facts), *progressive_table(losses), *score_text(found.score, facts)
    return TrainedModel(
        found.model,
        facts,
        (*parts, *losses_text(found.model)),
        findings,
        data,
        plain_parameters(model),
        found.validation,
        found.score,
    )


def with_unlabelled_marked(
    data: "Dataset", request: TrainRequest, mark: Any
) -> "tuple[Dataset, TrainRequest]":
    """The data with missing labels where they equal the mark, and the request that says so."""
    from likely.workbench.data.dataset import MISSING, with_mark_missing

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


def _progressive_losses(
    found: "ValidatedModel", rows: "Dataset", seed: int
) -> "Sequence[ProgressiveLoss]":
    """Those of a model of texts that can be fitted in a stream; else none."""
    from sklearn.base import clone

    from likely.names import has_method
    from likely.workbench.scoring.progressive import progressive_losses

    if not rows.settled.text or rows.group is not None:
        return ()
    if not has_method(found.model.model, "partial_fit"):
        return ()
    with stage("progressive validation"):
        return progressive_losses(clone(found.model), rows, seed=seed)


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
    found = {**unprepared(model).get_params(deep=True), **_word_parameters(model)}
    return {name: value for name, value in found.items() if isinstance(value, plain)}


def _word_parameters(model: Any) -> dict[str, Any]:
    """The settings of words that differ from the default ones, of a model with its preparation."""
    from likely.workbench.preparation.prepared import Prepared

    if not isinstance(model, Prepared):
        return {}
    usual, own = settings_of_words(None), settings_of_words(model.words)
    return with_prefix({name: own[name] for name in own if own[name] != usual[name]})


def fit_direct(data: "Dataset", request: TrainRequest) -> TrainedModel:
    """Fit the model to the columns as they are; a file may be larger than memory."""
    chosen, seed = request.model, request.caller.seed
    refuse_no_text(split_settings(request.given)[1])
    needed, findings = _needed(data, chosen, request.given)
    asked = task_of_file(needed, chosen, request.given) if chosen.for_numbers else None
    chosen = chosen.for_task(asked)  # the target decides which of two estimators it is
    check_suitable(needed.source, PlannedFit(request.label, chosen, needed.roles))
    given = settings_with_order(needed, chosen, request.given)
    task = asked or _task_in_memory(needed, chosen, given)
    given = chosen.arguments(asked, seed=seed) | given
    part, model = _scored_and_fitted(needed, chosen, given, task, seed)
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
    findings += () if task is None or chosen.is_ordinal else about_task(task)  # that model warns
    findings += read.remarks + _about_rows(part) + _about_split(data)
    findings += score_findings(score, n_rows)
    first = f"{opening(facts)} Columns are read as: {read}." if read.kinds else opening(facts)
    kept = None if task is None else _kept_rows(part, needed, seed)
    parts = first, *score_text(score, facts)
    return TrainedModel(model, facts, parts, findings, data, given, kept, score)


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
    data: "Dataset", chosen: ModelEntry, given: dict[str, Any], task: "Task | None", seed: int
) -> "tuple[OnePart | None, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.workbench.scoring.held_out import fit_on, hold_out

    make, kind = chosen.load(), _kind_taken(chosen, given)
    with stage(f"scoring {chosen.name}", data.source.n_rows):
        part = hold_out(lambda: make(**given), data, kind, seed=seed, task=task)
    with stage(f"fitting {chosen.name}", data.source.n_rows):
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
    data = data.settled_columns
    read, notes = data.readable(() if data.in_memory else dates_in_file(data))
    kept = replace(read, source=read.rows.drop(sorted(read.not_features - {*read.roles.columns})))
    notes += data.notes
    if chosen.supervised or data.target is None:
        return kept, notes
    return kept.without_target(), (target_left_out(data.target, chosen.name), *notes)


def is_text_stream(data: "Dataset", request: TrainRequest) -> bool:
    """Whether the words of a file that is larger than memory are to be read by naive Bayes."""
    if data.in_memory or data.sealed or request.model.name != STREAMED or data.target is None:
        return False
    if len(data.texts) != 1 or request.folds is not None:
        return False
    _refuse_streamed_split(data)
    return True


def refuse_counts(data: "Dataset", request: TrainRequest) -> None:
    """Refuse counts of words for a model of their presence."""
    own, words = split_settings(request.given)
    if own.get("event") != "bernoulli" or words.get("binary") is True or not data.texts:
        return
    raise Refusal(
        "event=bernoulli was given, which reads whether a word is present, and words of "
        f"{listed([*map(repr, data.texts)], 3)} are counted. Add --set words.binary=yes, or use "
        "event=multinomial.",
        Exit.USAGE,
        f"likely models {request.model.name}",
    )


def _refuse_streamed_split(data: "Dataset") -> None:
    """Refuse columns by which rows are held out: a pass scores rows in the order of the file."""
    option = "--group" if data.by_time is None else "--by-time"
    column = data.group or data.by_time
    if column is not None:
        raise Refusal(
            f"{option} {column} was given with a file of texts that is larger than memory, whose "
            f"rows are scored in their order in the file. Leave {option} out, or train on fewer "
            "rows.",
            Exit.USAGE,
            "likely train --help",
        )


def fit_text_stream(data: "Dataset", request: TrainRequest) -> TrainedModel:
    """Fit in one pass, and score by progressive validation."""
    from likely import NaiveBayes
    from likely.workbench.scoring.progressive import fit_text_stream as streamed

    text = data.texts[0]
    own, words = split_settings(request.given)
    default: dict[str, Any] = {"smoothing": "auto", "calibrate": "length"}
    model = NaiveBayes(**{"event": "multinomial", **default, **own})
    with stage(f"fitting {request.model.name}", data.source.n_rows):
        found = streamed(model, data, text, words)
    facts = {
        "model": request.model.name,
        "data": data.label,
        "rows": found.n_rows,
        "columns": [text],
        "target": found.task.target,
        "roles": data.roles.given(),
        "classes": list(found.task.classes),
        "task": task_facts(found.task),
        "events": {},
        "progressive": [each._asdict() for each in found.losses],
        "scores": None if found.score is None else found.score.to_json(),
    }
    note = _about_order(found) if found.is_sorted else ""
    parts = opening(facts), *progressive_table(found.losses, note), *score_text(found.score, facts)
    findings = _about_stream(data, found)
    findings += (note,) if note else score_findings(found.score, found.n_rows)
    parameters = {**plain_parameters(model), **with_prefix(words)}
    return TrainedModel(found.model, facts, parts, findings, data, parameters, score=found.score)


def _about_stream(data: "Dataset", found: "StreamedText") -> tuple[str, ...]:
    """Notes about hashed words, and about features besides the text, which are not read."""
    n_held, n_rows = found.n_held_out, found.n_rows
    sample = "all" if n_held == n_rows else f"a sample of {n_held:,}" if n_held is not None else ""
    hashed = (
        f"The file is larger than memory: words are hashed into {found.model.words_.n_columns:,} "
        "columns, and the probabilities are "
        f"{f'calibrated on {sample} of its {n_rows:,} rows' if sample else 'not calibrated'}."
    )
    gone = {*data.not_features, *data.texts, *data.roles.columns}
    others = [name for name in data.source.names if name not in gone]
    if not others:
        return (hashed,)
    left = f"Left out, because only the text is read of such a file: {listed(others, 6)}."
    return hashed, left


def _about_order(found: "StreamedText") -> str:
    """Why progressive validation gives no score of a file in the order of its classes."""
    return (
        f"The file is sorted by its target {found.task.target!r}, or drifts, so progressive "
        "validation says nothing about new documents, and the model has no score. Shuffle the "
        "lines (shuf, without a header), or train on fewer rows in memory."
    )
