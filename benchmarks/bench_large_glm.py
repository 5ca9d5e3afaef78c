"""Poisson regression on 20 million rows of a Parquet file in less than 1 GB of memory.

    minimise  −Σ_i log p(y_i | μ_i)        log μ_i = x_iᵀw + b, no penalty

The file repeats some distinct rows, so the right answer is known: the fit in memory of those,
whose objective per row is the same.  ``LIKELY_BENCH_ROWS`` sets another number of rows; fewer
are written, and it is said, where the disk has no room.

The fit runs in a process of its own, whose highest memory is reported as it is, with Python,
the libraries and everything:  ``python -m benchmarks.bench_large_glm FILE DISTINCT``.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.memory import MB, peak
from benchmarks.objectives import Array, mean_loss
from benchmarks.ours_linear import passes
from benchmarks.report import Report, Row, at_most
from benchmarks.workbench import clocked, python

ROWS = 20_000_000
DISTINCT = 100_000  # rows, written again and again
FEATURES = 20
NAMES = tuple(f"x{j}" for j in range(FEATURES))
ROW_BYTES = 8 + 4 * FEATURES  # y is float64, the columns are float32
SPARE = 2.0  # times the file must be free on the disk
GAP = 1e-8
MEMORY_LIMIT = 1000  # MB


class Found(NamedTuple):
    """What a child process says."""

    seconds: float
    peak: float  # bytes
    answer: float  # −log p, nats per distinct row
    passes: float | None


def measure(shrink: int) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        copies, said = _copies(int(os.environ.get("LIKELY_BENCH_ROWS", ROWS // shrink)), folder)
        file, distinct = Path(folder) / "large.parquet", Path(folder) / "distinct.parquet"
        write_files(file, distinct, copies)
        mine = Found(
            *json.loads(python(["-m", "benchmarks.bench_large_glm", str(file), str(distinct)]))
        )
        expected = best_answer(distinct)
        megabytes = file.stat().st_size / MB
    rows = copies * DISTINCT
    off = (mine.answer - expected) / max(1.0, abs(expected))
    return Report(
        "A large GLM in little memory",
        f"Poisson, {rows:,} rows × {FEATURES} float32 columns in a Parquet file of "
        f"{megabytes:,.0f} MB, no penalty, to a gap of {GAP:g}.{said} Their answer is the optimum "
        "of the distinct rows in memory, by Newton in plain NumPy. The peak is that of the whole "
        "process.",
        [
            Row(
                work=f"fit from the file, {rows:,} × {FEATURES}",
                ours=mine.seconds,
                our_answer=mine.answer,
                their_answer=expected,
                our_gap=off,
                target=GAP,
                passes=mine.passes,
                note=f"{megabytes / mine.seconds:.0f} MB/s of file",
            ),
            Row(
                work="peak memory",
                unit="MB",
                ours=mine.peak / MB,
                our_gap=off,
                target=GAP,
                goal=at_most(MEMORY_LIMIT, "MB"),
            ),
        ],
        theirs="none",
        answer="−log p, nats per row",
        sizes={"rows": rows, "features": FEATURES, "megabytes": round(megabytes)},
    )


def _copies(rows: int, folder: str) -> tuple[int, str]:
    """How often the distinct rows are written, and a sentence if the disk has no room for all."""
    room = shutil.disk_usage(folder).free / SPARE / ROW_BYTES
    copies = max(1, rows // DISTINCT)
    if copies * DISTINCT <= room:
        return copies, ""
    fewer = max(1, int(room) // DISTINCT)
    return fewer, f" The disk has room for no more: {copies * DISTINCT:,} rows were wanted."


def write_files(file: Path, distinct: Path, copies: int) -> None:
    """Block after block, stored plainly: a repeated row costs as much as any other."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter, write_table

    rng = np.random.default_rng(0)
    X = rng.normal(size=(DISTINCT, FEATURES)).astype(np.float32)
    eta = np.dot(X, rng.normal(scale=0.5 / np.sqrt(FEATURES), size=FEATURES)) + 0.5
    columns: dict[str, Any] = {name: X[:, j] for j, name in enumerate(NAMES)}
    table = pa.table({**columns, "y": rng.poisson(np.exp(eta)).astype(float)})
    write_table(table, distinct)
    with ParquetWriter(file, table.schema, use_dictionary=False, compression="none") as out:
        for _ in range(copies):
            out.write_table(table)


def best_answer(distinct: Path) -> float:
    """The optimum by Newton's method, as the book writes it."""
    X, y = _arrays(distinct)
    X = np.column_stack([np.ones(len(y)), X])
    theta = np.zeros(X.shape[1])
    theta[0] = np.log(y.mean())
    for _ in range(20):
        mean = np.exp(np.dot(X, theta))
        theta += np.linalg.solve(np.dot(X.T * mean, X), np.dot(X.T, y - mean))
    return mean_loss("poisson", y, np.exp(np.dot(X, theta))) / len(y)


def _arrays(distinct: Path) -> tuple[Array, Array]:
    from pyarrow.parquet import read_table

    table = read_table(distinct)
    X = np.column_stack([table[name].to_numpy() for name in NAMES]).astype(np.float64)
    return X, table["y"].to_numpy()


def main(file: str, distinct: str) -> None:
    from likely import GLM

    timed = clocked(lambda: GLM("poisson", tol=GAP).fit(file, "y"))
    highest = peak()
    X, y = _arrays(Path(distinct))
    model = timed.answer
    eta = np.dot(X, np.ravel(model.coef_)) + float(np.ravel(model.intercept_)[0])
    answer = mean_loss("poisson", y, np.exp(eta)) / len(y)
    print(json.dumps(Found(timed.seconds, highest, answer, passes(model))))


if __name__ == "__main__":
    main(*sys.argv[1:])
