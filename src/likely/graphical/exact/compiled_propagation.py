"""Propagation in a junction tree by the compiled loops: linear, or in logs for wide numbers.

For the loops the tables of a junction tree lie in one array.  A clique's own axes come first and
its separator's last, so that summing its own variables out adds long rows; a short separator comes
first instead, so that long rows are summed.  ``tree_propagation.py`` has the equations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.fast.propagation import (
    TOO_WIDE,
    backtrack,
    collect,
    collect_logs,
    conditionals,
    draw,
    log_marginals,
    marginals,
)
from likely.fast.strided import merge_axes
from likely.graphical.exact.graph_arrays import integers
from likely.graphical.exact.junction_tree import JunctionTree
from likely.graphical.exact.plans import Plans
from likely.graphical.exact.semiring import SEMIRINGS
from likely.graphical.exact.tree_inference import TreeEvidence
from likely.graphical.exact.tree_propagation import TreeBeliefs, summed_to
from likely.special import softmax

SHORT = 8  # cells of a separator that comes first


class Lists(NamedTuple):
    """Lists of integers end to end; the i-th is values[starts[i] : starts[i + 1]]."""

    starts: Codes
    values: Codes

    @classmethod
    def of_lengths(cls, lengths: Sequence[int] | Array, values: Sequence[int] | Array) -> "Lists":
        return cls(integers(np.append(0, np.cumsum(lengths))), integers(values))

    @classmethod
    def joined(cls, *parts: "Lists") -> "Lists":
        lengths = np.concatenate([part.lengths for part in parts])
        return cls.of_lengths(lengths, np.concatenate([part.values for part in parts]))

    @classmethod
    def grouped(cls, group: Array, n_groups: int) -> "Lists":
        """The positions of each number in ``group``; those below 0 are in no list."""
        inside = np.flatnonzero(group >= 0)
        order = inside[np.argsort(group[inside], kind="stable")]
        return cls.of_lengths(np.bincount(group[inside], minlength=n_groups), order)

    @property
    def lengths(self) -> Codes:
        return np.diff(self.starts)

    @property
    def owner(self) -> Codes:
        """The list that each value is in."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def picked(self, which: Array) -> "Lists":
        """Some of the lists, in the order of ``which``."""
        lengths = self.lengths[which]
        ends = np.cumsum(lengths)
        offset = np.repeat(self.starts[which] - (ends - lengths), lengths)
        return Lists.of_lengths(lengths, self.values[offset + np.arange(lengths.sum())])

    def products(self, sizes: Array) -> Codes:
        """Π sizes over the values of each list; 1 for an empty one."""
        factors = np.append(sizes[self.values], 1)
        found = np.multiply.reduceat(factors, np.minimum(self.starts, len(self.values)))[:-1]
        return np.where(self.lengths > 0, found, 1)


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """The integers of a plan in one array, and the numbers that one propagation needs room for."""

    tree: JunctionTree  # with the small cliques
    plan: Codes
    n_numbers: int
    clique_at: list[int]  # where each clique's table begins, and where the last one ends
    clique_axes: list[list[int]]  # in the order of the axes of the tables


def layout_of(tree: JunctionTree) -> Layout:
    """The layout of all tables, and the merged axes of all operations."""
    tree = tree.for_loops
    scopes, n_cliques, n_states = tree.scopes, tree.n_cliques, tree.scopes.n_states
    cliques = Lists(tree.starts, tree.axes)
    place = np.arange(len(tree.axes)) - tree.starts[cliques.owner]
    in_separator = place >= tree.n_own[cliques.owner]
    separators = Lists.of_lengths(cliques.lengths - tree.n_own, tree.axes[in_separator])
    cells, separator_cells = cliques.products(n_states), separators.products(n_states)
    own_last = (separator_cells < SHORT) & (cells > separator_cells**2) & (tree.above >= 0)
    turned = np.lexsort((in_separator ^ own_last[cliques.owner], cliques.owner))
    both = Lists.joined(Lists(tree.starts, tree.axes[turned]), separators)
    table_at = np.append(0, np.cumsum(np.append(cells, separator_cells)))
    groups, members = _groups(tree.above, separators, n_cliques)
    first = members.values[members.starts[:-1]]
    homes = _smallest(cliques, cells, scopes.n_variables)
    reads = _reads(tree, both, np.append(cells, separator_cells))
    every = Lists.of_lengths(np.ones(scopes.n_variables), np.arange(scopes.n_variables))
    op_table = np.concatenate([tree.host, homes, reads, tree.above[first], np.arange(n_cliques)])
    factors = Lists(scopes.starts, scopes.axes)
    op_axes = Lists.joined(factors, every, every, separators.picked(first), separators)
    tables = Lists.joined(
        both, Lists.of_lengths([0], np.zeros(0))
    )  # the last for what has no table
    kinds = [0, scopes.n_factors, scopes.n_variables, scopes.n_variables, len(first)]
    operations = (np.where(op_table < 0, 2 * n_cliques, op_table), *op_axes, *tables, n_states)
    dims = np.empty(len(op_table) + 1, dtype=np.int64)
    sizes, strides = np.empty((2, len(op_table) + int(tables.lengths[op_table].sum())), np.int64)
    cut = integers(~tree.free)
    n_axes = merge_axes(*operations, cut, scopes.n_factors, dims, sizes, strides)
    sections = (
        dims,
        sizes[:n_axes],
        strides[:n_axes],
        *operations,
        scopes.state_starts,
        *factors,
        np.append(0, np.cumsum(factors.products(n_states))),
        cut,
        np.flatnonzero(tree.host < 0),
        table_at[: n_cliques + 1],
        table_at[n_cliques:],
        tree.above,
        own_last,
        tree.host,
        *Lists.grouped(tree.host, n_cliques),
        *Lists.grouped(homes, n_cliques),
        groups.starts,
        *members,
        np.where(reads >= 0, table_at[reads], -1),
        np.where(reads >= n_cliques, reads - n_cliques, reads),
        tree.starts,
        tree.axes,
        tree.n_own,
        np.cumsum(kinds),
    )
    room = max(2 * int(separator_cells.max(initial=1)), int(n_states.max(initial=1)))
    axes = [both.values[a:b].tolist() for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
    return Layout(
        tree, _plan(sections), int(table_at[-1]) + room, table_at[: n_cliques + 1].tolist(), axes
    )


def _plan(sections: Sequence[Array]) -> Codes:
    """Sections end to end, behind a head with their starts."""
    starts = len(sections) + 1 + np.append(0, np.cumsum([len(part) for part in sections]))
    return integers(np.concatenate([starts, *sections]))


def _groups(parent: Codes, separators: Lists, n_cliques: int) -> tuple[Lists, Lists]:
    """The groups of each clique, and the children of each group: those with one separator."""
    found: dict[tuple[int, bytes], list[int]] = {}
    bounds = zip(separators.starts[:-1], separators.starts[1:], strict=True)
    for k, (above, (a, b)) in enumerate(zip(parent.tolist(), bounds, strict=True)):
        if above >= 0:
            found.setdefault((above, separators.values[a:b].tobytes()), []).append(k)
    keys = sorted(found, key=lambda key: key[0])
    members = [found[key] for key in keys]
    groups = Lists.grouped(integers([above for above, _ in keys]), n_cliques)
    lengths = [len(children) for children in members]
    return groups, Lists.of_lengths(lengths, [k for children in members for k in children])


def _reads(tree: JunctionTree, tables: Lists, cells: Array) -> Codes:
    """For each variable the table to read it from: cliques come first, then separators.

    A small clique costs a pass over the large one above it, so it is read only for variables that
    only that one has, instead of it.
    """
    is_small = tree.n_own == 0
    found = _smallest(tables, np.where(np.tile(is_small, 2), np.inf, cells), len(tree.home))
    for k in np.flatnonzero(is_small):
        axes = tables.values[tables.starts[k] : tables.starts[k + 1]]
        found[axes[found[axes] == tree.above[k]]] = k
    return found


def _smallest(tables: Lists, cells: Array, n_variables: int) -> Codes:
    """For each variable the smallest table that has it, −1 if there is none."""
    owner = tables.owner
    order = np.lexsort((cells[owner], tables.values))[::-1]  # the last assignment stays
    found = np.full(n_variables, -1)
    found[tables.values[order]] = owner[order]
    return found


def log_partition(plans: Plans, tree: JunctionTree, known: TreeEvidence) -> float:
    """log Z(e); −inf where the evidence is impossible."""
    with plans.room.numbers(tree.layout.n_numbers) as work:
        outcome, log_z = _collect(plans, tree, known, work)
        if outcome == TOO_WIDE:
            log_z = collect_logs(
                *known.in_logs[:3], plans.tables.logs, tree.layout.plan, work, False
            )
    return log_z + known.log_scale


def beliefs(
    plans: Plans,
    tree: JunctionTree,
    known: TreeEvidence,
    wanted: Array,
    joints: Sequence[tuple[int, ...]] = (),
) -> TreeBeliefs:
    """Marginals of the ``wanted`` variables (n_variables,), and joints that lie in cliques."""
    tables, layout = plans.tables, tree.layout
    out = np.empty(tree.scopes.state_starts[-1])
    needed = np.zeros(layout.tree.n_cliques, dtype=np.bool_)
    hosts = [layout.tree.clique_of(axes) for axes in joints]
    needed[hosts] = True
    with plans.room.numbers(layout.n_numbers) as work:
        outcome, log_z = marginals(
            *known[:3], wanted, needed, tables.scaled, tables.spans, layout.plan, work, out
        )
        log_z += tables.log_scale
        in_logs = outcome == TOO_WIDE
        if in_logs:
            log_z = log_marginals(
                *known.in_logs[:3], wanted, needed, tables.logs, layout.plan, work, out
            )
        log_z += known.log_scale
        if log_z == -np.inf:
            raise ImpossibleEvidence()
        found, plus = [], SEMIRINGS["sum-product"].plus
        for axes, k in zip(joints, hosts, strict=True):
            order = layout.clique_axes[k]
            table = work[layout.clique_at[k] : layout.clique_at[k + 1]]
            table = softmax(table) if in_logs else table / table.sum()
            found.append(summed_to(table.reshape(tree.scopes.n_states[order]), order, axes, plus))
    return TreeBeliefs(log_z, out, found)


def best_codes(
    plans: Plans, tree: JunctionTree, known: TreeEvidence, tie: float
) -> tuple[Codes, bool, float]:
    """The codes of a best configuration, whether no other is as good, and the log of its score."""
    plan = tree.layout.plan
    with plans.room.numbers(tree.layout.n_numbers) as work:
        best = (
            collect_logs(*known.in_logs[:3], plans.tables.logs, plan, work, True) + known.log_scale
        )
        if best == -np.inf:
            raise ImpossibleEvidence()
        codes = np.maximum(known.codes, 0)
        unique = backtrack(plan, work, tie * max(1.0, abs(best)), codes)
    return codes, unique, best


def drawn_codes(plans: Plans, tree: JunctionTree, known: TreeEvidence, uniform: Array) -> Codes:
    """Codes (n_variables, n_samples) drawn from P(x | e)."""
    plan = tree.layout.plan
    with plans.room.numbers(tree.layout.n_numbers) as work:
        outcome, log_z = _collect(plans, tree, known, work)
        if outcome == TOO_WIDE:
            log_z = collect_logs(*known.in_logs[:3], plans.tables.logs, plan, work, False)
            conditionals(plan, work)
        if log_z + known.log_scale == -np.inf:
            raise ImpossibleEvidence()
        codes = np.repeat(np.maximum(known.codes, 0)[:, None], len(uniform), axis=1)
        draw(uniform, plan, work, codes)
    return codes


def _collect(
    plans: Plans, tree: JunctionTree, known: TreeEvidence, work: Array
) -> tuple[int, float]:
    """One pass up the tree: the outcome, and log Z but for the likelihoods' scale."""
    tables, scale = plans.tables, np.empty(tree.layout.tree.n_cliques)
    outcome, log_z = collect(*known[:3], tables.scaled, tables.spans, tree.layout.plan, work, scale)
    return outcome, log_z + tables.log_scale
