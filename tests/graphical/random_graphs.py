"""Random factor graphs and evidence, and the answers of enumeration."""

import numpy as np

from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable


def random_factor(rng, variables, zeros=0.1):
    """A table of random numbers, some of them 0, linear or in logs."""
    shape = [variable.n_states for variable in variables]
    table = rng.gamma(1.0, size=shape) * (rng.random(shape) >= zeros)
    if rng.random() < 0.5:
        return Factor(variables, table)
    with np.errstate(divide="ignore"):
        return Factor(variables, np.log(table), scale="log")


def random_tree(seed, most=7, zeros=0.1):
    """Trees of factors with one to three variables, of one to three states each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    variables = [Variable(f"v{i}", int(rng.integers(1, 4))) for i in range(n)]
    factors, joined = [], 0
    while joined < n:
        new = variables[joined : joined + int(rng.integers(1, 3))]
        alone = joined == 0 or rng.random() < 0.15  # a tree of its own
        old = [] if alone else [variables[rng.integers(joined)]]
        scope = old + new
        if len(scope) > 1 or rng.random() < 0.7:
            factors.append(
                random_factor(rng, [scope[i] for i in rng.permutation(len(scope))], zeros)
            )
        joined += len(new)
    for variable in variables:
        if rng.random() < 0.4:
            factors.append(random_factor(rng, [variable], zeros=0.0))
    return FactorGraph([factors[i] for i in rng.permutation(len(factors))], variables)


def random_graph(seed, n=6, n_factors=7, zeros=0.1):
    """Factors over any one to three variables, one of them over the same set twice."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"v{i}", int(rng.integers(1, 4))) for i in range(n)]
    scopes = [rng.permutation(n)[: rng.integers(1, 4)] for _ in range(n_factors)]
    scopes.append(scopes[0][::-1])
    factors = [random_factor(rng, [variables[i] for i in scope], zeros) for scope in scopes]
    return FactorGraph(factors, variables)


def random_network(seed, n=5, n_states=2, most_parents=2):
    """A Bayesian network without zeros."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"v{i}", n_states) for i in range(n)]
    factors = []
    for i, variable in enumerate(variables):
        above = rng.permutation(i)[: rng.integers(most_parents + 1)]
        table = rng.dirichlet(np.ones(n_states), size=(n_states,) * len(above))
        factors.append(Factor([*(variables[j] for j in above), variable], table))
    return BayesianNetwork(factors, variables)


def random_evidence(graph, seed):
    """States of some variables, likelihoods of some (perhaps the same); perhaps impossible."""
    rng = np.random.default_rng(seed)
    codes = {v.name: int(rng.integers(v.n_states)) for v in graph.variables if rng.random() < 0.25}
    soft = {v.name: rng.random(v.n_states) for v in graph.variables if rng.random() < 0.2}
    return GraphEvidence(codes, soft)


def named(graph, evidence):
    """Evidence as a person gives it: names of states, and likelihoods."""
    states = {name: graph.by_name[name].states[code] for name, code in evidence.codes.items()}
    return {"given": states, "soft": dict(evidence.soft)}


def enumerated(graph, evidence=None, joints=()):
    """The answer of enumeration to everything."""
    return Enumeration().answer(graph, Request(graph.names, joints, evidence or GraphEvidence()))


def possible(graph, evidence):
    return Enumeration().log_partition(graph, Request(evidence=evidence)) > -np.inf
