"""The options that every verb has: ``--seed --jobs --quiet --no-color --json``.

They may stand before the verb or after it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

Command = Callable[..., Any]


@dataclass
class Settings:
    """What the command line has said so far; the options write to it as they are parsed."""

    command: str = "likely"
    seed: int = 0
    jobs: int | None = None
    quiet: bool = False
    no_color: bool = False
    json: bool = False

    @property
    def color(self) -> bool | None:
        """False where colour is not wanted; None leaves it to whether this is a terminal."""
        return False if self.no_color or os.environ.get("NO_COLOR") else None


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None and option.name is not None:
        setattr(context.find_object(Settings) or Settings(), option.name, value)


def _flag(names: tuple[str, ...], text: str) -> Callable[[Command], Command]:
    return click.option(
        *names, is_flag=True, default=None, expose_value=False, callback=_keep, help=text
    )


def global_options(command: Command) -> Command:
    """Add the options that every verb has."""
    for add in (
        _flag(("--json",), "One JSON object on the standard output, errors included."),
        _flag(("--no-color",), "No colours (NO_COLOR does the same)."),
        _flag(
            ("--quiet", "-q"), "Only the answer and the seed: no progress, notes or next command."
        ),
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            expose_value=False,
            callback=_keep,
            help="Threads to use; all cores if not given.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            metavar="N",
            expose_value=False,
            callback=_keep,
            help="Of every random choice; 0 if not given.",
        ),
    ):
        command = add(command)
    return command
