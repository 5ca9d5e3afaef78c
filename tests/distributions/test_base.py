"""The contract, and the small tools that the families share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.distributions.base import log_product, observed, refuse_values
from likely.distributions.laplace import Laplace
from likely.errors import InvalidInput

LOGS = np.array([[-1.0, -np.inf, -2.0], [-np.inf, -0.5, -0.25]])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_zero_times_minus_infinity_is_zero(layout):
    X = layout(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]))
    assert_allclose(log_product(X, LOGS), [[-4.0, -np.inf], [-np.inf, -1.5], [0.0, 0.0]])


def test_finite_logs_are_a_plain_product():
    X = np.arange(6.0).reshape(2, 3)
    assert_allclose(log_product(X, LOGS[:, 2:] * np.ones(3)), X @ (LOGS[:, 2:] * np.ones(3)).T)


def test_observed_is_none_when_nothing_is_missing():
    assert observed(np.ones((2, 2))) is None
    assert observed(np.ones((2, 2), dtype=int)) is None
    assert observed(sparse.csr_array(np.eye(2))) is None
    assert observed(np.array([[1.0, np.nan]])).tolist() == [[True, False]]


def test_the_offending_value_is_shown():
    with pytest.raises(InvalidInput, match=r"^Row 0, column 1: Only ones; found 3\. Divide\.$"):
        refuse_values(np.array([[1.0, 3.0]]), np.array([[False, True]]), "Only ones", "Divide.")


def test_what_is_not_linear_says_what_is():
    member = Laplace(np.zeros((2, 1)), np.ones((2, 1)))
    with pytest.raises(InvalidInput, match=r"Laplace is not linear.*Bernoulli"):
        member.linear_form()
