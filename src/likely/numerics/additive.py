"""Summaries that add: the summary of two blocks is the sum of their summaries.

The central rule of the library.  For every summary S and disjoint blocks A, B:

    S(A ∪ B) = S(A) + S(B)        (commutative, associative, up to rounding)

Most summaries add field by field.  Those that cannot (a centred scatter matrix,
a QR factor, a set of classes) write their own ``__add__`` and obey the rule.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self, TypeVar

FAST_CELLS = 100_000  # in a block: below, the readable version is quicker than loading Numba


class Additive(ABC):
    """The contract of a summary."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    def add_into(self, total: Self) -> Self:
        """``total + self``, where ``total`` may be overwritten: for large arrays."""
        return total + self


@dataclass(frozen=True, eq=False)
class FieldwiseAdditive(Additive):
    """A dataclass of numbers and arrays that add field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )


A = TypeVar("A", bound=Additive)


class PairwiseTotal:
    """A running total that merges summaries of equal size pairwise, in order of arrival.

    The order of merging does not depend on the executor, so a layout gives the
    same bits for any number of workers, and rounding grows with log n only.
    """

    def __init__(self) -> None:
        self._stack: list[tuple[int, Additive]] = []  # (how many blocks, their total)

    def add(self, summary: Additive) -> None:
        size = 1
        while self._stack and self._stack[-1][0] == size:
            _, earlier = self._stack.pop()
            summary = summary.add_into(earlier)
            size *= 2
        self._stack.append((size, summary))

    def total(self) -> Additive | None:
        """The sum of everything added; None when nothing was."""
        total: Additive | None = None
        for _, summary in reversed(self._stack):
            total = summary if total is None else total.add_into(summary)
        return total


def pairwise_total(summaries: Iterable[A]) -> A:
    """Σ summaries, merged pairwise.  At least one is needed."""
    running = PairwiseTotal()
    for summary in summaries:
        running.add(summary)
    total = running.total()
    if total is None:
        raise ValueError("an empty sum has no summary to return")
    return total  # type: ignore[return-value]  # the stack holds what was added
