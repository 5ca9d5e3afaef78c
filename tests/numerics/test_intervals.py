"""Intervals, also of rows in groups: against statsmodels, and against what they must equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.numerics.intervals import (
    about_mean,
    effective_rows,
    rows_at_worst,
    student_quantile,
    wilson,
)
from likely.numerics.moments import Moments


def patients(n_groups=12, size=40, *, spread=1.0, seed=0):
    """Rows of patients who differ, and the patient of each."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    return spread * rng.normal(size=n_groups)[groups] + rng.normal(size=len(groups)), groups


def clustered(values, groups, level=0.95, weight=None):
    weight = np.ones(len(values)) if weight is None else weight
    return Moments.of_groups(values, weight, groups).ends(level)


def plain(values, level=0.95):
    return about_mean(values.mean(), np.square(values - values.mean()).sum(), len(values), level)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_is_that_of_statsmodels_clustered_by_group(level):
    api = pytest.importorskip("statsmodels.api")
    values, groups = patients()
    few = np.random.default_rng(1).random(len(values)) < 0.6  # groups of different sizes
    values, groups = values[few], groups[few]
    fit = api.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    theirs = fit.conf_int(1 - level)[0]
    assert_allclose(clustered(values, groups, level), theirs, rtol=1e-12)


@given(seed=st.integers(0, 999), level=st.sampled_from([0.5, 0.95, 0.975]))
def test_groups_of_one_row_are_independent_rows(seed, level):
    values = np.random.default_rng(seed).exponential(size=30)
    ends = clustered(values, np.arange(30), level)
    assert_allclose(ends, plain(values, level), rtol=1e-12)
    assert_allclose(effective_rows(values, np.arange(30), level), 30, rtol=1e-12)


@given(seed=st.integers(0, 999), copies=st.integers(2, 9))
def test_a_row_that_is_copied_tells_no_more_than_once(seed, copies):
    values, groups = np.random.default_rng(seed).normal(size=20), np.arange(20)
    ends = clustered(values.repeat(copies), groups.repeat(copies))
    assert_allclose(ends, plain(values), rtol=1e-9)
    assert effective_rows(values.repeat(copies), groups.repeat(copies)) <= 20 * (1 + 1e-9)


def test_a_weight_of_2_is_the_row_twice_in_its_group():
    values, groups = patients(size=5)
    weight = np.random.default_rng(2).integers(1, 4, len(values))
    twice = clustered(values.repeat(weight), groups.repeat(weight))
    assert_allclose(clustered(values, groups, 0.95, weight.astype(float)), twice)
    worth = effective_rows(values.repeat(weight), groups.repeat(weight))
    assert_allclose(effective_rows(values, groups, 0.95, weight.astype(float)), worth)


def test_the_interval_covers_the_mean_of_new_patients_and_that_of_rows_does_not():
    covered = np.zeros(2)
    for seed in range(600):
        values, groups = patients(seed=seed)
        for k, (low, high) in enumerate((clustered(values, groups), plain(values))):
            covered[k] += low <= 0 <= high
    by_group, by_row = covered / 600
    assert abs(by_group - 0.95) < 0.03  # chance has 0.009
    assert by_row < 0.5


def test_one_group_tells_nothing():
    values, groups = patients(n_groups=1)
    assert clustered(values, groups) == (-np.inf, np.inf)
    assert effective_rows(values, groups) == 0.0


def test_rows_of_a_group_are_worth_less_the_more_alike_they_are():
    alone, alike = (effective_rows(*patients(spread=spread)) for spread in (0.0, 2.0))
    fewer = (student_quantile(0.95, 479) / student_quantile(0.95, 11)) ** 2
    assert 12 * fewer <= alike < 30 < 200 < alone <= 480 * fewer
    values, groups = patients()
    assert effective_rows(np.zeros_like(values), groups) == pytest.approx(12 * fewer)
    assert rows_at_worst(groups) == pytest.approx(12)
    assert rows_at_worst(np.array([0, 0, 0, 1])) == pytest.approx(1.6)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_as_often_as_they_say(level):
    draws = np.random.default_rng(1).exponential(size=(2000, 80))
    covered = [low <= 1.0 <= high for low, high in (plain(d, level) for d in draws)]
    # skew costs about 0.02 at n = 80; chance 0.01
    assert abs(np.mean(covered) - level) < 0.03


def test_wilsons_interval_is_that_of_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for right in (0, 4, 17, 40):
        theirs = proportion.proportion_confint(right, 40, alpha=0.1, method="wilson")
        assert_allclose(wilson(right / 40, 40, 0.9), theirs, atol=1e-12)
