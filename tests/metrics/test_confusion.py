"""Counts of right and wrong: worked tables, and intervals that cover."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.classes import Confusion, confusion_of
from likely.numerics.intervals import wilson

TABLE = Confusion(np.array([[20.0, 5.0], [10.0, 15.0]]))


def test_worked_example_cohens_table():
    """κ = (0.7 − 0.5)/(1 − 0.5) = 0.4, by Cohen's formulas."""
    assert_allclose(METRICS["kappa"].value(TABLE), 0.4)
    assert_allclose(METRICS["accuracy"].value(TABLE), 0.7)
    assert_allclose(METRICS["balanced-accuracy"].value(TABLE), (20 / 25 + 15 / 25) / 2)
    assert_allclose(METRICS["f1"].value(TABLE), 30 / 45)
    assert_allclose(METRICS["macro-f1"].value(TABLE), (40 / 55 + 30 / 45) / 2)


def test_worked_example_wilsons_interval():
    """9 of 10 at 95 %: Brown, Cai & DasGupta's (0.5958, 0.9821), with the end of one event.

    P(X ≥ 1) = 0.05 for Poisson's X with the mean −log 0.95.
    """
    assert_allclose(wilson(0.9, 10), [0.59585, 1 + np.log(0.95) / 10], atol=5e-6)
    assert_allclose(wilson(0.5, 10), [0.23659, 0.76341], atol=5e-6)
    assert wilson(1.0, 5)[1] == 1.0
    assert 0.5 < wilson(1.0, 5)[0] < 0.6


def test_the_most_probable_class_is_called_and_weights_count():
    truth = Truth(np.array([0, 1, 1]), np.array([1.0, 2.0, 0.5]), ("a", "b"), "binary")
    prediction = Prediction.of_classes(np.log([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]]))
    assert_allclose(confusion_of(truth, prediction).counts, [[1, 0], [0.5, 2]])


def test_a_class_that_never_happened_counts_neither_way():
    table = Confusion(np.array([[8.0, 2.0, 0], [3.0, 7.0, 0], [0, 0, 0]]))
    small = Confusion(table.counts[:2, :2])
    for name in ("accuracy", "balanced-accuracy", "macro-f1", "kappa"):
        assert_allclose(METRICS[name].value(table), METRICS[name].value(small))
        assert_allclose(METRICS[name].interval(table), METRICS[name].interval(small))
    assert np.isnan(table.recall()[2]) and np.isnan(table.f1()[2])


@pytest.mark.parametrize("name", ["accuracy", "balanced-accuracy", "f1", "macro-f1", "kappa"])
def test_a_perfect_table_is_no_certainty(name):
    low, high = METRICS[name].interval(Confusion(np.diag([10.0, 10.0])))
    assert low < 0.95
    assert_allclose(high, 1)


@pytest.mark.parametrize("name", ["accuracy", "balanced-accuracy", "f1", "macro-f1", "kappa"])
@pytest.mark.parametrize("sharp", [0.5, 0.95], ids=["middling", "nearly perfect"])
def test_intervals_cover_nineteen_times_in_twenty(name, sharp):
    rng = np.random.default_rng(1)
    p = np.array([[0.7, 0.0], [0.0, 0.3]]) * sharp + (1 - sharp) * np.outer([0.7, 0.3], [0.6, 0.4])
    metric = METRICS[name]
    expected = metric.value(Confusion(p))
    inside = 0
    for _ in range(400):
        low, high = metric.interval(Confusion(rng.multinomial(150, p.ravel()).reshape(2, 2) * 1.0))
        inside += low <= expected <= high
    assert 0.915 <= inside / 400 <= 0.99  # approximate methods: 0.95 − 3 standard errors, or more


def test_the_slopes_are_the_derivatives_of_the_values():
    from likely.metrics.classes import _kappa_slope, _macro_f1_slope

    p = np.random.default_rng(0).dirichlet(np.ones(9)).reshape(3, 3)
    for name, slope in (("kappa", _kappa_slope), ("macro-f1", _macro_f1_slope)):
        move = np.random.default_rng(1).normal(size=(3, 3))
        move -= move.mean()  # shares go on to total 1
        step = 1e-6
        ends = [METRICS[name].value(Confusion(p + s * step * move)) for s in (1, -1)]
        assert_allclose((slope(p) * move).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_no_constant_has_a_better_f1_than_always_calling_the_class():
    truth = Truth(np.array([0, 0, 0, 1]), None, ("a", "b"), "binary")
    assert_allclose(METRICS["f1"].best_constant(truth, truth), 2 * 0.25 / 1.25)
    assert_allclose(METRICS["accuracy"].best_constant(truth, truth), 0.75)
    assert_allclose(METRICS["balanced-accuracy"].best_constant(truth, truth), 0.5)
