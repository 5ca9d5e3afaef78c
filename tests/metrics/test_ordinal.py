"""Ordered classes: near misses cost less than far ones."""

import numpy as np
from numpy.testing import assert_allclose

from likely.metrics import METRICS, Prediction, Truth

CLASSES = ("low", "mid", "high")


def value(name, y, p):
    with np.errstate(divide="ignore"):
        prediction = Prediction.of_classes(np.log(np.atleast_2d(p)))
    truth = Truth(np.atleast_1d(y), None, CLASSES, "ordinal")
    return METRICS[name].value(METRICS[name].statistics(truth, prediction))


def test_worked_example_the_ranked_probability_score():
    """((0.2 − 0)² + (0.5 − 1)²)/2 = 0.145, of p = (0.2, 0.3, 0.5) where the middle happened."""
    assert_allclose(value("ranked-probability", 1, [0.2, 0.3, 0.5]), 0.145)


def test_a_near_miss_costs_less_than_a_far_one_where_the_log_loss_sees_no_difference():
    near, far = [0.1, 0.6, 0.3], [0.3, 0.6, 0.1]
    assert value("ranked-probability", 2, near) < value("ranked-probability", 2, far)
    assert_allclose(value("log-loss", 0, near), -np.log(0.1))
    assert value("ranked-probability", 0, [0, 0, 1]) == 1
    assert value("ranked-probability", 0, [1, 0, 0]) == 0


def test_it_is_proper():
    share = np.array([0.2, 0.5, 0.3])
    y = np.repeat([0, 1, 2], [20, 50, 30])
    truth = value("ranked-probability", y, np.tile(share, (100, 1)))
    for other in np.random.default_rng(0).dirichlet(np.ones(3), 50):
        assert value("ranked-probability", y, np.tile(other, (100, 1))) >= truth


def test_rank_errors_are_of_the_median_class():
    assert value("rank-error", 0, [0.2, 0.3, 0.5]) == 1  # P(Y ≤ mid) = ½
    assert value("rank-error", [0, 2], [[0.4, 0.25, 0.35], [0.1, 0.1, 0.8]]) == 0.5
