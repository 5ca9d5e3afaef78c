"""Mini-batches: which examples each step of stochastic training reads.

    order of an epoch    i_1, i_2, …        batch k: the k-th slice of B, the last one smaller

``ShuffledBatches`` reads every example once in an epoch.  Examples are shuffled inside windows of
fixed size of their global index, by random numbers keyed by (seed, epoch, index), and window
follows window: a file that is read from start to end, one window at a time, gives the same batches
as an array.  ``SampledBatches`` draws the examples of each step, with or without replacement.
``BalancedBatches`` takes the classes in turn, so that their numbers in a batch differ by at most
one; a rare class is repeated.

An order depends on (seed, epoch) alone, so that training resumes at any epoch without a state.

References
----------
Goodfellow, Bengio & Courville, Deep Learning, §8.1.3.
Bottou, Curtis & Nocedal, Optimization methods for large-scale machine learning, 2018, §3.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.numerics.keyed_random import keyed, keyed_uniform
from likely.solvers.settings import refuse_unless_whole

WINDOW = 65_536  # examples that are shuffled together
DENSE = 16  # n / B below it: a draw without replacement sorts all examples


def epoch_order(
    n_rows: int, seed: int, epoch: int, *, window: int = WINDOW, first: int = 0
) -> Array:
    """The order of an epoch: positions 0 to n_rows − 1, shuffled inside windows.

    ``first`` is the global index of position 0, where the rows are a later part of a file; it
    begins a window.

    >>> epoch_order(6, seed=4, epoch=0, window=3)
    array([2, 0, 1, 3, 5, 4])
    >>> epoch_order(3, seed=4, epoch=0, window=3, first=3)
    array([0, 2, 1])
    """
    refuse_unless_whole("epoch_order", "window", window, "Use 65536.")
    if first % window:
        raise InvalidInput(
            f"first={first} was given with windows of {window} rows; a multiple of {window} was "
            "expected, because rows are shuffled inside whole windows. Read whole windows."
        )
    key = keyed(seed, epoch, np.arange(first, first + n_rows, dtype=np.uint64))
    order = np.empty(n_rows, dtype=np.intp)
    for low in range(0, n_rows, window):
        order[low : low + window] = low + np.argsort(key[low : low + window], kind="stable")
    return order


def batches(order: Array, size: int) -> Iterator[Array]:
    """Consecutive slices of an order; the last may be smaller.

    >>> [len(batch) for batch in batches(np.arange(10), 4)]
    [4, 4, 2]
    """
    refuse_unless_whole("batches", "size", size, "Use 32.")
    return (order[low : low + size] for low in range(0, len(order), size))


def share_between_windows(y: Array, window: int) -> float:
    """The share of the variance of y that lies between windows; of classes, the largest share.

    It is near 0 for rows in random order, and 1 where every window has one class.  y holds class
    numbers, or numbers with a fraction, (n,) or (n, n_columns).

    >>> y = np.repeat([0, 1], 6)
    >>> share_between_windows(y, 6), share_between_windows(y[::-1].reshape(2, 6).T.ravel(), 6)
    (1.0, 0.0)
    """
    n, starts = len(y), np.arange(0, len(y), window)
    sizes = np.diff(np.append(starts, n))
    if y.dtype.kind in "iu":
        k = int(y.max(initial=0)) + 1
        totals = np.stack([np.bincount(y[low : low + window], minlength=k) for low in starts])
        variance = totals.sum(axis=0) / n * (1 - totals.sum(axis=0) / n)
    else:
        totals, variance = np.add.reduceat(y.reshape(n, -1), starts), y.reshape(n, -1).var(axis=0)
    means = totals / sizes[:, None]
    between = np.dot(sizes, np.square(means - totals.sum(axis=0) / n)) / n
    return float(np.max(between[variance > 0] / variance[variance > 0], initial=0.0))


class BatchPlan(ABC):
    """The contract: an order for every epoch, whose slices of ``size`` are the batches."""

    size: int

    @abstractmethod
    def order(self, n_rows: int, seed: int, epoch: int, labels: Codes | None = None) -> Array:
        """The examples of an epoch, as positions, in the order in which they are read."""

    def of_epoch(
        self, n_rows: int, seed: int, epoch: int, labels: Codes | None = None
    ) -> Iterator[Array]:
        """The batches of an epoch."""
        return batches(self.order(n_rows, seed, epoch, labels), self.size)


@final
@dataclass(frozen=True)
class ShuffledBatches(BatchPlan):
    """Every example once in an epoch, in a new order each time or as the rows came.

    >>> [batch.tolist() for batch in ShuffledBatches(2).of_epoch(5, seed=1, epoch=0)]
    [[3, 2], [4, 0], [1]]
    """

    size: int = 32
    shuffle: bool = True
    window: int = WINDOW

    def __post_init__(self) -> None:
        refuse_unless_whole(type(self).__name__, "size", self.size, "Use 32.")
        refuse_unless_whole("ShuffledBatches", "window", self.window, "Use 65536.")

    def order(self, n_rows: int, seed: int, epoch: int, labels: Codes | None = None) -> Array:
        if not self.shuffle:
            return np.arange(n_rows, dtype=np.intp)
        return epoch_order(n_rows, seed, epoch, window=self.window)


@final
@dataclass(frozen=True)
class SampledBatches(BatchPlan):
    """At each step ``size`` examples at random; an epoch is a number of steps.

    Without replacement no example is twice in a batch, but it may be in several of an epoch.

    Attributes
    ----------
    size : int
    replace : bool
        Whether an example may be drawn twice for a batch.
    steps : int
        Of an epoch; by default as many as read n examples.
    """

    size: int = 32
    replace: bool = False
    steps: int | None = None

    def __post_init__(self) -> None:
        refuse_unless_whole(type(self).__name__, "size", self.size, "Use 32.")
        if self.steps is not None:
            refuse_unless_whole("SampledBatches", "steps", self.steps, "Use 100.")

    def order(self, n_rows: int, seed: int, epoch: int, labels: Codes | None = None) -> Array:
        if self.size > n_rows and not self.replace:
            raise InvalidInput(
                f"Batches of {self.size} were asked for, drawn without replacement from {n_rows} "
                f"rows; at most {n_rows} were expected. Use a smaller batch, or replace=True."
            )
        steps = ceil(n_rows / self.size) if self.steps is None else self.steps
        draw = _with_replacement if self.replace else _without_replacement
        drawn = [draw(n_rows, self.size, seed, epoch, step) for step in range(steps)]
        return np.concatenate(drawn)


@final
@dataclass(frozen=True)
class BalancedBatches(BatchPlan):
    """Equal numbers of every class in a batch, to within one; rare classes are repeated.

    The examples of a class are read in rounds, each in a new order, which continue from epoch to
    epoch: none is repeated before all were read.  An epoch has as many examples as there are rows.

    >>> labels = np.array([0, 0, 0, 0, 1, 0, 0, 1])
    >>> order = BalancedBatches(4).order(8, seed=0, epoch=0, labels=labels)
    >>> labels[order].tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    size: int = 32

    def __post_init__(self) -> None:
        refuse_unless_whole(type(self).__name__, "size", self.size, "Use 32.")

    def order(self, n_rows: int, seed: int, epoch: int, labels: Codes | None = None) -> Array:
        if labels is None or len(labels) != n_rows:
            given = "no labels" if labels is None else f"{len(labels)} labels"
            raise InvalidInput(
                f"BalancedBatches was given {given} for {n_rows} rows; the class of each row was "
                "expected. Use it for a classifier, or ShuffledBatches for numbers."
            )
        present = np.unique(labels)
        order = np.empty(n_rows, dtype=np.intp)
        for turn, label in enumerate(present):  # any slice then has all classes, to within one
            places = order[turn :: len(present)]
            members = np.flatnonzero(labels == label)
            places[:] = _in_rounds(members, epoch * len(places), len(places), seed)
        return order


def batches_of(batch: int | BatchPlan, *, shuffle: bool = True) -> BatchPlan:
    """Batches of a size, shuffled or in the order of the rows; others as they are given."""
    return batch if isinstance(batch, BatchPlan) else ShuffledBatches(batch, shuffle)


def _in_rounds(members: Array, first: int, n: int, seed: int) -> Array:
    """Places ``first`` to ``first + n`` of the members in an endless series of shuffled rounds."""
    if not n:
        return np.empty(0, dtype=np.intp)
    rounds = range(first // len(members), (first + n - 1) // len(members) + 1)
    series = [members[np.argsort(keyed(seed, turn, members), kind="stable")] for turn in rounds]
    skipped = first - rounds[0] * len(members)
    return np.concatenate(series)[skipped : skipped + n]


def _with_replacement(n: int, size: int, seed: int, epoch: int, step: int) -> Array:
    """``size`` of the numbers 0 to n − 1, each drawn from all."""
    return _below(n, keyed_uniform(seed, epoch, step, np.arange(size)))


def _without_replacement(n: int, size: int, seed: int, epoch: int, step: int) -> Array:
    """``size`` different numbers of 0 to n − 1; the first that occur in a series of draws."""
    if n < DENSE * size:
        return np.argsort(keyed(seed, epoch, step, np.arange(n)), kind="stable")[:size]
    drawn, length = np.empty(0, dtype=np.intp), 2 * size
    while drawn.size < size:
        series = _with_replacement(n, length, seed, epoch, step)
        drawn = series[np.sort(np.unique(series, return_index=True)[1])]
        length *= 2
    return drawn[:size]


def _below(n: int, uniform: Array) -> Array:
    return np.minimum((uniform * n).astype(np.intp), n - 1)  # the product may round up to n
