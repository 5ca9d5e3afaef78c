"""Columns that nearly depend on others: found, warned of, and replaced by orthogonal ones.

    √W(X − c) = QR        z = (x − c)ᵀR⁻¹        β = R⁻¹φ

A Hessian XᵀWX squares the condition number: from a relative distance of 1e-6 its Cholesky factor
cannot tell a column that carries information from one that others determine.  R can, down to
1e-14, and the QR factors of blocks are totals.  A search over φ has a well-conditioned Hessian, and
a pivot that vanishes there is a curvature that has vanished.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Blocks, CountedBlocks, first_rows, redesigned
from likely.errors import RedundantColumns, warn_user
from likely.formatting import count
from likely.linear.coding import LinearRows
from likely.linear.framing import Framed, block_sums, nearer_mean
from likely.linear.problem import Problem
from likely.objectives.least_squares import block_factor
from likely.solvers.least_squares import MACHINE, LeastSquares, solve_qr
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found

A_FEW_ULP = 2 * MACHINE  # rounding leaves a third of one of each cell
NEARLY = 1e-3  # √(1 − R²) of a column given those before it, below which a Hessian loses digits
CONDITION_TO_WARN_OF = 1e-8 / MACHINE  # above, fewer than 8 digits are left
ALIKE = 0.9  # of the largest


def column_noise(mean: Array, weight: float) -> Array:
    """The length that rounding may leave of a centred column: a few ulp of its mean per row."""
    return np.asarray(A_FEW_ULP * np.abs(mean) * np.sqrt(weight))


def with_orthogonal_columns(
    problem: Problem,
    found: Found,
    rows: LinearRows,
    *,
    warned_by: Any = None,
    centre: bool | None = None,
) -> Problem | None:
    """The problem for orthogonal columns where some nearly depend on others; else None.

    Only the Hessian at the end of a search makes it suspect; then two passes show whether the
    columns nearly depend on each other, or their curvature has vanished.  ``centre`` tells whether
    there are intercepts, if not in the columns.
    """
    data, n_columns = problem.data, rows.coding.n_coefficients
    if not problem.penalty.free(problem.n_parameters).all():
        return None
    least = found.least_pivot
    if found.hessian is None and not found.solution.stopped and problem.shape.hessian_is_affordable:
        state = Newton(problem.intercepts).init(problem.objective, found.theta)
        least = 0.0 if state.held else state.least_pivot
    if least >= NEARLY**2:
        return None
    centre = data.framing.intercept if centre is None else centre
    known = tuple(j % data.framing.n_parameters for j in found.held)
    other = orthogonal(data, rows.executor, n_columns=n_columns, centre=centre, known=known)
    if other is None:
        return None
    if warned_by is not None:
        warn_of_condition(warned_by, other[1], rows.coding.names())
    return replace(problem, data=other[0])


def with_redundant(problem: Problem, found: Found) -> Found:
    """The end of a search over orthogonal columns, with the redundant ones named by any solver."""
    basis, width = problem.data.framing.basis, problem.data.framing.n_parameters
    if basis is None:
        return found
    zero = np.flatnonzero(np.diag(basis) == 0).tolist()
    held = {k * width + j for k in range(problem.n_predictors) for j in zero}
    return found._replace(held=tuple(sorted(held | set(found.held))))


def orthogonal(
    data: Framed, executor: Executor, *, n_columns: int, centre: bool, known: Sequence[int] = ()
) -> tuple[Framed, LeastSquares] | None:
    """The blocks with orthogonal columns, if some of them nearly depend on others; else None.

    The second value has the rank and the condition of the columns.  Columns that depend on others
    exactly are 0; where a search has ``known`` them all, nothing is replaced on their account.  The
    means and the QR factor of the blocks are totals of two passes.
    """
    framing, sums = data.framing, executor.sum(partial(block_sums), data.blocks)
    mean = np.asarray(sums.x[:n_columns] / sums.weight) * float(centre)
    if centre and framing.centre is None:  # a mean of centred rows has the digits of a constant
        mean = nearer_mean(data.blocks, mean, executor)
    old = np.zeros(n_columns)
    if framing.centre is not None:
        old[: len(framing.centre)] = framing.centre
    factor = executor.sum(partial(block_factor, mean, np.zeros(())), data.blocks)
    solved = solve_qr(factor, noise=column_noise(old + mean, sums.weight))
    kept = np.setdiff1d(np.arange(n_columns), solved.redundant)
    R = np.linalg.qr(factor.R[:, kept], mode="r")
    lengths, from_0 = np.linalg.norm(R, axis=0), np.abs(mean[kept]) * np.sqrt(sums.weight)
    nearly = (np.abs(np.diag(R)) < NEARLY * lengths) | (lengths < NEARLY * from_0)
    if not nearly.any() and set(solved.redundant) <= set(known):
        return None
    basis = np.zeros((n_columns, n_columns))
    basis[np.ix_(kept, kept)] = R / np.sqrt(sums.weight)
    framing = replace(framing, centre=old + mean if centre else None, basis=basis)
    width = data.blocks.n_features
    counted = CountedBlocks(data.rows, data.passes)
    some: Blocks = counted
    if data.share < 1:
        some = first_rows(counted, data.share)
        data.passes[-1] = data.share
    return data._replace(
        blocks=redesigned(counted, framing, width),
        start=redesigned(some, framing, width),
        framing=framing,
    ), solved


def warn_of_condition(estimator: Any, solved: LeastSquares, names: Sequence[str]) -> None:
    """Warn where columns are so nearly dependent that coefficients have few correct digits."""
    if solved.condition <= CONDITION_TO_WARN_OF:
        return
    inflated = np.linalg.norm(solved.span.root * solved.span.lengths[:, None], axis=1)
    # of a pair that is inflated alike the later one, not the one that rounding makes larger
    nearest = int(np.flatnonzero(inflated >= ALIKE * inflated.max())[-1])
    digits = count(max(int(-np.log10(solved.condition * MACHINE)), 0), "digit")
    warn_user(
        f"{type(estimator).__name__}: {names[nearest]!r} can nearly be computed from other "
        f"columns (condition {solved.condition:.1e}), so rounding leaves about "
        f"{digits} of the coefficients correct. Drop a column, centre a column before "
        "taking its powers, or give a penalty (l2=1.0).",
        RedundantColumns,
    )
