"""Where sums over blocks are computed: in the calling thread, or on all cores.

    sum(term, blocks) = Σ_b term(b)        map(term, blocks) = term(b₀), term(b₁), …

An executor is generic over what it sums: it depends on neither blocks nor models.
Totals merge pairwise in the order of the blocks, so every executor gives the same
bits.  Terms are ``functools.partial`` of module-level functions, so they can be pickled.

To add an executor (processes, a cluster), write one class and list it in ``EXECUTORS``:
``map`` must keep the order and hold only a window of blocks.

BLAS is limited to one thread while blocks run.  It has one number of threads for the whole process:
the first fit that starts lowers it, and the last one that ends restores it.  If each restored what
it found, two fits in two threads would leave the process at one thread forever, or at many while
the other still runs.
"""

import os
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Event, RLock, get_ident
from threading import enumerate as running_threads
from typing import Any, TypeVar, final

from likely.errors import InvalidInput, UnknownName
from likely.numerics.additive import Additive, pairwise_total
from likely.output.progress import stopped_by, stops

T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A", bound=Additive)

SERIAL_BYTES = 16 * 2**20  # below this, handing blocks to threads costs more than it saves
THREAD_NAME = "likely"
WINDOW = 2  # blocks per worker: one at work, one waiting


class Executor(ABC):
    """Where sums over blocks are computed."""

    @abstractmethod
    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        """``term`` of each block, in order, with a bounded number of blocks being processed."""

    @contextmanager
    def mapping(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[Iterator[R]]:
        """``map`` for as long as the block lasts: an error in it leaves no worker running."""
        results = self.map(term, blocks)
        try:
            yield results
        except KeyboardInterrupt:
            if isinstance(results, Generator):
                with suppress(KeyboardInterrupt):
                    results.throw(KeyboardInterrupt())
            raise
        finally:
            if isinstance(results, Generator):
                results.close()

    def session(self) -> AbstractContextManager[Any]:
        """A context for a whole fit, for fits that compute between their sums.

        One BLAS thread: a second gains nothing on a block, keeps spinning between two calls, and
        where other work shares the cores makes a small factorisation twenty times slower.
        """
        return one_blas_thread()

    def sum(self, term: Callable[[T], A], blocks: Iterable[T]) -> A:
        """Σ term(block), merged pairwise in the order of the blocks."""
        return pairwise_total(self.map(term, blocks))


@final
@dataclass(frozen=True)
class Serial(Executor):
    """One thread, for small data and for debugging."""

    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        return map(term, blocks)


@final
@dataclass(frozen=True)
class Threads(Executor):
    """All cores of this machine, or ``workers`` of them.

    The compiled loops and ``np.dot`` release the GIL.  After Ctrl-C, or where a task is
    cancelled, the blocks that wait are cancelled, and those at work end when they next report
    progress; nothing waits for them.
    """

    workers: int | None = None

    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        workers, stop = self.workers or usable_cores(), Event()
        flags = (stop, *stops())

        def stoppable(block: T) -> R:
            with stopped_by(*flags):
                return term(block)

        with one_blas_thread():
            pool = ThreadPoolExecutor(workers, thread_name_prefix=THREAD_NAME)
            try:
                yield from in_order(pool, stoppable, blocks, window=WINDOW * workers)
            except KeyboardInterrupt:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                pool.shutdown(wait=not stop.is_set())


def in_order(
    pool: ThreadPoolExecutor, term: Callable[[T], R], blocks: Iterable[T], *, window: int
) -> Iterator[R]:
    """The results in the order of the blocks, with at most ``window`` of them being processed."""
    waiting: deque[Future[R]] = deque()
    try:
        for block in blocks:
            waiting.append(pool.submit(term, block))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:  # after an error or an early stop, waiting blocks are cancelled
            future.cancel()


def workers_are_busy() -> bool:
    """Whether threads are still at work, after Ctrl-C, on blocks that nobody waits for."""
    return any(each.name.startswith(f"{THREAD_NAME}_") for each in running_threads())


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


EXECUTORS: dict[str, type[Executor]] = {"serial": Serial, "threads": Threads}


def executor_for(executor: "str | Executor", nbytes: int | None) -> Executor:
    """The executor of that name; ``"auto"`` is serial for small data and threads above 16 MiB.

    ``nbytes`` is None for data that stream from a file.
    """
    if isinstance(executor, Executor):
        return executor
    if executor == "auto":
        executor = "serial" if nbytes is not None and nbytes < SERIAL_BYTES else "threads"
    if executor not in EXECUTORS:
        raise UnknownName("executor", executor, ["auto", *EXECUTORS])
    return EXECUTORS[executor]()


def executor_of_fits(executor: str | Executor, nbytes: int) -> str | Executor:
    """The executor of many fits: side by side on a small table; a large one takes all cores."""
    if executor != "auto":
        return executor
    return "threads" if nbytes < SERIAL_BYTES else "serial"


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; entering costs microseconds."""
    holder = _holder()
    holder.enter()
    try:
        yield
    finally:
        holder.leave()


class _Holder:
    """The count of fits that limit BLAS: state of the process, not of this module."""

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401  # it brings a BLAS of its own, which must be there
        from threadpoolctl import ThreadpoolController

        self._controller = ThreadpoolController()  # costs milliseconds to make
        self._lock = RLock()
        self._limit: Any = None
        self._depths: Counter[int] = Counter()  # by thread
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork,
                after_in_child=self._forked,
            )

    def enter(self) -> None:
        with self._lock:
            if not self._depths:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._depths[get_ident()] += 1

    def leave(self) -> None:
        with self._lock:
            self._depths[get_ident()] -= 1
            self._depths = +self._depths
            if not self._depths:
                self._limit.__exit__(None, None, None)

    def _before_fork(self) -> None:
        """No thread is inside the BLAS's own lock, which a child would find locked for ever."""
        self._lock.acquire()

    def _after_fork(self) -> None:
        self._lock.release()

    def _forked(self) -> None:
        """A child has one thread."""
        self._lock = RLock()
        own = self._depths[get_ident()]
        if self._depths and not own:
            self._limit.__exit__(None, None, None)
        self._depths = +Counter({get_ident(): own})


@cache
def _holder() -> _Holder:
    return _Holder()
