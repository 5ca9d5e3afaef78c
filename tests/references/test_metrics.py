"""Metrics against scikit-learn's, weighted and not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as theirs
from sklearn.calibration import calibration_curve

from likely.metrics import METRICS, metric_named
from likely.metrics.classes import confusion_of
from tests.metric_data import some_rows

weights = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def rows(kind, weighted):
    truth, prediction = some_rows(kind, seed=2, n=300, weighted=weighted)
    return truth, prediction, truth.weight


def ours(name, truth, prediction):
    metric = metric_named(name)
    return metric.value(metric.statistics(truth, prediction))


@weights
@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_class_metrics_agree(kind, weighted):
    truth, prediction, w = rows(kind, weighted)
    p, y = np.exp(prediction.log_p), truth.y
    called = p.argmax(axis=1)
    score = p[:, 1] if kind == "binary" else p
    expected = {
        "log-loss": theirs.log_loss(y, p, sample_weight=w),
        "brier": theirs.brier_score_loss(y, score, sample_weight=w),
        "accuracy": theirs.accuracy_score(y, called, sample_weight=w),
        "balanced-accuracy": theirs.balanced_accuracy_score(y, called, sample_weight=w),
        "macro-f1": theirs.f1_score(y, called, average="macro", sample_weight=w),
        "kappa": theirs.cohen_kappa_score(y, called, sample_weight=w),
        "auc": theirs.roc_auc_score(y, score, multi_class="ovr", sample_weight=w),
    }
    if kind == "binary":
        expected["f1"] = theirs.f1_score(y, called, sample_weight=w)
        expected["average-precision"] = theirs.average_precision_score(y, score, sample_weight=w)
    for name, value in expected.items():
        assert_allclose(ours(name, truth, prediction), value, err_msg=name)


@weights
def test_the_confusion_matrix_and_its_shares_agree(weighted):
    truth, prediction, w = rows("classes", weighted)
    called = prediction.log_p.argmax(axis=1)
    confusion = confusion_of(truth, prediction)
    assert_allclose(confusion.counts, theirs.confusion_matrix(truth.y, called, sample_weight=w))
    precision, recall, f1, _ = theirs.precision_recall_fscore_support(
        truth.y, called, sample_weight=w
    )
    assert_allclose(confusion.precision(), precision)
    assert_allclose(confusion.recall(), recall)
    assert_allclose(confusion.f1(), f1)
    micro = theirs.f1_score(truth.y, called, average="micro", sample_weight=w)
    assert_allclose(METRICS["accuracy"].value(confusion), micro)


@weights
def test_number_metrics_agree(weighted):
    for kind in ("real", "count", "positive"):
        truth, prediction, w = rows(kind, weighted)
        y, mean = truth.y, prediction.means
        expected = {
            "rmse": theirs.root_mean_squared_error(y, mean, sample_weight=w),
            "mae": theirs.mean_absolute_error(y, mean, sample_weight=w),
            "r2": theirs.r2_score(y, mean, sample_weight=w),
        }
        power = {"count": ("poisson", 1), "positive": ("gamma", 2)}.get(kind)
        if power is not None:
            name, p = power
            expected[f"{name}-deviance"] = theirs.mean_tweedie_deviance(
                y, mean, sample_weight=w, power=p
            )
            expected[f"{name}-deviance-explained"] = theirs.d2_tweedie_score(
                y, mean, sample_weight=w, power=p
            )
        for name, value in expected.items():
            assert_allclose(ours(name, truth, prediction), value, err_msg=name)


def test_the_reliability_curve_agrees():
    truth, prediction, _ = rows("binary", weighted=False)
    metric = METRICS["calibration-error"]
    curve = metric.curve(metric.statistics(truth, prediction))
    observed, predicted = calibration_curve(truth.y, np.exp(prediction.log_p[:, 1]), n_bins=10)
    used = [point for point in curve if point.weight]
    assert_allclose([point.observed for point in used], observed)
    assert_allclose([point.predicted for point in used], predicted)


def test_ties_in_the_score_are_counted_as_theirs_are():
    truth, prediction, _ = rows("binary", weighted=False)
    coarse = np.round(np.exp(prediction.log_p[:, 1]), 1).clip(0.05, 0.95)
    tied = type(prediction).of_classes(np.log(np.column_stack([1 - coarse, coarse])))
    assert_allclose(ours("auc", truth, tied), theirs.roc_auc_score(truth.y, coarse))
    expected = theirs.average_precision_score(truth.y, coarse)
    assert_allclose(ours("average-precision", truth, tied), expected)
