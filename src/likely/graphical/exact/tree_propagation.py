"""Propagation in a junction tree as the book writes it, in logs, one table for each clique.

    collect      message_k(s) = ⊕_own table_k(own, s), added to the parent's table
    distribute   table_k += ⊕_rest table_parent(s) − message_k(s), with −inf − (−inf) = −inf

⊕ is that of the semiring in logs: log Σ exp, or max for the most probable states.  This is the
twin of the compiled loops, and answers for small graphs.

References
----------
Jensen, Lauritzen & Olesen, Computational Statistics Quarterly 4 (1990), 269–282.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import ImpossibleEvidence
from likely.graphical.exact.enumeration import spread
from likely.graphical.exact.junction_tree import JunctionTree
from likely.graphical.exact.semiring import SEMIRINGS, Axes, Semiring
from likely.special import softmax


@final
@dataclass(frozen=True, eq=False)
class TreeBeliefs:
    """log Z(e), the marginals of all variables end to end where they were wanted, and joints."""

    log_partition: float
    marginals: Array  # (Σ n_states,)
    joints: list[Array]


@final
@dataclass(frozen=True, eq=False)
class CliqueTables:
    """A table in logs for each clique, its axes in the tree's order, and the messages upwards."""

    tree: JunctionTree
    tables: list[Array]
    messages: list[Array]
    log_total: float  # log Z, or the best score

    def distributed(self) -> "CliqueTables":
        """The tables as log P(clique, e), and the messages as log P(separator, e)."""
        tables, messages = list(self.tables), list(self.messages)
        axes = self.tree.clique_axes
        for k in reversed(range(self.tree.n_cliques)):
            for child in self.tree.children[k]:
                shared = axes[child][self.tree.n_own[child] :]
                total = summed_to(tables[k], axes[k], shared)
                old = messages[child]
                with np.errstate(invalid="ignore"):
                    ratio = np.where(old > -np.inf, total - old, -np.inf)
                tables[child] = tables[child] + ratio  # the separator's axes are the last
                messages[child] = total
        return CliqueTables(self.tree, tables, messages, self.log_total)


def collected(
    tree: JunctionTree,
    factors: Sequence[tuple[Sequence[int], Array]],
    semiring: Semiring = SEMIRINGS["sum-product"],
) -> CliqueTables:
    """Fill the cliques with factors (axes, log table) and send messages to the roots.

    The axes of each factor lie in one clique.
    """
    held: list[list[tuple[Sequence[int], Array]]] = [[] for _ in range(tree.n_cliques)]
    total = 0.0
    for axes, table in factors:
        if len(axes):
            held[int(tree.home[list(axes)].min())].append((axes, table))
        else:
            total += float(table)
    tables: list[Array] = []
    messages: list[Array] = []
    for k, axes in enumerate(tree.clique_axes):
        table = np.zeros(tuple(tree.scopes.n_states[list(axes)]))
        below = [(tree.clique_axes[c][tree.n_own[c] :], messages[c]) for c in tree.children[k]]
        for part_axes, part in held[k] + below:
            table += spread(part, [axes.index(v) for v in part_axes], len(axes))
        tables.append(table)
        messages.append(semiring.plus_of_logs(table, tuple(range(int(tree.n_own[k])))))
        if tree.above[k] < 0:
            total += float(messages[-1])
    return CliqueTables(tree, tables, messages, total)


def beliefs(
    tree: JunctionTree,
    factors: Sequence[tuple[Sequence[int], Array]],
    codes: Codes,
    joints: Sequence[tuple[int, ...]] = (),
) -> TreeBeliefs:
    """Marginals of all variables, and joints that lie in cliques; ``codes`` of those observed."""
    found = collected(tree, factors)
    if found.log_total == -np.inf:
        raise ImpossibleEvidence()
    found = found.distributed()

    def joint(axes: tuple[int, ...]) -> Array:
        k = tree.clique_of(axes)
        log_joint = summed_to(found.tables[k], tree.clique_axes[k], axes)
        return softmax(log_joint, axis=tuple(range(len(axes))))

    scopes = tree.scopes
    marginals = np.zeros(scopes.state_starts[-1])
    for v, start in enumerate(scopes.state_starts[:-1]):
        if tree.free[v]:
            marginals[start : scopes.state_starts[v + 1]] = joint((v,))
        else:
            marginals[start + max(codes[v], 0)] = 1.0
    return TreeBeliefs(found.log_total, marginals, [joint(axes) for axes in joints])


def best_codes(
    tree: JunctionTree,
    factors: Sequence[tuple[Sequence[int], Array]],
    codes: Codes,
    tie: float,
) -> tuple[Codes, bool, float]:
    """The codes of a best configuration, whether no other is as good, and the log of its score.

    Scores are equal within the part ``tie`` of the best one.
    """
    found, unique = collected(tree, factors, SEMIRINGS["max-sum"]), True
    if found.log_total == -np.inf:
        raise ImpossibleEvidence()
    codes, slack = np.maximum(codes, 0), tie * max(1.0, abs(found.log_total))
    for k in reversed(range(tree.n_cliques)):
        axes, n_own = list(tree.clique_axes[k]), int(tree.n_own[k])
        scores = found.tables[k][(..., *codes[axes[n_own:]])]
        unique &= int((scores >= scores.max() - slack).sum()) == 1
        codes[axes[:n_own]] = np.unravel_index(int(scores.argmax()), scores.shape)
    return codes, unique, found.log_total


def drawn_codes(
    tree: JunctionTree,
    factors: Sequence[tuple[Sequence[int], Array]],
    codes: Codes,
    uniform: Array,
) -> Codes:
    """Codes (n_variables, n_samples), drawn clique by clique from the root down.

    A clique's own variables are drawn together, by the inverse of their cumulative probabilities,
    with the number of the first of them in ``uniform`` (n_samples, n_variables).
    """
    found = collected(tree, factors)
    if found.log_total == -np.inf:
        raise ImpossibleEvidence()
    codes = np.repeat(np.maximum(codes, 0)[:, None], len(uniform), axis=1)
    for k in reversed(range(tree.n_cliques)):
        axes, n_own = list(tree.clique_axes[k]), int(tree.n_own[k])
        table, total = found.tables[k], found.messages[k]
        with np.errstate(invalid="ignore"):
            table = np.exp(np.where(table > -np.inf, table - total, -np.inf))
        upper = np.cumsum(table.reshape(-1, total.size), axis=0)
        separator = _cells(codes[axes[n_own:]], total.shape)
        for cell in np.unique(separator):
            samples, steps = np.flatnonzero(separator == cell), upper[:, cell]
            own = np.searchsorted(steps, uniform[samples, axes[0]] * steps[-1], side="right")
            last = np.searchsorted(steps, steps[-1])  # where rounding goes beyond the end
            parts = np.unravel_index(np.minimum(own, last), table.shape[:n_own])
            for axis, part in zip(axes[:n_own], parts, strict=True):
                codes[axis, samples] = part
    return codes


def _cells(codes: Codes, shape: tuple[int, ...]) -> Codes:
    """The cell of a table that each sample is in, from its codes (n_axes, n_samples)."""
    found = np.zeros(codes.shape[1], dtype=np.int64)
    for size, code in zip(shape, codes, strict=True):
        found = found * size + code
    return found


def summed_to(
    table: Array,
    axes: Sequence[int],
    kept: Sequence[int],
    plus: Callable[[Array, Axes], Array] = SEMIRINGS["sum-product"].plus_of_logs,
) -> Array:
    """The table over ``kept``, in this order, with all other axes summed out; of logs."""
    summed = plus(table, tuple(i for i, v in enumerate(axes) if v not in kept))
    left = [v for v in axes if v in kept]
    return summed.transpose([left.index(v) for v in kept])
