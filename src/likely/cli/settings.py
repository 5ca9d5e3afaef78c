"""The options that every verb has: ``--seed --jobs --quiet --no-color --json``.

They may stand before the verb or after it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

Command = Callable[..., Any]
JOBS = "LIKELY_JOBS"  # read by likely.compute.threads


@dataclass
class Settings:
    """The global options; each is written here as it is parsed."""

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

    @contextmanager
    def using_jobs(self) -> Iterator[None]:
        """Use ``--jobs`` threads inside the block, if it was given."""
        before = os.environ.get(JOBS)
        if self.jobs is not None:
            os.environ[JOBS] = str(self.jobs)
        try:
            yield
        finally:
            if before is None:
                os.environ.pop(JOBS, None)
            else:
                os.environ[JOBS] = before


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
        _flag(("--json",), "Print one JSON object on standard output, errors included."),
        _flag(("--no-color",), "Print without colours, as with the environment variable NO_COLOR."),
        _flag(
            ("--quiet", "-q"),
            "Print only the answer and the seed: no progress, notes or next command.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            expose_value=False,
            callback=_keep,
            help="Number of threads [default: all cores].",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            metavar="N",
            expose_value=False,
            callback=_keep,
            help="Seed of every random choice [default: 0].",
        ),
    ):
        command = add(command)
    return command
