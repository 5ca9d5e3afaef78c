"""Gaussian models on ten tables with nearly constant columns, beside scikit-learn's.

    python -m benchmarks.nearly_constant [folder of MNIST's files]

Five folds, shuffled.  Accuracy and log loss (nats per row; probabilities no smaller than the
rounding of a double) of Gaussian naive Bayes, linear and quadratic discriminants; the held-out mean
of log p(x) of mixtures with two diagonal components.
"""

import lzma
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn import mixture as theirs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from likely import DiscriminantAnalysis, GaussianMixture, NaiveBayes

LEAST = float(np.log(np.finfo(float).eps))
CLASSIFIERS: dict[str, tuple[Any, Any]] = {
    "naive Bayes": (NaiveBayes(), GaussianNB()),
    "linear": (DiscriminantAnalysis(), LinearDiscriminantAnalysis()),
    "quadratic": (
        DiscriminantAnalysis("full", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(reg_param=0.01),
    ),
}
FEW_COLUMNS = 40  # beyond, covariances of a fold are not compared


def tables(mnist: Path | None) -> Iterator[tuple[str, Any, Any]]:
    rng = np.random.default_rng(0)
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits", X, y
    some = np.isin(y, [3, 8])
    yield "digits, 3 and 8", X[some], y[some]
    if mnist is not None:
        yield "MNIST, 2,000 rows", *_mnist(mnist, 2000)
    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield "breast cancer, in bins", np.round(X / (3 * X.std(axis=0))), y
    yield "breast cancer, top 3 %", (np.quantile(X, 0.97, axis=0) < X).astype(float), y
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine and rare indicators", np.column_stack([X, rng.random((len(X), 10)) < 0.02]), y
    X, y = datasets.load_iris(return_X_y=True)
    yield (
        "iris and columns constant in a class",
        np.column_stack([X, np.where(y == 0, 0.0, rng.normal(size=150))]),
        y,
    )
    yield "iris and 5 ± 10⁻⁶", np.column_stack([X, 5 + 1e-6 * rng.normal(size=(150, 3))]), y
    y = rng.integers(0, 2, 2000)
    shifted = rng.normal(size=(2000, 3)) + 0.7 * y[:, None]
    yield "indicators of 0.5 %", np.column_stack([shifted, rng.random((2000, 20)) < 0.005]), y
    wide = rng.normal(size=(2000, 1)) * np.where(y == 1, 1.0, 1e4)[:, None]
    yield "scales that differ by 10⁴", np.column_stack([wide, shifted]), y


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    print(f"{'table':38}{'model':14}{'accuracy':>9}{'theirs':>8}{'log loss':>10}{'theirs':>8}")
    for name, X, y in tables(folder):
        X = np.asarray(X, dtype=float)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        for kind, pair in CLASSIFIERS.items():
            if kind == "naive Bayes" or X.shape[1] <= FEW_COLUMNS:
                _print_row(name, kind, [_scores(model, X, y, folds) for model in pair])
        if X.shape[1] <= FEW_COLUMNS:
            mixtures = (
                GaussianMixture(2, "diagonal", random_state=0),
                theirs.GaussianMixture(2, covariance_type="diag", n_init=5, random_state=0),
            )
            densities = [_density(model, X, folds) for model in mixtures]
            print(f"{name:38}{'mixture':14}{'':17}{-densities[0]:10.3f}{-densities[1]:8.3f}")


def _print_row(name: str, kind: str, scores: list[tuple[float, float]]) -> None:
    (accuracy, loss), (other_accuracy, other_loss) = scores
    print(f"{name:38}{kind:14}{accuracy:9.3f}{other_accuracy:8.3f}{loss:10.3f}{other_loss:8.3f}")


def _scores(model: Any, X: Any, y: Any, folds: Any) -> tuple[float, float]:
    """Accuracy and log loss over the held-out rows."""
    right, loss = 0, 0.0
    for rows, held_out in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log_proba = model.fit(X[rows], y[rows]).predict_log_proba(X[held_out])
        codes = np.searchsorted(model.classes_, y[held_out])
        right += np.count_nonzero(log_proba.argmax(axis=1) == codes)
        loss -= np.maximum(log_proba, LEAST)[np.arange(len(codes)), codes].sum()
    return right / len(y), loss / len(y)


def _density(model: Any, X: Any, folds: Any) -> float:
    """The mean of log p(x) over the held-out rows."""
    total = 0.0
    for rows, held_out in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            total += model.fit(X[rows]).score_samples(X[held_out]).sum()
    return total / len(X)


def _mnist(folder: Path, n_rows: int) -> tuple[Any, Any]:
    with lzma.open(folder / "t10k-images-idx3-ubyte.xz") as images:
        X = np.frombuffer(images.read(16 + 784 * n_rows)[16:], np.uint8).reshape(n_rows, 784)
    with lzma.open(folder / "t10k-labels-idx1-ubyte.xz") as labels:
        y = np.frombuffer(labels.read(8 + n_rows)[8:], np.uint8)
    return X, y


if __name__ == "__main__":
    main()
