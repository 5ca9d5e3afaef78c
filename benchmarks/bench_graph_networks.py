"""Sixteen published networks by three libraries: the answers, side by side.

    P(x_i | e) for every i        a tenth of the variables observed, drawn from the network

Each library answers in a process of its own, with at most ``SECONDS`` and ``BYTES``; one that
does not answer says why.  Seconds are those of the first answer, with what has to be planned
before it.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.against import pgmpy, pomegranate, pyagrum
from benchmarks.graph_problems import NETWORKS, network, observations, states_of
from benchmarks.race import Skipped
from benchmarks.report import Report, Row
from benchmarks.workbench import clocked

SECONDS, BYTES = 120, 12 * 2**30
SHARE = 0.1
PEERS = ("pyAgrum LazyPropagation", "pgmpy", "pomegranate (loopy, float32)")


def measure(shrink: int) -> Report:
    files = sorted(NETWORKS.glob("*.bif.gz"), key=lambda file: file.stat().st_size)
    names = [file.name.removesuffix(".bif.gz") for file in files]
    rows = [row for name in (names if shrink == 1 else names[:3]) for row in _rows(name)]
    if not rows:
        raise Skipped(f"there is no {NETWORKS.name}")
    return Report(
        "Bayesian networks: the same answers",
        f"All marginals with {SHARE:.0%} of the variables observed, each library in a process of "
        f"its own with {SECONDS} s and {BYTES >> 30} GB; seconds of the first answer.",
        rows,
        theirs="",
        answer="",
    )


def _rows(name: str) -> list[Row]:
    ours = _asked("likely", name)
    rows = []
    for peer in PEERS:
        theirs = _asked(peer, name)
        if isinstance(theirs, str) or isinstance(ours, str):
            note = ours if isinstance(ours, str) else theirs
        else:
            apart = np.abs(ours[1] - theirs[1]).max()
            note = f"largest difference {apart:.0e}"
        seconds = np.nan if isinstance(ours, str) else ours[0]
        their_seconds = None if isinstance(theirs, str) else theirs[0]
        rows.append(Row(work=name, peer=peer, ours=seconds, theirs=their_seconds, note=str(note)))
    return rows


def _asked(engine: str, name: str) -> tuple[float, np.ndarray] | str:
    """Seconds and all marginals in one array, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.npy"
        command = [sys.executable, "-m", __name__, engine, name, str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"no answer in {SECONDS} s"
        if done.returncode != 0:
            last = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
            return f"no answer: {last[0][:120]}".replace("|", "/")
        return json.loads(done.stdout.splitlines()[-1])["seconds"], np.load(file)


def answer(engine: str, name: str, file: str) -> None:
    """In the process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    graph = network(name)
    codes = observations(graph, 1, SHARE)[0]
    work = _work(engine, graph)
    work({})  # compiles and loads
    timed = clocked(lambda: work(codes))
    np.save(file, np.concatenate([np.asarray(each, float) for each in timed.answer]))
    print(json.dumps({"seconds": timed.seconds}))


def _work(engine: str, graph: Any) -> Any:
    names = list(graph.names)
    if engine == "likely":

        def ours(codes: dict[str, int]) -> list[np.ndarray]:
            found = graph.query(given=states_of(graph, codes), memory=BYTES // 2)
            return [found.marginal(name) for name in names if name not in codes]

        return ours
    if engine == "pgmpy":
        ie = pgmpy.engine(pgmpy.model(graph))
        return lambda codes: pgmpy.marginals(ie, names, codes) if codes else None
    if engine.startswith("pomegranate"):
        bn = pomegranate.model(graph)
        return lambda codes: pomegranate.marginals(bn, names, codes) if codes else None
    ie = pyagrum.engine(pyagrum.model(graph), engine.split()[-1])
    return lambda codes: pyagrum.marginals(ie, names, codes) if codes else None


if __name__ == "__main__":
    answer(*sys.argv[1:])
