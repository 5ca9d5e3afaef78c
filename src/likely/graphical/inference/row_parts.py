"""Which junction tree answers which rows of a table.

Rows that observe the same variables share a tree in which these are cut out of the tables, if they
are many enough to pay for its planning.  The other rows share one tree, without the variables that
all of them observe.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.errors import GraphTooLarge
from likely.graphical.inference.junction_tree import JunctionTree
from likely.graphical.inference.plans import PLANNING_CELLS, Plans

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph

MOST_PATTERNS = 64  # sets of observed variables that get a tree of their own


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
