"""The functions of N(0, 1) of the standard library equal SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from likely.numerics import normal

Z = np.concatenate([np.linspace(-45, 45, 901), [-1e5, -300.0, -20.0, 0.0, 1e-300, np.inf, -np.inf]])


@pytest.fixture
def without_scipy(monkeypatch):
    monkeypatch.setattr(normal, "_compiled", lambda: None)


@pytest.mark.usefixtures("without_scipy")
def test_the_distribution_function_equals_scipys():
    # libm and SciPy round z² differently, which a far tail multiplies
    assert_allclose(normal.ndtr(Z), special.ndtr(Z), rtol=1e-12, atol=1e-300)


@pytest.mark.usefixtures("without_scipy")
def test_its_logarithm_has_full_precision_in_both_tails():
    assert_allclose(normal.log_ndtr(Z), special.log_ndtr(Z), rtol=1e-12, atol=1e-300)


@pytest.mark.usefixtures("without_scipy")
def test_quantiles_equal_scipys_and_are_infinite_at_the_ends():
    p = np.array([0.0, 1e-300, 1e-10, 0.2, 0.5, 0.9, 1.0])
    assert_allclose(normal.ndtri(p), special.ndtri(p), rtol=1e-13, atol=1e-16)


@pytest.mark.usefixtures("without_scipy")
def test_nan_stays_nan_and_a_number_stays_a_number():
    assert np.isnan(normal.log_ndtr(np.nan)) and np.isnan(normal.ndtr(np.nan))
    assert np.ndim(normal.ndtr(0.3)) == 0
