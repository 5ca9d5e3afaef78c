"""Documents scored by models of the other folds, from ids that were kept: no matrix, no refit.

    S_{−f} = the counts of all documents but the kept ones of fold f
           = Σ of the other kept documents, or, if not all are kept, S − Σ of those of the fold

Only the words of the fold are needed to score its documents.  In models of counts all other words
are one more column (``likely.distributions.lumped_counts``), so that a table has as many rows as
the fold has words; presences need all columns, because absent words are evidence, too.  One fold is
left out at a time.  Where all documents are kept, the numbers are those of ``HeldOutBlocks``.  The
difference is exact for weights that are whole numbers; else, what rounding leaves of a count is 0.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import N_FOLDS, ScoredRows, cooled_by_scores, rows_scored
from likely.calibrate.length_cooling import ScoredDocuments, documents_scored, joined_documents
from likely.calibrate.length_evidence import (
    HeldOutRows,
    Learn,
    absence_with,
    cooled_by_documents,
    factor_of_least_loss,
    folds_by_words,
    folds_of_factor,
    of_words,
    word_keys,
)
from likely.distributions.lumped_counts import LumpedColumns, LumpedCounts
from likely.distributions.product import ProductStatistics
from likely.distributions.smoothing import UNSEEN
from likely.generative.class_counts import ClassCounts, class_totals
from likely.objectives.components import Components, ComponentTotals
from likely.objectives.cooled_evidence import Absence, CooledEvidence
from likely.text.term_counts import counted, stacked
from likely.text_models.class_sums import ClassSums
from likely.text_models.kept_documents import KeptDocuments, KeptPart

AT_ONCE = 4096  # documents that are scored together
ROUNDING = 1e-9  # of a count: less is left by sums of weights that are no whole numbers


class _LeftOut(NamedTuple):
    """The totals without a fold, and how its documents are read by a model of them."""

    totals: ComponentTotals
    columns: LumpedColumns | None  # of the totals; None for all
    places: Codes  # of the ids of kept documents, in these columns; the last is −1
    n_columns: int


class _Rows(NamedTuple):
    """Documents as counts, with their classes."""

    X: Any  # CSR
    y: Codes
    weight: Array


@final
class HeldOutDocuments(HeldOutRows):
    """Kept documents, and the counts of all: ``columns`` has the column of each id, or −1.

    ``lumps``: whether words that are not in a fold may be one column.
    """

    def __init__(
        self, kept: KeptDocuments, columns: Codes, sums: ClassSums, event: str, *, lumps: bool
    ) -> None:
        self.kept, self.columns, self.event, self.lumps = kept, columns, event, lumps
        self.counts, self.once = sums.counts, sums.once
        self.n_columns, self.n_classes = self.counts.by_feature.shape
        self.total = self.counts.by_feature.sum(axis=0)  # λ_k
        seen = np.count_nonzero(self.counts.by_feature)
        self.raised = seen + UNSEEN * self.n_columns  # Σ C_v + ½
        self._known: dict[int, tuple[_LeftOut, list[_Rows]]] = {}  # by fold
        self._by_words = False  # whether equal documents are in one fold

    def best_factor(self, learn: Learn) -> float:
        self._keep_equal_together()
        n_folds = folds_of_factor(self.n_classes, self.n_columns)
        return factor_of_least_loss(lambda factor: self._documents(learn, factor, n_folds))

    def cooled_by_length(self, learn: Learn) -> CooledEvidence:
        self._keep_equal_together()
        rows = self._documents(learn, 1.0, N_FOLDS)
        self._known.clear()  # the last use
        found = cooled_by_documents(rows, self.counts.of_class)
        if rows is None or self.event != "bernoulli":
            return found
        whole = learn(class_totals(self.event, self.counts))
        return replace(found, absence=self._absence(whole))

    def cooled(self, learn: Learn) -> CooledEvidence:
        parts: list[ScoredRows] = []
        for fold in range(N_FOLDS):
            left = self._sums_without(fold)
            if self.n_classes < 2 or not left.totals.count.sum() > 0:
                return cooled_by_scores([], self.counts.of_class)
            model = learn(left.totals, columns=left.columns)
            for X, y, weight in self._rows(left, partial(_is_of, fold)):
                score = model.distribution.log_score(X)
                log_prior = np.broadcast_to(model.log_mixing, score.shape)
                parts.append(rows_scored(score, log_prior, y, weight))
        return cooled_by_scores(parts, self.counts.of_class)

    def _documents(self, learn: Learn, factor: float, n_folds: int) -> ScoredDocuments | None:
        """The documents of the first folds, scored by models of the others."""
        parts: list[ScoredDocuments] = []
        for fold in range(n_folds):
            left, rows = self._without(fold)
            if self.n_classes < 2 or not left.totals.count.sum() > 0:
                continue
            model = learn(left.totals, factor=factor, columns=left.columns)
            for X, y, weight in rows:
                length = np.asarray(X.sum(axis=1), dtype=float).ravel()
                scores = of_words(model.distribution.log_score(X))
                absence = self._absence(model)
                parts.append(documents_scored(model, scores, y, weight, length, absence))
        return joined_documents(parts)

    def _absence(self, model: Components) -> Absence | None:
        """What absent words say, in models of presence."""
        if self.event != "bernoulli":
            return None
        (member,) = model.distribution.parts  # type: ignore[attr-defined]  # of naive Bayes
        empty = member.log_score(np.zeros((1, self.n_columns)))[0]
        return absence_with(empty, float(self.total.sum() / self.counts.of_class.sum()))

    def _keep_equal_together(self) -> None:
        """Fold documents by their words, as ``length_evidence`` does."""
        if self._by_words:
            return
        self._by_words, keys = True, word_keys(self.n_columns)
        columns = np.append(self.columns, np.int32(-1))
        for i, part in enumerate(self.kept.parts):
            X = self._counts_of([part], columns, self.n_columns)
            fold = folds_by_words(X @ keys, np.diff(X.indptr), part.fold)
            self.kept.parts[i] = part._replace(fold=fold)

    def _without(self, fold: int) -> tuple[_LeftOut, list[_Rows]]:
        """The totals without a fold, and its documents that are scored; of large tables, one."""
        if fold not in self._known:
            if folds_of_factor(self.n_classes, self.n_columns) < N_FOLDS:
                self._known.clear()
            left = self._sums_without(fold)
            self._known[fold] = left, list(self._rows(left, partial(self._is_scored, fold)))
        return self._known[fold]

    def _is_scored(self, fold: int, part: KeptPart) -> Array:
        return (part.fold == fold) & self.kept.scored(part)

    def _rows(self, left: _LeftOut, chosen: Callable[[KeptPart], Array]) -> Iterator[_Rows]:
        """The chosen documents as counts of the columns of a model, some thousands at a time."""
        waiting: list[KeptPart] = []
        for part in self.kept.parts:
            waiting.append(part.where(chosen(part)))
            if sum(each.codes.size for each in waiting) >= AT_ONCE:
                yield self._counted(left, waiting)
                waiting = []
        if any(each.codes.size for each in waiting):
            yield self._counted(left, waiting)

    def _counted(self, left: _LeftOut, parts: list[KeptPart]) -> _Rows:
        X = self._counts_of(parts, left.places, left.n_columns)
        y, weight = (np.concatenate(each) for each in zip(*(p[1:3] for p in parts), strict=True))
        return _Rows(X, y, weight)

    def _counts_of(self, parts: list[KeptPart], places: Codes, n_columns: int) -> Any:
        """Documents as rows of a CSR matrix; ``places`` are the columns of ids."""
        X = stacked([counted(part.with_ids(places).found, n_columns) for part in parts], n_columns)
        if self.once:
            X.data.fill(1)
        return X

    def _sums_without(self, fold: int) -> _LeftOut:
        ids = self._ids_of(fold)
        columns, places = self.columns[ids], np.full(self.columns.size + 1, -1, np.int32)
        places[ids] = np.arange(ids.size)
        own = self.counts.by_feature[columns]
        sums = self._counts_without(fold, own, places)
        if self.lumps:
            others = np.maximum(self.total - own.sum(axis=0), 0.0)  # rounding may leave less
            raised = self.raised - np.count_nonzero(own) - UNSEEN * ids.size
            lumped = LumpedCounts.of(sums.by_feature.T, others, raised)
            totals = ComponentTotals(sums.of_class, ProductStatistics((lumped,)))
            return _LeftOut(totals, LumpedColumns(columns), places, ids.size + 1)
        table = self.counts.by_feature.copy()
        table[columns] = sums.by_feature
        totals = class_totals(self.event, ClassCounts(table, sums.of_class))
        places = np.append(self.columns, np.int32(-1))
        return _LeftOut(totals, None, places, self.n_columns)

    def _ids_of(self, fold: int) -> Codes:
        """The ids of the words of a fold that have columns."""
        used = np.zeros(self.columns.size, dtype=bool)
        for part in self.kept.parts:
            ids = part.where(part.fold == fold).found.ids
            used[ids[ids >= 0]] = True
        return np.flatnonzero(used & (self.columns >= 0))

    def _counts_without(self, fold: int, own: Array, places: Codes) -> ClassCounts:
        """The counts of the words of a fold in all documents but its own; ``own`` has all."""
        nothing = ClassCounts(np.zeros(own.shape), np.zeros(self.n_classes))
        sums, complete = ClassSums(nothing, once=self.once), self.kept.is_complete
        for part in self.kept.parts:
            here = part.where((part.fold == fold) != complete).with_ids(places)
            sums.count(here.found, here.codes, here.weight)
        if complete:
            return sums.counts
        return ClassCounts(
            _difference(own, sums.sums), _difference(self.counts.of_class, sums.of_class)
        )


def _is_of(fold: int, part: KeptPart) -> Array:
    return np.asarray(part.fold == fold)


def _difference(total: Array, part: Array) -> Array:
    """The total without a part of it; what rounding leaves is 0."""
    left = total - part
    return np.where(left > ROUNDING * total, left, 0.0)
