"""Intervals for a proportion, a mean, a sum of estimates, and rows in groups.

    Wilson    (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)
    mean      x̄ ± t_{n−1} s/√n
    matched   d̄ ± z s/√n of differences −1, 0 or 1, after two pseudo-observations were added
    sum       θ̂ ∓ √Σ a_k²(θ̂_k − end_k)²        from the ends of each θ̂_k
    surprise  the mean of a loss, and above it that of n + 1 rows, of which one is a surprise

Wilson's interval of at most three events (or of all but three) has Poisson's end instead on the
side of 0 (of 1): λ/n, with λ the quantile 1 − level of the gamma distribution with shape np̂.

A small loss may be small because its rare large values did not occur in these rows.  The upper end
is therefore that of the rows and of one more, which is a surprise of size L: with no surprise among
n rows it is about x̄ + 3L/n, as in the rule of three.

Rows of one group (a patient, a shop) are not independent, and G groups have less information than n
rows:

    mean      x̄ ± t_{G−1} SE,   SE² = G/(G−1) Σ_g (Σ_{i∈g} w_i (x_i − x̄))² / n²,   n = Σ w
    D         SE² / (s²/n), the design effect, taken as 1 at least
    effective n/D · (t_{n−1}/t_{G−1})² independent rows, for an interval that counts rows

References
----------
Wilson (1927), Probable inference, JASA 22.
Agresti & Min (2005), Simple improved confidence intervals for comparing matched proportions,
Statistics in Medicine 24.
Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical Science 16,
§4.1.2 (the ends of few events).
Hanley & Lippman-Hand (1983), If nothing goes wrong, is everything all right?, JAMA 249 (3/n).
Agresti & Coull (1998), Approximate is better than "exact", American Statistician 52.
Zou & Donner (2008), Construction of confidence limits about effect measures, Stat. in Medicine 27.
Cameron & Miller (2015), A practitioner's guide to cluster-robust inference, J. Human Resources 50,
eq. 11 and §VI.D (t of G − 1 degrees of freedom).
Korn & Graubard (1998), Confidence intervals for proportions with small expected number of positive
counts estimated from survey data, Survey Methodology 24 (the effective number of rows).
Kish, Survey Sampling (1965), §8.2 (the design effect).
"""

from collections.abc import Iterable, Mapping
from math import inf, isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput

Ends = tuple[float, float]

FEW_EVENTS = 3.0  # at most: Wilson's interval contains a rare share too seldom
NEGLIGIBLE = 1e-6  # nats per row: a smaller loss is rounding


class Estimate(NamedTuple):
    """A value, its interval, and the baseline: the value of the best constant on the same rows."""

    value: float
    low: float
    high: float
    baseline: float

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "interval": [self.low, self.high],
            "baseline": self.baseline,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Estimate":
        """Read what ``to_json`` wrote: null is NaN, and an end that is null is infinite."""
        low, high = record["interval"]
        value, constant = record["value"], record["baseline"]
        return cls(
            nan if value is None else value,
            -inf if low is None else low,
            inf if high is None else high,
            nan if constant is None else constant,
        )


NO_ESTIMATE = Estimate(nan, nan, nan, nan)  # of what could not be scored


def gain_to_json(gain: Estimate) -> dict[str, Any]:
    """A gain over the baseline, as every record of a score has it; its own baseline is 0."""
    return {"gain": gain.value, "gain_interval": [gain.low, gain.high]}


def gain_from_json(record: Mapping[str, Any]) -> Estimate:
    """Read what ``gain_to_json`` wrote."""
    ends = {"value": record["gain"], "interval": record["gain_interval"]}
    return Estimate.from_json({**ends, "baseline": 0.0})


def measures_to_json(estimates: Mapping[str, Estimate]) -> list[dict[str, Any]]:
    """Estimates by the name of their metric, in their order."""
    return [{"metric": name, **found.to_json()} for name, found in estimates.items()]


def measures_from_json(lines: Iterable[Mapping[str, Any]]) -> dict[str, Estimate]:
    """Read what ``measures_to_json`` wrote."""
    return {line["metric"]: Estimate.from_json(line) for line in lines}


def clearly_better(gain: Estimate) -> bool:
    """Whether a gain over the baseline is clearly above 0.

    Used for every statement about the baseline: by train, compare, final and the report.
    """
    return gain.low > 0


def clearly_worse(gain: Estimate) -> bool:
    """Whether a gain over the baseline is clearly below 0, by more than rounding.

    A model that found nothing in the columns is the baseline itself, but for its last digits.
    """
    return gain.high < -NEGLIGIBLE


def normal_quantile(level: float) -> float:
    """z of a two-sided interval."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def refuse_level(level: float) -> None:
    """Refuse a level of intervals outside (0, 1), such as 95."""
    if not 0 < level < 1:
        raise InvalidInput(
            f"level={level!r} was given; a number between 0 and 1 was expected. Use level=0.95."
        )


def student_quantile(level: float, degrees: float) -> float:
    """t of a two-sided interval; at least one degree of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(max(degrees, 1.0), (1 + level) / 2))


def wilson(share: float, n: float, level: float = 0.95) -> Ends:
    """Wilson's interval of a proportion ``share`` among ``n`` trials; (0, 1) without trials."""
    if n <= 0:
        return 0.0, 1.0
    z2 = normal_quantile(level) ** 2 / n
    centre = (share + z2 / 2) / (1 + z2)
    half = sqrt(z2 * max(share * (1 - share), 0.0) + z2 * z2 / 4) / (1 + z2)
    low = min(centre - half, _least_share(n * share, n, level))
    high = max(centre + half, 1 - _least_share(n * (1 - share), n, level))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def _least_share(events: float, n: float, level: float) -> float:
    """Poisson's lower end of the share of few events; 1 where Wilson's needs no repair."""
    from scipy.special import gammaincinv

    if not events <= FEW_EVENTS:
        return 1.0
    return float(gammaincinv(events, 1 - level)) / n if events > 0 else 0.0


def about_mean(mean: float, scatter: float, n: float, level: float = 0.95) -> Ends:
    """Student's interval; ``scatter`` is Σ w (x − mean)²."""
    if n < 2 or not (isfinite(mean) and isfinite(scatter)):
        return -inf, inf
    half = student_quantile(level, n - 1) * sqrt(max(scatter, 0.0) / (n - 1) / n)
    return mean - half, mean + half


def about_mean_with_surprise(
    mean: float, scatter: float, n: float, surprise: float, level: float = 0.95
) -> Ends:
    """Student's interval, whose end on the side of ``surprise`` allows for one more row with it."""
    low, high = about_mean(mean, scatter, n, level)
    if not isfinite(surprise - mean):
        return low, high
    step = (surprise - mean) / (n + 1)
    more = scatter + n * step * (surprise - mean)
    wider = about_mean(mean + step, more, n + 1, level)
    return (low, max(high, wider[1])) if step > 0 else (min(low, wider[0]), high)


def difference(first: Estimate, second: Estimate) -> Ends:
    """The interval of the difference of two independent estimates, from the ends of each."""
    value = first.value - second.value
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return value - below, value + above


def mean_of_independent(values: Array, low: Array, high: Array) -> Ends:
    """The interval of the mean of independent estimates, from the ends of each."""
    centre = float(values.mean())
    below = sqrt(float(np.square(values - low).sum())) / len(values)
    above = sqrt(float(np.square(high - values).sum())) / len(values)
    return centre - below, centre + above


def clipped(ends: Ends, lowest: float, highest: float) -> Ends:
    return max(ends[0], lowest), min(ends[1], highest)


def n_groups_of(groups: Codes) -> int:
    return len(np.unique(groups))


def group_totals(values: Array, groups: Codes) -> Array:
    """Σ_{i∈g} v_i of each group; ``values`` are (n,) or (n, p)."""
    _, place = np.unique(groups, return_inverse=True)
    totals = np.zeros((int(place.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(totals, place, values)
    return totals


def clustered_scatter(deviations: Array, groups: Codes, n: float) -> Array:
    """(G/n)² Σ_g S_g S_gᵀ: the scatter of a mean of G values, one per group.

    ``deviations`` are w (x − x̄), (n, p), and S_g their total in a group.
    """
    totals = group_totals(deviations, groups)
    return np.asarray((len(totals) / n) ** 2 * np.dot(totals.T, totals))


def about_matched_mean(mean: float, scatter: float, n: float, level: float = 0.95) -> Ends:
    """The interval of a mean of differences −1, 0 or 1; never of width 0.

    The two pseudo-observations are half a row each of the differences 1, −1, 0 and 0.
    """
    if n <= 0:
        return -1.0, 1.0
    total = n + 2
    centre = n * mean / total
    variance = (scatter + 1 + 2 * n * mean * mean / total) / total
    half = normal_quantile(level) * sqrt(variance / total)
    low, high = clipped((centre - half, centre + half), -1.0, 1.0)
    return min(low, mean), max(high, mean)


def rows_at_worst(groups: Codes, weight: Array | None = None) -> float:
    """n² / Σ n_g²: the effective number of independent rows, if those of a group are all equal."""
    sizes = group_totals(np.ones(len(groups)) if weight is None else weight, groups)
    return float(sizes.sum() ** 2 / np.square(sizes).sum())


def effective_rows(
    values: Array, groups: Codes, level: float = 0.95, weight: Array | None = None
) -> float:
    """The effective number of independent rows for the mean of ``values``; 0 for one group."""
    weight = np.ones(len(values)) if weight is None else weight
    n, n_groups = float(weight.sum()), n_groups_of(groups)
    if n_groups < 2:
        return 0.0
    with np.errstate(invalid="ignore"):  # inf − inf
        apart = values - np.dot(weight, values) / n
    alone = float(np.dot(weight, np.square(apart)))
    if not isfinite(alone) or alone <= 0:  # nothing shows how alike the rows of a group are
        rows = rows_at_worst(groups, weight)
    else:
        together = float(np.square(group_totals(weight * apart, groups)).sum())
        effect = n_groups / (n_groups - 1) * together / alone * (n - 1) / n
        rows = n / max(effect, 1.0)
    fewer = student_quantile(level, n - 1) / student_quantile(level, n_groups - 1)
    return rows * min(fewer, 1.0) ** 2
