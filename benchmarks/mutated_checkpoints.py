"""Attack checkpoints:  python -m benchmarks.mutated_checkpoints [--files N] [--seed N]

Checkpoints of small networks are changed as somebody would who knows their form, as in
``mutated_models``; the checksum is made right again.  Training that resumes from each must refuse
it with an error of likely, or give a model whose predictions are numbers.
"""

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import likely
from benchmarks.mutated_models import CHANGES, has_nan
from likely import Training
from likely.errors import LikelyError
from likely.neural.checkpoint import CHECKPOINTS

ROWS = 40
EPOCHS = 3
X = np.random.default_rng(0).normal(size=(ROWS, 2))
CLASSES = (X[:, 0] > 0).astype(int)
Fit = Callable[[Any, int], Any]  # the model trained with these settings, for so many epochs


def main() -> int:
    """Run the attack; the exit code is 1 if a file got through."""
    parser = argparse.ArgumentParser(prog="mutated_checkpoints", description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts, shown = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "a.checkpoint"
        kept = list(_checkpoints(path))
        for number in range(options.files):
            name, content, fit = kept[number % len(kept)]
            seed = options.seed + number
            path.write_bytes(forged(content, np.random.default_rng(seed)))
            kind, detail = _judged(path, fit)
            counts[kind] += 1
            if kind in ("nan", "untyped"):
                shown[f"{kind} {name} {detail}"] += 1
                if shown[f"{kind} {name} {detail}"] == 1:
                    print("  ", kind, name, seed, detail, flush=True)
    print(dict(counts), "of", sum(counts.values()), "files of", len(kept), "trainings")
    return int(bool(shown))


def _checkpoints(path: Path) -> Iterator[tuple[str, bytes, Fit]]:
    """The name of a training, its checkpoint, and how it goes on."""
    for settings in (
        {"solver": "adam"},
        {"solver": "sgd"},
        {"solver": "lbfgs"},
        {"solver": "rmsprop", "schedule": "cosine"},
        {"solver": "nesterov", "validation": 0.25, "early_stopping": True, "end_game": "epochs"},
    ):
        yield (str(settings), *_kept(path, likely.NeuralNetworkClassifier, CLASSES, settings))
        if "end_game" not in settings:
            yield (str(settings), *_kept(path, likely.NeuralNetworkRegressor, X[:, 1], settings))


def _kept(path: Path, kind: Any, y: Any, settings: dict[str, Any]) -> tuple[bytes, Fit]:
    def fit(training: Training, epochs: int) -> Any:
        common = {"hidden": (2,), "tol": None, "random_state": 0, **settings}
        return kind(max_epochs=epochs, training=training, **common).fit(X, y)

    fit(Training(checkpoint=str(path)), EPOCHS)
    return path.read_bytes(), fit


def forged(content: bytes, rng: np.random.Generator) -> bytes:
    """A checkpoint with one to three changes and a right checksum."""
    header = CHECKPOINTS.header(content, "")
    del header["checksum"]
    tensors = dict(CHECKPOINTS.arrays(header.pop("tensors"), CHECKPOINTS.tensors(content, "")))
    whole = {"arguments": header, "fitted": {}}
    for _ in range(int(rng.integers(1, 4))):
        CHANGES[rng.integers(len(CHANGES))](whole, tensors, rng)
    return bytes(CHECKPOINTS.content(whole["arguments"], tensors))


def _judged(path: Path, fit: Fit) -> tuple[str, str]:
    try:
        with np.errstate(all="ignore"):
            model = fit(Training(resume=str(path)), EPOCHS + 2)
            return ("nan", "") if has_nan(model.predict(X)) else ("valid", "")
    except LikelyError:
        return "refused", ""
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        return "untyped", f"{type(error).__name__} {Path(place).name} {str(error)[:70]}"


if __name__ == "__main__":
    sys.exit(main())
