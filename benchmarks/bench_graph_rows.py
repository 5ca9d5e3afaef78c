"""Ten thousand rows of evidence: all marginals of alarm for each, a tenth of the cells observed."""

import numpy as np

from benchmarks.against import pyagrum
from benchmarks.graph_problems import codes_of_samples, network
from benchmarks.report import Report, Row, times_faster
from benchmarks.workbench import best_of, clocked

ROWS = 10_000
FEW = 300  # rows of the peer, which takes them one by one; its time is scaled
SHARE = 0.1


def measure(shrink: int) -> Report:
    n_rows = ROWS // shrink
    graph = network("alarm")
    rows = []
    for same, work in ((True, "the same variables observed"), (False, "other cells in each row")):
        codes = _codes(graph, n_rows, same_set=same)
        frame = _frame(graph, codes)
        best = best_of(3, {"ours": lambda frame=frame: lambda: graph.query(given=frame)})
        timed = best["ours"]
        bn = pyagrum.model(graph)
        engine = pyagrum.engine(bn, "LazyPropagation")
        few = min(FEW, n_rows)
        asked = [
            {graph.names[j]: int(codes[i, j]) for j in np.flatnonzero(codes[i] >= 0)}
            for i in range(few)
        ]
        theirs = clocked(
            lambda asked=asked, engine=engine: [
                pyagrum.marginals(engine, list(graph.names), one) for one in asked
            ]
        )
        apart = 0.0
        for i, found in enumerate(theirs.answer):
            free = [name for name in graph.names if name not in asked[i]]
            for name, p in zip(free, found, strict=True):
                apart = max(apart, float(np.abs(timed.answer[name][i] - p).max()))
        rows.append(
            Row(
                work=f"{n_rows:,} rows, {work}",
                peer="pyAgrum LazyPropagation",
                ours=timed.seconds,
                theirs=theirs.seconds * n_rows / few,
                goal=times_faster(200),
                note=f"theirs from {few} rows; largest difference {apart:.0e}",
            )
        )
    return Report(
        "Bayesian networks: a whole table",
        f"alarm, all marginals of every row, {SHARE:.0%} of the cells observed, from a data frame.",
        rows,
        theirs="",
        answer="",
    )


def _codes(graph, n_rows: int, *, same_set: bool) -> np.ndarray:
    codes = codes_of_samples(graph, n_rows, seed=1)
    rng = np.random.default_rng(2)
    if same_set:
        seen = np.zeros(codes.shape[1], dtype=bool)
        seen[rng.permutation(codes.shape[1])[: max(1, round(SHARE * codes.shape[1]))]] = True
        return np.where(seen, codes, -1)
    return np.where(rng.random(codes.shape) < SHARE, codes, -1)


def _frame(graph, codes):
    import pandas as pd

    columns = {}
    for j, variable in enumerate(graph.variables):
        states = np.array([*variable.states, None], dtype=object)
        columns[variable.name] = states[codes[:, j]]
    return pd.DataFrame(columns)
