"""The fits without each fold in turn, from one pass over the rows, where a model is of totals.

Columns must be prepared in the same way without any one of the folds.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.generative.class_counts import fits_without, is_of_totals
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.identifiers import MOSTLY, may_be_called
from likely.workbench.preparation.cells import Cells, gaps_of
from likely.workbench.preparation.choices import MOST_LEVELS, ROWS_PER_LEVEL, learn, needs_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.preparation.texts import is_text


def merged_fits(estimator: Any, rows: Dataset, fold: Codes) -> list[Prepared] | None:
    """The model fitted without each fold in turn; None where folds must be fitted one by one."""
    if not isinstance(estimator, Prepared) or not is_of_totals(estimator.model):
        return None
    if estimator.impute is True or estimator.scale is True or fold.min() < 0:
        return None  # medians and scales are not totals
    if rows.roles.given() or rows.unlabelled is not None:
        return None
    whole = clone(estimator)
    try:
        columns = whole.read_columns(rows.features)
        if not all(_same_without(cells, fold) for cells in columns):
            return None
        needs = needs_of(whole.model, impute=whole.impute, scale=whole.scale)
        preparation = learn(columns, None, needs)
        X, y = preparation.table(columns), rows.table.column(rows.required_target())
        fits = fits_without(clone(estimator.model), X, y, fold=fold)
    except ValueError:  # the usual fit says what is wrong, and in which fold
        return None
    return None if fits is None else [whole.fitted_with(preparation, each) for each in fits]


def _same_without(cells: Cells, fold: Codes) -> bool:
    """Whether a column is prepared in the same way without any one of the folds."""
    gaps = gaps_of(cells)
    if gaps.all():
        return True
    n_folds = int(fold.max()) + 1
    if is_text(cells):
        return False  # each fit has its own words
    if cells.factor is None:
        assert cells.numbers is not None
        known, here = cells.numbers[~gaps], fold[~gaps]
        rests = [known[here != held] for held in range(n_folds)]
        if cells.kind == "date" or (may_be_called(cells.name) and not cells.declared):
            return False  # the parts of a date, and what is an identifier, depend on the rows
        varies = all(bool(len(rest) and rest.min() < rest.max()) for rest in rests)
        return bool(known.min() == known.max()) or varies
    codes, here = cells.factor.codes[~gaps], fold[~gaps]
    sizes = (len(cells.factor.values), n_folds)
    count = np.bincount(codes * n_folds + here, minlength=sizes[0] * sizes[1]).reshape(sizes)
    left = count.sum(axis=1, keepdims=True) - count  # (levels, folds)
    used = count.sum(axis=1) > 0
    return bool((left[used] > 0).all()) and _same_kind(
        int(used.sum()), left.sum(axis=0), len(codes)
    )


def _same_kind(n_levels: int, n_left: Array, n_known: int) -> bool:
    """Whether most of its texts differ, or it has too many levels, in all folds or in none."""

    def kind(n: int) -> tuple[bool, bool]:
        return n_levels > MOSTLY * n, n_levels > MOST_LEVELS and n < ROWS_PER_LEVEL * n_levels

    return all(kind(int(n)) == kind(n_known) for n in n_left)
