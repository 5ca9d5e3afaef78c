"""Whitening by a factor of the covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.distributions.factor import factorise, refuse_not_positive_definite
from likely.errors import InvalidInput

ROOT = np.random.default_rng(0).normal(size=(3, 5))


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_whitening_inverts_and_the_determinant_is_right(scale):
    columns = np.array([1.0, scale, 1 / scale])  # columns of any size are treated alike
    S = (ROOT @ ROOT.T) * np.multiply.outer(columns, columns)
    factor = factorise(S)
    W = factor.whitening
    assert factor.rank == 3
    assert_allclose(W.T @ S @ W, np.eye(3), atol=1e-9)
    expected = np.linalg.slogdet(ROOT @ ROOT.T)[1] + 2 * np.log(columns).sum()
    assert_allclose(factor.log_determinant, expected, atol=1e-9)


def test_a_constant_column_is_left_out():
    S = np.zeros((3, 3))
    S[:2, :2] = [[2.0, 1.0], [1.0, 3.0]]
    factor = factorise(S)
    assert factor.rank == 2
    assert_allclose(factor.log_determinant, np.log(5.0))
    assert_allclose(factor.whitening @ factor.whitening.T, np.linalg.pinv(S), atol=1e-12)


def test_nothing_observed_has_an_empty_factor():
    factor = factorise(np.zeros((0, 0)))
    assert (factor.rank, factor.log_determinant) == (0, 0.0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], r"not symmetric.*differ by 0\.1.*transpose.*S \+ S\.T"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite.*eigenvalue is -1;.*identity"),
        ([[1.0, 1.0], [1.0, 1.0]], "not positive definite"),
        ([[1.0, 0.0], [0.0, 0.0]], "not positive definite"),
        ([[-1.0, 0.0], [0.0, 1.0]], "not positive definite"),
    ],
)
def test_what_is_no_covariance_is_refused(matrix, message):
    with pytest.raises(InvalidInput, match=message):
        refuse_not_positive_definite(np.array(matrix), "Covariance 0")


def test_a_covariance_is_accepted():
    refuse_not_positive_definite(ROOT @ ROOT.T * 1e-20, "Covariance 0")
