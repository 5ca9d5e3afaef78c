"""``likely compare``: models side by side on the same folds, with the baseline."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.models import models_named, set_option, set_words
from likely.cli.options import data_options, folds_option, metric_option, repeats_option
from likely.cli.terminal import GlobalOptions, global_options, on_terminal
from likely.errors import InvalidInput
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, open_with_target

if TYPE_CHECKING:
    from likely.workbench.comparison.comparison import Comparison

NARROWEST = 60  # columns of text


@click.command()
@click.argument("data")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@data_options(*SCORED)
@folds_option
@repeats_option
@click.option("--all", "everything", is_flag=True, help="Include the slow models.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Seconds that the fits of one MODEL may take together [default: no limit].",
)
@metric_option
@set_option
@global_options
@click.pass_obj
def compare(
    settings: GlobalOptions,
    data: str,
    models: tuple[str, ...],
    options: DataOptions,
    folds: int,
    repeats: int | None,
    everything: bool,
    seconds: float | None,
    metric: str | None,
    assignments: tuple[str, ...],
) -> Answer:
    """Cross-validate MODELs, or all that suit the target, on DATA or the training rows of a SEAL.

    Columns are prepared inside each fold. The baseline (constant) is always in the table; p-values
    are from a paired t-test, corrected for overlapping training sets. A MODEL is a name listed by
    likely models, or the import path of an estimator of another library that follows scikit-learn;
    --set applies to each MODEL that has the setting.
    """
    from likely.workbench.comparison.comparison import compare as compare_models

    named = models_named(models, assignments)
    refuse_unknown_metric(metric)
    rows = open_with_target(settings.caller, data, options)
    with settings.using_jobs(), on_terminal(settings):
        found = compare_models(
            rows,
            models=named or None,
            folds=folds,
            repeats=repeats,
            seed=settings.seed,
            everything=everything,
            metric=metric,
            seconds=seconds,
        )
    _refuse_failure(found, data, options)
    return _answer(found, data, options, assignments)


def _answer(
    found: "Comparison", data: str, options: DataOptions, assignments: tuple[str, ...]
) -> Answer:
    """The comparison, saved together with earlier ones."""
    from likely.cli.terminal import wrapped
    from likely.workbench.comparison.records import keep_comparison

    home = None if found.rows.sealed else _home(found)
    kept = found.kept if home is None else keep_comparison(home, found.facts())
    return Answer(
        text=f"{_text(found)}\n{wrapped(_where(kept, found))}",
        result=found.facts(),
        findings=_findings(found),
        files=kept,
        next=_next(data, found, options, assignments),
    )


def _home(found: "Comparison") -> Path | None:
    """The folder to save to: the newest RUN on the same data, if any; a SEAL has it already."""
    from likely.runs.catalogue import newest_run_on

    return newest_run_on(found.rows.digest, found.task.target)


def _where(kept: tuple[Path, ...], found: "Comparison") -> str:
    """Where the comparison was saved, or why it was not."""
    from likely.workbench.comparison.records import comparisons_in, models_in

    if not kept:
        why = "the SEAL is read-only" if found.rows.sealed else "there is no RUN on these data"
        return f"Not saved for the report, because {why}. Comparisons on a SEAL are always saved."
    tried = models_in(comparisons_in(kept[0].parent)[-1:])  # the newest: of the same columns
    now = {each.name for each in found.entries}
    before = [name for name in tried if name not in now]
    also = f", together with earlier results of {', '.join(before)}" if before else ""
    return f"Saved for the report in {kept[0]}{also}."


def refuse_unknown_metric(name: str | None, verb: str = "compare") -> None:
    """Refuse an unknown metric, or an import path without a function, as a usage error."""
    from likely.metrics import metric_named

    if name is None:
        return
    if "" not in sys.path:
        sys.path.append("")  # so that a function of a module in this folder is found
    try:
        metric_named(name)
    except InvalidInput as error:
        raise Refusal(str(error), Exit.USAGE, f"likely {verb} --help") from None


def _refuse_failure(found: "Comparison", name: str, options: DataOptions) -> None:
    """Refuse a comparison in which only the baseline could be scored."""
    if found.all_failed:
        first = found.failed[0]
        word = "was" if first.is_unfinished else "failed"
        raise Refusal(
            "No model could be scored; at least one was expected in addition to the baseline. "
            f"{first.name} {word} {first.problem}",
            Exit.DATA,
            f"likely look {shlex.quote(name)} --target {shlex.quote(found.task.target)}"
            f"{options.words()}",
        )


def _text(found: "Comparison") -> str:
    from likely.cli.terminal import heading, width
    from likely.workbench.comparison.comparison_text import text_of

    title, _, rest = text_of(found, max(width(), NARROWEST), in_terminal=True).partition("\n")
    return f"{heading(title)}\n{rest}"


def _findings(found: "Comparison") -> tuple[str, ...]:
    """The warnings of the fits, one for each model and kind."""
    from likely.workbench.comparison.comparison_text import warning_notes

    return tuple(warning_notes(found))


def _next(
    data: str, found: "Comparison", options: DataOptions, assignments: tuple[str, ...]
) -> str:
    """The next command: tune the best model, or look if none is better than the baseline."""
    from likely.storage.foreign import INSTALL, has_skops
    from likely.workbench.models.registry import BASELINE, MODELS

    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if found.rows.sealed else f" --target {shlex.quote(found.task.target)}"
    if found.best.name == BASELINE:
        return f"likely look {words}{about}{options.words()}"
    own = found.best.name in MODELS
    verb = "tune" if own else "train"  # a model of another library has no default search space
    first = "" if own or has_skops() else f"{INSTALL} && "  # by which it is saved
    given = set_words(found.best.name, assignments)
    return f"{first}likely {verb} {words} {found.best.name}{about}{options.words()}{given}"
