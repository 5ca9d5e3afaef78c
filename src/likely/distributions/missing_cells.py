"""Full Gaussians of rows with missing cells: densities of the observed cells, and expected moments.

    x_m | x_o ~ N( m_m + Σ_mo Σ_oo⁻¹ (x_o − m_o),  Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om )

Missing cells are replaced by their expectation, and the conditional covariance is added once per
row.  With the precision Λ = Σ⁻¹ only the missing cells are needed, which are few.  With c the
deviations x − m, 0 where a cell is missing, and y = Λc:

    x_m − m_m = −Λ_mm⁻¹ y_m        its covariance Λ_mm⁻¹
    (x_o − m_o)ᵀ Σ_oo⁻¹ (x_o − m_o) = cᵀy − y_mᵀ Λ_mm⁻¹ y_m        log|Σ_oo| = log|Σ| + log|Λ_mm|

Rows that lack the same number of cells are taken together, and equal patterns once.  Where Σ is
singular, or nearly, each pattern's own Σ_oo is factorised instead.  The E step of a mixture has
another form, row by row, in a compiled loop (``fast/missing``).

References
----------
Little & Rubin, Statistical Analysis with Missing Data, 3rd ed., §11.2.
Petersen & Pedersen, The Matrix Cookbook, §9.1 (inverses of blocks).
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.distributions.full_moments import ExpectedSums
from likely.distributions.gaussian import LOG_2PI
from likely.distributions.responsibility import for_loop
from likely.numerics.cholesky import InverseRoot, inverse_root

MOST_BITS = 62  # columns whose pattern is a whole number
MOST_INFLATION = 1e8  # of a variance, 1 / (1 − R²): beyond, blocks of Λ lose too many digits


@final
@dataclass(frozen=True, eq=False)
class GapGroup:
    """The rows that lack a number of cells."""

    rows: Codes  # (n,)
    columns: Codes  # missing in each pattern, (n_patterns, n_missing)
    pattern: Codes  # of each row, (n,)


@final
@dataclass(frozen=True, eq=False)
class GappyRows:
    """Rows, and which of their cells are missing."""

    X: Array  # (n, d), NaN where a cell is missing
    missing: Array  # (n, d)
    groups: tuple[GapGroup, ...]  # of the rows that lack a cell

    @classmethod
    def of(cls, X: Array) -> "GappyRows":
        missing = np.isnan(X)
        rows = np.flatnonzero(missing.any(axis=1))
        first = pattern = np.arange(len(rows))
        if X.shape[1] <= MOST_BITS:
            bits = np.dot(missing[rows], 1 << np.arange(X.shape[1]))
            _, first, pattern = np.unique(bits, return_index=True, return_inverse=True)
        patterns = missing[rows[first]]
        sizes = patterns.sum(axis=1)
        groups = (
            _group(rows, pattern.ravel(), patterns, sizes == size) for size in np.unique(sizes)
        )
        return cls(X, missing, tuple(groups))


def _group(rows: Codes, pattern: Codes, patterns: Array, chosen: Array) -> GapGroup:
    """The rows with some of the patterns, all of which lack as many cells."""
    columns = np.nonzero(patterns[chosen])[1].reshape(np.count_nonzero(chosen), -1)
    here = chosen[pattern]
    return GapGroup(rows[here], columns, (np.cumsum(chosen) - 1)[pattern[here]])


class Completed(NamedTuple):
    """Rows as each component completes them."""

    log_prob: Array  # of the observed cells, (n, K)
    deviation: Array  # of the completed rows from the means, (K, n, d)
    conditional: tuple[Array, ...]  # covariances, (K, n_patterns, n_missing, n_missing) a group


def completed(
    mean: Array, covariance: Array, factors: tuple[InverseRoot, ...], gappy: GappyRows
) -> Completed:
    """The rows completed by Gaussians (K, d) and (K, d, d), whose covariances have ``factors``."""
    precision = precisions(covariance, factors)
    if precision is None:
        return _completed_by_pattern(mean, covariance, gappy)
    c = np.where(gappy.missing, 0.0, gappy.X - mean[:, None, :])
    y = np.matmul(c, precision)
    doubled = np.einsum("knj,knj->kn", c, y) + [[f.log_determinant] for f in factors]
    conditional = []
    for group in gappy.groups:
        blocks = precision[:, group.columns[:, :, None], group.columns[:, None, :]]
        inverse, log_determinant = _inverses(blocks)
        cells = slice(None), group.rows[:, None], group.columns[group.pattern]
        outer = y[cells]
        expected = -np.einsum("knij,knj->kni", inverse[:, group.pattern], outer)
        doubled[:, group.rows] += np.einsum("kni,kni->kn", outer, expected)
        doubled[:, group.rows] += log_determinant[:, group.pattern]
        c[cells] = expected
        conditional.append(inverse)
    n_there = gappy.X.shape[1] - gappy.missing.sum(axis=1)
    log_prob = -0.5 * (doubled + n_there * LOG_2PI)
    log_prob[:, n_there == 0] = 0.0  # no cell is observed: not even rounding
    return Completed(log_prob.T, c, tuple(conditional))


def precisions(covariance: Array, factors: tuple[InverseRoot, ...]) -> Array | None:
    """Λ of each Gaussian, (K, d, d); None where a covariance is singular, or nearly."""
    if any(factor.rank < covariance.shape[-1] for factor in factors):
        return None
    roots = np.stack([factor.root for factor in factors])
    precision = np.matmul(roots, np.swapaxes(roots, 1, 2))
    inflation = np.einsum("kii->ki", precision) * np.einsum("kii->ki", covariance)
    return precision if inflation.max(initial=1.0) < MOST_INFLATION else None


def gappy_sums(
    mean: Array,
    covariance: Array,
    factors: tuple[InverseRoot, ...],
    X: Array,
    log_mixing: Array,
    weight: Array | None,
) -> ExpectedSums | None:
    """An E step and its sums by a compiled loop; None where a covariance is singular, or nearly."""
    precision = precisions(covariance, factors)
    if precision is None:
        return None
    from likely.fast.missing import gappy_gaussian_expectation

    n_components, d = mean.shape
    log_determinant = np.array([factor.log_determinant for factor in factors])
    count, first = np.zeros(n_components), np.zeros((n_components, d))
    second = np.zeros((n_components, d, d))
    log_likelihood = gappy_gaussian_expectation(
        for_loop(X),
        np.ones(len(X)) if weight is None else for_loop(weight),
        for_loop(mean),
        for_loop(precision),
        log_mixing - 0.5 * (d * LOG_2PI + log_determinant),
        count,
        first,
        second,
    )
    if not np.isfinite(log_likelihood):
        return None
    there = count[:, None] > 0
    shift = np.divide(first, count[:, None], out=np.zeros_like(first), where=there)
    scatter = second - shift[:, :, None] * first[:, None, :]
    return ExpectedSums(count, mean + shift, scatter, log_likelihood)


def _inverses(blocks: Array) -> tuple[Array, Array]:
    """The inverses of symmetric positive definite matrices (…, m, m), and log|·|."""
    if blocks.shape[-1] == 1:  # most rows that lack a cell lack one
        return 1 / blocks, np.log(blocks[..., 0, 0])
    return np.linalg.inv(blocks), np.linalg.slogdet(blocks)[1]


def _completed_by_pattern(mean: Array, covariance: Array, gappy: GappyRows) -> Completed:
    """The rows completed with a factor of Σ_oo for each component and pattern, on its range."""
    log_prob = np.empty((len(mean), len(gappy.X)))
    c = np.where(gappy.missing, 0.0, gappy.X - mean[:, None, :])
    whole = np.flatnonzero(~gappy.missing.any(axis=1))
    conditional = tuple(
        np.empty((len(mean), *group.columns.shape, group.columns.shape[1]))
        for group in gappy.groups
    )
    for k, matrix in enumerate(covariance):
        log_prob[k, whole] = _log_prob(c[k, whole], inverse_root(matrix))
        for group, inside in zip(gappy.groups, conditional, strict=True):
            for number, gone in enumerate(group.columns):
                rows = group.rows[group.pattern == number]
                there = np.setdiff1d(np.arange(len(matrix)), gone)
                factor = inverse_root(matrix[np.ix_(there, there)])
                gain = np.dot(np.dot(matrix[np.ix_(gone, there)], factor.root), factor.root.T)
                seen = c[k][np.ix_(rows, there)]
                log_prob[k, rows] = _log_prob(seen, factor)
                c[k][np.ix_(rows, gone)] = np.dot(seen, gain.T)
                inside[k, number] = matrix[np.ix_(gone, gone)]
                inside[k, number] -= np.dot(gain, matrix[np.ix_(there, gone)])
    return Completed(log_prob.T, c, conditional)


def _log_prob(c: Array, factor: InverseRoot) -> Array:
    z = np.dot(c, factor.root)
    constant = factor.rank * LOG_2PI + factor.log_determinant
    return np.asarray(-0.5 * (np.einsum("ij,ij->i", z, z) + constant))


def expected_moments(
    mean: Array, rows: Completed, gappy: GappyRows, responsibility: Array
) -> tuple[Array, Array, Array]:
    """Weight (K, 1), mean (K, d) and scatter (K, d, d) of rows that were completed."""
    weight = responsibility.sum(axis=0)[:, None]
    weighted = rows.deviation * responsibility.T[:, :, None]
    first = weighted.sum(axis=1)
    shift = np.divide(first, weight, out=np.zeros(mean.shape), where=weight > 0)
    scatter = np.matmul(np.swapaxes(rows.deviation, 1, 2), weighted)
    scatter -= shift[:, :, None] * first[:, None, :]
    return weight, mean + shift, scatter + _spread(rows.conditional, gappy, responsibility)


def _spread(conditional: tuple[Array, ...], gappy: GappyRows, responsibility: Array) -> Array:
    """Σ_i r_ik (conditional covariance of row i), (K, d, d)."""
    n_components, d = responsibility.shape[1], gappy.X.shape[1]
    component = np.arange(n_components)
    out = np.zeros(n_components * d * d)
    for group, covariance in zip(gappy.groups, conditional, strict=True):
        n_patterns = len(group.columns)
        place = group.pattern[:, None] + n_patterns * component
        r = responsibility[group.rows]
        weight = np.bincount(place.ravel(), r.ravel(), n_components * n_patterns)
        cells = d * group.columns[:, :, None] + group.columns[:, None, :]
        cells = cells + d * d * component[:, None, None, None]
        values = weight.reshape(n_components, n_patterns, 1, 1) * covariance
        out += np.bincount(cells.ravel(), values.ravel(), len(out))
    return out.reshape(n_components, d, d)
