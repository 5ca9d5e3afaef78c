"""Metrics of numbers: means outside the family, constants, and intervals that cover."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import minimize_scalar

from likely.likelihoods.gamma import Gamma
from likely.likelihoods.poisson import Poisson
from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.baseline import constant_prediction


def numbers(y, mean, kind="real"):
    y = np.asarray(y, dtype=float)
    return Truth(y, None, (), kind), Prediction.of_numbers(np.asarray(mean, dtype=float))


def value(name, *rows):
    return METRICS[name].value(METRICS[name].statistics(*rows))


def test_a_mean_that_the_family_cannot_have_is_an_infinite_deviance():
    rows = numbers([0, 1, 2], [-0.5, 1.0, 2.0], "count")
    assert value("poisson-deviance", *rows) == np.inf
    assert value("poisson-deviance-explained", *rows) == -np.inf
    statistics = METRICS["poisson-deviance-explained"].statistics(*rows)
    assert METRICS["poisson-deviance-explained"].interval(statistics) == (-np.inf, 1.0)
    metric = METRICS["poisson-deviance"]
    bad = metric.statistics(*rows)
    good = metric.statistics(*numbers([0, 1], [1.0, 1.0], "count"))
    for total in (bad, bad + good, good + bad, bad + bad):  # it stays infinite when added
        assert metric.value(total) == np.inf
        assert metric.interval(total) == (0.0, np.inf)
    assert value("gamma-deviance", *numbers([1, 2], [0.0, 2.0], "positive")) == np.inf
    assert value("poisson-deviance", *numbers([0, 2], [0.0, 2.0], "count")) == 0


def test_deviances_are_those_of_the_responses():
    rng = np.random.default_rng(0)
    y, mean = rng.poisson(3, 50).astype(float), rng.gamma(3, 1, 50)
    assert_allclose(
        value("poisson-deviance", *numbers(y, mean, "count")), Poisson().deviance(y, mean).mean()
    )
    y = rng.gamma(2, 1, 50)
    assert_allclose(
        value("gamma-deviance", *numbers(y, mean, "positive")), Gamma().deviance(y, mean).mean()
    )


def test_constants_are_the_mean_and_for_absolute_errors_the_median():
    truth, _ = numbers([0, 0, 0, 10, 100], np.zeros(5))
    assert_allclose(METRICS["rmse"].best_constant(truth, truth), np.std(truth.y))
    assert_allclose(METRICS["mae"].best_constant(truth, truth), 22)
    assert_allclose(METRICS["r2"].best_constant(truth, truth), 0, rtol=1e-12, atol=1e-12)
    normal = stats.norm(truth.y.mean(), truth.y.std(ddof=1))
    assert_allclose(
        METRICS["log-likelihood"].best_constant(truth, truth), normal.logpdf(truth.y).mean()
    )


def test_r2_keeps_its_digits_far_from_zero():
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=200), rng.normal(size=200)
    near = METRICS["r2"].statistics(*numbers(y, y + 0.5 * noise))
    far = METRICS["r2"].statistics(*numbers(y + 1e6, y + 1e6 + 0.5 * noise))
    assert_allclose(METRICS["r2"].value(far), METRICS["r2"].value(near), rtol=1e-8)
    assert_allclose(METRICS["r2"].interval(far), METRICS["r2"].interval(near), rtol=1e-3)


def test_the_same_value_everywhere_leaves_nothing_to_explain():
    assert np.isnan(value("r2", *numbers([2, 2, 2], [1, 2, 3])))


@pytest.mark.parametrize("name", ["rmse", "mae", "r2"])
def test_intervals_cover_nineteen_times_in_twenty(name):
    rng = np.random.default_rng(2)
    expected = {"rmse": 1.0, "mae": np.sqrt(2 / np.pi), "r2": 0.8}[name]
    inside = 0
    for _ in range(400):
        mean = 2 * rng.normal(size=200)
        statistics = METRICS[name].statistics(*numbers(mean + rng.normal(size=200), mean))
        low, high = METRICS[name].interval(statistics)
        inside += low <= expected <= high
    assert 0.915 <= inside / 400 <= 0.98  # 0.95 ± 3 standard errors


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["count", "positive"])
def test_intervals_of_the_deviance_explained_cover(kind):
    rng = np.random.default_rng(3)
    name = {"count": "poisson", "positive": "gamma"}[kind] + "-deviance-explained"
    metric = METRICS[name]

    def drawn(n):
        mean = np.exp(rng.normal(1, 0.7, n))
        y = rng.poisson(mean) if kind == "count" else mean * rng.gamma(4, 0.25, n)
        return metric.statistics(*numbers(y, mean, kind))

    expected = metric.value(drawn(1_000_000))
    inside = 0
    for _ in range(400):
        low, high = metric.interval(drawn(300))
        inside += low <= expected <= high
    assert 0.915 <= inside / 400 <= 0.98  # 0.95 ± 3 standard errors


@pytest.mark.parametrize("name", ["poisson-deviance-explained", "gamma-deviance-explained", "r2"])
def test_the_null_of_rates_is_a_constant_rate(name):
    """By definition: the best λ in μ = λe, found by search; the constant rate explains about 0."""
    rng = np.random.default_rng(0)
    exposure = rng.uniform(0.1, 20.0, 400)
    rate = np.exp(rng.normal(size=400) / 2)
    y = rng.poisson(rate * exposure).astype(float) if "poisson" in name else rate * exposure
    kind = {"p": "count", "g": "positive", "r": "real"}[name[0]]
    truth = Truth(y, kind=kind, exposure=exposure)
    metric = METRICS[name]

    def deviance(mean):
        return float(metric.family.of(y, mean).mean())

    null = minimize_scalar(lambda a: deviance(np.exp(a) * exposure), bounds=(-5, 5)).fun
    guess = Prediction.of_numbers(1.3 * exposure)
    found = metric.value(metric.statistics(truth, guess))
    assert found == pytest.approx(1 - deviance(guess.means) / null, rel=1e-8)
    constant = constant_prediction(truth, truth)
    statistics = metric.statistics(truth, constant)
    assert abs(metric.value(statistics)) < 0.05
    low, high = metric.interval(statistics)
    assert low <= metric.value(statistics) <= high
    halves = [
        metric.statistics(truth.rows(i), guess.rows(i)) for i in (slice(200), slice(200, 400))
    ]
    assert metric.value(halves[0] + halves[1]) == pytest.approx(found)


def test_r2_is_of_what_an_offset_leaves():
    rng = np.random.default_rng(1)
    offset, y = rng.normal(size=(2, 50))
    truth = Truth(y + 9 * offset, kind="real", offset=9 * offset)
    metric = METRICS["r2"]
    constant = Prediction.of_numbers(y.mean() + 9 * offset)
    assert metric.value(metric.statistics(truth, constant)) == pytest.approx(0.0, abs=1e-9)
