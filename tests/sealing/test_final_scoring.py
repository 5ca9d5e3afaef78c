"""How a look is scored: by which metric, in which interval, beside which constant."""

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import likely
from tests.sealing.conftest import counts, labels_of, numbers_only


def test_the_score_is_that_of_a_fresh_fit_on_the_sealed_rows(tmp_path):
    frame = numbers_only()
    sealed = likely.seal(frame, "y", folder=tmp_path)
    found = sealed.final(LogisticRegression(), cv_estimate=0.5)
    X, y = labels_of(frame, sealed)
    model = LogisticRegression().fit(sealed.train.drop(columns="y"), sealed.train["y"])
    assert_allclose(found.value, log_loss(y, model.predict_proba(X)), rtol=1e-9)
    p = model.predict_proba(X)[np.arange(80), (y == "yes").astype(int)]
    half = t.ppf(0.975, 79) * np.std(-np.log(p), ddof=1) / sqrt(80)
    assert_allclose(found.estimate.low, found.value - half)
    assert half <= found.estimate.high - found.value < 1.2 * half  # one more surprise may come
    share = np.mean(sealed.train["y"] == "yes")
    constant = -np.mean(np.where(y == "yes", log(share), log(1 - share)))
    assert_allclose(found.estimate.baseline, constant)
    assert (found.evaluation, found.budget, found.n_rows, found.level) == (1, 1, 80, 0.95)
    assert np.array_equal(found.model.coef_, model.coef_)


def test_the_answer_is_a_sentence(tmp_path):
    found = likely.seal(numbers_only(), "y", folder=tmp_path).final(GaussianNB(), cv_estimate=0.5)
    low, high = found.estimate.low, found.estimate.high
    digits = 3 if high - low < 0.2 else 2
    ends = f"{low:.{digits}f} to {high:.{digits}f}"
    assert str(found) == (
        f"Log loss {found.value:.{digits}f} (95 % interval {ends}) on 80 sealed rows; "
        f"evaluation 1 of 1. Baseline (constant): {found.estimate.baseline:.{digits}f}. "
        f"Cross-validation estimate: {0.5:.{digits}f}."
    )
    assert repr(found) == str(found)
    assert "Log loss" in found._repr_html_()
    second = replace(found, level=0.975)
    assert f"(97.5 % interval {ends}) on 80 sealed rows" in str(second)


@pytest.mark.parametrize(
    ("model", "metric"), [(LinearSVC(), "error-rate"), (likely.NaiveBayes(), "log-loss")]
)
def test_the_metric_follows_from_the_model(model, metric, tmp_path):
    sealed = likely.seal(numbers_only(), "y", folder=tmp_path)
    assert sealed.final(model).metric == metric


@pytest.mark.parametrize("kind", ["category", "ordered", "bool", "whole"])
def test_every_kind_of_class_can_be_a_target(kind, tmp_path):
    frame = numbers_only()
    frame["y"] = {
        "category": frame["y"].astype("category"),
        "ordered": pd.Categorical(frame["y"], ["yes", "no"], ordered=True),
        "bool": frame["y"] == "yes",
        "whole": (frame["y"] == "yes") + 3,
    }[kind]
    sealed = likely.seal(frame, "y", folder=tmp_path)
    assert sealed.train["y"].dtype == frame["y"].dtype
    model = likely.OrdinalRegression() if kind == "ordered" else likely.LogisticRegression()
    found = sealed.final(model)
    assert found.value < found.estimate.baseline
    if kind == "ordered":
        assert list(found.model.classes_) == ["yes", "no"]


def test_rows_that_are_all_right_are_no_certainty(tmp_path):
    frame = pd.DataFrame({"x": np.r_[-50.0:0, 1:51.0], "y": ["no"] * 50 + ["yes"] * 50})
    found = likely.seal(frame, "y", folder=tmp_path).final(LinearSVC())
    assert (found.metric, found.estimate[:2], found.n_rows) == ("error-rate", (0.0, 0.0), 20)
    assert_allclose(found.estimate.high, 1.96**2 / (20 + 1.96**2), rtol=1e-3)
    assert "0.000 to 0.000" not in str(found)


def test_one_sealed_row_has_an_open_interval(tmp_path):
    frame = numbers_only().assign(y=lambda f: f["a"] - 2 * f["b"])
    sealed = likely.seal(frame, "y", test=[3], folder=tmp_path)
    found = sealed.final(LinearRegression())
    assert found.estimate[1:3] == (0.0, np.inf)
    assert " to ∞) on 1 sealed row;" in str(found)
    assert sealed.ledger()[-1]["interval"][1] is None
    assert sealed.final(LinearRegression()).estimate.high == np.inf, "read again from the ledger"


def test_a_log_loss_is_not_below_0(tmp_path):
    frame = numbers_only(60).assign(y=lambda f: np.where(f["a"] > 0, "yes", "no"))
    found = likely.seal(frame, "y", folder=tmp_path, test=0.1).final(LogisticRegression(C=1e4))
    assert found.estimate.low >= 0.0


def test_python_scores_by_the_task_as_the_command_line_does(tmp_path):
    found = likely.seal(counts(), "y", folder=tmp_path).final(likely.GLM("poisson"))
    assert found.metric == "negative-log-likelihood"
    told = found.measures["log-likelihood"]
    assert_allclose(told.value, -found.value)
    assert_allclose(told.baseline, -found.estimate.baseline)
    assert found.value < found.estimate.baseline


def test_a_model_without_a_density_is_scored_by_squared_error(tmp_path):
    found = likely.seal(counts(), "y", folder=tmp_path).final(LinearRegression())
    assert found.metric == "mean-squared-error"
    assert_allclose(found.measures["rmse"].value ** 2, found.value)


def test_a_classifier_of_many_whole_numbers_is_scored_by_its_classes(tmp_path):
    frame = counts()
    frame = frame[frame.groupby("y")["y"].transform("size") > 4]
    found = likely.seal(frame, "y", folder=tmp_path).final(GaussianNB())
    assert found.metric == "log-loss"
    assert found.measures["accuracy"].value > 0


def test_the_best_constant_is_beside_every_metric(tmp_path):
    frame = numbers_only()
    sealed = likely.seal(frame, "y", folder=tmp_path)
    found = sealed.final(LogisticRegression())
    measures = found.measures
    assert np.isfinite([each.baseline for each in measures.values()]).all()
    _, y = labels_of(frame, sealed)
    most = sealed.train["y"].mode()[0]
    assert_allclose(measures["accuracy"].baseline, np.mean(y == most))
    assert_allclose(measures["log-loss"].baseline, found.estimate.baseline)


def test_numbers_are_scored_by_squared_error(tmp_path):
    frame = numbers_only().assign(y=lambda f: f["a"] - 2 * f["b"])
    sealed = likely.seal(frame, "y", folder=tmp_path)
    found = sealed.final(LinearRegression())
    assert found.metric == "mean-squared-error"
    assert found.value < 1e-20 < found.estimate.baseline
