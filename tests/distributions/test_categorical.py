"""Categorical features: the multiplier, samples, recoding, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from likely.distributions.categorical import Categorical, CategoricalFamily, CategoricalStatistics
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput

COUNTS = CategoricalStatistics(np.array([[4.0, 0.0, 6.0, 2.0, 8.0]]), (3, 2))


def test_the_multiplier_and_the_stationarity_residual():
    """EST-2: N_k/π_k = λ = N at the maximum, and not elsewhere."""
    best = Categorical.from_statistics(COUNTS)
    assert_array_equal(COUNTS.multipliers, [[10.0, 10.0]])
    assert best.stationarity(COUNTS) < 1e-9
    elsewhere = Categorical(np.log([[0.3, 0.3, 0.4, 0.5, 0.5]]), (3, 2))
    assert_allclose(elsewhere.stationarity(COUNTS), 8 / 0.5 - 10)


def test_no_point_of_the_simplex_is_more_likely():
    statistics = CategoricalStatistics(np.array([[3.0, 1.0, 6.0]]), (3,))
    best = Categorical.from_statistics(statistics).log_likelihood_of(statistics)
    for p in np.random.default_rng(0).dirichlet(np.ones(3), size=500):
        assert Categorical.from_probability(p).log_likelihood_of(statistics) <= best


def test_a_numerical_optimiser_finds_the_same_maximum():
    statistics = CategoricalStatistics(np.array([[3.0, 1.0, 6.0]]), (3,))
    found = minimize(
        lambda p: -Categorical.trusted(np.log(p)[None], (3,)).log_likelihood_of(statistics),
        np.full(3, 1 / 3),
        bounds=[(1e-6, 1)] * 3,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-12},
    )
    assert_allclose(found.x, Categorical.from_statistics(statistics).table(0)[0], atol=1e-5)


def test_sampled_frequencies_are_within_four_standard_errors():
    """DIST-2, at 10⁵ draws."""
    p, n = np.array([0.05, 0.2, 0.75]), 100_000
    draws = Categorical.from_probability(p).sample(np.zeros(n, int), np.random.default_rng(0))
    frequency = np.bincount(draws[:, 0], minlength=3) / n
    assert (np.abs(frequency - p) < 4 * np.sqrt(p * (1 - p) / n)).all()


def test_an_impossible_value_is_never_drawn_and_has_no_probability():
    die = Categorical.from_probability([0.5, 0.0, 0.5])
    draws = die.sample(np.zeros(1000, int), np.random.default_rng(0))
    assert set(draws[:, 0]) == {0, 2}
    assert die.log_prob(np.array([[1]]))[0, 0] == -np.inf


@pytest.mark.parametrize("p", [[0.5, 0.4], [1.5, -0.5]])
def test_what_does_not_sum_to_1_is_refused(p):
    with pytest.raises(InvalidInput, match=r"at least 0 and sum to 1.*Divide"):
        Categorical.from_probability(p)


def test_recoding_makes_room_for_new_categories():
    wider = COUNTS.recoded((np.array([0, 2, 3]), np.array([1, 0])), (4, 2))
    assert wider.sizes == (4, 2)
    assert_array_equal(wider.counts, [[4, 0, 0, 6, 8, 2]])


def test_smoothing_may_differ_by_feature():
    family = CategoricalFamily((3, 2))
    member = family.from_statistics(COUNTS + family.pseudo_statistics(np.array([1.0, 5.0]), (1, 2)))
    assert_allclose(member.table(0), [[5 / 13, 1 / 13, 7 / 13]])
    assert_allclose(member.table(1), [[7 / 20, 13 / 20]])


def test_a_feature_never_observed_is_uniform_and_one_without_values_is_silent():
    family = CategoricalFamily((2, 0))
    X = np.full((3, 2), -1, dtype=np.int32)
    member = family.from_statistics(family.statistics(X, Labels(np.zeros(3, int), 1)))
    assert_allclose(member.table(0), [[0.5, 0.5]])
    assert member.n_parameters == 1
    assert_array_equal(member.sample(np.zeros(2, int), np.random.default_rng(0))[:, 1], [-1, -1])
    assert_allclose(member.log_prob(X), 0.0)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
def test_narrow_codes_do_not_wrap(dtype):
    family = CategoricalFamily((100, 100))
    X = np.array([[99, 99], [0, 98]], dtype=dtype)
    counts = family.statistics(X, Labels(np.array([0, 0]), 1)).counts
    assert_array_equal(np.flatnonzero(counts[0]), [0, 99, 198, 199])


def test_codes_beyond_the_table_are_refused():
    with pytest.raises(InvalidInput, match=r"Feature 1 has categories 0 to 1; found 2\."):
        CategoricalFamily((3, 2)).check(np.array([[2, 2]]))
    CategoricalFamily((3, 2)).check(np.empty((0, 2), dtype=int))
