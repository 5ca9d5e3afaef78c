"""The registered network is trusted by default: where nothing can be learned it is the constant."""

import numpy as np
import pandas as pd
import pytest

import likely

pytestmark = pytest.mark.slow
NOISE = 0.003  # nats a row by which chance may favour the constant in one fold of ten


def table(X, y):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(target=y)


def two_classes(rng, n, columns, share=0.5):
    return table(rng.normal(size=(n, columns)), np.where(rng.random(n) < share, "a", "b"))


def constant_columns(rng):
    X = rng.normal(size=(120, 5))
    X[:, 3], X[:, 4] = 0.0, np.arange(120) == 7
    return table(X, np.where(X[:, 0] + rng.normal(size=120) > 0, "a", "b"))


def overdispersed_counts(rng):
    X = rng.normal(size=(200, 4))
    return table(X, rng.poisson(np.exp(1 + 0.7 * X[:, 0]) * rng.gamma(1.0, 1.0, 200)))


TABLES = {
    "noise": lambda rng: two_classes(rng, 150, 10),
    "noise, few rows": lambda rng: two_classes(rng, 40, 5),
    "noise, more columns than rows": lambda rng: two_classes(rng, 50, 120),
    "noise, a rare class": lambda rng: two_classes(rng, 400, 6, share=0.04),
    "noise, numbers of a large unit": lambda rng: table(
        rng.normal(size=(100, 10)), 1e5 * rng.normal(size=100)
    ),
    "noise, overdispersed counts": lambda rng: table(
        rng.normal(size=(150, 5)), rng.negative_binomial(1, 0.2, 150)
    ),
    "overdispersed counts": overdispersed_counts,
    "constant columns": constant_columns,
    "inputs with a heavy tail": lambda rng: table(
        rng.standard_cauchy((150, 4)), np.where(rng.random(150) < 0.5, "a", "b")
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_it_is_never_worse_than_the_constant_beyond_chance(name):
    data = TABLES[name](np.random.default_rng(0))
    found = likely.compare(data, "target", "neural-network", executor="serial")
    scores = {entry.name: entry for entry in found.entries}
    network, constant = scores["neural-network"], scores["constant"]
    assert not network.problem
    sign = 1 if found.metric.better == "lower" else -1
    assert sign * (network.value - constant.value) < NOISE
