"""Progressive validation: each row is predicted before the model has learned from it.

    L_n = (1/n) Σ_{i≤n} −log p(y_i | x_i, rows before its block)

Blocks double: the model that predicts rows n + 1 to 2n has learned from the first n.  All fits
together cost as much as one fit to twice the rows, and every row of the estimate is held out.  Rows
are in random order, or in the order of time where it is given.  Copies of earlier rows are learned
from, and not scored.

References
----------
Blum, Kalai & Langford (1999), Beating the hold-out: bounds for k-fold and progressive
cross-validation, COLT.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from likely._typing import Codes
from likely.metrics.baseline import BestConstant
from likely.metrics.registry import METRICS
from likely.workbench.data.dataset import Dataset
from likely.workbench.preparation.prepared import for_prediction
from likely.workbench.scoring.predictions import predict_for, truth_of

METRIC = "log-loss"
PROGRESSIVE = "progressive validation"  # how the rows of such a score were held out
FIRST_ROWS = 128  # learned from before the first prediction
ROWS_PER_CLASS = 8


class ProgressiveLoss(NamedTuple):
    """The mean loss of rows that were predicted before they were learned from."""

    rows: int  # that were learned from, or predicted, so far
    since: float  # the loss of the last block
    loss: float  # of all blocks so far
    baseline: float  # of the best constant of the same earlier rows


def progressive_losses(model: Any, data: Dataset, *, seed: int = 0) -> list[ProgressiveLoss]:
    """The log loss after each block; none where there are too few rows, or no classes."""
    task = data.settled
    if not task.has_classes:
        return []
    order = _order(data, seed)
    metric, found = METRICS[METRIC], []
    totals: list[Any] = []  # of the model, and of the constant
    for start, stop in _blocks(len(order), max(FIRST_ROWS, ROWS_PER_CLASS * len(task.classes))):
        scored = _unlike(data.copies, order[:start], order[start:stop])
        if not scored.size:
            continue
        before, block = data.take(order[:start]), data.take(scored)
        truth = truth_of(task, block.table, block.weights)
        constant = BestConstant.of(truth_of(task, before.table, before.weights))
        fitted = before.fit(for_prediction(clone(model)))
        given = block.roles.to_predict(block.table)
        ours = metric.statistics(truth, predict_for(fitted, task, block.learned, given))
        theirs = metric.statistics(truth, constant.prediction(truth))
        totals = [totals[0] + ours, totals[1] + theirs] if totals else [ours, theirs]
        so_far, baseline = (metric.value(each) for each in totals)
        found.append(ProgressiveLoss(stop, metric.value(ours), so_far, baseline))
    return found


def _order(data: Dataset, seed: int) -> Codes:
    n_rows = data.table.num_rows
    if data.times is not None:
        return np.argsort(data.times, kind="stable")
    return np.random.default_rng(seed).permutation(n_rows)


def _unlike(copies: Codes | None, before: Codes, rows: Codes) -> Codes:
    """Those of some rows that are no copy of a row before them."""
    return rows if copies is None else rows[~np.isin(copies[rows], copies[before])]


def _blocks(n_rows: int, first: int) -> Iterator[tuple[int, int]]:
    """The rows of each block: from ``first``, as many as came before, up to the last."""
    start = first
    while start < n_rows:
        stop = min(2 * start, n_rows)
        yield start, stop
        start = stop
