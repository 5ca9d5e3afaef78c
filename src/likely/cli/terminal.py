"""The terminal: the options that every verb has, text that fits the screen, and progress.

``--seed --jobs --quiet --no-color --json`` may be given before the command or after it.  Progress
is a bar on a terminal and an occasional plain line elsewhere; both are on standard error, and only
for work that takes longer than a moment.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, final

import click

from likely.output.control_characters import printable
from likely.output.formatting import DASH, WIDEST, estimate_cells, paragraph, text_table
from likely.output.progress import (
    Event,
    ModelScored,
    ProgressStep,
    StageEnded,
    StageStarted,
    listening,
    stage,
)
from likely.tasks.request import Caller
from likely.tasks.train_text import Part

Command = Callable[..., Any]
JOBS = "LIKELY_JOBS"  # read by likely.compute.executor
PATIENCE_S = 0.7  # shorter work says nothing
LINE_EVERY_S = 5.0
COMPILING = "compiling"  # what loops report that are not on disk yet


@dataclass
class GlobalOptions:
    """The global options; each is written here as it is parsed."""

    command: str = "likely"
    seed: int = 0
    jobs: int | None = None
    quiet: bool = False
    no_color: bool = False
    json: bool = False

    @property
    def color(self) -> bool | None:
        """False where colour is not wanted; None uses colour on a terminal only."""
        return False if self.no_color or os.environ.get("NO_COLOR") else None

    @property
    def caller(self) -> Caller:
        """Who asks, for a task."""
        return Caller(self.command, self.seed)

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
        setattr(context.find_object(GlobalOptions) or GlobalOptions(), option.name, value)


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


def echo(text: str, settings: GlobalOptions, *, err: bool = False) -> None:
    """Print text, with its control characters escaped: everything that is printed passes here.

    Names and values in the data must not control the terminal, nor who reads a log of it.
    """
    click.echo(printable(text), err=err, color=settings.color)


def width() -> int:
    """The number of columns of the screen, at most as many as are easy to read."""
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def wrapped(text: str, indent: int = 0) -> str:
    """The paragraph within the screen; ``indent`` columns of its first line are taken."""
    return ("\n" + " " * indent).join(paragraph(text, max(width() - indent, 20)))


def heading(text: str) -> str:
    return click.style(text, bold=True)


def headed(title: str, text: str) -> str:
    """The paragraph within the screen, with its first words, the title, in bold."""
    whole = wrapped(f"{title}{text}")
    return heading(whole[: len(title)]) + whole[len(title) :] if whole.startswith(title) else whole


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Collection[int] = (0,),
    indent: int = 2,
) -> str:
    """A table with a dim head; columns in ``words`` are flush left, the others flush right."""
    head, *lines = text_table(header, rows, words=words, indent=indent)
    return "\n".join([click.style(head, dim=True), *lines])


def shown(parts: Sequence[Part], title: str = "") -> str:
    """Paragraphs and tables, the title at the beginning of the first in bold."""
    first, *rest = (wrapped(each) if isinstance(each, str) else table(*each) for each in parts)
    if first.startswith(title):
        first = heading(title) + first[len(title) :] if title else first
    return "\n\n".join([first, *rest])


@contextmanager
def showing_progress(
    settings: GlobalOptions, what: str, total: int | None = None, *, unit: str = "rows"
) -> Iterator[None]:
    """Show the progress of one stage, which is reported inside the block."""
    with on_terminal(settings), stage(what, total, unit=unit):
        yield


@contextmanager
def on_terminal(settings: GlobalOptions) -> Iterator[None]:
    """Show the stages of a task, and the progress of each, inside the block."""
    if settings.quiet or settings.json:
        yield
        return
    with ExitStack() as stack, listening(_Screen(settings, stack)):
        yield


@final
class _Screen:
    """A bar or lines for each stage."""

    def __init__(self, settings: GlobalOptions, stack: ExitStack) -> None:
        self._settings, self._stack = settings, stack
        self._stage: _Bar | _Lines | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, StageStarted):
            bar = sys.stderr.isatty()
            self._stage = (
                _Bar(event, self._settings, self._stack) if bar else _Lines(event, self._settings)
            )
        elif isinstance(event, StageEnded):
            self._stack.close()
            self._stage = None
        elif self._stage is None:
            return
        elif isinstance(event, ModelScored):
            self._stage.add_scored(event)
        else:
            self._stage(event)


@final
class _Bar:
    """A bar over the rows of a pass, or over trials; passes and EM steps are named next to it.

    Above it are the models that have their scores.
    """

    def __init__(self, stage: StageStarted, settings: GlobalOptions, stack: ExitStack) -> None:
        self._what, self._total, self._unit = stage
        self._settings, self._stack = settings, stack
        self._began, self._done = time.monotonic(), 0
        self._bar: Any = None
        self._task: Any = None
        self._scored: list[ModelScored] = []

    def add_scored(self, found: ModelScored) -> None:
        self._scored.append(found)

    def __call__(self, progress: ProgressStep) -> None:
        if progress.what == self._unit:
            self._done += progress.amount
            self._total = progress.total or self._total
        elif self._unit != "rows" and progress.what != COMPILING:
            return  # of a fit inside a trial
        if self._bar is None:
            if time.monotonic() - self._began < PATIENCE_S and progress.what != COMPILING:
                return
            self._start()
        passes = self._unit == "rows" and self._total
        done = self._done % self._total if passes and self._total else self._done
        detail = printable(self._detail(progress))
        self._bar.update(self._task, completed=done, total=self._total, detail=detail)

    def _detail(self, progress: ProgressStep) -> str:
        if progress.what == self._unit:
            detail = f", {progress.detail}" if progress.detail else ""
            of = f" of {self._total:,}" if progress.total else ""
            return f"{self._done:,}{of} {self._unit}{detail}"
        if progress.what == COMPILING:
            return f"{COMPILING}, {progress.detail}"
        return f"{progress.what} {progress.detail}"

    def _start(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, no_color=self._settings.color is False)
        columns = (  # names are no markup
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[detail]}", markup=False),
        )
        self._bar = Progress(*columns, TimeElapsedColumn(), console=console)
        self._task = self._bar.add_task(printable(self._what), total=self._total, detail="")
        live = Live(get_renderable=self._drawn, console=console, transient=True)
        self._stack.enter_context(live)

    def _drawn(self) -> Any:
        """The scores so far, and the bar."""
        from rich.console import Group
        from rich.text import Text

        if not self._scored:
            return self._bar
        head = ["model", self._scored[0].metric, "95 % interval", "seconds per fit"]
        lines = text_table(head, [_score_cells(each) for each in self._scored])
        return Group(Text(printable("\n".join([*lines, ""]))), self._bar)


@final
class _Lines:
    """A line every few seconds."""

    def __init__(self, stage: StageStarted, settings: GlobalOptions) -> None:
        self._what, self._total, self._unit = stage
        self._settings, self._done = settings, 0
        self._began = self._spoke = time.monotonic()
        self._has_compiled = False
        self._scored: list[ModelScored] = []

    def add_scored(self, found: ModelScored) -> None:
        self._scored.append(found)
        self._say_scores()

    def _say_scores(self) -> None:
        """Say the scores so far, once the work has taken as long as a line waits."""
        if time.monotonic() - self._began < LINE_EVERY_S:
            return
        for each in self._scored:
            score, ends, seconds = _score_cells(each)[1:]
            known = f"{each.metric} {score} ({ends}), {seconds} s per fit"
            self._say(f"{each.what}: {each.problem or known}")
        self._scored.clear()

    def __call__(self, progress: ProgressStep) -> None:
        if progress.what == COMPILING:
            self._say_compiling(progress.detail)
            return
        self._say_scores()
        if progress.what == self._unit:
            self._done += progress.amount
            self._total = progress.total or self._total
        elif self._unit != "rows":
            return  # of a fit inside a trial
        if time.monotonic() - self._spoke < LINE_EVERY_S:
            return
        self._spoke = time.monotonic()
        of = f" of {self._total:,}" if self._total and self._done <= self._total else ""
        step = "" if progress.what == self._unit else f"{progress.what} "
        counted = [f"{self._done:,}{of} {self._unit}"] if self._done or not step else []
        parts = [*counted, *([f"{step}{progress.detail}"] if progress.detail else [])]
        parts += [f"{self._spoke - self._began:,.0f} s"] if progress.total else []
        self._say(", ".join(parts or [progress.what]))

    def _say_compiling(self, detail: str) -> None:
        """At once and one time: the first loop takes seconds, in which nothing else is reported."""
        if not self._has_compiled:
            self._say(f"{COMPILING}, {detail}")
        self._has_compiled = True

    def _say(self, text: str) -> None:
        echo(f"{self._what}: {text}", self._settings, err=True)


def _score_cells(found: ModelScored) -> list[str]:
    """The model, its score with the interval, and the seconds of a fit; dashes without a score."""
    if found.problem:
        return [found.what, DASH, DASH, DASH]
    cells = estimate_cells(found.value, found.low, found.high)
    return [found.what, *cells, f"{found.seconds:.3f}"]
