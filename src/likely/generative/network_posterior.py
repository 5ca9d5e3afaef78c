"""The classes of rows under a Bayesian network: log P(x, y = k), and what each column contributes.

    complete row   log P(x, k) = Σ_v log P(x_v | pa(x_v)), a sum of cells of tables
    row with gaps  log P(x_o, k) = log Z(x_o, y = k), by inference

The contribution of a column is the change of log P(y = k | ·) when its cell is seen after those of
the columns before it in the order of the network, parents first:

    log P(k | x_1 … x_j) − log P(k | x_1 … x_{j−1})

These add up to the log-odds.  In a complete row, where the class has no parents, the contribution
is the log-odds of the column's own table, log P(x_j | pa(x_j)), as in naive Bayes.
"""

import numpy as np

from likely._typing import Array, Codes
from likely.graphical.exact.row_propagation import row_beliefs
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor


def class_log_joint(network: BayesianNetwork, target: str, codes: Codes) -> Array:
    """log P(x, y = k) of each row, (n, n_states); codes of ``target`` are not read."""
    column = network.names.index(target)
    n_classes = network.by_name[target].n_states
    gaps = (np.delete(codes, column, axis=1) < 0).any(axis=1)
    log_joint = np.zeros((len(codes), n_classes))
    log_joint[~gaps] = _of_complete_rows(network, target, codes[~gaps])
    if gaps.any():
        asked = np.repeat(codes[gaps], n_classes, axis=0)
        asked[:, column] = np.tile(np.arange(n_classes), int(gaps.sum()))
        found = row_beliefs(network, asked, (), None).log_partition
        log_joint[gaps] = found.reshape(-1, n_classes)
    return log_joint


def class_margins(network: BayesianNetwork, target: str, names: tuple[str, ...]) -> list[Array]:
    """P(x_v | y = k) of each of ``names``, (n_classes, n_states)."""
    n_classes = network.by_name[target].n_states
    codes = np.full((n_classes, len(network.names)), -1, dtype=np.int32)
    codes[:, network.names.index(target)] = np.arange(n_classes)
    marginals = row_beliefs(network, codes, names, None).marginals
    return [marginals[name] for name in names]


def column_contributions(
    network: BayesianNetwork, target: str, names: tuple[str, ...], codes: Codes
) -> Array:
    """The contribution of each of ``names`` to log P(y = k | x), (n, n_names, n_classes).

    Each is up to a term that the classes share.
    """
    place = {name: v for v, name in enumerate(network.names)}
    known = (codes[:, [place[name] for name in names]] >= 0).all(axis=1)
    simple = known & (len(names) == len(place) - 1) & (not network.parents[target])
    out = np.zeros((len(codes), len(names), network.by_name[target].n_states))
    for j, name in enumerate(names):
        table = network.tables[name]
        if target in table.scope:
            out[simple, j] = _at_each_class(table, target, codes[simple], place)
    if not simple.all():
        out[~simple] = _one_after_another(network, target, names, codes[~simple])
    return out


def _of_complete_rows(network: BayesianNetwork, target: str, codes: Codes) -> Array:
    place = {name: v for v, name in enumerate(network.names)}
    total = np.zeros((len(codes), network.by_name[target].n_states))
    for factor in network.factors:
        if target in factor.scope:
            total += _at_each_class(factor, target, codes, place)
        else:
            cells = tuple(codes[:, place[name]] for name in factor.scope)
            total += factor.log_table[cells][:, None]
    return total


def _at_each_class(factor: Factor, target: str, codes: Codes, place: dict[str, int]) -> Array:
    """log of the factor's cell for each row and each state of ``target``, (n, n_states)."""
    table = np.moveaxis(factor.log_table, factor.scope.index(target), -1)
    cells = tuple(codes[:, place[name]] for name in factor.scope if name != target)
    return table[cells] if cells else np.broadcast_to(table, (len(codes), len(table)))


def _one_after_another(
    network: BayesianNetwork, target: str, names: tuple[str, ...], codes: Codes
) -> Array:
    """Contributions by the chain of conditionals; (number of columns + 1) inferences per row."""
    place = {name: v for v, name in enumerate(network.names)}
    seen = np.full_like(codes, -1)
    before = class_log_joint(network, target, seen)
    out = np.zeros((len(codes), len(names), before.shape[1]))
    for name in network.order:
        if name in names:
            seen[:, place[name]] = codes[:, place[name]]
            after = class_log_joint(network, target, seen)
            # −inf stays −inf: a class that is impossible already loses nothing
            np.subtract(after, before, out=out[:, names.index(name)], where=after != before)
            before = after
    return out
