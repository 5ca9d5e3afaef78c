"""One BLAS thread while blocks run, however many fits run at once.

BLAS has one number of threads for the whole process.  The first fit that asks lowers it, the last
one that ends restores it: were each to restore what it met, two fits in two threads would leave
the process at one thread for good, or at many while the other still runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; entering costs microseconds."""
    holder = _holder()
    holder.enter()
    try:
        yield
    finally:
        holder.leave()


class _Holder:
    """The process's one count of who holds BLAS: a state that the process has, not this module."""

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401  # it brings a BLAS of its own, which must be there
        from threadpoolctl import ThreadpoolController

        self._controller = ThreadpoolController()  # costs milliseconds to make
        self._lock, self._depth = Lock(), 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limit.__exit__(None, None, None)


@cache
def _holder() -> _Holder:
    return _Holder()
