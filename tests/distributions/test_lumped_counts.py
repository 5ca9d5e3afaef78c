"""Sides that are merged leave the model of the others as it is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.distributions.complement import Complement
from likely.distributions.lumped_counts import LumpedColumns, LumpedCounts
from likely.distributions.multinomial import Multinomial, MultinomialStatistics
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.distributions.smoothing import UNSEEN, components_with


def counts_and_lumped(chosen):
    counts = np.random.default_rng(0).poisson(0.7, (3, 40)).astype(float)
    others = np.setdiff1d(np.arange(40), chosen)
    raised = float((components_with(counts[:, others]) + UNSEEN).sum())
    lumped = LumpedCounts.of(counts[:, chosen], counts[:, others].sum(axis=1), raised)
    return MultinomialStatistics(counts), lumped


@pytest.mark.parametrize("family", [Multinomial, Complement])
@pytest.mark.parametrize("chosen", [[3, 0, 17], list(range(40)), []], ids=["some", "all", "none"])
@pytest.mark.parametrize("how", ["imagined", "imagined_as_chosen"])
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
        imagined = given.imagined_as_chosen(Multinomial, alpha, (3, len(alpha)))
        member = Multinomial.from_statistics(given + imagined)
        assert_allclose(member.probability[2], expected, rtol=1e-12)


def test_pseudo_counts_are_added_in_place():
    """Tables of words are large: their own counts are not changed, those of the prior are."""
    whole, lumped = counts_and_lumped(np.array([1, 2]))
    for given in (whole, lumped):
        own = given.imagined_as_chosen(Multinomial, np.ones(3), (3, 3))
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
    prior = whole.imagined(Multinomial, 0.5, (3, 40))
    total = whole.add_into(prior)
    assert_allclose(total.counts, whole.counts + 0.5)
    assert (prior.counts == 0.5).all()


def test_the_family_of_merged_columns_has_one_more():
    columns = tuple(range(40))
    whole = ProductFamily((ProductPart(Multinomial, Selection(False, columns, columns, True)),))
    narrow = LumpedColumns(np.array([5, 7])).family(whole)
    assert narrow.n_features == 3 and narrow.parts[0].family is Multinomial
