"""Propagation in a junction tree by the compiled loops.

None is returned where numbers are too wide for linear arithmetic: ``calibration`` does it in logs.
"""

from collections.abc import Sequence

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.fast.max_sum import backtrack, collect_best
from likely.fast.propagation import IMPOSSIBLE, TOO_WIDE, collect, draw, marginals
from likely.graphical.calibration import TreeBeliefs, summed_to
from likely.graphical.factor_tables import FactorTables
from likely.graphical.junction_tree import JunctionTree
from likely.graphical.tree_evidence import TreeEvidence


def log_partition(tables: FactorTables, tree: JunctionTree, known: TreeEvidence) -> float | None:
    """log Z(e); −inf where the evidence is impossible."""
    cliques, messages = _room(tree)
    outcome, log_z = collect(
        *known[:3], tables.for_sums, tree.layout, cliques, messages, np.ones(tree.n_cliques)
    )
    return None if outcome == TOO_WIDE else log_z + tables.log_scale + known.log_scale


def beliefs(
    tables: FactorTables,
    tree: JunctionTree,
    known: TreeEvidence,
    wanted: Array,
    joints: Sequence[tuple[int, ...]] = (),
) -> TreeBeliefs | None:
    """Marginals of the ``wanted`` variables (n_variables,), and joints that lie in cliques."""
    layout, (cliques, messages) = tree.layout, _room(tree)
    out = np.empty(tree.scopes.state_starts[-1])
    needed = np.zeros(tree.n_cliques, dtype=np.bool_)
    hosts = [tree.clique_of(axes) for axes in joints]
    needed[hosts] = True
    outcome, log_z = marginals(
        *known[:3], wanted, needed, tables.for_sums, layout, cliques, messages, out
    )
    if outcome == TOO_WIDE:
        return None
    log_z += tables.log_scale + known.log_scale
    if outcome == IMPOSSIBLE or log_z == -np.inf:
        raise ImpossibleEvidence()
    found = []
    for axes, k in zip(joints, hosts, strict=True):
        order = list(tree.clique_axes[k])
        if layout.own_last[k]:
            order = order[tree.n_own[k] :] + order[: tree.n_own[k]]
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        joint = summed_to(table.reshape(tree.scopes.n_states[order]), order, axes, np.sum)
        found.append(joint / joint.sum())
    return TreeBeliefs(log_z, out, found)


def best_codes(
    tables: FactorTables, tree: JunctionTree, known: TreeEvidence, tie: float
) -> tuple[Codes, bool]:
    """The codes of the best configuration, and whether no other is as good."""
    layout, (cliques, messages) = tree.layout, _room(tree)
    with np.errstate(divide="ignore"):
        log_likelihood = np.log(known.likelihood)
    best = collect_best(
        known.codes,
        log_likelihood,
        known.has_likelihood,
        tables.for_scores,
        layout,
        cliques,
        messages,
    )
    best += known.log_scale
    if best == -np.inf:
        raise ImpossibleEvidence()
    codes, slack = np.maximum(known.codes, 0), tie * max(1.0, abs(best))
    unique = backtrack(
        tables.for_scores, layout, tree.axes, tree.starts, tree.n_own, cliques, slack, codes
    )
    return codes, unique


def drawn_codes(
    tables: FactorTables, tree: JunctionTree, known: TreeEvidence, uniform: Array
) -> Codes | None:
    """Codes (n_variables, n_samples) drawn from P(x | e)."""
    layout, (cliques, messages) = tree.layout, _room(tree)
    outcome, _ = collect(
        *known[:3], tables.for_sums, layout, cliques, messages, np.ones(tree.n_cliques)
    )
    if outcome == TOO_WIDE:
        return None
    if outcome == IMPOSSIBLE or known.log_scale == -np.inf:
        raise ImpossibleEvidence()
    codes = np.repeat(np.maximum(known.codes, 0)[:, None], len(uniform), axis=1)
    draw(uniform, tables.for_sums, layout, tree.axes, tree.starts, tree.n_own, cliques, codes)
    return codes


def _room(tree: JunctionTree) -> tuple[Array, Array]:
    """Room for the cliques' tables and the messages."""
    return np.empty(tree.layout.clique_at[-1]), np.empty(tree.layout.message_at[-1])
