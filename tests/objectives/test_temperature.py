"""Calibration by temperature: the derivatives, the optimum, and better probabilities."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from likely import NaiveBayes
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.distributions import DiagonalFamily
from likely.errors import NothingToCalibrate
from likely.objectives.components import Components, log_shares
from likely.objectives.temperature import (
    N_FOLDS,
    FoldTotals,
    block_fold_totals,
    fit_temperature,
    out_of_fold_objective,
)


def doubled_evidence(seed=0, n=400):
    """Each feature twice: naive Bayes counts it twice, so the right temperature is near 2."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 1)) + 1.5 * y[:, None]
    return np.c_[x, x], y


def learn(totals):
    return Components(log_shares(totals.count), DiagonalFamily().from_statistics(totals.statistics))


def test_evidence_counted_twice_is_cooled_by_two():
    X, y = doubled_evidence(n=20_000)
    temperature = NaiveBayes(calibrate="temperature").fit(X, y).temperature_
    assert 1.85 < temperature < 2.15


def test_leaving_a_fold_out_by_prefix_and_suffix_is_the_sum_of_the_others():
    X, y = doubled_evidence()
    whole = ArrayBlocks(Dense(X), y, rows_per_block=len(X))
    folds = block_fold_totals(DiagonalFamily(), 2, next(iter(whole)))
    assert len(folds.folds) == N_FOLDS
    for f, left in enumerate(folds.left_out()):
        others = [fold for g, fold in enumerate(folds.folds) if g != f]
        assert_allclose(left.count, sum(other.count for other in others))
        mean = FoldTotals(tuple(others)).folds
        total = mean[0] + mean[1] + mean[2] + mean[3]
        assert_allclose(left.statistics.scatter, total.statistics.scatter)


def test_the_gradient_is_the_derivative_and_the_optimum_agrees_with_a_search():
    X, y = doubled_evidence()
    blocks = ArrayBlocks(Dense(X), y, rows_per_block=90)
    family = DiagonalFamily()
    temperature, solution = fit_temperature(family, 2, blocks, Serial(), learn)
    assert solution.converged
    folds = Serial().sum(lambda block: block_fold_totals(family, 2, block), blocks)
    objective = out_of_fold_objective(tuple(map(learn, folds.left_out())), blocks, Serial())

    def value(log_beta):
        return objective.second_order(np.array([log_beta])).value

    step = 1e-5
    for at in (-1.0, 0.3):
        slope = (value(at + step) - value(at - step)) / (2 * step)
        assert_allclose(objective.second_order(np.array([at])).gradient[0], slope, rtol=1e-5)
    best = minimize_scalar(value, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x
    assert_allclose(temperature, np.exp(-best), rtol=1e-4)


def test_calibrated_probabilities_lose_less_on_rows_held_out():
    X, y = load_breast_cancer(return_X_y=True)
    train = np.arange(len(y)) % 3 > 0
    plain = NaiveBayes().fit(X[train], y[train])
    cooled = NaiveBayes(calibrate="temperature").fit(X[train], y[train])
    before = log_loss(y[~train], plain.predict_proba(X[~train]))
    after = log_loss(y[~train], cooled.predict_proba(X[~train]))
    assert after < 0.5 * before
    assert (plain.predict(X) == cooled.predict(X)).all()


def test_an_explanation_adds_up_to_the_calibrated_log_odds():
    X, y = doubled_evidence()
    model = NaiveBayes(calibrate="temperature").fit(X, y)
    log_proba = model.predict_log_proba(X[:5])
    assert_allclose(model.explain(X[:5]).log_odds, log_proba - log_proba[:, [0]], atol=1e-10)


@pytest.mark.parametrize("rows_per_block", [50, 400])
def test_a_class_that_is_missing_from_a_fold_does_no_harm(rows_per_block):
    X, y = doubled_evidence()
    y = y.copy()
    y[0] = 2  # a single row: whichever fold it is in, the others have none of it
    model = NaiveBayes(calibrate="temperature", smoothing=1.0).fit(X, y)
    assert 0.5 < model.temperature_ < 5


def test_scores_without_information_are_cooled_to_the_end_and_that_is_said():
    y = np.arange(40) % 2
    with pytest.warns(NothingToCalibrate, match=r"no information.*1e\+06.*leave out calibrate"):
        model = NaiveBayes(calibrate="temperature").fit(np.ones((40, 1)), y)
    assert model.temperature_ == pytest.approx(1e6)
    assert_allclose(model.predict_proba([[1.0]]), 0.5, atol=1e-5)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(30.0)[:, None], np.zeros(30, dtype=int)),
        ([[0.0], [1.0]], [0, 1]),
        ([[0.0]], [0]),
        ([[0.0], [1.0], [2.0]], [0, 1, 2]),
        (np.r_[np.arange(50.0), 1e4 + np.arange(50.0)][:, None], np.repeat([0, 1], 50)),
        (np.r_[np.arange(50.0), 60 + np.arange(50.0)][:, None], np.repeat([0, 1], 50)),
    ],
    ids=["one-class", "two-rows", "one-row", "a-class-each", "no-errors", "no-errors-near"],
)
def test_where_there_is_nothing_to_calibrate_the_temperature_is_one(X, y):
    """And no one is told to raise max_iter."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = NaiveBayes(calibrate="temperature").fit(X, y)
    assert model.temperature_ == 1.0
    assert [warning.category for warning in said] == [NothingToCalibrate]
    assert "The temperature is 1. Give more rows" in str(said[0].message)
    assert said[0].filename == __file__
