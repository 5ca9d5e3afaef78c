"""Strengths of penalties: a number, one per column, or by name; categories share their column's."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput, UnknownName
from likely.linear.fit import is_penalised, numbers


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=90), "c": rng.choice(list("pqr"), 90), "b": rng.normal(size=90)}
    )
    return frame, frame["a"] - frame["b"] + (frame["c"] == "q") + rng.normal(size=90)


def coefficients(**options):
    model = likely.LinearRegression(**options).fit(*data())
    return dict(zip(model.terms_, model.coef_, strict=True))


@pytest.mark.parametrize("given", [[0.0, 50.0, 1e9], {"c": 50.0, "b": 1e9}])
def test_a_strength_belongs_to_its_column_wherever_the_coefficient_stands(given):
    found = coefficients(l2=given)
    assert list(found) == ["a", "b", "c[p]", "c[q]", "c[r]"]
    assert abs(found["b"]) < 1e-6 < 0.5 < found["a"]
    free = coefficients(l2={"c": 1e-6})
    assert 0.1 < found["c[q]"] / free["c[q]"] < 0.9


def test_each_form_says_the_same():
    one, many, named = (
        coefficients(l1=s, l2=s, tol=1e-13)
        for s in (2.0, [2.0, 2.0, 2.0], {"a": 2.0, "b": 2.0, "c": 2.0})
    )
    assert_allclose(list(one.values()), list(many.values()))
    assert_allclose(list(one.values()), list(named.values()))


def test_the_intercept_is_penalised_only_if_asked():
    X, y = data()
    strong = {"l2": 1e9}
    free = likely.LinearRegression(**strong).fit(X, y + 100)
    assert_allclose(free.intercept_, np.mean(y + 100), rtol=1e-5)
    held = likely.LinearRegression(penalise_intercept=True, **strong).fit(X, y + 100)
    assert_allclose(held.intercept_, 0, atol=1e-3)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.0, False), ([0.0, 0.0], False), ({"a": 0.0}, False), ({"a": 1.0}, True), ([0, 2], True)],
)
def test_a_penalty_is_there_if_any_strength_is(given, expected):
    assert is_penalised(0.0, given) is expected


def test_a_column_that_is_not_there_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="column for l2"):
        coefficients(l2={"aa": 1.0})


@pytest.mark.parametrize("given", [[1.0, 2.0], np.ones((3, 2))])
def test_as_many_strengths_as_columns_are_needed(given):
    with pytest.raises(InvalidInput, match=r"l2 has shape .*; X has 3 columns. Give one number"):
        coefficients(l2=given)


@pytest.mark.parametrize("given", ["strong", [[1.0], [1.0, 2.0]]])
def test_what_is_no_number_is_refused(given):
    with pytest.raises(InvalidInput, match=r"is not a strength.*Use 0 for no penalty"):
        coefficients(l2=given)


@pytest.mark.parametrize("given", [-1.0, [0.0, -1.0, 0.0], np.nan])
def test_a_strength_is_not_negative(given):
    with pytest.raises(InvalidInput):
        coefficients(l2=given)


@pytest.mark.parametrize("strength", [10**400, [10**400], {"x0": 10**400}, {"x0": "much"}])
def test_a_strength_that_is_no_float_is_refused(strength):
    with pytest.raises(InvalidInput, match="is not a strength"):
        numbers(strength, "l2")
