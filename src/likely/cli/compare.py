"""``likely compare``: models side by side on the same folds, and the baseline with them."""

import shlex
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.options import DataOptions, data_options, open_with_target
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName

if TYPE_CHECKING:
    from likely.workbench.comparison import Comparison

NARROWEST = 60  # columns of text


@click.command()
@click.argument("data")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@click.option("--repeats", type=click.IntRange(min=1), default=2, help="Deals of the rows; 2.")
@click.option("--all", "everything", is_flag=True, help="The slow models too.")
@click.option("--metric", metavar="NAME", help="That orders the models; log loss, or likelihood.")
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
) -> Answer:
    """Cross-validate MODELs, or all that suit the target, on DATA or the training rows of a SEAL.

    Missing values, categories and scales are learned inside each fold. The best constant is always
    in the table; p is of a paired test that knows that folds overlap.
    """
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.workbench.comparison import compare as compare_models

    refuse_unknown_models(models)
    refuse_unknown_metric(metric)
    rows = open_with_target(settings, data, options)
    with using_jobs(settings.jobs), watched(settings, "comparing", None, unit="fits"):
        found = compare_models(
            rows,
            models=list(models) or None,
            folds=folds,
            repeats=repeats,
            seed=settings.seed,
            everything=everything,
            metric=metric,
        )
    _refuse_failure(found, data)
    return _answer(found, data, options)


def _answer(found: "Comparison", data: str, options: DataOptions) -> Answer:
    """The comparison, kept beside those before it."""
    from likely.cli.kept_comparisons import keep_comparison, told_where
    from likely.cli.show import wrapped

    kept = keep_comparison(found)
    return Answer(
        text=f"{_text(found)}\n{wrapped(told_where(kept, found))}",
        result=found.facts(),
        findings=_findings(found),
        files=kept,
        next=_next(data, found, options),
    )


def refuse_unknown_models(names: tuple[str, ...]) -> None:
    """A name that no model has is a mistake on the command line."""
    from likely.workbench.models import candidate_named

    try:
        for name in names:
            candidate_named(name)
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, "likely models") from None


def refuse_unknown_metric(name: str | None) -> None:
    from likely.metrics import metric_named

    try:
        if name is not None:
            metric_named(name)
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, "likely compare --help") from None


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


def _next(data: str, found: "Comparison", options: DataOptions) -> str:
    """Tune the best; look again where nothing was learned; of plain data, say the target."""
    from likely.workbench.models import BASELINE

    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if found.rows.sealed else f" --target {shlex.quote(found.task.target)}"
    if found.best.name == BASELINE:
        return f"likely look {words}{about}{options.words('kind', 'order', 'drop', 'category')}"
    return f"likely tune {words} {found.best.name}{about}{options.words()}"
