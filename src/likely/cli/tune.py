"""``likely tune``: search for the best settings of one model; the search can be resumed."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from likely.cli.answer import Answer
from likely.cli.compare import (
    folds_option,
    metric_option,
    refuse_unknown_metric,
    repeats_option,
)
from likely.cli.models import (
    model_named,
    set_option,
    set_words,
    settings_tried,
    space_given,
    with_assigned,
)
from likely.cli.options import Command, data_options, gathered
from likely.cli.terminal import Settings, global_options
from likely.errors import InvalidInput
from likely.storage.json import as_json
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, open_with_target
from likely.tasks.suitability import about_task
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import trainable
from likely.workbench.search.strategies import SEARCHES

if TYPE_CHECKING:
    from likely.runs import RunFolder
    from likely.tasks.fits import TrainedModel
    from likely.tasks.train_text import Part
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.search.study import Study

OPTIONS = (
    click.option(
        "--search",
        type=click.Choice(list(SEARCHES)),
        default="random",
        show_default=True,
        help="Search method; halving tries many settings on few rows and the best on more, refine "
        "narrows a grid around the best.",
    ),
    click.option(
        "--trials",
        type=click.IntRange(min=1),
        metavar="N",
        help="Maximum number of settings to try; halving tries the best of them again, on more "
        "rows [default: 50, or no limit with --minutes; refine: as many as it needs].",
    ),
    click.option(
        "--minutes",
        type=click.FloatRange(min=0, min_open=True),
        metavar="M",
        help="Stop starting new trials after this many minutes.",
    ),
    click.option(
        "--nested",
        type=click.IntRange(min=2),
        metavar="K",
        help="Nested cross-validation with K outer folds, for an unbiased score.",
    ),
    folds_option,
    repeats_option,
    metric_option,
    click.option(
        "--try",
        "tries",
        multiple=True,
        metavar="NAME=VALUE,...",
        help="Settings to try before the search starts. May be repeated.",
    ),
    click.option(
        "--space",
        "declared",
        multiple=True,
        metavar="NAME=LOW:HIGH[:log]|A,B,...",
        help="Setting to search, in place of the default ones. May be repeated.",
    ),
    click.option(
        "--search-link",
        is_flag=True,
        help="Search the link of class probabilities, too; coefficients are then no log odds "
        "ratios.",
    ),
    click.option(
        "--stop-unpromising/--finish-trials",
        default=None,
        help="Stop a trial at a fold where it is worse than the median of the earlier trials, or "
        "finish every trial [default: stop for neural networks, unless --search halving].",
    ),
)


@final
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search, as they were given."""

    search: str
    trials: int | None
    minutes: float | None
    nested: int | None
    folds: int
    repeats: int
    metric: str | None
    tries: tuple[str, ...]  # --try
    declared: tuple[str, ...]  # --space
    search_link: bool
    stop_unpromising: bool | None

    def arguments(self, chosen: ModelEntry) -> dict[str, Any]:
        """The arguments of ``likely.tune``; settings that the model does not have are refused."""
        given, typical = dict(vars(self)), chosen.typical_values()
        try:
            space = space_given(given.pop("declared"), typical)
            by_hand = settings_tried(given.pop("tries"), typical)
        except InvalidInput as error:  # of a setting of words
            raise Refusal(str(error), Exit.USAGE, f"likely models {chosen.name}") from None
        return {**given, "space": space, "by_hand": by_hand}


def search_options(command: Command) -> Command:
    """Add the options of a search to a verb, which gets them as its argument ``how``."""
    names = {field.name: field.name for field in fields(SearchOptions)}
    command = gathered(command, names, "how", SearchOptions)
    for add in reversed(OPTIONS):
        command = add(command)
    return command


@click.command()
@click.argument("data")
@click.argument("model")
@data_options(*SCORED)
@search_options
@set_option
@click.option(
    "-o",
    "output",
    metavar="RUN",
    help="Folder to write, or to resume a search in [default: runs/NNN-MODEL].",
)
@global_options
@click.pass_obj
def tune(
    settings: Settings,
    data: str,
    model: str,
    options: DataOptions,
    how: SearchOptions,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Search the settings of MODEL by cross-validation on DATA or the training rows of a SEAL.

    The default settings are tried first, with the score of likely compare, and are kept unless
    others are better by one standard error.

    Each trial is saved when it ends: after Ctrl-C or a crash, the same command with -o RUN resumes
    the search. A MODEL of another library, given by its import path, needs --space, and the package
    skops to be saved: otherwise its RUN holds only the search.
    """
    from likely.runs.catalogue import run_for_search

    chosen = _searchable(model, assignments, how.declared)
    arguments = how.arguments(chosen)
    refuse_unknown_metric(how.metric, "tune")
    place = run_for_search(chosen.short_name, output)
    rows = open_with_target(settings.caller, data, options)
    rows.refuse_sealed_rows("tune")  # before the folder of the search is made
    with settings.using_jobs():
        study = _searched(settings, rows, chosen, arguments, place)
        if study.stopped == "interrupted":
            _say_how_to_go_on(settings, study, place)
        if chosen.is_foreign and not _can_be_saved(chosen):
            return _unsaved(study, data, chosen, place)
        trained = _trained(settings, chosen, study)
        files = _write(settings, place, trained)
    return _answer(trained, study, place.path, output, files)


def _searchable(name: str, assignments: Sequence[str], declared: Sequence[str]) -> ModelEntry:
    """The model with its --set parameters, refused if it has nothing to search."""
    entry = model_named(name)
    entry = with_assigned(entry, assignments)
    if not entry.supervised:
        raise Refusal(
            f"{name} has no target; a search needs one to score. Use likely train instead.",
            Exit.USAGE,
            f"likely models {name}",
        )
    if entry.space is None and not declared:
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
    return entry


def _searched(
    settings: Settings,
    rows: "Dataset",
    chosen: ModelEntry,
    arguments: Mapping[str, Any],
    place: "RunFolder",
) -> "Study":
    from likely.cli.terminal import showing_progress
    from likely.errors import InUse
    from likely.runs.catalogue import discard
    from likely.workbench.search.tune import tune as tune_model

    new = not place.path.exists()
    place.note_search(settings.command)
    try:
        trials, what = arguments["trials"], f"tuning {chosen.name}"
        with showing_progress(settings, what, trials, unit="trials run"):
            return tune_model(
                rows, model=chosen, seed=settings.seed, study=place.study, **arguments
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


def _say_how_to_go_on(settings: Settings, study: "Study", place: "RunFolder") -> None:
    from likely.output.formatting import count
    from likely.workbench.search.study_text import sentences

    raise Refusal(
        f"The search was interrupted after {count(len(study.trials), 'trial')}, saved in "
        f"{place.study}. So far: {sentences(study)[0]} The same command with -o {place.path} "
        "resumes it.",
        Exit.INTERRUPTED,
        place.going_on(settings.command),
    )


def _trained(settings: Settings, chosen: ModelEntry, study: "Study") -> "TrainedModel":
    """The model with the best settings, cross-validated once more and fitted to all rows."""
    from likely.cli.terminal import showing_progress
    from likely.tasks.fits import (
        TrainedModel,
        dropped_columns,
        fit_and_validate,
        plain_parameters,
        prepared_facts,
    )
    from likely.tasks.train_text import opening, score_text
    from likely.workbench.scoring.held_out import FEWEST_ROWS
    from likely.workbench.search.study_text import study_facts

    objective = study.question.objective
    rows, best = objective.rows, study.best_model()
    folds = objective.folds if rows.table.num_rows >= FEWEST_ROWS else None
    with showing_progress(settings, f"fitting {chosen.name}", None):
        found = fit_and_validate(best, rows, folds, seed=settings.seed)
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
    parts = opening(facts), *_study_parts(study), score_text(found.score)[0]
    settings_used = plain_parameters(best) | study.best_parameters_
    return TrainedModel(found.model, facts, parts, findings, rows, settings_used, found.validation)


def _study_parts(study: "Study") -> "list[Part]":
    """The result of the search in words, and a table of its best trials."""
    from likely.tasks.train_text import ShownTable
    from likely.workbench.search.study_text import sentences, trial_rows

    head, *rows = trial_rows(study)
    return ["\n".join(sentences(study)), ShownTable(head, rows)]


def _write(settings: Settings, place: "RunFolder", trained: "TrainedModel") -> tuple[Path, ...]:
    """Write the RUN, the model last: a folder with a model is complete."""
    from likely.tasks.training_run import looked_at, run_facts, write_evidence

    found = looked_at(trained)
    write_evidence(place, trained, found, settings.seed)
    study = place.write_study(trained.facts["study"])
    return (*place.write_model(trained.model, run_facts(settings.caller, trained, found)), study)


def _can_be_saved(chosen: ModelEntry) -> bool:
    """Whether the package that saves models of other libraries is installed."""
    from likely.errors import InvalidInput
    from likely.storage.foreign import refuse_without_skops

    try:
        refuse_without_skops(chosen.name)
    except InvalidInput:
        return False
    return True


def _unsaved(study: "Study", data: str, chosen: ModelEntry, place: "RunFolder") -> Answer:
    """The answer for a model of another library, which cannot be saved."""
    from likely.cli.terminal import shown
    from likely.workbench.search.study_text import study_facts

    best = study.best_parameters_
    words = [f"{name}={as_json(value).strip()}" for name, value in best.items()]
    note = (
        f"{chosen.name} belongs to another library, and is saved by the package skops, which is "
        f"not installed (pip install 'likely[foreign]'); the search is in {place.study}."
    )
    task = study.question.objective.rows.settled
    again = ["likely", "compare", data, chosen.name, "--target", task.target]
    again += ["--metric", study.metric.name]  # the default may need a density, which it has not
    return Answer(
        text=shown([*_study_parts(study), note]),
        result={
            "model": chosen.name,
            "best_parameters": best,
            "study": study_facts(study),
            "run": None,
            "kept": str(place.study),
        },
        findings=about_task(task),
        files=(place.study, place.write_study({**study_facts(study), "model_saved": False})),
        next=shlex.join(again) + set_words(chosen.name, words),
    )


def _answer(
    trained: "TrainedModel",
    study: "Study",
    place: Path,
    output: str | None,
    files: tuple[Path, ...],
) -> Answer:
    from likely.cli.terminal import shown
    from likely.runs.catalogue import unfinished_searches

    name = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None else "report"
    best = study.best_parameters_
    left = tuple(
        f"{other} holds an unfinished search; the same command with -o {other} resumes it."
        for other in unfinished_searches(trained.facts["model"])
    )
    text = shown(trained.parts, trained.facts["model"])
    return Answer(
        text=f"{text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "best_parameters": best, "run": str(place)},
        findings=trained.findings + left,
        files=files,
        next=f"likely {after} {name}",
    )
