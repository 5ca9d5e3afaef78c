"""Naive Bayes from totals: from counts of each class, without rows, and without each fold in turn.

    N_vk = Σ_i w_i [y_i = k] x_iv        N_k = Σ_i w_i [y_i = k]

The event models of counts and presences read nothing else, so that whoever has these sums (one pass
over text, or several machines) has the fit of the rows that were summed.

A fit without each fold in turn is also one of totals, all from one pass over the rows:

    S_{−f} = Σ_{g<f} S_g + Σ_{g>f} S_g        by prefix and suffix, so that nothing is subtracted

A temperature is chosen on scores of those rows, which are encoded already.
"""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, final

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
from likely.data.sequences import TermIds
from likely.data.source import TableKinds
from likely.distributions.base import Family
from likely.distributions.bernoulli import BernoulliStatistics
from likely.distributions.multinomial import MultinomialStatistics
from likely.distributions.priors import pseudo_counts
from likely.distributions.product import ProductStatistics
from likely.generative.events import plan_events
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.estimators import check_search
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
    each = (block_totals(family, n_classes, replace(block, y=y)) for y in labels)
    return FoldTotals(tuple(each), block.n_rows)


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


# ── Counts of each class, summed over documents without a matrix ──────────────────────────────────
#     N_vk = Σ_d w_d [y_d = k] x_dv        n_v = Σ_d [x_dv > 0]        t_v = Σ_d x_dv
#
# n_v and t_v have no weights: they decide which terms are kept, as in ``BagOfWords``.


class LabelledBatch(NamedTuple):
    """Documents with the codes of their classes."""

    documents: Any  # anything that has documents
    codes: Codes  # int64; −1 where the weight is 0
    weight: Array


Keep = Callable[[LabelledBatch, TermIds, int], None]  # documents of a batch, from a row on


@final
class ClassSums:
    """Running sums of the terms of each class, with room for new terms."""

    def __init__(self, counts: ClassCounts, *, once: bool) -> None:
        self.sums = np.require(counts.by_feature, np.float64, ["C", "W"])  # (room, n_classes)
        self.of_class = counts.of_class.copy()  # weights of the documents of each class
        self.n_terms = len(self.sums)  # so far: the rest is room
        self.once = once
        self.n_documents = 0
        self.seen = np.zeros((len(self.sums), 3), np.int64)  # last document, documents, total

    @classmethod
    def of_classes(cls, n_classes: int, n_terms: int, *, once: bool) -> "ClassSums":
        """No documents yet; memory is used by the terms that occur, not by ``n_terms``."""
        nothing = ClassCounts(np.zeros((n_terms, n_classes)), np.zeros(n_classes))
        return cls(nothing, once=once)

    @property
    def counts(self) -> ClassCounts:
        """The counts so far; later ones are added in place."""
        return ClassCounts(self.sums[: self.n_terms], self.of_class.copy())

    def without_frequencies(self) -> "ClassSums":
        """The same sums, without the numbers of documents with each term."""
        return ClassSums(self.counts, once=self.once)

    def copied(self) -> "ClassSums":
        """The same sums, to which documents can be added without a change of these."""
        new = ClassSums(ClassCounts(self.sums.copy(), self.of_class), once=self.once)
        new.n_terms, new.n_documents, new.seen = self.n_terms, self.n_documents, self.seen.copy()
        return new

    def of_terms(self, order: Array) -> "ClassSums":
        """The sums of some terms, in this order."""
        return ClassSums(ClassCounts(self.sums[order], self.of_class), once=self.once)

    @property
    def frequency(self) -> Array:
        """n_v, the number of documents with each term."""
        return self.seen[:, 1]

    @property
    def total(self) -> Array:
        """t_v, how often each term occurs; with ``once``, in how many documents."""
        return self.seen[:, 2]

    def add(
        self,
        batch: LabelledBatch,
        parts: Iterable[tuple[TermIds, int]],
        keep: Keep | None = None,
    ) -> None:
        """Add the documents of a batch, in parts with the number of terms so far; ``keep`` them.

        Ids of a part are below its number of terms.
        """
        first = 0
        for found, n_terms in parts:
            self._make_room(n_terms)
            here = slice(first, first + found.stops.size)
            self.count(found, batch.codes[here], batch.weight[here])
            if keep is not None:
                keep(batch, found, first)
            first = here.stop

    def count(self, found: TermIds, codes: Codes, weight: Array) -> None:
        """Add documents with the codes of their classes; there is room for their ids."""
        from likely.fast.text_scores import count_by_class

        number = self.n_documents + 1
        count_by_class(
            found.ids, found.stops, number, codes, weight, self.once, self.seen, self.sums
        )
        known = codes >= 0
        self.of_class += np.bincount(codes[known], weight[known], self.of_class.size)
        self.n_documents += found.stops.size

    def _make_room(self, n_terms: int) -> None:
        room = len(self.sums)
        self.n_terms = n_terms
        if n_terms <= room:
            return
        more = max(n_terms, 2 * room)
        for name in ("sums", "seen"):
            given = getattr(self, name)
            larger = np.zeros((more, given.shape[1]), given.dtype)
            larger[:room] = given
            setattr(self, name, larger)
