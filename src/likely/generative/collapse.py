"""Components that have collapsed: their spread comes from the prior, not from their rows.

    in units of the data's own standard deviations, for some direction v:
    vᵀ S_k v < p   (the rows spread less than the prior)   and   vᵀ T v ≥ 100 p   (all rows do not)

S_k is the scatter of component k, T that of all rows, p the prior's share of T.  A component on
repeated rows has no spread in any direction; one on a column of few distinct values has none
along it.  Where all rows have none (a repeated column) nothing has collapsed.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.base import Family
from likely.distributions.full_gaussian import FullMoments
from likely.distributions.gaussian import DiagonalFamily, DiagonalMoments
from likely.distributions.product import ProductFamily

SMALLEST_SHARE = 1e-13  # without a prior: a spread that is lost to rounding
CLEARLY = 100.0
STRONG_SHARE = 1e-4  # a prior worth this much keeps components open by itself


def collapsed(family: Family, statistics: Any, prior: Any) -> tuple[int, ...]:
    """Which components have collapsed; one alone cannot."""
    if isinstance(family, ProductFamily):
        parts = zip(family.parts, statistics.parts, prior.parts, strict=True)
        found = {k for part, s, p in parts for k in collapsed(part.family, s, p)}
        return tuple(sorted(found))
    if isinstance(statistics, DiagonalMoments) and len(statistics.mean) > 1:
        return _flat_columns(family, statistics, prior)
    if isinstance(statistics, FullMoments) and len(statistics.scatter) > 1:
        return _flat_directions(statistics, prior)
    return ()


def _flat_columns(family: Family, statistics: DiagonalMoments, prior: Any) -> tuple[int, ...]:
    weight = np.broadcast_to(statistics.weight, statistics.mean.shape)
    whole = statistics.pooled_variance() * weight.sum(axis=0)
    used = whole > 0
    own, imagined = statistics.scatter[:, used], prior.scatter[:, used]
    if (imagined >= STRONG_SHARE * whole[used]).all():
        return ()
    if isinstance(family, DiagonalFamily) and family.spherical:  # one variance for all columns
        own, imagined = own.sum(axis=1, keepdims=True), imagined.sum(axis=1, keepdims=True)
        flat = own < np.maximum(imagined, SMALLEST_SHARE * whole.sum())
    else:
        flat = own < np.maximum(imagined, SMALLEST_SHARE * whole[used])
    return _numbers(flat.any(axis=1) & (weight.max(axis=1) > 0))


def _flat_directions(statistics: FullMoments, prior: Any) -> tuple[int, ...]:
    total = _total_scatter(statistics)
    used = np.diag(total) > 0
    units = np.sqrt(np.multiply.outer(np.diag(total)[used], np.diag(total)[used]))
    whole = total[np.ix_(used, used)] / units
    flat = np.zeros(len(statistics.mean), dtype=bool)
    for k, own in enumerate(statistics.scatter):
        share = float(np.mean(np.diag(prior.scatter[k])[used] / np.diag(total)[used]))
        if share >= STRONG_SHARE:
            return ()
        share = max(share, SMALLEST_SHARE)
        values, vectors = np.linalg.eigh(own[np.ix_(used, used)] / units)
        narrow = vectors[:, values < share]
        spread = np.einsum("jv,jl,lv->v", narrow, whole, narrow)
        flat[k] = bool((spread >= CLEARLY * share).any())
    return _numbers(flat & (statistics.weight[:, 0] > 0))


def _total_scatter(statistics: FullMoments) -> Array:
    """T: within the components, and between their means."""
    weight, mean = statistics.weight, statistics.mean
    centre = np.sum(weight * mean, axis=0) / weight.sum()
    between = np.dot((weight * (mean - centre)).T, mean - centre)
    return np.asarray(statistics.scatter.sum(axis=0) + between)


def _numbers(flags: Array) -> tuple[int, ...]:
    return tuple(int(k) for k in np.flatnonzero(flags))
