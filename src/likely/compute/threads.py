"""Blocks on threads: the compiled loops and ``np.dot`` let go of the GIL.

BLAS is held to one thread while blocks run (``blas.py``).
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

from likely.compute.blas import one_blas_thread
from likely.compute.executor import Executor, R, T
from likely.errors import InvalidInput

WINDOW = 2  # blocks in flight per worker: one at work, one waiting


@final
@dataclass(frozen=True)
class Threads(Executor):
    """All cores of this machine, or ``workers`` of them."""

    workers: int | None = None

    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        workers = self.workers or usable_cores()
        with (
            one_blas_thread(),
            ThreadPoolExecutor(workers, thread_name_prefix="likely") as pool,
        ):
            yield from in_order(pool, term, blocks, window=WINDOW * workers)


def in_order(
    pool: ThreadPoolExecutor, term: Callable[[T], R], blocks: Iterable[T], *, window: int
) -> Iterator[R]:
    """The results in the order of the blocks, with at most ``window`` of them in flight."""
    waiting: deque[Future[R]] = deque()
    try:
        for block in blocks:
            waiting.append(pool.submit(term, block))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:  # an error or an early stop: what has not begun never will
            future.cancel()


def usable_cores() -> int:
    """The cores this process may run on, which a container may limit."""
    asked = os.environ.get("LIKELY_JOBS", "")
    if asked:
        return _positive(asked)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def _positive(jobs: str) -> int:
    if not jobs.isdecimal() or int(jobs) < 1:
        raise InvalidInput(
            f"LIKELY_JOBS is {jobs!r}; expected a whole number from 1 up. "
            "Set it to the cores to use, or unset it for all of them."
        )
    return int(jobs)
