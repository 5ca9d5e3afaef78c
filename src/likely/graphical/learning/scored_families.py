"""Scores of families on complete rows, each computed once.

Rows are distinct rows with their weights, stored by column.  The combinations of states of the
parents are numbered once and used for every further parent that is tried.
"""

from dataclasses import dataclass, field
from math import inf, prod
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.distributions.responsibility import FAST_CELLS
from likely.errors import MissingCells
from likely.graphical.evidence_table import row_keys
from likely.graphical.learning.coded_rows import CodedRows
from likely.graphical.learning.structure_scores import FamilyScore

MOST_CELLS = 2**20  # of the table of a family: larger ones are not tried


class Combinations(NamedTuple):
    """The combination of states of some parents in each row, as a code."""

    codes: Array  # (n,) int64
    n: int


@final
@dataclass(frozen=True, eq=False)
class ScoredFamilies:
    """The score of any variable with any parents."""

    columns: Codes  # (n_variables, n)
    weight: Array
    sizes: tuple[int, ...]
    score: FamilyScore
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: CodedRows, score: FamilyScore) -> "ScoredFamilies":
        """The scores on these rows, which must be complete."""
        codes, weight = rows.distinct()
        if (codes < 0).any():
            missing = int((codes < 0).any(axis=0).argmax())
            raise MissingCells(
                f"Column {rows.variables[missing].name!r} has missing cells; hill climbing needs "
                "complete rows, because it compares scores on the same rows. Drop these rows, or "
                "use structure='chow-liu' or 'tan', which count pairs where both are observed."
            )
        return cls(np.ascontiguousarray(codes.T), weight, rows.sizes, score)

    def gains(self, child: int, parents: tuple[int, ...]) -> Array:
        """The gain of each variable as one more parent, or as one less; −inf for no table."""
        here, above = self.of_family(child, parents), self._combinations(parents)
        gains = np.full(len(self.sizes), -inf)
        cells = self._n_rows(parents) * self.sizes[child]
        for a in range(len(self.sizes)):
            if a in parents:
                fewer = tuple(parent for parent in parents if parent != a)
                gains[a] = self.of_family(child, fewer) - here
            elif a != child and cells * self.sizes[a] <= MOST_CELLS:
                gains[a] = self.of_family(child, (*parents, a), above) - here
        return gains

    def of_family(
        self, child: int, parents: tuple[int, ...], above: Combinations | None = None
    ) -> float:
        """The score of a variable with these parents; ``above`` is that of all but the last."""
        key = (child, tuple(sorted(parents)))
        if key not in self.known:
            counts = self._counts(child, parents, above or self._combinations(parents[:-1]))
            total = float(self.weight.sum())
            self.known[key] = self.score.of(counts, self._n_rows(parents), total)
        return self.known[key]

    def _n_rows(self, parents: tuple[int, ...]) -> int:
        """The rows of the table of a variable with these parents."""
        return prod(self.sizes[parent] for parent in parents)

    def _combinations(self, parents: tuple[int, ...]) -> Combinations:
        """Those that occur, unless all that there can be are few."""
        if not parents:
            return Combinations(np.zeros(len(self.weight), dtype=np.int64), 1)
        sizes = [self.sizes[parent] for parent in parents]
        keys = row_keys(self.columns[list(parents)].T, sizes)
        highest = prod(size + 1 for size in sizes)  # row_keys leaves room for a missing state
        if highest <= len(keys):
            return Combinations(keys, highest)
        values, codes = np.unique(keys, return_inverse=True)
        return Combinations(codes.astype(np.int64, copy=False), len(values))

    def _counts(self, child: int, parents: tuple[int, ...], above: Combinations) -> Array:
        """Counts of the child (…, n_states), by the combinations and by the last of the parents."""
        last, n_last = np.zeros(len(self.weight), dtype=np.int32), 1
        if parents:
            last, n_last = self.columns[parents[-1]], self.sizes[parents[-1]]
        below, r = self.columns[child], self.sizes[child]
        n_cells = above.n * n_last * r
        if self.columns.size < FAST_CELLS:
            cells = (above.codes * n_last + last) * r + below
            return np.bincount(cells, self.weight, n_cells).reshape(-1, r)
        from likely.fast.families import count_triples

        counts = np.zeros(n_cells)
        count_triples(above.codes, last, below, self.weight, n_last, r, counts)
        return counts.reshape(-1, r)
