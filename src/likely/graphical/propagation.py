"""Propagation in junction trees for whole tables: a row of codes is one set of observations.

    row_beliefs         P(x_i | e_r) and log Z(e_r) for every row r
    row_families        Σ_r w_r P(x_j | e_r) for the scope j of every factor: the E step of learning
    row_most_probable   argmax_x F(x, e_r) and its log

Rows that are impossible have log Z = −inf.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Serial, Threads
from likely.errors import ImpossibleEvidence
from likely.graphical.evidence import Evidence
from likely.graphical.inference import Request
from likely.graphical.junction_tree import NUMBER, JunctionTree
from likely.graphical.row_parts import RowPart, row_parts
from likely.graphical.speed import is_fast
from likely.graphical.tree_inference import answer_in, best_in

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph

BLOCK_NUMBERS = 2**17  # of the tables of a block of rows: 1 MiB
LARGE = 2**21  # numbers of a tree's tables above which rows go one by one
FEWEST, MOST = 8, 512  # rows of a block
TASK = 4096  # rows that a thread takes at one time
THREADS_WORK = 5_000_000  # cells times rows that are worth a second thread


@final
@dataclass(frozen=True, eq=False)
class RowAnswer:
    """Marginals (n_rows, n_states) by name, and log Z(e_r) (n_rows,); nan where it is −inf."""

    marginals: dict[str, Array]
    log_partition: Array


def row_beliefs(
    graph: "FactorGraph", codes: Codes, wanted: Iterable[str], memory: int | None = None
) -> RowAnswer:
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
        left = part.rows
        if _is_for_blocks(part, memory):
            left = _beliefs_in_blocks(graph, codes, part, names, (at, out, log_partition), memory)
        for row in left:
            asked = Request(names, (), _evidence(graph, codes[row]), memory)
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
    return RowAnswer(marginals, log_partition)


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
        counts[a:b].reshape(factor.table.shape)
        for factor, (a, b) in zip(graph.factors, bounds, strict=True)
    ]
    scopes = tuple(dict.fromkeys(factor.scope for factor in graph.factors))
    for part in row_parts(graph, codes, memory):
        left = part.rows
        if _is_for_blocks(part, memory):
            left = _counts_in_blocks(graph, codes, part, weight, (counts, log_partition), memory)
        for row in left:
            asked = Request((), scopes, _evidence(graph, codes[row]), memory)
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


def row_most_probable(
    graph: "FactorGraph", codes: Codes, memory: int | None = None
) -> tuple[Codes, Array]:
    """The codes of a most probable configuration given each row, and the log of its score.

    A row that is impossible has codes of −1 and a log score of −inf.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    best, log_score = np.empty(codes.shape, dtype=np.int64), np.empty(len(codes))
    for part in row_parts(graph, codes, memory):
        if _is_for_blocks(part, memory):
            _scores_in_blocks(graph, codes, part, (best, log_score), memory)
            continue
        for row in part.rows:
            evidence = _evidence(graph, codes[row])
            try:
                best[row], _, log_score[row] = best_in(graph, part.tree, evidence, memory)
            except ImpossibleEvidence:
                best[row], log_score[row] = -1, -np.inf
    return best, log_score


def _relevant(
    graph: "FactorGraph", codes: Codes, names: Sequence[str]
) -> tuple["FactorGraph", Codes]:
    """The part of a graph that matters for ``names`` and for what any row observes."""
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    seen = np.flatnonzero((codes >= 0).any(axis=0))
    part = graph.relevant(names, Evidence({graph.names[v]: 0 for v in seen}))
    if part is not graph:
        columns = [graph.plans.scopes.place[name] for name in part.names]
        codes = np.ascontiguousarray(codes[:, columns])
    return part, codes


def _evidence(graph: "FactorGraph", row: Codes) -> Evidence:
    return Evidence({n: c for n, c in zip(graph.names, row.tolist(), strict=True) if c >= 0})


# ── blocks of rows, by the compiled loops ────────────────────────────────────────────────────


def _is_for_blocks(part: RowPart, memory: int | None) -> bool:
    """Whether the compiled loops answer several rows at a time."""
    tree = part.tree
    return is_fast(tree.work * len(part.rows)) and _block(tree, memory) >= FEWEST


def _block(tree: JunctionTree, memory: int | None) -> int:
    """The rows of a block: as many as fit the cache, or at least a few that fit the memory."""
    numbers = 1.0 + tree.bytes / NUMBER
    if numbers > LARGE:
        return 1
    block = int(min(MOST, max(FEWEST, BLOCK_NUMBERS / numbers)))
    return block if memory is None else int(min(block, memory / (NUMBER * numbers)))


class Blocks(NamedTuple):
    """What the compiled loops need for rows of one tree."""

    codes: Codes
    values: Array
    base: Array
    base_spans: Array
    plan: Codes
    n_numbers: int
    block: int

    @classmethod
    def of(cls, graph: "FactorGraph", codes: Codes, part: RowPart, memory: int | None) -> "Blocks":
        from likely.fast.rows import base_tables

        tables, layout = graph.plans.tables, part.tree.layout
        base, spans = np.empty(layout.clique_at[-1]), np.empty(part.tree.n_cliques)
        base_tables(tables.scaled, tables.spans, layout.plan, base, spans)
        block = _block(part.tree, memory)
        return cls(codes, tables.scaled, base, spans, layout.plan, layout.n_numbers, block)

    @property
    def work(self) -> Array:
        """Room for one block."""
        return np.empty((self.n_numbers, self.block))


def _beliefs_in_blocks(
    graph: "FactorGraph",
    codes: Codes,
    part: RowPart,
    names: Sequence[str],
    found: tuple[Codes, Array, Array],
    memory: int | None,
) -> Codes:
    """Fill the marginals and log Z of the rows of a part; returns the rows that are too wide."""
    blocks = Blocks.of(graph, codes, part, memory)
    term = partial(_fill_beliefs, blocks, graph.plans.mask(names), found)
    for _ in _executor(part).map(term, _tasks(part.rows)):
        pass
    log_partition = found[-1]
    log_partition[part.rows] += graph.plans.tables.log_scale
    return part.rows[np.isnan(log_partition[part.rows])]


def _fill_beliefs(
    blocks: Blocks, wanted: Array, found: tuple[Codes, Array, Array], rows: Codes
) -> None:
    from likely.fast.rows import row_marginals

    row_marginals(
        blocks.codes,
        rows,
        wanted,
        blocks.values,
        blocks.base,
        blocks.base_spans,
        blocks.plan,
        blocks.work,
        *found,
    )


def _counts_in_blocks(
    graph: "FactorGraph",
    codes: Codes,
    part: RowPart,
    weight: Array,
    found: tuple[Array, Array],
    memory: int | None,
) -> Codes:
    """Add the counts and fill log Z of the rows of a part; returns the rows that are too wide."""
    from likely.fast.rows import factor_counts, row_expectations

    blocks = Blocks.of(graph, codes, part, memory)
    counts, log_partition = found
    expected = np.zeros_like(blocks.base)
    row_expectations(
        codes,
        part.rows,
        weight,
        blocks.values,
        blocks.base,
        blocks.base_spans,
        blocks.plan,
        blocks.work,
        expected,
        counts,
        log_partition,
    )
    factor_counts(blocks.plan, expected, counts)
    log_partition[part.rows] += graph.plans.tables.log_scale
    return part.rows[np.isnan(log_partition[part.rows])]


def _scores_in_blocks(
    graph: "FactorGraph",
    codes: Codes,
    part: RowPart,
    found: tuple[Codes, Array],
    memory: int | None,
) -> None:
    """Fill the best codes and scores of the rows of a part."""
    from likely.fast.row_scores import base_scores

    layout = part.tree.layout
    base = np.empty(layout.clique_at[-1])
    base_scores(graph.plans.tables.logs, layout.plan, base)
    blocks = Blocks(
        codes,
        graph.plans.tables.logs,
        base,
        np.ones(part.tree.n_cliques),
        layout.plan,
        layout.n_numbers,
        _block(part.tree, memory),
    )
    for _ in _executor(part).map(partial(_fill_scores, blocks, found), _tasks(part.rows)):
        pass


def _fill_scores(blocks: Blocks, found: tuple[Codes, Array], rows: Codes) -> None:
    from likely.fast.row_scores import row_best

    row_best(blocks.codes, rows, blocks.values, blocks.base, blocks.plan, blocks.work, *found)


def _executor(part: RowPart) -> Serial | Threads:
    return Threads() if part.tree.cells.sum() * len(part.rows) > THREADS_WORK else Serial()


def _tasks(rows: Codes) -> list[Codes]:
    return [rows[start : start + TASK] for start in range(0, len(rows), TASK)]
