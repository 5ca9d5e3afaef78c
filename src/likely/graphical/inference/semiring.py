"""Semirings: one elimination and one message passing give sums, maxima and their logarithms.

    sum-product    ⊕ = Σ      ⊗ = ×     marginals and Z
    max-product    ⊕ = max    ⊗ = ×     the most probable configuration
    max-sum        ⊕ = max    ⊗ = +     the same in logarithms

⊗ distributes over ⊕: a Σ b = Σ ab, and max(ab, ac) = a max(b, c) for a ≥ 0, so that a sum or a
maximum may be taken as soon as its variable is in no other factor.  Tables are multiplied as
logarithms, where ⊗ is +, Σ is logsumexp, and max stays max.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array
from likely.graphical.factor import Scale
from likely.names import lookup
from likely.special import exp, logsumexp

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
