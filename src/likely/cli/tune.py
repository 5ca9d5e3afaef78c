"""``likely tune``: the best settings of one model; a search that is kept, and goes on."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer, as_json
from likely.cli.assignments import (
    assigned,
    model_named,
    set_option,
    set_words,
    settings_tried,
    space_given,
    trainable,
)
from likely.cli.compare import metric_option, refuse_unknown_metric
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import about_task
from likely.cli.options import DataOptions, data_options, open_with_target
from likely.cli.settings import Settings, global_options
from likely.workbench.model_entry import ModelEntry
from likely.workbench.search.strategies import SEARCHES

if TYPE_CHECKING:
    from likely.cli.fits import Trained
    from likely.runs import RunFolder
    from likely.workbench.dataset import Dataset
    from likely.workbench.search.study import Study


class Wanted(NamedTuple):
    """The search that was asked for."""

    search: str
    trials: int | None
    minutes: float | None
    nested: int | None
    folds: int
    by_hand: tuple[Mapping[str, Any], ...] | None = None  # what --try says
    space: Mapping[str, Any] | None = None  # what --space declares
    metric: str | None = None


@click.command()
@click.argument("data")
@click.argument("model")
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option(
    "--search", type=click.Choice(list(SEARCHES)), default="random", help="How to search."
)
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Settings to try; 50.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="No trial begins later.",
)
@click.option(
    "--nested",
    type=click.IntRange(min=2),
    metavar="K",
    help="Search again without each of K folds, for an honest score.",
)
@click.option("--folds", type=click.IntRange(min=2), default=5, help="That score each trial; 5.")
@metric_option
@click.option(
    "--try",
    "tries",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Settings of your own, tried before the search begins.",
)
@click.option(
    "--space",
    "declared",
    multiple=True,
    metavar="NAME=LOW:HIGH[:log]|A,B,...",
    help="A setting to search, in place of the usual ones; may be repeated.",
)
@set_option
@click.option("-o", "output", metavar="RUN", help="The folder to write, or to go on with.")
@global_options
@click.pass_obj
def tune(
    settings: Settings,
    data: str,
    model: str,
    options: DataOptions,
    search: str,
    trials: int | None,
    minutes: float | None,
    nested: int | None,
    folds: int,
    metric: str | None,
    tries: tuple[str, ...],
    declared: tuple[str, ...],
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Search the settings of MODEL by cross-validation on DATA or the training rows of a SEAL.

    Trials are kept as they end: after Ctrl-C, or a crash, -o RUN goes on where it stopped. A MODEL
    of another library, given by its import path, needs --space, and cannot be saved: the RUN holds
    the search alone.
    """
    from likely.cli.using import using_jobs
    from likely.runs.catalogue import run_for_search

    space = space_given(declared)
    chosen = _searchable(model, assignments, space)
    refuse_unknown_metric(metric, "tune")
    place = run_for_search(model.rpartition(".")[2], output)
    rows = open_with_target(settings, data, options)
    rows.refuse_sealed_rows("tune")  # before the folder of the search is made
    wanted = Wanted(search, trials, minutes, nested, folds, settings_tried(tries), space, metric)
    with using_jobs(settings.jobs):
        study = _searched(settings, rows, chosen, wanted, place)
        if study.stopped == "interrupted":
            _say_how_to_go_on(settings, study, place)
        if chosen.is_foreign:
            return _unsaved(study, data, chosen, place)
        trained = _trained(settings, chosen, study)
        files = _write(settings, place, trained)
    return _answer(trained, study, place.path, output, files)


def _searchable(
    name: str, assignments: Sequence[str], space: Mapping[str, Any] | None
) -> ModelEntry:
    """The model with its fixed settings, if there is a space of others to search."""
    entry = model_named(name)
    entry = entry.with_settings(assigned(entry, assignments))
    if not entry.supervised:
        raise Refusal(
            f"{name} needs no target; a search scores predictions of one. Train it: likely train.",
            Exit.USAGE,
            f"likely models {name}",
        )
    if entry.space is None and space is None:
        near = [each.name for each in trainable() if each.name.startswith(f"{name}-")]
        instead = f"Use one of {', '.join(near)}, or add" if near else "Add"
        raise Refusal(
            f"{name} has no usual space of settings; at least one --space was expected. {instead} "
            "--space NAME=LOW:HIGH, or NAME=A,B,C, for each setting to search.",
            Exit.USAGE,
            f"likely models {near[0] if near else name}",
        )
    return entry


def _searched(
    settings: Settings, rows: "Dataset", chosen: ModelEntry, wanted: Wanted, place: "RunFolder"
) -> "Study":
    from likely.cli.watch import watched
    from likely.errors import InUse
    from likely.runs.catalogue import discard
    from likely.workbench.search import study as studies

    new = not place.path.exists()
    place.note_search(settings.command)
    try:
        with watched(settings, f"tuning {chosen.name}", wanted.trials, unit="trials run"):
            return studies.tune(
                rows,
                model=chosen,
                space=wanted.space,
                search=wanted.search,
                trials=wanted.trials,
                minutes=wanted.minutes,
                nested=wanted.nested,
                folds=wanted.folds,
                metric=wanted.metric,
                by_hand=wanted.by_hand,
                seed=settings.seed,
                study=place.study,
            )
    except InUse:
        raise  # another search has it
    except BaseException:
        if new and not _has_scores(place.study):  # nothing to go on with
            discard(place)
        raise


def _has_scores(study: Path) -> bool:
    """Whether a trial of the search has a score: one that failed will fail again."""
    from likely.workbench.search.trials import StudyFolder, TrialLog

    log = StudyFolder(study).trials
    return log is not None and log.exists() and any(t.score for t in TrialLog(log).trials.values())


def _say_how_to_go_on(settings: Settings, study: "Study", place: "RunFolder") -> None:
    from likely.formatting import count
    from likely.workbench.search.study_text import sentences

    told = sentences(study)[0]
    raise Refusal(
        f"The search was interrupted after {count(len(study.trials), 'trial')}, kept in "
        f"{place.study}. So far: {told} The same command with -o {place.path} goes on.",
        Exit.INTERRUPTED,
        place.going_on(settings.command),
    )


def _trained(settings: Settings, chosen: ModelEntry, study: "Study") -> "Trained":
    """The model with the best settings, cross-validated once more and fitted to all rows."""
    from likely.cli.fits import (
        Trained,
        dropped_columns,
        fit_and_validate,
        opening,
        plain_parameters,
        prepared_facts,
    )
    from likely.cli.score_table import score_text
    from likely.cli.watch import watched
    from likely.workbench.one_part import FEWEST_ROWS

    objective = study.question.objective
    rows, best = objective.rows, study.best_model()
    folds = objective.folds if rows.table.num_rows >= FEWEST_ROWS else None
    with watched(settings, f"fitting {chosen.name}", None):
        found = fit_and_validate(best, rows, folds, seed=settings.seed)
    scores = None if found.score is None else found.score.to_json()
    findings = about_task(rows.settled) + dropped_columns(found.model)
    if scores is not None:
        scores |= {"cv_estimate": study.nested_score_ if study.outer else study.best_score_}
    facts = {
        **prepared_facts(found, rows, chosen),
        "scores": scores,
        "study": study_facts(study),
    }
    text = "\n\n".join([opening(facts), *_told(study), score_text(found.score)[0]])
    shown = plain_parameters(best.model) | study.best_parameters_
    return Trained(found.model, facts, text, findings, rows, shown, found.validation)


def _told(study: "Study") -> list[str]:
    """What the search found, and its best trials."""
    from likely.cli.show import table, wrapped
    from likely.workbench.search.study_text import sentences, trial_rows

    said = "\n".join(wrapped(each) for each in sentences(study))
    head, *rows = trial_rows(study)
    return [said, table(head, rows)]


def study_facts(study: "Study") -> dict[str, Any]:
    """What ``study.json`` of a RUN says, for the report."""
    low, high = study.nested_interval_
    nested = {"value": study.nested_score_, "low": low, "high": high} if study.outer else None
    return {
        "model": study.question.model,
        "metric": study.metric.name,
        "better": study.metric.better,
        "search": study.question.search.name,
        "stopped": study.stopped,
        "trials": [
            {
                "number": trial.number,
                "parameters": trial.parameters,
                "share": trial.share,
                "mean": trial.mean,
                "low": None if trial.score is None else trial.score.low,
                "high": None if trial.score is None else trial.score.high,
                "seconds": None if trial.score is None else trial.score.seconds,
                "problem": trial.problem,
            }
            for trial in study.trials
        ],
        "best": {"parameters": study.best_parameters_, "mean": study.best_score_},
        "constant": study.constant,
        "nested": nested,
        "outer": [fold.__dict__ for fold in study.outer],
    }


def _write(settings: Settings, place: "RunFolder", trained: "Trained") -> tuple[Path, ...]:
    """The model last: a folder with it is a whole RUN."""
    from likely.cli.train import run_facts, write_evidence

    write_evidence(place, trained)
    study = place.write_study(trained.facts["study"])
    return (*place.write_model(trained.model, run_facts(settings, trained)), study)


def _unsaved(study: "Study", data: str, chosen: ModelEntry, place: "RunFolder") -> Answer:
    """A model of another library: the search is kept, and the settings lead to a comparison."""
    from likely.cli.show import wrapped

    best = study.best_parameters_
    words = [f"{name}={as_json(value).strip()}" for name, value in best.items()]
    told = (
        f"{chosen.name} belongs to another library, and a model file cannot hold it; the search is "
        f"kept in {place.study}, without a model."
    )
    task = study.question.objective.rows.settled
    again = ["likely", "compare", data, chosen.name, "--target", task.target]
    return Answer(
        text="\n\n".join([*_told(study), wrapped(told)]),
        result={
            "model": chosen.name,
            "best_parameters": best,
            "study": study_facts(study),
            "run": None,
            "kept": str(place.study),
        },
        findings=about_task(task),
        files=(place.study,),
        next=shlex.join(again) + set_words(chosen.name, words),
    )


def _answer(
    trained: "Trained", study: "Study", place: Path, output: str | None, files: tuple[Path, ...]
) -> Answer:
    from likely.runs.catalogue import unfinished_searches

    name = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None else "report"
    best = study.best_parameters_
    left = tuple(
        f"{other} holds a search that was not finished; the same command with -o {other} goes on."
        for other in unfinished_searches(trained.facts["model"])
    )
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "best_parameters": best, "run": str(place)},
        findings=trained.findings + left,
        files=files,
        next=f"likely {after} {name}",
    )
