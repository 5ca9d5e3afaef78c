"""``likely compare``: models side by side on the same folds, and the baseline with them."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.assignments import models_named, set_option, set_words
from likely.cli.exits import Exit, Refusal
from likely.cli.options import DataOptions, data_options, open_with_target
from likely.cli.settings import Settings, global_options
from likely.errors import InvalidInput

if TYPE_CHECKING:
    from likely.workbench.comparison import Comparison

NARROWEST = 60  # columns of text

metric_option = click.option(
    "--metric",
    metavar="NAME",
    help="The score: a metric, or the import path of a function (package.module.function) "
    "[default: log loss, or log-likelihood].",
)


@click.command()
@click.argument("data")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@click.option("--repeats", type=click.IntRange(min=1), default=2, help="Deals of the rows; 2.")
@click.option("--all", "everything", is_flag=True, help="The slow models too.")
@metric_option
@set_option
@global_options
@click.pass_obj
def compare(
    settings: Settings,
    data: str,
    models: tuple[str, ...],
    options: DataOptions,
    folds: int,
    repeats: int,
    everything: bool,
    metric: str | None,
    assignments: tuple[str, ...],
) -> Answer:
    """Cross-validate MODELs, or all that suit the target, on DATA or the training rows of a SEAL.

    Missing values, categories and scales are learned inside each fold. The best constant is always
    in the table; p is of a paired test that knows that folds overlap. A MODEL is a name that likely
    models lists, or the import path of a class of another library with scikit-learn's conventions;
    --set goes to each MODEL that has the parameter.
    """
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.workbench.comparison import compare as compare_models

    named = models_named(models, assignments)
    refuse_unknown_metric(metric)
    rows = open_with_target(settings, data, options)
    with using_jobs(settings.jobs), watched(settings, "comparing", None, unit="fits"):
        found = compare_models(
            rows,
            models=named or None,
            folds=folds,
            repeats=repeats,
            seed=settings.seed,
            everything=everything,
            metric=metric,
        )
    _refuse_failure(found, data)
    return _answer(found, data, options, assignments)


def _answer(
    found: "Comparison", data: str, options: DataOptions, assignments: tuple[str, ...]
) -> Answer:
    """The comparison, kept beside those before it."""
    from likely.cli.show import wrapped
    from likely.runs.records import keep_comparison

    home = _home(found)
    kept = () if home is None else keep_comparison(home, found.facts())
    return Answer(
        text=f"{_text(found)}\n{wrapped(_where(kept, found))}",
        result=found.facts(),
        findings=_findings(found),
        files=kept,
        next=_next(data, found, options, assignments),
    )


def _home(found: "Comparison") -> Path | None:
    """The SEAL; of other data, the newest RUN on them, where there is one."""
    from likely.runs.catalogue import newest_run_on

    rows = found.rows
    return newest_run_on(rows.digest, found.task.target) if rows.seal is None else rows.seal.path


def _where(kept: tuple[Path, ...], found: "Comparison") -> str:
    """Where a comparison was kept, or how it would be."""
    from likely.runs.records import comparisons_in, models_in

    if not kept:
        why = "the seal cannot be written to" if found.rows.sealed else "no run has these data"
        return f"It was not kept, because {why}; on a SEAL every comparison is, for the report."
    tried = models_in(comparisons_in(kept[0].parent))
    now = {each.name for each in found.entries}
    before = [name for name in tried if name not in now]
    also = f" beside {', '.join(before)}, compared before" if before else ""
    return f"Kept in {kept[0]}{also}, for the report."


def refuse_unknown_metric(name: str | None, verb: str = "compare") -> None:
    """A name that no metric has, or a path that leads to no function, is a mistake on the line."""
    from likely.metrics import metric_named

    if "" not in sys.path:
        sys.path.append("")  # so that a function of a module in this folder is found
    try:
        if name is not None:
            metric_named(name)
    except InvalidInput as error:
        raise Refusal(str(error), Exit.USAGE, f"likely {verb} --help") from None


def _refuse_failure(found: "Comparison", name: str) -> None:
    """A table of nothing but the constant compares nothing."""
    if found.all_failed:
        first = found.failed[0]
        raise Refusal(
            "No model could be scored; at least one beside the constant was expected. "
            f"{first.name} failed {first.problem}",
            Exit.DATA,
            f"likely look {shlex.quote(name)} --target {shlex.quote(found.task.target)}",
        )


def _text(found: "Comparison") -> str:
    from likely.cli.show import heading, width
    from likely.workbench.comparison_text import text_of

    title, _, rest = text_of(found, max(width(), NARROWEST)).partition("\n")
    return f"{heading(title)}\n{rest}"


def _findings(found: "Comparison") -> tuple[str, ...]:
    """What the fits warned of, once each; failures are in the table already."""
    said: dict[str, list[str]] = {}
    for each in found.entries:
        for warning in each.warnings:
            said.setdefault(warning.partition(": ")[2] or warning, []).append(each.name)
    return tuple(f"{', '.join(names)}: {text}" for text, names in said.items())


def _next(
    data: str, found: "Comparison", options: DataOptions, assignments: tuple[str, ...]
) -> str:
    """Tune the best; look again where nothing was learned; of plain data, give the target."""
    from likely.workbench.models import BASELINE, MODELS

    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if found.rows.sealed else f" --target {shlex.quote(found.task.target)}"
    if found.best.name == BASELINE:
        return f"likely look {words}{about}{options.words('kind', 'order', 'drop', 'category')}"
    verb = "tune" if found.best.name in MODELS else "curve"  # another library's has no usual space
    given = set_words(found.best.name, assignments)
    return f"likely {verb} {words} {found.best.name}{about}{options.words()}{given}"
