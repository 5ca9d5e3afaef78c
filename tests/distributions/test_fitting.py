"""Distributions by hand: one call fits a family to rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.distributions import DISTRIBUTIONS, FullFamily, fit
from likely.errors import InvalidInput, UnknownName


def test_a_list_of_numbers_gives_one_gaussian():
    member = fit("gaussian", [1.0, 2.0, 3.0])
    assert_allclose(member.mean, [[2.0]])
    assert_allclose(member.variance, [[2 / 3]])


def test_labels_make_components_and_weights_repeat_rows():
    X, labels = np.array([[1.0], [3.0], [10.0]]), [0, 0, 1]
    member = fit("poisson", X, labels, weight=[1, 3, 1])
    assert_allclose(member.rate, [[2.5], [10.0]])


def test_alpha_is_the_conjugate_prior():
    """Three heads of four and one imagined of each side: (3 + 1) / (4 + 2)."""
    assert_allclose(fit("bernoulli", [1, 1, 1, 0], alpha=1.0).probability, [[2 / 3]])


@pytest.mark.parametrize("name", ["exponential", "gaussian", "laplace", FullFamily()])
def test_the_prior_has_no_unit(name):
    """In another unit, densities fall by the unit and nothing else changes."""
    X, labels = np.array([[0.2], [0.4], [0.9], [1.0], [2.5]]), [0, 1, 0, 1, 0]
    here, there = (fit(name, X * unit, labels, alpha=2.0) for unit in (1.0, 1e6))
    assert_allclose(there.log_prob(X * 1e6), here.log_prob(X) - np.log(1e6), rtol=1e-9)


@pytest.mark.parametrize("name", [*sorted(set(DISTRIBUTIONS) - {"complement"}), "categorical"])
def test_every_family_fits_and_gives_a_density(name):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 1]])
    member = fit(name, X, [0, 1, 0, 1], alpha=1.0)
    codes = X if name == "categorical" else X.astype(float)
    assert np.isfinite(member.log_prob(codes)).all()


def test_a_configured_family_is_taken_as_it_is():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert_allclose(fit(FullFamily(ddof=1), X).covariance[0], np.cov(X.T))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("gausian", [1.0]), UnknownName, "Did you mean 'gaussian'"),
        (("gaussian", ["a"]), InvalidInput, "fitted to numbers"),
        (("gaussian", [1.0, 2.0], ["a", "b"]), InvalidInput, "one whole number per row"),
    ],
)
def test_what_cannot_be_fitted_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        fit(*arguments)
