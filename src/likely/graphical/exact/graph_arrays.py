"""The tables of all factors of a graph end to end, for the compiled loops.

The scopes of the factors of a graph as integers, and the graph of neighbours that they make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property

if TYPE_CHECKING:
    from likely.graphical.model.factor import Factor
    from likely.graphical.model.factor_graph import FactorGraph


@final
@dataclass(frozen=True, eq=False)
class Scopes:
    """The variables of all scopes end to end: those of factor j are axes[starts[j]:starts[j+1]].

    Tables have one axis for each variable of their scope, in this order.
    """

    names: tuple[str, ...]
    n_states: Codes  # (n_variables,)
    starts: Codes  # (n_factors + 1,)
    axes: Codes

    @classmethod
    def of(cls, graph: "FactorGraph") -> "Scopes":
        place = {name: v for v, name in enumerate(graph.names)}
        scopes = [[place[name] for name in factor.scope] for factor in graph.factors]
        return cls(
            graph.names,
            integers([variable.n_states for variable in graph.variables]),
            integers(np.cumsum([0, *map(len, scopes)])),
            integers([v for scope in scopes for v in scope]),
        )

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_factors(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each variable."""
        return {name: v for v, name in enumerate(self.names)}

    @cached_property
    def log_states(self) -> Array:
        return np.log(self.n_states)

    @cached_property
    def factor_of_axis(self) -> Codes:
        """The factor that each entry of ``axes`` belongs to."""
        return np.repeat(np.arange(self.n_factors), np.diff(self.starts))

    @cached_property
    def state_starts(self) -> Codes:
        """Where the states of each variable begin, if all are laid end to end."""
        return integers(np.cumsum([0, *self.n_states]))

    @cached_property
    def pairs(self) -> Codes:
        """Two variables a ≠ b of one scope as a·n + b, once each, sorted."""
        lengths = np.diff(self.starts)
        found: list[Codes] = [np.zeros(0, dtype=np.int64)]
        for length in np.unique(lengths[lengths > 1]):
            begin = self.starts[:-1][lengths == length]
            found.append(self._pairs_of(self.axes[begin[:, None] + np.arange(length)]))
        return np.unique(np.concatenate(found))

    def _pairs_of(self, scopes: Codes) -> Codes:
        """The pairs of scopes of one length, (n_scopes, length)."""
        length = scopes.shape[1]
        a, b = np.nonzero(~np.eye(length, dtype=bool))
        return (scopes[:, a] * self.n_variables + scopes[:, b]).ravel()

    def neighbours(
        self, free: Array, together: Iterable[Sequence[int]] = ()
    ) -> tuple[Codes, Codes]:
        """The neighbours of each free variable, both counted among the free ones alone.

        Those of the u-th are others[starts[u]:starts[u + 1]].  ``together`` are more sets of
        variables that are to be neighbours.
        """
        pairs = self.pairs
        if extra := [self._pairs_of(integers(names)[None]) for names in together]:
            pairs = np.unique(np.concatenate([pairs, *extra]))
        a, b = np.divmod(pairs, max(self.n_variables, 1))
        kept = free[a] & free[b]
        number = np.cumsum(free) - 1
        a, b = number[a[kept]], number[b[kept]]
        starts = np.searchsorted(a, np.arange(int(free.sum()) + 1))
        return integers(starts), integers(b)


def integers(values: Sequence[int] | Array) -> Codes:
    """The numbers as the compiled loops read them."""
    return np.array(values, dtype=np.int64)


SPAN = 1e260  # as in fast/propagation: the widest numbers that linear arithmetic takes
LEAST = float(np.finfo(float).tiny)  # stands for anything between 0 and 1 / SPAN


@final
@dataclass(frozen=True, eq=False)
class FactorTables:
    """Tables end to end; that of factor j is values[starts[j] : starts[j + 1]], in C order."""

    factors: "tuple[Factor, ...]"

    @cached_property
    def starts(self) -> Codes:
        sizes = [factor.stored.size for factor in self.factors]
        return np.cumsum([0, *sizes], dtype=np.int64)

    @cached_property
    def logs(self) -> Array:
        """log f, −inf where f is 0."""
        return self._joined([factor.log_table for factor in self.factors])

    @cached_property
    def log_scale(self) -> float:
        """The sum of the logs of what the tables are divided by in ``scaled``."""
        return float(self._linear[1].sum())

    @property
    def scaled(self) -> Array:
        """The tables, each with a maximum of 1; what is not 0 stays above it."""
        return self._linear[0]

    @property
    def spans(self) -> Array:
        """The largest over the smallest positive number of each table, (n_factors,)."""
        return self._linear[2]

    @cached_property
    def _linear(self) -> tuple[Array, Array, Array]:
        """Scaled tables, the logs of the scales, and the spans."""
        if not self.factors:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        values = self._joined([factor.stored for factor in self.factors])
        in_logs = np.array([factor.scale == "log" for factor in self.factors])
        zero = np.where(in_logs, -np.inf, 0.0)
        cell_in_logs, cell_zero = self._by_cell(in_logs), self._by_cell(zero)
        top = np.maximum.reduceat(values, self.starts[:-1])
        low = np.where(values > cell_zero, values, np.inf)  # of what is not 0
        low = np.minimum.reduceat(low, self.starts[:-1])
        scale = np.where(top > zero, top, np.where(in_logs, 0.0, 1.0))
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            cell_scale = self._by_cell(scale)
            scaled = np.where(cell_in_logs, np.exp(values - cell_scale), values / cell_scale)
            span = np.where(in_logs, np.exp(scale - low), scale / low)
            log_scale = np.where(in_logs, scale, np.log(scale))
        span = np.where(low < np.inf, np.where(span > SPAN, np.inf, span), 1.0)
        return np.where(values > cell_zero, np.maximum(scaled, LEAST), scaled), log_scale, span

    def _by_cell(self, of_factor: Array) -> Array:
        return np.repeat(of_factor, np.diff(self.starts))

    def _joined(self, tables: "list[Array]") -> Array:
        return np.concatenate([np.zeros(0), *(np.ravel(table) for table in tables)])
