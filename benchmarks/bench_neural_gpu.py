"""Networks on a GPU: the steps of NumPy, epochs against torch, and 256 networks at once.

    PYTHONPATH=src python -m benchmarks.run neural_gpu      on torch's CPU where there is no GPU

It needs NumPy, SciPy, scikit-learn and torch; nothing is read from a disk.  A few minutes.

* The differences are the largest of θ after 1, 10 and 40 steps, relative to the largest change,
  over activations, outputs, update rules and dropout; those of 40 steps are recorded (relu alone).
* Epochs are timed in turns after some that compile or record, with the rows on the device.
* Networks one after another are stopped after 25 seconds, and their time is scaled to all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.against.networks import Torch
from benchmarks.network_problems import LabelledRows, drawn
from benchmarks.race import needs
from benchmarks.report import Report, Row, at_most, times_faster
from benchmarks.workbench import best_of
from likely.neural.architecture import Architecture, initial_parameters
from likely.neural.engine import Engine, EngineSettings, ReadableEngine
from likely.neural.examples import ExamplesInMemory
from likely.neural.formulas import dropout_rates
from likely.neural.many import Candidate, SharedRows, train_many
from likely.neural.outputs import output_of
from likely.neural.torch_networks import TorchEngine
from likely.neural.training import TrainingRules, scheduled
from likely.solvers.mini_batches import ShuffledBatches, epoch_order
from likely.solvers.schedules import Constant
from likely.solvers.updates import UPDATES, Adam, Clip

TURNS, WARM_UPS = 3, 2
SHAPES = (  # sizes, batch, rows
    ((20, 50, 3), 32, 100_000),
    ((784, 100, 10), 128, 60_000),
    ((784, 1024, 1024, 10), 512, 60_000),
)
CANDIDATES, CANDIDATE_ROWS, CANDIDATE_EPOCHS = 256, 20_000, 3
MOST_SECONDS = 25.0  # for networks one after another
N_TEST = 10_000
OUTPUTS = {
    "categorical": ({"n_classes": 3}, lambda score: np.digitize(score, [-0.5, 0.5])),
    "bernoulli": ({"n_classes": 2}, lambda score: (score > 0).astype(int)),
    "gaussian": ({}, lambda score: score),
    "poisson": ({"response": "poisson"}, lambda score: np.round(np.exp(score / 2))),
    "ordinal": (
        {"response": "ordinal", "n_classes": 3},
        lambda score: np.digitize(score, [-0.5, 0.5]),
    ),
}
RULES = {**UPDATES, "clip, momentum": Clip(0.1) | UPDATES["momentum"]}


def measure(shrink: int) -> Report:
    torch = needs("torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "torch's CPU"
    rows = [*_equality(device, shrink), *_quality(device, shrink)]
    for sizes, batch, n_rows in SHAPES if shrink == 1 else SHAPES[:2]:
        rows += _epochs(device, sizes, batch, n_rows // shrink)
    rows += _candidates(device, shrink)
    return Report(
        "Neural networks on a GPU",
        f"{name}, torch {torch.__version__}, float32; the best of {TURNS} epochs in turns, after "
        f"{WARM_UPS} that compile or record.",
        rows,
        theirs="",
        answer="",
        sizes={"device": name, "torch": str(torch.__version__)},
    )


def _equality(device: str, shrink: int) -> list[Row]:
    """The largest differences from NumPy of one step (the gradient), ten, and forty recorded."""
    rows = []
    for dtype, bound in ((np.float32, 1e-3), (np.float64, 1e-9)):
        worst = {1: (0.0, ""), 10: (0.0, ""), 40: (0.0, "")}
        for settings, theta, X, y, words in _networks(dtype, shrink):
            recorded = words.startswith("relu") and words.endswith("0.3")
            for n_steps in worst if recorded else (1, 10):
                ours = TorchEngine(settings, device, record=n_steps == 40)
                numpys, torchs = (
                    _theta_after(engine, theta, X, y, n_steps)
                    for engine in (ReadableEngine(settings), ours)
                )
                moved = np.abs(numpys - theta).max()
                worst[n_steps] = max(
                    worst[n_steps], (float(np.abs(torchs - numpys).max() / moved), words)
                )
        for n_steps, (difference, words) in worst.items():
            rows.append(
                Row(
                    work=f"step {n_steps}, {np.dtype(dtype).name}: largest difference from NumPy",
                    ours=difference,
                    unit="",
                    goal=at_most(bound, ""),
                    note=f"at {words}",
                )
            )
    return rows


def _networks(dtype: Any, shrink: int) -> Iterator[tuple[EngineSettings, Any, Any, Any, str]]:
    """Every activation × output × update rule × dropout, on a few rows."""
    rng = np.random.default_rng(0)
    n = 640
    X = rng.normal(size=(n, 6))
    score = X[:, 0] + np.tanh(X[:, 1] * X[:, 2]) + 0.3 * rng.normal(size=n)
    names = ("relu", "tanh", "sigmoid", "softplus", "identity")
    for activation, kind, rule, dropout in product(names, OUTPUTS, RULES, (0.0, 0.3)):
        if shrink > 1 and (activation not in ("relu", "softplus") or rule not in ("sgd", "adam")):
            continue
        arguments, target = OUTPUTS[kind]
        output = output_of(**arguments)
        network = Architecture.of(
            6,
            (16, 8),
            output.n_outputs,
            activation=activation,
            output_bias=output.has_bias,
            n_extra=output.n_extra,
        )
        theta = initial_parameters(network, "glorot-normal", extra=np.zeros(output.n_extra))
        settings = EngineSettings(
            network,
            output,
            RULES[rule],
            n,
            dropout=dropout_rates(network, dropout),
            l1=0.01,
            l2=0.1,
            seed=5,
            dtype=dtype,
        )
        yield settings, theta, X, target(score), f"{activation}, {kind}, {rule}, dropout {dropout}"


def _theta_after(engine: Engine, theta: Any, X: Any, y: Any, n_steps: int) -> Any:
    order = epoch_order(len(X), 1, 0)[: 16 * n_steps]
    rows = engine.prepare(X, y)
    state, _ = engine.epoch(engine.start(theta), rows, order, batch=16, rate=0.01, epoch=0)
    return state.theta.astype(np.float64)


class OnDevice:
    """Our epochs; the same contract as the networks of other libraries."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        rows: LabelledRows,
        batch: int,
        *,
        engine: Callable[[EngineSettings], Engine],
    ) -> None:
        network = Architecture.of(sizes[0], sizes[1:-1], sizes[-1])
        output = output_of(n_classes=sizes[-1])
        settings = EngineSettings(network, output, Adam(), len(rows.y))
        self.engine = engine(settings)
        self.rows = self.engine.prepare(rows.X, rows.y)
        self.state = self.engine.start(initial_parameters(network))
        self.batch, self.number, self.n_rows = batch, 0, len(rows.y)

    def epoch(self) -> float:
        order = epoch_order(self.n_rows, 0, self.number)
        self.state, loss = self.engine.epoch(
            self.state, self.rows, order, batch=self.batch, rate=1e-3, epoch=self.number
        )
        self.number += 1
        return loss

    def accuracy(self, rows: LabelledRows) -> float:
        eta = self.engine.eta(self.state.theta, np.ascontiguousarray(rows.X))
        return float((np.asarray(eta).argmax(axis=1) == rows.y).mean())


def _epochs(device: str, sizes: tuple[int, ...], batch: int, n_rows: int) -> list[Row]:
    """Seconds of an epoch: recorded steps, against torch eager and compiled."""
    both = drawn(n_rows + N_TEST, sizes[0], sizes[-1])
    train = LabelledRows(both.X[:n_rows], both.y[:n_rows])
    test = LabelledRows(both.X[n_rows:], both.y[n_rows:])

    def on_device(settings: EngineSettings) -> Engine:
        return TorchEngine(settings, device)

    def unrecorded(settings: EngineSettings) -> Engine:
        return TorchEngine(settings, device, record=False)

    sides: dict[str, Any] = {
        "ours": OnDevice(sizes, train, batch, engine=on_device),
        "ours, not recorded": OnDevice(sizes, train, batch, engine=unrecorded),
        "torch": Torch(sizes, train, batch, 0, device=device),
        "torch.compile": Torch(sizes, train, batch, 0, device=device, compiled=True),
    }
    skipped: dict[str, str] = {}
    try:
        sides["our processor"] = OnDevice(sizes, train, batch, engine=_compiled_engine)
    except ImportError as error:
        skipped["our processor"] = f"skipped: {error}"
    for name in list(sides):
        try:
            for _ in range(WARM_UPS):
                sides[name].epoch()
        except Exception as error:  # a compiler that is missing, say: the others are measured
            if name == "ours":
                raise
            skipped[name] = f"skipped: {type(error).__name__} {str(error)[:80]}"
            del sides[name]
    best = best_of(TURNS, {name: lambda side=side: side.epoch for name, side in sides.items()})
    accuracy = {name: side.accuracy(test) for name, side in sides.items()}
    work = f"an epoch, {'→'.join(map(str, sizes))}, batch {batch}, {n_rows:,} rows"
    goal = times_faster(1.0)
    return [
        Row(
            work=work,
            peer=name,
            ours=best["ours"].seconds,
            theirs=best[name].seconds if name in best else None,
            goal=goal if name.startswith("torch") else None,
            note=skipped.get(name, "")
            or f"{1 / best['ours'].seconds:.3g} against {1 / best[name].seconds:.3g} epochs/s; "
            f"test accuracy {accuracy['ours']:.4f} and {accuracy[name]:.4f}",
        )
        for name in ("torch", "torch.compile", "ours, not recorded", "our processor")
    ]


def _compiled_engine(settings: EngineSettings) -> Engine:
    from likely.neural.compiled_engine import CompiledEngine

    return CompiledEngine(settings)


def _quality(device: str, shrink: int) -> list[Row]:
    """Where ten epochs lead, on the device and by NumPy."""
    both = drawn(40_000 // shrink + N_TEST, 20, 3, seed=3)
    cut = len(both.y) - N_TEST
    train, test = (
        LabelledRows(both.X[part], both.y[part]) for part in (slice(0, cut), slice(cut, None))
    )
    reached = {}
    for name, engine in (
        ("device", lambda settings: TorchEngine(settings, device)),
        ("NumPy", ReadableEngine),
    ):
        network = OnDevice((20, 50, 3), train, 64, engine=engine)
        for _ in range(10):
            loss = network.epoch()
        reached[name] = (network.accuracy(test), loss)
    (ours, loss), (numpys, same) = reached["device"], reached["NumPy"]
    return [
        Row(
            work="ten epochs, 20→50→3: difference of test accuracy from NumPy's",
            ours=abs(ours - numpys),
            unit="",
            goal=at_most(0.005, ""),
            note=f"accuracy {ours:.4f} and {numpys:.4f}; loss {loss:.5f} and {same:.5f}",
        )
    ]


def _candidates(device: str, shrink: int) -> list[Row]:
    """256 networks with other seeds, rates, penalties and dropout: at once, and one by one."""
    n = CANDIDATE_ROWS // shrink
    many = CANDIDATES if shrink == 1 else 16
    table = drawn(n + 5_000, 20, 3, seed=1)
    shared = SharedRows(
        ExamplesInMemory(table.X[:n], table.y[:n]),
        ExamplesInMemory(table.X[n:], table.y[n:]),
        ShuffledBatches(32),
    )
    rows = []
    for kind in ("one order", "orders of their own"):
        candidates = list(_varied(many, n, own_orders=kind != "one order"))
        train_many([_short(each) for each in candidates[:2]], shared, device=device)  # loads
        began = perf_counter()
        together = train_many(candidates, shared, device=device)
        ours = perf_counter() - began
        began, alone = perf_counter(), []
        for candidate in candidates:
            alone += train_many([candidate], shared, device=device)
            if perf_counter() - began > MOST_SECONDS / (1 if shrink == 1 else 20):
                break
        theirs = (perf_counter() - began) * many / len(alone)
        held = [each.curve.validation[-1] for each in together]
        apart = max(
            abs(one.curve.validation[-1] - loss)
            for one, loss in zip(alone, held[: len(alone)], strict=True)
        )
        rows.append(
            Row(
                work=f"{many} networks 20→50→3, {kind}, batch 32, {n:,} rows, "
                f"{CANDIDATE_EPOCHS} epochs",
                peer="one after another",
                ours=ours,
                theirs=theirs,
                goal=times_faster(10),
                note=f"{len(alone)} timed one by one; validation loss {min(held):.4f} to "
                f"{max(held):.4f}, at most {apart:.1e} from training alone",
            )
        )
    return rows


def _varied(many: int, n_rows: int, *, own_orders: bool) -> Iterator[Candidate]:
    network, output = Architecture.of(20, (50,), 3), output_of(n_classes=3)
    rng = np.random.default_rng(7)
    for seed in range(many):
        settings = EngineSettings(
            network,
            output,
            Adam(),
            n_rows,
            dropout=(0.0, float(rng.uniform(0, 0.4))),
            l1=float(10 ** rng.uniform(-3, 0)),
            l2=float(10 ** rng.uniform(-3, 1)),
            seed=seed,
        )
        rate = float(10 ** rng.uniform(-3.5, -2))
        rules = TrainingRules(CANDIDATE_EPOCHS, scheduled(Constant(rate)), None)
        theta = initial_parameters(network, seed=seed, dtype=np.float32)
        yield Candidate(settings, theta, rules, seed if own_orders else 0)


def _short(candidate: Candidate) -> Candidate:
    return replace(candidate, rules=replace(candidate.rules, max_epochs=1))
