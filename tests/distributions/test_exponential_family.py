"""Exponential families: ∇A is E[T], natural parameters there and back, moment matching."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.differences import check_gradient, check_hessian
from likely.distributions import Bernoulli, DiagonalFamily, Exponential, Labels, Poisson
from likely.distributions.exponential_family import (
    EXPONENTIAL_FAMILIES,
    MomentStatistics,
    categorical_family,
)
from likely.errors import InvalidInput
from tests.event_models import binary, counts, numbers, times

FAMILIES = {**EXPONENTIAL_FAMILIES, "categorical": categorical_family(4)}
MEANS = {
    "bernoulli": [[0.1], [0.7]],
    "poisson": [[0.2], [30.0]],
    "exponential": [[0.5], [12.0]],
    "gaussian": [[1.0, 3.0], [-2.0, 4.5]],
    "categorical": [[0.1, 0.2, 0.3], [0.5, 0.05, 0.4]],
}
every_family = pytest.mark.parametrize("name", FAMILIES)


@every_family
def test_natural_parameters_go_there_and_back(name):
    """DIST-8, to 1e-10."""
    family, mean = FAMILIES[name], np.array(MEANS[name])
    assert_allclose(family.mean_statistic(family.natural(mean)), mean, rtol=1e-10)


@every_family
@pytest.mark.parametrize("which", [0, 1])
def test_the_gradient_of_the_log_partition_is_the_mean(name, which):
    """∇A = E[T], and ∇²A, the covariance of T, is positive definite."""
    family = FAMILIES[name]
    omega = family.natural(np.array(MEANS[name]))[which]
    assert check_gradient(family.log_partition, family.mean_statistic, omega) < 1e-6
    d = omega.size
    steps = 1e-5 * np.eye(d) * np.maximum(1, np.abs(omega))
    hessian = np.stack(
        [
            (family.mean_statistic(omega + s) - family.mean_statistic(omega - s)) / (2 * s.sum())
            for s in steps
        ]
    )
    assert_allclose(hessian, hessian.T, rtol=1e-4, atol=1e-7)
    assert (np.linalg.eigvalsh((hessian + hessian.T) / 2) > 0).all()
    assert check_hessian(family.mean_statistic, lambda _: hessian, omega) < 1e-4


@pytest.mark.parametrize(
    ("name", "event", "draw"),
    [
        ("bernoulli", Bernoulli, binary),
        ("poisson", Poisson, counts),
        ("exponential", Exponential, times),
        ("gaussian", DiagonalFamily(), numbers),
    ],
)
def test_it_is_the_event_model_of_the_same_name(name, event, draw):
    X = draw(np.random.default_rng(0), 50)
    labels = Labels(np.arange(50) % 2, 2)
    ours, theirs = (f.from_statistics(f.statistics(X, labels)) for f in (FAMILIES[name], event))
    assert_allclose(ours.log_prob(X), theirs.log_prob(X), rtol=1e-10)


@every_family
def test_the_log_odds_are_linear_in_the_statistic(name):
    """NB-15: (ω₁ − ω₀)ᵀT(x) − A(ω₁) + A(ω₀)."""
    family, mean = FAMILIES[name], np.array(MEANS[name])[:, None, :]
    member = family.from_statistics(MomentStatistics(mean, np.ones((2, 1))))
    x = np.array([[0.0], [1.0]])
    form = member.linear_form()
    linear = family.statistic(x).reshape(2, -1) @ form.coef.T + form.intercept
    logs = member.log_prob(x)
    assert_allclose(linear[:, 1] - linear[:, 0], logs[:, 1] - logs[:, 0])
    assert_allclose(member.mean_statistic, mean, rtol=1e-10)


@every_family
def test_an_empty_component_is_at_the_centre(name):
    family = FAMILIES[name]
    n_terms = len(family.centre)
    empty = MomentStatistics(np.zeros((1, 2, n_terms)), np.zeros((1, 2)))
    prior = family.pseudo_statistics(3.0, (1, 2))
    at_centre = family.from_statistics(prior)
    assert_allclose(family.from_statistics(empty).natural, at_centre.natural)
    assert_allclose(at_centre.mean_statistic[0, 0], family.centre)


def test_the_edge_of_the_mean_space_is_refused():
    always = MomentStatistics(np.array([[[5.0]]]), np.array([[5.0]]))
    with pytest.raises(InvalidInput, match=r"bernoulli feature 0.*boundary.*pseudo_statistics"):
        FAMILIES["bernoulli"].from_statistics(always)
    constant = FAMILIES["gaussian"].statistics(np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(InvalidInput, match="gaussian feature 0"):
        FAMILIES["gaussian"].from_statistics(constant)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bernoulli", 2.0),
        ("poisson", 0.5),
        ("exponential", -1.0),
        ("gaussian", np.inf),
        ("categorical", 4.0),
    ],
)
def test_impossible_values_are_refused(name, value):
    family = FAMILIES[name]
    family.check(np.array([[1.0, np.nan]]))
    with pytest.raises(InvalidInput, match=rf"{family.name} feature.*found {value:g}"):
        family.check(np.array([[1.0, value]]))


@pytest.mark.parametrize("offset", [0.0, -1e3, 1e6, 1e7, 1e9])
def test_gaussian_posteriors_do_not_depend_on_how_far_the_numbers_are_from_0(offset):
    """Against exact fractions; T(x) = (x, x²) would lose offset² ε / v nats."""
    rng, family = np.random.default_rng(1), FAMILIES["gaussian"]
    X = np.round(rng.normal(size=(40, 1)), 3) + offset  # as doubles: rounded alike on both sides
    X[20:] += 1.5
    parts = [family.statistics(X[rows], Labels(codes, 2)) for rows, codes in _thirds(40)]
    ours = family.from_statistics(parts[0] + (parts[1] + parts[2])).log_prob(X)
    exact = np.array([_log_odds([Fraction(x) for x in X[:, 0].tolist()], 20)]).T
    rounding = 4e-15 * abs(offset)  # ω₁ = m / v has 16 digits
    assert_allclose(ours[:, [0]] - ours[:, [1]], exact, rtol=1e-9, atol=1e-9 + rounding)


def _thirds(n):
    codes = (np.arange(n) >= n // 2).astype(np.int64)
    return [
        (rows, codes[rows]) for rows in np.array_split(np.random.default_rng(2).permutation(n), 3)
    ]


def _log_odds(x, cut):
    """log p(x | first) − log p(x | second), fitted by maximum likelihood."""
    logs = []
    for part in (x[:cut], x[cut:]):
        mean = sum(part) / len(part)
        variance = sum((each - mean) ** 2 for each in part) / len(part)
        logs.append([-float((v - mean) ** 2 / (2 * variance)) - log(variance) / 2 for v in x])
    return [a - b for a, b in zip(*logs, strict=True)]


def test_imagined_rows_of_a_gaussian_lie_where_the_rows_are():
    """α rows with the mean statistic of all rows, whatever the offset."""
    family, X = FAMILIES["gaussian"], np.array([[0.0], [2.0], [3.0], [9.0]])
    natural = []
    for offset in (0.0, 1e8):
        statistics = family.statistics(X + offset, Labels(np.array([0, 0, 1, 1]), 2))
        prior = statistics.prior_statistics(family, 2.0, (2, 1))
        member = family.from_statistics(prior + statistics)
        natural.append(member.mean_statistic[..., 0] - offset)
        density = member.log_prob(X + offset)
        assert_allclose(
            member.log_likelihood_of(statistics),
            density[[0, 1], 0].sum() + density[[2, 3], 1].sum() + 2 * np.log(2 * np.pi),
            rtol=1e-7,
        )
    assert_allclose(natural[0][:, 0], [(2 + 2 * 3.5) / 4, (12 + 2 * 3.5) / 4], rtol=1e-12)
    assert_allclose(natural[1], natural[0], rtol=1e-7)


def test_a_column_far_from_0_that_is_constant_in_a_component_is_refused():
    X = np.array([[1e7 + 0.1]] * 3 + [[1e7], [1e7 + 1]])
    statistics = FAMILIES["gaussian"].statistics(X, Labels(np.array([0, 0, 0, 1, 1]), 2))
    with pytest.raises(InvalidInput, match=r"gaussian feature 0.*component 0.*boundary"):
        FAMILIES["gaussian"].from_statistics(statistics)


def test_half_of_gaussian_statistics_twice_is_the_whole():
    family, X = FAMILIES["gaussian"], np.random.default_rng(3).normal(1e6, 1, (9, 2))
    whole = family.statistics(X, np.ones((9, 1)))
    half = whole.scaled(0.5)
    assert_allclose((half + half).about(whole.origin).sums, whole.sums, rtol=1e-12)
