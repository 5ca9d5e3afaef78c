"""Contributions of columns to a linear predictor, relative to the mean of the training rows.

    η = [b + x̄ᵀβ] + Σ_j (x_j − x̄_j) β_j

A column of categories stands for its columns of 0 and 1, whose means are the shares of the
categories, and contributes their sum.  Of sparse columns, which are mostly 0, x̄ is 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks, first_rows
from likely.data.coding import Coding
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, log_odds_explanation, refuse_against
from likely.inputs.coding import refuse_gaps
from likely.linear.coding import LinearRows
from likely.linear.framing import block_sums, start_share

MOST_CELLS = 50_000_000  # of one explanation: 400 MB
RELATIVE = "Contributions are relative to the mean of the training rows."


def remember_means(model: Any, rows: LinearRows) -> None:
    """Store the means of the columns of the design as ``column_means_``; of sparse ones, 0.

    Of a large table the means of some rows, and of a file those of its first block: where
    contributions are 0 need not be exact.
    """
    if vars(model).get("coding_") is rows.coding:  # the next penalty of a path, on the same rows
        return
    blocks = rows.blocks
    model.column_means_ = np.zeros(blocks.n_features)
    first = next(iter(blocks))
    if isinstance(first.X, Csr):
        return
    if isinstance(blocks, ArrayBlocks):
        share = start_share(blocks.n_rows, blocks.n_features)
        some = blocks if share >= 1 else first_rows(blocks, share)
        total = rows.executor.sum(block_sums, some)
    else:
        total = block_sums(first)
    means = np.asarray(total.x / total.weight)
    if np.isfinite(means).all():
        model.column_means_ = means


def means_of(model: Any) -> Array:
    """The means that the fit stored; 0 for a model of an earlier version, or made by hand."""
    stored = vars(model).get("column_means_")
    return np.zeros(np.shape(model.coef_)[-1]) if stored is None else np.asarray(stored)


def linear_contributions(
    coding: Coding, design: Design, coef: Array, means: Array
) -> tuple[Array, Array]:
    """The contribution of each column to each predictor, (n, d, G), and the means' part (G,)."""
    column = coding.column_of_coefficient()
    n_columns = len(coding.schema.as_codes)
    cells = design.n_rows * n_columns * len(coef)
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"{design.n_rows:,} rows of {n_columns:,} columns were given, an explanation of "
            f"{cells:,} contributions; at most {MOST_CELLS:,} are computed at once. Explain fewer "
            "rows."
        )
    values: Any = design.expanded().stored() if isinstance(design, Mixed) else design.stored()
    if isinstance(design, Csr):
        values = values.toarray()
    terms = (np.asarray(values, dtype=np.float64) - means)[:, :, None] * coef.T
    if not np.isfinite(terms).all():
        refuse_gaps(ArrayBlocks(design), coding.names)
    out = np.zeros((design.n_rows, n_columns, len(coef)))
    for j, place in enumerate(column):
        out[:, place] += terms[:, j]
    return out, np.dot(coef, means)


def predictor_explanation(
    parts: tuple[Array, Array],
    intercept: Any,
    names: Sequence[str],
    against: Any,
    *,
    link: str,
    groups: Sequence[str],
) -> Explanation:
    """Contributions to linear predictors that are not of classes."""
    quantity = "prediction" if link == "identity" else f"linear predictor ({link} link)"
    refuse_against(against, quantity)
    contributions, at_means = parts
    return Explanation(
        contributions,
        np.atleast_1d(np.asarray(intercept, dtype=np.float64)) + at_means,
        np.array(groups, dtype=object),
        tuple(names),
        quantity=quantity,
        notes=(RELATIVE,),
    )


def class_explanation(
    parts: tuple[Array, Array], intercept: Any, classes: Array, names: Sequence[str], against: Any
) -> Explanation:
    """Contributions to the log-odds of classes; one predictor compares the second of two."""
    contributions, at_means = parts
    base = np.atleast_1d(np.asarray(intercept, dtype=np.float64)) + at_means
    if contributions.shape[2] == 1:
        contributions = np.concatenate([np.zeros_like(contributions), contributions], axis=2)
        base = np.append(0.0, base)
    return log_odds_explanation(
        contributions, base, classes, against, names, notes=(RELATIVE,), base_is="base"
    )
