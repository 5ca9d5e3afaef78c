"""One block after the other, in the calling thread."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import final

from likely.compute.executor import Executor, R, T


@final
@dataclass(frozen=True)
class Serial(Executor):
    """One thread, for small data and for debugging."""

    def map(self, term: Callable[[T], R], blocks: Iterable[T]) -> Iterator[R]:
        return map(term, blocks)
