"""How rows are held out: the options ``--group`` and ``--by-time``, and what a seal or a run knows.

Rows that belong together, or that follow one another, must not be parted at random: a fold would
be predicted from what it shares with the others.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from likely.cli.tables import Data

Command = Callable[..., Any]


class Parting(NamedTuple):
    """The column by which rows are held out; None where there is none."""

    group: str | None = None
    by_time: str | None = None

    @property
    def anything(self) -> bool:
        return self.group is not None or self.by_time is not None

    @property
    def words(self) -> str:
        """The option again, for the next command."""
        if self.group is not None:
            return f" --group {shlex.quote(self.group)}"
        return "" if self.by_time is None else f" --by-time {shlex.quote(self.by_time)}"


UNPARTED = Parting()


def parting_options(command: Command) -> Command:
    """Add ``--group`` and ``--by-time``; the verb finds them with ``parted``."""
    for name, what in (
        ("--by-time", "Later rows are predicted from earlier ones."),
        ("--group", "Rows that agree in it are held out together."),
    ):
        add = click.option(name, metavar="COL", expose_value=False, callback=_keep, help=what)
        command = add(command)
    return command


def parted() -> Parting:
    """What the options of this command have said."""
    context = click.get_current_context()
    found = Parting(context.meta.get("likely.group"), context.meta.get("likely.by_time"))
    if found.group is not None and found.by_time is not None:
        raise click.UsageError(
            f"--group {found.group} and --by-time {found.by_time} were given; rows are held out by "
            "one of them. Leave one out.",
            context,
        )
    return found


def parted_or_sealed(given: Parting, data: "Data") -> Parting:
    """As given; else as the seal of the data was made, where there is one."""
    if data.seal is None or given.anything:
        return given
    return Parting(data.seal.manifest.group, data.seal.manifest.by_time)


def parting_in_run(facts: Mapping[str, Any]) -> Parting:
    """How the rows of a run were held out, by what ``run.json`` says."""
    return Parting(facts.get("group"), facts.get("by_time"))


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[f"likely.{option.name}"] = value
