"""``likely look``: checks of a table, before anything is trained on it."""

import re
import shlex
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.options import data_options
from likely.cli.terminal import GlobalOptions, global_options
from likely.errors import UnknownName
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, open_data

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.look.look import Look

SEVERITY_COLOURS = {"stop": "red", "warn": "yellow", "note": "cyan"}
CODE = r"^  LK\d+ (stop|warn|note)"
TOGETHER = "LK204"  # rows that belong together
NARROWEST = 60  # columns of text


@click.command()
@click.argument("data")
@data_options(*SCORED)
@click.option(
    "--mute",
    "muted",
    multiple=True,
    metavar="CODE",
    help="Finding to leave out: LK102, or LK102:COL for one column. May be repeated.",
)
@global_options
@click.pass_obj
def look(
    settings: GlobalOptions, data: str, options: DataOptions, muted: tuple[str, ...]
) -> Answer:
    """Check DATA: types, missing values, class balance, duplicates, possible leaks.

    Nothing is trained. DATA may also be a SEAL; its sealed rows are not read. The codes of the
    findings are explained in docs/findings.rst.
    """
    from likely.workbench.look.findings import mute_of
    from likely.workbench.look.look import look as look_at
    from likely.workbench.look.look import warn_of_sealed_rows

    try:
        mute_of(muted)
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, "likely look --help") from None
    opened = open_data(settings.caller, data, options)
    warn_of_sealed_rows(opened)
    found = look_at(opened, mute=muted)
    return Answer(
        text=_coloured(found),
        result=found.facts(),
        findings=tuple(map(str, found.findings)) if settings.json else (),  # else in the text
        next=_next(data, opened, options, found),
    )


def _coloured(found: "Look") -> str:
    """The text with the title in bold and each code in the colour of its severity."""
    from likely.cli.terminal import heading, width
    from likely.workbench.look.look_text import text_of

    title, _, rest = text_of(found, max(width(), NARROWEST), "--json shows all").partition("\n")
    coloured = re.sub(CODE, _styled, rest, flags=re.MULTILINE)
    return f"{heading(title)}\n{coloured}"


def _styled(code: re.Match[str]) -> str:
    return "  " + click.style(code[0].strip(), fg=SEVERITY_COLOURS[code[1]])


def _next(data: str, opened: "Dataset", options: DataOptions, found: "Look") -> str:
    """The next command: seal, or compare if DATA is a SEAL, or look with a target."""
    name = "FILE" if data == "-" else shlex.quote(data)
    if opened.target is None:
        return f"likely look {name} --target COL{options.words()}"
    if opened.sealed:
        return f"likely compare {name}{options.words()}"
    from likely.workbench.data.unsettled import unsettled_columns

    said = "".join(f" {each.option}" for each in unsettled_columns(opened))
    groups = [each.columns[0] for each in found.findings if each.code == TOGETHER]
    held = f" --group {shlex.quote(groups[0])}" if groups and opened.group is None else ""
    return f"likely seal {name} --target {shlex.quote(opened.target)}{options.words()}{held}{said}"
