"""``likely tune``: search for the best settings of one model; the search can be resumed."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

import click

from likely.cli.answer import Answer
from likely.cli.compare import refuse_unknown_metric
from likely.cli.models import (
    model_named,
    set_option,
    set_words,
    settings_tried,
    space_given,
    with_assigned,
)
from likely.cli.options import (
    Command,
    data_options,
    folds_option,
    gathered,
    metric_option,
    repeats_option,
)
from likely.cli.terminal import GlobalOptions, global_options, on_terminal, shown
from likely.errors import InvalidInput
from likely.storage.json import as_json
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal
from likely.tasks.suitability import about_task
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.search.strategies import SEARCHES

if TYPE_CHECKING:
    from likely.tasks.tuning_run import TunedRun, TuneRequest

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
    repeats: int | None
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
    settings: GlobalOptions,
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
    from likely.tasks.tuning_run import TuneRequest, tuned

    chosen = _searchable(model, assignments, how.declared)
    arguments = how.arguments(chosen)
    refuse_unknown_metric(how.metric, "tune")
    request = TuneRequest(data, chosen, arguments, options, settings.caller)
    with on_terminal(settings), settings.using_jobs():
        found = tuned(request, output)
    return _unsaved(found, request) if found.trained is None else _answer(found, output)


def _searchable(name: str, assignments: Sequence[str], declared: Sequence[str]) -> ModelEntry:
    """The model with its --set parameters, refused if it has nothing to search."""
    from likely.tasks.tuning_run import refuse_unsearchable

    entry = with_assigned(model_named(name), assignments)
    refuse_unsearchable(entry, name, has_space=bool(declared))
    return entry


def _unsaved(found: "TunedRun", request: "TuneRequest") -> Answer:
    """The answer for a model of another library, which cannot be saved."""
    from likely.storage.foreign import INSTALL
    from likely.tasks.tuning_run import study_parts
    from likely.workbench.search.study_text import study_facts

    study, name = found.study, request.model.name
    best = study.best_parameters_
    words = [f"{name}={as_json(value).strip()}" for name, value in best.items()]
    note = (
        f"{name} belongs to another library, and is saved by the package skops, which is "
        f"not installed ({INSTALL}); the search is in {found.folder.study}."
    )
    task = study.question.objective.rows.settled
    again = ["likely", "compare", request.data, name, "--target", task.target]
    again += ["--metric", study.metric.name]  # the default may need a density, which it has not
    return Answer(
        text=shown([*study_parts(study), note]),
        result={
            "model": name,
            "best_parameters": best,
            "study": study_facts(study),
            "run": None,
            "kept": str(found.folder.study),
        },
        findings=about_task(task),
        files=found.files,
        next=shlex.join(again) + set_words(name, words),
    )


def _answer(found: "TunedRun", output: str | None) -> Answer:
    from likely.runs.catalogue import unfinished_searches

    trained, place = found.trained, found.folder.path
    assert trained is not None, "else unsaved"
    name = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None else "report"
    left = tuple(
        f"{other} holds an unfinished search; the same command with -o {other} resumes it."
        for other in unfinished_searches(trained.facts["model"])
    )
    text = shown(trained.parts, trained.facts["model"])
    return Answer(
        text=f"{text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={
            **trained.facts,
            "best_parameters": found.study.best_parameters_,
            "run": str(place),
        },
        findings=trained.findings + left,
        files=found.files,
        next=f"likely {after} {name}",
    )
