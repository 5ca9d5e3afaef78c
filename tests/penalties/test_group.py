"""Groups of coefficients and sums: a density, the lasso as a special case, refusals."""

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from likely.errors import InvalidInput, UnknownName
from likely.penalties import L1, L2, ElasticNet, Group, PenaltySum


def test_the_group_prior_integrates_to_1_on_a_plane():
    prior = Group(np.array([0, 0]), 1.3)
    ring, _ = quad(lambda r: 2 * pi * r * np.exp(prior.log_prior(np.array([r, 0.0]))), 0, np.inf)
    assert_allclose(ring, 1.0)


def test_groups_of_one_are_the_lasso():
    theta, strengths = np.array([0.5, -2.0, 1.0]), np.array([1.0, 0.2, 3.0])
    groups = Group(np.arange(3), strengths)
    assert_allclose(groups.value(theta), L1(strengths).value(theta))
    assert_allclose(groups.prox(theta, 0.6), L1(strengths).prox(theta, 0.6))
    assert_allclose(groups.log_prior(theta), L1(strengths).log_prior(theta))


def test_a_weak_group_leaves_as_one():
    theta = np.array([3.0, 4.0, 0.1, 0.1])
    shrunk = Group(np.array([0, 0, 1, 1]), 1.0).prox(theta, 1.0)
    assert_allclose(shrunk, [3.0 * 4 / 5, 4.0 * 4 / 5, 0.0, 0.0])


def test_groups_are_codes_or_lists_of_members():
    theta = np.array([3.0, -1.0, 2.0, 4.0])
    codes, lists = Group([0, -1, 1, 0], [2.0, 3.0]), Group([[0, 3], [2]], [2.0, 3.0])
    assert codes.value(theta) == lists.value(theta) == 2 * 5 + 3 * 2
    assert_array_equal(lists.members(4), [0, -1, 1, 0])
    assert Group(strength=2.0).value(theta) == L1(2.0).value(theta)


def test_columns_become_groups_of_their_coefficients():
    """Two numbers, then the three categories of a column, then an intercept."""
    column_of = np.array([0, 2, 1, 1, 1, -1])
    found = Group([["a", "c"], ["b"]], [1.0, 2.0]).on_columns(["a", "b", "c"], column_of)
    assert_array_equal(found.members(6), [0, 0, 1, 1, 1, -1])
    assert_allclose(found.of_each(6), [1, 1, 2, 2, 2, 0])
    column_of[-1] = 3
    with_intercept = Group([["a", "c"], ["b"]], [1.0, 2.0]).on_columns(["a", "b", "c"], column_of)
    assert_array_equal(with_intercept.members(6), [0, 0, 1, 1, 1, 2])
    assert with_intercept.of_each(6)[-1] == 2.0


def test_penalties_add():
    theta = np.array([0.3, -2.0, 0.0])
    added = L1(1.0) + L2([1.0, 2.0, 3.0]) + L1(0.5)
    same = ElasticNet(1.5, [1.0, 2.0, 3.0])
    assert_allclose(added.value(theta), same.value(theta), rtol=1e-15)
    assert_allclose(added.prox(theta, 0.7), same.prox(theta, 0.7), rtol=1e-15)
    assert_allclose(added.log_prior(theta), same.log_prior(theta), rtol=1e-15)
    apart, one = Group([[0, 1]], 2.0) + Group([[2]], 3.0), Group([[0, 1], [2]], [2.0, 3.0])
    assert apart.value(theta) == one.value(theta)
    assert_allclose(apart.log_prior(theta), one.log_prior(theta))
    assert_array_equal(apart.prox(theta, 0.1), one.prox(theta, 0.1))


@pytest.mark.parametrize(
    ("penalty", "said"),
    [
        (Group([0, 1]), r"groups=\[0, 1\] was given for 3 columns"),
        (Group([[0, 1], [1, 2]]), "1 is in two groups"),
        (Group([[0, 7]]), "Column 7 was given in a group; there are 3"),
        (Group([0, 1, 1], [1.0, 2.0, 3.0]), r"shape \(3,\) for 2 groups"),
        (Group([[0, 1]]) + Group([[1, 2]]), "Coefficient 1 is in groups of two penalties"),
    ],
)
def test_what_makes_no_groups_is_refused(penalty, said):
    with pytest.raises(InvalidInput, match=said):
        penalty.prox(np.ones(3), 1.0)


def test_names_need_columns_and_a_sum_of_unlike_priors_has_no_density():
    with pytest.raises(UnknownName, match="column for a group 'width'"):
        Group([["length", "width"]]).on_columns(["length", "widths"], np.arange(2))
    with pytest.raises(InvalidInput, match="no density in closed form"):
        PenaltySum((Group([[0, 1]]), L1(1.0))).log_prior(np.ones(2))
