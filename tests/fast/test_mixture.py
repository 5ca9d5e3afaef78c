"""The compiled E and M step equals its readable twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.data.block import Block
from likely.data.layouts.intercept import Dense
from likely.distributions import FullFamily, Labels
from likely.distributions import full_gaussian as module
from likely.objectives.components import Components, block_expectations


def some_components(X, family, n_components=4, seed=0):
    codes = np.random.default_rng(seed).integers(0, n_components, len(X))
    member = family.from_statistics(family.statistics(X, Labels(codes, n_components)))
    mixing = np.linspace(1, 2, n_components)
    return Components(np.log(mixing / mixing.sum()), member)


def both_twins(monkeypatch, family, model, block):
    monkeypatch.setattr(module, "FAST_CELLS", 1)
    fast = block_expectations(family, model, block)
    monkeypatch.setattr(module, "FAST_CELLS", 10**12)
    return fast, block_expectations(family, model, block)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (127, 1), (128, 5), (300, 6), (1000, 11)])
def test_the_compiled_step_equals_the_readable_one(monkeypatch, tied, n, d):
    rng = np.random.default_rng(n)
    family = FullFamily(tied=tied)
    model = some_components(rng.normal(size=(200, d)) * np.logspace(-3, 3, d), family)
    X = rng.normal(size=(n, d)) * np.logspace(-3, 3, d)
    block = Block(Dense(X), weight=rng.random(n))
    fast, readable = both_twins(monkeypatch, family, model, block)
    assert_allclose(fast.log_likelihood, readable.log_likelihood, rtol=1e-12)
    assert_allclose(fast.count, readable.count, rtol=1e-10)
    assert_allclose(fast.statistics.mean, readable.statistics.mean, rtol=1e-9, atol=1e-12)
    assert fast.statistics.scatter.shape == readable.statistics.scatter.shape
    scale = np.logspace(-3, 3, d) * np.sqrt(n)  # the columns' own
    assert_allclose(
        fast.statistics.scatter / np.outer(scale, scale),
        readable.statistics.scatter / np.outer(scale, scale),
        rtol=1e-10,
        atol=1e-9,
    )


def test_a_missing_cell_leaves_the_sums_of_the_readable_twin(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    family = FullFamily()
    model = some_components(X, family)
    X[5, 1] = np.nan
    plain = block_expectations(family, model, Block(Dense(X)))
    monkeypatch.setattr(module, "FAST_CELLS", 1)
    fused = block_expectations(family, model, Block(Dense(X)))
    assert_allclose(fused.log_likelihood, plain.log_likelihood, rtol=1e-12)
    assert_allclose(fused.statistics.weight, plain.statistics.weight, rtol=1e-10)
    assert_allclose(fused.statistics.mean, plain.statistics.mean, rtol=1e-9, atol=1e-12)


def test_a_singular_covariance_is_left_to_the_readable_twin(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    X = np.c_[X, X[:, 0]]
    family = FullFamily()
    model = some_components(X, family)
    monkeypatch.setattr(module, "FAST_CELLS", 1)
    assert model.distribution.fused_expectation(family, X, model.log_mixing, None) is None
