"""Exponential families: ∇A is E[T], natural parameters there and back, moment matching."""

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
    assert_allclose(ours.log_prob(X), theirs.log_prob(X), rtol=1e-6)  # x² − mean² cancels at 100


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
