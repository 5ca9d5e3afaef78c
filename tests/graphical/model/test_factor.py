"""Factors: tables that are kept as they were given, their logs, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable

A, B = Variable("a", ["no", "yes"]), Variable("b", 3)


def test_table_holds_values_and_log_table_logs_whichever_was_given():
    table = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    linear, logs = Factor([A, B], table), Factor([A, B], table, scale="log")
    assert_array_equal(linear.table, table)
    assert_allclose(logs.table, np.exp(table), rtol=1e-15)
    assert_array_equal(logs.log_table, table)
    for factor in (linear, logs):
        assert_array_equal(factor.stored, table)
        assert_allclose(np.exp(factor.log_table), factor.table, rtol=1e-15)
        assert not factor.table.flags.writeable and not factor.log_table.flags.writeable
    assert linear.log_table[0, 0] == -np.inf
    with pytest.raises(ValueError, match=r"read-only"):
        linear.table[0, 0] = 1.0
    table[0, 0] = 9.0
    assert linear.table[0, 0] == 0.0


def test_a_flat_list_is_read_in_row_order():
    assert_array_equal(Factor([A, B], range(6)).table, np.arange(6.0).reshape(2, 3))


def test_a_function_is_called_with_states():
    same = Factor([A, B], lambda a, b: float(a == "yes" and b == 2))
    assert_array_equal(same.table, [[0, 0, 0], [0, 0, 1]])


def test_a_slice_keeps_the_other_variables():
    factor = Factor([A, B], np.arange(6), name="f")
    assert factor.given({"a": 1}).scope == ("b",)
    assert_array_equal(factor.given({"a": 1, "z": 0}).table, [3, 4, 5])
    constant = factor.given({"a": 1, "b": 2})
    assert constant.scope == ()
    assert constant.log_table == np.log(5)
    assert factor.log_value({"a": 1, "b": 2}) == np.log(5)


def test_a_factor_is_called_by_its_name_or_its_scope():
    assert Factor([A], [1, 2], name="prior").title == "prior"
    assert repr(Factor([A, B], np.ones(6))) == "Factor(f(a, b), 2×3, linear)"


@pytest.mark.parametrize(
    ("table", "scale", "message"),
    [
        ([1, -2], "linear", r"f\(a\) holds -2 at \(a=yes\); numbers at least 0 were expected"),
        ([1, np.nan], "linear", r"holds nan at \(a=yes\)"),
        ([1, np.nan], "log", r"holds nan at \(a=yes\)"),
        ([np.inf, 1], "linear", r"holds inf at \(a=no\)"),
        ([np.inf, 1], "log", r"holds inf at \(a=no\); numbers less than infinity"),
        ([1, 2, 3], "linear", r"shape \(3,\); \(2,\) was expected.*a has 2 states"),
        ([[1, 2]], "linear", r"shape \(1, 2\); \(2,\) was expected"),
        (["x", 1], "linear", r"over \(a\) holds something that is no number.*'x'"),
        (lambda a: "much", "linear", "holds something that is no number"),
        ([1, 2], "logs", "scale='logs' was given; use 'linear' or 'log'"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(table, scale, message):
    with pytest.raises(InvalidInput, match=message):
        Factor([A], table, scale=scale)


def test_a_variable_occurs_once_in_a_factor():
    with pytest.raises(InvalidInput, match=r"Two variables are called 'a'"):
        Factor([A, A], np.ones((2, 2)))


def test_a_printed_factor_says_where_its_numbers_are_logs():
    logs = Factor([A], [0.0, -1.5], scale="log")
    assert str(logs).splitlines()[0] == "log f(a):"
    assert "log" not in str(Factor([A], [1.0, 0.5]))
    assert str(Factor([], -2.0, scale="log", name="c")) == "log c = -2"
