"""Propagation in a junction tree by the compiled loops: linear, or in logs for wide numbers."""

from collections.abc import Sequence

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.fast.log_propagation import (
    backtrack,
    collect_logs,
    conditionals,
    log_marginals,
)
from likely.fast.propagation import TOO_WIDE, collect, draw, marginals
from likely.graphical.inference.calibration import TreeBeliefs, summed_to
from likely.graphical.inference.junction_tree import JunctionTree
from likely.graphical.inference.plans import Plans
from likely.graphical.inference.tree_evidence import TreeEvidence
from likely.special import softmax


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
        found = []
        for axes, k in zip(joints, hosts, strict=True):
            order = layout.clique_axes[k]
            table = work[layout.clique_at[k] : layout.clique_at[k + 1]]
            table = softmax(table) if in_logs else table / table.sum()
            found.append(summed_to(table.reshape(tree.scopes.n_states[order]), order, axes, np.sum))
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
