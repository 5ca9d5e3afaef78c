"""Fourth powers about the means, class by class."""

import numpy as np
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.generative.discriminant import fourth_powers


def test_fourth_powers_are_the_sums_they_claim():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(40, 3)), rng.integers(0, 2, 40), rng.uniform(size=40)
    mean, scale = rng.normal(size=(2, 3)), rng.uniform(1, 2, (2, 3))
    expected = np.zeros(2)
    for x, k, w in zip(X, y, weight, strict=True):
        expected[k] += w * np.sum(((x - mean[k]) / scale[k]) ** 2) ** 2
    for rows in (40, 7):
        blocks = ArrayBlocks(Dense(X), y, weight, rows_per_block=rows)
        assert_allclose(fourth_powers(mean, scale, blocks, Serial()), expected)
    plain = fourth_powers(mean, scale, ArrayBlocks(Dense(X), y), Serial())
    ones = fourth_powers(mean, scale, ArrayBlocks(Dense(X), y, np.ones(40)), Serial())
    assert_allclose(plain, ones)
