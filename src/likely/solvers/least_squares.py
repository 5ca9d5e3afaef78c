"""Least squares from totals: by normal equations, by a QR factor, or of minimum norm.

    minimise  ½ Σ_i w_i (y_i − x_iᵀθ)² + ½ Σ_j κ_j θ_j²

    XᵀWX θ = XᵀWy        normal equations: one Gram matrix, which squares the condition number
    R θ = Qᵀ√W y         √W X = QR: the factors of blocks stack, and are factorised again

The ridge penalty is one more block, with rows √κ_j e_j and response 0.  Where columns are
linearly dependent, the solution is the θ of minimum norm, and the dependent columns are named.
Rank is determined after scaling the columns to length 1, so that their units have no effect;
lengths below the rounding error of the original columns are 0.

The errors of θ come from the factor that gave it: (XᵀWX)⁻¹ = R⁻¹R⁻ᵀ.

References
----------
Golub & Van Loan, Matrix Computations, 4th ed., §5.3 (QR), §5.5 (rank-deficient), §5.5.2 (scaling).
"""

from dataclasses import dataclass
from math import inf
from typing import Self, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from likely._typing import Array
from likely.numerics.additive import Additive, FieldwiseAdditive
from likely.numerics.cholesky import factorise, triangular_inverse, unit_diagonal

MACHINE = float(np.finfo(np.float64).eps)
LEAST_PIVOT_OF_GRAM = 1e-10  # 1 − R² of a column: far above what rounding leaves of 0
CERTAINLY_NULL = 1e-8  # of an entry of a null direction; far above what rounding leaves of 0


@final
@dataclass(frozen=True, eq=False)
class GramTotals(FieldwiseAdditive):
    """XᵀWX, XᵀWy, yᵀWy and Σw.  Columns far from 0 should be centred first."""

    gram: Array  # (d, d)
    moment: Array  # (d,), or (d, m) for m responses
    squares: Array | float  # Σ w y², one per response
    weight: float

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array) -> Self:
        wX = weight[:, None] * X
        return cls(
            np.dot(wX.T, X), np.dot(wX.T, y), np.dot(weight, np.square(y)), float(weight.sum())
        )


@final
@dataclass(frozen=True, eq=False)
class LeastSquaresTotals(Additive):
    """R and Qᵀ√W y of the rows seen so far, and the residual sum of squares.

    The sum of two is the factor of their stacked rows.
    """

    R: Array  # (k, d), upper triangular, k ≤ d
    Qty: Array  # (k,), or (k, m) for m responses
    unexplained: Array | float  # Σ w (y − x θ̂)², one per response
    weight: float

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array) -> Self:
        root = np.sqrt(weight)
        rows, response = root[:, None] * X, (root * np.asarray(y).T).T
        return cls._factorise(rows, response, 0.0 * response.sum(axis=0), float(weight.sum()))

    @classmethod
    def ridge(cls, l2: Array, like: Self) -> Self:
        """The Gaussian prior of precision ``l2``, one per coefficient, as a block of rows."""
        response = np.zeros((len(l2), *like.Qty.shape[1:]))
        return cls(np.diag(np.sqrt(l2)), response, 0.0 * np.asarray(like.unexplained), 0.0)

    def __add__(self, other: Self) -> Self:
        return self._factorise(
            np.concatenate([self.R, other.R]),
            np.concatenate([self.Qty, other.Qty]),
            self.unexplained + other.unexplained,
            self.weight + other.weight,
        )

    @classmethod
    def _factorise(
        cls, rows: Array, response: Array, unexplained: Array | float, weight: float
    ) -> Self:
        d = rows.shape[1]
        beside = response if response.ndim == 2 else response[:, None]
        factor: Array = np.asarray(np.linalg.qr(np.hstack([rows, beside]), mode="r"))
        rest = np.square(factor[d:, d:]).sum(axis=0).reshape(response.shape[1:])
        Qty = factor[:d, d:] if response.ndim == 2 else factor[:d, d]
        return cls(factor[:d, :d], Qty, unexplained + rest, weight)


@final
@dataclass(frozen=True, eq=False)
class Span:
    """S with SSᵀ = (XᵀWX + K)⁻¹ on its range, and the null space."""

    root: Array  # S, (d, rank)
    null: Array  # (d, ·): null directions, for columns of length 1
    lengths: Array  # (d,), of the columns; θ moves by null / lengths

    @classmethod
    def whole(cls, root: Array, lengths: Array) -> Self:
        return cls(root, np.zeros((len(root), 0)), lengths)


@final
@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The minimiser, the rank and the condition."""

    theta: Array
    rank: int
    redundant: tuple[int, ...]  # columns that earlier ones explain
    held: tuple[int, ...]  # those of them that are 0 but for rounding
    condition: float  # of the columns scaled to length 1
    residual_squares: Array | float  # Σ w (y − xθ)², with the penalty's rows counted as rows
    span: Span
    method: str


def solve_normal_equations(
    totals: GramTotals, l2: Array | float = 0.0, *, noise: Array | float = 0.0
) -> LeastSquares:
    """By Cholesky on the Gram matrix scaled to a unit diagonal; the fastest, and the least exact.

    Columns that are dependent within a few √ε lead to the solution of minimum norm.
    ``noise`` is the length that rounding may have left of each column.
    """
    gram = totals.gram + np.diag(np.broadcast_to(l2, (len(totals.gram),)))
    condition = _condition_of_gram(unit_diagonal(gram)[1])
    constant = np.diag(gram) <= np.square(noise)
    if condition * _gram_tolerance(len(gram)) > 1 or constant.any():
        return _from_gram(gram, totals, noise, np.flatnonzero(~constant))
    factor = factorise(gram)
    theta = factor.solve(totals.moment)
    explained = np.sum(theta * totals.moment, axis=0)
    rest = np.maximum(totals.squares - explained, 0.0)  # cancels when the fit is close
    span = Span.whole(factor.inverse_root(), 1.0 / factor.scale)
    return LeastSquares(theta, len(gram), (), (), condition, rest, span, "normal equations")


def solve_by_pivots(
    totals: GramTotals, l2: Array | float = 0.0, *, noise: Array | float = 0.0
) -> LeastSquares:
    """By Cholesky with pivots on the scaled Gram matrix: dependent columns come last.

    For many columns, of which eigenvectors and QR factors are costly.  The rank is that of the Gram
    matrix, so the caller has to check on the rows that ``span.null`` is a null space.
    """
    gram = totals.gram + np.diag(np.broadcast_to(l2, (len(totals.gram),)))
    d, constant = len(gram), np.diag(gram) <= np.square(noise)
    known = np.flatnonzero(~constant)
    units, unit = unit_diagonal(gram[np.ix_(known, known)])
    factor, pivots, rank, _ = dpstrf(unit, tol=LEAST_PIVOT_OF_GRAM, lower=1)
    first, rest = known[pivots[:rank] - 1], known[pivots[rank:] - 1]
    lengths = np.ones(d)
    lengths[known] = units
    lower, below = np.tril(factor[:rank, :rank]), factor[rank:, :rank]
    inverse = triangular_inverse(lower)
    half = np.dot(inverse, (totals.moment[first].T / lengths[first]).T)
    theta = _spread((np.dot(inverse.T, half).T / lengths[first]).T, first, d)
    null = np.zeros((d, len(rest)))
    null[first], null[rest] = -np.dot(inverse.T, below.T), np.eye(len(rest))
    moves = np.linalg.qr(null / lengths[:, None])[0]  # of θ, in the user's units
    redundant = np.union1d(np.flatnonzero(constant), _last_of_each(null))
    null = np.linalg.qr(null)[0]
    return LeastSquares(
        theta - moves @ (moves.T @ theta),
        int(rank),
        tuple(redundant.tolist()),
        tuple(np.flatnonzero(constant).tolist()),
        float(np.linalg.norm(lower, 1) * np.linalg.norm(inverse, 1)),
        np.maximum(totals.squares - np.square(half).sum(axis=0), 0.0),
        Span(_spread(inverse.T / lengths[first, None], first, d), null, lengths),
        "minimum norm" if len(redundant) else "normal equations",
    )


def _last_of_each(null: Array) -> Array:
    """The columns that earlier ones explain: the last of each null direction, by elimination."""
    found, left = [], null.copy()
    while left.shape[1]:
        largest = np.abs(left).max(axis=1)
        j = int(np.flatnonzero(largest > CERTAINLY_NULL)[-1])
        k = int(np.abs(left[j]).argmax())
        found.append(j)
        left = np.delete(left - np.outer(left[:, k], left[j] / left[j, k]), k, axis=1)
        left[j] = 0.0
    return np.array(found, dtype=int)


def solve_qr(totals: LeastSquaresTotals, *, noise: Array | float = 0.0) -> LeastSquares:
    """By back substitution in R; of minimum norm where R is singular."""
    d = totals.R.shape[1]
    scale = _inverse_lengths(np.linalg.norm(totals.R, axis=0))
    unit = totals.R * scale
    singular = np.linalg.svd(unit, compute_uv=False)
    limit = _rank_tolerance(d) * singular.max(initial=0.0) + np.max(noise * scale, initial=0.0)
    if len(singular) < max(d, 1) or singular[-1] <= limit:
        return solve_minimum_norm(totals, noise=noise)
    theta = (scale * solve_triangular(unit, totals.Qty).T).T
    condition = float(singular[0] / singular[-1])
    span = Span.whole(scale[:, None] * solve_triangular(unit, np.eye(d)), 1.0 / scale)
    return LeastSquares(theta, d, (), (), condition, totals.unexplained, span, "QR")


def solve_minimum_norm(
    totals: LeastSquaresTotals,
    *,
    tolerance: float | None = None,
    noise: Array | float = 0.0,
) -> LeastSquares:
    """R⁺Qᵀy by the singular value decomposition of the scaled R.

    ``tolerance`` is the smallest singular value, relative to the largest, that counts in the rank;
    a direction that is no longer than the ``noise`` of its columns does not count either.
    """
    d = totals.R.shape[1]
    lengths, noise = np.linalg.norm(totals.R, axis=0), np.broadcast_to(noise, (d,))
    kept = np.flatnonzero(lengths > noise)
    scale = _inverse_lengths(lengths[kept])
    unit = totals.R[:, kept] * scale
    U, singular, Vt = np.linalg.svd(unit, full_matrices=True)
    tolerance = _rank_tolerance(d) if tolerance is None else tolerance
    blurred = np.linalg.norm(Vt[: len(singular)] * (noise[kept] * scale), axis=1)
    rank = int(np.sum(singular > tolerance * singular.max(initial=0.0) + blurred))
    projected = U[:, :rank].T @ totals.Qty
    particular = (scale * (Vt[:rank].T @ (projected.T / singular[:rank]).T).T).T
    # unit columns have another null space: go back to the user's units, then project it out
    null = np.linalg.qr(scale[:, None] * Vt[rank:].T)[0]
    rest = totals.unexplained + np.square(U[:, rank:].T @ totals.Qty).sum(axis=0)
    held = np.setdiff1d(np.arange(d), kept)
    redundant: Array = held
    if rank < len(kept):
        least = max(tolerance, float(blurred.max(initial=0.0)))
        later = redundant_columns(unit, least) or np.abs(Vt[rank:]).argmax(axis=1)
        redundant = np.union1d(held, kept[np.asarray(later)])
    return LeastSquares(
        _spread(particular - null @ (null.T @ particular), kept, d),
        rank,
        tuple(redundant.tolist()),
        tuple(held.tolist()),
        float(singular[0] / singular[rank - 1]) if rank else 1.0,
        rest,
        Span(
            _spread(scale[:, None] * Vt[:rank].T / singular[:rank], kept, d),
            _spread(Vt[rank:].T, kept, d),
            _inverse_lengths(_spread(scale, kept, d)),
        ),
        "minimum norm",
    )


def _spread(values: Array, kept: Array, d: int) -> Array:
    """Rows of the columns that are kept, among rows of 0 for the others."""
    out = np.zeros((d, *values.shape[1:]))
    out[kept] = values
    return out


def redundant_columns(R: Array, tolerance: float) -> tuple[int, ...]:
    """The columns that lie in the span of the ones before them, from left to right."""
    basis: Array = np.empty((len(R), 0))
    redundant = []
    for j, column in enumerate(R.T):
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)  # once is not enough for columns nearly in the span
        length = float(np.linalg.norm(rest))
        if length <= tolerance * np.sqrt(R.shape[1]):
            redundant.append(j)
        else:
            basis = np.column_stack([basis, rest / length])
    return tuple(redundant)


def _from_gram(gram: Array, totals: GramTotals, noise: Array | float, kept: Array) -> LeastSquares:
    """A symmetric root of the scaled Gram matrix serves for R; half the digits are lost.

    Constant columns are left out of the root: rounding would give them a length of √ε.
    """
    within = gram[np.ix_(kept, kept)]
    scale = _inverse_lengths(np.sqrt(np.diag(within)))
    values, V = np.linalg.eigh(scale[:, None] * within * scale)
    root = np.sqrt(np.maximum(values, 0.0))
    counts = values > MACHINE * values.max(initial=0.0)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=counts)
    Qty = (inverse * (V.T @ (scale * totals.moment[kept].T).T).T).T
    rest = np.maximum(totals.squares - np.square(Qty).sum(axis=0), 0.0)
    R = _spread(V * root / scale[:, None], kept, len(gram)).T
    factor = LeastSquaresTotals(R, Qty, rest, totals.weight)
    return solve_minimum_norm(factor, tolerance=_gram_tolerance(len(gram)), noise=noise)


def _condition_of_gram(correlation: Array) -> float:
    """√ of the Gram matrix's condition: that of the columns themselves."""
    if not correlation.size:
        return 1.0  # no column depends on another
    low, high = np.linalg.eigvalsh(correlation)[[0, -1]]
    return float(np.sqrt(high / low)) if low > 0 else inf


def _inverse_lengths(lengths: Array) -> Array:
    return np.asarray(1.0 / np.where(lengths > 0, lengths, 1.0))


def _rank_tolerance(d: int) -> float:
    """Rounding leaves up to 2ε of a dependent direction in a QR factor, with any BLAS kernel."""
    return max(d, 10) * MACHINE


def _gram_tolerance(d: int) -> float:
    """Rounding leaves up to 4ε of a dependent direction in a Gram matrix, with any BLAS kernel."""
    return float(np.sqrt(8 * max(d, 10) * MACHINE))
