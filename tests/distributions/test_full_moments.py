"""Full Gaussians with missing cells: EM reaches the maximum of the observed likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, softmax
from scipy.stats import norm

from likely.distributions import full_moments
from likely.distributions.full_gaussian import FullFamily, FullGaussian
from likely.distributions.full_moments import GappyRows, completed
from likely.distributions.responsibility import Labels

RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3))
GAPPY = np.where(RNG.random(WHOLE.shape) < 0.25, np.nan, WHOLE)
LABELS = Labels(RNG.integers(0, 2, 60), 2)


@pytest.mark.parametrize("most_bits", [0, 62])
def test_every_row_with_a_gap_is_in_one_pattern(monkeypatch, most_bits):
    monkeypatch.setattr(full_moments, "MOST_BITS", most_bits)
    found = GappyRows.of(GAPPY).groups
    gappy = np.flatnonzero(np.isnan(GAPPY).any(axis=1))
    assert sorted(np.concatenate([group.rows for group in found])) == gappy.tolist()
    for group in found:
        for row, pattern in zip(group.rows, group.pattern, strict=True):
            assert group.columns[pattern].tolist() == np.flatnonzero(np.isnan(GAPPY[row])).tolist()


def test_complete_rows_give_the_plain_moments():
    member = FullGaussian(np.zeros((2, 3)), np.stack([np.eye(3)] * 2))
    gappy = GappyRows.of(WHOLE)
    rows = completed(member.mean, member.covariance, member.factors, gappy)
    weight, mean, scatter = full_moments.expected_moments(member.mean, rows, gappy, LABELS.dense())
    plain = FullFamily().statistics(WHOLE, LABELS)
    assert_allclose(weight, plain.weight)
    assert_allclose(mean, plain.mean)
    assert_allclose(scatter, plain.scatter)


def test_a_missing_cell_is_the_regression_on_the_others():
    """By hand: x₂ | x₁ has mean ρx₁ and variance 1 − ρ²."""
    member = FullGaussian(np.zeros((1, 2)), np.array([[[1.0, 0.8], [0.8, 1.0]]]))
    found = member.expected_statistics(FullFamily(), np.array([[2.0, np.nan]]), np.ones((1, 1)))
    assert_allclose(found.mean, [[2.0, 1.6]])
    assert_allclose(found.scatter, [[[0.0, 0.0], [0.0, 0.36]]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_blocks_of_the_precision_equal_a_factor_for_each_pattern(monkeypatch, scale):
    """Also for rows that lack all cells, or none."""
    X = np.concatenate([GAPPY, WHOLE[:3], np.full((2, 3), np.nan)]) * scale
    root = RNG.normal(size=(3, 4)) * scale
    member = FullGaussian.from_covariance(RNG.normal(size=3) * scale, root @ root.T)
    arguments = member.mean, member.covariance, member.factors, GappyRows.of(X)
    fast = completed(*arguments)
    monkeypatch.setattr(full_moments, "MOST_INFLATION", 0.0)
    slow = completed(*arguments)
    assert_allclose(fast.log_prob, slow.log_prob, rtol=1e-9, atol=1e-9)
    assert_allclose(fast.deviation, slow.deviation, rtol=1e-9, atol=1e-9 * scale)
    for one, other in zip(fast.conditional, slow.conditional, strict=True):
        assert_allclose(one, other, rtol=1e-8, atol=1e-9 * scale**2)


def test_a_singular_covariance_completes_rows_on_its_range():
    """x₂ = 2x₁: the missing cell is known, and adds no variance."""
    member = FullGaussian(np.zeros((1, 2)), np.array([[[1.0, 2.0], [2.0, 4.0]]]))
    gappy = GappyRows.of(np.array([[3.0, np.nan], [np.nan, 4.0], [1.0, 2.0]]))
    own = completed(member.mean, member.covariance, member.factors, gappy)
    assert_allclose(own.deviation, [[[3.0, 6.0], [2.0, 4.0], [1.0, 2.0]]])
    assert_allclose(own.conditional[0], 0.0, rtol=1e-12, atol=1e-12)
    assert_allclose(own.log_prob[0], norm.logpdf(3.0))


def test_one_e_step_equals_responsibilities_and_moments_apart():
    rng = np.random.default_rng(1)
    member = FullFamily().from_statistics(FullFamily().statistics(WHOLE, LABELS))
    log_mixing, weight = np.log([0.3, 0.7]), rng.uniform(0.1, 2.0, 60)
    fused = member.fused_expectation(FullFamily(), GAPPY, log_mixing, weight)
    joint = log_mixing + member.log_prob(GAPPY)
    r = softmax(joint, axis=1) * weight[:, None]
    apart = member.expected_statistics(FullFamily(), GAPPY, r)
    assert_allclose(fused.weight, r.sum(axis=0))
    assert_allclose(fused.log_likelihood, weight @ logsumexp(joint, axis=1))
    assert_allclose(fused.statistics.mean, apart.mean)
    assert_allclose(fused.statistics.scatter, apart.scatter)


@pytest.mark.parametrize("tied", [False, True])
def test_the_observed_likelihood_never_falls_and_ends_at_a_maximum(tied):
    family, r = FullFamily(tied=tied), LABELS.dense()
    member = FullGaussian(np.zeros((2, 3)), np.stack([np.eye(3)] * (1 if tied else 2)))
    trace = []
    for _ in range(200):
        trace.append(float(np.sum(r * member.log_prob(GAPPY))))
        member = family.from_statistics(member.expected_statistics(family, GAPPY, LABELS))
    assert (np.diff(trace) > -1e-9).all()
    assert trace[-1] - trace[-2] < 1e-8
    for step in RNG.normal(size=(20, 2, 3)):
        other = FullGaussian(member.mean + 0.01 * step, member.covariance)
        assert np.sum(r * other.log_prob(GAPPY)) <= trace[-1] + 1e-9


def test_blocks_of_expectations_add():
    family = FullFamily()
    member = family.from_statistics(family.statistics(WHOLE, LABELS))
    r = RNG.dirichlet(np.ones(2), size=60)
    whole = member.expected_statistics(family, GAPPY, r)
    parts = member.expected_statistics(family, GAPPY[:25], r[:25])
    parts = parts + member.expected_statistics(family, GAPPY[25:], r[25:])
    assert_allclose(parts.mean, whole.mean)
    assert_allclose(parts.scatter, whole.scatter)
