"""The goals that were set for additive models, and what is measured.

    python -m benchmarks.tables_of_numbers --small --folder DIR --peers careful hgb lightgbm mgcv
    python -m benchmarks.additive_goals DIR

The first command makes the results that the goals over all tables are read from.  Pairs are fitted
here, on the same folds, and so is one fit of 10,000 rows of 16 numbers and 4 categories, beside
histogram boosting.  Seconds are of the CPU, of one fit in one thread.
"""

import sys
import warnings
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.mixed_tables import Absent
from benchmarks.table_peers import CLASSES, Held, hgb
from benchmarks.tables_of_numbers import (
    FAR,
    OURS,
    TABLES,
    Result,
    covers,
    density_of,
    farthest,
    result_of,
    rows_of,
)
from likely import AdditiveModel

PAIRS = 10


class PairGoal(NamedTuple):
    """A table on which products of columns matter."""

    table: str
    kind: str
    response: str
    likelihood: float  # nats a row
    seconds: float = np.inf


WITH_PAIRS = (
    PairGoal("Bikeshare", "count", "negative-binomial", -4.50, 1.0),
    PairGoal("Computers", "positive", "gamma", -6.48),
    PairGoal("NOxEmissions", "real", "gaussian", -0.56),
)


def wide(n: int = 10_000) -> tuple[pd.DataFrame, np.ndarray]:
    """16 numbers and 4 categories; curves, and one product."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 16)), columns=[f"x{k}" for k in range(16)])
    for k, levels in enumerate((3, 5, 10, 20)):
        X[f"f{k}"] = np.array([f"level {j}" for j in range(levels)])[rng.integers(levels, size=n)]
    bend = np.sin(2 * X["x0"]) + 0.5 * X["x1"] ** 2 + X["x2"] + X["x3"] * X["x4"]
    return X, (bend + (X["f2"] == "level 3") + rng.normal(size=n)).to_numpy()


def of_pairs(goal: PairGoal) -> str:
    table = TABLES[goal.table]
    rows = rows_of(table, table.frame(), goal.kind)
    mean, density, seconds = np.empty(len(rows.y)), np.empty(len(rows.y)), 0.0
    for train, test in rows.folds:
        start = process_time()
        model = AdditiveModel(goal.response, interactions=PAIRS)
        model.fit(rows.X.iloc[train], rows.y[train])
        seconds += (process_time() - start) / len(rows.folds)
        mean[test] = model.predict(rows.X.iloc[test])
        family = model.predictive_family()
        counts = goal.kind == "count"
        density[test] = family.log_density(rows.y[test], mean[test], counts=counts)
    by_means = density_of(Held("", mean, 0.0), rows).mean()
    r2 = 1 - np.square(rows.y - mean).mean() / rows.y.var()
    boosted = max((result_of(held, rows) for held in hgb(rows)), key=lambda b: b.density.mean())
    met = density.mean() >= goal.likelihood and seconds <= goal.seconds
    wanted = f"{goal.likelihood}" + (f", {goal.seconds:g} s" if np.isfinite(goal.seconds) else "")
    return row(
        f"{goal.table}, {PAIRS} pairs",
        f"hgb, {boosted.note}: {boosted.density.mean():.3f}, {boosted.seconds:.2f} s",
        wanted,
        f"{density.mean():.3f} (by means {by_means:.3f}), R² {r2:.3f}, {seconds:.2f} s",
        met,
    )


def of_one_fit() -> list[str]:
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = wide()
    coded = X.astype(dict.fromkeys([c for c in X if c.startswith("f")], "category"))
    boosted = HistGradientBoostingRegressor(categorical_features="from_dtype")
    theirs = seconds_of(lambda: boosted.fit(coded, y))
    found = []
    for pairs, most in ((0, 0.3), (PAIRS, 1.0)):
        ours = seconds_of(lambda p=pairs: AdditiveModel(interactions=p).fit(X, y))
        name = f"10,000 × 20, one fit, {pairs} pairs"
        found.append(row(name, f"hgb {theirs:.2f} s", f"{most} s", f"{ours:.2f} s", ours <= most))
    return found


def seconds_of(work: object, times: int = 3) -> float:
    best = np.inf
    for _ in range(times):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return best


def of_all_tables(folder: Path) -> list[str]:
    """The goals over all tables, from the results of ``tables_of_numbers``."""
    behind, times, beyond, inside = {}, {}, {}, {}
    for name, table in TABLES.items():
        mine = Result.read(folder / f"{name}--{OURS}.npz")
        if mine is None:
            continue
        theirs = Result.read(folder / f"{name}--mgcv.npz")
        kind, density = (folder / f"{name}.kind").read_text(), mine.density
        if kind not in CLASSES:
            rows = rows_of(table, table.frame(), kind)
            density = density_of(Held("", mine.predicted, 0.0), rows)
            beyond[name] = farthest(mine.predicted, rows.y)
            inside[name] = mine
        if theirs is not None:
            behind[name] = float((density - theirs.density).mean())
            times[name] = mine.seconds / max(theirs.seconds, 1e-3)
    worse = {name: gap for name, gap in behind.items() if gap < -0.02}
    slower = {name: share for name, share in times.items() if share > 0.5}
    out = {name: mine.inside for name, mine in inside.items() if not covers(mine)}
    shares = [mine.inside for mine in inside.values()]
    far = {name: share for name, share in beyond.items() if share > FAR}
    return [
        row(
            f"{len(behind)} tables also given to mgcv, by means", "mgcv", "none worse by 0.02",
            f"{min(behind.values(), default=0):+.3f} to {max(behind.values(), default=0):+.3f}; "
            f"worse: {listed(worse)}", not worse,
        ),
        row(
            "the same, CPU", "mgcv", "half",
            f"median {np.median(list(times.values())):.2f} of its time; more than half: "
            f"{listed(slower)}", not slower,
        ),
        row(f"predictions within y by 0.2 of its range, {len(beyond)} tables", "–", "all",
            f"beyond: {listed(far)}", not far),
        row(f"90 % intervals, {len(inside)} tables", "–", "0.87 to 0.95",
            f"{min(shares):.3f} to {max(shares):.3f}; outside: {listed(out)}",
            not out),
    ]  # fmt: skip


def listed(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in found.items()) or "none"


def row(*cells: object) -> str:
    *texts, met = cells
    return "| " + " | ".join([*map(str, texts), "met" if met else "**missed**"]) + " |"


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    print("| work | best peer | goal | measured | |\n| --- | --- | --- | --- | --- |")
    for line in of_all_tables(folder):
        print(line, flush=True)
    for goal in WITH_PAIRS:
        try:
            print(of_pairs(goal), flush=True)
        except Absent as reason:
            print(f"{goal.table} is left out: {reason}", file=sys.stderr)
    for line in of_one_fit():
        print(line, flush=True)


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        main(Path(sys.argv[1]))
