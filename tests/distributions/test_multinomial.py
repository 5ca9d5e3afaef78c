"""Multinomial counts: one multiplier per class, the coefficient, smoothing, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from likely.distributions.complement import Complement
from likely.distributions.multinomial import (
    LumpedColumns,
    LumpedCounts,
    Multinomial,
    MultinomialStatistics,
)
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.distributions.responsibility import Labels
from likely.distributions.smoothing import UNSEEN, components_with
from likely.errors import InvalidInput

RNG = np.random.default_rng(0)
X = RNG.poisson([3.0, 0.2, 1.0, 0.7], (60, 4)).astype(float)
LABELS = Labels(RNG.integers(0, 3, 60), 3)


def test_each_class_has_its_multiplier():
    """EST-3: λ_k is the number of throws of class k, and the rows of φ sum to 1."""
    statistics = Multinomial.statistics(X, LABELS)
    words = [X[LABELS.codes == k].sum() for k in range(3)]
    assert_array_equal(statistics.multipliers, words)
    assert_allclose(Multinomial.from_statistics(statistics).probability.sum(axis=1), 1.0)


def test_the_coefficient_does_not_move_the_maximum():
    statistics = Multinomial.statistics(X, LABELS)
    best = Multinomial.from_statistics(statistics)
    r = LABELS.dense()
    for p in RNG.dirichlet(np.ones(4), size=(50, 3)):
        other = Multinomial.from_probability(p)
        with_B = np.sum(r * (best.log_prob(X) - other.log_prob(X)))
        without = np.sum(r * (best.log_score(X) - other.log_score(X)))
        assert_allclose(with_B, without)
        assert with_B >= 0


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_smoothing_agrees_with_scikit_learn(alpha, layout):
    theirs = MultinomialNB(alpha=alpha).fit(X, LABELS.codes)
    prior = Multinomial.pseudo_statistics(alpha, (3, 4))
    ours = Multinomial.from_statistics(Multinomial.statistics(layout(X), LABELS) + prior)
    assert_allclose(ours.log_probability, theirs.feature_log_prob_, rtol=1e-12)
    assert_allclose(ours.log_prob(layout(X)), ours.log_prob(X), rtol=1e-12)


def test_smoothing_may_differ_by_side():
    """EST-4: with α_v the denominator has Σ_v α_v."""
    seen = MultinomialStatistics(np.array([[3.0, 0.0, 1.0]]))
    prior = Multinomial.pseudo_statistics(np.array([1.0, 2.0, 3.0]), (1, 3))
    phi = Multinomial.from_statistics(seen + prior).probability
    assert_allclose(phi, [[4 / 10, 2 / 10, 4 / 10]])


def test_an_unseen_word_has_a_little_and_an_empty_class_is_uniform():
    seen = MultinomialStatistics(np.array([[5.0, 0.0], [0.0, 0.0]]))
    prior = Multinomial.pseudo_statistics(0.5, (2, 2))
    assert_allclose(
        Multinomial.from_statistics(seen + prior).probability[0, 1], 0.5 / (2 * 0.5 + 5)
    )
    assert_allclose(Multinomial.from_statistics(seen + prior).probability[1], [0.5, 0.5])
    assert_allclose(Multinomial.from_statistics(seen).probability, [[1, 0], [0.5, 0.5]])


def test_samples_have_the_totals_asked_for():
    die = Multinomial.from_probability([[0.2, 0.8], [0.5, 0.5]])
    draws = die.sample(np.array([0, 1, 0]), np.random.default_rng(0), total=np.array([1, 10, 100]))
    assert_array_equal(draws.sum(axis=1), [1, 10, 100])


@pytest.mark.parametrize(
    ("value", "message"),
    [(-1.0, "Negative values.*found -1.*Gaussian"), (np.nan, "NaN.*Poisson"), (np.inf, "infinity")],
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_what_is_no_count_is_refused(layout, value, message):
    with pytest.raises(InvalidInput, match=message):
        Multinomial.check(layout(np.array([[1.0, value]])))


def test_a_broken_count_is_continued_by_the_gamma_function():
    die = Multinomial.from_probability([0.2, 0.8])
    broken = die.log_prob(np.array([[0.5, 1.5]]))[0, 0]
    low, high = die.log_prob(np.array([[0.0, 2.0]])), die.log_prob(np.array([[1.0, 1.0]]))
    assert min(low, high) - 1 < broken < max(low, high) + 1


# ── Sides that are merged leave the model of the others as it is ──────────────────────────────────


def counts_and_lumped(chosen):
    counts = np.random.default_rng(0).poisson(0.7, (3, 40)).astype(float)
    others = np.setdiff1d(np.arange(40), chosen)
    raised = float((components_with(counts[:, others]) + UNSEEN).sum())
    lumped = LumpedCounts.of(counts[:, chosen], counts[:, others].sum(axis=1), raised)
    return MultinomialStatistics(counts), lumped


@pytest.mark.parametrize("family", [Multinomial, Complement])
@pytest.mark.parametrize("chosen", [[3, 0, 17], list(range(40)), []], ids=["some", "all", "none"])
@pytest.mark.parametrize("how", ["prior_statistics", "prior_statistics_as_chosen"])
def test_the_chosen_sides_are_those_of_the_whole_table(family, chosen, how):
    chosen = np.array(chosen, dtype=np.int64)
    whole, lumped = counts_and_lumped(chosen)
    columns = LumpedColumns(chosen)
    alpha = np.linspace(0.01, 0.5, 40)
    narrow = columns.sums(alpha)
    assert_allclose(narrow.sum(), alpha.sum())
    fitted = [
        family.from_statistics(each + getattr(each, how)(family, a, (3, len(a)))).linear_form().coef
        for each, a in ((whole, alpha), (lumped, narrow))
    ]
    assert_allclose(fitted[1][:, :-1], fitted[0][:, chosen], rtol=1e-12)


def test_a_component_without_counts_has_the_spread_of_all_words():
    counts = np.array([[4.0, 1.0, 0.0, 2.0], [3.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    whole = MultinomialStatistics(counts)
    lumped = LumpedCounts.of(counts[:, :2], counts[:, 2:].sum(axis=1), 2 + 2 * UNSEEN)
    spread = np.array([2.5, 1.5, 1.5, 1.5]) / 7
    for given, alpha, expected in (
        (whole, 0.1 * spread, spread),
        (lumped, 0.1 * np.append(spread[:2], spread[2:].sum()), [2.5 / 7, 1.5 / 7, 3 / 7]),
    ):
        pseudo = given.prior_statistics_as_chosen(Multinomial, alpha, (3, len(alpha)))
        member = Multinomial.from_statistics(given + pseudo)
        assert_allclose(member.probability[2], expected, rtol=1e-12)


def test_pseudo_counts_are_added_in_place():
    """Tables of words are large: their own counts are not changed, those of the prior are."""
    whole, lumped = counts_and_lumped(np.array([1, 2]))
    for given in (whole, lumped):
        own = given.prior_statistics_as_chosen(Multinomial, np.ones(3), (3, 3))
        expected = (given + own).counts.copy()
        before = getattr(given, "counts", None)
        before = None if before is None else before.copy()
        total = given.add_into(own)
        assert total is own
        assert_allclose(total.counts, expected)
        if before is not None:
            assert_allclose(given.counts, before)


def test_pseudo_counts_that_are_views_are_not_overwritten():
    whole, _ = counts_and_lumped(np.array([1]))
    prior = whole.prior_statistics(Multinomial, 0.5, (3, 40))
    total = whole.add_into(prior)
    assert_allclose(total.counts, whole.counts + 0.5)
    assert (prior.counts == 0.5).all()


def test_the_family_of_merged_columns_has_one_more():
    columns = tuple(range(40))
    whole = ProductFamily((ProductPart(Multinomial, Selection(False, columns, columns, True)),))
    narrow = LumpedColumns(np.array([5, 7])).family(whole)
    assert narrow.n_features == 3 and narrow.parts[0].family is Multinomial
