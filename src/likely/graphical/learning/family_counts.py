"""Counts of families, a variable with its parents, and the tables that they give.

    N_v(pa, x) = Σ_i w_i [pa_i = pa][x_iv = x]
    P(x | pa) = (N_v(pa, x) + α) / Σ_u (N_v(pa, u) + α)

Counts are all that complete data say about the tables of a network.  They add: those of two sets of
rows are the sum of the counts of each.  A row in which the variable or one of its parents is
missing does not count for their family.  α pseudo-counts in each cell are a Dirichlet prior.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §17.2 and §17.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.block import Block
from likely.distributions.priors import Dirichlet
from likely.errors import InvalidInput
from likely.graphical.learning.coded_rows import codes_of, weight_of
from likely.graphical.model.factor_graph import FactorGraph
from likely.inputs.estimators import is_number
from likely.numerics.additive import FAST_CELLS, Additive


@final
@dataclass(frozen=True)
class EquivalentSample:
    """The prior of BDeu: ``size`` pseudo-counts for each family, spread evenly over its cells.

    Networks that state the same independences then have the same prior on their joint.
    """

    size: float = 10.0


Smoothing = float | Dirichlet | EquivalentSample


def pseudo_count(smoothing: Smoothing, n_cells: int) -> float:
    """α, the pseudo-count of each of ``n_cells`` cells of a family."""
    spread = isinstance(smoothing, EquivalentSample)
    alpha = smoothing.size if isinstance(smoothing, EquivalentSample) else smoothing
    if isinstance(alpha, Dirichlet):
        alpha = alpha.of_each()
    if not is_number(alpha) or not 0 <= alpha < np.inf:
        raise InvalidInput(
            f"smoothing={smoothing!r} was given; a number of pseudo-counts, 0 or more, was "
            "expected, a Dirichlet or EquivalentSample(size). Use 1.0."
        )
    return float(alpha) / n_cells if spread else float(alpha)


class Loops(NamedTuple):
    """A layout as the compiled loop reads it, all int64."""

    first: Array
    columns: Array
    strides: Array
    starts: Array


@final
@dataclass(frozen=True)
class Families:
    """The columns of each family and the shapes of their tables, which are stored end to end."""

    columns: tuple[tuple[int, ...], ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, graph: FactorGraph) -> "Families":
        """The scope of each factor is a family; columns are the variables of the graph."""
        place = {name: v for v, name in enumerate(graph.names)}
        columns = tuple(tuple(place[name] for name in factor.scope) for factor in graph.factors)
        return cls(columns, tuple(factor.stored.shape for factor in graph.factors))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each table begins, and at the end where the last one ends."""
        return (0, *np.cumsum([prod(shape) for shape in self.shapes], dtype=int).tolist())

    def tables(self, flat: Array) -> list[Array]:
        """Views of the tables."""
        bounds = zip(self.starts, self.starts[1:], self.shapes, strict=False)
        return [flat[start:stop].reshape(shape) for start, stop, shape in bounds]

    def joined(self, tables: Sequence[Array]) -> Array:
        """Tables end to end."""
        return np.concatenate([np.zeros(0), *(np.ravel(table) for table in tables)])

    @cached_property
    def loops(self) -> Loops:
        strides = [[prod(shape[axis + 1 :]) for axis in range(len(shape))] for shape in self.shapes]
        sizes = [len(columns) for columns in self.columns]
        parts = (
            [0, *np.cumsum(sizes, dtype=int)],
            [column for columns in self.columns for column in columns],
            [stride for each in strides for stride in each],
            self.starts[:-1],
        )
        return Loops(*(np.array(part, dtype=np.int64) for part in parts))


@final
@dataclass(frozen=True, eq=False)
class FamilyCounts(Additive):
    """The totals of one pass over rows of codes."""

    families: Families
    counts: Array  # of all families, end to end
    weight: float  # Σ_i w_i
    observed: Array  # Σ_i w_i of the rows in which each variable is observed, (n_variables,)
    n_missing: int  # cells

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.families,
            self.counts + other.counts,
            self.weight + other.weight,
            self.observed + other.observed,
            self.n_missing + other.n_missing,
        )

    @property
    def tables(self) -> list[Array]:
        """The counts of each family, in the shape of its table."""
        return self.families.tables(self.counts)


def block_family_counts(families: Families, block: Block) -> FamilyCounts:
    """The counts of some rows, in one pass for all families."""
    codes, weight = codes_of(block), weight_of(block)
    counts = np.zeros(families.starts[-1])
    if codes.size >= FAST_CELLS:
        from likely.fast.families import count_families

        loops = families.loops
        count_families(codes, weight, *loops, counts)
    else:
        for columns, table in zip(families.columns, families.tables(counts), strict=True):
            table += _table_counts(codes[:, columns], weight, table.shape)
    total = float(weight.sum())
    known = codes >= 0
    n_missing = int(codes.size - np.count_nonzero(known))
    observed = np.dot(weight, known) if n_missing else np.full(codes.shape[1], total)
    return FamilyCounts(families, counts, total, observed, n_missing)


def _table_counts(codes: Codes, weight: Array, shape: tuple[int, ...]) -> Array:
    known = (codes >= 0).all(axis=1)
    if not shape:
        return np.array(weight.sum())
    cells = np.ravel_multi_index(tuple(codes[known].T), shape)
    return np.bincount(cells, weight[known], prod(shape)).reshape(shape)


def conditional_tables(counts: Sequence[Array], alpha: Sequence[float]) -> list[Array]:
    """P(x | pa) from counts and pseudo-counts; uniform where a row of both is 0."""
    return [_conditional(table + a) for table, a in zip(counts, alpha, strict=True)]


def _conditional(mass: Array) -> Array:
    total = mass.sum(axis=-1, keepdims=True)
    uniform = np.full(mass.shape, 1.0 / mass.shape[-1])
    return np.divide(mass, total, out=uniform, where=total > 0)


def log_likelihood_of(counts: Sequence[Array], tables: Sequence[Array]) -> float:
    """Σ N log P, with 0 log 0 = 0; −inf where something was counted that cannot be."""
    total = 0.0
    for count, table in zip(counts, tables, strict=True):
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        total += float(np.multiply(count, logs, where=count > 0, out=np.zeros(count.shape)).sum())
    return total
