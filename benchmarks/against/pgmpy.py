"""pgmpy: exact inference by variable elimination; learning by counts."""

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
        values = table.table.reshape(-1, table.variables[-1].n_states).T
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
    """Elimination; its belief propagation refuses networks that fall into parts."""
    from pgmpy.inference import VariableElimination

    return VariableElimination(bn)


def marginals(ie: Any, names: list[str], codes: dict[str, int]) -> list[np.ndarray]:
    """All marginals given what was observed."""
    wanted = [name for name in names if name not in codes]
    found = ie.query(wanted, evidence=codes, joint=False, show_progress=False)
    return [found[name].values for name in wanted]


def learned_by_counts(graph: BayesianNetwork, codes: np.ndarray) -> Any:
    """Tables from a data frame of codes, with one pseudo-count in each cell."""
    from pgmpy.estimators import BayesianEstimator
    from pgmpy.models import DiscreteBayesianNetwork

    bn = DiscreteBayesianNetwork()
    bn.add_nodes_from(graph.names)
    bn.add_edges_from(graph.edges)
    states = {variable.name: list(range(variable.n_states)) for variable in graph.variables}
    estimator = BayesianEstimator(bn, _frame(graph, codes), state_names=states)
    return estimator.get_parameters(prior_type="K2")


def learned_edges(graph: BayesianNetwork, codes: np.ndarray) -> list[tuple[str, str]]:
    """Hill climbing by BIC."""
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(_frame(graph, codes).astype("category"))
    return list(search.estimate(scoring_method="bic-d", show_progress=False).edges())


def _frame(graph: BayesianNetwork, codes: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(codes, columns=list(graph.names))
