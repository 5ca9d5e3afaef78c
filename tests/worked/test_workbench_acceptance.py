"""What the specification asks of splits, looks, curves and folds, by public calls (SEL-1 to 5)."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import (
    f1_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import likely as lk
from likely.errors import HonestyRefusal

CHANCE = 0.5


def noisy(n, seed=0):
    """Two columns, a number for each row, and classes in unequal shares."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"row": np.arange(n), "x": rng.normal(size=n)})
    frame["y"] = np.where(frame["x"] + rng.logistic(size=n) > 1, "yes", "no")
    return frame


def sealed_rows(sealed, frame):
    return np.setdiff1d(frame["row"], sealed.train["row"])


@given(n=st.integers(30, 120), seed=st.integers(0, 99), share=st.sampled_from([0.1, 0.25, 0.5]))
@settings(max_examples=15, deadline=None)
def test_a_split_is_complete_disjoint_repeatable_and_keeps_class_shares(
    n, seed, share, tmp_path_factory
):
    frame, folder = noisy(n, seed), tmp_path_factory.mktemp("seals")
    first, again = (
        lk.seal(frame, "y", test=share, seed=seed, name=name, folder=folder) for name in "ab"
    )
    rows = sealed_rows(first, frame)
    assert first.manifest.n_train + first.manifest.n_test == n
    assert first.manifest.n_test == rows.size
    assert_array_equal(rows, sealed_rows(again, frame))
    for label, size in frame["y"].value_counts().items():
        assert abs((frame["y"][rows] == label).sum() - share * size) < 1


@pytest.mark.parametrize("form", ["indices", "Booleans", "series"])
def test_rows_are_sealed_by_index(form, tmp_path):
    frame = noisy(60)
    rows = np.array([3, 58, 17, 4])
    mask = np.isin(np.arange(60), rows)
    test = {"indices": rows, "Booleans": mask.tolist(), "series": pd.Series(rows)}[form]
    sealed = lk.seal(frame, "y", test=test, folder=tmp_path)
    assert_array_equal(sealed_rows(sealed, frame), np.sort(rows))
    assert sealed.manifest.n_test == 4
    assert sealed.manifest.rule == "the rows that were named"


class Guess(ClassifierMixin, BaseEstimator):
    """A coin for each row, by its number: knows nothing of y."""

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        coins = np.random.default_rng([self.seed, 1]).integers(0, 2, 10_000)  # no seed of a y
        return self.classes_[coins[X["row"]]]


def coins(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"row": np.arange(n), "y": rng.choice(["heads", "tails"], n)})


@pytest.mark.slow
def test_the_best_of_a_hundred_guesses_beats_chance_on_the_sealed_rows_and_not_on_fresh_ones(
    tmp_path,
):
    """200 sealed coins: one error rate has σ = 0.035, the best of 100 is 2.5 σ below chance."""
    frame = coins(400)
    sealed = lk.seal(frame, "y", feature=["row"], test=0.5, budget=100, folder=tmp_path)
    errors = [sealed.final(Guess(seed)).value for seed in range(100)]
    assert sealed.evaluations == 100
    assert abs(np.mean(errors) - CHANCE) < 0.02
    assert min(errors) < CHANCE - 2 * 0.035
    fresh = coins(9_000, seed=1)
    chosen = Guess(int(np.argmin(errors))).fit(None, frame["y"])
    assert abs(np.mean(chosen.predict(fresh) != fresh["y"]) - CHANCE) < 3 * 0.0053


@pytest.mark.parametrize("budget", [1, 3])
def test_the_look_after_the_last_needs_a_reason_which_is_kept(budget, tmp_path):
    sealed = lk.seal(coins(60), "y", feature=["row"], budget=budget, folder=tmp_path)
    for seed in range(budget):
        sealed.final(Guess(seed))
    with pytest.raises(HonestyRefusal, match=f"allows {budget} evaluation"):
        sealed.final(Guess(budget))
    assert sealed.evaluations == budget
    sealed.final(Guess(budget), again="the first scanner was broken")
    assert sealed.evaluations == budget + 1
    said = [(entry["event"], entry.get("reason")) for entry in sealed.ledger()]
    assert said[-3:-2] == [("again", "the first scanner was broken")]
    assert ("refused", "budget") in said


def stopped(model, steps, rows):
    """A fit that may take so many steps, without the warning that it was cut short."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return lk.Prepared(
            clone(model).set_params(max_iter=steps, standard_errors=None), scale=False
        ).fit(rows, "y")


FITS_BY_STEPS = pytest.mark.parametrize(
    "model",
    [lk.LogisticRegression(l2=0.1), lk.SoftmaxRegression(l2=0.1)],
    ids=["logistic", "softmax"],
)


@FITS_BY_STEPS
def test_a_curve_by_steps_is_the_score_of_fits_that_stop_there(model):
    frame = noisy(150).drop(columns="row")
    curve = lk.learning_curve(frame, "y", lk.Prepared(model, scale=False), of="iterations", folds=3)
    assert len(curve.points) >= 3
    for point in curve.points:
        told = {"train": [], "validation": []}
        for fold in curve.rows.folds(n_folds=3, repeats=1, seed=0):
            fitted = stopped(model, point.x, frame.iloc[fold.train])
            for name, rows in (("train", fold.train), ("validation", fold.test)):
                said = fitted.predict_proba(frame.iloc[rows].drop(columns="y"))
                told[name].append(log_loss(frame["y"].iloc[rows], said))
        assert point.train.value == pytest.approx(np.mean(told["train"]), rel=1e-12)
        assert point.validation.value == pytest.approx(np.mean(told["validation"]), rel=1e-12)


@FITS_BY_STEPS
def test_a_fit_that_stops_after_k_steps_is_where_the_whole_fit_was_after_k(model):
    """So a curve by steps is one of snapshots: the trace of the whole fit has their objectives.

    Once converged, the Newton step that is at hand is taken too: the end may lie below the trace.
    """
    frame = noisy(150).drop(columns="row")
    trace = stopped(model, 1000, frame).model_.solution_.trace
    assert len(trace) >= 3
    for steps in range(1, len(trace)):
        cut = stopped(model, steps, frame)
        nll = log_loss(frame["y"], cut.predict_proba(frame[["x"]]), normalize=False)
        classes = 2 if isinstance(model, lk.SoftmaxRegression) else 1  # ±β/2, each penalised
        value = nll + 0.5 * model.l2 * float(np.square(cut.model_.coef_).sum()) / classes
        last, reached = steps == len(trace) - 1, pytest.approx(trace[steps], rel=1e-12)
        assert value == reached or (last and value < trace[steps])


def worst_tenth(y, prediction):
    """The mean of the largest tenth of the errors: no metric of a library."""
    return np.mean(np.sort(np.abs(y - prediction))[-max(1, len(y) // 10) :])


worst_tenth.better = "lower"
OF_LABELS = {  # a metric by name, or a function: what a user would compute by hand
    "f1": lambda y, model, X: f1_score(y, model.predict(X), pos_label="yes"),
    "log-loss": lambda y, model, X: log_loss(y, model.predict_proba(X), labels=["no", "yes"]),
    "auc": lambda y, model, X: roc_auc_score(y == "yes", model.predict_proba(X)[:, 1]),
    matthews_corrcoef: lambda y, model, X: matthews_corrcoef(y, model.predict(X)),
}
OF_NUMBERS = {
    "mae": lambda y, model, X: mean_absolute_error(y, model.predict(X)),
    "r2": lambda y, model, X: r2_score(y, model.predict(X)),
    worst_tenth: lambda y, model, X: worst_tenth(y.to_numpy(), model.predict(X)),
}
CROSS_VALIDATED = [
    *product([KNeighborsClassifier(5), RandomForestClassifier(10, random_state=0)], OF_LABELS),
    *product(
        [
            lk.NaiveBayes(),
            make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
        ],
        ["f1"],
    ),
    *product(
        [DecisionTreeRegressor(max_depth=3, random_state=0), lk.LinearRegression(l2=3.0)],
        OF_NUMBERS,
    ),
]


@pytest.mark.parametrize(
    ("estimator", "metric"),
    CROSS_VALIDATED,
    ids=lambda each: type(each).__name__ if isinstance(each, BaseEstimator) else str(each)[:20],
)
def test_any_estimator_is_cross_validated_by_any_metric(estimator, metric):
    """SEL-5: ``compare`` with one model is its cross-validation, fold by fold."""
    frame = noisy(120).drop(columns="row")
    by_hand = OF_LABELS
    if is_regressor(estimator):
        frame["y"] = frame["x"] ** 2 + np.random.default_rng(1).normal(size=120)
        by_hand = OF_NUMBERS
    found = lk.compare(frame, "y", {"mine": estimator}, folds=4, repeats=1, metric=metric)
    scores = []
    for train, test in found.folds:
        fitted = lk.Prepared(clone(estimator)).fit(frame.iloc[train], "y")
        scores.append(by_hand[metric](frame["y"].iloc[test], fitted, frame[["x"]].iloc[test]))
    assert not found["mine"].problem
    assert_allclose(found["mine"].per_fold, scores, rtol=1e-12)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_leave_one_out_holds_each_example_out_once_and_alone(kind):
    frame = noisy(24).drop(columns="row")
    if kind == "numbers":
        frame["y"] = frame["x"] + np.random.default_rng(0).normal(size=24)
    found = lk.compare(frame, "y", ["constant"], folds=len(frame), repeats=1)
    assert_array_equal(np.sort([test.item() for _, test in found.folds]), np.arange(24))
    assert {len(train) for train, _ in found.folds} == {23}


@given(seed=st.integers(0, 99), l2=st.sampled_from([0.01, 1.0, 30.0]))
@settings(max_examples=6, deadline=None)
def test_leave_one_out_of_ridge_is_the_residual_over_one_minus_its_leverage(seed, l2):
    """rᵢ / (1 − Hᵢᵢ), example by example; the intercept is not penalised."""
    rng = np.random.default_rng(seed)
    n = 20
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=n)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    model = lk.Prepared(lk.LinearRegression(l2=l2), scale=False)
    found = lk.compare(frame, "y", {"ridge": model}, folds=n, repeats=1, metric="rmse")
    wide = np.column_stack([np.ones(n), X])
    hat = wide @ np.linalg.solve(wide.T @ wide + np.diag([0, l2, l2, l2]), wide.T)
    shortcut = np.abs((y - hat @ y) / (1 - np.diag(hat)))
    held = [test.item() for _, test in found.folds]
    assert_allclose(found["ridge"].per_fold, shortcut[held], rtol=1e-8, atol=1e-10)
