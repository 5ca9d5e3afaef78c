"""Small networks, rows drawn from them, and inference by enumeration for whole tables."""

import numpy as np

from likely.graphical.exact.enumeration import log_joint_table
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.graph_evidence import GraphEvidence


def row_families(graph, codes, weight):
    """Expected counts of the scope of each factor, and Σ_i w_i log Z(row i), from the whole joint.

    A row selects a part of the table of F; divided by its sum it is the posterior of the row.
    """
    product = np.exp(log_joint_table(graph, GraphEvidence(), None))
    posterior, total = np.zeros(product.shape), 0.0
    for row, w in zip(codes, weight, strict=True):
        part = tuple(slice(None) if code < 0 else code for code in row)
        total += w * np.log(product[part].sum())
        posterior[part] += w * product[part] / product[part].sum()
    return [_marginal(posterior, graph.names, factor.scope) for factor in graph.factors], total


def _marginal(table, names, scope):
    kept = [name for name in names if name in scope]
    summed = table.sum(axis=tuple(i for i, name in enumerate(names) if name not in scope))
    return summed.transpose([kept.index(name) for name in scope])


def random_edges(rng, names, density=0.5):
    """The edges of a random graph without cycles."""
    order = rng.permutation(len(names))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return [(names[a], names[b]) for a, b in pairs if rng.random() < density]


def random_network(seed, sizes=(2, 3, 2, 2), density=0.5):
    """A network with random edges and tables; its variables are a, b, c, …."""
    rng = np.random.default_rng(seed)
    names = "abcdefgh"[: len(sizes)]
    states = dict(zip(names, sizes, strict=True))
    network = BayesianNetwork.from_edges(random_edges(rng, names, density), states)
    return network.with_factors(
        Factor(f.variables, rng.dirichlet(np.ones(f.table.shape[-1]), size=f.table.shape[:-1]))
        for f in network.factors
    )


def drawn(network, n, seed):
    """Codes of n rows drawn from a network, (n, n_variables)."""
    rng = np.random.default_rng(seed)
    codes = dict.fromkeys(network.names, np.zeros(n, dtype=int))
    for name in network.order:
        table = network.tables[name].table[tuple(codes[p] for p in network.parents[name])]
        upper = np.cumsum(np.broadcast_to(table, (n, table.shape[-1])), axis=1)
        codes[name] = (rng.random(n)[:, None] >= upper[:, :-1]).sum(axis=1)
    return np.stack([codes[name] for name in network.names], axis=1)


def with_gaps(codes, share, seed):
    """Codes of which a random share is missing."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(codes.shape) < share, -1, codes)
