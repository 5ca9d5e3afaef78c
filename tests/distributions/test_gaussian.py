"""Diagonal Gaussians: both divisors, large means, spherical, floors, priors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.distributions.full_gaussian import FullFamily
from likely.distributions.gaussian import DiagonalFamily, DiagonalGaussian
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput
from likely.numerics.additive import FAST_CELLS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) * [1.0, 5.0, 0.1] + [0.0, 3.0, -9.0]
ALL = np.ones((30, 1))


def fit(family, X=X, r=ALL):
    return family.from_statistics(family.statistics(X, r))


@pytest.mark.parametrize("ddof", [0, 1])
def test_both_divisors_agree_with_numpy(ddof):
    member = fit(DiagonalFamily(ddof=ddof))
    assert_allclose(member.mean[0], X.mean(axis=0))
    assert_allclose(member.variance[0], X.var(axis=0, ddof=ddof))
    assert_allclose(member.covariance[0], np.diag(X.var(axis=0, ddof=ddof)))


@pytest.mark.parametrize("ddof", [0, 1])
def test_spherical_pools_the_features_of_a_component(ddof):
    member = fit(DiagonalFamily(spherical=True, ddof=ddof))
    assert_allclose(member.variance, X.var(axis=0, ddof=ddof).mean())
    assert member.n_parameters == 4


def test_the_three_optimisers_coincide_on_a_grid():
    """EST-1, EST-6: the variance over n maximises ℓ and L and minimises −ℓ."""
    x = X[:10, :1]
    variances = np.append(np.linspace(0.2, 3, 200), x.var())
    ell = np.array(
        [
            DiagonalGaussian(x.mean()[None, None], np.array([[v]])).log_prob(x).sum()
            for v in variances
        ]
    )
    best = fit(DiagonalFamily(), x, ALL[:10]).variance[0, 0]
    assert_allclose(variances[[ell.argmax(), np.exp(ell).argmax(), (-ell).argmin()]], best)


def test_the_log_likelihood_stays_finite_where_the_likelihood_underflows():
    """EST-1, at N = 10⁵."""
    x = np.random.default_rng(0).normal(size=(100_000, 1))
    member = fit(DiagonalFamily(), x, np.ones((100_000, 1)))
    ell = member.log_prob(x)
    assert np.prod(np.exp(ell)) == 0.0
    assert_allclose(
        ell.sum(), member.log_likelihood_of(DiagonalFamily().statistics(x, np.ones((100_000, 1))))
    )


@given(seed=st.integers(0, 99))
def test_the_variance_survives_a_large_mean(seed):
    """10⁸ ± 1: raw moments would be off by 30."""
    rng = np.random.default_rng(seed)
    x = 1e8 + rng.choice([-1.0, 1.0], size=(1000, 2))
    family, cut = DiagonalFamily(), int(rng.integers(1, 999))
    blocks = [family.statistics(part, np.ones((len(part), 1))) for part in (x[:cut], x[cut:])]
    assert_allclose(
        family.from_statistics(blocks[0] + blocks[1]).variance[0], (x - 1e8).var(axis=0), rtol=1e-9
    )


def test_the_fast_path_survives_a_large_mean():
    n = FAST_CELLS // 2
    x = 1e8 + np.random.default_rng(0).choice([-1.0, 1.0], size=(n, 2))
    member = fit(DiagonalFamily(), x, Labels(np.arange(n) % 2, 2))
    expected = [(x[k::2] - 1e8).var(axis=0) for k in range(2)]
    assert_allclose(member.variance, expected, rtol=1e-9)


def test_the_weighted_form_centres_on_the_weighted_mean():
    r = RNG.dirichlet(np.ones(2), size=30)
    member = fit(DiagonalFamily(), X, r)
    for k in range(2):
        mean = np.average(X, axis=0, weights=r[:, k])
        assert_allclose(member.variance[k], np.average((X - mean) ** 2, axis=0, weights=r[:, k]))


def test_a_floor_is_a_maximum_not_an_addition():
    variance = X.var(axis=0)
    assert_allclose(fit(DiagonalFamily(floor=0.5)).variance[0], variance)
    assert_allclose(fit(DiagonalFamily(floor=2.0)).variance[0], 2 * variance)
    spherical = fit(DiagonalFamily(floor=2.0, spherical=True)).variance[0]
    assert_allclose(spherical, 2 * variance.max())


def test_the_prior_is_imagined_examples_of_a_given_variance():
    family = DiagonalFamily()
    prior = family.pseudo_statistics(4.0, (1, 3), scale=np.array([1.0, 2.0, 3.0]))
    member = family.from_statistics(family.statistics(X, ALL) + prior)
    expected = (30 * X.var(axis=0) + 4 * np.array([1.0, 2.0, 3.0])) / 34
    assert_allclose(member.variance[0], expected)
    assert_allclose(member.mean[0], X.mean(axis=0))


@pytest.mark.parametrize("spherical", [False, True])
def test_too_few_examples_fall_back_to_all_of_them(spherical):
    family = DiagonalFamily(spherical=spherical, ddof=1)
    labels = Labels(np.append(np.zeros(29, int), 1), 3)
    member = fit(family, X, labels)
    alone, pooled = member.variance[1], family.statistics(X, labels).pooled_variance()
    assert_allclose(alone, pooled.mean() if spherical else pooled)
    assert_allclose(member.variance[2], alone)  # no example at all


@pytest.mark.parametrize("spherical", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8 / 3])
def test_a_constant_feature_is_left_out_of_the_density(spherical, constant):
    family, r = DiagonalFamily(spherical, shrinkage=0.25), RNG.dirichlet(np.ones(2), size=30)
    wide = np.column_stack([X[:, :1], np.full(30, constant), X[:, 1:]])
    member, plain = fit(family, wide, r), fit(family, X, r)
    assert_array_equal(member.left_out(), [False, True, False, False])
    assert_array_equal(member.variance[:, 1], 0.0)
    moved = wide + np.array([0.0, 5.0, 0.0, 0.0])
    for rows in (wide, moved):
        assert_allclose(member.log_prob(rows), plain.log_prob(X), rtol=1e-12)
        assert_allclose(member.contributions(rows).sum(axis=1), plain.log_prob(X), rtol=1e-12)
    assert_array_equal(member.contributions(moved)[:, 1], 0.0)
    form = member.linear_form()
    assert_allclose(
        np.hstack([moved, moved**2]) @ form.coef.T + form.intercept, plain.log_prob(X), rtol=1e-9
    )
    statistics = DiagonalFamily().statistics(wide, r)
    assert_allclose(member.log_likelihood_of(statistics), np.sum(r * plain.log_prob(X)), rtol=1e-12)
    assert member.n_parameters == plain.n_parameters
    assert member.joint_shape() == plain.joint_shape()
    assert not member.hardly_varying(np.log([0.5, 0.5])).any()
    assert_allclose(member.sample(np.zeros(4, int), RNG)[:, 1], constant, rtol=1e-15)


@pytest.mark.parametrize("family", [DiagonalFamily(), FullFamily()], ids=["diagonal", "full"])
@pytest.mark.parametrize("n", [30, FAST_CELLS])
def test_squares_that_underflow_are_refused(family, n):
    x = np.random.default_rng(0).normal(size=(n, 1))
    labels = Labels(np.zeros(n, np.int64), 1)
    with pytest.raises(InvalidInput, match=r"underflow.*Multiply"):
        family.statistics(1e-200 * x, labels)
    with pytest.raises(InvalidInput, match=r"overflow.*Divide"):
        family.statistics(1e200 * x, labels)
    light = Labels(np.zeros(n, np.int64), 1, np.full(n, 1e-300))
    family.statistics(x, light)
    family.statistics(np.full((n, 1), 1e-200), labels)


def test_the_linear_form_is_in_x_and_its_square():
    member = fit(DiagonalFamily(), X, RNG.dirichlet(np.ones(2), size=30))
    form = member.linear_form()
    assert form.terms == "x, x²"
    assert_allclose(
        np.hstack([X, X**2]) @ form.coef.T + form.intercept, member.log_prob(X), rtol=1e-9
    )


def test_sparse_and_infinite_features_are_refused():
    with pytest.raises(InvalidInput, match=r"dense array; found a sparse matrix.*toarray"):
        DiagonalFamily().check(sparse.csr_array(np.eye(2)))
    with pytest.raises(InvalidInput, match=r"column 0: found inf"):
        DiagonalFamily().statistics(np.array([[np.inf]]), np.ones((1, 1)))
