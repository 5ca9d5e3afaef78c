"""Laplace features: medians, the sketch that says it is one, the prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.distributions.laplace import Laplace, LaplaceFamily, laplace_negative_log
from likely.errors import InvalidInput

ONES = np.ones((5, 1))
X = np.array([[1.0], [2.0], [4.0], [8.0], [100.0]])


def test_the_fit_is_the_median_and_the_mean_deviation_from_it():
    member = LaplaceFamily().from_statistics(LaplaceFamily().statistics(X, ONES))
    assert member.median[0, 0] == 4.0
    assert_allclose(member.scale[0, 0], (3 + 2 + 0 + 4 + 96) / 5)
    assert member.exact


def test_weights_move_the_median():
    weight = np.array([[5.0], [1.0], [1.0], [1.0], [1.0]])
    member = LaplaceFamily().from_statistics(LaplaceFamily().statistics(X, weight))
    assert member.median[0, 0] == 1.0


def test_a_sketch_says_so_and_is_close():
    rng = np.random.default_rng(0)
    X = rng.laplace(3.0, 2.0, size=(5000, 1))
    family = LaplaceFamily(limit=200)
    blocks = [family.statistics(part, np.ones((500, 1))) for part in np.split(X, 10)]
    total = blocks[0]
    for block in blocks[1:]:
        total = total + block
    member = family.from_statistics(total)
    assert not member.exact
    assert_allclose(member.median, np.median(X), atol=0.1)
    assert_allclose(member.scale, np.abs(X - np.median(X)).mean(), rtol=0.02)


def test_a_feature_is_left_out_only_if_no_component_tells_of_it():
    """Constant in each component, but not in all; missing in all; constant in all."""
    X = np.array([[1.0, np.nan, 0.1], [1.0, np.nan, 0.1], [2.0, np.nan, 0.1], [2.0, np.nan, 0.1]])
    r = np.repeat(np.eye(2), 2, axis=0)
    found = LaplaceFamily().from_statistics(LaplaceFamily().statistics(X, r))
    assert found.left_out().tolist() == [False, True, True]
    assert found.n_parameters == 4
    assert (found.log_prob(X).argmax(axis=1) == [0, 0, 1, 1]).all()


def test_a_constant_feature_has_no_scale_and_no_density():
    constant = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 9.0]])
    statistics = LaplaceFamily().statistics(constant, np.ones((3, 1)))
    assert np.isfinite(LaplaceFamily().from_statistics(statistics).log_prob(constant)).all()
    floored = LaplaceFamily(floor=0.5).from_statistics(statistics)
    assert_allclose(floored.scale, [[0, 7 / 3]])
    assert_allclose(floored.log_prob(constant), floored.log_prob(constant + np.array([5, 0])))


def test_an_empty_component_is_standard():
    statistics = LaplaceFamily().statistics(X, np.zeros((5, 1)))
    member = LaplaceFamily().from_statistics(statistics)
    assert (member.median[0, 0], member.scale[0, 0]) == (0.0, 1.0)


def test_the_prior_is_the_density_of_the_weights():
    w = np.array([0.3, -2.0])
    member = Laplace(np.zeros((1, 2)), np.full((1, 2), 0.4))
    assert_allclose(laplace_negative_log(w, 0.4), -member.log_prob(w[None])[0, 0])


def test_sparse_and_infinite_features_are_refused():
    with pytest.raises(InvalidInput, match="dense"):
        LaplaceFamily().check(sparse.csr_array(np.eye(2)))
    with pytest.raises(InvalidInput, match="infinity"):
        LaplaceFamily().check(np.array([[np.inf]]))
