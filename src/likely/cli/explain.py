"""``likely explain``: what a trained model has learned."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.terminal import Settings, global_options

if TYPE_CHECKING:
    from likely.runs import Run

MOST_ROWS = 20  # of a table, without --top; JSON has all
OUTPUT = ("-o", "predictions.csv")


@click.command()
@click.argument("run")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Number of columns or terms to show, the most informative [default: {MOST_ROWS}].",
)
@global_options
@click.pass_obj
def explain(settings: Settings, run: str, top: int | None) -> Answer:
    """Show what the model of RUN (a folder, or @last) has learned.

    The most informative columns of each class or component, or the coefficients of a linear model
    with their standard errors, and how each column was prepared.
    """
    from likely.cli.terminal import heading, width
    from likely.description import describe
    from likely.description_text import text_of
    from likely.runs import open_run

    opened = open_run(run)
    description = describe(opened.model)
    shown = MOST_ROWS if top is None else top
    title, _, rest = text_of(
        description, top=shown, width=width(), more="--top {} shows all"
    ).partition("\n")
    name = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text=f"{heading(title)}\n{rest}",
        result={"model": name, **description.to_json()},
        next=_next(opened, run),
    )


def _next(opened: "Run", name: str) -> str:
    """The next command: final, then report for a run on a SEAL; predict for others."""
    if opened.facts.get("seal") and opened.facts.get("target") is not None:
        verb = "report" if opened.folder.is_scored else "final"
        return shlex.join(["likely", verb, name])
    data = str(opened.facts.get("data", {}).get("name", "DATA"))
    data = "DATA" if data == "standard input" else data
    return shlex.join(["likely", "predict", name, data, *_proba(opened.model), *OUTPUT])


def _proba(model: Any) -> list[str]:
    return ["--proba"] if callable(getattr(model, "predict_proba", None)) else []
