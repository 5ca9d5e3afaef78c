"""Penalties: worked examples, priors that integrate to 1, groups, sums, refusals."""

from math import log, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import quad

from likely import LinearRegression
from likely.errors import InvalidInput, UnknownName
from likely.penalties import L1, L2, ElasticNet, Group, NoPenalty, PenaltySum, soft_threshold


def test_worked_example_laplace_prior_negative_log():
    """D log(2b) + Σ|w| / b, with the factor D that the lecture's normaliser lacks."""
    w, b = np.array([0.5, -1.2, 2.0]), 0.7
    assert_allclose(-L1(1 / b).log_prior(w), 6.295130995577925, rtol=1e-10, atol=1e-12)
    assert_allclose(-L1(1 / b).log_prior(w), 3 * log(2 * b) + np.abs(w).sum() / b)


def test_the_gaussian_prior_has_precision_l2():
    theta, l2 = np.array([0.3, -1.0]), np.array([0.5, 4.0])
    expected = stats.norm(scale=1 / np.sqrt(l2)).logpdf(theta).sum()
    assert_allclose(L2(l2).log_prior(theta), expected)


@pytest.mark.parametrize("l1", [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("l2", [0.0, 0.01, 2.0])
def test_the_elastic_net_prior_integrates_to_1(l1, l2):
    if l1 == l2 == 0:
        assert ElasticNet(0.0, 0.0).log_prior(np.array([3.0])) == 0.0  # flat
        return
    prior = ElasticNet(l1, l2)
    half, _ = quad(lambda x: np.exp(prior.log_prior(np.array([x]))), 0, np.inf)
    assert_allclose(2 * half, 1.0, rtol=1e-6)


def test_an_almost_straight_elastic_net_is_the_laplace():
    theta = np.array([0.2, -3.0])
    assert_allclose(ElasticNet(2.0, 1e-300).log_prior(theta), L1(2.0).log_prior(theta))


def test_the_elastic_net_holds_ridge_and_lasso():
    theta = np.array([1.0, -2.0])
    assert ElasticNet(0.0, 3.0).value(theta) == L2(3.0).value(theta) == 7.5
    assert ElasticNet(3.0, 0.0).value(theta) == L1(3.0).value(theta) == 9.0
    assert NoPenalty().value(theta) == 0.0


def test_soft_thresholding_shrinks_towards_0_and_stops_there():
    assert_allclose(soft_threshold(np.array([3.0, -3.0, 0.5]), 1.0), [2.0, -2.0, 0.0])


@pytest.mark.parametrize("make", [L1, L2, lambda s: ElasticNet(1.0, s), lambda s: Group([0], s)])
@pytest.mark.parametrize("strength", [-1.0, np.array([1.0, np.nan])])
def test_a_strength_below_0_is_refused_with_advice(make, strength):
    with pytest.raises(InvalidInput, match=r"(-1|nan) is not a strength.*at least 0.*Use 0"):
        make(strength)


@pytest.mark.parametrize("noise", [0.25, 1.0, 9.0])
def test_the_noise_of_a_gaussian_response_is_in_the_strength_of_a_prior(noise):
    """Ridge: σ²/τ², the mode of N(y; Xβ, σ²) N(β; 0, τ²); lasso: σ²/b."""
    rng = np.random.default_rng(0)
    X, y, variance = rng.normal(size=(30, 2)), rng.normal(size=30), 0.5
    ridge = LinearRegression(penalty=L2.of_prior(variance, noise=noise), fit_intercept=False)
    mode = np.linalg.solve(X.T @ X / noise + np.eye(2) / variance, X.T @ y / noise)
    assert_allclose(ridge.fit(X, y).coef_, mode, rtol=1e-9)
    assert L1.of_prior(2.0, noise=noise).strengths.l1 == noise / 2.0


@pytest.mark.parametrize("strength", [{"a": 1.0}, "a", None, [1.0, "a"]])
@pytest.mark.parametrize("make", [L1, L2, ElasticNet])
def test_a_strength_that_is_no_number_is_refused(make, strength):
    with pytest.raises(
        InvalidInput, match=r"was given to a penalty; a number was expected.*mapping"
    ):
        make(strength)


def test_a_number_times_a_penalty_is_as_many_times_as_strong():
    theta = np.array([1.0, -2.0])
    for penalty in (L1(1.0), L2([1.0, 2.0]), ElasticNet(0.5, 2.0), L1(1.0) + L2(1.0)):
        for three in (3 * penalty, penalty * 3.0):
            assert three.value(theta) == 3 * penalty.value(theta)
    assert repr(3 * L1(1)) == "L1(l1=3.0)"
    with pytest.raises(InvalidInput, match="-1 is not a strength"):
        -1 * L1(1.0)
    with pytest.raises(TypeError):
        L1(1.0) * L2(1.0)


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
