"""Rare classes and a group in which they are common: the first Newton step is far too long.

From the constant model it goes about 1/rate far in η, past the optimum into a flat tail.  A table
has two groups, so the optimum is known: the link of the two shares.
"""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit

import likely
from likely.errors import RedundantColumns, Separation
from likely.links import LINKS

N = 10_000  # rows outside the group
RATES = (0.5, 0.1, 0.02, 0.01, 0.005, 0.001, 0.0001)
TABLES = list(itertools.product(RATES, (1, 5, 29, 1000)))  # r : 1 in the group
X, Y = np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([1, 0, 1, 0])


def counts(rate, r):
    return np.array([r, 1, N * rate, N - N * rate])


def shares(rate, r):
    return np.array([r / (r + 1), rate])


def optimum(rate, r, link="logit"):
    inside, outside = LINKS[link].link(shares(rate, r))
    return np.array([inside - outside, outside])


def rows(rate, r, seed=0):
    """The table as single rows, in random order."""
    count = counts(rate, r).round().astype(int)
    order = np.random.default_rng(seed).permutation(count.sum())
    return np.repeat(X, count, axis=0)[order], np.repeat(Y, count)[order]


def parameters(model):
    intercept = model.thresholds_ if hasattr(model, "thresholds_") else model.intercept_
    return np.append(model.coef_, intercept)


def assert_right(model, expected, rtol=1e-6):
    """Warnings are errors, so it also says nothing."""
    assert model.solution_.converged, model.solution_.reason
    assert_allclose(parameters(model), expected, rtol=rtol, atol=rtol)


TIGHT = {"l2": 0.0, "tol": 1e-14}
MODELS = {
    "logistic": lambda: likely.LogisticRegression(**TIGHT),
    "glm": lambda: likely.GLM("bernoulli", **TIGHT),
    "softmax": lambda: likely.SoftmaxRegression(solver="newton", **TIGHT),
    "reference": lambda: likely.SoftmaxRegression(solver="newton", reference=0, **TIGHT),
    "ordinal": lambda: likely.OrdinalRegression(**TIGHT),
    "proximal": lambda: likely.LogisticRegression(solver="proximal-newton", **TIGHT),
    "columns": lambda: likely.LogisticRegression(solver="coordinate-descent", **TIGHT),
}
every_model = pytest.mark.parametrize("name", MODELS)


def test_the_example_of_a_group_of_thirty():
    """29 : 1 against 100 : 9,900; the standard errors are √(Σ 1/n) over the cells."""
    model = likely.LogisticRegression(l2=0.0, tol=1e-12).fit(X, Y, sample_weight=counts(0.01, 29))
    assert_right(model, [7.962416, -4.595120])
    errors = np.sqrt([1 / 29 + 1 + 1 / 100 + 1 / 9900, 1 / 100 + 1 / 9900])
    assert_allclose(model.inference_.standard_errors, errors, rtol=1e-5)
    cells, p = counts(0.01, 29), np.array([29 / 30, 1 / 30, 0.01, 0.99])
    assert_allclose(model.inference_.log_likelihood, np.dot(cells, np.log(p)))


@every_model
def test_every_table_is_answered_by_its_log_odds(name):
    for rate, r in TABLES:
        model = MODELS[name]().fit(X, Y, sample_weight=counts(rate, r))
        assert_right(model, optimum(rate, r))


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
@pytest.mark.parametrize("solver", ["newton", "proximal-newton", "coordinate-descent"])
def test_every_link_is_answered_by_its_shares(solver, link):
    for rate, r in TABLES[8::3]:
        model = likely.LogisticRegression(link=link, solver=solver, **TIGHT)
        assert_right(model.fit(X, Y, sample_weight=counts(rate, r)), optimum(rate, r, link), 2e-6)


@pytest.mark.parametrize("layout", ["dense", "sparse", "categories"])
def test_rows_and_layouts_do_not_matter(layout):
    for rate, r in [(0.02, 29), (0.001, 5), (0.0001, 1000)]:
        x, y = rows(rate, r)
        seen = {
            "dense": x,
            "sparse": sparse.csr_array(x),
            "categories": pd.DataFrame({"group": np.where(x[:, 0] == 1, "b", "a")}),
        }[layout]
        assert_right(MODELS["logistic"]().fit(seen, y), optimum(rate, r))


@pytest.mark.parametrize("solver", ["proximal-newton", "coordinate-descent"])
def test_a_small_l1_moves_one_thousandth_of_a_row(solver):
    """λ = Σ(y − p) over the group, and −λ outside it."""
    for rate, r in TABLES[8:]:
        moved = shares(rate, r) + 1e-3 * np.array([-1 / (r + 1), 1 / N])
        model = likely.LogisticRegression(l1=1e-3, l2=0.0, tol=1e-13, solver=solver)
        inside, outside = logit(moved)
        model.fit(X, Y, sample_weight=counts(rate, r))
        assert_right(model, [inside - outside, outside], 1e-5)


@pytest.mark.parametrize("solver", ["newton", "proximal-newton"])
def test_three_classes_are_answered_by_their_log_odds(solver):
    x, y = np.repeat([[0.0], [1.0]], 3, axis=0), np.tile([0, 1, 2], 2)
    for rate, r in TABLES[8::2]:
        outside, inside = np.array([N, N * rate, N * rate]), np.array([1.0, r, 1.0])
        model = likely.SoftmaxRegression(solver=solver, **TIGHT)
        model.fit(x, y, sample_weight=np.append(outside, inside))
        intercept = np.log(outside) - np.log(outside).mean()
        coef = np.log(inside) - np.log(inside).mean() - intercept
        assert_right(model, np.append(coef, intercept), 2e-6)


@every_model
def test_a_column_beside_the_group_does_not_matter(name):
    x, y = rows(0.005, 29)
    x = np.column_stack([x, np.random.default_rng(1).normal(size=len(x))])
    sign, columns = 2 * y - 1, np.column_stack([x, np.ones(len(x))])
    best = minimize(
        lambda b: np.logaddexp(0, -sign * (columns @ b)).sum(),
        np.insert(optimum(0.005, 29), 1, 0.0),
        jac=lambda b: -columns.T @ (sign * expit(-sign * (columns @ b))),
        options={"gtol": 1e-7},
    )
    assert_right(MODELS[name]().fit(x, y), best.x, 1e-5)


@pytest.mark.parametrize("name", ["logistic", "reference", "ordinal", "proximal", "columns"])
def test_a_group_that_the_first_rows_do_not_have_is_found(name):
    """Sorted, so that the search on some rows, where there is one, never sees it."""
    r, rate = 29, 0.002
    count = (counts(rate, r) * [1, 1, 3, 3]).round().astype(int)[[2, 3, 0, 1]]
    x, y = np.repeat(X[[2, 3, 0, 1]], count, axis=0), np.repeat(Y[[2, 3, 0, 1]], count)
    assert_right(MODELS[name]().fit(x, y), optimum(rate, r))


@pytest.mark.parametrize("name", ["logistic", "softmax", "ordinal"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside-another"])
def test_a_group_of_one_class_is_called_separated(name, beside):
    """20 : 0; alone or beside a group of 29 : 1, whose coefficient is right all the same."""
    x = np.array([[1.0, 0], [0, 1], [0, 1], [0, 0], [0, 0]])[:, : 1 + beside]
    y = np.array([1, 1, 0, 1, 0])
    for rate in RATES[2:]:
        weight = np.append(20, counts(rate, 29)) * (1 if beside else [1, 0, 0, 1, 1])
        with pytest.warns(Separation, match="'x0'"):
            model = MODELS[name]().set_params(tol=1e-8).fit(x, y, sample_weight=weight)
        if beside:
            assert_allclose(np.ravel(model.coef_)[1], optimum(rate, 29)[0], rtol=1e-3)


def test_a_copy_of_the_group_is_held_and_named():
    with pytest.warns(RedundantColumns, match="'x1'"):
        model = MODELS["logistic"]().fit(X[:, [0, 0]], Y, sample_weight=counts(0.01, 29))
    assert_allclose(parameters(model), np.insert(optimum(0.01, 29), 1, 0.0), atol=1e-6)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("solver", ["newton", "proximal-newton", "coordinate-descent"])
def test_a_start_where_curvature_has_vanished_is_left_again(solver, link):
    model = likely.LogisticRegression(link=link, solver=solver, warm_start=True, **TIGHT)
    model.fit(X, Y, sample_weight=counts(0.01, 29))
    model.solution_ = replace(model.solution_, theta=np.array([1000.0, -4.6]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # Φ(1000) overflows on the way
        model.fit(X, Y, sample_weight=counts(0.01, 29))
    assert_right(model, optimum(0.01, 29, link), 2e-6)
