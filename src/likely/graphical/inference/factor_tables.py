"""The tables of all factors of a graph end to end, for the compiled loops."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property

if TYPE_CHECKING:
    from likely.graphical.factor import Factor

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
