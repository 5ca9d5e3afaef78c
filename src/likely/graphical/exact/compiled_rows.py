"""Propagation for rows of a table by the compiled loops: several rows at a time, or one by one.

A block of rows has the tables of each row side by side.  Where they would be too large for the
cache, one row follows the other, and what it observes is cut out of the tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.compute.executor import Serial, Threads
from likely.fast.rows import (
    base_scores,
    base_tables,
    factor_counts,
    row_best,
    row_expectations,
    row_marginals,
)
from likely.fast.single_rows import (
    single_row_best,
    single_row_expectations,
    single_row_marginals,
)
from likely.graphical.exact.enumeration import TIE
from likely.graphical.exact.graph_arrays import FactorTables
from likely.graphical.exact.junction_tree import NUMBER, JunctionTree

BLOCK_NUMBERS = 2**17  # of the tables of a block of rows: 1 MiB
FEWEST, MOST = 64, 512  # rows of a block
LARGE = 2**16  # numbers of a tree's tables above which rows go one by one
SOME_ROWS = 16  # that are looked at to choose
STEP_NUMBERS = 100  # numbers of a block that take as long as one step of a row alone
TASK = 4096  # rows that a thread takes at one time
THREADS_WORK = 5_000_000  # cells times rows that are worth a second thread


@final
@dataclass(frozen=True, eq=False)
class RowLoops:
    """Some ``rows`` of ``codes`` (n_rows, n_variables), and the tree that answers them."""

    codes: Codes  # int32
    rows: Codes
    tree: JunctionTree
    tables: FactorTables
    memory: int | None

    def fill_beliefs(self, wanted: Array, at: Codes, out: Array, log_partition: Array) -> Codes:
        """Fill the wanted marginals and log Z; returns the rows that are too wide for this.

        ``out`` has a table (n_rows, n_states) for each wanted variable, at ``at``.
        """
        values, plan = self.tables.scaled, self.tree.layout.plan
        found = (at, out, log_partition)

        def term(rows: Codes) -> None:
            if self._block == 1:
                spans, work = self.tables.spans, np.empty(self.tree.layout.n_numbers)
                single_row_marginals(self.codes, rows, wanted, values, spans, plan, work, *found)
            else:
                row_marginals(
                    self.codes, rows, wanted, values, *self._base, plan, self._work, *found
                )

        self._for_all(term)
        return self._too_wide(log_partition)

    def add_counts(self, weight: Array, counts: Array, log_partition: Array) -> Codes:
        """Add expected counts and fill log Z; returns the rows that are too wide for this."""
        values, plan = self.tables.scaled, self.tree.layout.plan
        if self._block == 1:
            single_row_expectations(
                self.codes,
                self.rows,
                weight,
                values,
                self.tables.spans,
                plan,
                np.empty(self.tree.layout.n_numbers),
                counts,
                log_partition,
            )
        else:
            expected = np.zeros(self.tree.layout.clique_at[-1])
            row_expectations(
                self.codes,
                self.rows,
                weight,
                values,
                *self._base,
                plan,
                self._work,
                expected,
                counts,
                log_partition,
            )
            factor_counts(plan, expected, counts)
        return self._too_wide(log_partition)

    def fill_best(self, best: Codes, log_score: Array, unique: Array) -> None:
        """Fill the codes of best configurations, the logs of their scores, and whether no other is
        as good."""
        values, plan = self.tables.logs, self.tree.layout.plan
        base, found = np.empty(self.tree.layout.clique_at[-1]), (TIE, best, log_score, unique)
        if self._block > 1:
            base_scores(
                values, self.tables.spans, plan, base, np.empty(self.tree.layout.tree.n_cliques)
            )

        def term(rows: Codes) -> None:
            if self._block == 1:
                work = np.empty(self.tree.layout.n_numbers)
                single_row_best(self.codes, rows, values, plan, work, *found)
            else:
                row_best(self.codes, rows, values, base, plan, self._work, *found)

        self._for_all(term)

    @cached_property
    def _block(self) -> int:
        """The rows of a block."""
        numbers = self.tree.layout.n_numbers
        block = int(min(MOST, max(FEWEST, BLOCK_NUMBERS / numbers)))
        fits = self.memory is None or NUMBER * numbers * block <= self.memory
        if numbers > LARGE or not fits:
            return 1
        some = self.codes[self.rows[:: max(1, len(self.rows) // SOME_ROWS)]] >= 0
        cut = np.mean([self.tree.cells_given(observed) for observed in some])
        steps = self.tree.scopes.n_factors + self.tree.scopes.n_variables + 2 * self.tree.n_cliques
        return block if numbers < STEP_NUMBERS * steps + 2.0 * cut else 1

    @property
    def _work(self) -> Array:
        """Room for the tables of one block."""
        return np.empty((self.tree.layout.n_numbers, self._block))

    @cached_property
    def _base(self) -> tuple[Array, Array]:
        """The product of each clique's factors that are the same in every row, and its span."""
        layout = self.tree.layout
        base, spans = np.empty(layout.clique_at[-1]), np.empty(layout.tree.n_cliques)
        base_tables(self.tables.scaled, self.tables.spans, layout.plan, base, spans)
        return base, spans

    def _for_all(self, term: Callable[[Codes], None]) -> None:
        """Call ``term`` with some rows after the other, on all cores if there are many."""
        work = float(self.tree.cells.sum()) * len(self.rows)
        executor = Threads() if work > THREADS_WORK else Serial()
        tasks = [self.rows[first : first + TASK] for first in range(0, len(self.rows), TASK)]
        for _ in executor.map(term, tasks):
            pass

    def _too_wide(self, log_partition: Array) -> Codes:
        log_partition[self.rows] += self.tables.log_scale
        return self.rows[np.isnan(log_partition[self.rows])]
