"""``likely tune``: the best settings of one model; a search that is kept, and goes on."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import Said, about_task, kind_options, said
from likely.cli.parting import UNPARTED, Parting, parted, parted_or_sealed, parting_options
from likely.cli.registry import Model, model_named, value_of
from likely.cli.settings import Settings, global_options

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.cli.train import Trained
    from likely.runs import RunFolder
    from likely.workbench.search.study import Study

SEARCHES = ("grid", "random", "halving", "bayes", "refine")


class Wanted(NamedTuple):
    """The search that was asked for."""

    search: str
    trials: int | None
    minutes: float | None
    nested: int | None
    folds: int
    parting: Parting = UNPARTED
    by_hand: tuple[Mapping[str, Any], ...] | None = None  # what --try says
    said: Said = Said()  # of the target


@click.command()
@click.argument("data")
@click.argument("model")
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option("--search", type=click.Choice(SEARCHES), default="random", help="How to search.")
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
@parting_options
@kind_options
@click.option(
    "--try",
    "tries",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Settings of your own, tried before the search begins.",
)
@click.option("-o", "output", metavar="RUN", help="The folder to write, or to go on with.")
@global_options
@click.pass_obj
def tune(
    settings: Settings,
    data: str,
    model: str,
    target: str | None,
    search: str,
    trials: int | None,
    minutes: float | None,
    nested: int | None,
    folds: int,
    tries: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Search the settings of MODEL by cross-validation on DATA or the training rows of a SEAL.

    Trials are kept as they end: after Ctrl-C, or a crash, -o RUN goes on where it stopped.
    """
    from likely.cli.guard import refuse_sealed_rows_in
    from likely.cli.tables import open_data
    from likely.cli.using import using_jobs
    from likely.runs.catalogue import run_for_search

    chosen = _searchable(model)
    place = run_for_search(model, output)
    opened = open_data(data)
    column = _target(settings, opened, chosen, target)
    refuse_sealed_rows_in(opened, data, doing="tune")
    parting = parted_or_sealed(parted(), opened)
    wanted = Wanted(search, trials, minutes, nested, folds, parting, _by_hand(tries), said())
    with using_jobs(settings.jobs):
        study = _searched(settings, opened, column, chosen, wanted, place)
        if study.stopped == "interrupted":
            _say_how_to_go_on(settings, study, place)
        trained = _trained(settings, opened, chosen, study)
        files = _write(settings, place, trained)
    return _answer(trained, study, place.path, output, files)


def _searchable(name: str) -> Model:
    """The model, if it has a space of settings."""
    from likely.workbench.models import CANDIDATES

    chosen = model_named(name)
    if name in CANDIDATES:
        return chosen
    near = [each for each in CANDIDATES if each.startswith(name)]
    instead = f"Use one of {', '.join(near)}." if near else "Train it: likely train."
    raise Refusal(
        f"{name} has no settings that a search can choose; a model with one kind of target was "
        f"expected. {instead}",
        Exit.USAGE,
        f"likely models {near[0] if near else name}",
    )


def _target(settings: Settings, data: "Data", chosen: Model, target: str | None) -> str:
    from likely.cli.roles import Roles, check_roles
    from likely.cli.train import refuse_other_target

    roles = Roles(data.target if target is None else target)
    check_roles(settings, data.source.names, chosen, roles)
    refuse_other_target(data, roles)
    return str(roles.target)


def _by_hand(tries: tuple[str, ...]) -> tuple[Mapping[str, Any], ...] | None:
    """The model as it is, then the settings of each ``--try``; None where there is none."""
    if not tries:
        return None
    found: list[Mapping[str, Any]] = [{}]
    for text in tries:
        pairs = [part.partition("=") for part in text.split(",")]
        if not all(equals for _, equals, _ in pairs):
            raise Refusal(
                f"--try takes NAME=VALUE, several with commas; found {text!r}. Write --try "
                "l2=0.1,l1=0, for instance.",
                Exit.USAGE,
                "likely tune --help",
            )
        found.append({name.strip(): value_of(value) for name, _, value in pairs})
    return tuple(found)


def _searched(
    settings: Settings, data: "Data", target: str, chosen: Model, wanted: Wanted, place: "RunFolder"
) -> "Study":
    from likely.cli.tables import in_one_table
    from likely.cli.watch import watched
    from likely.errors import InUse
    from likely.runs.catalogue import discard
    from likely.workbench.search import study as studies

    new = not place.path.exists()
    place.note_search(settings.command)
    try:
        with watched(settings, f"tuning {chosen.name}", wanted.trials, unit="trials run"):
            return studies.tune(
                in_one_table(data.source) if data.seal is None else data.seal.path,
                target,
                chosen.name,
                search=wanted.search,
                trials=wanted.trials,
                minutes=wanted.minutes,
                nested=wanted.nested,
                folds=wanted.folds,
                group=wanted.parting.group,
                by_time=wanted.parting.by_time,
                kind=wanted.said.kind,
                order=wanted.said.order,
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
    from likely.workbench.search.study_folder import StudyFolder
    from likely.workbench.search.trials import TrialLog

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


def _trained(settings: Settings, data: "Data", chosen: Model, study: "Study") -> "Trained":
    """The model with the best settings, cross-validated once more and fitted to all rows."""
    from likely.cli.train import Trained, opening, plain_parameters
    from likely.cli.validated import (
        dropped_columns,
        facts_of,
        fit_and_validate,
        score_facts,
        score_text,
    )
    from likely.cli.watch import watched

    objective = study.question.objective
    task, best = objective.task, study.best_model()
    n_folds = objective.n_folds
    with watched(settings, f"fitting {chosen.name}", None):
        found = fit_and_validate(
            best,
            data,
            objective.table,
            task,
            n_folds=n_folds,
            seed=settings.seed,
            folds=objective.folds,
            parting=Parting(**study.question.kept_together),
        )
    scores = score_facts(found.validation, n_folds)
    findings = about_task(task) + dropped_columns(found.model)
    if scores is not None:
        scores |= {"promised": study.nested_score_ if study.outer else study.best_score_}
    facts = {**facts_of(found, chosen, data), "scores": scores, "study": study_facts(study)}
    text = "\n\n".join([opening(facts), *_told(study), score_text(scores)[0]])
    shown = plain_parameters(best.model) | study.best_parameters_
    return Trained(found.model, facts, text, findings, data, shown, found.validation)


def _told(study: "Study") -> list[str]:
    """What the search found, and its best trials."""
    from likely.cli.show import table, wrapped
    from likely.workbench.search.study_text import sentences, trial_rows

    said = "\n".join(wrapped(each.replace("nested=5", "--nested 5")) for each in sentences(study))
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
    from likely.cli.evidence import run_facts, write_evidence

    write_evidence(place, trained)
    study = place.write_study(trained.facts["study"])
    return (*place.write_model(trained.model, run_facts(settings, trained)), study)


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
