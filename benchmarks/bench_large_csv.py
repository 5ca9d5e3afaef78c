"""Naive Bayes from a CSV of 2 GB in less than 500 MB of memory.

The file repeats a few thousand distinct rows, so the right answer is known: the fit in memory
of those rows, each weighted by its repetitions.  ``LIKELY_BENCH_CSV_MB`` sets another size.

Each fit runs in a process of its own, whose highest memory is reported as it is, with Python,
the libraries and everything:  ``python -m benchmarks.bench_large_csv SIDE COLUMNS FILE DISTINCT``.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.memory import MB, peak
from benchmarks.objectives import GaussianClasses
from benchmarks.report import Report, Row, at_most
from benchmarks.workbench import clocked, python

SIZE_MB, QUICK_MB = 2000, 200
DISTINCT = 40_000  # rows
NUMBERS, TEXTS = 20, 2
LABELS = ("deep", "mid", "shallow")
NAMES = tuple(f"x{j}" for j in range(NUMBERS))
MEMORY_LIMIT = 500  # MB
PEER_CHUNK = 100_000  # rows that pandas reads at a time


class Found(NamedTuple):
    """What a child process says."""

    seconds: float
    peak: float  # bytes
    answer: float  # log-likelihood of the distinct rows, nats per row


def measure(shrink: int) -> Report:
    size = int(os.environ.get("LIKELY_BENCH_CSV_MB", SIZE_MB if shrink == 1 else QUICK_MB))
    with tempfile.TemporaryDirectory() as folder:
        file, distinct = Path(folder) / "large.csv", Path(folder) / "distinct.csv"
        copies = write_files(file, distinct, size * MB)
        found = {
            (name, columns): _child(name, columns, file, distinct)
            for name, columns in (("ours", "all"), ("ours", "numbers"), ("theirs", "numbers"))
        }
        expected = _in_memory(distinct, copies)
        megabytes = file.stat().st_size / MB
    return Report(
        "A large CSV in little memory",
        f"{megabytes:,.0f} MB, {copies * DISTINCT:,} rows: {NUMBERS} numbers, {TEXTS} texts and a "
        "label. Theirs is pandas reading chunks for `GaussianNB.partial_fit`, on the numbers; on "
        "all columns, their answer is our fit in memory of the distinct rows, weighted. Peaks are "
        "those of the whole process.",
        [
            *_rows(f"all {NUMBERS + TEXTS} columns", megabytes, found["ours", "all"], expected),
            *_rows(
                f"the {NUMBERS} numbers",
                megabytes,
                found["ours", "numbers"],
                found["theirs", "numbers"].answer,
                found["theirs", "numbers"],
            ),
        ],
        theirs="pandas + scikit-learn",
        sizes={"megabytes": round(megabytes), "rows": copies * DISTINCT},
    )


def write_files(file: Path, distinct: Path, nbytes: float) -> int:
    """The large file and its distinct rows; how often each of them occurs."""
    rng = np.random.default_rng(0)
    label = rng.integers(len(LABELS), size=DISTINCT)
    numbers = rng.normal(size=(DISTINCT, NUMBERS)) * 3 + label[:, None]
    texts = (rng.geometric(0.3, size=(DISTINCT, TEXTS)) + label[:, None]) % 12
    lines = [
        ",".join([*(f"{v:.4f}" for v in x), *(f"kind-{t}" for t in text), LABELS[k]])
        for x, text, k in zip(numbers.tolist(), texts.tolist(), label.tolist(), strict=True)
    ]
    header = ",".join([*NAMES, *(f"text{j}" for j in range(TEXTS)), "label"]) + "\n"
    body = ("\n".join(lines) + "\n").encode()
    copies = max(1, round(nbytes / len(body)))
    distinct.write_bytes(header.encode() + body)
    with file.open("wb") as out:
        out.write(header.encode())
        for _ in range(copies):
            out.write(body)
    return copies


def _child(name: str, columns: str, file: Path, distinct: Path) -> Found:
    command = ["-m", "benchmarks.bench_large_csv", name, columns, str(file), str(distinct)]
    return Found(*json.loads(python(command)))


def _rows(
    work: str, megabytes: float, mine: Found, expected: float, other: Found | None = None
) -> list[Row]:
    return [
        Row(
            work=f"fit {work}",
            ours=mine.seconds,
            theirs=other.seconds if other else None,
            our_answer=mine.answer,
            their_answer=expected,
            note=f"{megabytes / mine.seconds:.0f} MB/s",
        ),
        Row(
            work=f"peak memory, {work}",
            unit="MB",
            ours=mine.peak / MB,
            theirs=other.peak / MB if other else None,
            goal=at_most(MEMORY_LIMIT, "MB"),
        ),
    ]


def _in_memory(distinct: Path, copies: int) -> float:
    from likely import NaiveBayes

    X, y = _table(distinct)
    weight = np.full(len(y), float(copies))
    return float(NaiveBayes().fit(X, y, weight).log_likelihood(X, y)) / len(y)


def _table(distinct: Path) -> tuple[Any, Any]:
    from pyarrow import csv

    table = csv.read_csv(distinct)
    return table.drop_columns("label"), np.asarray(table["label"].to_pylist())


def _fit_all(file: Path) -> Any:
    from likely import NaiveBayes

    return NaiveBayes().fit(file, "label")


def _fit_numbers(file: Path) -> Any:
    from likely import NaiveBayes, read

    source = read(file).select([*NAMES, "label"])
    return NaiveBayes(event="gaussian", variance_floor=0.0).fit(source, "label")


def _fit_numbers_by_pandas(file: Path) -> Any:
    import pandas as pd
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB(var_smoothing=0.0)
    for chunk in pd.read_csv(file, usecols=[*NAMES, "label"], chunksize=PEER_CHUNK):
        model.partial_fit(chunk[list(NAMES)].to_numpy(), chunk["label"].to_numpy(), LABELS)
    return model


def _answer(name: str, columns: str, model: Any, distinct: Path) -> float:
    from benchmarks.child import side

    X, y = _table(distinct)
    if columns == "all":
        return float(model.log_likelihood(X, y)) / len(y)
    parameters: GaussianClasses = side(name).gaussian_classes(model)
    numbers = np.stack([X[column].to_numpy() for column in NAMES], axis=1)
    return parameters.value(numbers, np.searchsorted(LABELS, y))


FITS = {
    ("ours", "all"): _fit_all,
    ("ours", "numbers"): _fit_numbers,
    ("theirs", "numbers"): _fit_numbers_by_pandas,
}


def main(name: str, columns: str, file: str, distinct: str) -> None:
    timed = clocked(lambda: FITS[name, columns](Path(file)))
    highest = peak()
    answer = _answer(name, columns, timed.answer, Path(distinct))
    print(json.dumps(Found(timed.seconds, highest, answer)))


if __name__ == "__main__":
    main(*sys.argv[1:])
