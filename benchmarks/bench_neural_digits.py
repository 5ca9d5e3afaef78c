"""Digits to a stated accuracy: epochs and seconds, training only; the test rows are counted after.

784 → 100 → 10, ReLU, softmax, Adam, batch 128, float32: each library with its own starts.
"""

from time import perf_counter
from typing import Any

from benchmarks.bench_neural_epochs import PEERS, Ours
from benchmarks.network_problems import LabelledRows, digits
from benchmarks.race import Skipped
from benchmarks.report import Report, Row
from benchmarks.workbench import clocked
from likely import NeuralNetworkClassifier

SIZES, BATCH, ACCURACY, MOST, SEEDS = (784, 100, 10), 128, 0.975, 15, (0, 1, 2)


def measure(shrink: int) -> Report:
    train, test = digits("train"), digits("t10k")
    train = LabelledRows(train.X[::shrink].copy(), train.y[::shrink])
    goal = ACCURACY if shrink == 1 else 0.8
    ours = _median(Ours, train, test, goal)
    rows = []
    for name, make in PEERS.items():
        try:
            theirs = _median(make, train, test, goal)
        except Skipped as reason:
            rows.append(Row(work="seconds", peer=name, ours=ours[0], note=f"skipped: {reason}"))
            continue
        note = f"epochs: ours {ours[1]}, theirs {theirs[1]}"
        rows.append(
            Row(
                work=f"to {goal:.1%} of the test rows",
                peer=name,
                ours=ours[0],
                theirs=theirs[0],
                note=note,
            )
        )
    rows.append(_two_layers(train, test))
    return Report(
        "Neural networks: digits to an accuracy",
        f"{'→'.join(map(str, SIZES))}, batch {BATCH}; the median of {len(SEEDS)} seeds.",
        rows,
        theirs="",
        answer="",
    )


def _two_layers(train: LabelledRows, test: LabelledRows) -> Row:
    """Two hidden layers with dropout, stopped by a tenth of the training rows."""
    model = NeuralNetworkClassifier(
        (256, 128),
        batch=BATCH,
        max_epochs=20,
        schedule="cosine",
        dropout=0.2,
        early_stopping=4,
        random_state=0,
    )
    timed = clocked(lambda: model.fit(train.X, train.y))
    note = f"{model.score(test.X, test.y):.2%} of the test rows, epoch {model.history_.best_epoch}"
    return Row(work="784→256→128→10 with dropout, a whole fit", ours=timed.seconds, note=note)


def _median(make: Any, train: LabelledRows, test: LabelledRows, goal: float) -> tuple[float, int]:
    """Seconds of training and epochs until the goal; of the seed in the middle."""
    make(SIZES, LabelledRows(train.X[:1024], train.y[:1024]), BATCH, 0).epoch()  # compiles
    found = sorted(_to_goal(make(SIZES, train, BATCH, seed), test, goal) for seed in SEEDS)
    return found[len(found) // 2]


def _to_goal(network: Any, test: LabelledRows, goal: float) -> tuple[float, int]:
    seconds = 0.0
    for epoch in range(1, MOST + 1):
        began = perf_counter()
        network.epoch()
        seconds += perf_counter() - began
        if network.accuracy(test) >= goal:
            return seconds, epoch
    return float("inf"), MOST
