"""The best constant: it follows exposures, and rows of weight 0 are absent."""

import numpy as np
from numpy.testing import assert_allclose

from likely.metrics import Truth
from likely.metrics.baseline import BestConstant

YEARS = np.array([1.0, 2.0, 3.0, 4.0])


def test_a_rate_is_total_over_total_and_multiplies_each_exposure():
    truth = Truth(np.array([3.0, 3.0, 6.0, 8.0]), kind="count", exposure=YEARS)
    found = BestConstant.of(truth).prediction(truth)
    assert_allclose(found.means, 2 * YEARS)
    assert np.isfinite(found.log_density).all()


def test_a_row_of_weight_0_is_absent():
    y, weight = np.array([1.0, 2.0, 3.0, 100.0]), np.array([1.0, 1.0, 1.0, 0.0])
    new = Truth(np.array([5.0]), kind="real")
    with_it = BestConstant.of(Truth(y, weight, kind="real")).prediction(new)
    without = BestConstant.of(Truth(y[:3], kind="real")).prediction(new)
    assert_allclose(with_it.means, without.means)
    assert_allclose(with_it.log_density, without.log_density)
    assert_allclose(with_it.median, without.median)
