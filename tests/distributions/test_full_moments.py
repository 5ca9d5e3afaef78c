"""Full Gaussians with missing cells: EM reaches the maximum of the observed likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.distributions.full_gaussian import FullFamily, FullGaussian
from likely.distributions.full_moments import expected_moments, patterns
from likely.distributions.responsibility import Labels

RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3))
GAPPY = np.where(RNG.random(WHOLE.shape) < 0.25, np.nan, WHOLE)
LABELS = Labels(RNG.integers(0, 2, 60), 2)


def test_every_row_is_in_one_pattern():
    found = list(patterns(GAPPY))
    assert sorted(np.concatenate([rows for _, rows in found])) == list(range(60))
    for mask, rows in found:
        assert (~np.isnan(GAPPY[rows]) == mask).all()


def test_complete_rows_give_the_plain_moments():
    member = FullGaussian(np.zeros((2, 3)), np.stack([np.eye(3)] * 2))
    weight, mean, scatter = expected_moments(member.mean, member.covariance, WHOLE, LABELS.dense())
    plain = FullFamily().statistics(WHOLE, LABELS)
    assert_allclose(weight, plain.weight)
    assert_allclose(mean, plain.mean)
    assert_allclose(scatter, plain.scatter)


def test_a_missing_cell_is_the_regression_on_the_others():
    """By hand: x₂ | x₁ has mean ρx₁ and variance 1 − ρ²."""
    S = np.array([[[1.0, 0.8], [0.8, 1.0]]])
    X = np.array([[2.0, np.nan]])
    _, mean, scatter = expected_moments(np.zeros((1, 2)), S, X, np.ones((1, 1)))
    assert_allclose(mean, [[2.0, 1.6]])
    assert_allclose(scatter, [[[0.0, 0.0], [0.0, 0.36]]], atol=1e-12)


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
