"""Progress of a long computation: a stream of events, for listeners, and a way to stop it.

    StageStarted, Progress, Progress, …, StageEnded        stages may follow one another

The library never prints.  A terminal, a notebook or a page listens for the duration of a call;
without a listener a report costs one access to a context variable.

A thread whose result is not wanted any more, because of Ctrl-C, of a cancelled task or of a limit
of time, is stopped at its next report.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event as Flag
from time import perf_counter
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


class ModelScored(NamedTuple):
    """A model of a comparison is ready, while others are still at work."""

    what: str  # the name of the model
    metric: str  # in words
    value: float  # NaN where it has no score
    low: float  # of its 95 % interval
    high: float
    seconds: float  # of one fit
    problem: str = ""  # why it has no score


Event = ProgressStep | StageStarted | StageEnded | ModelScored
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
    tell(StageStarted(what, total, unit))
    try:
        yield
    finally:
        tell(StageEnded(what))


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


class OutOfTime(BaseException):
    """Raised by a report after the time of its work; no error, so that no estimator catches it."""


_end: ContextVar[float | None] = ContextVar("end", default=None)


@contextmanager
def out_of_time_after(seconds: float) -> Iterator[None]:
    """Inside, in this thread, a report raises OutOfTime once so many seconds have passed."""
    if seconds <= 0:
        raise OutOfTime
    token = _end.set(perf_counter() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


def report(what: str, amount: int, detail: str = "", *, total: int | None = None) -> None:
    """Tell the listener of one more step; raises KeyboardInterrupt in a thread that must stop.

    OutOfTime is raised where the time for the work is over.
    """
    for flag in _stops.get():
        if flag.is_set():
            raise KeyboardInterrupt
    end = _end.get()
    if end is not None and perf_counter() > end:
        raise OutOfTime
    tell(ProgressStep(what, amount, detail, total))


def tell(event: Event) -> None:
    """Give an event to the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(event)
