"""Progress of a long computation: a stream of events, for listeners, and a way to stop it.

    StageStarted, Progress, Progress, …, StageEnded        stages may follow one another

The library never prints.  A terminal, a notebook or a page listens for the duration of a call;
without a listener a report costs one access to a context variable.

A thread whose result is not wanted any more, because of Ctrl-C or of a cancelled task, is stopped
at its next report.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event as Flag
from typing import NamedTuple


class ProgressStep(NamedTuple):
    """One step of ``what`` is done; ``detail`` is the state it reached, in words."""

    what: str  # "rows read", "EM step"
    amount: int
    detail: str = ""
    total: int | None = None  # of ``what``, where it is known


class StageStarted(NamedTuple):
    """A part of a task begins: what is done, to how many units."""

    what: str  # "fitting logistic"
    total: int | None = None
    unit: str = "rows"


class StageEnded(NamedTuple):
    """The part of a task ends, also by an error."""

    what: str


Event = ProgressStep | StageStarted | StageEnded
Listener = Callable[[Event], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call ``listener`` with every event inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(what: str, total: int | None = None, *, unit: str = "rows") -> Iterator[None]:
    """A part of a task, whose steps are reported inside the block."""
    _tell(StageStarted(what, total, unit))
    try:
        yield
    finally:
        _tell(StageEnded(what))


_stops: ContextVar[tuple[Flag, ...]] = ContextVar("stops", default=())


def stops() -> tuple[Flag, ...]:
    """What stops this thread, for threads that work for it."""
    return _stops.get()


@contextmanager
def stopped_by(*flags: Flag) -> Iterator[None]:
    """Inside, in this thread, a report raises KeyboardInterrupt once a flag is set."""
    token = _stops.set(flags)
    try:
        yield
    finally:
        _stops.reset(token)


def report(what: str, amount: int, detail: str = "", *, total: int | None = None) -> None:
    """Tell the listener of one more step; raises KeyboardInterrupt in a thread that must stop."""
    for flag in _stops.get():
        if flag.is_set():
            raise KeyboardInterrupt
    _tell(ProgressStep(what, amount, detail, total))


def _tell(event: Event) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(event)
