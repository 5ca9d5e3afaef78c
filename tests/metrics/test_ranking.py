"""AUC and average precision: pairs counted, DeLong's variance, and how far a histogram errs."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.ranking import AUC, ranked_rows
from tests.metric_data import some_rows


def binary(y, score):
    p = 1 / (1 + np.exp(-np.asarray(score, dtype=float)))
    prediction = Prediction.of_classes(np.log(np.column_stack([1 - p, p])))
    return Truth(np.asarray(y), None, ("a", "b"), "binary"), prediction


def value(name, *rows):
    return METRICS[name].value(METRICS[name].statistics(*rows))


def test_auc_is_the_share_of_pairs_in_order_with_ties_one_half():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 40), rng.integers(0, 5, 40)
    above, below = score[y == 1], score[y == 0]
    won = [float(a > b) + 0.5 * (a == b) for a, b in itertools.product(above, below)]
    assert_allclose(value("auc", *binary(y, score)), np.mean(won))


def test_delongs_variance_is_that_of_the_placement_values():
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 2, 50), rng.normal(size=50)
    above, below = score[y == 1], score[y == 0]
    won = above[:, None] > below[None, :]
    expected = won.mean(1).var(ddof=1) / len(above) + won.mean(0).var(ddof=1) / len(below)
    assert_allclose(ranked_rows(*binary(y, score)).auc_deviation() ** 2, expected)


@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_a_histogram_agrees_to_the_share_of_pairs_it_ties(kind):
    rows = some_rows(kind, 3, 3000)
    assert_allclose(value("auc-approximate", *rows), value("auc", *rows), atol=1e-3)
    exact, about = AUC().statistics(*rows), AUC(exact=False).statistics(*rows)
    assert about.auc_deviation() > 0.99 * exact.auc_deviation()  # a bound for several classes
    if kind == "binary":
        assert_allclose(about.auc_deviation(), exact.auc_deviation(), rtol=1e-2)
        approximate = value("average-precision-approximate", *rows)
        assert_allclose(approximate, value("average-precision", *rows), atol=2e-3)


def test_certain_predictions_have_a_place_in_the_histogram():
    log_proba = np.array([[-np.inf, 0.0], [0.0, -np.inf], [np.log(0.5)] * 2])
    rows = Truth(np.array([1, 0, 0]), None, ("a", "b"), "binary"), Prediction.of_classes(log_proba)
    for name in ("auc", "auc-approximate", "average-precision", "average-precision-approximate"):
        assert value(name, *rows) == 1


def test_approximate_metrics_say_so():
    for name, metric in METRICS.items():
        assert metric.approximate == name.endswith("-approximate")
        assert metric.approximate == ("approximate" in metric.title)


def test_a_constant_score_is_worth_one_half_and_the_share():
    rows = binary([0, 0, 0, 1], np.zeros(4))
    assert value("auc", *rows) == 0.5
    assert value("average-precision", *rows) == 0.25


def test_one_class_alone_has_no_order():
    rows = binary([1, 1], [0.0, 1.0])
    assert np.isnan(value("auc", *rows))
    assert METRICS["auc"].interval(METRICS["auc"].statistics(*rows)) == (0.0, 1.0)


def test_a_perfect_order_is_no_certainty():
    for name in ("auc", "average-precision", "auc-approximate"):
        statistics = METRICS[name].statistics(*binary([0] * 10 + [1] * 10, np.arange(20.0)))
        low, high = METRICS[name].interval(statistics)
        assert (low < 0.85) and high == 1


@pytest.mark.parametrize(("name", "least"), [("auc", 0.92), ("average-precision", 0.88)])
def test_intervals_cover(name, least):
    """DeLong nearly 95 %; the binomial model of average precision is rougher, and less sure."""
    rng = np.random.default_rng(4)

    def drawn(n):
        y = (rng.random(n) < 0.3).astype(int)
        return METRICS[name].statistics(*binary(y, rng.normal(size=n) + 1.2 * y))

    expected = METRICS[name].value(drawn(400_000))
    inside = 0
    for _ in range(300):
        low, high = METRICS[name].interval(drawn(150))
        inside += low <= expected <= high
    assert least <= inside / 300 <= 0.99


def test_the_interval_of_a_mean_over_classes_covers():
    rng = np.random.default_rng(5)

    def drawn(n):
        score = rng.normal(size=(n, 3))
        y = (score + rng.gumbel(size=(n, 3))).argmax(axis=1)
        log_proba = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
        truth = Truth(y, None, tuple("abc"), "classes")
        return AUC().statistics(truth, Prediction.of_classes(log_proba))

    expected = AUC().value(drawn(200_000))
    inside = 0
    for _ in range(300):
        low, high = AUC().interval(drawn(200))
        inside += low <= expected <= high
    assert 0.91 <= inside / 300 <= 0.985  # 0.95 ± 3 standard errors
