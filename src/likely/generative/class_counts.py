"""Naive Bayes from totals: from counts of each class, without rows, and without each fold in turn.

    N_vk = Σ_i w_i [y_i = k] x_iv        N_k = Σ_i w_i [y_i = k]

The event models of counts and presences read nothing else, so that whoever has these sums (one pass
over text, or several machines) has the fit of the rows that were summed.

A fit without each fold in turn is also one of totals, all from one pass over the rows:

    S_{−f} = Σ_{g<f} S_g + Σ_{g>f} S_g        by prefix and suffix, so that nothing is subtracted

A temperature is chosen on scores of those rows, which are encoded already.
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.calibrate.evidence import FoldTotals
from likely.calibrate.length_evidence import HeldOutRows
from likely.compute.executor import executor_for
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.base import Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.schema import Schema
from likely.data.source import TableKinds
from likely.distributions.base import Family
from likely.distributions.bernoulli import BernoulliStatistics
from likely.distributions.multinomial import MultinomialStatistics
from likely.distributions.priors import pseudo_counts
from likely.distributions.product import ProductStatistics
from likely.generative.base import check_search
from likely.generative.events import plan_events
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.rows import EncodedRows
from likely.kinds import ColumnKind
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.components import ComponentTotals, block_totals, refuse_no_weight

COUNTED = ("auto", "multinomial", "complement", "bernoulli")  # events whose sums are counts


def is_of_totals(model: object) -> bool:
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


@final
@dataclass(frozen=True, eq=False)
class ClassCounts(FieldwiseAdditive):
    """The sums of the features of each class, and the weight of its rows."""

    by_feature: Array  # N_vk, (n_features, n_classes): a feature's counts are side by side
    of_class: Array  # N_k, (n_classes,)


def is_of_counts(model: Any) -> bool:
    """Whether a fit of the model to sparse rows reads counts of each class, and to calibrate it
    those without each fold, and nothing else.
    """
    return (
        type(model) is NaiveBayes
        and isinstance(model.event, str)
        and model.event in COUNTED
        and model.unlabelled is None
        and model.discretize is None
    )


def merges_columns(model: NaiveBayes) -> bool:
    """Whether columns that a row does not have may be merged into one, with the same model.

    Pseudo-counts of 0 leave classes without counts, which a model spreads over all columns.
    """
    if model.event == "bernoulli":
        return False
    if isinstance(model.smoothing, str):
        return True
    return bool((pseudo_counts(model.smoothing) > 0).all())


def class_totals(event: Any, counts: ClassCounts) -> ComponentTotals:
    """Counts as the totals of the event model."""
    sums = counts.by_feature.T  # a view
    statistics = (
        BernoulliStatistics(sums, counts.of_class[:, None])
        if event == "bernoulli"
        else MultinomialStatistics(sums)
    )
    return ComponentTotals(counts.of_class, ProductStatistics((statistics,)))


def fit_class_counts(
    model: NaiveBayes, counts: ClassCounts, classes: Array, held_out: HeldOutRows | None = None
) -> NaiveBayes:
    """A clone of the model, fitted to counts as if to the rows that were summed.

    ``held_out`` has these rows, for a model that is calibrated.
    """
    check_search(model.tol, model.max_iter)
    fitted: NaiveBayes = clone(model)
    n_features = len(counts.by_feature)
    number: ColumnKind = "number"
    kinds = (number,) * n_features
    plan = plan_events(model.event, TableKinds(None, kinds), sparse=True)
    schema = Schema(None, kinds, plan.as_codes, (None,) * n_features)
    fitted.n_features_in_ = n_features
    fitted._remember_columns(plan, schema, None)
    fitted.classes_, fitted.library_ = classes, None
    nothing = ArrayBlocks(Dense(counts.by_feature.T[:0]), None)
    rows = EncodedRows(nothing, schema, classes, executor_for(model.executor, 0), None)
    totals = refuse_no_weight(class_totals(model.event, counts))
    return fitted.fit_totals(totals, rows, held_out)
