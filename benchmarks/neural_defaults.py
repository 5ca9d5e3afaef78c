"""Networks with their default settings beside scikit-learn's, on ten tables.

    python -m benchmarks.neural_defaults [SETTING=VALUE …]

Both have standardised columns and the same five shuffled folds: log loss of classes, root mean
square error of numbers divided by the standard deviation of y; lower is better.  The mean over
folds is printed, with the CPU seconds of a fit.  Settings change ours, such as ``solver=adam``.
"""

import ast
import sys
import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import statsmodels.api as sm
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

from likely import NeuralNetworkClassifier, NeuralNetworkRegressor

N_FOLDS = 5
SEEDS = (0,)


class Table(NamedTuple):
    """Columns of numbers and a target."""

    name: str
    X: Any
    y: Any
    has_classes: bool


def tables() -> Iterator[Table]:
    """Seven tables of classes and three of numbers."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield Table(name.replace("_", " "), X, y, has_classes=True)
    votes = sm.datasets.anes96.load_pandas()
    yield Table("parties of 1996", votes.exog, votes.endog, has_classes=True)
    affairs = sm.datasets.fair.load_pandas()
    yield Table("affairs", affairs.exog[::4], (affairs.endog[::4] > 0), has_classes=True)
    yield Table("two moons", *datasets.make_moons(600, noise=0.3, random_state=0), True)
    X, y = datasets.load_diabetes(return_X_y=True)
    yield Table("diabetes", X, y, has_classes=False)
    X, y = datasets.make_friedman1(600, noise=1.0, random_state=0)
    yield Table("Friedman's first", X, y, has_classes=False)
    cards = sm.datasets.ccard.load_pandas()
    yield Table("card expenses", cards.exog, cards.endog, has_classes=False)


def loss_of(table: Table, kind: Any, settings: dict[str, Any]) -> tuple[float, float]:
    """The mean loss over folds and seeds, and the CPU seconds of a fit."""
    X, y = np.asarray(table.X, dtype=float), np.asarray(table.y)
    folds = (StratifiedKFold if table.has_classes else KFold)(N_FOLDS, shuffle=True, random_state=0)
    losses, seconds = [], 0.0
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        for seed in SEEDS:
            model, began = kind(random_state=seed, **settings), process_time()
            model.fit(scaler.transform(X[train]), y[train])
            seconds += process_time() - began
            losses.append(_loss(table, model, scaler.transform(X[test]), y[test], y.std()))
    return float(np.mean(losses)), seconds / len(losses)


def _loss(table: Table, model: Any, X: Any, y: Any, spread: float) -> float:
    if table.has_classes:
        return float(log_loss(y, model.predict_proba(X), labels=model.classes_))
    return float(np.sqrt(np.mean(np.square(y - model.predict(X)))) / spread)


def main() -> None:
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    settings = {name: _value(text) for name, text in given.items()}
    ratios = list[float]()
    print("| table | ours | scikit-learn | ratio | CPU s | CPU s of scikit-learn |")
    print("| --- | --- | --- | --- | --- | --- |")
    for table in tables():
        kinds = (
            (NeuralNetworkClassifier, MLPClassifier)
            if table.has_classes
            else (NeuralNetworkRegressor, MLPRegressor)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (ours, cpu), (theirs, their_cpu) = (
                loss_of(table, kind, own) for kind, own in zip(kinds, (settings, {}), strict=True)
            )
        ratios.append(ours / theirs)
        cells = f"{ours:.3f} | {theirs:.3f} | {ratios[-1]:.3f} | {cpu:.2f} | {their_cpu:.2f}"
        print(f"| {table.name} | {cells} |", flush=True)
    print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}")


def _value(text: str) -> Any:
    """A number, a tuple or a Boolean as Python writes it; else a name."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


if __name__ == "__main__":
    main()
