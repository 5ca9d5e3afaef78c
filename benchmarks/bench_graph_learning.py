"""Learning the tables and the edges of alarm: counts, EM with missing cells, hill climbing."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.against import pgmpy, pomegranate, pyagrum
from benchmarks.graph_problems import codes_of_samples, network
from benchmarks.report import Report, Row, at_most
from benchmarks.workbench import best_of, clocked
from likely import BayesianNetwork, graphical

ROWS, EM_ROWS, FEW, EDGE_ROWS = 100_000, 100_000, 1_000, 20_000
MISSING, STEPS = 0.2, 2


def measure(shrink: int) -> Report:
    graph = network("alarm")
    return Report(
        "Bayesian networks: learning",
        "alarm, rows drawn from it. Counts with one pseudo-count in each cell; EM with a fifth of "
        "the cells missing, per iteration; hill climbing by BIC, with the structural Hamming "
        "distance of equivalence classes.",
        [
            *_counts(graph, ROWS // shrink),
            *_em(graph, EM_ROWS // shrink, FEW // min(shrink, 5)),
            *_edges(graph, EDGE_ROWS // shrink),
        ],
        theirs="",
        answer="",
    )


def _counts(graph: BayesianNetwork, n_rows: int) -> list[Row]:
    codes = codes_of_samples(graph, n_rows, seed=1)
    bn = pyagrum.model(graph)
    csv = pyagrum.written_rows(codes, graph.names)
    graph.fit(codes[:1000])
    sides = {
        "ours": lambda: lambda: graph.fit(codes),
        "pyAgrum, from a CSV file": lambda: lambda: pyagrum.learned_by_counts(bn, csv),
        "pgmpy": lambda: lambda: pgmpy.learned_by_counts(graph, codes),
        "pomegranate": lambda: lambda: pomegranate.learned_by_counts(graph, codes),
    }
    best = best_of(3, sides)
    return [
        Row(
            work=f"counts, {n_rows:,} rows",
            peer=peer,
            ours=best["ours"].seconds,
            theirs=best[peer].seconds,
            goal=at_most(0.03, "s"),
        )
        for peer in list(sides)[1:]
    ]


def _em(graph: BayesianNetwork, n_rows: int, few: int) -> list[Row]:
    codes = codes_of_samples(graph, n_rows, seed=2)
    codes[np.random.default_rng(3).random(codes.shape) < MISSING] = -1
    steps = {}
    for n in (1, 1 + STEPS):  # the difference leaves out what is done once
        steps[n] = best_of(
            2, {"ours": lambda n=n: lambda: graph.fit(codes, method="em", max_iter=n, tol=0.0)}
        )["ours"].seconds
    ours = (steps[1 + STEPS] - steps[1]) / STEPS
    bn = pyagrum.model(graph)
    csv: Path = pyagrum.written_rows(codes[:few], graph.names)
    theirs = clocked(lambda: pyagrum.learned_by_em(bn, csv, STEPS)).seconds / STEPS
    return [
        Row(
            work=f"EM, {n_rows:,} rows, an iteration",
            peer="pyAgrum",
            ours=ours,
            theirs=theirs * n_rows / few,
            goal=at_most(1.0 * n_rows / EM_ROWS, "s"),
            note=f"theirs from {few:,} rows, scaled",
        )
    ]


def _edges(graph: BayesianNetwork, n_rows: int) -> list[Row]:
    codes = codes_of_samples(graph, n_rows, seed=4)
    frame = pa.table(dict(zip(graph.names, codes.T, strict=True)))
    states = {variable.name: range(variable.n_states) for variable in graph.variables}

    def climbed() -> BayesianNetwork:
        return BayesianNetwork.from_data(frame, graphical.HillClimbing(score="bic"), states=states)

    climbed()  # compiles
    mine = best_of(2, {"ours": lambda: climbed})["ours"]
    rows = []
    peers = {
        "pyAgrum": lambda: pyagrum.learned_edges(pyagrum.model(graph), codes, graph.names),
        "pgmpy": lambda: pgmpy.learned_edges(graph, codes),
    }
    for peer, learn in peers.items():
        theirs = clocked(learn)
        rows.append(
            Row(
                work=f"hill climbing, {n_rows:,} rows",
                peer=peer,
                ours=mine.seconds,
                theirs=theirs.seconds,
                note=f"ours {_quality(graph, mine.answer.edges, codes)}; "
                f"theirs {_quality(graph, theirs.answer, codes)}; "
                f"true graph {_quality(graph, graph.edges, codes)}",
            )
        )
    return rows


def _quality(graph: BayesianNetwork, edges: object, codes: np.ndarray) -> str:
    states = {variable.name: variable.states for variable in graph.variables}
    learned = BayesianNetwork.from_edges(edges, states)
    bic = graphical.structure_score(learned, codes, "bic")
    apart = graphical.structural_hamming_distance(graph, learned)
    return f"BIC {bic:,.0f}, distance {apart}"
