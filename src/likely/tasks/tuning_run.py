"""The task of ``likely tune``: a search, saved trial by trial, and the RUN of its best model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.errors import InUse
from likely.output.progress import stage
from likely.tasks.fits import (
    TrainedModel,
    dropped_columns,
    fit_and_validate,
    plain_parameters,
    prepared_facts,
)
from likely.tasks.request import Caller, DataOptions, Exit, Refusal, open_with_target
from likely.tasks.suitability import about_task
from likely.tasks.train_text import ShownTable, opening, score_text
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import trainable

if TYPE_CHECKING:
    from likely.runs import RunFolder
    from likely.tasks.train_text import Part
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.search.study import Study


class TuneRequest(NamedTuple):
    """Which settings of which model to search, on which data."""

    data: str  # a file, a built-in name or a SEAL
    model: ModelEntry
    arguments: dict[str, Any]  # those of ``likely.tune`` about the search
    options: DataOptions = DataOptions()
    caller: Caller = Caller()


class TunedRun(NamedTuple):
    """A search that has ended, and the model with its best settings."""

    study: "Study"
    folder: "RunFolder"
    trained: TrainedModel | None  # None for a model of another library that cannot be saved
    files: tuple[Path, ...]


def tuned(request: TuneRequest, output: str | None = None) -> TunedRun:
    """Search, fit the best settings to all rows, and write the RUN.

    ``output`` is its folder, None for the next number; the folder of a search that was interrupted
    resumes it.
    """
    from likely.runs.catalogue import run_for_search
    from likely.storage.foreign import has_skops

    chosen = request.model
    place = run_for_search(chosen.short_name, output)
    rows = open_with_target(request.caller, request.data, request.options)
    rows.refuse_sealed_rows("tune")  # before the folder of the search is made
    study = _searched(request, rows, place)
    if study.stopped == "interrupted":
        raise _interrupted(request.caller, study, place)
    if chosen.is_foreign and not has_skops():  # which saves such models
        from likely.runs.folder import UNSAVED
        from likely.workbench.search.study_text import study_facts

        written = place.write_study({**study_facts(study), **UNSAVED})
        return TunedRun(study, place, None, (place.study, written))
    trained = _trained(request, study)
    return TunedRun(study, place, trained, _write(request.caller, place, trained))


def refuse_unsearchable(entry: ModelEntry, name: str, *, has_space: bool) -> None:
    """Refuse a model without a target, or without settings to search."""
    if not entry.supervised:
        raise Refusal(
            f"{name} has no target; a search needs one to score. Use likely train instead.",
            Exit.USAGE,
            f"likely models {name}",
        )
    if entry.space is None and not has_space:
        near = [
            each.name for each in trainable() if each.space and each.estimator == entry.estimator
        ]
        instead = f"Use one of {', '.join(near)}, or add" if near else "Add"
        raise Refusal(
            f"{name} has no default search space; at least one --space was expected. {instead} "
            "--space NAME=LOW:HIGH, or NAME=A,B,C, for each setting to search.",
            Exit.USAGE,
            f"likely models {near[0] if near else name}",
        )


def _searched(request: TuneRequest, rows: "Dataset", place: "RunFolder") -> "Study":
    from likely.runs.catalogue import discard
    from likely.workbench.search.tune import tune

    new = not place.path.exists()
    place.note_search(request.caller.command)
    try:
        return tune(
            rows,
            model=request.model,
            seed=request.caller.seed,
            study=place.study,
            **request.arguments,
        )
    except InUse:
        raise  # another search uses the folder
    except BaseException:
        if new and not _has_scores(place.study):  # nothing to resume
            discard(place)
        raise


def _has_scores(study: Path) -> bool:
    """Whether any trial of the search has a score; failed ones would only fail again."""
    from likely.workbench.search.trials import StudyFolder, TrialLog

    log = StudyFolder(study).trials
    return log is not None and log.exists() and any(t.score for t in TrialLog(log).trials.values())


def _interrupted(caller: Caller, study: "Study", place: "RunFolder") -> Refusal:
    """How to resume a search that was interrupted."""
    from likely.output.formatting import count
    from likely.workbench.search.study_text import sentences

    return Refusal(
        f"The search was interrupted after {count(len(study.trials), 'trial')}, saved in "
        f"{place.study}. So far: {sentences(study)[0]} The same command with -o {place.path} "
        "resumes it.",
        Exit.INTERRUPTED,
        place.going_on(caller.command),
    )


def _trained(request: TuneRequest, study: "Study") -> TrainedModel:
    """The model with the best settings, cross-validated once more and fitted to all rows."""
    from likely.workbench.scoring.held_out import FEWEST_ROWS
    from likely.workbench.search.study_text import study_facts

    objective, chosen = study.question.objective, request.model
    rows, best = objective.rows, study.best_model()
    folds = objective.folds if rows.table.num_rows >= FEWEST_ROWS else None
    with stage(f"fitting {chosen.name}"):
        found = fit_and_validate(best, rows, folds, seed=request.caller.seed)
    scores = None if found.score is None else found.score.to_json()
    findings = about_task(rows.settled) + dropped_columns(found.model) + rows.notes
    if scores is not None:
        estimate = study.nested_score_ if study.outer else study.best_score_
        scores |= {"cv_estimate": estimate, "cv_metric": study.metric.name}
    facts = {
        **prepared_facts(found, rows, chosen),
        "scores": scores,
        "study": study_facts(study),
    }
    parts = opening(facts), *study_parts(study), score_text(found.score, facts)[0]
    settings_used = plain_parameters(best) | study.best_parameters_
    return TrainedModel(found.model, facts, parts, findings, rows, settings_used, found.validation)


def study_parts(study: "Study") -> "list[Part]":
    """The result of the search in words, and a table of its best trials."""
    from likely.workbench.search.study_text import sentences, trial_rows

    head, *rows = trial_rows(study)
    return ["\n".join(sentences(study)), ShownTable(head, rows)]


def _write(caller: Caller, place: "RunFolder", trained: TrainedModel) -> tuple[Path, ...]:
    """Write the RUN, the model last: a folder with a model is complete."""
    from likely.tasks.training_run import looked_at, run_facts, write_evidence

    found = looked_at(trained)
    write_evidence(place, trained, found, caller.seed)
    study = place.write_study(trained.facts["study"])
    return (*place.write_model(trained.model, run_facts(caller, trained, found)), study)
