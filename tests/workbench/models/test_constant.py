"""The best constant: the shares and moments of y, and scikit-learn's contract."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from sklearn.utils.estimator_checks import check_estimator

from likely.metrics.baseline import best_level, weighted_median
from likely.workbench.models.constant import ConstantModel


@pytest.mark.parametrize("kind", ["classes", "real", "count", "positive"])
def test_scikit_learns_checks_pass(kind):
    results = check_estimator(ConstantModel(kind), on_fail=None, on_skip=None)
    failed = [each["check_name"] for each in results if each["status"] == "failed"]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) > 40


def test_class_shares_are_weighted_and_weight_0_is_absent():
    model = ConstantModel().fit(np.zeros((4, 1)), ["a", "b", "b", "c"], [1.0, 2.0, 1.0, 0.0])
    assert model.classes_.tolist() == ["a", "b"]
    assert_allclose(model.predict_proba(np.zeros((2, 1))), [[0.25, 0.75]] * 2)
    assert model.predict([[1.0]]).tolist() == ["b"]


def test_the_gaussian_constant_is_the_most_likely_one_but_for_n_minus_1():
    y = np.random.default_rng(0).normal(3, 2, 50)
    level = best_level("real", y, np.ones(50))
    assert_allclose([level.mean, level.dispersion], [y.mean(), y.var(ddof=1)])


def test_counts_more_spread_than_the_poisson_get_a_negative_binomial():
    rng = np.random.default_rng(0)
    wide, narrow = rng.negative_binomial(2, 0.2, 4000), rng.binomial(10, 0.8, 4000)
    level = best_level("count", wide.astype(float), np.ones(4000))
    assert level.response.name == "negative-binomial"
    assert_allclose(level.response.alpha, 0.5, rtol=0.1)  # 1/2 by construction; 4,000 draws
    even = rng.poisson(8.0, 4000).astype(float)
    assert best_level("count", even, np.ones(4000)).response.name == "poisson"
    level_of_narrow = best_level("count", narrow.astype(float), np.ones(4000))
    assert level_of_narrow.response.name == "gaussian"  # by masses, as a binomial varies less
    gaussian = stats.norm(narrow.mean(), narrow.std(ddof=1))
    masses = gaussian.cdf(narrow + 0.5) - gaussian.cdf(narrow - 0.5)
    assert_allclose(level_of_narrow.log_density(narrow.astype(float)), np.log(masses), rtol=1e-6)
    poisson = stats.poisson(wide.mean()).logpmf(wide).mean()
    assert level.log_density(wide.astype(float)).mean() > poisson + 0.5


def test_the_median_is_the_least_absolute_error():
    rng = np.random.default_rng(1)
    y, weight = rng.normal(size=31), rng.integers(1, 4, 31).astype(float)
    found = weighted_median(y, weight)
    best = optimize.minimize_scalar(lambda m: np.dot(weight, np.abs(y - m)), bounds=(-3, 3))
    assert np.dot(weight, np.abs(y - found)) <= best.fun + 1e-9
    assert_allclose(found, np.median(np.repeat(y, weight.astype(int))))


def test_neither_offsets_nor_exposures_move_classes():
    X, moved = np.zeros((4, 1)), np.arange(1.0, 5.0)
    model = ConstantModel("binary").fit(X, ["a", "b", "b", "b"], exposure=moved)
    for given in ({"offset": moved}, {"exposure": moved}):
        assert_allclose(model.predict_proba(X, **given), [[0.25, 0.75]] * 4)
        assert_allclose(model.predict_log_proba(X, **given), np.log([[0.25, 0.75]] * 4))
        assert model.predict(X, **given).tolist() == ["b"] * 4
