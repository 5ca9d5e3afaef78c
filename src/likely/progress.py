"""Progress of a long computation, for listeners.

The library never prints.  A user interface with a progress bar listens for the duration of
a call; without a listener a report costs one access to a context variable.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class ProgressStep(NamedTuple):
    """One step of ``what`` is done; ``detail`` is the state it reached, in words."""

    what: str  # "rows read", "EM step"
    amount: int
    detail: str = ""


_listener: ContextVar[Callable[[ProgressStep], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[ProgressStep], None]) -> Iterator[None]:
    """Call ``listener`` with every step reported inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(what: str, amount: int, detail: str = "") -> None:
    listener = _listener.get()
    if listener is not None:
        listener(ProgressStep(what, amount, detail))
