"""Columns of numbers that are nearly linear functions of others.

Columns are taken in the order of the table.  The residual variance of each, given those before it,
is a pivot of the Cholesky factor of the correlations (Golub and Van Loan, Matrix Computations,
§4.2), so that all are found in one pass:

    R²_j = 1 − L²_jj,     R = L Lᵀ
"""

from collections.abc import Iterator, Sequence

import numpy as np

from likely._typing import Array
from likely.formatting import listed, percent
from likely.workbench.look.leaks import some_rows
from likely.workbench.look.profile import Column, Profile

MOST_ROWS = 5_000  # examined
MOST_COLUMNS = 400  # of numbers; more are not examined
ROWS_PER_COLUMN = 2  # complete ones; with fewer, chance alone looks like dependence
FEWEST_ROWS = 30
MOST_MISSING = 0.2  # of the cells of a column that is examined
EXPLAINED = 0.99  # of the variance: standard errors are ten times as large as without the others
MOST_NAMED = 3
NAMED = 0.1  # standard deviations; a column with a smaller effect is not named


def dependent_columns(profile: Profile, left_out: Sequence[str]) -> dict[str, str]:
    """Columns with a remark: how much of them is explained, and by which."""
    columns = [each for each in profile.features if _is_usable(each, left_out)]
    if not 2 <= len(columns) <= MOST_COLUMNS:
        return {}
    known = np.logical_and.reduce([column.codes >= 0 for column in columns])
    rows = some_rows(known, MOST_ROWS)
    if rows.size < max(FEWEST_ROWS, ROWS_PER_COLUMN * len(columns)):
        return {}
    values = np.column_stack([column.numbers[column.codes[rows]] for column in columns])
    names = [column.name for column in columns]
    return {
        names[j]: f"{percent(share)} explained by {listed([names[i] for i in by], MOST_NAMED)}"
        for j, share, by in _dependent(_standardised(values))
    }


def _is_usable(column: Column, left_out: Sequence[str]) -> bool:
    if not column.is_number or column.declared or column.name in left_out:
        return False
    few_missing = column.n_missing <= MOST_MISSING * column.n_rows
    return few_missing and column.n_distinct > 2 and bool(np.isfinite(column.numbers).all())


def _standardised(values: Array) -> Array:
    """Columns of mean 0 and length 1; a constant one is 0."""
    size = np.abs(values).max(axis=0)
    scaled = values / np.where(size > 0, size, 1.0)  # so that no square overflows
    centred = scaled - scaled.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray(centred / np.where(length > 1e-12, length, np.inf))


def _dependent(values: Array) -> Iterator[tuple[int, float, list[int]]]:
    """The place of each dependent column, its R², and the places of those that explain it."""
    kept: list[int] = []
    basis = np.empty_like(values)  # orthonormal, of the columns kept so far
    triangle = np.zeros((values.shape[1],) * 2)
    for j in range(values.shape[1]):
        k = len(kept)
        if not values[:, j].any():
            continue
        inside = basis[:, :k].T @ values[:, j]
        residual = values[:, j] - basis[:, :k] @ inside
        share = 1 - float(residual @ residual)
        if k and share >= EXPLAINED:
            effects = np.abs(np.linalg.solve(triangle[:k, :k], inside))
            strongest = np.argsort(-effects, kind="stable")
            yield j, share, [kept[i] for i in strongest if effects[i] >= NAMED] or [kept[0]]
            continue
        length = float(np.sqrt(residual @ residual))
        triangle[:k, k], triangle[k, k] = inside, length
        basis[:, k] = residual / length
        kept.append(j)
