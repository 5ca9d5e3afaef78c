"""Progress for a person: a bar on a terminal, a plain line now and then elsewhere.

Both speak on the standard error, and only of work that takes longer than a moment.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, final

import click

from likely.cli.settings import Settings
from likely.progress import ProgressStep, listening

PATIENCE_S = 0.7  # shorter work says nothing
LINE_EVERY_S = 5.0


@contextmanager
def showing_progress(
    settings: Settings, what: str, total: int | None = None, *, unit: str = "rows"
) -> Iterator[None]:
    """Show the progress that is reported inside the block; ``total`` is of the unit."""
    if settings.quiet or settings.json:
        yield
        return
    with ExitStack() as stack:
        if sys.stderr.isatty():
            listener: _Bar | _Lines = _Bar(what, total, settings, stack, unit=unit)
        else:
            listener = _Lines(what, total, unit=unit)
        with listening(listener):
            yield


@final
class _Bar:
    """A bar over the rows of a pass, or over trials; passes and EM steps are named beside it."""

    def __init__(
        self, what: str, total: int | None, settings: Settings, stack: ExitStack, *, unit: str
    ) -> None:
        self._what, self._total, self._settings, self._stack = what, total, settings, stack
        self._unit = unit
        self._began, self._done = time.monotonic(), 0
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, progress: ProgressStep) -> None:
        if progress.what == self._unit:
            self._done += progress.amount
        elif self._unit != "rows":
            return  # of a fit inside a trial
        if self._bar is None:
            if time.monotonic() - self._began < PATIENCE_S:
                return
            self._start()
        passes = self._unit == "rows" and self._total
        done = self._done % self._total if passes and self._total else self._done
        self._bar.update(self._task, completed=done, detail=self._detail(progress))

    def _detail(self, progress: ProgressStep) -> str:
        if progress.what == self._unit:
            detail = f", {progress.detail}" if progress.detail else ""
            return f"{self._done:,} {self._unit}{detail}"
        return f"{progress.what} {progress.detail}"

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, no_color=self._settings.color is False)
        columns = ("{task.description}", BarColumn(), TextColumn("{task.fields[detail]}"))
        bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self._bar = self._stack.enter_context(bar)
        self._task = self._bar.add_task(self._what, total=self._total, detail="")


@final
class _Lines:
    """A line every few seconds."""

    def __init__(self, what: str, total: int | None, *, unit: str) -> None:
        self._what, self._total, self._unit, self._done = what, total, unit, 0
        self._spoke = time.monotonic()

    def __call__(self, progress: ProgressStep) -> None:
        if progress.what == self._unit:
            self._done += progress.amount
        elif self._unit != "rows":
            return  # of a fit inside a trial
        if time.monotonic() - self._spoke < LINE_EVERY_S:
            return
        self._spoke = time.monotonic()
        of = f" of {self._total:,}" if self._total and self._done <= self._total else ""
        step = "" if progress.what == self._unit else f"{progress.what} "
        detail = f", {step}{progress.detail}" if progress.detail else ""
        click.echo(f"{self._what}: {self._done:,}{of} {self._unit}{detail}", err=True)
