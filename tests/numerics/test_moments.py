import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.stats import t

from likely.numerics.moments import (
    Moments,
    covariance_at_least,
    covariance_beyond_rounding,
    variance_beyond_rounding,
)


@pytest.mark.parametrize("cut", [0, 1, 50, 150])
def test_moments_of_parts_add_and_their_ends_are_students(cut):
    values, ones = np.random.default_rng(0).normal(size=200), np.ones(200)
    whole = Moments.of(values, ones)
    parts = Moments.of(values[:cut], ones[:cut]) + Moments.of(values[cut:], ones[cut:])
    assert parts.first == pytest.approx(whole.first)
    assert parts.scatter == pytest.approx(whole.scatter)
    half = t.ppf(0.975, 199) * values.std(ddof=1) / np.sqrt(200)
    assert whole.ends(0.95) == pytest.approx((values.mean() - half, values.mean() + half))


def test_an_infinite_value_leaves_the_spread_open():
    found = Moments.of(np.array([1.0, np.inf]), np.ones(2)) + Moments.of(np.ones(3), np.ones(3))
    assert found.first == np.inf
    assert found.ends(0.95) == (-np.inf, np.inf)


@pytest.mark.parametrize("constant", [0.3, 1 / 3, -np.pi, 1e9 / 7, 1e-9 / 7])
@pytest.mark.parametrize("n", [7, 1000, 100_000])
def test_equal_numbers_have_no_variance(constant, n):
    weight = np.random.default_rng(n).uniform(0.1, 1.0, n)
    found = Moments.of(np.full(n, constant), weight)
    variance = found.scatter[0] / found.n
    assert variance_beyond_rounding(variance, found.mean) == 0
    assert_allclose(found.first, constant, rtol=4e-16)


def test_a_small_variance_that_is_there_stays():
    values = 1e6 + 1e-6 * np.random.default_rng(0).normal(size=500)
    found = Moments.of(values, np.ones(500))
    variance = found.scatter[0] / found.n
    assert_allclose(variance_beyond_rounding(variance, found.mean), values.var(), rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7, 1e8])
def test_a_sum_of_columns_far_from_0_lies_in_their_plane(offset):
    x = np.random.default_rng(0).normal(size=(5000, 2)) + offset
    found = Moments.of(np.c_[x, x.sum(axis=1)], np.ones(5000))
    covariance = covariance_beyond_rounding(found.scatter / found.n, found.mean)
    assert np.linalg.matrix_rank(covariance) == 2
    assert_allclose(covariance, found.scatter / found.n, rtol=1e-9)


def test_columns_that_nearly_agree_are_two():
    x, z = np.random.default_rng(0).normal(size=(2, 500))
    found = Moments.of(np.c_[x, x + 1e-5 * z], np.ones(500))
    covariance = found.scatter / found.n
    assert covariance_beyond_rounding(covariance, found.mean) is covariance


def test_a_covariance_is_raised_to_the_floor_in_the_directions_below_it():
    """The maximum of the likelihood among all Σ with Σ − F positive semidefinite."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 2))
    S, floor = root @ root.T + np.diag([1e-3, 0.0, 0.0, 1e-3]), np.array([0.3, 0.2, 0.1, 0.0])
    raised = covariance_at_least(S, floor)
    least = np.linalg.eigvalsh(raised - np.diag(floor)).min()
    assert least > -1e-12
    tiny = np.diag(np.where(floor > 0, floor, 1e-9))
    values, vectors = eigh(S, tiny)  # in the units of F, eigenvalues become max(λ, 1)
    back = np.linalg.inv(vectors)
    assert_allclose(raised, back.T @ np.diag(np.maximum(values, 1)) @ back, rtol=1e-6, atol=1e-7)

    def log_likelihood(sigma):
        return -np.linalg.slogdet(sigma)[1] - np.trace(np.linalg.solve(sigma, S))

    for _ in range(50):
        step = rng.normal(size=(4, 4)) * 1e-3
        assert log_likelihood(raised + step @ step.T) < log_likelihood(raised)


def test_a_covariance_above_the_floor_stays_as_it_is_and_constant_columns_are_0():
    S = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert covariance_at_least(S, np.array([0.5, 0.5, 0.0])) is S
    raised = covariance_at_least(S, np.array([0.9, 0.9, 0.0]))
    assert not raised[2].any() and not raised[:, 2].any()
    assert raised[1, 1] > 1.0


def test_the_floor_of_one_column_does_not_depend_on_the_unit_of_another():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(3, 3))
    S, floor = A @ A.T, np.array([5.0, 0.0, 1e-3])
    unit = np.array([1e-6, 1e7, 1.0])
    expected = covariance_at_least(S, floor) * np.outer(unit, unit)
    actual = covariance_at_least(S * np.outer(unit, unit), floor * unit**2)
    scale = np.sqrt(np.diag(expected))
    assert_allclose(
        actual / np.outer(scale, scale), expected / np.outer(scale, scale), rtol=1e-10, atol=1e-12
    )
