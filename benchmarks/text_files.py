"""Model files of text classifiers with 2²⁰ hashed columns: their size, and what they cost.

    python -m benchmarks.text_files [--classes 20]

A model of resampled documents (see ``text_corpora``) is saved, loaded by ``likely.load``, and
loaded by ``likely.runtime.load``, each in a process of its own, after a small model.  Reported are
processor seconds and the highest memory above what was held before.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.memory import MB, peak_growth
from benchmarks.text_corpora import resampled
from benchmarks.workbench import python

COLUMNS = 2**20
DOCUMENTS = 20_000
STEPS = ("save", "load", "runtime")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_files")
    parser.add_argument("--classes", type=int, default=20, help="number of classes [20]")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(_measured(options.step, Path(options.folder), options.classes)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            own = ["--classes", str(options.classes), "--folder", folder, "--step", step]
            found = json.loads(python(["-m", "benchmarks.text_files", *own]))
            print(f"{step}: {found['seconds']:.2f} s, {found['growth'] / MB:,.0f} MB", flush=True)
        size = (Path(folder) / "large.likely").stat().st_size
    print(f"{options.classes} classes, a file of {size / MB:.1f} MB")
    return 0


def _measured(step: str, folder: Path, n_classes: int) -> dict[str, float]:
    small, large = (folder / f"{name}.likely" for name in ("small", "large"))
    if step != "save":
        load = _loader(step)
        load(small)  # imports
        return _costs(lambda: load(large))
    import likely

    texts, labels = [], []
    for i, (text, label) in enumerate(islice(resampled(), DOCUMENTS)):
        texts.append(text)
        labels.append(label if n_classes == 20 else f"class {i % n_classes}")
    likely.save(_fitted(texts[:200], labels[:200], 2**8), small)
    model = _fitted(texts, labels, COLUMNS)
    model.complete_fit()  # or save would
    return _costs(lambda: likely.save(model, large))


def _loader(step: str) -> Callable[[Path], Any]:
    if step == "load":
        from likely import load

        return load
    from likely import runtime

    return runtime.load


def _fitted(texts: list[str], labels: list[str], n_features: int) -> Any:
    from likely import BagOfWords, NaiveBayes, TextClassifier

    model = NaiveBayes("multinomial", smoothing="auto")
    return TextClassifier(model, BagOfWords(n_features=n_features)).fit(texts, labels)


def _costs(work: Callable[[], object]) -> dict[str, float]:
    found: dict[str, float] = {}

    def timed() -> None:
        started = process_time()
        work()
        found["seconds"] = process_time() - started

    return {"growth": peak_growth(timed), **found}


if __name__ == "__main__":
    sys.exit(main())
