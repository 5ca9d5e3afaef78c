"""What ``compare`` says of tables of numbers, and how its 90 % intervals cover.

    python -m benchmarks.verdicts_on_numbers [NAME]…

Simulated tables in which a log link runs away, and those of scikit-learn and statsmodels.  A row
per model: the log-likelihood per row, R², and of another five folds the largest prediction as a
share of the largest y and the share of y inside the interval for a new y.  ``best`` is what the
verdict names; ``never`` are models whose means it calls worse than a constant's.
"""

import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

import likely as lk
from likely.workbench.scoring.predictions import prediction_intervals

Table = tuple[pd.DataFrame, str, str | None]
MOST_ROWS = 8000
SHIPPED = {  # the target of each table of statsmodels
    "fair": "affairs",
    "randhie": "mdvis",
    "star98": "NABOVE",
    "committee": "BILLS104",
    "cpunish": "EXECUTIONS",
    "strikes": "duration",
    "engel": "foodexp",
    "cancer": "cancer",
    "copper": "WORLDCONSUMPTION",
    "scotland": "YES",
    "ccard": "AVGEXP",
    "modechoice": "ttme",
}


def balances() -> Table:
    """Dollars from 0 to 1,999 of which a quarter are 0, as in the Credit table of ISLP."""
    rng, n = np.random.default_rng(0), 400
    income = rng.gamma(2, 20, n) + 10
    limit = 1500 + 60 * income + rng.normal(0, 1500, n).clip(-3000)
    student = rng.random(n) < 0.1
    y = -520 + 0.27 * limit - 7.6 * income + 420 * student + rng.normal(0, 50, n)
    frame = pd.DataFrame({"income": income, "limit": limit, "student": student.astype(int)})
    return frame.assign(balance=y.clip(0, 1999).round().astype(int)), "balance", None


def visits() -> Table:
    """Counts that grow with the logarithm of a skewed column."""
    rng, n = np.random.default_rng(0), 4000
    spent, ill = np.exp(rng.normal(0, 1.5, n)), rng.random(n) < 0.3
    y = rng.poisson((0.3 + 1.2 * ill + 0.5 * np.log1p(spent)) * rng.gamma(1.0, 1.0, n))
    return pd.DataFrame({"spent": spent, "ill": ill.astype(int), "visits": y}), "visits", "count"


def salaries() -> Table:
    """Amounts that level off in a long-tailed column."""
    rng, n = np.random.default_rng(0), 263
    years, hits = rng.integers(1, 24, n), rng.gamma(2, 50, n)
    career = hits * years * rng.uniform(0.5, 1.2, n)
    y = 70 + 900 * (1 - np.exp(-career / 900)) * rng.gamma(8, 1 / 8, n) + 0.5 * hits
    frame = pd.DataFrame({"years": years, "hits": hits, "career": career, "salary": y.round(3)})
    return frame, "salary", None


def bikers() -> Table:
    """Counts by the hour, on working days and others."""
    rng, n = np.random.default_rng(0), 4000
    hr, work, temp = rng.integers(0, 24, n), rng.random(n) < 0.7, rng.uniform(0, 1, n)
    to_work = 1.8 * (np.exp(-((hr - 8) ** 2) / 4) + np.exp(-((hr - 18) ** 2) / 6))
    mean = np.exp(2.5 + 1.5 * temp + np.where(work, to_work, 1.5 * np.exp(-((hr - 14) ** 2) / 30)))
    frame = pd.DataFrame({"hr": hr, "work": work.astype(int), "temp": temp})
    return frame.assign(bikers=rng.poisson(mean * rng.gamma(8, 1 / 8, n))), "bikers", "count"


def tables() -> Iterator[tuple[str, Callable[[], Table]]]:
    for make in (balances, visits, salaries, bikers):
        yield f"{make.__name__} (simulated)", make
    yield "diabetes", lambda: (load_diabetes(as_frame=True).frame, "target", None)
    for name in SHIPPED:
        yield name, lambda name=name: shipped(name)


def shipped(name: str) -> Table:
    """A table of statsmodels, whose whole numbers are stored as such."""
    frame = getattr(sm.datasets, name).load_pandas().data
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    whole = [c for c in frame if frame[c].notna().all() and (frame[c] % 1 == 0).all()]
    return frame.astype(dict.fromkeys(whole, int)), SHIPPED[name], None


def main(chosen: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name, make in tables():
        if chosen and name.split()[0] not in chosen:
            continue
        frame, target, kind = make()
        found = lk.compare(frame, target, kind=kind)
        print(f"{name}: {len(frame)} × {frame.shape[1] - 1}, {found.task.kind}")
        for each in found.entries:
            if not each.problem:
                said = "best" if each is found.best else "never" if each.worse_by else ""
                largest, inside = elsewhere(each.estimator, frame, target)
                r2 = f"{each.others['r2']:.3g}"
                print(
                    f"  {each.name:24}{each.value:9.3f}{r2:>10}{largest:9.2f}{inside:7.3f} {said}"
                )
        if found.reference is not None:
            print(f"  {found.reference.about(found.best.name) or 'No terms are missed.'}")


def elsewhere(estimator: object, frame: pd.DataFrame, target: str) -> tuple[float, float]:
    """The largest prediction over the largest y, and the share of y inside 90 % intervals."""
    X, y = frame.drop(columns=target), frame[target].to_numpy()
    mean, inside = np.empty(len(y)), np.empty(len(y))
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = clone(estimator).fit(X.iloc[train], y[train])
        mean[test] = model.predict(X.iloc[test])
        low, high = prediction_intervals(model).values(X.iloc[test], 0.9).T
        inside[test] = (low <= y[test]) & (y[test] <= high)
    return float(mean.max() / y.max()), float(inside.mean())


if __name__ == "__main__":
    main(sys.argv[1:])
