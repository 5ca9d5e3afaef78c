"""Every family of distributions, each with data that suit it: what the laws run over."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any

import numpy as np

from likely._typing import NumbersAndCodes
from likely.distributions import (
    DISTRIBUTIONS,
    EXPONENTIAL_FAMILIES,
    CategoricalFamily,
    DiagonalFamily,
    FullFamily,
    JointTableFamily,
    Poisson,
    ProductFamily,
    ProductPart,
    Selection,
    categorical_family,
)

N_COMPONENTS = 3
SIZES = (3, 2, 4)


def binary(rng, n):
    return rng.integers(0, 2, (n, 4)).astype(float)


def counts(rng, n):
    return rng.poisson([3.0, 0.5, 2.0, 1.0], (n, 4)).astype(float)


def times(rng, n):
    return rng.exponential([1.0, 20.0, 0.1], (n, 3))


def numbers(rng, n):
    mixing = np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.3]])
    return rng.normal(size=(n, 3)) @ mixing + [5.0, -1.0, 100.0]


def codes(rng, n):
    return np.column_stack([rng.integers(0, size, n) for size in SIZES]).astype(np.int32)


def several(rng, n):
    return NumbersAndCodes(
        np.column_stack([numbers(rng, n)[:, :2], counts(rng, n)[:, 0]]), codes(rng, n)
    )


def values_0_to_2(rng, n):
    return rng.integers(0, 3, (n, 2)).astype(float)


PRODUCT = ProductFamily(
    (
        ProductPart(DiagonalFamily(), Selection(False, (0, 1), (4, 1))),
        ProductPart(Poisson, Selection(False, (2,), (0,))),
        ProductPart(
            CategoricalFamily(SIZES), Selection(True, (0, 1, 2), (2, 3, 5), everything=True)
        ),
    )
)


@dataclass(frozen=True)
class EventModel:
    """A family, how to draw data for it, and what holds of it."""

    family: Any
    draw: Callable[[np.random.Generator, int], Any]
    gaps: bool = True  # missing cells are summed out by the plain statistics
    density: bool = True


OF_NAME = {  # an entry of DISTRIBUTIONS without one here fails the laws
    "bernoulli": (binary, {}),
    "complement": (counts, {"gaps": False, "density": False}),
    "exponential": (times, {}),
    "gaussian": (numbers, {}),
    "laplace": (numbers, {}),
    "multinomial": (counts, {"gaps": False}),
    "poisson": (counts, {}),
}

MODELS = {
    **{n: EventModel(f, OF_NAME[n][0], **OF_NAME[n][1]) for n, f in DISTRIBUTIONS.items()},
    "categorical": EventModel(CategoricalFamily(SIZES), codes),
    "spherical": EventModel(DiagonalFamily(spherical=True), numbers),
    "full": EventModel(FullFamily(), numbers, gaps=False),
    "tied": EventModel(FullFamily(tied=True), numbers, gaps=False),
    "joint-table": EventModel(JointTableFamily(SIZES), codes, gaps=False),
    "product": EventModel(PRODUCT, several),
    **{f"family-{n}": EventModel(f, OF_NAME[n][0]) for n, f in EXPONENTIAL_FAMILIES.items()},
    "family-categorical": EventModel(categorical_family(3), values_0_to_2),
}
DENSITIES = [name for name, model in MODELS.items() if model.density]


def grid(low, high, n=20_001):
    x = np.linspace(low, high, n)
    return x[:, None], (x[1] - x[0]) * np.ones(n)


def support(*values):
    X = np.array(list(product(*values)), dtype=float)
    return X, np.ones(len(X))


def codes_of(*sizes):
    X, volume = support(*map(range, sizes))
    return X.astype(np.int32), volume


def throws(total, n_sides):
    X, volume = support(*[range(total + 1)] * n_sides)
    kept = X.sum(axis=1) == total
    return X[kept], volume[kept]


SUPPORT = {  # every value of all features, with its volume
    "bernoulli": support(*[[0, 1]] * 4),
    "multinomial": throws(6, 4),
    "categorical": codes_of(*SIZES),
    "joint-table": codes_of(*SIZES),
    "family-bernoulli": support(*[[0, 1]] * 4),
    "family-categorical": support(*[range(3)] * 2),
}
ONE_FEATURE = {  # values of the first feature that hold all of its probability but 1e-6
    "poisson": support(range(200)),
    "family-poisson": support(range(200)),
    "exponential": grid(5e-4, 40, 40_000),  # midpoints
    "family-exponential": grid(5e-4, 40, 40_000),
    **{name: grid(-30, 40) for name in ("gaussian", "spherical", "full", "tied")},
    "family-gaussian": grid(-30, 40),
    "laplace": grid(-60, 70, 400_001),
}


def data(name, seed, n=40, *, gaps=False):
    """X, with some cells missing if asked and possible, and soft responsibilities (n, K)."""
    rng = np.random.default_rng(seed)
    model = MODELS[name]
    X = model.draw(rng, n)
    if gaps and model.gaps:
        X = with_gaps(X, rng)
    return X, rng.dirichlet(np.ones(N_COMPONENTS), size=n)


def with_gaps(X, rng):
    if isinstance(X, NumbersAndCodes):
        return NumbersAndCodes(with_gaps(X.numeric, rng), with_gaps(X.codes, rng))
    return np.where(rng.random(X.shape) < 0.2, -1 if X.dtype.kind == "i" else np.nan, X)


def rows(X, index):
    if isinstance(X, NumbersAndCodes):
        return NumbersAndCodes(X.numeric[index], X.codes[index])
    return X[index]


def fitted(name, seed, n=60):
    """A member of the family, away from the edges of its parameters."""
    family = MODELS[name].family
    X, r = data(name, seed, n)
    statistics = family.statistics(X, r)
    shape = (N_COMPONENTS, family.from_statistics(statistics).n_features)
    prior = family.pseudo_statistics(0.5 if family.smoothed else 0.0, shape)
    return family.from_statistics(statistics + prior)


def log_likelihood(member, X, r):
    return float(np.sum(r * member.log_prob(X)))


def flat(value):
    """All numbers of a statistic, in a fixed order."""
    if isinstance(value, tuple):
        return [number for part in value for number in flat(part)]
    if is_dataclass(value):
        return [number for f in fields(value) for number in flat(getattr(value, f.name))]
    return [] if value is None else [np.asarray(value)]


def assert_same(actual, expected, rtol=1e-9, atol=1e-9):
    """Equal numbers; a weight (K, 1) stands for one per feature."""
    pairs = zip(flat(actual), flat(expected), strict=True)
    for mine, theirs in pairs:
        np.testing.assert_allclose(*np.broadcast_arrays(mine, theirs), rtol=rtol, atol=atol)
