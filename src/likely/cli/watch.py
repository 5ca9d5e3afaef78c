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
from likely.progress import Progress, listening

PATIENCE_S = 0.7  # shorter work says nothing
LINE_EVERY_S = 5.0


@contextmanager
def watched(settings: Settings, what: str, n_rows: int | None = None) -> Iterator[None]:
    """Show the progress that is reported inside the block."""
    if settings.quiet or settings.json:
        yield
        return
    with ExitStack() as stack:
        if sys.stderr.isatty():
            listener: _Bar | _Lines = _Bar(what, n_rows, settings, stack)
        else:
            listener = _Lines(what, n_rows)
        with listening(listener):
            yield


@final
class _Bar:
    """A bar over the rows of a pass; further passes and EM steps are named beside it."""

    def __init__(self, what: str, n_rows: int | None, settings: Settings, stack: ExitStack) -> None:
        self._what, self._n_rows, self._settings, self._stack = what, n_rows, settings, stack
        self._began, self._rows = time.monotonic(), 0
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, progress: Progress) -> None:
        if progress.what == "rows":
            self._rows += progress.amount
        if self._bar is None:
            if time.monotonic() - self._began < PATIENCE_S:
                return
            self._start()
        done = self._rows % self._n_rows if self._n_rows else self._rows
        detail = f"{progress.what} {progress.detail}" if progress.detail else f"{self._rows:,} rows"
        self._bar.update(self._task, completed=done, detail=detail)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True, no_color=self._settings.color is False)
        columns = ("{task.description}", BarColumn(), TextColumn("{task.fields[detail]}"))
        bar = Bar(*columns, TimeElapsedColumn(), console=console, transient=True)
        self._bar = self._stack.enter_context(bar)
        self._task = self._bar.add_task(self._what, total=self._n_rows, detail="")


@final
class _Lines:
    """A line every few seconds."""

    def __init__(self, what: str, n_rows: int | None) -> None:
        self._what, self._n_rows, self._rows = what, n_rows, 0
        self._spoke = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if progress.what == "rows":
            self._rows += progress.amount
        if time.monotonic() - self._spoke < LINE_EVERY_S:
            return
        self._spoke = time.monotonic()
        of = f" of {self._n_rows:,}" if self._n_rows and self._rows <= self._n_rows else ""
        detail = f", {progress.what} {progress.detail}" if progress.detail else ""
        click.echo(f"{self._what}: {self._rows:,}{of} rows{detail}", err=True)
