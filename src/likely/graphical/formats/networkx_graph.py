"""Graphs for networkx: its algorithms and layouts on the structure of ours.

A Bayesian network is a DiGraph from parents to children, a Markov field a Graph of neighbours, and
any other factor graph a Graph of two kinds of nodes: variables by their names, factors by their
positions.  Nodes of variables carry ``states``, those of factors ``factor``.
"""

from typing import TYPE_CHECKING, Any

from likely.errors import InvalidInput

if TYPE_CHECKING:
    from likely.graphical.model.bayesian_network import BayesianNetwork
    from likely.graphical.model.factor_graph import FactorGraph
    from likely.graphical.model.markov_field import MarkovField


def directed_graph(network: "BayesianNetwork") -> Any:
    """Edges from parents to children; each node carries its states and its table."""
    found = _networkx().DiGraph(name=network.name)
    for variable in network.variables:
        found.add_node(variable.name, states=variable.states, factor=network.tables[variable.name])
    found.add_edges_from(network.edges)
    return found


def undirected_graph(field: "MarkovField") -> Any:
    """Edges between variables that share a factor; each node carries its states."""
    found = _networkx().Graph(name=field.name)
    for variable in field.variables:
        found.add_node(variable.name, states=variable.states)
    found.add_edges_from((a, b) for a in field.names for b in field.neighbours[a])
    return found


def bipartite_graph(graph: "FactorGraph") -> Any:
    """Edges between factors, called 0, 1, …, and the variables that they depend on."""
    found = _networkx().Graph(name=graph.name)
    for variable in graph.variables:
        found.add_node(variable.name, bipartite=0, states=variable.states)
    for j, factor in enumerate(graph.factors):
        found.add_node(j, bipartite=1, factor=factor)
        found.add_edges_from((j, name) for name in factor.scope)
    return found


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise InvalidInput(
            "networkx is not installed, and to_networkx makes its graphs. Install it: "
            "pip install networkx."
        ) from None
    return networkx
