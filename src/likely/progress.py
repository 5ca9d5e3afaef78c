"""Progress of a long computation, for listeners.

The library never prints.  A user interface with a progress bar listens for the duration of
a call; without a listener a report costs one access to a context variable.

A worker thread whose result is not wanted any more, because of Ctrl-C, is stopped at its next
report.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import NamedTuple


class ProgressStep(NamedTuple):
    """One step of ``what`` is done; ``detail`` is the state it reached, in words."""

    what: str  # "rows read", "EM step"
    amount: int
    detail: str = ""
    total: int | None = None  # of ``what``, where it is known


_listener: ContextVar[Callable[[ProgressStep], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[ProgressStep], None]) -> Iterator[None]:
    """Call ``listener`` with every step reported inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_stop: ContextVar[Event | None] = ContextVar("stop", default=None)


@contextmanager
def stopped_by(stop: Event) -> Iterator[None]:
    """Inside, in this thread, a report raises KeyboardInterrupt once ``stop`` is set."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def report(what: str, amount: int, detail: str = "", *, total: int | None = None) -> None:
    """Tell the listener of one more step; raises KeyboardInterrupt in a thread that must stop."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
    listener = _listener.get()
    if listener is not None:
        listener(ProgressStep(what, amount, detail, total))
