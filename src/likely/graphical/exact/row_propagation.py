"""Propagation in junction trees for whole tables: a row of codes is one set of observations.

    row_beliefs         P(x_i | e_r) and log Z(e_r) for every row r
    row_families        Σ_r w_r P(x_j | e_r) for the scope j of every factor: the E step of learning
    row_most_probable   argmax_x F(x, e_r), its log, and whether it is the only one

Rows that are impossible have log Z = −inf.

Rows that observe the same variables share a tree in which these are cut out of the tables, if they
are many enough to pay for its planning.  The other rows share one tree, without the variables that
all of them observe.

The compiled loops take a block of rows at a time, with the tables of each row side by side.  Where
they would be too large for the cache, one row follows the other, and what it observes is cut out of
the tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.compute.executor import Serial, Threads
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.contract import Request
from likely.graphical.exact.cost import is_fast
from likely.graphical.exact.enumeration import TIE
from likely.graphical.exact.graph_arrays import FactorTables
from likely.graphical.exact.junction_tree import NUMBER, JunctionTree
from likely.graphical.exact.plans import PLANNING_CELLS, Plans
from likely.graphical.exact.tree_inference import answer_in, best_in
from likely.graphical.model.exactness import RowExactness
from likely.graphical.model.graph_evidence import GraphEvidence

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

MOST_PATTERNS = 64  # sets of observed variables that get a tree of their own
BLOCK_NUMBERS = 2**17  # of the tables of a block of rows: 1 MiB
FEWEST, MOST = 64, 512  # rows of a block
LARGE = 2**16  # numbers of a tree's tables above which rows go one by one
SOME_ROWS = 16  # that are looked at to choose
STEP_NUMBERS = 100  # numbers of a block that take as long as one step of a row alone
TASK = 4096  # rows that a thread takes at one time
THREADS_WORK = 5_000_000  # cells times rows that are worth a second thread


class RowPart(NamedTuple):
    """Some rows of a table, and the tree that answers them."""

    tree: JunctionTree
    rows: Codes


def row_parts(graph: "FactorGraph", codes: Codes, memory: int | None) -> Iterator[RowPart]:
    """Parts that cover all rows of ``codes`` (n_rows, n_variables); −1 is not observed."""
    if not len(codes):
        return
    plans, observed = graph.plans, codes >= 0
    shared = _shared_tree(plans, observed, memory)
    left = np.ones(len(codes), dtype=bool)
    for rows in _rows_by_pattern(observed, MOST_PATTERNS if shared else len(codes)):
        if shared is not None and not _pays(plans, shared, observed[rows[0]], len(rows)):
            continue
        left[rows] = False
        yield RowPart(_tree(plans, observed[rows[:1]], memory), rows)
    rows = np.flatnonzero(left)
    if shared is not None and len(rows):
        smaller = len(rows) < len(codes)
        yield RowPart(_tree(plans, observed[rows], memory) if smaller else shared, rows)


def _tree(plans: Plans, observed: Array, memory: int | None) -> JunctionTree:
    """The tree without the variables that all of some rows observe."""
    everywhere = np.flatnonzero(observed.all(axis=0))
    tree = plans.tree(frozenset(plans.scopes.names[v] for v in everywhere))
    tree.refuse_above(memory)
    return tree


def _shared_tree(plans: Plans, observed: Array, memory: int | None) -> JunctionTree | None:
    """The tree for all rows; None if it does not fit, but those of some of them may."""
    try:
        return _tree(plans, observed, memory)
    except GraphTooLarge:
        return None


def _pays(plans: Plans, shared: JunctionTree, observed: Array, n_rows: int) -> bool:
    """Whether planning for one set of observed variables costs less than many rows without it."""
    return n_rows * shared.cells_given(observed) > PLANNING_CELLS * plans.scopes.n_variables


def _rows_by_pattern(observed: Array, most: int) -> Iterator[Codes]:
    """The rows with one set of observed variables, for the sets that most rows have."""
    pattern, counts = _patterns(observed)
    order, ends = np.argsort(pattern, kind="stable"), np.cumsum(counts)
    for number in np.argsort(-counts, kind="stable")[:most]:
        yield order[ends[number] - counts[number] : ends[number]]


def _patterns(observed: Array) -> tuple[Codes, Codes]:
    """The number of each row's set of observed variables, and how many rows have it."""
    packed = np.packbits(observed, axis=1)
    wide = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    words = wide.view(np.uint64)
    order = np.lexsort(words.T)
    new = np.append(True, (words[order[1:]] != words[order[:-1]]).any(axis=1))
    pattern = np.empty(len(observed), dtype=np.int64)
    pattern[order] = np.cumsum(new) - 1
    return pattern, np.bincount(pattern)


class RowTables(NamedTuple):
    """Marginals (n_rows, n_states) and joints by name, and log Z(e_r) (n_rows,).

    Those of impossible rows, where log Z is −inf, are undefined.
    """

    marginals: dict[str, Array]
    joints: dict[tuple[str, ...], Array]
    log_partition: Array
    row_exactness: RowExactness = None


def row_beliefs(
    graph: "FactorGraph", codes: Codes, wanted: Iterable[str], memory: int | None = None
) -> RowTables:
    """Marginals of the ``wanted`` variables and log Z, given each row of codes.

    ``codes`` (n_rows, n_variables) are the positions of states; −1 is not observed.
    """
    names = tuple(wanted)
    graph, codes = _relevant(graph, codes, names)
    n, n_states = len(codes), graph.plans.scopes.n_states
    sizes = np.where(graph.plans.mask(names), n_states, 0)
    at = n * (np.cumsum(sizes) - sizes)  # of each variable's table in ``out``
    out, log_partition = np.empty(n * int(sizes.sum())), np.empty(n)
    place = graph.plans.scopes.place
    marginals = {
        name: out[at[v] : at[v] + n * n_states[v]].reshape(n, n_states[v])
        for name, v in ((name, place[name]) for name in names)
    }
    for part in row_parts(graph, codes, memory):
        loops, left = _loops(graph, codes, part, memory), part.rows
        if loops is not None:
            left = loops.fill_beliefs(graph.plans.mask(names), at, out, log_partition)
        for row in left:
            asked = Request(names, (), row_evidence(graph, codes[row]), memory)
            try:
                found = answer_in(graph, part.tree, asked)
            except ImpossibleEvidence:
                log_partition[row] = -np.inf
                for table in marginals.values():
                    table[row] = np.nan
                continue
            log_partition[row] = found.log_partition
            for name, table in marginals.items():
                table[row] = found.marginals[name]
    return RowTables(marginals, {}, log_partition)


def row_families(
    graph: "FactorGraph", codes: Codes, weight: Array, memory: int | None = None
) -> tuple[list[Array], float]:
    """Expected counts of the cells of every factor, shaped like its table, and Σ_r w_r log Z(e_r).

    A row that is impossible adds no counts, and makes the sum −inf.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weight = np.ascontiguousarray(weight, dtype=float)
    counts, log_partition = np.zeros(graph.plans.tables.starts[-1]), np.empty(len(codes))
    bounds = pairwise(graph.plans.tables.starts)
    tables = [
        counts[a:b].reshape(factor.stored.shape)
        for factor, (a, b) in zip(graph.factors, bounds, strict=True)
    ]
    scopes = tuple(dict.fromkeys(factor.scope for factor in graph.factors))
    for part in row_parts(graph, codes, memory):
        loops, left = _loops(graph, codes, part, memory), part.rows
        if loops is not None:
            left = loops.add_counts(weight, counts, log_partition)
        for row in left:
            asked = Request((), scopes, row_evidence(graph, codes[row]), memory)
            try:
                found = answer_in(graph, part.tree, asked)
            except ImpossibleEvidence:
                log_partition[row] = -np.inf
                continue
            log_partition[row] = found.log_partition
            for factor, table in zip(graph.factors, tables, strict=True):
                table += weight[row] * found.joints[factor.scope]
    counted = weight > 0  # 0 · (−inf) is no number
    return tables, float(np.dot(weight[counted], log_partition[counted]))


class BestRows(NamedTuple):
    """The most probable configuration given each row.

    A row that is impossible has codes of −1, a log score of −inf, and no unique configuration.
    """

    codes: Codes  # (n_rows, n_variables)
    log_score: Array  # (n_rows,)
    unique: Array  # (n_rows,) whether no other configuration has the same score
    row_exactness: RowExactness = None
    upper: Array | None = None  # log scores that no configuration exceeds; None: those found


def row_most_probable(graph: "FactorGraph", codes: Codes, memory: int | None = None) -> BestRows:
    """A most probable configuration given each row, and the log of its score."""
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    best, log_score = np.empty(codes.shape, dtype=np.int64), np.empty(len(codes))
    unique = np.empty(len(codes), dtype=np.bool_)
    for part in row_parts(graph, codes, memory):
        loops = _loops(graph, codes, part, memory)
        if loops is not None:
            loops.fill_best(best, log_score, unique)
            continue
        for row in part.rows:
            evidence = row_evidence(graph, codes[row])
            try:
                best[row], unique[row], log_score[row] = best_in(graph, part.tree, evidence, memory)
            except ImpossibleEvidence:
                best[row], unique[row], log_score[row] = -1, False, -np.inf
    return BestRows(best, log_score, unique)


def _relevant(
    graph: "FactorGraph", codes: Codes, names: Sequence[str]
) -> tuple["FactorGraph", Codes]:
    """The part of a graph that matters for ``names`` and for what any row observes."""
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    seen = np.flatnonzero((codes >= 0).any(axis=0))
    part = graph.relevant(names, GraphEvidence({graph.names[v]: 0 for v in seen}))
    if part is not graph:
        columns = [graph.plans.scopes.place[name] for name in part.names]
        codes = np.ascontiguousarray(codes[:, columns])
    return part, codes


def row_evidence(
    graph: "FactorGraph", row: Codes, soft: Mapping[str, Array] | None = None
) -> GraphEvidence:
    """What a row of codes observes, with likelihoods that are the same in every row."""
    codes = {n: c for n, c in zip(graph.names, row.tolist(), strict=True) if c >= 0}
    return GraphEvidence(codes, soft or {})


def _loops(
    graph: "FactorGraph", codes: Codes, part: RowPart, memory: int | None
) -> "RowLoops | None":
    """The compiled loops for a part of the rows; None for little work."""
    if not is_fast(part.tree.work * len(part.rows)):
        return None
    n_states, largest = graph.plans.scopes.n_states, codes[part.rows].max(axis=0, initial=-1)
    if largest.shape != n_states.shape or (largest >= n_states).any():
        raise InvalidInput(
            f"The codes of {len(largest)} columns are up to {largest.max(initial=-1)}; the graph "
            f"has {len(n_states)} variables, each with codes below its number of states. Encode "
            "the rows by the states of this graph."
        )
    return RowLoops(codes, part.rows, part.tree, graph.plans.tables, memory)


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
        from likely.fast.rows import row_marginals
        from likely.fast.single_rows import single_row_marginals

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
        from likely.fast.rows import factor_counts, row_expectations
        from likely.fast.single_rows import single_row_expectations

        plan, found = self.tree.layout.plan, (counts, log_partition)
        asked = (self.codes, self.rows, weight, self.tables.scaled)
        if self._block == 1:
            work = np.empty(self.tree.layout.n_numbers)
            single_row_expectations(*asked, self.tables.spans, plan, work, *found)
        else:
            expected = np.zeros(self.tree.layout.clique_at[-1])
            row_expectations(*asked, *self._base, plan, self._work, expected, *found)
            factor_counts(plan, expected, counts)
        return self._too_wide(log_partition)

    def fill_best(self, best: Codes, log_score: Array, unique: Array) -> None:
        """Fill the codes of best configurations, their log scores, and whether they are unique."""
        from likely.fast.rows import base_scores, row_best
        from likely.fast.single_rows import single_row_best

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
        from likely.fast.rows import base_tables

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
