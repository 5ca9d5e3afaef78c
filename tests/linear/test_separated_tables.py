"""Separation, against a linear program: no false alarm and no miss, whatever the solver."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import likely
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.errors import Separation
from likely.fitting.divergence import deciding_columns
from likely.likelihoods import likelihood_of
from likely.likelihoods.negative_binomial import NegativeBinomial

CLASSES = {
    "logit": {},
    "probit": {"link": "probit"},
    "cloglog": {"link": "cloglog"},
    "loglog": {"link": "loglog"},
    "cauchit": {"link": "cauchit"},
    "lbfgs": {"solver": "lbfgs"},
    "proximal-newton": {"solver": "proximal-newton"},
    "coordinate-descent": {"solver": "coordinate-descent"},
    "without-errors": {"standard_errors": None},
}
COUNTS = {
    "poisson": {"response": "poisson"},
    "negative-binomial": {"response": NegativeBinomial(1.0)},
    "poisson-lbfgs": {"response": "poisson", "solver": "lbfgs"},
    "poisson-proximal-newton": {"response": "poisson", "solver": "proximal-newton"},
}


def is_separated(X, side):
    """max Σ s_i a_iᵀβ with s_i a_iᵀβ ≥ 0, and a_iᵀβ = 0 where s_i is 0; |β_j| ≤ 1."""
    A = np.column_stack([X / np.abs(X).max(axis=0).clip(1e-300), np.ones(len(X))])
    fixed, S = A[side == 0], side[side != 0, None] * A[side != 0]
    if not len(S):
        return False
    equal = (fixed, np.zeros(len(fixed))) if len(fixed) else (None, None)
    bounds = [(-1, 1)] * A.shape[1]
    found = linprog(-S.sum(axis=0), -S, np.zeros(len(S)), *equal, bounds=bounds)
    return bool((S @ found.x).max() > 1e-6)


def table(seed):
    """Numbers, small whole numbers, or rounded numbers with two rare indicators; in any unit."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(6, 40)), int(rng.integers(1, 4)), seed % 3
    if kind == 0:
        X = rng.normal(size=(n, d))
    elif kind == 1:
        X = rng.integers(0, 3, (n, d)).astype(float)
    else:
        X = np.column_stack([rng.normal(size=(n, d)).round(1), rng.random((n, 2)) < 0.2])
    steep = rng.choice([0, 2, 6, 20]) / np.abs(X[:, 0]).max().clip(1e-9)
    eta = steep * X[:, 0] - rng.choice([0, 2])
    classes = (eta + rng.logistic(size=n) > 0).astype(int)
    counts = rng.poisson(np.exp(np.clip(eta, -5, 3) - 1)).astype(float)
    return X * rng.choice([1, 1e3, 1e-3]), classes, counts


def warns(model, X, y, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **given)
    return any(issubclass(warning.category, Separation) for warning in caught)


def disagreements(seeds, *, classes=CLASSES, counts=COUNTS):
    wrong = []
    for seed in seeds:
        X, y, count = table(seed)
        if 0 < y.sum() < len(y):
            truth = is_separated(X, np.where(y == 1, 1.0, -1.0))
            for name, settings in classes.items():
                if warns(likely.LogisticRegression(l2=0.0, **settings), X, y) != truth:
                    wrong.append((seed, name, truth))
        truth = is_separated(X, np.where(count == 0, -1.0, 0.0))
        for name, settings in counts.items():
            if warns(likely.GLM(**settings), X, count) != truth:
                wrong.append((seed, name, truth))
    return wrong


@pytest.mark.slow
def test_every_solver_and_response_agrees_with_the_linear_program():
    assert disagreements(range(20)) == []


@pytest.mark.slow
def test_newton_agrees_on_a_few_hundred_tables():
    few = {"logit": {}}, {"poisson": {"response": "poisson"}}
    assert disagreements(range(20, 300), classes=few[0], counts=few[1]) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)  # about five minutes alone
def test_all_agree_on_two_thousand_tables():
    assert disagreements(range(300, 2300)) == []


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_class_alone_is_separated_along_the_intercept(link, value):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.warns(Separation, match="separated along 'the intercept'"):
        likely.GLM("bernoulli", link).fit(X, np.full(50, value))


@pytest.mark.parametrize("response", ["poisson", "negative-binomial"])
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_counts_of_0_alone_are_separated_along_the_intercept(response, l2):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.warns(Separation, match="separated along 'the intercept'"):
        likely.GLM(response, l2=l2).fit(X, np.zeros(50))


def test_levels_of_one_class_among_thousands_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 3000, 8000).astype(str)})
    y = (rng.random(8000) < 0.5).astype(int)
    model = likely.LogisticRegression(l2=0.0)
    with pytest.warns(Separation, match=r"separated along 'a\["):
        model.fit(frame, y)
    assert model.solution_.solver == "L-BFGS"
    named = frame["a"].groupby(frame["a"]).transform("size") == 1
    assert named.any()
    assert not warns(likely.LogisticRegression(l2=1.0), frame, y)


def test_balanced_codes_of_many_columns_do_not_pass_for_deciding_ones():
    """Σx and Σsx agree where the class 0 has as many −1 as 1; no row is on its side for that."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(60, 2100)) * (rng.random((60, 2100)) < 0.01)
    X[:, 0] = np.tile([1.0, 1.0, 1.0, -1.0], 15)
    y = np.tile([1, 1, 0, 0], 15)
    blocks = ArrayBlocks(Dense(X), y.astype(float))
    assert 0 not in deciding_columns(likelihood_of("bernoulli"), blocks, Serial())


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_one_row_of_many_is_enough(solver):
    """The only row with x1 = 1 is of the rare class, and not among those a search starts from."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30_000), np.zeros(30_000)])
    y = (rng.random(30_000) < 0.01).astype(int)
    assert not warns(likely.LogisticRegression(l2=0.0, solver=solver), X[:, :1], y)
    X[np.flatnonzero(y)[-1], 1] = 1.0
    with pytest.warns(Separation, match="separated along 'x1'"):
        likely.LogisticRegression(l2=0.0, solver=solver).fit(X, y)


def test_rows_of_weight_0_separate_nothing_and_join_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    beyond = np.vstack([X, [[9.0, 0.0]]]), np.append(y, 0)
    weight = np.append(np.ones(60), 0.0)
    assert warns(likely.LogisticRegression(l2=0.0), *beyond, sample_weight=weight)
    assert warns(likely.LogisticRegression(l2=0.0), X, y, sample_weight=np.full(60, 1e-12))
    overlapping = y.copy()
    overlapping[[0, 1]] = 1 - overlapping[[0, 1]]
    truth = is_separated(X, np.where(overlapping == 1, 1.0, -1.0))
    assert warns(likely.LogisticRegression(l2=0.0), X, overlapping) == truth


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_softmax_and_ordinal_say_so_by_gradients_too(solver):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for model in (likely.SoftmaxRegression, likely.OrdinalRegression):
        with pytest.warns(Separation, match="'x0'"):
            model(l2=0.0, solver=solver).fit(X, y)
