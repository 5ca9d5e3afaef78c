"""A covariance matrix, factorised so that whitening is a product.

    z = W ᵀ(x − m),   W Wᵀ = Σ⁻¹        log|Σ|

The matrix is first scaled to unit diagonal, so columns of any size are treated alike.  A
singular Σ has no inverse; W then whitens its range, and the rank says how much is left.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri

from likely._typing import Array
from likely.errors import InvalidInput

SMALLEST_PIVOT = 1e-7  # of a unit-diagonal Cholesky factor; its square is lost to rounding
SMALLEST_EIGENVALUE = 1e-13  # × d, of a correlation matrix
SYMMETRY = 1e-10  # relative: what rounding may leave between a covariance and its transpose


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """W, log|Σ| and the rank of one covariance matrix."""

    whitening: Array  # W, (d, d); the columns outside the range are 0
    log_determinant: float  # of Σ on its range: Σ log of its non-zero eigenvalues
    rank: int


def factorise(covariance: Array) -> Factor:
    """By Cholesky; by eigenvectors where Σ is singular."""
    if not len(covariance):
        return Factor(np.zeros((0, 0)), 0.0, 0)  # a row with nothing observed
    scale = np.sqrt(np.diag(covariance))
    used = scale > 0
    safe = np.where(used, scale, 1.0)
    correlation = covariance / np.multiply.outer(safe, safe)
    if used.all():
        try:
            L = cholesky(correlation, lower=True)
        except LinAlgError:
            L = np.zeros_like(correlation)
        if np.diag(L).min(initial=np.inf) > SMALLEST_PIVOT:
            inverse, _ = dtrtri(L, lower=1)  # a triangular solve wakes BLAS threads: 1000 × slower
            return Factor(
                (inverse / scale).T, 2 * float(np.sum(np.log(np.diag(L)) + np.log(scale))), len(L)
            )
    return _on_range(correlation, safe)


def _on_range(correlation: Array, scale: Array) -> Factor:
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SMALLEST_EIGENVALUE * max(1, len(values))
    roots = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    W = (vectors * roots) / scale[:, None]
    # Σ = B diag(λ) Bᵀ on its range, so the product of its non-zero eigenvalues is |λ| |BᵀB|
    R = np.linalg.qr(vectors[:, kept] * scale[:, None], mode="r")
    log_determinant = float(np.sum(np.log(values[kept])) + 2 * np.sum(np.log(np.abs(np.diag(R)))))
    return Factor(W, log_determinant, int(kept.sum()))


def refuse_not_positive_definite(matrix: Array, name: str) -> None:
    """Refuse what is not the covariance of a density."""
    if not np.allclose(matrix, matrix.T, rtol=SYMMETRY, atol=0.0):
        gap = np.abs(matrix - matrix.T).max()
        raise InvalidInput(
            f"{name} is not symmetric: cells across the diagonal differ by {gap:.3g}; a covariance "
            "must equal its transpose. Pass (S + S.T) / 2."
        )
    if not (np.diag(matrix) > 0).all() or factorise(matrix).rank < len(matrix):
        smallest = np.linalg.eigvalsh(matrix).min()
        raise InvalidInput(
            f"{name} is not positive definite: its smallest eigenvalue is {smallest:.3g}; all must "
            "be above 0. Add a multiple of the identity, or drop columns that repeat others."
        )
