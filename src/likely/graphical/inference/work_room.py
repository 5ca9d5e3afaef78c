"""Memory for the tables of one propagation, kept for the next: new memory must be cleared first."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import numpy as np

from likely._typing import Array

MOST_KEPT = 128 * 2**20  # bytes


@final
class WorkRoom:
    """One array; a second thread that needs it at the same time gets another."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    @contextmanager
    def numbers(self, n: int) -> Iterator[Array]:
        """Room for n numbers, whose values are left over from other work."""
        try:
            array = self._kept.pop()
        except IndexError:
            array = np.empty(n)
        if array.size < n:
            array = np.empty(n)
        try:
            yield array[:n]
        finally:
            if array.nbytes <= MOST_KEPT:
                self._kept[:] = [array]
