"""``likely curve``: how a model's score goes with rows, steps of the fit, or a setting."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.settings import Settings, global_options

if TYPE_CHECKING:
    from likely.evaluate.curves import Curve


@click.command()
@click.argument("data")
@click.argument("model")
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option(
    "--of", "of", default="size", metavar="AXIS", help="size, iterations, or a setting; size."
)
@click.option("--values", metavar="A,B,…", help="Where to look: shares of the rows, steps, values.")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@global_options
@click.pass_obj
def curve(
    settings: Settings,
    data: str,
    model: str,
    target: str | None,
    of: str,
    values: str | None,
    folds: int,
) -> Answer:
    """Score MODEL on training and held-out rows of DATA or a SEAL, along one axis.

    A gap that closes as rows are added asks for more rows; two curves that met ask for another
    model.
    """
    from likely.cli.compare import refuse_unknown_models, rows_of
    from likely.cli.runs import CURVE, keep_beside_seal
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.evaluate.curves import curve_of_rows

    refuse_unknown_models((model,))
    rows = rows_of(data, target, doing="curve")
    with using_jobs(settings.jobs), watched(settings, f"curve of {model}", None, unit="fits"):
        found = curve_of_rows(
            rows, model, of=of, values=_parsed(values), folds=folds, seed=settings.seed
        )
    facts = found.facts()
    kept = keep_beside_seal(data, CURVE, facts) if rows.sealed else ()
    return Answer(text=_text(found), result=facts, files=kept, next=_next(data, found))


def _parsed(values: str | None) -> list[Any] | None:
    return None if values is None else [_value(word.strip()) for word in values.split(",")]


def _value(word: str) -> Any:
    """A number, True, False, None, or text."""
    named = {"true": True, "false": False, "none": None}
    if word.lower() in named:
        return named[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _text(found: "Curve") -> str:
    from likely.cli.show import heading

    title, _, rest = str(found).partition("\n")
    return f"{heading(title)}\n{rest}"


def _next(data: str, found: "Curve") -> str:
    words = shlex.quote("FILE" if data == "-" else data)
    said = "" if found.rows.sealed else f" --target {shlex.quote(found.rows.task.target)}"
    return f"likely tune {words} {found.model}{said}"
