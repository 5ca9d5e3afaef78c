"""Which warnings a fit raised, kept with its trial and not printed fifty times.

``warnings.catch_warnings`` belongs to the whole process, so it is entered once, outside, and each
thread listens to its own warnings.
"""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_listening = threading.local()


@contextmanager
def routing() -> Iterator[None]:
    """Inside, a warning goes to the ``heard`` of its thread; outside of any, it is shown."""
    with warnings.catch_warnings():
        shown = warnings.showwarning
        warnings.simplefilter("always")

        def route(message: Any, category: type[Warning], *rest: Any) -> None:
            messages: list[str] | None = getattr(_listening, "messages", None)
            if messages is None:
                shown(message, category, *rest)
            elif (text := f"{category.__name__}: {message}") not in messages:
                messages.append(text)

        warnings.showwarning = route  # type: ignore[assignment]  # the rest is file and line
        yield


@contextmanager
def heard() -> Iterator[list[str]]:
    """The warnings of this thread from here to the end of the block, without repeats."""
    messages: list[str] = []
    _listening.messages = messages
    try:
        yield messages
    finally:
        _listening.messages = None
