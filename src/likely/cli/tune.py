"""``likely tune``: the best settings of one model; a search that is kept, and goes on."""

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer, as_json
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import about_task
from likely.cli.options import DataOptions, data_options, open_with_target
from likely.cli.registry import Model, model_named, value_of
from likely.cli.settings import Settings, global_options

if TYPE_CHECKING:
    from likely.cli.train import Trained
    from likely.workbench.dataset import Dataset
    from likely.workbench.search.study import Study

SEARCHES = ("grid", "random", "halving", "bayes", "refine")
STUDY = "study"  # the folder of the search inside a RUN


class Wanted(NamedTuple):
    """The search that was asked for."""

    search: str
    trials: int | None
    minutes: float | None
    nested: int | None
    folds: int
    by_hand: tuple[Mapping[str, Any], ...] | None = None  # what --try says


@click.command()
@click.argument("data")
@click.argument("model")
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
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
    options: DataOptions,
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
    from likely.cli.using import using_jobs

    chosen = _searchable(model)
    place = _place(model, output)
    rows = open_with_target(settings, data, options)
    rows.refuse_sealed_rows("tune")  # before the folder of the search is made
    wanted = Wanted(search, trials, minutes, nested, folds, _by_hand(tries))
    with using_jobs(settings.jobs):
        study = _searched(settings, rows, chosen, wanted, place)
        if study.stopped == "interrupted":
            _say_how_to_go_on(settings, study, place)
        trained = _trained(settings, chosen, study)
        _write(settings, place, trained, study)
    return _answer(trained, study, place, output)


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


def _place(model: str, output: str | None) -> Path:
    """A new RUN, or one whose search is not over."""
    from likely.cli.runs import MODEL_FILE, RUNS, next_number

    place = RUNS / f"{next_number():03d}-{model}" if output is None else Path(output)
    searched = (place / STUDY).is_dir()
    unfinished = searched and not (place / MODEL_FILE).exists()
    if searched and not unfinished:
        raise Refusal(
            f"The search in {place} has ended, and a run is never changed; a new folder, or one of "
            "an unfinished search, was expected. Leave -o out, and ask for more --trials.",
            Exit.DATA,
            "likely tune --help",
        )
    if place.exists() and not unfinished and not (place.is_dir() and not any(place.iterdir())):
        raise Refusal(
            f"{place} exists and holds no search that could go on; a new folder, or one of an "
            "unfinished search, was expected. Name another.",
            Exit.DATA,
            "likely tune --help",
        )
    return place


def unfinished(model: str) -> list[Path]:
    """Runs of a model whose search was killed."""
    from likely.cli.runs import MODEL_FILE, RUNS

    studies = sorted(RUNS.glob(f"[0-9]*-{model}/{STUDY}"))
    return [each.parent for each in studies if not (each.parent / MODEL_FILE).exists()]


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
    settings: Settings, rows: "Dataset", chosen: Model, wanted: Wanted, place: Path
) -> "Study":
    from likely.cli.runs import forget_empty, note_search
    from likely.cli.watch import watched
    from likely.errors import InUse
    from likely.workbench.search import study as studies

    new = not place.exists()
    note_search(place, settings.command)
    try:
        with watched(settings, f"tuning {chosen.name}", wanted.trials, unit="trials run"):
            return studies.tune(
                rows,
                model=chosen.name,
                search=wanted.search,
                trials=wanted.trials,
                minutes=wanted.minutes,
                nested=wanted.nested,
                folds=wanted.folds,
                by_hand=wanted.by_hand,
                seed=settings.seed,
                study=place / STUDY,
            )
    except InUse:
        raise  # another search has it
    except BaseException:
        if new and not _has_scores(place / STUDY / "trials.jsonl"):  # nothing to go on with
            shutil.rmtree(place, ignore_errors=True)
            forget_empty(place.parent)
        raise


def _has_scores(log: Path) -> bool:
    """Whether a trial of the log has a score: one that failed will fail again."""
    from likely.workbench.search.trials import TrialLog

    return log.exists() and any(trial.score for trial in TrialLog(log).trials.values())


def _say_how_to_go_on(settings: Settings, study: "Study", place: Path) -> None:
    from likely.cli.show import count
    from likely.workbench.search.study_text import sentences

    words = shlex.split(settings.command)
    if "-o" not in words:
        words += ["-o", str(place)]
    told = sentences(study)[0]
    raise Refusal(
        f"The search was interrupted after {count(len(study.trials), 'trial')}, kept in "
        f"{place / STUDY}. So far: {told} The same command with -o {place} goes on.",
        Exit.INTERRUPTED,
        shlex.join(words),
    )


def _trained(settings: Settings, chosen: Model, study: "Study") -> "Trained":
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

    rows, best = study.question.rows, study.best_model()
    n_folds = study.question.objective.n_folds
    with watched(settings, f"fitting {chosen.name}", None):
        found = fit_and_validate(best, rows, n_folds=n_folds, seed=settings.seed)
    scores = score_facts(found.validation, n_folds)
    findings = about_task(rows.settled) + dropped_columns(found.model)
    if scores is not None:
        scores |= {"promised": study.nested_score_ if study.outer else study.best_score_}
    facts = {**facts_of(found, chosen), "scores": scores, "study": study_facts(study)}
    text = "\n\n".join([opening(facts), *_told(study), score_text(scores)[0]])
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


def _write(settings: Settings, place: Path, trained: "Trained", study: "Study") -> None:
    """The model last: a folder with it is a whole RUN."""
    from likely.cli.evidence import run_facts, write_evidence
    from likely.cli.runs import write_run
    from likely.files import write_atomically

    write_evidence(place, trained)
    facts: Mapping[str, Any] = trained.facts["study"]
    write_atomically(place / "study.json", (as_json(facts) + "\n").encode())
    write_run(place, trained.model, run_facts(settings, trained))


def _answer(trained: "Trained", study: "Study", place: Path, output: str | None) -> Answer:
    name = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None else "report"
    best = study.best_parameters_
    left = tuple(
        f"{other} holds a search that was not finished; the same command with -o {other} goes on."
        for other in unfinished(trained.facts["model"])
    )
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "best_parameters": best, "run": str(place)},
        findings=trained.findings + left,
        files=tuple(place / file for file in ("model.likely", "run.json", "study.json")),
        next=f"likely {after} {name}",
    )
