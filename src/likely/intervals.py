"""Intervals from summaries: of a proportion, of a mean, of a sum of independent estimates.

    Wilson    (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)
    mean      x̄ ± t_{n−1} s/√n
    sum       θ̂ ∓ √Σ a_k²(θ̂_k − end_k)²        from the ends of each θ̂_k

References
----------
Wilson (1927), Probable inference, JASA 22.
Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical Science 16.
Zou & Donner (2008), Construction of confidence limits about effect measures, Stat. in Medicine 27.
"""

from math import inf, isfinite, sqrt

import numpy as np

from likely._typing import Array

Ends = tuple[float, float]


def normal_quantile(level: float) -> float:
    """z of a two-sided interval."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def wilson(share: float, n: float, level: float = 0.95) -> Ends:
    """Of a proportion ``share`` among ``n`` trials; (0, 1) when there were none."""
    if n <= 0:
        return 0.0, 1.0
    z2 = normal_quantile(level) ** 2 / n
    centre = (share + z2 / 2) / (1 + z2)
    half = sqrt(z2 * max(share * (1 - share), 0.0) + z2 * z2 / 4) / (1 + z2)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)


def about_mean(mean: float, scatter: float, n: float, level: float = 0.95) -> Ends:
    """Student's interval; ``scatter`` is Σ w (x − mean)²."""
    from scipy.special import stdtrit

    if n < 2 or not (isfinite(mean) and isfinite(scatter)):
        return -inf, inf
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sqrt(max(scatter, 0.0) / (n - 1) / n)
    return mean - half, mean + half


def mean_of_independent(values: Array, low: Array, high: Array) -> Ends:
    """Of the mean of independent estimates, from the ends of each."""
    centre = float(values.mean())
    below = sqrt(float(np.square(values - low).sum())) / len(values)
    above = sqrt(float(np.square(high - values).sum())) / len(values)
    return centre - below, centre + above


def clipped(ends: Ends, lowest: float, highest: float) -> Ends:
    return max(ends[0], lowest), min(ends[1], highest)
