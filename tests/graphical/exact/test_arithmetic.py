"""The numbers of messages: what each form keeps, and where it says that it cannot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.graphical.exact.semiring import (
    MODES,
    LogArithmetic,
    Numbers,
    OutOfRange,
    ScaledArithmetic,
)
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable

A = Variable("a", 3)


def log_values(arithmetic, numbers):
    return arithmetic.log(numbers.table) + numbers.log_scale


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_factor_is_kept_whole(mode, scale):
    """Zeros too; the largest entry is 1, or a log of 0, except for plain numbers."""
    arithmetic = MODES[mode]
    table = np.array([0.0, 3.0, 5.0])
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    factor = Factor([A], table if scale == "linear" else logs, scale=scale)
    numbers = arithmetic.of_factor(factor)
    assert_allclose(log_values(arithmetic, numbers), logs, rtol=1e-14)
    assert mode == "plain" or numbers.table.max() == arithmetic.one


@pytest.mark.parametrize("mode", MODES)
def test_products_without_each_leave_one_out(mode):
    arithmetic = MODES[mode]
    rng = np.random.default_rng(0)
    tables = rng.random((5, 3)) * (rng.random((5, 3)) > 0.2)
    parts = [arithmetic.of_factor(Factor([A], table)) for table in tables]
    for i, numbers in enumerate(arithmetic.products_without_each(parts, 3)):
        expected = np.delete(tables, i, axis=0).prod(axis=0)
        assert_allclose(np.exp(log_values(arithmetic, numbers)), expected, rtol=1e-12)
    alone = arithmetic.products_without_each(parts[:1], 3)
    assert_array_equal(log_values(arithmetic, alone[0]), [0, 0, 0])


@pytest.mark.parametrize("mode", MODES)
def test_a_table_of_zeros_stays_zero(mode):
    arithmetic = MODES[mode]
    numbers = arithmetic.of_factor(Factor([A], [0, 0, 0]))
    assert_array_equal(log_values(arithmetic, numbers), -np.inf)
    product = arithmetic.kept(*arithmetic.product([numbers, numbers], (3,)))
    assert_array_equal(log_values(arithmetic, product), -np.inf)


def test_scaled_numbers_say_where_they_would_underflow():
    arithmetic = ScaledArithmetic()
    part = arithmetic.of_factor(Factor([A], [0.0, -400.0, -np.inf], scale="log"))
    assert_allclose(part.span, 400.0)
    assert_allclose(arithmetic.kept(np.array([4.0, 0.0, 2.0]), 0.0).span, np.log(2))
    arithmetic.product([part], (3,))
    with pytest.raises(OutOfRange):
        arithmetic.product([part, part], (3,))
    with pytest.raises(OutOfRange):
        arithmetic.products_without_each([part, part], 3)
    for table in ([1.0, 1e-300, 0.0], [1e200, 1e-200, 0.0], [1e308, 1e308, 5e-324]):
        wide = arithmetic.of_factor(Factor([A], table))
        with pytest.raises(OutOfRange):
            arithmetic.product([wide], (3,))


def test_logs_have_no_range():
    part = Numbers(np.array([0.0, -1e5]))
    table, log_scale = LogArithmetic().product([part, part], (2,))
    assert_array_equal(table, [0, -2e5])
    assert log_scale == 0.0


def test_ties_are_equal_up_to_rounding():
    for mode, arithmetic in MODES.items():
        near = [0.3, 0.1 + 0.2, 0.3 - 1e-9]
        table = np.log(near) if mode == "log" else np.array(near)
        assert_array_equal(arithmetic.ties(table, table.max(), 1e-12), [True, True, False])
    far = -1000.0 - np.array([0.0, 5e-10, 5e-9])  # logarithms of this size have fewer digits
    assert_array_equal(MODES["log"].ties(far, far.max(), 1e-12), [True, True, False])
