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
        f"All marginals with {SHARE:.0%} of the variables observed; milliseconds, the best of "
        f"{turns} turns with other observations. The difference is the largest of any probability.",
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
    best: dict[str, float] = {}
    answers: dict[str, Any] = {}
    for codes in asked:
        for name, timed in best_of(1, {n: _turn(f, codes) for n, f in sides.items()}).items():
            best[name] = min(best.get(name, np.inf), timed.seconds)
            answers[name] = timed.answer
    ours = answers["likely"]
    better = min((name for name in best if name.startswith("pyAgrum")), key=best.__getitem__)
    rows = []
    for name in sides:
        if name == "likely":
            continue
        apart = max(float(np.abs(a - b).max()) for a, b in zip(ours, answers[name], strict=True))
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


def _turn(side: Callable[[dict[str, int]], Any], codes: dict[str, int]) -> Callable[[], Work]:
    return lambda: lambda: side(codes)
