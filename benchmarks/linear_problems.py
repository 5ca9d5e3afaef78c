"""Data for the linear models, each with the objective it is judged by."""

import lzma
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from benchmarks.objectives import (
    Array,
    Cumulative,
    Linear,
    binary_loss,
    lasso_gaps,
    mean_loss,
    ordinal_loss,
    penalty,
    softmax_loss,
)

DATA = Path(
    os.environ.get("LIKELY_BENCH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
TEXTS = DATA / "text" / "debian-descriptions.tsv.xz"
IMAGES = DATA / "mnist" / "train-images-idx3-ubyte.xz"
DIGITS = DATA / "mnist" / "train-labels-idx1-ubyte.xz"
IDX_IMAGES, IDX_LABELS = 16, 8  # bytes of header
NUMERIC = 6
LEVELS = (6, 12, 40, 100)
WORDS = 80  # of a made document


@final
@dataclass(frozen=True, eq=False)
class Binary:
    """Two classes, 0 and 1; ``X`` may be CSR."""

    X: Any
    y: Array
    link: str = "logit"
    l1: float = 0.0
    l2: float = 0.0
    fit_intercept: bool = True

    def value(self, point: Linear) -> float:
        eta = point.eta(self.X if self.X.dtype == np.float64 else self.X.astype(np.float64))
        return binary_loss(self.link, self.y, eta) + penalty(point.coef, self.l1, self.l2)

    def copy(self) -> "Binary":
        return replace(self, X=self.X.copy(), y=self.y.copy())


@final
@dataclass(frozen=True, eq=False)
class Classes:
    """Classes 0 … K − 1."""

    X: Array
    y: Array
    l2: float

    def value(self, point: Linear) -> float:
        return softmax_loss(self.y, point.eta(self.X)) + penalty(point.coef, 0.0, self.l2)

    def copy(self) -> "Classes":
        return replace(self, X=self.X.copy(), y=self.y.copy())


@final
@dataclass(frozen=True, eq=False)
class Ordered:
    """Ordered classes 0 … K − 1, no penalty."""

    X: Array
    y: Array

    def value(self, point: Cumulative) -> float:
        return ordinal_loss(point, self.X, self.y)

    def copy(self) -> "Ordered":
        return replace(self, X=self.X.copy(), y=self.y.copy())


@final
@dataclass(frozen=True, eq=False)
class Mixed:
    """A frame with numbers and categories, and an exposure; log link, no penalty.

    Judged by the fitted means, as every library has its own way to drop a level.
    """

    frame: Any
    y: Array
    exposure: Array
    response: str

    def value(self, mean: Array) -> float:
        return mean_loss(self.response, self.y, mean)

    def copy(self) -> "Mixed":
        return replace(
            self, frame=self.frame.copy(), y=self.y.copy(), exposure=self.exposure.copy()
        )


@final
@dataclass(frozen=True, eq=False)
class LassoPath:
    """½‖y − Xw‖² + l1 ‖w‖₁ at a falling sequence of l1, no intercept; X in Fortran order."""

    X: Array
    y: Array
    l1: Array

    def value(self, coefs: Array) -> float:
        """The largest duality gap on the path, over ½‖y‖²."""
        if coefs.shape != (len(self.l1), self.X.shape[1]):
            raise ValueError(f"A path of {len(self.l1)} penalties was expected: {coefs.shape}.")
        return float(lasso_gaps(self.X, self.y, self.l1, coefs).max())

    def copy(self) -> "LassoPath":
        return replace(self, X=self.X.copy(order="F"), y=self.y.copy())


def dense_binary(
    rows: int, features: int, *, link: str = "logit", l2: float = 0.0, dtype: Any = np.float64
) -> Binary:
    """Columns that are correlated and differ in scale a little."""
    rng = np.random.default_rng(0)
    mixing = np.eye(features) + rng.normal(scale=0.3 / np.sqrt(features), size=(features, features))
    X = np.dot(rng.normal(size=(rows, features)), mixing) * rng.uniform(0.5, 2.0, size=features)
    eta = np.dot(X, rng.normal(size=features)) / np.sqrt(features) - 0.5
    y = (rng.random(rows) < _chance(link, eta)).astype(np.int64)
    return Binary(np.ascontiguousarray(X, dtype=dtype), y, link, l2=l2)


def _chance(link: str, eta: Array) -> Array:
    if link == "cloglog":
        return -np.expm1(-np.exp(eta))
    if link == "probit":
        from scipy.special import ndtr

        return np.asarray(ndtr(eta))
    return 1.0 / (1.0 + np.exp(-eta))


def digits(rows: int, l2: float) -> Classes:
    """MNIST's training images over 255 where they are at hand, else sparse pictures made up."""
    if not IMAGES.exists():
        return _made_digits(rows, l2)
    pixels, labels = _bytes(IMAGES, IDX_IMAGES), _bytes(DIGITS, IDX_LABELS)
    X = pixels.reshape(len(labels), -1)[:rows] / 255.0
    return Classes(X, labels[:rows].astype(np.int64), l2)


def _bytes(file: Path, header: int) -> Array:
    with lzma.open(file) as content:
        return np.frombuffer(content.read(), np.uint8, offset=header)


def _made_digits(rows: int, l2: float) -> Classes:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=rows)
    ink = rng.random((10, 784)) ** 4
    X = np.minimum(1.0, np.maximum(0.0, ink[y] + rng.normal(scale=0.3, size=(rows, 784))))
    return Classes(X, y, l2)


def texts(rows: int, features: int, *, l1: float = 0.0, l2: float = 0.0) -> Binary:
    """tf-idf of words and pairs of words of package descriptions: is it a library or not?

    Without the file, documents of words drawn by Zipf's law.
    """
    X, y = _descriptions(rows, features) if TEXTS.exists() else _made_texts(rows, features)
    return Binary(X, y, l1=l1, l2=l2, fit_intercept=False)


def _descriptions(rows: int, features: int) -> tuple[Any, Array]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    with lzma.open(TEXTS, "rt", encoding="utf8") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    order = np.random.default_rng(0).permutation(len(fields))[:rows]
    tfidf = TfidfVectorizer(ngram_range=(1, 2), max_features=features)
    X = tfidf.fit_transform([fields[i][2] for i in order]).tocsr()
    y = np.array([fields[i][0].startswith("lib") for i in order], dtype=np.int64)
    return X, y


def _made_texts(rows: int, features: int) -> tuple[Any, Array]:
    from scipy.sparse import csr_array
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, size=rows * WORDS) - 1, features - 1)
    ends = np.arange(0, rows * WORDS + 1, WORDS)
    X = csr_array((np.ones(rows * WORDS), words, ends), shape=(rows, features))
    X.sum_duplicates()
    X = normalize(X)
    eta = X @ rng.normal(scale=3.0, size=features)
    return X, (rng.random(rows) < _chance("logit", eta)).astype(np.int64)


def mixed(rows: int, response: str) -> Mixed:
    """Counts or amounts per exposure from 6 numbers and 4 categories of 6 to 100 levels."""
    import pandas as pd

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, NUMERIC)) * rng.uniform(0.5, 5.0, size=NUMERIC)
    eta = np.dot(numbers / numbers.std(axis=0), rng.normal(scale=0.15, size=NUMERIC)) - 1.0
    columns: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(NUMERIC)}
    for size in LEVELS:
        chance = rng.dirichlet(np.full(size, 5.0))
        code = rng.choice(size, size=rows, p=chance)
        eta += rng.normal(scale=0.3, size=size)[code]
        names = [f"level {v:03d}" for v in range(size)]
        columns[f"c{size}"] = pd.Categorical.from_codes(code, names)
    exposure = rng.uniform(0.1, 1.0, size=rows)
    mean = exposure * np.exp(eta)
    y = rng.poisson(mean).astype(float) if response == "poisson" else rng.gamma(2.0, mean / 2.0)
    return Mixed(pd.DataFrame(columns), np.maximum(y, _least(response)), exposure, response)


def _least(response: str) -> float:
    return 0.0 if response == "poisson" else 1e-6  # a gamma amount is never zero


def ordered(rows: int, features: int, classes: int) -> Ordered:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)) * rng.uniform(0.5, 2.0, size=features)
    latent = np.dot(X, rng.normal(size=features)) / np.sqrt(features) + rng.logistic(size=rows)
    ends = np.quantile(latent, np.linspace(0, 1, classes + 1)[1:-1])
    return Ordered(X, np.searchsorted(ends, latent).astype(np.int64))


def wide(rows: int, features: int, penalties: int, noise: float = 0.5) -> LassoPath:
    """Correlated columns, one in a hundred of which matters; l1 falls to a hundredth.

    ``noise`` is relative to the signal's spread: at 0.5 the path ends with more columns active than
    two thirds of the rows, at 0.05 with few more than matter.
    """
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(rows, 1))
    X = np.asfortranarray(rng.normal(size=(rows, features)) + 0.5 * shared)
    coef = np.zeros(features)
    chosen = rng.choice(features, size=max(1, features // 100), replace=False)
    coef[chosen] = rng.normal(size=len(chosen))
    y = np.dot(X, coef)
    y += rng.normal(scale=noise * y.std(), size=rows)
    largest = float(np.abs(np.dot(X.T, y)).max())
    return LassoPath(X, y, largest * np.logspace(0, -2, penalties))
