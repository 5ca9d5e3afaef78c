"""Exact inference against the answers of the UAI 2014 contest, and refusals of what is too large.

The files print six digits, hence the tolerances.  ``SOURCES.md`` beside the data says which of
their answers were checked, and gives the best known scores of configurations, which no exact
method may fall short of.
"""

from time import process_time

import numpy as np
import pytest

from likely import read_answer, read_evidence, read_graph, warmup
from likely.errors import GraphTooLarge
from tests.graph_files import SHARED, needs_shared

pytestmark = needs_shared

SIX_DIGITS = 5.01e-7
BEST_KNOWN = {  # natural log of the product of the factors
    "CSP_11": -3.69431,
    "DBN_11": 133.46419,
    "Grids_11": 387.89479,
    "MAP_Segmentation_12": -51.15065,
    "ObjectDetection_11": -241.35904,
    "Pedigree_11": -65.74432,
    "Promedus_11": -21.42456,
    "Segmentation_11": -56.03679,
}
LARGE = {"CSP_11", "ObjectDetection_11"}  # seconds each
REFUSED = {
    "uai/MAP_Grids_26.uai": "8GB",
    "uai/pedigree9.uai.xz": "8GB",
    "uai/GeomSurf-7-gm256.uai.xz": "8GB",
    "bif/link.bif.gz": "256MB",
}


def problems(names):
    return [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in names]


def problem(name):
    [path] = [p for p in SHARED.glob(f"uai/{name}.uai*") if p.suffix in (".uai", ".gz")]
    graph = read_graph(path)
    return graph, read_evidence(SHARED / f"uai/{name}.uai.evid", graph)


@pytest.mark.parametrize("name", problems(n for n in BEST_KNOWN if not n.startswith("MAP")))
@pytest.mark.long
def test_marginals_and_the_partition_function_have_the_digits_of_the_files(name):
    graph, given = problem(name)
    beliefs = graph.query(given=given)
    for variable, expected in read_answer(SHARED / f"uai/{name}.uai.MAR").marginals.items():
        assert np.abs(beliefs.marginal(variable) - expected).max() <= SIX_DIGITS
    known = read_answer(SHARED / f"uai/{name}.uai.PR").log10_partition
    assert float(f"{beliefs.log_partition / np.log(10):.6g}") == known


@pytest.mark.parametrize("name", problems(BEST_KNOWN))
def test_no_better_configuration_is_known(name):
    graph, given = problem(name)
    best = graph.most_probable(given)
    assert best.log_score >= BEST_KNOWN[name] - 5e-6
    assert graph.log_value(best.states) == pytest.approx(best.log_score, rel=1e-12)
    assert given.items() <= {name: str(state) for name, state in best.states.items()}.items()


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_that_is_too_large_is_refused_within_two_seconds(name):
    warmup()
    graph = read_graph(SHARED / name)
    for ask in (graph.query, graph.most_probable):
        start = process_time()
        with pytest.raises(GraphTooLarge, match=r"needs about \S+ [A-Z]+ of memory; the limit is"):
            ask(memory=REFUSED[name])
        assert process_time() - start < 2.0  # 0.1 were measured
