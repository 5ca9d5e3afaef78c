"""Full Gaussians of rows with missing cells: densities of the observed cells, and expected moments.

    x_m | x_o ~ N( m_m + Σ_mo Σ_oo⁻¹ (x_o − m_o),  Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om )

Missing cells are replaced by their expectation, and the conditional covariance is added once per
row.  With the precision Λ = Σ⁻¹ only the missing cells are needed, which are few.  With c the
deviations x − m, 0 where a cell is missing, and y = Λc:

    x_m − m_m = −Λ_mm⁻¹ y_m        its covariance Λ_mm⁻¹
    (x_o − m_o)ᵀ Σ_oo⁻¹ (x_o − m_o) = cᵀy − y_mᵀ Λ_mm⁻¹ y_m        log|Σ_oo| = log|Σ| + log|Λ_mm|

Rows that lack the same number of cells are taken together, and equal patterns once.  Where Σ is
singular, or nearly, each pattern's own Σ_oo is factorised instead.

References
----------
Little & Rubin, Statistical Analysis with Missing Data, 3rd ed., §11.2.
Petersen & Pedersen, The Matrix Cookbook, §9.1 (inverses of blocks).
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.cholesky import InverseRoot, inverse_root
from likely.distributions.gaussian import LOG_2PI

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
        lacking = missing.sum(axis=1)
        numbers = np.unique(lacking)
        return cls(X, missing, tuple(_group(missing, lacking == m) for m in numbers if m))


def _group(missing: Array, chosen: Array) -> GapGroup:
    rows = np.flatnonzero(chosen)
    own = missing[rows]
    columns = np.nonzero(own)[1].reshape(len(rows), -1)
    if own.shape[1] > MOST_BITS:
        return GapGroup(rows, columns, np.arange(len(rows)))
    bits = np.dot(own, 1 << np.arange(own.shape[1]))
    _, first, pattern = np.unique(bits, return_index=True, return_inverse=True)
    return GapGroup(rows, columns[first], pattern.ravel())


class Completed(NamedTuple):
    """Rows as each component completes them."""

    log_prob: Array  # of the observed cells, (n, K)
    deviation: Array  # of the completed rows from the means, (K, n, d)
    conditional: tuple[Array, ...]  # covariances, (K, n_patterns, n_missing, n_missing) a group


def completed(
    mean: Array, covariance: Array, factors: tuple[InverseRoot, ...], gappy: GappyRows
) -> Completed:
    """The rows completed by Gaussians (K, d) and (K, d, d), whose covariances have ``factors``."""
    if any(factor.rank < mean.shape[1] for factor in factors):
        return _completed_by_pattern(mean, covariance, gappy)
    roots = np.stack([factor.root for factor in factors])
    precision = np.matmul(roots, np.swapaxes(roots, 1, 2))
    inflation = np.einsum("kii->ki", precision) * np.einsum("kii->ki", covariance)
    if not inflation.max(initial=1.0) < MOST_INFLATION:
        return _completed_by_pattern(mean, covariance, gappy)
    c = np.where(gappy.missing, 0.0, gappy.X - mean[:, None, :])
    y = np.matmul(c, precision)
    doubled = np.einsum("knj,knj->kn", c, y) + [[f.log_determinant] for f in factors]
    conditional = []
    for group in gappy.groups:
        blocks = precision[:, group.columns[:, :, None], group.columns[:, None, :]]
        inverse = np.linalg.inv(blocks)
        cells = slice(None), group.rows[:, None], group.columns[group.pattern]
        expected = -np.matmul(inverse[:, group.pattern], y[cells][..., None])[..., 0]
        doubled[:, group.rows] += np.einsum("kni,kni->kn", y[cells], expected)
        doubled[:, group.rows] += np.linalg.slogdet(blocks)[1][:, group.pattern]
        c[cells] = expected
        conditional.append(inverse)
    n_there = gappy.X.shape[1] - gappy.missing.sum(axis=1)
    log_prob = -0.5 * (doubled + n_there * LOG_2PI)
    log_prob[:, n_there == 0] = 0.0  # no cell is observed: not even rounding
    return Completed(log_prob.T, c, tuple(conditional))


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
    for k, r in enumerate(responsibility.T):
        scatter[k] += _spread([each[k] for each in rows.conditional], gappy, r)
    return weight, mean + shift, scatter


def _spread(conditional: list[Array], gappy: GappyRows, r: Array) -> Array:
    """Σ_i r_i (conditional covariance of row i), (d, d)."""
    d = gappy.X.shape[1]
    out = np.zeros(d * d)
    for group, covariance in zip(gappy.groups, conditional, strict=True):
        weight = np.bincount(group.pattern, r[group.rows], len(group.columns))
        cells = d * group.columns[:, :, None] + group.columns[:, None, :]
        values = weight[:, None, None] * covariance
        out += np.bincount(cells.ravel(), values.ravel(), d * d)
    return out.reshape(d, d)
