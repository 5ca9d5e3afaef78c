"""The quality of the registered ``neural-network`` on small tables, by ``likely.compare``.

    python -m benchmarks.neural_tables

Every model is scored on the same five folds: log loss of classes, the negative log-likelihood per
row of numbers; lower is better.  ``scikit-learn MLP`` has standardised columns and the layers,
rate, patience and limit of epochs of ours, and is one network, so ``one network`` is the fair
comparison with it; the registered model averages five.  Gradient boosting has its default
settings.  Models of numbers from scikit-learn have no density, so theirs is the Gaussian whose
variance is the mean square error of the same held-out rows, which flatters them a little.

The rate, the patience, the charge for choices and the standard errors that a gain needs in
``neural-network`` were chosen by looking at all of these tables but the digits, so its figures on
the others are slightly optimistic.
"""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely as lk
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import entry_for

OURS, ONE, LINEAR = "neural-network", "one network", "softmax or linear"
BOOSTING, MLP = "gradient boosting", "scikit-learn MLP"
CONSTANT = "constant"


class Table(NamedTuple):
    """A table of the comparison."""

    name: str
    data: Any
    target: str | None = None
    kind: Any = None

    @property
    def has_classes(self) -> bool:
        return self.kind == "classes"


def tables() -> Iterator[Table]:
    """The built-in tables, and five others."""
    for name in ("iris", "wine", "breast-cancer", "digits"):
        yield Table(name, name, kind="binary" if name == "breast-cancer" else "classes")
    yield Table("diabetes", "diabetes", kind="real")
    X, y = datasets.make_moons(600, noise=0.3, random_state=0)
    yield Table("two moons", framed(X, y), "target", "binary")
    X, y = datasets.make_hastie_10_2(1000, random_state=0)
    yield Table("ten Gaussians, a sphere", framed(X, y), "target", "binary")
    X, y = datasets.make_friedman1(600, noise=1.0, random_state=0)
    yield Table("Friedman's first", framed(X, y), "target", "real")
    rng = np.random.default_rng(0)
    noise = framed(rng.normal(size=(200, 10)), rng.integers(0, 2, 200))
    yield Table("noise, two classes", noise, "target", "binary")
    yield Table(
        "noise, numbers", framed(rng.normal(size=(200, 10)), rng.normal(size=200)), "target", "real"
    )


def framed(X: Any, y: Any) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    return frame.assign(target=y)


def models(table: Table) -> dict[str, Any]:
    early = {"early_stopping": True, "learning_rate_init": 3e-3, "n_iter_no_change": 30}
    early |= {"max_iter": 500, "random_state": 0}
    ours = {OURS: OURS, ONE: one_network()}
    if table.kind == "real":
        return {
            **ours,
            LINEAR: "linear",
            BOOSTING: HistGradientBoostingRegressor(random_state=0),
            MLP: make_pipeline(StandardScaler(), MLPRegressor(**early)),
        }
    return {
        **ours,
        LINEAR: "logistic" if table.kind == "binary" else "softmax",
        BOOSTING: HistGradientBoostingClassifier(random_state=0),
        MLP: make_pipeline(StandardScaler(), MLPClassifier(**early)),
    }


def one_network() -> ModelEntry:
    return entry_for(OURS).with_settings({"n_networks": 1})


def losses(table: Table) -> dict[str, float]:
    """The cross-validated loss of each model, the lower the better."""
    metric = "rmse" if table.kind == "real" else None
    found = lk.compare(table.data, table.target, models(table), kind=table.kind, metric=metric)
    values = {entry.name: entry.value for entry in found.entries}
    if table.kind != "real":
        return values
    gaussian = {name: 0.5 + 0.5 * np.log(2 * np.pi * value**2) for name, value in values.items()}
    dense = {OURS: OURS, ONE: one_network(), LINEAR: "linear"}
    own = lk.compare(table.data, table.target, dense, kind=table.kind)
    return {**gaussian, **{entry.name: -entry.value for entry in own.entries}}


def main() -> None:
    names = (OURS, ONE, LINEAR, BOOSTING, MLP, CONSTANT)
    print(f"| table | {' | '.join(names)} |")
    print(f"| --- |{' --- |' * len(names)}")
    for table in tables():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = losses(table)
        cells = [f"{values[name]:.3f}" for name in names]
        print(f"| {table.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
