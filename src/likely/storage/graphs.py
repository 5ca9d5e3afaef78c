"""Graphs in a model file: variables and factors as plain values and arrays.

variables   [name, [state, …]] of each
factors     [name, scale, [variable, …], table] of each
"""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from likely.errors import InvalidInput
from likely.graphical.learning.fit_report import FitReport
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable, by_name, column_of_states
from likely.storage.checks import is_number

GRAPHS: dict[str, type[FactorGraph]] = {
    kind.__name__: kind for kind in (FactorGraph, BayesianNetwork, MarkovField, ConditionalGraph)
}


LISTED = ("variables", "factors")
REPORT = "fit_report"  # an attribute of graphs that are learned from data
LEARNED = (BayesianNetwork, MarkovField)


def graph_class(name: str) -> type[FactorGraph] | None:
    """The kind of graph of that name; None if there is none."""
    return GRAPHS.get(name)


def graph_fields(kind: type[FactorGraph]) -> set[str]:
    """What makes a graph of this kind: its arguments, and how it was learned, if it can be."""
    learned = {REPORT} if kind in LEARNED else set()
    return {*signature(kind).parameters, *learned}


def graph_arguments(graph: FactorGraph) -> dict[str, Any]:
    """What makes a graph, as values that a model file can hold."""
    own = {name: vars(graph).get(name) for name in graph_fields(type(graph))}
    return {
        **own,
        "variables": [[each.name, column_of_states(each.values)] for each in graph.variables],
        "factors": [
            [each.name, each.scale, list(each.scope), each.stored] for each in graph.factors
        ],
    }


def graph_of(kind: type[FactorGraph], arguments: Mapping[str, Any]) -> FactorGraph:
    """The graph of what ``graph_arguments`` returned; its constructor checks everything."""
    for name, states in arguments["variables"]:
        for state in states if isinstance(states, list | tuple) else ():
            if not (isinstance(state, str | bool) or is_number(state)):
                raise InvalidInput(
                    f"variable {str(name)[:40]!r} has a {type(state).__name__} as a state; "
                    "expected text, numbers or Booleans. Save the graph again."
                )
    named = by_name([Variable(name, states) for name, states in arguments["variables"]])
    factors = []
    names = [arguments.get("name", ""), *(name for name, *_ in arguments["factors"])]
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(
            "the name of a graph, or of one of its factors, is not text; expected text. Save the "
            "graph again."
        )
    for name, scale, scope, table in arguments["factors"]:
        unknown = [each for each in scope if each not in named]
        if unknown:
            raise InvalidInput(
                f"a factor depends on {unknown[0]!r}, which is not among the variables of the "
                "graph. Save the graph again."
            )
        factors.append(Factor([named[each] for each in scope], table, scale=scale, name=name))
    others = {name: arguments[name] for name in arguments if name not in (*LISTED, REPORT)}
    graph = kind(factors, named.values(), **others)
    if arguments.get(REPORT) is not None:
        if not isinstance(arguments[REPORT], FitReport):
            raise InvalidInput(
                f"the fit_report of a graph is a {type(arguments[REPORT]).__name__}; expected a "
                "FitReport. Save the graph again."
            )
        vars(graph)[REPORT] = arguments[REPORT]
    return graph
