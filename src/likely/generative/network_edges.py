"""The edges of a network of columns: how large its tables are, and how they are shown and drawn."""

from collections.abc import Mapping, Sequence
from math import prod

from likely.description import NamedColumn, NamedTable
from likely.errors import InvalidInput
from likely.graphical.learning.structure import Edge
from likely.graphical.model.bayesian_network import BayesianNetwork

MOST_CELLS = 2**26  # of all tables together: half a gigabyte of probabilities


def refuse_large_tables(states: Mapping[str, Sequence[object]], edges: Sequence[Edge]) -> None:
    """Refuse tables that do not fit the memory: columns with very many values depend on others."""
    cells = {name: len(own) for name, own in states.items()}
    for parent, child in edges:
        if parent in states and child in states:
            cells[child] *= len(states[parent])
    if sum(cells.values()) > MOST_CELLS:
        largest = max(cells, key=cells.__getitem__)
        raise InvalidInput(
            f"The tables of the network would have {sum(cells.values()):,} cells, most of them for "
            f"{largest!r}; at most {MOST_CELLS:,} are allowed. Drop columns with very many values, "
            "or use structure='naive-bayes'."
        )


def edges_table(network: BayesianNetwork) -> NamedTable:
    """The parents of each variable, and how many parameters its table has."""
    rows = tuple(
        (name, ", ".join(network.parents[name]) or "none", _n_free(network, name))
        for name in network.names
    )
    columns = (
        NamedColumn("variable", "variable"),
        NamedColumn("parents", "parents"),
        NamedColumn("n_parameters", "parameters", "number"),
    )
    return NamedTable("network", columns, rows, noun="variable", title="Edges of the network")


def _n_free(network: BayesianNetwork, name: str) -> int:
    table = network.tables[name].table
    return int((table.shape[-1] - 1) * prod(table.shape[:-1]))
