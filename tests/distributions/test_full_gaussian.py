"""Full and tied Gaussians: divisors, large means, shrinkage, the linear form, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from likely.distributions.full_gaussian import (
    FullFamily,
    FullGaussian,
)
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3)) + [1.0, 2.0, 3.0]
LABELS = Labels(RNG.integers(0, 2, 40), 2)
GROUPS = [X[LABELS.codes == k] for k in range(2)]

ROOT = np.random.default_rng(0).normal(size=(3, 5))


def fit(family, X=X, r=LABELS):
    return family.from_statistics(family.statistics(X, r))


@pytest.mark.parametrize("ddof", [0, 1])
def test_both_divisors_agree_with_numpy(ddof):
    """EST-6: numpy.cov; tied, the scatters are summed over n − K."""
    expected = [np.cov(group, rowvar=False, ddof=ddof) for group in GROUPS]
    assert_allclose(fit(FullFamily(ddof=ddof)).covariance, expected)
    within = sum(np.cov(g, rowvar=False, ddof=0) * len(g) for g in GROUPS) / (40 - 2 * ddof)
    tied = fit(FullFamily(tied=True, ddof=ddof))
    assert_allclose(tied.covariance, within[None])
    assert tied.tied


def test_the_covariance_survives_a_large_mean():
    x = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 4.0]], 20, axis=0)
    statistics = [
        FullFamily().statistics(1e8 + part, np.ones((len(part), 1))) for part in (x[:7], x[7:])
    ]
    member = FullFamily().from_statistics(statistics[0] + statistics[1])
    assert_allclose(member.covariance[0], np.cov(x, rowvar=False, ddof=0), rtol=1e-9)


def test_affine_sampling_reproduces_the_covariance():
    """DIST-5: within 4 standard errors, √((Σ_ii Σ_jj + Σ_ij²)/n) for each cell."""
    n, S = 100_000, np.array([[2.0, -1.0], [-1.0, 3.0]])
    member = FullGaussian.from_covariance([1.0, -1.0], S)
    draws = member.sample(np.zeros(n, int), np.random.default_rng(0))
    error = np.sqrt((np.outer(np.diag(S), np.diag(S)) + S**2) / n)
    assert (np.abs(np.cov(draws, rowvar=False) - S) < 4 * error).all()


def test_shrinkage_keeps_the_trace_and_ends_at_a_sphere():
    plain, some, all_ = (fit(FullFamily(shrinkage=s)).covariance[0] for s in (0.0, 0.3, 1.0))
    sphere = np.trace(plain) / 3 * np.eye(3)
    assert_allclose(some, 0.7 * plain + 0.3 * sphere)
    assert_allclose(all_, sphere, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_the_prior_is_imagined_examples_of_a_given_variance(tied):
    family = FullFamily(tied=tied)
    prior = family.pseudo_statistics(5.0, (2, 3), scale=np.array([1.0, 2.0, 3.0]))
    member = family.from_statistics(family.statistics(X, LABELS) + prior)
    n = np.array([40.0]) if tied else np.array([len(g) for g in GROUPS], dtype=float)
    expected = (n[:, None, None] * fit(family).covariance + 5 * np.diag([1.0, 2.0, 3.0])) / (n + 5)[
        :, None, None
    ]
    assert_allclose(member.covariance, expected)
    objective = family.statistics(X, LABELS) + prior
    assert member.log_likelihood_of(objective) > fit(family).log_likelihood_of(objective)


def test_a_tied_model_is_linear_in_x():
    member = fit(FullFamily(tied=True))
    form = member.linear_form()
    linear = X @ form.coef.T + form.intercept
    logs = member.log_prob(X)
    assert_allclose(linear[:, 1] - linear[:, 0], logs[:, 1] - logs[:, 0], rtol=1e-8, atol=1e-8)
    with pytest.raises(InvalidInput, match="FullGaussian is not linear"):
        fit(FullFamily()).linear_form()


def test_a_tied_score_keeps_its_digits_far_from_zero():
    shifted = fit(FullFamily(tied=True), X + 1e7)
    here = fit(FullFamily(tied=True))
    far, near = shifted.log_score(X + 1e7), here.log_score(X)
    assert_allclose(far[:, 1] - far[:, 0], near[:, 1] - near[:, 0], atol=1e-5)


@pytest.mark.parametrize(
    ("family", "n_parameters"), [(FullFamily(), 2 * 9), (FullFamily(tied=True), 6 + 6)]
)
def test_parameters_are_counted(family, n_parameters):
    assert fit(family).n_parameters == n_parameters


def test_a_covariance_given_by_hand_is_checked():
    """DIST-5; the plain constructor takes a singular one, as what was learned may be."""
    bad = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InvalidInput, match="Covariance 1 is not positive definite"):
        FullGaussian.from_covariance(np.zeros((2, 2)), np.stack([np.eye(2), bad]))
    with pytest.raises(
        InvalidInput, match=r"shape \(3, 2, 2\); expected \(1, 2, 2\) or \(2, 2, 2\)"
    ):
        FullGaussian.from_covariance(np.zeros((2, 2)), np.zeros((3, 2, 2)))
    assert FullGaussian(np.zeros((1, 2)), np.ones((1, 2, 2))).singular


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "complete rows.*column 1"), (np.inf, "inf")]
)
def test_gaps_and_infinity_are_refused(value, message):
    with pytest.raises(InvalidInput, match=message):
        FullFamily().statistics(np.array([[0.0, value], [1.0, 1.0]]), np.ones((2, 1)))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], r"not symmetric.*differ by 0\.1.*transpose.*S \+ S\.T"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite.*eigenvalue is -1;.*identity"),
        ([[1.0, 1.0], [1.0, 1.0]], "not positive definite"),
        ([[1.0, 0.0], [0.0, 0.0]], "not positive definite"),
        ([[-1.0, 0.0], [0.0, 1.0]], "not positive definite"),
    ],
)
def test_what_is_no_covariance_is_refused(matrix, message):
    with pytest.raises(InvalidInput, match=message):
        FullGaussian.from_covariance(np.zeros(2), np.array(matrix))


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_a_covariance_is_accepted_in_any_unit(unit):
    """DIST-5: and it is the one that was given."""
    covariance = ROOT @ ROOT.T * unit
    member = FullGaussian.from_covariance(np.zeros(3), covariance)
    assert_allclose(member.covariance[0], covariance)
    theirs = multivariate_normal(np.zeros(3), covariance / unit)
    expected = theirs.logpdf(X) - 1.5 * np.log(unit)
    assert_allclose(member.log_prob(X * np.sqrt(unit))[:, 0], expected, rtol=1e-9)


def test_a_negative_variance_is_refused_by_the_plain_constructor():
    for matrix in ([[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]):
        with pytest.raises(InvalidInput, match=r"not positive semidefinite.*identity"):
            FullGaussian(np.zeros((1, 2)), np.array([matrix]))


@pytest.mark.parametrize("n_matrices", [1, 2])
def test_a_column_that_is_left_out_may_have_any_value(n_matrices):
    """−inf is for rows off the range in the columns that vary: x₁ = 2x₀."""
    matrix = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    mean = np.array([[0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])
    member = FullGaussian(mean, np.repeat(matrix[None], n_matrices, axis=0))
    logs = member.log_prob([[1.0, 2.0, 3.0], [1.0, 2.0, 99.0], [1.0, 2.5, 3.0]])
    assert np.isfinite(logs[:2]).all()
    assert_allclose(logs[1], logs[0], rtol=1e-15)
    assert np.isneginf(logs[2]).all()
