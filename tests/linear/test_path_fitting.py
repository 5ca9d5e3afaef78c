"""Walks along a path: all at once or one by one, from the last answer, far from 0."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from likely.linear.logistic import LogisticRegression
from likely.linear.path import (
    PenaltyGrid,
    PenaltyPath,
    step_by_step,
    walk,
)
from likely.linear.path_penalties import PathRows, moved_along
from likely.linear.regression import LinearRegression


def table(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) + 1.0
    return X, X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 2] + rng.logistic(size=n)


def test_one_path_and_one_fit_after_another_are_the_same():
    X, y = table()
    model, rows = LinearRegression(tol=1e-13), PathRows(X, y)
    moved, grid = moved_along("l1", model), PenaltyGrid(None, 8, 1e-2)
    at_once = walk(model, moved, grid, rows)
    assert at_once.solutions[0].solver == "lasso path"
    opened = clone(model).set_params(l1=1.0).open_path(rows)
    one_by_one = step_by_step(model, moved, grid, rows, opened, None)
    assert one_by_one.solutions[0].solver != "lasso path"
    assert_allclose(at_once.penalties, one_by_one.penalties)
    assert_allclose(at_once.coefs, one_by_one.coefs, atol=1e-6)


def test_starting_from_the_last_fit_saves_steps():
    X, y = table(400)
    y = y > y.mean()
    model = LogisticRegression(l2=0.0, standard_errors=None)
    moved, grid = moved_along("l1", model), PenaltyGrid(None, 20, 1e-2)
    walked = walk(model, moved, grid, PathRows(X, y))
    warm = sum(solution.n_iter for solution in walked.solutions)
    cold = sum(clone(model).set_params(l1=l1).fit(X, y).n_iter_ for l1 in walked.penalties)
    assert warm < 0.7 * cold


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_columns_far_from_zero_have_the_same_path_and_are_left_as_they_are(layout):
    X, y = table()
    near = PenaltyPath(LinearRegression(), cv=3, n_penalties=8).fit(X, y)
    moved = layout(X + 1e6)
    before = moved.copy()
    far = PenaltyPath(LinearRegression(), cv=3, n_penalties=8).fit(moved, y)
    assert_array_equal(moved, before)
    assert_allclose(far.coefs_, near.coefs_, atol=1e-4)  # tol is on the gap, the square
    assert_allclose(far.deviance_, near.deviance_, rtol=1e-4)
