"""A JSON-lines file of 3 GB, 20 classes, 2²⁰ hashed columns: how much memory its training needs.

    python -m benchmarks.text_memory [--megabytes 3000] [--classes 20]
                                     [--stream | --in-memory | --command]

The file is made in a temporary folder by resampling (see ``text_corpora``) and deleted at the end.
A process of its own trains ``TextClassifier`` with ``fit(path, "label")``, which calibrates it on a
sample of the documents, or with ``partial_fit`` over batches of lines (``--stream``), which does
not, or with ``fit`` of lists that were read before (``--in-memory``), or with ``likely train``,
which also scores the model and saves it (``--command``, of 256 MB or more), and predicts the first
documents.  Reported is the highest memory of that process above what it held when everything was
imported and compiled, and the lists were read; a model that was saved is loaded after that.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.memory import MB, peak_growth
from benchmarks.text_corpora import resampled
from benchmarks.workbench import python

LIMIT = 600  # MB
COLUMNS = 2**20
POOL_BYTES = 60_000_000  # of distinct documents, which are drawn with replacement
BATCH = 1000  # documents of a call of partial_fit
SHOWN = 200  # documents that are predicted


def main() -> int:
    options = _parser().parse_args()
    how = next((way for way in WAYS if vars(options).get(way.replace("-", "_"))), "fit")
    if options.train:
        return _train(Path(options.train), WAYS[how])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        started = perf_counter()
        n_lines, n_bytes = write_lines(path, options.megabytes * MB, options.classes)
        print(
            f"{n_bytes / MB:,.0f} MB, {n_lines:,} documents, {options.classes} classes "
            f"(made in {perf_counter() - started:.0f} s)",
            flush=True,
        )
        command = ["-m", "benchmarks.text_memory", "--train", str(path)]
        found = json.loads(python([*command, *([] if how == "fit" else [f"--{how}"])]))
    text = n_bytes / MB
    print(
        f"{NAMES[how]}: {found['growth'] / MB:,.0f} MB above the "
        f"imports (limit {LIMIT} MB), {found['seconds']:.1f} s, "
        f"{text / found['seconds']:.0f} MB/s; "
        f"{found['share']:.3f} of {SHOWN} documents in their class"
    )
    per_class = COLUMNS * 8 / MB
    print(f"Each further class costs {2 * per_class:.0f} MB: its counts and its log-probabilities.")
    return 0 if found["growth"] / MB <= LIMIT else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_memory")
    parser.add_argument("--megabytes", type=int, default=3000, help="size of the file [3000]")
    parser.add_argument("--classes", type=int, default=20, help="number of classes [20]")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--stream", action="store_true", help="partial_fit instead of fit(path)")
    ways.add_argument("--in-memory", action="store_true", help="fit(texts, labels)")
    ways.add_argument("--command", action="store_true", help="likely train, with saving")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    return parser


def write_lines(path: Path, nbytes: float, n_classes: int) -> tuple[int, int]:
    """Resampled documents with their labels; the number of lines and of bytes."""
    rng = np.random.default_rng(1)
    pool, size, names = [], 0, {}
    for text, label in resampled():
        code = names.setdefault(label, len(names)) if n_classes == 20 else len(pool)
        line = json.dumps({"text": text, "label": f"class {code % n_classes}"}, ensure_ascii=False)
        pool.append(line.encode() + b"\n")
        size += len(pool[-1])
        if size >= min(POOL_BYTES, nbytes):
            break
    n_lines = n_bytes = 0
    with path.open("wb") as out:
        while n_bytes < nbytes:
            drawn = b"".join(pool[i] for i in rng.integers(len(pool), size=1000).tolist())
            n_bytes += out.write(drawn)
            n_lines += 1000
    return n_lines, n_bytes


def _train(path: Path, prepared: Callable[[Path], Callable[[], Any]]) -> int:
    small = path.with_suffix(".small.jsonl")
    with path.open("rb") as lines:
        first = list(islice(lines, SHOWN))
    small.write_bytes(b"".join(first))
    _answer(prepared(small)(), first)  # imports and compiles
    fit = prepared(path)
    started = perf_counter()
    found: dict[str, Any] = {}

    def work() -> None:
        found["model"] = fit()
        if not isinstance(found["model"], Path):
            found["share"] = _answer(found["model"], first)

    growth = peak_growth(work)
    if isinstance(run := found.pop("model"), Path):
        found["share"] = _answer(run, first)
    print(json.dumps({"growth": growth, "seconds": perf_counter() - started, **found}))
    return 0


def _model() -> Any:
    from likely import BagOfWords, TextClassifier

    return TextClassifier(words=BagOfWords(n_features=COLUMNS))


def _fit(path: Path) -> Callable[[], Any]:
    return lambda: _model().fit(path, "label")


def _in_memory(path: Path) -> Callable[[], Any]:
    with path.open("rb") as lines:
        rows = [json.loads(line) for line in lines]
    texts, labels = ([row[name] for row in rows] for name in ("text", "label"))
    return lambda: _model().fit(texts, labels)


def _stream(path: Path) -> Callable[[], Any]:
    return lambda: _batches(path)


def _command(path: Path) -> Callable[[], Any]:
    return lambda: _trained_by_command(path)


def _trained_by_command(path: Path) -> Path:
    """The RUN of the command."""
    from likely.cli.main import run

    folder = path.with_suffix(".run")
    with redirect_stdout(StringIO()):
        code = run(["train", str(path), "naive-bayes", "--target", "label", "-o", str(folder)])
    if code:
        raise SystemExit(f"likely train ended with {code}")
    return folder


def _batches(path: Path) -> Any:
    model = _model()
    with path.open("rb") as lines:
        classes = sorted({json.loads(line)["label"] for line in islice(lines, 10_000)})
    with path.open("rb") as lines:
        while batch := [json.loads(line) for line in islice(lines, BATCH)]:
            labels = [row["label"] for row in batch]
            model.partial_fit([row["text"] for row in batch], labels, classes=classes)
    return model


def _answer(model: Any, lines: list[bytes]) -> float:
    """The share of documents that a model, or that of a RUN, puts into their class."""
    if isinstance(model, Path):
        from likely import load

        model = load(model)
    rows = [json.loads(line) for line in lines]
    predicted = model.predict(pa.table({"text": [row["text"] for row in rows]}))
    return float(np.mean(predicted == np.array([row["label"] for row in rows])))


WAYS = {"fit": _fit, "stream": _stream, "in-memory": _in_memory, "command": _command}
NAMES = {
    "fit": "fit(path)",
    "stream": "partial_fit",
    "in-memory": "fit(texts)",
    "command": "likely train",
}

if __name__ == "__main__":
    sys.exit(main())
