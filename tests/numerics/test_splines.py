"""Cubic splines: those of SciPy, at knots, between them and at the ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from likely.numerics.splines import CubicSplines

ENDS = {
    "repeated": np.concatenate([np.zeros(3), [0.0, 0.1, 0.5, 0.55, 1.0], np.ones(3)]),
    "going on": np.array([-3.0, -2.0, -1.0, 0.0, 2.0, 2.5, 4.0, 5.5, 7.0, 8.5]),
    "one piece": np.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("knots", ENDS.values(), ids=ENDS.keys())
def test_they_are_those_of_scipy(knots):
    splines = CubicSplines(knots)
    low, high = splines.inner[[0, -1]]
    x = np.concatenate([splines.inner, np.random.default_rng(0).uniform(low, high, 500)])
    expected = BSpline.design_matrix(x, knots, 3).toarray()
    assert expected.shape == (len(x), splines.size)
    assert_allclose(splines(x), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(splines(x).sum(axis=1), 1.0, rtol=1e-12)
