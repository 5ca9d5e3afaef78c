"""One question to a network: all marginals, with a tenth of the variables observed.

    P(x_i | e) for every i        e drawn from the network

The network is built and, where a library allows it, its engine is kept; each turn asks for other
observations of the same variables, then of other variables each time.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.against import pgmpy, pyagrum
from benchmarks.graph_problems import network, observations, states_of
from benchmarks.report import Goal, Report, Row, times_faster
from benchmarks.workbench import Work, best_of
from likely import BayesianNetwork, warmup

SMALL = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm")
LARGE = ("water", "andes", "pigs", "munin4", "pathfinder", "barley")
EQUAL = ("pathfinder", "barley")  # the goal is to be no slower
TURNS = 7
FEW = 100  # variables: with more, one turn
SHARE = 0.1
PGMPY = SMALL[:4]  # it runs out of memory on alarm


def measure(shrink: int) -> Report:
    turns = TURNS if shrink == 1 else 3
    warmup()  # the first questions to small networks are answered before anything is compiled
    rows: list[Row] = []
    for name in (*SMALL, *LARGE) if shrink == 1 else SMALL[:4]:
        goal = times_faster(6 if name in SMALL else 1 if name in EQUAL else 2)
        rows += _rows(name, turns, goal, with_pgmpy=name in PGMPY)
    return Report(
        "Bayesian networks: one query",
        f"All marginals with {SHARE:.0%} of the variables observed: the mean of {turns} questions "
        "one after the other, with other observations in each; the best of three such turns, of "
        "one where there are more than 100 variables.",
        rows,
        theirs="",
        answer="largest difference of a probability",
    )


def _rows(name: str, turns: int, goal: Goal, *, with_pgmpy: bool) -> list[Row]:
    graph = network(name)
    rows = []
    for same, work in ((True, "same variables observed"), (False, "others each time")):
        asked = observations(graph, turns, SHARE, same_set=same)
        sides: dict[str, Callable[[dict[str, int]], Any]] = {"likely": _ours(graph)}
        bn = pyagrum.model(graph)
        for engine in pyagrum.ENGINES:
            sides[f"pyAgrum {engine}"] = _theirs(pyagrum, pyagrum.engine(bn, engine), graph)
        if with_pgmpy and same:
            sides["pgmpy"] = _theirs(pgmpy, pgmpy.engine(pgmpy.model(graph)), graph)
        rows += _raced(f"{name}, {work}", graph, asked, sides, goal)
    return rows


def _ours(graph: BayesianNetwork) -> Callable[[dict[str, int]], Any]:
    def work(codes: dict[str, int]) -> Any:
        found = graph.query(given=states_of(graph, codes))
        return [found.marginal(name) for name in graph.names if name not in codes]

    return work


def _theirs(module: Any, engine: Any, graph: BayesianNetwork) -> Callable[[dict[str, int]], Any]:
    return lambda codes: module.marginals(engine, list(graph.names), codes)


def _raced(
    work: str,
    graph: BayesianNetwork,
    asked: Sequence[dict[str, int]],
    sides: dict[str, Callable[[dict[str, int]], Any]],
    goal: Goal,
) -> list[Row]:
    def all_of(side: Callable[[dict[str, int]], Any]) -> Callable[[], Work]:
        return lambda: lambda: [side(codes) for codes in asked]

    timed = best_of(3 if len(graph.names) <= FEW else 1, {n: all_of(f) for n, f in sides.items()})
    best = {name: each.seconds / len(asked) for name, each in timed.items()}
    ours = timed["likely"].answer
    better = min((name for name in best if name.startswith("pyAgrum")), key=best.__getitem__)
    rows = []
    for name in sides:
        if name == "likely":
            continue
        pairs = [
            pair
            for mine in zip(ours, timed[name].answer, strict=True)
            for pair in zip(*mine, strict=True)
        ]
        apart = max(float(np.abs(a - b).max()) for a, b in pairs)
        rows.append(
            Row(
                work=work,
                peer=name,
                unit="ms",
                ours=1e3 * best["likely"],
                theirs=1e3 * best[name],
                goal=goal if name == better else None,
                note=f"largest difference {apart:.0e}",
            )
        )
    return rows
