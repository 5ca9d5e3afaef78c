"""Naive Bayes without each fold in turn, with all fits from one pass over the rows.

    S_{−f} = Σ_{g<f} S_g + Σ_{g>f} S_g        by prefix and suffix, so that nothing is subtracted

A model that is a function of totals is the same as if it had been fitted to the other folds.
A temperature is chosen on scores of those rows, which are encoded already.
"""

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from likely._typing import Codes
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.intercept import Dense, Design, Mixed
from likely.distributions.base import Family
from likely.generative.naive_bayes import NaiveBayes
from likely.objectives.components import block_totals
from likely.objectives.evidence import FoldTotals


def is_of_totals(model: Any) -> bool:
    """Whether totals, and a temperature, are all that a fit of the model learns."""
    return type(model) is NaiveBayes and model.unlabelled is None and model.discretize is None


def fits_without(model: NaiveBayes, X: Any, y: Any, *, fold: Codes) -> list[NaiveBayes] | None:
    """The model fitted to all rows but those of fold f, for each f from 0.

    None where that is not a function of totals: a class that occurs in one fold only, or rows that
    are not stored as numbers and codes.
    """
    whole = copy(model)
    rows = whole.encode_rows(X, y).rows
    if not isinstance(rows.blocks, ArrayBlocks) or _rows_at(rows.blocks.X, fold[:0]) is None:
        return None
    n_folds = int(fold.max()) + 1
    term = partial(_fold_totals, whole.family_, len(whole.classes_), n_folds, fold)
    left_out = rows.executor.sum(term, rows.blocks).left_out()
    if not all((totals.count > 0).all() for totals in left_out):
        return None
    fits = []
    for held, totals in enumerate(left_out):
        others = np.flatnonzero(fold != held)
        design = _rows_at(rows.blocks.X, others)
        assert design is not None  # asked above
        blocks = ArrayBlocks(design, rows.blocks.target[others])
        fits.append(copy(whole).fit_totals(totals, rows._replace(blocks=blocks)))
    return fits


def _fold_totals(
    family: Family, n_classes: int, n_folds: int, fold: Codes, block: Block
) -> FoldTotals:
    here = fold[block.start : block.start + block.n_rows]
    assert block.y is not None
    labels = (np.where(here == f, block.y, -1) for f in range(n_folds))
    return FoldTotals(tuple(block_totals(family, n_classes, replace(block, y=y)) for y in labels))


def _rows_at(design: Design, rows: Codes) -> Design | None:
    """Some rows of numbers and codes; None for other designs."""
    if isinstance(design, Mixed):
        return replace(design, numeric=design.numeric[rows], codes=design.codes[rows])
    return replace(design, values=design.values[rows]) if isinstance(design, Dense) else None
