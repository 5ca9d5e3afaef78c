"""A search over the settings of a network on a GPU: all trials at once, against one by one.

    PYTHONPATH=src python -m benchmarks.run neural_tune      on torch's CPU where there is no GPU

64 random settings of rate, penalties and dropout for a network 20→50→3, on the five folds of 5,000
rows, 30 epochs each.  It needs NumPy, SciPy, scikit-learn, pyarrow, narwhals and torch; the
processor's loops are compiled where Numba is installed.  Under two minutes.

* The trials one by one are the first of the same search, and their time is scaled to all of them.
* The scores of the trials that both have run are compared: float32 on both sides, so they differ
  by rounding that thousands of steps have enlarged.
"""

from importlib.util import find_spec
from time import perf_counter
from typing import Any

from benchmarks.network_problems import LabelledRows, drawn
from benchmarks.race import needs
from benchmarks.report import Report, Row, times_faster
from likely.neural.classifier import NeuralNetworkClassifier
from likely.neural.settings import Training
from likely.spaces import Real
from likely.workbench.search.study import Study
from likely.workbench.search.tune import tune

TRIALS, EPOCHS, N_ROWS = 64, 30, 5_000
SPACE = {
    "learning_rate": Real(1e-4, 1e-2, log=True),
    "l2": Real(1e-3, 1e2, log=True),
    "dropout": Real(0.05, 0.5, zero=0.5),
}


def measure(shrink: int) -> Report:
    torch = needs("torch")
    needs("pyarrow")
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    name = torch.cuda.get_device_name() if on_gpu else "torch's CPU"
    rows = drawn(N_ROWS // shrink, 20, 3, seed=1)
    _searched(rows, 2, device=device)  # loads and compiles
    _searched(rows, 2, device="cpu")
    ours = {many: _searched(rows, many, device=device) for many in (4, 16, TRIALS)}
    sides = (("one by one", "serial", 8), ("one by one in threads", "threads", 32))
    return Report(
        "A search over networks on a GPU",
        f"{name}, torch {torch.__version__}, float32; {TRIALS} trials of 20→50→3, batch 32, "
        f"{EPOCHS} epochs, five folds of {len(rows.y):,} rows"
        f"{'' if find_spec('numba') else '; the processor without Numba'}.",
        [
            _row(rows, peer, executor, min(many, trials), ours[trials], trials)
            for trials in ours
            for peer, executor, many in sides
        ],
        theirs="",
        answer="",
        sizes={"device": name, "torch": str(torch.__version__)},
    )


def _searched(
    rows: LabelledRows, trials: int, *, device: Any, executor: str = "serial"
) -> tuple[Study, float]:
    model = NeuralNetworkClassifier(
        (50,),
        batch=32,
        max_epochs=EPOCHS,
        tol=None,
        training=Training(evaluate=False),
        random_state=0,
    )
    began = perf_counter()
    found = tune(
        rows.X,
        rows.y,
        model,
        space=SPACE,
        trials=trials,
        stop_unpromising=False,
        executor=executor,
        device=device,
    )
    return found, perf_counter() - began


def _row(
    rows: LabelledRows, peer: str, executor: str, many: int, ours: tuple[Study, float], trials: int
) -> Row:
    together, seconds = ours
    alone, theirs = _searched(rows, many, device="cpu", executor=executor)
    apart = max(
        abs(one.value - other.value)
        for one, other in zip(alone.trials, together.trials, strict=False)
    )
    return Row(
        work=f"tune, {trials} trials at once",
        peer=peer,
        ours=seconds,
        theirs=theirs * trials / many,
        goal=times_faster(10) if trials == TRIALS and executor == "serial" else None,
        note=f"{many} timed one by one; best log loss {together.best_score_:.4f}, scores at most "
        f"{apart:.1e} apart",
    )
