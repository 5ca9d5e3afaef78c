"""Moments of full Gaussians: of complete rows, by a compiled loop, and of rows with missing cells.

    n_k = Σ_i r_ik        m_k = Σ_i r_ik x_i / n_k        S_k = Σ_i r_ik (x_i − m_k)(x_i − m_k)ᵀ

The E and M sums of a mixture also have a fast form in the whitened space.  A compiled loop sums n,
a = Σ r z and B = Σ r z zᵀ (``fast/mixture``), centred on the means of the last step:

    z = Wᵀ(x − m),   W Wᵀ = Σ⁻¹        m' = m + Rᵀā,   S' = Rᵀ (B − n ā āᵀ) R,   R = W⁻¹

Missing cells are replaced by their expectation, and the conditional covariance is added once per
row:

    x_m | x_o ~ N( m_m + Σ_mo Σ_oo⁻¹ (x_o − m_o),  Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om )

With the precision Λ = Σ⁻¹ only the missing cells are needed, which are few.  With c the deviations
x − m, 0 where a cell is missing, and y = Λc:

    x_m − m_m = −Λ_mm⁻¹ y_m        its covariance Λ_mm⁻¹
    (x_o − m_o)ᵀ Σ_oo⁻¹ (x_o − m_o) = cᵀy − y_mᵀ Λ_mm⁻¹ y_m        log|Σ_oo| = log|Σ| + log|Λ_mm|

Rows that lack the same number of cells are taken together, and equal patterns once.  Where Σ is
singular, or nearly, each pattern's own Σ_oo is factorised instead.  The E step of a mixture has
another form, row by row, in a compiled loop (``fast/missing``).

References
----------
Chan, Golub & LeVeque, Algorithms for computing the sample variance, 1983.
Little & Rubin, Statistical Analysis with Missing Data, 3rd ed., §11.2.
Petersen & Pedersen, The Matrix Cookbook, §9.1 (inverses of blocks).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.distributions.base import CLEARLY, SMALLEST_SHARE, STRONG_SHARE, Statistics
from likely.distributions.gaussian import LOG_2PI, DiagonalMoments, merged_means, refuse_extremes
from likely.distributions.responsibility import (
    Labels,
    Responsibility,
    for_loop,
    refuse_infinity,
    totals,
    united,
    weighted_sums,
)
from likely.errors import MissingCells
from likely.numerics.cholesky import InverseRoot, inverse_root
from likely.numerics.moments import covariance_beyond_rounding

MOST_FEATURES = 64  # beyond, BLAS on whole blocks is as fast as the compiled loop
MOST_BITS = 62  # columns whose pattern is a whole number
MOST_INFLATION = 1e8  # of a variance, 1 / (1 − R²): beyond, blocks of Λ lose too many digits


@final
@dataclass(frozen=True, eq=False)
class FullMoments(Statistics):
    """Weight n_k, mean m_k and scatter Σ_i r_ik (x_i − m_k)(x_i − m_k)ᵀ.

    ``scatter`` has one matrix per component, or one that sums over them (tied).
    """

    saved_before: ClassVar = {"values": None}  # what files of earlier versions lack

    weight: Array  # (n_components, 1)
    mean: Array  # (n_components, n_features)
    scatter: Array  # (n_components, d, d), or (1, d, d) when tied
    degrees: float = 0.0  # of a prior: they divide the scatter but do not move the mean
    values: Array | None = None  # distinct ones, (m, n_features), where a floor needs them

    def __add__(self, other: Self) -> Self:
        weight, mean, between = merged_means(self.weight, self.mean, other.weight, other.mean)
        delta = other.mean - self.mean
        moved = (between * delta)[:, :, None] * delta[:, None, :]
        if len(self.scatter) < len(moved):
            moved = moved.sum(axis=0, keepdims=True)
        scatter = self.scatter + other.scatter + moved
        degrees, values = self.degrees + other.degrees, united(self.values, other.values)
        return type(self)(weight, mean, scatter, degrees, values)

    def scaled(self, factor: float) -> Self:
        weight, scatter, degrees = self.weight, self.scatter, self.degrees
        return replace(
            self, weight=factor * weight, scatter=factor * scatter, degrees=factor * degrees
        )

    def without_covariances(self) -> DiagonalMoments:
        scatter = np.diagonal(self.scatter, axis1=1, axis2=2)
        return DiagonalMoments(self.weight, self.mean, scatter, values=self.values)

    def prior_statistics(self, family: Any, alpha: Any, shape: tuple[int, int]) -> Any:
        return self.without_covariances().prior_statistics(family, alpha, shape)

    def pooled(self) -> Self:
        """These moments with one scatter that sums over the components."""
        scatter = self.scatter.sum(axis=0, keepdims=True)
        return replace(self, scatter=scatter)

    def collapsed(self, family: Any, prior: "FullMoments") -> tuple[int, ...]:
        """Components without variance in a direction in which all rows vary."""
        if len(self.scatter) < 2:
            return ()
        total = self._total_scatter()
        used = self.without_covariances().pooled_variance() > 0
        if not used.any():
            return ()
        units = np.sqrt(np.multiply.outer(np.diag(total)[used], np.diag(total)[used]))
        whole = total[np.ix_(used, used)] / units
        flat = np.zeros(len(self.mean), dtype=bool)
        for k, own in enumerate(self.scatter):
            share = float(np.mean(np.diag(prior.scatter[k])[used] / np.diag(total)[used]))
            if share >= STRONG_SHARE:
                return ()
            share = max(share, SMALLEST_SHARE)
            values, vectors = np.linalg.eigh(own[np.ix_(used, used)] / units)
            narrow = vectors[:, values < share]
            spread = np.einsum("jv,jl,lv->v", narrow, whole, narrow)
            flat[k] = bool((spread >= CLEARLY * share).any())
        return tuple(np.flatnonzero(flat & (self.weight[:, 0] > 0)).tolist())

    def plane(self) -> tuple[int, int] | None:
        n = float(self.weight.sum())
        size = np.abs(self.mean).max(axis=0)
        whole = covariance_beyond_rounding(self._total_scatter() / n, size)
        rank, n_varying = inverse_root(whole).rank, int(np.count_nonzero(np.diag(whole)))
        return (rank, n_varying) if rank < n_varying else None

    def _total_scatter(self) -> Array:
        """T: within the components, and between their means."""
        centre = np.sum(self.weight * self.mean, axis=0) / self.weight.sum()
        between = np.dot((self.weight * (self.mean - centre)).T, self.mean - centre)
        return np.asarray(self.scatter.sum(axis=0) + between)


def full_moments(X: Array, responsibility: Responsibility, *, tied: bool = False) -> FullMoments:
    """Centred moments of one block of complete rows."""
    X = np.asarray(X, dtype=float)
    weight = totals(responsibility)[:, None]
    with np.errstate(invalid="ignore", over="ignore"):  # looked at below
        sums = weighted_sums(responsibility, X)
    if not np.isfinite(sums).all():
        refuse_infinity(X)
        column = np.nonzero(np.isnan(X))[1]
        if len(column):
            raise MissingCells(
                f"Full covariances need complete rows; found NaN in column {int(column[0])}. "
                "Fill it, or use expected_statistics of a fitted distribution."
            )
    mean = np.divide(sums, weight, out=np.zeros(sums.shape), where=weight > 0)
    with np.errstate(over="ignore", invalid="ignore"):  # looked at below
        if isinstance(responsibility, Labels):
            first, scatter = _centred_by_label(X, responsibility, mean, tied=tied)
        else:
            centred = [_centred_sums(X - m, r) for m, r in zip(mean, responsibility.T, strict=True)]
            first, scatter = (np.stack(each) for each in zip(*centred, strict=True))
            scatter = scatter.sum(axis=0, keepdims=True) if tied else scatter
    refuse_extremes(X, np.einsum("kjj->kj", scatter))
    shift = np.divide(first, weight, out=np.zeros(mean.shape), where=weight > 0)
    moved = shift[:, :, None] * first[:, None, :]  # of a mean that was off by rounding
    scatter = scatter - (moved.sum(axis=0, keepdims=True) if tied else moved)
    return FullMoments(weight, mean + shift, scatter)


def _centred_sums(centred: Array, r: Array) -> tuple[Array, Array]:
    """Σ r d, (d,), and Σ r d dᵀ, (d, d), of deviations d."""
    return np.dot(r, centred), np.dot(centred.T, centred * r[:, None])


def _centred_by_label(X: Array, labels: Labels, mean: Array, *, tied: bool) -> tuple[Array, Array]:
    """Σ w d by component, (K, d), and Σ w d dᵀ, (K or 1, d, d), of deviations d from its mean."""
    weight = labels.weights()
    if tied:
        known = labels.codes >= 0
        here = Labels(labels.codes[known], labels.n_components, weight[known])
        centred = X[known] - mean[here.codes]
        return weighted_sums(here, centred), _centred_sums(centred, weight[known])[1][None]
    first, second = np.zeros(mean.shape), np.zeros((*mean.shape, mean.shape[1]))
    for k in range(labels.n_components):
        rows = labels.codes == k
        first[k], second[k] = _centred_sums(X[rows] - mean[k], weight[rows])
    return first, second


class ExpectedSums(NamedTuple):
    """N_k, the new means and scatters, and Σ w log p(x)."""

    weight: Array  # N, (n_components,)
    mean: Array  # (n_components, d)
    scatter: Array  # (n_components, d, d)
    log_likelihood: float


def whitened_sums(
    mean: Array,
    factors: tuple[InverseRoot, ...],
    X: Array,
    log_mixing: Array,
    weight: Array | None,
) -> ExpectedSums | None:
    """One pass over a block; None where a cell is missing or a factor is not triangular."""
    from likely.fast.mixture import full_gaussian_expectation

    n_components, d = mean.shape
    if any(factor.rank < d for factor in factors):
        return None
    W = np.stack([factor.root for factor in factors])
    if np.tril(W, -1).any():
        return None
    log_determinant = np.array([factor.log_determinant for factor in factors])
    count, first = np.zeros(n_components), np.zeros((n_components, d))
    second = np.zeros((n_components, d, d))
    log_likelihood = full_gaussian_expectation(
        for_loop(X),
        np.ones(len(X)) if weight is None else for_loop(weight),
        for_loop(mean),
        W,
        log_mixing - 0.5 * (d * LOG_2PI + log_determinant),
        count,
        first,
        second,
    )
    if not np.isfinite(log_likelihood):
        return None
    return _turned_back(mean, W, count, first, second, log_likelihood)


def _turned_back(
    mean: Array, W: Array, count: Array, first: Array, second: Array, log_likelihood: float
) -> ExpectedSums:
    from scipy.linalg.lapack import dtrtri

    there = count[:, None] > 0
    shift = np.divide(first, count[:, None], out=np.zeros_like(first), where=there)
    new_mean, scatter = np.empty_like(first), np.empty_like(second)
    for k in range(len(count)):
        root = dtrtri(W[k], lower=0)[0]  # W is triangular, of unit diagonal up to scales
        centred = np.triu(second[k]) + np.triu(second[k], 1).T
        centred -= count[k] * np.multiply.outer(shift[k], shift[k])
        new_mean[k] = mean[k] + np.dot(shift[k], root)
        scatter[k] = np.dot(root.T, np.dot(centred, root))
    return ExpectedSums(count, new_mean, scatter, log_likelihood)


# ── Rows with missing cells: densities of the observed cells, and expected moments ────────────────


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
