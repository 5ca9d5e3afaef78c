"""``likely look``: a table, before anything is trained on it."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import in_options, kind_options, said
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName

if TYPE_CHECKING:
    from likely.workbench.look.look import Look
    from likely.workbench.opened import Opened

SEVERITY_COLOURS = {"stop": "red", "warn": "yellow", "note": "cyan"}
CODE = r"^  LK\d+ (stop|warn|note)"
NARROWEST = 60  # columns of text


@click.command()
@click.argument("data")
@click.option("--target", metavar="COL", help="The column to predict; built-in data know theirs.")
@kind_options
@click.option(
    "--mute",
    "muted",
    multiple=True,
    metavar="CODE",
    help="A finding not to report: LK102, or LK102:COL in one column; may be repeated.",
)
@global_options
@click.pass_obj
def look(settings: Settings, data: str, target: str | None, muted: tuple[str, ...]) -> Answer:
    """Look at DATA: types, missing values, balance, duplicates, leak suspects. Trains nothing.

    DATA may be a folder that seal has written; its sealed rows are not read. What each code means
    is in the documentation, docs/findings.rst.
    """
    from likely.workbench.look.findings import mute_of
    from likely.workbench.look.look import look_at

    try:
        mute = mute_of(muted)
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, "likely look --help") from None
    kind, order = said()
    found = look_at(_opened(data), target, mute, kind=kind, order=order)
    return Answer(
        text=_coloured(found),
        result=found.facts(),
        findings=tuple(map(str, found.findings)) if settings.json else (),  # else in the text
        next=_next(data, found.target),
    )


def _opened(name: str) -> "Opened":
    """DATA, or the training part of a sealed folder."""
    from likely.cli.tables import open_data
    from likely.workbench.opened import is_sealed, opened, opened_source

    if is_sealed(Path(name)):
        return opened(name)
    data = open_data(name, load=False)
    return opened_source(data.source, data.label)._replace(target=data.target)


def _coloured(found: "Look") -> str:
    """The text with the title in bold and each code in the colour of its severity."""
    from likely.cli.show import heading, width
    from likely.workbench.look.look_text import text_of

    title, _, rest = text_of(found, max(width(), NARROWEST)).partition("\n")
    coloured = re.sub(CODE, _styled, in_options(rest), flags=re.MULTILINE)
    return f"{heading(title)}\n{coloured}"


def _styled(code: re.Match[str]) -> str:
    return "  " + click.style(code[0].strip(), fg=SEVERITY_COLOURS[code[1]])


def _next(data: str, target: str | None) -> str:
    """Seal; of what is sealed, compare; without a target, look at one."""
    name = "FILE" if data == "-" else shlex.quote(data)
    if target is None:
        return f"likely look {name} --target COL"
    if Path(data, "manifest.json").is_file():
        return f"likely compare {name}"
    return f"likely seal {name} --target {shlex.quote(target)}{said().words}"
