"""Propagation in a junction tree by the compiled loops.

None is returned where numbers are too wide for linear arithmetic: ``calibration`` does it in logs.
"""

from collections.abc import Sequence

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.fast.max_sum import backtrack, collect_best
from likely.fast.propagation import TOO_WIDE, collect, draw, marginals
from likely.graphical.calibration import TreeBeliefs, summed_to
from likely.graphical.factor_tables import FactorTables
from likely.graphical.junction_tree import JunctionTree
from likely.graphical.tree_evidence import TreeEvidence


def log_partition(tables: FactorTables, tree: JunctionTree, known: TreeEvidence) -> float | None:
    """log Z(e); −inf where the evidence is impossible."""
    outcome, log_z, _ = _collected(tables, tree, known)
    return None if outcome == TOO_WIDE else log_z + tables.log_scale + known.log_scale


def beliefs(
    tables: FactorTables,
    tree: JunctionTree,
    known: TreeEvidence,
    wanted: Array,
    joints: Sequence[tuple[int, ...]] = (),
) -> TreeBeliefs | None:
    """Marginals of the ``wanted`` variables (n_variables,), and joints that lie in cliques."""
    layout = tree.layout
    work, out = np.empty(layout.n_numbers), np.empty(tree.scopes.state_starts[-1])
    needed = np.zeros(tree.n_cliques, dtype=np.bool_)
    hosts = [tree.clique_of(axes) for axes in joints]
    needed[hosts] = True
    outcome, log_z = marginals(
        *known[:3], wanted, needed, tables.scaled, tables.spans, layout.plan, work, out
    )
    if outcome == TOO_WIDE:
        return None
    log_z += tables.log_scale + known.log_scale
    if log_z == -np.inf:
        raise ImpossibleEvidence()
    found = []
    for axes, k in zip(joints, hosts, strict=True):
        order = layout.clique_axes[k]
        table = work[layout.clique_at[k] : layout.clique_at[k + 1]]
        joint = summed_to(table.reshape(tree.scopes.n_states[order]), order, axes, np.sum)
        found.append(joint / joint.sum())
    return TreeBeliefs(log_z, out, found)


def best_codes(
    tables: FactorTables, tree: JunctionTree, known: TreeEvidence, tie: float
) -> tuple[Codes, bool, float]:
    """The codes of a best configuration, whether no other is as good, and the log of its score."""
    plan, work = tree.layout.plan, np.empty(tree.layout.n_numbers)
    with np.errstate(divide="ignore"):
        log_likelihood = np.log(known.likelihood)
    best = collect_best(known.codes, log_likelihood, known.has_likelihood, tables.logs, plan, work)
    best += known.log_scale
    if best == -np.inf:
        raise ImpossibleEvidence()
    codes = np.maximum(known.codes, 0)
    return codes, backtrack(plan, work, tie * max(1.0, abs(best)), codes), best


def drawn_codes(
    tables: FactorTables, tree: JunctionTree, known: TreeEvidence, uniform: Array
) -> Codes | None:
    """Codes (n_variables, n_samples) drawn from P(x | e)."""
    outcome, log_z, work = _collected(tables, tree, known)
    if outcome == TOO_WIDE:
        return None
    if log_z + known.log_scale == -np.inf:
        raise ImpossibleEvidence()
    codes = np.repeat(np.maximum(known.codes, 0)[:, None], len(uniform), axis=1)
    draw(uniform, tree.layout.plan, work, codes)
    return codes


def _collected(
    tables: FactorTables, tree: JunctionTree, known: TreeEvidence
) -> tuple[int, float, Array]:
    """The outcome, log Z and the tables of one pass up the tree."""
    work, scale = np.empty(tree.layout.n_numbers), np.empty(tree.n_cliques)
    outcome, log_z = collect(*known[:3], tables.scaled, tables.spans, tree.layout.plan, work, scale)
    return outcome, log_z, work
