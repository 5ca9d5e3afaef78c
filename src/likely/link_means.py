"""Means and probabilities of a linear predictor, by link: all that a prediction needs.

    μ = g⁻¹(η)        valid η: those whose mean both the response and the link can have
    two classes       ln(1 − μ), ln μ
    ordered classes   ln P(Y = k) = ln(G(b_{k−1} + η) − G(b_k + η)),   G = g⁻¹,  b_{−1} = ∞

The difference of ordered classes is taken between the two smaller tails and in logs, so that the
probability of a class far out in either tail has full precision.
"""

import numpy as np

from likely._typing import Array, Interval
from likely.links import Link, Log, UnitLink
from likely.special import exp, expm1, log, log1p


def common_means(link: Link, means: Interval) -> Interval:
    """The means that are valid for both the response, whose means are given, and the link."""
    return Interval(max(means.low, link.means.low), min(means.high, link.means.high))


def valid_etas(link: Link, means: Interval) -> Interval:
    """The valid η: those of the link whose means the response can have."""
    with np.errstate(divide="ignore"):  # ln 0 and 1/0 are ends
        ends = sorted(float(link.link(np.asarray(end))) for end in common_means(link, means))
    return Interval(max(ends[0], link.etas.low), min(ends[1], link.etas.high))


def outside(etas: Interval, eta: Array) -> Array:
    """Which predictors have no valid mean."""
    low, high = etas
    if low == -np.inf and high == np.inf:
        return np.zeros(np.shape(eta), dtype=bool)
    return np.asarray(~((eta > low) & (eta < high)))


def mean_or_end(link: Link, means: Interval, eta: Array) -> Array:
    """g⁻¹(η); where η is not valid, 0 or 1, or nan where y has no such ends."""
    etas = valid_etas(link, means)
    if means.high == 1:
        return link.inverse(np.clip(eta, *etas))
    beyond = outside(etas, eta)
    if not beyond.any():
        return link.inverse(eta)
    return np.where(beyond, np.nan, link.inverse(np.where(beyond, 1.0, eta)))


def log_both_classes(link: Link, eta: Array) -> tuple[Array, Array]:
    """ln(1 − μ) and ln μ; −inf where η is at an end and the link is not a distribution function."""
    if isinstance(link, UnitLink):
        return link.log_complement(eta), link.log_mean(eta)
    inside = np.clip(eta, *valid_etas(link, Interval(0, 1)))
    with np.errstate(divide="ignore"):
        if isinstance(link, Log):
            return log_rest(inside), inside
        return log1p(-link.inverse(inside)), log(link.inverse(inside))


def log_rest(eta: Array) -> Array:
    """ln(1 − e^η) for η < 0: where 1 − e^η is near 1, its logarithm would have few digits."""
    return np.where(np.greater(eta, -1.0), log(-expm1(eta)), log1p(-exp(np.minimum(eta, -1.0))))[()]


def log_ordered_classes(link: UnitLink, eta: Array, thresholds: Array) -> Array:
    """ln P(Y = k) of K ordered classes, (n, K), from their K − 1 thresholds."""
    at = with_ends(thresholds) + np.asarray(eta)[:, None]
    return log_between(link, at[:, 1:], at[:, :-1])


def with_ends(thresholds: Array) -> Array:
    """The thresholds, with ∞ before the first and −∞ after the last."""
    return np.concatenate([[np.inf], thresholds, [-np.inf]])


def log_between(link: UnitLink, lower: Array, upper: Array) -> Array:
    """ln(G(upper) − G(lower)), from the nearer tail."""
    right = upper + lower > 0
    far, near = np.where(right, -lower, upper), np.where(right, -upper, lower)
    larger, smaller = _log_tail(link, far, right), _log_tail(link, near, right)
    return larger + log(-expm1(smaller - larger))


def _log_tail(link: UnitLink, distance: Array, right: Array) -> Array:
    """ln G(a), or on the right ln(1 − G(−a))."""
    return np.where(right, link.log_complement(-distance), link.log_mean(distance))
