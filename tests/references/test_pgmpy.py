"""Marginals and most probable states agree with pgmpy, where it is installed.

pgmpy stores numbers as float64 and normalises them several times: the tolerance is 1e-10.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.examples import five_variables
from tests.graphical.random_graphs import random_network

pytest.importorskip("pgmpy")
pytestmark = pytest.mark.filterwarnings("ignore")


def inference_of(network):
    """pgmpy's variable elimination in the same network."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork(list(network.edges))
    model.add_nodes_from(network.names)
    for name, factor in network.tables.items():
        above = factor.variables[:-1]
        columns = factor.table.reshape(-1, factor.table.shape[-1]).T
        sizes = {"evidence": [v.name for v in above], "evidence_card": [v.n_states for v in above]}
        model.add_cpds(TabularCPD(name, len(columns), columns, **(sizes if above else {})))
    return VariableElimination(model)


@pytest.mark.parametrize(
    ("network", "given"),
    [
        (five_variables(), {}),
        (five_variables(), {"x4": 1}),
        *((random_network(seed, n=8, n_states=3), {"v7": 1}) for seed in range(5)),
    ],
    ids=["five", "five-given-x4", *map(str, range(5))],
)
def test_marginals_and_best_states(network, given):
    theirs = inference_of(network)
    beliefs = network.query(given=given)
    for name in network.names:
        if name not in given:
            expected = theirs.query([name], evidence=given, show_progress=False).values
            assert_allclose(beliefs.marginal(name), expected, rtol=0, atol=1e-10)
    free = [name for name in network.names if name not in given]
    best = theirs.map_query(free, evidence=given, show_progress=False)
    expected = network.log_value({**best, **given})
    assert_allclose(network.most_probable(given).log_score, expected, rtol=0, atol=1e-10)
    assert np.isfinite(expected)
