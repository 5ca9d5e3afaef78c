"""The compiled E and M step of rows with missing cells equals its readable twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import GaussianMixture
from likely.data.block import Block
from likely.data.layouts.dense import Dense
from likely.distributions import FullFamily
from likely.distributions import full_gaussian as module
from likely.errors import InvalidInput
from likely.objectives.components import Components, block_expectations
from tests.fast.test_mixture import some_components


def both_twins(monkeypatch, family, model, block):
    monkeypatch.setattr(module, "FAST_GAPPY_CELLS", 1)
    fast = block_expectations(family, model, block)
    monkeypatch.setattr(module, "FAST_GAPPY_CELLS", 10**12)
    return fast, block_expectations(family, model, block)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("share", [0.001, 0.1, 0.6])
@pytest.mark.parametrize(("n", "d"), [(2, 3), (300, 1), (300, 6), (500, 12)])
def test_the_compiled_step_equals_the_readable_one(monkeypatch, tied, share, n, d):
    rng = np.random.default_rng([n, d])
    scale = np.logspace(-3, 3, d)
    mixer = rng.normal(size=(d, d)) + 2 * np.eye(d)
    family = FullFamily(tied=tied)
    model = some_components((rng.normal(size=(200, d)) @ mixer) * scale, family)
    X = (rng.normal(size=(n, d)) @ mixer) * scale
    X[rng.random(X.shape) < share] = np.nan
    X[0], X[-1, 0] = np.nan, np.nan  # a row without any cell, and at least one gap
    weight = rng.random(n)
    weight[n // 2] = 0.0
    fast, readable = both_twins(monkeypatch, family, model, Block(Dense(X), weight=weight))
    assert_allclose(fast.log_likelihood, readable.log_likelihood, rtol=1e-9, atol=1e-9)
    assert_allclose(fast.count, readable.count, rtol=1e-8)
    assert_allclose(fast.statistics.mean / scale, readable.statistics.mean / scale, atol=1e-8)
    assert fast.statistics.scatter.shape == readable.statistics.scatter.shape
    unit = np.outer(scale, scale) * n
    assert_allclose(fast.statistics.scatter / unit, readable.statistics.scatter / unit, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_fit_is_the_same_by_either(monkeypatch, covariance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) + 4.0 * (np.arange(200) % 2)[:, None]
    X[rng.random(X.shape) < 0.15] = np.nan
    fits = []
    for cells in (1, 10**12):
        monkeypatch.setattr(module, "FAST_GAPPY_CELLS", cells)
        fits.append(GaussianMixture(2, covariance, random_state=0, tol=1e-10).fit(X))
    assert_allclose(fits[0].means_, fits[1].means_, rtol=1e-6)
    assert_allclose(fits[0].covariances_, fits[1].covariances_, rtol=1e-6, atol=1e-8)
    steps = np.diff(fits[0].log_likelihood_traces_[0])
    assert (steps >= -1e-9).all()


def test_a_singular_covariance_is_left_to_the_readable_twin(monkeypatch):
    rng = np.random.default_rng(0)
    column = rng.normal(size=(60, 1))
    X = np.hstack([column, 2 * column, rng.normal(size=(60, 1))])
    family = FullFamily()
    model = some_components(X, family, n_components=2)
    X[::5, 2] = np.nan
    fast, readable = both_twins(monkeypatch, family, model, Block(Dense(X)))
    assert fast.log_likelihood == readable.log_likelihood


def test_a_row_that_no_component_can_explain_is_named_by_either(monkeypatch):
    family = FullFamily()
    member = family.from_statistics(family.statistics(np.eye(3), np.ones((3, 1))))
    X = np.array([[0.0, 1.0, np.nan], [1e200, 0.0, 0.0]])
    for cells in (1, 10**12):
        monkeypatch.setattr(module, "FAST_GAPPY_CELLS", cells)
        with (
            np.errstate(over="ignore", invalid="ignore"),
            pytest.raises(InvalidInput, match="Row 1 has probability 0"),
        ):
            block_expectations(family, Components(np.zeros(1), member), Block(Dense(X)))
