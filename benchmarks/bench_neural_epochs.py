"""One epoch of a network: ReLU, softmax, Adam, float32, batches in a new order each time.

``partial_fit`` is one epoch here and in scikit-learn; torch and jax are given their rows before
the clock starts.  jax leaves out the last short batch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import likely
from benchmarks.against import networks
from benchmarks.network_problems import LabelledRows, digits, drawn
from benchmarks.race import Skipped
from benchmarks.report import Goal, Report, Row, times_faster
from benchmarks.workbench import best_of

TURNS = 7
PEERS: dict[str, Callable[..., Any]] = {
    "scikit-learn": networks.ScikitLearn,
    "torch": networks.Torch,
    "jax": networks.Jax,
}


class Ours:
    def __init__(self, sizes: tuple[int, ...], rows: LabelledRows, batch: int, seed: int) -> None:
        self.model = likely.NeuralNetworkClassifier(
            sizes[1:-1],
            batch=batch,
            random_state=seed,
            dtype="float32",
            training=likely.Training(evaluate=False),
        )
        self.rows, self.classes = rows, np.arange(sizes[-1])

    def epoch(self) -> float:
        self.model.partial_fit(self.rows.X, self.rows.y, classes=self.classes)
        return float(self.model.history_.loss[-1])

    def accuracy(self, rows: LabelledRows) -> float:
        return float(self.model.score(rows.X, rows.y))


def measure(shrink: int) -> Report:
    n = 100_000 // shrink
    goals = {"scikit-learn": times_faster(10), "jax": times_faster(2)}
    rows = _raced((20, 50, 3), drawn(n, 20, 3), 32, goals)
    try:
        train = digits("train")
    except Skipped:
        pass
    else:
        train = LabelledRows(train.X[:: max(shrink, 1)].copy(), train.y[:: max(shrink, 1)])
        rows += _raced((784, 100, 10), train, 128, dict.fromkeys(PEERS, times_faster(1.2)))
    return Report(
        "Neural networks: an epoch",
        f"The best of {TURNS} epochs in turns, after two that compile.",
        rows,
        theirs="",
        answer="",
    )


def _raced(
    sizes: tuple[int, ...], train: LabelledRows, batch: int, goals: dict[str, Goal]
) -> list[Row]:
    sides: dict[str, Any] = {"likely": Ours(sizes, train, batch, 0)}
    skipped = {}
    for name, make in PEERS.items():
        try:
            sides[name] = make(sizes, train, batch, 0)
        except Skipped as reason:
            skipped[name] = f"skipped: {reason}"
    for side in sides.values():
        side.epoch(), side.epoch()
    best = best_of(TURNS, {name: lambda side=side: side.epoch for name, side in sides.items()})
    last = {name: side.epoch() for name, side in sides.items()}
    work = f"{'→'.join(map(str, sizes))}, batch {batch}, {len(train.y):,} rows"
    return [
        Row(
            work=work,
            peer=name,
            ours=best["likely"].seconds,
            theirs=best[name].seconds if name in best else None,
            goal=goals.get(name),
            note=skipped.get(name, "")
            or f"loss of epoch {TURNS + 3}: ours {last['likely']:.3f}, theirs {last[name]:.3f}",
        )
        for name in PEERS
    ]
