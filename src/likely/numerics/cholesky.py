"""Cholesky factors of matrices scaled to a unit diagonal: the units of columns do not matter.

    H = D A D,  D² = diag(H)        A = L Lᵀ        R = D⁻¹ L⁻ᵀ,  R Rᵀ = H⁻¹

The pivots of L are 1 − R² of each column given the ones before it.  A pivot
that is only rounding is treated in two ways.  ``factorise``, for a search, fixes that column: its
entry in every solution is 0.  ``inverse_root``, for a covariance, uses the eigenvectors of A.

References
----------
Golub & Van Loan, Matrix Computations, 4th ed., §4.2.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.linalg import LinAlgError

from likely._typing import Array

LEAST_PIVOT = 1e-12  # 1 − R² of a column known to half the digits of a double
ROUNDING = 8 * float(np.finfo(np.float64).eps)  # a few units in the last place


@final
@dataclass(frozen=True, eq=False)
class ScaledCholesky:
    """The factor of a positive semidefinite matrix on the columns that are not fixed."""

    scale: Array  # (k,), of the kept columns
    lower: Array  # (k, k)
    kept: Array  # (k,), which columns
    size: int

    @property
    def held(self) -> tuple[int, ...]:
        """The columns that are linear combinations of earlier ones."""
        return tuple(np.setdiff1d(np.arange(self.size), self.kept).tolist())

    @property
    def least_pivot(self) -> float:
        """The smallest 1 − R² of a kept column given those before it."""
        return float(np.square(np.diag(self.lower)).min(initial=1.0))

    def solve(self, right: Array) -> Array:
        """H⁺ times the right-hand side: on the kept columns, and 0 on the others."""
        from scipy.linalg import solve_triangular

        scaled = (self.scale * right[self.kept].T).T
        half = solve_triangular(self.lower, scaled, lower=True, check_finite=False)
        whole = solve_triangular(self.lower, half, lower=True, trans="T", check_finite=False)
        out = np.zeros(right.shape)
        out[self.kept] = (self.scale * whole.T).T
        return out

    def inverse(self) -> Array:
        """H⁻¹, nan in the rows and columns that are fixed."""
        root = triangular_inverse(self.lower) * self.scale
        out = np.full((self.size, self.size), np.nan)
        out[np.ix_(self.kept, self.kept)] = np.dot(root.T, root)
        return out

    def inverse_root(self) -> Array:
        """R with R Rᵀ = H⁻¹, where no column is fixed."""
        return (triangular_inverse(self.lower) * self.scale).T

    def log_determinant(self) -> float:
        """ln |H| on the kept columns."""
        return 2 * float(np.log(np.diag(self.lower)).sum() - np.log(self.scale).sum())


def factorise(H: Array, *, first: int = 0, hold: bool = True) -> ScaledCholesky:
    """The factor of H; LinAlgError where H is indefinite or not finite.

    The last ``first`` columns, intercepts, come before the others: they are fixed last.  With
    ``hold=False`` no column is fixed: the diagonal of H was increased, and all pivots count.
    """
    diagonal = np.diag(H)
    if not np.isfinite(diagonal).all() or (diagonal < 0).any():
        raise LinAlgError("a diagonal entry is negative or not finite")
    positive = diagonal > 0
    units, scaled = unit_diagonal(H)
    scale = 1.0 / units
    everything = np.arange(len(H))
    if positive.all() or not hold:
        try:
            lower = np.linalg.cholesky(scaled)
            if not hold or (np.square(np.diag(lower)) > LEAST_PIVOT).all():
                return ScaledCholesky(scale, lower, everything, len(H))
        except LinAlgError:
            if not hold:
                raise
            # dependent columns, or an indefinite matrix: one column at a time shows which
    order = np.roll(everything, first)
    lower, kept = _one_by_one(scaled, order[positive[order]])
    return ScaledCholesky(scale[kept], lower, kept, len(H))


@final
@dataclass(frozen=True, eq=False)
class InverseRoot:
    """R with R Rᵀ = H⁻¹ on the range of H."""

    root: Array  # R, (d, rank)
    log_determinant: float  # ln |H| on its range: the sum of the logs of non-zero eigenvalues
    null: Array  # (d, d − rank): directions, in the units of A, in which H is 0
    scale: Array  # (d,), those units: θ moves by null / scale

    @property
    def rank(self) -> int:
        return self.root.shape[1]


def inverse_root(H: Array) -> InverseRoot:
    """By Cholesky; by eigenvectors where H is singular, indefinite or nearly so."""
    d = len(H)
    if not d:
        return InverseRoot(np.zeros((0, 0)), 0.0, np.zeros((0, 0)), np.zeros(0))
    scale, unit = unit_diagonal(H)
    try:
        lower = np.linalg.cholesky(unit)
        regular = np.square(np.diag(lower)).min() >= ROUNDING * d
    except LinAlgError:
        regular = False
    if not regular:
        return _on_range(scale, unit)
    log_determinant = 2 * float(np.sum(np.log(np.diag(lower)) + np.log(scale)))
    root = (triangular_inverse(lower) / scale).T
    return InverseRoot(root, log_determinant, np.zeros((d, 0)), scale)


def _on_range(scale: Array, unit: Array) -> InverseRoot:
    values, vectors = np.linalg.eigh(unit)
    kept = values > ROUNDING * len(values) * max(float(values[-1]), 0.0)
    values, inside = values[kept], vectors[:, kept]
    # H = B diag(λ) Bᵀ on its range, so the product of its non-zero eigenvalues is |λ| |BᵀB|
    R = np.linalg.qr(inside * scale[:, None], mode="r")
    log_determinant = float(np.sum(np.log(values)) + 2 * np.sum(np.log(np.abs(np.diag(R)))))
    root = inside / np.sqrt(values) / scale[:, None]
    return InverseRoot(root, log_determinant, vectors[:, ~kept], scale)


def unit_diagonal(matrix: Array) -> tuple[Array, Array]:
    """d and A with matrix = diag(d) A diag(d); d is 1 where the diagonal is not above 0."""
    diagonal = np.diag(matrix)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return scale, matrix / scale[:, None] / scale


def triangular_inverse(lower: Array) -> Array:
    """L⁻¹ by LAPACK, because a triangular solve of many columns waits for threads when small."""
    if not lower.size:
        return lower
    from scipy.linalg.lapack import dtrtri

    inverse, _ = dtrtri(lower, lower=1)
    return np.asarray(np.tril(inverse))


def _one_by_one(scaled: Array, order: Array) -> tuple[Array, Array]:
    """The factor on the columns that have a pivot, in that order."""
    from scipy.linalg import solve_triangular

    d = len(scaled)
    lower, kept = np.zeros((d, d)), np.zeros(d, dtype=np.intp)
    k = 0
    for j in order:
        row = np.empty(0)
        if k:
            row = solve_triangular(
                lower[:k, :k], scaled[kept[:k], j], lower=True, check_finite=False
            )
        pivot = scaled[j, j] - float(np.dot(row, row))
        if not pivot > -np.sqrt(LEAST_PIVOT):
            raise LinAlgError("the matrix is not positive semidefinite")
        if pivot > LEAST_PIVOT:
            lower[k, :k], lower[k, k], kept[k] = row, np.sqrt(pivot), j
            k += 1
    return lower[:k, :k].copy(), kept[:k].copy()
