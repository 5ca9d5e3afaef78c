"""``likely explain``: what a trained model has learned."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.settings import Settings, global_options

if TYPE_CHECKING:
    from likely.runs import Run

MOST_ROWS = 20  # of a table, where --top says nothing; JSON has all
OUTPUT = ("-o", "predictions.csv")


@click.command()
@click.argument("run")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many columns or terms to show, the most informative.",
)
@global_options
@click.pass_obj
def explain(settings: Settings, run: str, top: int | None) -> Answer:
    """Show what RUN (a folder, or @last) has learned.

    The most informative columns of each class or component, or the coefficients of a linear model
    with their standard errors; then what was done to each column before the fit.
    """
    from likely.cli.show import heading, width
    from likely.description import describe
    from likely.description_text import text_of
    from likely.runs import open_run

    opened = open_run(run)
    told = describe(opened.model)
    shown = MOST_ROWS if top is None else top
    title, _, rest = text_of(told, top=shown, width=width(), more="--top {} shows all").partition(
        "\n"
    )
    name = opened.facts.get("model", type(opened.model).__name__)
    return Answer(
        text=f"{heading(title)}\n{rest}",
        result={"model": name, **told.to_json()},
        next=_next(opened, run),
    )


def _next(opened: "Run", name: str) -> str:
    """Of a sealed run the look that it leads to, then the report; of others a prediction."""
    if opened.facts.get("seal") and opened.facts.get("target") is not None:
        verb = "report" if opened.folder.is_scored else "final"
        return shlex.join(["likely", verb, name])
    data = str(opened.facts.get("data", {}).get("name", "DATA"))
    data = "DATA" if data == "standard input" else data
    return shlex.join(["likely", "predict", name, data, *_proba(opened.model), *OUTPUT])


def _proba(model: Any) -> list[str]:
    return ["--proba"] if callable(getattr(model, "predict_proba", None)) else []
