"""``likely compare``: models side by side on the same folds, and the baseline with them."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import UNSAID, Said, in_options, kind_options, said
from likely.cli.parting import UNPARTED, Parting, parted, parting_options
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName
from likely.formatting import listed

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.workbench.comparison import Comparison
    from likely.workbench.rows import Rows

NARROWEST = 60  # columns of text


@click.command()
@click.argument("data")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@click.option("--repeats", type=click.IntRange(min=1), default=2, help="Deals of the rows; 2.")
@click.option("--all", "everything", is_flag=True, help="The slow models too.")
@parting_options
@click.option("--metric", metavar="NAME", help="That orders the models; log loss, or likelihood.")
@kind_options
@global_options
@click.pass_obj
def compare(
    settings: Settings,
    data: str,
    models: tuple[str, ...],
    target: str | None,
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
    from likely.workbench.comparison import compare_rows

    refuse_unknown_models(models)
    refuse_unknown_metric(metric)
    rows = rows_of(data, target, models=models, said=said(), parting=parted(), doing="compare")
    with using_jobs(settings.jobs), watched(settings, "comparing", None, unit="fits"):
        found = compare_rows(
            rows,
            list(models) or None,
            folds=folds,
            repeats=repeats,
            seed=settings.seed,
            everything=everything,
            metric=metric,
        )
    _refuse_failure(found, data)
    return _answer(found, data)


def _answer(found: "Comparison", data: str) -> Answer:
    """The comparison, kept beside those before it."""
    from likely.cli.show import wrapped
    from likely.runs.records import keep_comparison

    home = _home(found, data)
    kept = () if home is None else keep_comparison(home, found.facts())
    return Answer(
        text=f"{_text(found)}\n{wrapped(_where(kept, found))}",
        result=found.facts(),
        findings=_findings(found),
        files=kept,
        next=_next(data, found),
    )


def _home(found: "Comparison", data: str) -> Path | None:
    """The SEAL; of other data, the newest RUN on them, where there is one."""
    from likely.cli.tables import open_data
    from likely.runs.catalogue import newest_run_on

    if found.rows.sealed:
        return Path(data)
    if data == "-":
        return None
    return newest_run_on(open_data(data, load=False).digest, found.task.target)


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


def rows_of(
    name: str,
    target: str | None,
    *,
    models: tuple[str, ...] = (),
    said: Said = UNSAID,
    parting: Parting = UNPARTED,
    doing: str,
) -> "Rows":
    """The rows of DATA with a target; of a SEAL its training rows, and what it remembers."""
    from likely.cli.guard import refuse_sealed_rows_in
    from likely.cli.tables import in_one_table, open_data
    from likely.workbench.rows import rows_for

    data = open_data(name)
    column = data.target if target is None else target
    if column is None:
        raise Refusal(
            f"No target was given; the column to predict was expected. {data.label} has "
            f"{listed(data.source.names)}.",
            Exit.USAGE,
            f"likely {doing} {shlex.quote(name)} --target COL{parting.words}",
        )
    _refuse_other_target(data, column, name, parting, doing)
    opened: Any = name
    if data.seal is None:
        refuse_sealed_rows_in(data, name, doing=doing)
        opened = in_one_table(data.source)
    found = rows_for(
        opened,
        column,
        models=models or None,
        **said._asdict(),
        **parting._asdict(),
    )
    return found if data.seal is not None else found._replace(label=data.label)


def _refuse_other_target(
    data: "Data", column: str, name: str, parting: Parting, doing: str
) -> None:
    if data.seal is not None and column != data.target:
        raise Refusal(
            f"--target {column} was given; {data.label} was sealed for {data.target}. Leave "
            "--target out, or seal the data again for another target.",
            Exit.USAGE,
            f"likely {doing} {shlex.quote(name)}{parting.words}",
        )


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
    return f"{heading(title)}\n{in_options(rest)}"


def _findings(found: "Comparison") -> tuple[str, ...]:
    """What the fits warned of, once each; failures are in the table already."""
    said: dict[str, list[str]] = {}
    for each in found.entries:
        for warning in each.warnings:
            said.setdefault(warning.partition(": ")[2] or warning, []).append(each.name)
    return tuple(f"{', '.join(names)}: {text}" for text, names in said.items())


def _next(data: str, found: "Comparison") -> str:
    """Tune the best; look again where nothing was learned; of plain data, say the target."""
    from likely.workbench.models import BASELINE

    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if found.rows.sealed else f" --target {shlex.quote(found.task.target)}"
    if found.best.name == BASELINE:
        return f"likely look {words}{about}{said().words}"
    return f"likely tune {words} {found.best.name}{about}{said().words}{parted().words}"
