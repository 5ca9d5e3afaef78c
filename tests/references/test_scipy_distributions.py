"""Log-densities and their moments equal SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely import DiscriminantAnalysis
from likely.distributions import (
    Bernoulli,
    DiagonalGaussian,
    Exponential,
    FullGaussian,
    JointTable,
    Laplace,
    Multinomial,
    Poisson,
    categorical_family,
    normal_cdf,
    normal_quantile,
)
from likely.distributions.categorical import Categorical
from likely.numerics.cholesky import inverse_root

CLOSE = {"rtol": 1e-13, "atol": 1e-13}
RNG = np.random.default_rng(0)
K, D = 3, 4
A, B = RNG.normal(size=(K, D)), RNG.uniform(0.2, 5, size=(K, D))
P = RNG.uniform(0.05, 0.95, size=(K, D))
REAL, COUNTS = RNG.normal(size=(50, D)) * 3, RNG.poisson(3.0, size=(50, D)).astype(float)
BINARY = RNG.integers(0, 2, size=(50, D)).astype(float)
PHI = RNG.dirichlet(np.ones(D), size=K)

PAIRS = {
    "bernoulli": (Bernoulli(P), BINARY, stats.bernoulli(P).logpmf),
    "gaussian": (DiagonalGaussian(A, B), REAL, stats.norm(A, np.sqrt(B)).logpdf),
    "laplace": (Laplace(A, B), REAL, stats.laplace(A, B).logpdf),
    "poisson": (Poisson(B), COUNTS, stats.poisson(B).logpmf),
    "exponential": (Exponential(B), np.abs(REAL), stats.expon(scale=B).logpdf),
}


@pytest.mark.parametrize("name", PAIRS)
def test_products_of_univariate_densities(name):
    ours, X, theirs = PAIRS[name]
    assert_allclose(ours.log_prob(X), theirs(X[:, None, :]).sum(axis=2), **CLOSE)


@pytest.mark.parametrize("name", PAIRS)
def test_means_and_variances(name):
    ours, _, theirs = PAIRS[name]
    assert_allclose(ours.mean, theirs.__self__.mean(), **CLOSE)
    assert_allclose(ours.variance, theirs.__self__.var(), **CLOSE)


def test_multinomial_with_and_without_its_coefficient():
    ours = Multinomial.from_probability(PHI)
    theirs = np.stack([stats.multinomial(COUNTS.sum(axis=1), p).logpmf(COUNTS) for p in PHI], 1)
    assert_allclose(ours.log_prob(COUNTS), theirs, rtol=1e-12)  # sums of log Γ cancel
    assert_allclose(ours.log_score(COUNTS), COUNTS @ np.log(PHI).T, **CLOSE)


def test_multinomial_of_one_throw_is_categorical():
    one_throw = Multinomial.from_probability(PHI).log_prob(np.eye(D))
    codes = np.arange(D, dtype=np.int32)[:, None]
    assert_allclose(one_throw, Categorical.from_probability(PHI).log_prob(codes), **CLOSE)
    table = JointTable(Categorical.from_probability(PHI), (2, 2))
    pairs = np.stack(np.unravel_index(np.arange(D), (2, 2)), axis=1)
    assert_allclose(table.log_prob(pairs), one_throw, **CLOSE)
    family = categorical_family(D)
    natural = family.natural(PHI[:, None, :-1])
    member = type(family.from_statistics(family.pseudo_statistics(1.0, (K, 1))))(family, natural)
    assert_allclose(member.log_prob(codes.astype(float)), one_throw, rtol=1e-12)


def covariances(n=K, d=D):
    roots = np.random.default_rng(1).normal(size=(n, d, d + 2))
    return roots @ np.swapaxes(roots, 1, 2)


def test_full_gaussians():
    """A condition number of 1e3 costs three digits of 16."""
    S = covariances()
    theirs = np.stack([stats.multivariate_normal(A[k], S[k]).logpdf(REAL) for k in range(K)], 1)
    assert_allclose(FullGaussian.from_covariance(A, S).log_prob(REAL), theirs, rtol=1e-11)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_gaussians_of_every_shape_are_fitted_and_have_scipys_density(covariance):
    """DIST-5, through the public estimator: Σ̂ by NumPy, the density by SciPy, draws with Σ̂."""
    y = np.arange(50) % 2
    X = np.random.default_rng(2).normal(size=(50, 3)) @ covariances(1, 3)[0] / 3 + y[:, None]
    model = DiscriminantAnalysis(covariance=covariance).fit(X, y)
    each = [np.cov(X[y == k], rowvar=False, ddof=0) for k in range(2)]
    if covariance == "tied":
        each = [np.mean(each, axis=0)] * 2
    elif covariance == "diagonal":
        each = [np.diag(np.diag(S)) for S in each]
    elif covariance == "spherical":
        each = [np.eye(3) * np.trace(S) / 3 for S in each]
    theirs = [stats.multivariate_normal(X[y == k].mean(axis=0), each[k]) for k in range(2)]
    new = X[:7] + 0.3
    expected = np.stack([each.logpdf(new) for each in theirs], axis=1) + np.log(0.5)
    assert_allclose(model.predict_joint_log_proba(new), expected, rtol=1e-9)
    assert_allclose(model.distribution_.log_prob(new), expected - np.log(0.5), rtol=1e-9)
    drawn, label = model.sample(20_000, random_state=3)
    spread = np.cov(drawn[label == 1], rowvar=False)
    error = np.sqrt((np.outer(np.diag(each[1]), np.diag(each[1])) + each[1] ** 2) / 10_000)
    assert (np.abs(spread - each[1]) < 5 * error).all()


def test_full_gaussians_with_missing_cells_are_marginals():
    S = covariances()
    ours = FullGaussian(A, S).log_prob(np.where(BINARY == 1, np.nan, REAL))
    for row, seen, x in zip(ours, BINARY == 0, REAL, strict=True):
        for k in range(K):
            if not seen.any():
                assert row[k] == 0.0
                continue
            marginal = stats.multivariate_normal(A[k, seen], S[k][np.ix_(seen, seen)])
            assert_allclose(row[k], marginal.logpdf(x[seen]), rtol=1e-10, atol=1e-10)


def test_a_diagonal_covariance_is_a_product():
    full = FullGaussian(A, np.stack([np.diag(v) for v in B]))
    assert_allclose(full.log_prob(REAL), DiagonalGaussian(A, B).log_prob(REAL), **CLOSE)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_a_singular_covariance_is_used_on_its_range(scale):
    """SciPy takes the pseudo-inverse and the product of the non-zero eigenvalues."""
    root = A[:2].T * scale
    S = root @ root.T
    X = REAL[:, :2] @ root.T
    theirs = stats.multivariate_normal(np.zeros(D), S, allow_singular=True)
    ours = FullGaussian(np.zeros((1, D)), S[None])
    assert ours.singular
    assert inverse_root(S).rank == 2
    assert_allclose(inverse_root(S).log_determinant, theirs.cov_object.log_pdet, rtol=1e-9)
    assert_allclose(ours.log_prob(X)[:, 0], theirs.logpdf(X), rtol=1e-6)


def test_the_standard_normal():
    z = np.linspace(-38, 38, 400)
    assert_allclose(normal_cdf(z), stats.norm.cdf(z), **CLOSE)
    p = np.concatenate([np.geomspace(1e-300, 0.5, 50), [0.9, 1 - 1e-10]])
    assert_allclose(normal_quantile(p), stats.norm.ppf(p), **CLOSE)
    assert_allclose(normal_cdf(normal_quantile(p)), p, rtol=1e-11)
    assert normal_quantile(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]
