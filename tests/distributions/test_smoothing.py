"""The leave-one-out likelihood of counts: brute force, collapse, the best strength."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import gammaln

from likely.distributions import Bernoulli, CategoricalFamily, Complement, Multinomial, Poisson
from likely.distributions.multinomial import MultinomialStatistics
from likely.distributions.poisson import PoissonStatistics
from likely.distributions.responsibility import Labels
from likely.distributions.smoothing import (
    LARGEST,
    SMALLEST,
    CountTables,
    WordCounts,
    best_smoothing,
)
from tests.event_models import SIZES, codes

alphas = st.floats(0.01, 20)
few = settings(max_examples=10)


def left_out(family, X, labels, alpha, n_features):
    """Σ_i log p(x_i | all rows but i), refitting each time."""
    total = 0.0
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        statistics = family.statistics(X[others], Labels(labels[others], 2))
        prior = family.pseudo_statistics(alpha, (2, n_features))
        member = family.from_statistics(statistics + prior)
        total += member.log_score(X[[i]])[0, labels[i]]
    return total


@few
@given(seed=st.integers(0, 99), alpha=alphas)
def test_multinomial_leaves_out_one_token(seed, alpha):
    rng = np.random.default_rng(seed)
    tokens, labels = np.eye(4)[rng.integers(0, 4, 25)], rng.integers(0, 2, 25)
    closed = Multinomial.leave_one_out(Multinomial.statistics(tokens, Labels(labels, 2)), alpha)
    assert_allclose(closed, left_out(Multinomial, tokens, labels, alpha, 4), rtol=1e-9)
    assert closed == Complement.leave_one_out(
        Complement.statistics(tokens, Labels(labels, 2)), alpha
    )


@few
@given(seed=st.integers(0, 99), alpha=alphas)
def test_bernoulli_leaves_out_one_row(seed, alpha):
    rng = np.random.default_rng(seed)
    X, labels = rng.integers(0, 2, (20, 3)).astype(float), rng.integers(0, 2, 20)
    closed = Bernoulli.leave_one_out(Bernoulli.statistics(X, Labels(labels, 2)), alpha)
    assert_allclose(closed, left_out(Bernoulli, X, labels, alpha, 3), rtol=1e-9)


@few
@given(seed=st.integers(0, 99), alpha=alphas)
def test_categorical_leaves_out_one_row(seed, alpha):
    rng = np.random.default_rng(seed)
    X, labels, family = codes(rng, 20), rng.integers(0, 2, 20), CategoricalFamily(SIZES)
    closed = family.leave_one_out(family.statistics(X, Labels(labels, 2)), alpha)
    assert_allclose(closed, left_out(family, X, labels, alpha, 3), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 8.0])
def test_poisson_integrates_the_rate_out(alpha):
    """∫ Π p(x_i | λ) Gamma(λ; αm, α) dλ on a grid, for each of two cells; log x! apart."""
    x = np.array([[0.0, 3.0], [2.0, 4.0], [1.0, 2.0]])
    rate = np.linspace(1e-7, 60, 2_000_001)
    marginal = 0.0
    for column in x.T:
        log_likelihood = column.sum() * np.log(rate) - len(column) * rate
        prior = stats.gamma(alpha * column.mean(), scale=1 / alpha)  # its mean is the feature's
        density = np.exp(log_likelihood + prior.logpdf(rate))
        marginal += np.log(density.sum() * (rate[1] - rate[0]))
    closed = Poisson.leave_one_out(Poisson.statistics(x, np.ones((3, 1))), alpha)
    assert_allclose(closed, marginal, atol=1e-4)


def test_poisson_with_gaps_counts_each_cell_by_its_own_examples():
    events, weight = np.array([[3.0, 0.0], [2.0, 3.0]]), np.array([[4.0, 2.0], [4.0, 4.0]])
    whole = Poisson.leave_one_out(PoissonStatistics(events, weight), 0.7)
    shape = 0.7 * np.array([5 / 8, 3 / 6])  # the means of the features
    cells = gammaln(events + shape) - gammaln(shape) + shape * np.log(0.7)
    assert_allclose(whole, np.sum(cells - (events + shape) * np.log(weight + 0.7)))


def test_equal_counts_are_collapsed():
    tables = CountTables.of([np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 0.0]]), np.array([[2.0, 0.0]])])
    assert tables.count.tolist() == [1.0, 2.0]
    assert tables.count_times.tolist() == [2, 2]
    assert sorted(zip(tables.total, tables.size, tables.total_times, strict=True)) == [
        (2.0, 2.0, 1),
        (2.0, 3.0, 2),
    ]


def test_a_large_table_is_collapsed_to_its_few_distinct_counts():
    counts = np.random.default_rng(0).poisson(0.05, (20, 20_000)).astype(float)
    statistics = MultinomialStatistics(counts)
    assert len(statistics.tables.count) < 10
    assert statistics.tables is statistics.tables  # sorted once, whatever α is tried


def test_fractional_counts_below_1_leave_nothing_behind():
    tables = CountTables.of([np.array([[0.4, 0.0]])])
    assert_allclose(tables.leave_one_out(0.5), 0.4 * np.log(0.5 / 1.0))


@pytest.mark.parametrize("true", [0.1, 1.0, 30.0])
def test_the_chosen_strength_beats_its_neighbours_and_follows_the_data(true):
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(50, true), size=20)
    statistics = MultinomialStatistics(rng.multinomial(400, phi).astype(float))

    def value(alpha):
        return Multinomial.leave_one_out(statistics, alpha)

    best = best_smoothing(value)
    for factor in (0.1, 0.9, 0.999, 1.001, 1.1, 10.0):
        assert value(best) >= value(best * factor)
    assert true / 3 < best < true * 3


@pytest.mark.parametrize(("peak", "found"), [(2.5e-3, 2.5e-3), (1e-9, SMALLEST), (1e7, LARGEST)])
def test_the_search_finds_the_peak_or_the_nearest_end(peak, found):
    best = best_smoothing(lambda alpha: -((np.log(alpha) - np.log(peak)) ** 2))
    assert_allclose(best, found, rtol=1e-5)


@few
@given(seed=st.integers(0, 99), share=st.floats(0.01, 5))
def test_words_are_smoothed_by_those_of_other_components(seed, share):
    """LOO(r) by hand: each token left out of its component's counts, and of the spread."""
    rng = np.random.default_rng(seed)
    tokens, labels = rng.integers(0, 6, 40), rng.integers(0, 3, 40)
    counts = np.zeros((3, 7))
    np.add.at(counts, (labels, tokens), 1)
    total = 0.0
    for token, label in zip(tokens, labels, strict=True):
        left = counts.copy()
        left[label, token] -= 1
        spread = (left > 0).sum(axis=0) + 0.5
        throws = max(left[label].sum(), 1)
        pseudo = share * throws * spread[token] / spread.sum()
        total += np.log((left[label, token] + pseudo) / (throws * (1 + share)))
    assert_allclose(WordCounts.of(counts).leave_one_out(share), total, rtol=1e-9)


def test_pseudo_counts_of_words_are_a_share_of_the_counts():
    statistics = MultinomialStatistics(np.array([[8.0, 2.0, 0.0], [0.0, 5.0, 0.0], [0.0] * 3]))
    alpha = statistics.chosen_smoothing(Multinomial, 3)
    assert_allclose(alpha / alpha.sum(), np.array([1.5, 2.5, 0.5]) / 4.5)
    pseudo = statistics.prior_statistics_as_chosen(Multinomial, alpha, (3, 3)).counts
    assert_allclose(pseudo, np.outer([10.0, 5.0, 1.0], alpha))
    fitted = Multinomial.from_statistics(statistics + MultinomialStatistics(pseudo))
    assert_allclose(fitted.probability[2], alpha / alpha.sum())
    assert_allclose(
        fitted.log_probability[:2, 2],
        fitted.log_probability[2, 2] + np.log(alpha.sum() / (1 + alpha.sum())),
    )


def test_the_share_of_word_counts_is_the_best_one():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.3, 3.0, (5, 200)))
    words = WordCounts.of(counts.astype(float))
    best = best_smoothing(words.leave_one_out)
    assert all(words.leave_one_out(best) >= words.leave_one_out(best * f) for f in (0.9, 1.1))
