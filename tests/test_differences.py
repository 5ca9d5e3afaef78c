"""The check of derivatives: it accepts right ones and catches wrong ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.differences import check_gradient, check_hessian
from likely.errors import InvalidInput
from likely.special import expit, log_expit


def some_quadratic(seed, d=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    return root @ root.T + np.eye(d), rng.normal(size=d), rng.normal(size=d)


@given(st.integers(0, 999))
def test_a_quadratic_passes_and_a_flipped_sign_does_not(seed):
    Q, c, theta = some_quadratic(seed)
    flip = np.where(np.arange(4) == seed % 4, -1, 1)
    assert check_gradient(lambda t: t @ Q @ t / 2 - c @ t, lambda t: Q @ t - c, theta) < 1e-7
    wrong = check_gradient(lambda t: t @ Q @ t / 2 - c @ t, lambda t: flip * (Q @ t - c), theta)
    assert wrong > 1e-2
    assert check_hessian(lambda t: Q @ t - c, lambda t: Q, theta) < 1e-7
    wrong = check_hessian(lambda t: Q @ t - c, lambda t: Q * flip[:, None], theta)
    assert wrong > 1e-2


@given(st.integers(0, 99), st.sampled_from([1e-3, 1.0, 1e4]))
def test_a_logistic_likelihood_passes_at_any_scale(seed, scale):
    rng = np.random.default_rng(seed)
    X, t = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    theta = rng.normal(size=3)

    def nll(w):
        return -scale * (t * log_expit(X @ w) + (1 - t) * log_expit(-X @ w)).sum()

    def gradient(w):
        return scale * (expit(X @ w) - t) @ X

    def hessian(w):
        return scale * (X.T * (expit(X @ w) * expit(-X @ w))) @ X

    assert check_gradient(nll, gradient, theta) < 1e-6
    assert check_hessian(gradient, hessian, theta) < 1e-6


def test_the_transpose_of_an_asymmetric_jacobian_is_caught():
    A = np.array([[1.0, 2.0], [0.0, 1.0]])
    assert check_hessian(lambda t: A @ t, lambda t: A, np.ones(2)) < 1e-7
    assert check_hessian(lambda t: A @ t, lambda t: A.T, np.ones(2)) > 0.5


def test_a_gradient_of_zero_at_the_optimum_passes():
    assert check_gradient(lambda t: 5 + t @ t, lambda t: 2 * t, np.zeros(3)) < 1e-7
    assert check_gradient(lambda t: 0.0, lambda t: 0 * t, np.zeros(3)) == 0


def test_rounding_of_a_large_value_is_not_an_error_of_its_gradient():
    theta = np.array([0.01, 0.03])
    assert check_gradient(lambda t: 1e6 + t @ t, lambda t: 2 * t, theta) < 1e-6


def test_an_entry_tiny_beside_the_largest_is_not_asked_for_its_digits():
    """f(θ) is 0 by cancellation, so its size does not tell how much is rounded away."""
    theta = np.array([0.7, 0.2])

    def terms(t):
        return np.sin(t[0]) + 1e-10 * t[1]

    def f(t):
        return terms(t) - terms(theta)

    assert f(theta) == 0
    assert check_gradient(f, lambda t: np.array([np.cos(t[0]), 1e-10]), theta) < 1e-6


def test_parameters_may_have_any_shape():
    theta = np.arange(6.0).reshape(2, 3)
    assert check_gradient(lambda t: (t**3).sum(), lambda t: 3 * t**2, theta) < 1e-7
    hessian = check_hessian(lambda t: 3 * t**2, lambda t: np.diag(6 * t.ravel()), theta)
    assert hessian < 1e-7


def test_a_gradient_of_the_wrong_shape_is_refused():
    with pytest.raises(InvalidInput, match=r"gradient has shape \(2,\); expected \(3,\)"):
        check_gradient(lambda t: t @ t, lambda t: t[:2], np.ones(3))
    with pytest.raises(InvalidInput, match="Hessian has shape"):
        check_hessian(lambda t: t, lambda t: t, np.ones(3))


@pytest.mark.parametrize("small", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_flipped_sign_of_a_small_entry_beside_a_large_one_gives_about_2(small):
    theta = np.array([0.7, 0.2, -0.3])

    def f(t):
        return np.sin(t[0]) + small * np.exp(t[1]) + t[2] ** 3

    def gradient(t):
        return np.array([np.cos(t[0]), small * np.exp(t[1]), 3 * t[2] ** 2])

    assert check_gradient(f, gradient, theta) < 1e-6
    wrong = check_gradient(f, lambda t: gradient(t) * [1, -1, 1], theta)
    assert 1.8 < wrong < 2.01
    assert check_gradient(f, lambda t: gradient(t) * [1, 0, 1], theta) > 0.8  # left out


def test_small_entries_are_compared_beyond_what_the_step_misses():
    """The third derivative is 2e8 times the first, so that one difference has few digits."""
    theta = np.array([1e-4, 1.0])

    def f(t):
        return t[0] ** 3 + t[1] ** 2

    def gradient(t):
        return np.array([3 * t[0] ** 2, 2 * t[1]])

    assert check_gradient(f, gradient, theta) < 1e-6
    assert check_gradient(f, lambda t: gradient(t) * [-1, 1], theta) > 1.8


def test_a_gradient_that_is_not_a_number_is_wrong():
    assert check_gradient(lambda t: t @ t, lambda t: np.nan * t, np.ones(2)) == np.inf


def test_a_small_relative_error_of_one_entry_is_measured():
    theta = np.array([0.5, -1.0])
    gradient = np.array([1.0, 1.0 + 1e-4])
    error = check_gradient(lambda t: np.exp(t - theta).sum(), lambda t: gradient, theta)
    assert error == pytest.approx(1e-4, rel=1e-3)
