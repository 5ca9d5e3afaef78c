"""The contract of an executor: a sum of one term over many blocks.

    sum(term, blocks) = Σ_b term(b)        map(term, blocks) = term(b₀), term(b₁), …

An executor is generic over what it sums: it knows neither blocks nor models.
Totals merge pairwise in the order of the blocks, so every executor gives the same
bits.  Terms are ``functools.partial`` of module-level functions, so they travel.

To add an executor (processes, a cluster), write one file with one class and list
it in ``EXECUTORS``: ``map`` must keep the order and hold only a window of blocks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any, TypeVar

from likely.additive import Additive, pairwise_total
from likely.compute.blas import one_blas_thread
from likely.errors import UnknownName

T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A", bound=Additive)

EXECUTORS = {  # imported when asked for: a cluster's client need not be installed
    "serial": "likely.compute.serial:Serial",
    "threads": "likely.compute.threads:Threads",
}

SERIAL_BYTES = 16 * 2**20  # below this, handing blocks to threads costs more than it saves


class Executor(ABC):
    """Where sums over blocks are computed."""

    @abstractmethod
    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        """``term`` of each block, in order, with a bounded number of blocks in flight."""

    @contextmanager
    def mapping(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[Iterator[R]]:
        """``map`` for as long as the block lasts: an error in it leaves no worker behind."""
        results = self.map(term, blocks)
        try:
            yield results
        finally:
            if isinstance(results, Generator):
                results.close()

    def session(self) -> AbstractContextManager[Any]:
        """To be held during a whole fit, by fits that compute between their sums.

        One BLAS thread: a second gains nothing on a block, spins on between two calls, and where
        other work shares the cores makes a small factorisation twenty times slower.
        """
        return one_blas_thread()

    def sum(self, term: Callable[[T], A], blocks: Iterable[T]) -> A:
        """Σ term(block), merged pairwise in the order of the blocks."""
        return pairwise_total(self.map(term, blocks))


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
    module, _, name = EXECUTORS[executor].partition(":")
    made: Executor = getattr(import_module(module), name)()
    return made
