import numpy as np
import pytest
from scipy.stats import t

from likely.intervals import Moments


@pytest.mark.parametrize("cut", [0, 1, 50, 150])
def test_moments_of_parts_add_and_their_ends_are_students(cut):
    values, ones = np.random.default_rng(0).normal(size=200), np.ones(200)
    whole = Moments.of(values, ones)
    parts = Moments.of(values[:cut], ones[:cut]) + Moments.of(values[cut:], ones[cut:])
    assert parts.first == pytest.approx(whole.first)
    assert parts.scatter == pytest.approx(whole.scatter)
    half = t.ppf(0.975, 199) * values.std(ddof=1) / np.sqrt(200)
    assert whole.ends(0.95) == pytest.approx((values.mean() - half, values.mean() + half))


def test_an_infinite_value_leaves_the_spread_open():
    found = Moments.of(np.array([1.0, np.inf]), np.ones(2)) + Moments.of(np.ones(3), np.ones(3))
    assert found.first == np.inf
    assert found.ends(0.95) == (-np.inf, np.inf)
