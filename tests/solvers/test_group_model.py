"""The quadratic model with groups: the optimum by its conditions, and by another method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.solvers.group_model import Grouping, minimise_groups


def problem(seed, d=9, condition=1e3):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    Q = (basis * np.geomspace(1.0, condition, d)) @ basis.T
    codes = rng.permutation(np.array([0, 0, 0, 1, 1, 2, 2, -1, -1]))
    strength = np.append([3.0, 1.0, 8.0], 0.0)[codes]
    l1 = np.where(codes < 0, 2.0, rng.choice([0.0, 0.5], d))
    return (Q + Q.T) / 2, 5 * rng.normal(size=d), l1, Grouping(codes, strength)


def slowly(Q, c, l1, groups, steps=300_000):
    """Plain proximal gradient in long doubles."""
    Q, c, l1 = (np.asarray(each, dtype=np.longdouble) for each in (Q, c, l1))
    t = 1 / np.longdouble(np.linalg.eigvalsh(Q.astype(float))[-1] * 1.0001)
    theta, before = np.zeros(len(c), dtype=np.longdouble), None
    for _ in range(steps):
        u = theta - t * (Q @ theta - c)
        u = np.sign(u) * np.maximum(np.abs(u) - t * l1, 0)
        for g in range(3):
            inside = groups.codes == g
            length = np.sqrt(np.sum(u[inside] ** 2))
            gamma = t * groups.strength[inside][0]
            u[inside] *= max(1 - gamma / length, 0) if length > 0 else 0
        before, theta = theta, u
        if np.abs(theta - before).max() < 1e-16:
            break
    return theta.astype(float)


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_plain_proximal_gradients_find(seed):
    Q, c, l1, groups = problem(seed)
    found, ended = minimise_groups(Q, c, l1, groups, np.zeros(9), 1e-20)
    assert ended
    expected = slowly(Q, c, l1, groups)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(found == 0, np.abs(expected) < 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_start_does_not_matter_though_columns_nearly_agree(seed):
    Q, c, l1, groups = problem(seed, condition=1e9)
    found, ended = minimise_groups(Q, c, l1, groups, np.zeros(9), 1e-20)
    other, also = minimise_groups(Q, c, l1, groups, np.full(9, 3.0), 1e-20)
    assert ended
    assert also
    assert_allclose(found, other, atol=1e-8)


def test_a_pull_as_strong_as_its_group_leaves_it_at_0():
    codes, gamma = np.array([0, 0]), np.full(2, 5.0)
    for factor, stays in ((1 - 1e-9, True), (1 + 1e-6, False)):
        c = factor * np.array([3.0, 4.0])
        found, ended = minimise_groups(
            np.eye(2), c, np.zeros(2), Grouping(codes, gamma), np.ones(2), 1e-20
        )
        assert ended
        assert (found == 0).all() == stays


def test_a_pull_beyond_what_holds_a_coefficient_is_seen():
    groups = Grouping(np.array([0, 0, 1, 1, -1]), np.array([5.0, 5.0, 1.0, 1.0, 0.0]))
    theta, l1 = np.array([0.0, 0.0, 2.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.5, 2.0])
    pull = np.array([-5.0, 7.0, 9.0, 0.75, 3.0])
    assert_allclose(groups.excess(theta, pull, l1), [65**0.5 - 5] * 2 + [0.0, 0.25, 1.0])
    assert_allclose(groups.lengths(theta), [0.0, 0.0, 2.0, 2.0, 0.0])
    assert groups.value(theta) == 2.0
