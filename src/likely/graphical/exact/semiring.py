"""Semirings: one elimination and one message passing give sums, maxima and their logarithms.

    sum-product    ⊕ = Σ      ⊗ = ×     marginals and Z
    max-product    ⊕ = max    ⊗ = ×     the most probable configuration
    max-sum        ⊕ = max    ⊗ = +     the same in logarithms

⊗ distributes over ⊕: a Σ b = Σ ab, and max(ab, ac) = a max(b, c) for a ≥ 0, so that a sum or a
maximum may be taken as soon as its variable is in no other factor.  Tables are multiplied as
logarithms, where ⊗ is +, Σ is logsumexp, and max stays max.

The numbers that messages are made of: plain, scaled, or logarithms.

    plain     the numbers themselves; a long product underflows, and that is an error
    scaled    μ = table · e^log_scale with a largest entry of 1 in the table
    log       log μ = table + log_scale with a largest entry of 0 in the table

Scaled numbers are exact while the entries of a product differ by less than e^600; beyond that
they say so, and logarithms are used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from likely._typing import Array
from likely.graphical.model.factor import Factor, Scale
from likely.names import lookup
from likely.special import exp, log, logsumexp

Axes = tuple[int, ...]


@final
@dataclass(frozen=True)
class Semiring:
    """⊕ along axes of a table, of logarithms and of the numbers themselves."""

    name: str
    plus_of_logs: Callable[[Array, Axes], Array]
    plus: Callable[[Array, Axes], Array]
    chooses: bool  # ⊕ is a maximum, so that some state attains it
    written: Scale  # how results are written

    def written_values(self, log_values: Array) -> Array:
        """Logarithms as results are written: themselves, or their exponentials."""
        return log_values if self.written == "log" else exp(log_values)


def _log_sum(table: Array, axes: Axes) -> Array:
    return logsumexp(table, axes) if axes else table


def _sum(table: Array, axes: Axes) -> Array:
    return np.asarray(table.sum(axis=axes))


def _largest(table: Array, axes: Axes) -> Array:
    return np.asarray(table.max(axis=axes))


SEMIRINGS: Mapping[str, Semiring] = {
    "sum-product": Semiring("sum-product", _log_sum, _sum, False, "linear"),
    "max-product": Semiring("max-product", _largest, _largest, True, "linear"),
    "max-sum": Semiring("max-sum", _largest, _largest, True, "log"),
}


def semiring_of(name: str | Semiring) -> Semiring:
    """The semiring of that name; an unknown one raises and suggests the nearest."""
    return lookup("semiring", name, SEMIRINGS)


WIDEST_SPAN = 600.0  # nats; e^−600 is far above the smallest float64, e^−708


class OutOfRange(Exception):
    """Entries of one product differ by more than float64 holds."""


@final
@dataclass(frozen=True, eq=False)
class Numbers:
    """A table, its scale as a logarithm, and log(largest / smallest positive entry)."""

    table: Array
    log_scale: float = 0.0
    span: float = 0.0


class Arithmetic(ABC):
    """⊗, and the form in which products are kept; ⊕ is that of a semiring."""

    one: ClassVar[float]

    @abstractmethod
    def of_factor(self, factor: Factor) -> Numbers:
        """The table of a factor."""

    @abstractmethod
    def times(self, a: Array, b: Array) -> Array: ...

    @abstractmethod
    def plus(self, semiring: Semiring, table: Array, axes: Axes) -> Array: ...

    @abstractmethod
    def kept(self, table: Array, log_scale: float) -> Numbers:
        """A new table in the form in which it is kept."""

    @abstractmethod
    def log(self, table: Array) -> Array:
        """The logarithms of a table's entries, without its scale."""

    @abstractmethod
    def ties(self, table: Array, best: Array, tolerance: float) -> Array:
        """Where entries equal the best up to rounding."""

    def product(self, parts: Sequence[Numbers], shape: tuple[int, ...]) -> tuple[Array, float]:
        """⊗ of tables that broadcast to ``shape``, and the sum of their log scales."""
        _refuse_wide(parts)
        table = np.full(shape, self.one)
        for part in parts:
            table = self.times(table, part.table)
        return table, sum(part.log_scale for part in parts)

    def products_without_each(self, parts: Sequence[Numbers], n_states: int) -> list[Numbers]:
        """For each part, ⊗ of all others: products from the left and from the right meet there."""
        _refuse_wide(parts)
        log_scale = sum(part.log_scale for part in parts)
        left = [np.full(n_states, self.one)]
        right = [left[0]]
        for part in parts[:-1]:
            left.append(self.times(left[-1], part.table))
        for part in parts[:0:-1]:
            right.append(self.times(right[-1], part.table))
        return [
            self.kept(self.times(before, after), log_scale - part.log_scale)
            for before, after, part in zip(left, right[::-1], parts, strict=True)
        ]


class LinearArithmetic(Arithmetic):
    """⊗ is × of the numbers themselves."""

    one = 1.0

    def times(self, a: Array, b: Array) -> Array:
        return np.multiply(a, b)

    def plus(self, semiring: Semiring, table: Array, axes: Axes) -> Array:
        return semiring.plus(table, axes)

    def log(self, table: Array) -> Array:
        return log(table)

    def ties(self, table: Array, best: Array, tolerance: float) -> Array:
        return table >= best * (1 - tolerance)


@final
@dataclass(frozen=True)
class PlainArithmetic(LinearArithmetic):
    """Underflow and overflow raise FloatingPointError."""

    def of_factor(self, factor: Factor) -> Numbers:
        with np.errstate(over="raise", under="raise"):
            return Numbers(np.exp(factor.stored) if factor.scale == "log" else factor.stored)

    def times(self, a: Array, b: Array) -> Array:
        with np.errstate(over="raise", under="raise"):
            return super().times(a, b)

    def plus(self, semiring: Semiring, table: Array, axes: Axes) -> Array:
        with np.errstate(over="raise"):
            return super().plus(semiring, table, axes)

    def kept(self, table: Array, log_scale: float) -> Numbers:
        return Numbers(table, log_scale)


@final
@dataclass(frozen=True)
class ScaledArithmetic(LinearArithmetic):
    """Every table is divided by its largest entry, and the log of that is carried."""

    def of_factor(self, factor: Factor) -> Numbers:
        if factor.scale == "linear":
            return self.kept(factor.table, 0.0)
        logs = LogArithmetic().of_factor(factor)
        return Numbers(exp(logs.table), logs.log_scale, _span_of_logs(logs.table))

    def kept(self, table: Array, log_scale: float) -> Numbers:
        largest = float(table.max())
        if largest == 0.0:
            return Numbers(table, log_scale)
        smallest = float(table.min())
        if smallest == 0.0:
            smallest = float(table.min(where=table > 0, initial=largest))
        log_largest = float(np.log(largest))
        span = log_largest - float(np.log(smallest))  # before a division that may underflow
        return Numbers(table / largest, log_scale + log_largest, span)


@final
@dataclass(frozen=True)
class LogArithmetic(Arithmetic):
    """⊗ is + of logarithms; the largest is subtracted and carried, so that no digits are lost."""

    one = 0.0

    def of_factor(self, factor: Factor) -> Numbers:
        return self.kept(factor.log_table, 0.0)

    def times(self, a: Array, b: Array) -> Array:
        return np.add(a, b)

    def plus(self, semiring: Semiring, table: Array, axes: Axes) -> Array:
        return semiring.plus_of_logs(table, axes)

    def kept(self, table: Array, log_scale: float) -> Numbers:
        largest = float(table.max())
        if largest == -np.inf:
            return Numbers(table, log_scale)
        return Numbers(table - largest, log_scale + largest)

    def log(self, table: Array) -> Array:
        return table

    def ties(self, table: Array, best: Array, tolerance: float) -> Array:
        return table >= best - tolerance * np.maximum(1.0, np.abs(best))


MODES: Mapping[str, Arithmetic] = {
    "scaled": ScaledArithmetic(),
    "log": LogArithmetic(),
    "plain": PlainArithmetic(),
}


def _refuse_wide(parts: Sequence[Numbers]) -> None:
    """The span of a product is at most the sum of those of its parts."""
    if sum(part.span for part in parts) > WIDEST_SPAN:
        raise OutOfRange


def _span_of_logs(table: Array) -> float:
    """The largest minus the smallest finite logarithm."""
    finite = table[np.isfinite(table)]
    return float(finite.max() - finite.min()) if finite.size else 0.0
