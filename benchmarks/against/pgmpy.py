"""pgmpy: exact inference by variable elimination and belief propagation; learning by counts."""

from typing import Any

import numpy as np

from benchmarks.race import Skipped
from likely import BayesianNetwork


def model(graph: BayesianNetwork) -> Any:
    """The same network, with codes for states."""
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError as error:
        raise Skipped(str(error)) from error
    found = DiscreteBayesianNetwork()
    found.add_nodes_from(graph.names)
    found.add_edges_from(graph.edges)
    for name in graph.names:
        table = graph.tables[name]
        parents = list(graph.parents[name])
        values = table.potential.reshape(-1, table.variables[-1].n_states).T
        sizes = [variable.n_states for variable in table.variables[:-1]]
        found.add_cpds(
            TabularCPD(
                name,
                table.variables[-1].n_states,
                values / values.sum(axis=0),
                parents or None,
                sizes or None,
            )
        )
    return found


def engine(bn: Any) -> Any:
    from pgmpy.inference import BeliefPropagation

    found = BeliefPropagation(bn)
    found.calibrate()
    return found


def marginals(ie: Any, names: list[str], codes: dict[str, int]) -> list[np.ndarray]:
    """All marginals given what was observed."""
    wanted = [name for name in names if name not in codes]
    found = ie.query(wanted, evidence=codes, joint=False, show_progress=False)
    return [found[name].values for name in wanted]
