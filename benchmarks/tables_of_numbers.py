"""Tables of numbers, counts, amounts and classes through ``compare``, beside other libraries.

    python -m benchmarks.tables_of_numbers [NAME …] [--peers careful hgb …] [--folder DIR] [--again]

The best model of ``compare`` is fitted once more on five folds that all share (shuffled, seed 0;
stratified for classes).  One scale for all: nats a row, whole numbers by mass.  Ours has its own
predictive density.  A peer has the means alone: its density is that of the likeliest family of the
kind, with its spread from the held-out rows of the other folds, which flatters it a little.

A cell is log-likelihood / R² / largest prediction over largest y; of classes, minus the log loss
and the accuracy.  ``beyond`` is the farthest that a prediction of ours leaves the range of y, as a
share of its width; ``inside`` the share of y in their 90 % intervals; ``CPU`` the seconds of a fit,
one thread.  A difference is followed by its standard error, of the paired rows.

Results are kept in the folder, one file for each table and model, and are not computed again
without ``--again``; ``NAME.txt`` has the verdict, which is to be read.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import likely as lk
from benchmarks import mixed_tables
from benchmarks.mixed_tables import Absent, MixedTable
from benchmarks.table_peers import BOOSTERS, CLASSES, PEERS, Held, Rows
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.baseline import family_around, usual_families
from likely.metrics.prediction import Prediction
from likely.workbench.models.model_inside import predictive_family
from likely.workbench.scoring.predictions import prediction_intervals, with_density

LEVEL = 0.9  # of the intervals
COVERS = (0.87, 0.95)
NEAR = 0.05  # nats a row
OURS = "likely"
TABLES = {
    each.name: each
    for group in ("COUNTS", "AMOUNTS", "REAL", "CLASSES", "SMALL")
    for each in getattr(mixed_tables, group)
}
SMALL = {each.name for each in mixed_tables.SMALL}


class Result(NamedTuple):
    """The held-out rows of a model: their log density, and their means or classes."""

    density: np.ndarray
    predicted: np.ndarray  # means; of classes, 1 where the likeliest class is right
    seconds: float
    note: str  # the variant, or the model
    inside: float = np.nan  # of 90 % intervals
    family: str = ""
    by_means: float = np.nan  # nats a row of our means, scored as those of a peer

    def save(self, file: Path) -> None:
        np.savez(file, **self._asdict())

    @classmethod
    def read(cls, file: Path) -> "Result | None":
        if not file.exists():
            return None
        with np.load(file) as found:
            return cls(*(a.item() if a.ndim == 0 else a for a in map(found.get, cls._fields)))


def rows_of(table: MixedTable, frame: pd.DataFrame, kind: str) -> Rows:
    X, y = frame.drop(columns=table.target), frame[table.target].to_numpy()
    if kind in CLASSES:
        y = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    else:
        y = y.astype(float)
        folds = KFold(5, shuffle=True, random_state=0).split(X)
    return Rows(X, y, kind, list(folds))


def density_of(held: Held, rows: Rows) -> np.ndarray:
    """log p of each row; of means under the likeliest family, with the spread of other folds."""
    if rows.has_classes:
        return held.predicted[np.arange(len(rows.y)), rows.y]
    mean, y = held.predicted, rows.y
    if rows.kind != "real":
        mean = np.maximum(mean, 1e-3 * y.mean())
    best = np.full(len(y), -np.inf)
    for response in usual_families(rows.kind, y):
        density = np.full(len(y), -np.inf)
        for train, test in rows.folds:
            around = family_around(response, y[train], mean[train], np.ones(len(train)))
            family = PredictiveFamily.of(*around)
            if family is not None:
                means = Prediction.of_numbers(mean[test])
                density[test] = with_density(means, family, y[test], rows.kind).log_density
        best = max(best, density, key=np.mean)
    return best


def result_of(held: Held, rows: Rows) -> Result:
    right = held.predicted
    if rows.has_classes:
        right = (right.argmax(axis=1) == rows.y).astype(float)
    return Result(density_of(held, rows), right, held.seconds, held.variant)


def ours(table: MixedTable, frame: pd.DataFrame, folder: Path) -> tuple[str, Result]:
    """The best model of ``compare`` on the shared folds, and the kind of target."""
    start = process_time()
    found = lk.compare(frame, table.target, kind=table.kind, category=table.category)
    text = f"{found}\n\nCPU of compare: {process_time() - start:.1f} s\n"
    if found.reference is not None:
        text += f"\nReference: {found.reference.about(found.best.name) or 'nothing is missed.'}\n"
    (folder / f"{table.name}.txt").write_text(text, encoding="utf-8")
    rows = rows_of(table, frame, found.task.kind)
    y = frame[table.target].to_numpy()
    n = len(y)
    density, predicted, inside = np.empty(n), np.empty(n), np.full(n, np.nan)
    seconds, family = 0.0, ""
    for train, test in rows.folds:
        model, X = clone(found.best.estimator), rows.X.iloc[test]
        start = process_time()
        model.fit(rows.X.iloc[train], y[train])
        seconds += (process_time() - start) / len(rows.folds)
        if rows.has_classes:
            log_p = np.asarray(model.predict_log_proba(X))
            place = {str(label): k for k, label in enumerate(model.classes_.tolist())}
            own = np.array([place[str(label)] for label in y[test].tolist()])
            density[test] = log_p[np.arange(len(test)), own]
            predicted[test] = log_p.argmax(axis=1) == own
            continue
        predicted[test] = model.predict(X)
        of = predictive_family(model)
        family = "" if of is None else of.response.name
        means = Prediction.of_numbers(predicted[test])
        density[test] = with_density(means, of, rows.y[test], rows.kind).log_density
        low, high = prediction_intervals(model).values(X, LEVEL).T
        inside[test] = (low <= rows.y[test]) & (rows.y[test] <= high)
    by_means = density if rows.has_classes else density_of(Held("", predicted, 0.0), rows)
    return rows.kind, Result(
        density, predicted, seconds, found.best.name, float(inside.mean()), family,
        float(by_means.mean()),
    )  # fmt: skip


def measure(table: MixedTable, peers: Iterable[str], folder: Path, *, again: bool) -> str:
    """The row of a table, after what is not known yet was computed."""
    frame = table.frame()
    kind_file, our_file = folder / f"{table.name}.kind", folder / f"{table.name}--{OURS}.npz"
    if again or not our_file.exists():
        kind, result = ours(table, frame, folder)
        kind_file.write_text(kind)
        result.save(our_file)
    rows = rows_of(table, frame, kind_file.read_text())
    rows = rows._replace(X=rows.X.astype(dict.fromkeys(table.category, str)))
    for name in peers:
        file = folder / f"{table.name}--{name}.npz"
        if again or not file.exists():
            try:
                best = max(
                    (result_of(held, rows) for held in PEERS[name](rows)),
                    key=lambda each: each.density.mean(),
                )
                best.save(file)
            except (ImportError, FileNotFoundError, ValueError, RuntimeError) as problem:
                told = " ".join(str(problem).split())[-200:]
                print(f"{table.name}, {name}: {type(problem).__name__}: {told}", file=sys.stderr)
    return line_of(table, rows, folder)


def farthest(mean: np.ndarray, y: np.ndarray) -> float:
    """How far a prediction leaves the range of y, as a share of its width."""
    return float(max(mean.max() - y.max(), y.min() - mean.min(), 0.0) / (y.max() - y.min()))


def cell(result: Result | None, rows: Rows) -> str:
    if result is None:
        return "–"
    score = f"{result.density.mean():.3f}"
    if rows.has_classes:
        return f"{score}/{result.predicted.mean():.3f}"
    y, mean = rows.y, result.predicted
    r2 = 1 - np.square(y - mean).mean() / y.var()
    return f"{score}/{r2:.3g}/{mean.max() / y.max():.2f}"


def less(ours: Result, theirs: Result | None) -> str:
    """The mean gain over a peer with the standard error of the paired rows."""
    if theirs is None:
        return "–"
    gain = ours.density - theirs.density
    error = gain.std() / np.sqrt(len(gain))
    if not np.isfinite(error):
        return f"**{gain.mean():+.3f}**"
    text = f"{gain.mean():+.3f} ± {error:.3f}"
    return f"**{text}**" if gain.mean() < -2 * error else text


def line_of(table: MixedTable, rows: Rows, folder: Path) -> str:
    found = {name: Result.read(folder / f"{table.name}--{name}.npz") for name in (OURS, *PEERS)}
    mine = found[OURS]
    assert mine is not None
    boosted = [each for name in BOOSTERS if (each := found[name]) is not None]
    booster = max(boosted, key=lambda each: each.density.mean()) if boosted else None
    beyond = inside = "–"
    if not rows.has_classes:
        far = farthest(mine.predicted, rows.y)
        beyond = f"**{far:.2f}**" if far > 0.2 else f"{far:.2f}"
        outside = not COVERS[0] <= mine.inside <= COVERS[1]
        inside = f"**{mine.inside:.3f}**" if outside else f"{mine.inside:.3f}"
    mixed = cell(mine, rows)
    if abs(mine.by_means - mine.density.mean()) > 0.01:
        mixed += f" (by means {mine.by_means:.3f})"
    cells = [
        table.name + ("" if table.seen_before else " (new)"),
        f"{len(rows.y):,} × {rows.X.shape[1]}",
        rows.kind,
        f"{mine.note} {mine.family}".strip(),
        mixed,
        beyond,
        inside,
        f"{mine.seconds:.2f}",
        *(
            "–" if (each := found[name]) is None else f"{cell(each, rows)}, {each.seconds:.2f} s"
            for name in PEERS
        ),
        less(mine, found["careful"]),
        less(mine, booster),
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "table", "rows", "kind", "our best", OURS, "beyond", "inside", "CPU", *PEERS,
    "− careful", "− best booster",
)  # fmt: skip


def summary(names: Iterable[str], folder: Path) -> str:
    """How many tables are level with the careful pipeline, and near the best booster."""
    level = near = n = n_boosted = 0
    for name in names:
        found = {p: Result.read(folder / f"{name}--{p}.npz") for p in (OURS, *PEERS)}
        mine, lines = found[OURS], found["careful"]
        if mine is None or lines is None:
            continue
        gain = mine.density - lines.density
        n += 1
        level += bool(gain.mean() >= -2 * gain.std() / np.sqrt(len(gain)))
        boosted = [float(each.density.mean()) for b in BOOSTERS if (each := found[b]) is not None]
        n_boosted += bool(boosted)
        near += bool(boosted) and bool(mine.density.mean() >= max(boosted) - NEAR)
    return (
        f"At least level with the careful pipeline: {level} of {n}; within {NEAR} nats of the "
        f"best booster: {near} of {n_boosted}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(TABLES))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=["careful", "hgb", "lightgbm"])
    parser.add_argument("--folder", type=Path, help="where results are kept")
    parser.add_argument("--small", action="store_true", help="small and simulated tables too")
    parser.add_argument("--again", action="store_true", help="compute again what is kept")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="likely-tables-"))
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    names = chosen.names or [name for name in TABLES if chosen.small or name not in SMALL]
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|")
    for name in names:
        try:
            print(measure(TABLES[name], chosen.peers, folder, again=chosen.again), flush=True)
        except Absent as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
    print(f"\n{summary(names, folder)}\nVerdicts and results: {folder}")


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        main()
