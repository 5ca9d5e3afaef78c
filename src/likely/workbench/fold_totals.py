"""Cross-validation of models that are functions of totals: one pass for all folds.

What the fits of all folds share must be the same in each: the columns that preparation keeps, the
categories and the classes.  Where a category or a column's variation is in one fold only, a fit
without that fold would differ, and the caller fits as usual.
"""

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.generative.held_out_fits import fits_without, is_of_totals
from likely.inputs.tables import check_table, own_columns
from likely.workbench.identifiers import is_called_identifier, names_rows
from likely.workbench.preparation.cells import Cells, gaps_of
from likely.workbench.preparation.choices import MOST_LEVELS, ROWS_PER_LEVEL
from likely.workbench.preparation.prepared import Prepared

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.task import Task


def merged_fits(
    estimator: Any, table: "pa.Table", task: "Task", fold: Codes
) -> list[Prepared] | None:
    """The model fitted without each fold in turn; None where folds have to be fitted one by one."""
    if not isinstance(estimator, Prepared) or not is_of_totals(estimator.model):
        return None
    if estimator.impute is True or estimator.scale is True or fold.min() < 0:
        return None  # medians and scales are not totals
    try:
        whole = _prepared(estimator, table, task, fold)
        if whole is None:
            return None
        X, y, _ = own_columns(table, task.target, None)
        fits = fits_without(clone(estimator.model), whole.prepare(X), y, fold=fold)
    except ValueError:  # the usual fit says what is wrong, and in which fold
        return None
    return None if fits is None else [_with_model(whole, each) for each in fits]


def _prepared(estimator: Prepared, table: "pa.Table", task: "Task", fold: Codes) -> Prepared | None:
    """The preparation of all rows, where it is that of each fold's training rows too."""
    from likely.workbench.preparation.choices import learn, needs_of

    whole = clone(estimator)
    X, _, _ = own_columns(table, task.target, None)
    columns = whole._columns(check_table(whole, X, reset=True))
    if not all(_same_without(cells, fold) for cells in columns):
        return None
    needs = needs_of(whole.model, impute=whole.impute, scale=whole.scale)
    whole.preparation_ = learn(columns, None, needs)
    whole.model_ = whole.model  # takes its place until the fits are there
    return whole


def _with_model(whole: Prepared, model: Any) -> Prepared:
    each = copy(whole)
    each.model_ = model
    return each


def _same_without(cells: Cells, fold: Codes) -> bool:
    """Whether a column means the same without any one of the folds."""
    gaps = gaps_of(cells)
    if gaps.all():
        return True
    n_folds = int(fold.max()) + 1
    if cells.factor is None:
        assert cells.numbers is not None
        known, here = cells.numbers[~gaps], fold[~gaps]
        rests = [known[here != held] for held in range(n_folds)]
        identifier = is_called_identifier(cells.name, known)
        if any(is_called_identifier(cells.name, rest) != identifier for rest in rests):
            return False
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
    """Whether it is an identifier, or of too many levels, everywhere or nowhere."""

    def kind(n: int) -> tuple[bool, bool]:
        return names_rows(n_levels, n), n_levels > MOST_LEVELS and n < ROWS_PER_LEVEL * n_levels

    return all(kind(int(n)) == kind(n_known) for n in n_left)
