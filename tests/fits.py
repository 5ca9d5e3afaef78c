"""Every estimator in the forms that differ, each with data that suit it: what the laws run over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import likely
from tests.event_models import flat


def classes(rng, n):
    return rng.permutation(np.arange(n) % 3)


def numbers(rng, n):
    y = classes(rng, n)
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 2.0, 0.7], [0.0, 0.0, 0.5]])
    return rng.normal(size=(n, 3)) @ mixing + 4.0 * np.eye(3)[y] + [5.0, -1.0, 100.0], y


def gappy_numbers(rng, n):
    X, y = numbers(rng, n)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def binary(rng, n):
    y = classes(rng, n)
    return (rng.random((n, 4)) < 0.2 + 0.25 * y[:, None]).astype(float), y


def counts(rng, n):
    y = classes(rng, n)
    return rng.poisson(1.0 + 5.0 * np.eye(4)[y]).astype(float), y


def sparse_counts(rng, n):
    X, y = counts(rng, n)
    return sparse.csr_array(X), y


def times(rng, n):
    y = classes(rng, n)
    return rng.exponential(1.0 + 3.0 * y[:, None], (n, 3)), y


def codes(rng, n):
    y = classes(rng, n)
    return np.column_stack([(y + (rng.random(n) < 0.4)) % 3, rng.integers(0, 4, n)]), y


def mixed(rng, n):
    X, y = gappy_numbers(rng, n)
    words = np.array(["red", "green", "blue", None], dtype=object)
    frame = pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": words[(y + rng.integers(0, 2, n)) % 4],
            "sold": rng.random(n) < 0.2 + 0.3 * y,
            "rooms": rng.poisson(1.0 + 2.0 * y),
        }
    )
    return frame, y


def half_labelled(rng, n):
    X, y = numbers(rng, n)
    return X, np.where(rng.random(n) < 0.5, -1, y)


@dataclass(frozen=True)
class Fit:
    """An estimator, and how to draw rows and labels for it."""

    estimator: Any
    draw: Callable[[np.random.Generator, int], tuple[Any, Any]]

    def data(self, seed=0, n=90):
        return self.draw(np.random.default_rng(seed), n)


def naive_bayes(event="auto", **options):
    return likely.NaiveBayes(event, **options)


def discriminant(covariance="tied", **options):
    return likely.DiscriminantAnalysis(covariance, **options)


def gaussians(covariance="full", n_components=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return likely.GaussianMixture(n_components, covariance, **chosen)


def mixture(event="auto", n_components=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return likely.MixtureModel(n_components, event, **chosen)


ROOMS = {"rooms": "poisson"}

FITS = {
    "nb-gaussian": Fit(naive_bayes(), numbers),
    "nb-gaps": Fit(naive_bayes(), gappy_numbers),
    "nb-bernoulli": Fit(naive_bayes("bernoulli"), binary),
    "nb-multinomial": Fit(naive_bayes("multinomial"), counts),
    "nb-sparse": Fit(naive_bayes(), sparse_counts),
    "nb-complement": Fit(naive_bayes("complement"), sparse_counts),
    "nb-poisson": Fit(naive_bayes("poisson"), counts),
    "nb-exponential": Fit(naive_bayes("exponential"), times),
    "nb-laplace": Fit(naive_bayes("laplace"), numbers),
    "nb-categorical": Fit(naive_bayes("categorical"), codes),
    "nb-mixed": Fit(naive_bayes(ROOMS, smoothing="auto"), mixed),
    "nb-unlabelled": Fit(naive_bayes(unlabelled=-1), half_labelled),
    "nb-bins": Fit(naive_bayes(discretize="quantile"), gappy_numbers),
    "da-tied": Fit(discriminant("tied"), numbers),
    "da-full": Fit(discriminant("full"), numbers),
    "da-diagonal": Fit(discriminant("diagonal"), gappy_numbers),
    "da-spherical": Fit(discriminant("spherical"), gappy_numbers),
    "da-auto": Fit(discriminant("full", shrinkage="auto"), numbers),
    "da-shrunk": Fit(discriminant("tied", shrinkage=0.3), numbers),
    "da-tied-gaps": Fit(discriminant("tied"), gappy_numbers),
    "da-full-gaps": Fit(discriminant("full"), gappy_numbers),
    "gm-one": Fit(gaussians(n_components=1), numbers),
    "gm-full": Fit(gaussians("full"), numbers),
    "gm-tied": Fit(gaussians("tied"), numbers),
    "gm-diagonal": Fit(gaussians("diagonal"), gappy_numbers),
    "gm-spherical": Fit(gaussians("spherical"), gappy_numbers),
    "gm-full-gaps": Fit(gaussians("full"), gappy_numbers),
    "mm-gaussian": Fit(mixture(), numbers),
    "mm-mixed": Fit(mixture(ROOMS), mixed),
    "mm-sparse": Fit(mixture(n_components=3), sparse_counts),
    "mm-poisson": Fit(mixture("poisson"), counts),
    "bins-quantile": Fit(likely.Discretizer("quantile"), gappy_numbers),
    "bins-uniform": Fit(likely.Discretizer("uniform"), gappy_numbers),
    "bins-entropy": Fit(likely.Discretizer("entropy"), gappy_numbers),
}
CLASSIFIERS = [name for name in FITS if name.startswith(("nb", "da"))]
MIXTURES = [name for name in FITS if name.startswith(("gm", "mm"))]


def rows(X, index):
    return X.iloc[index].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[index]


def learned(model):
    """All numbers that the fit found."""
    parts = (model.components_,) if hasattr(model, "components_") else tuple(model.edges_)
    return [np.asarray(number, dtype=float) for number in flat(parts)]


def assert_same_fit(one, other, rtol=1e-9, atol=1e-9):
    pairs = list(zip(learned(one), learned(other), strict=True))
    assert any(a.size for a, _ in pairs)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
