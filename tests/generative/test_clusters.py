"""Several starts: the best is kept, ties go to the first, collapse is passed over."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.distributions import CategoricalFamily, DiagonalFamily, FullFamily
from likely.errors import InvalidInput
from likely.generative.clusters import (
    MOST_WEIGHT,
    MixtureProblem,
    _best,
    aic,
    best_by_bic,
    bic,
    fit_clusters,
    pooled_totals,
)
from likely.generative.starts import draw_subset


def problem(X, family=None, regularisation=1e-6, tol=1e-8):
    family = FullFamily() if family is None else family
    blocks = ArrayBlocks(Dense(X))
    pooled = pooled_totals(family, blocks, Serial())
    return MixtureProblem(family, blocks, Serial(), pooled, 0.0, regularisation, tol, 500)


def solved(X, k, n_init=3, seed=0, **options):
    given = problem(X, **options)
    subset = draw_subset(given.blocks, given.family)
    return fit_clusters(given, subset, k, n_init, np.random.default_rng(seed))


def some_rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 3.0 * rng.integers(0, 2, (n, 1))


def test_the_best_start_is_kept_and_all_are_remembered():
    found = solved(some_rows(), 3, n_init=6)
    ends = [trace[-1] for trace in found.traces]
    assert len(ends) >= 6
    assert -found.solution.trace[-1] >= max(ends) - 1e-6


def test_starts_that_end_in_the_same_place_are_a_tie_that_the_first_wins():
    one = solved(some_rows(), 2, n_init=1)
    higher = replace(one, traces=((one.traces[0][-1] * (1 - 1e-13),),))
    better = replace(one, traces=((one.traces[0][-1] + 1.0,),))
    assert _best([one, higher]) is one
    assert _best([one, higher, better]) is better


def test_the_prior_has_the_units_of_the_data():
    X = some_rows() * [1.0, 1000.0]
    pooled = pooled_totals(DiagonalFamily(), ArrayBlocks(Dense(X)), Serial()).statistics
    prior = pooled.component_prior(DiagonalFamily(), 3, 0.0, 6.0, strong=False)
    assert_allclose(prior.scatter / 6.0, np.tile(X.var(axis=0), (3, 1)))
    strong = pooled.component_prior(DiagonalFamily(), 3, 0.0, 6.0, strong=True)
    assert_allclose(strong.scatter, 4.0 * X.var(axis=0) / 3 + np.zeros((3, 1)))


def test_a_family_of_counts_has_imagined_counts_for_a_prior():
    family, alpha = CategoricalFamily((2,)), np.array([1.5])
    pooled = family.statistics(np.zeros((3, 1), dtype=int), np.ones((3, 1)))
    prior = pooled.component_prior(family, 2, alpha, 6.0, strong=True)
    assert_allclose(prior.counts, family.pseudo_statistics(alpha, (2, 1)).counts)


def test_collapsed_components_are_named():
    X = np.vstack([some_rows(), np.full((10, 2), 9.0)])
    given = problem(X)
    family, prior = given.family, given.prior(2)
    r = np.zeros((70, 2))
    r[:60, 0], r[60:, 1] = 1.0, 1.0
    assert family.statistics(X, r).collapsed(family, prior) == (1,)
    r[:, :] = 0.5
    assert family.statistics(X, r).collapsed(family, prior) == ()


@pytest.mark.parametrize("family", [FullFamily(), DiagonalFamily()], ids=["full", "diagonal"])
def test_a_column_of_few_values_collapses_a_component_along_it(family):
    X = some_rows()
    X = np.c_[X[:, 0], np.arange(60) % 2]
    r = np.eye(2)[np.arange(60) % 2]
    pooled = DiagonalFamily().statistics(X, np.ones((60, 1)))
    prior = pooled.component_prior(family, 2, 0.0, 1e-6 * 60, strong=False)
    assert family.statistics(X, r).collapsed(family, prior) == (0, 1)
    strong = pooled.component_prior(family, 2, 0.0, 0.01 * 60, strong=False)
    assert family.statistics(X, r).collapsed(family, strong) == ()


def test_a_repeated_column_is_no_collapse():
    X = some_rows()
    X = np.c_[X, X[:, 0]]
    family, r = FullFamily(), np.eye(2)[np.arange(60) // 30]
    pooled = DiagonalFamily().statistics(X, np.ones((60, 1)))
    prior = pooled.component_prior(family, 2, 0.0, 1e-6 * 60, strong=False)
    assert family.statistics(X, r).collapsed(family, prior) == ()


def test_collapse_in_every_start_ends_in_a_stronger_prior():
    found = solved(np.repeat([[0.0, 0.0], [3.0, 1.0]], 10, axis=0), 2)
    assert found.collapsed == (0, 1)
    assert len(found.traces) == 3 * 3 + 1
    assert np.linalg.det(found.components.distribution.covariance).min() > 1e-4


def test_criteria():
    assert_allclose(bic(-10.0, 3, 100.0), 20 + 3 * np.log(100))
    assert aic(-10.0, 3) == 26.0
    fits = {k: solved(some_rows(), k, n_init=1) for k in (1, 2, 3)}
    best, path = best_by_bic(fits.__getitem__, 60.0, 3)
    assert best is fits[int(path.argmin()) + 1]


def test_the_largest_and_smallest_weights_are_accepted_and_those_beyond_refused():
    X = some_rows()
    for accepted in (MOST_WEIGHT, 1 / MOST_WEIGHT):
        blocks = ArrayBlocks(Dense(X), weight=np.full(60, accepted))
        assert np.isfinite(pooled_totals(DiagonalFamily(), blocks, Serial()).count).all()
    for refused in (1.1e100, 0.9e-100):
        blocks = ArrayBlocks(Dense(X), weight=np.full(60, refused))
        with pytest.raises(InvalidInput, match=r"weights between 1e-100 and 1e\+100, or 0, were"):
            pooled_totals(DiagonalFamily(), blocks, Serial())
