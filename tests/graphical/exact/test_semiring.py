"""⊗ distributes over ⊕ in every semiring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import UnknownName
from likely.graphical.exact.semiring import SEMIRINGS, semiring_of


@pytest.mark.parametrize("name", SEMIRINGS)
def test_a_common_factor_may_be_taken_out_of_the_sum(name):
    """a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c), of logs and of numbers, a = 0 included."""
    ring = semiring_of(name)
    rng = np.random.default_rng(0)
    b = rng.random((4, 5))
    for a in (0.0, 1e-300, 0.3, 7.0):
        assert_allclose(ring.plus(a * b, (1,)), a * ring.plus(b, (1,)), rtol=1e-14)
        with np.errstate(divide="ignore"):
            log_a = np.log(a)
        left = ring.plus_of_logs(log_a + np.log(b), (1,))
        assert_allclose(left, log_a + ring.plus_of_logs(np.log(b), (1,)), rtol=1e-14)


@pytest.mark.parametrize("name", SEMIRINGS)
def test_logs_and_numbers_are_added_alike(name):
    ring = semiring_of(name)
    table = np.random.default_rng(1).random((2, 3, 4))
    table[0, 0] = 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    for axes in [(), (0,), (1, 2), (0, 1, 2)]:
        assert_allclose(np.exp(ring.plus_of_logs(logs, axes)), ring.plus(table, axes), rtol=1e-14)


def test_results_are_numbers_or_logs():
    written = {name: ring.written_values(np.zeros(1))[0] for name, ring in SEMIRINGS.items()}
    assert written == {"sum-product": 1.0, "max-product": 1.0, "max-sum": 0.0}
    assert semiring_of("max_sum").name == "max-sum"
    with pytest.raises(UnknownName, match=r"no semiring 'max-plus'"):
        semiring_of("max-plus")
