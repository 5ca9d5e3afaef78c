"""Labelled documents: read in batches, kept as ids of their terms, and scored out of fold.

A model is calibrated on documents that models of the other folds have scored, without a matrix and
without a refit:

    S_{−f} = the counts of all documents but the kept ones of fold f
           = Σ of the other kept documents, or, if not all are kept, S − Σ of those of the fold

Only the words of the fold are needed to score its documents.  In models of counts all other words
are one more column (``likely.distributions.multinomial``), so that a table has as many rows as
the fold has words; presences need all columns, because absent words are evidence, too.  One fold is
left out at a time.  Where all documents are kept, the numbers are those of ``HeldOutBlocks``.  The
difference is exact for weights that are whole numbers; else, what rounding leaves of a count is 0.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import (
    N_FOLDS,
    SAMPLE_SEED,
    ScoredRows,
    cooled_by_scores,
    is_scored,
    rows_scored,
)
from likely.calibrate.length_evidence import (
    EXACT,
    FEWEST_WORDS,
    MOST_SCORED,
    HeldOutRows,
    absence_with,
    cooled_by_documents,
    factor_of_least_loss,
    folds_by_words,
    folds_of_factor,
    of_words,
    word_keys,
)
from likely.calibrate.length_temperature import (
    ScoredDocuments,
    documents_scored,
    joined_documents,
)
from likely.compute.executor import executor_for
from likely.data.formats.registry import read
from likely.data.hashed_splits import FOLD_SEED, fold_of, hashed_uniforms, hashed_values
from likely.data.sequences import TermIds, counted, stacked
from likely.data.source import Source, column_index
from likely.data.source_blocks import class_codes, find_schema, weights
from likely.distributions.multinomial import LumpedColumns, LumpedCounts
from likely.distributions.product import ProductStatistics
from likely.distributions.smoothing import UNSEEN
from likely.errors import InvalidInput
from likely.generative.class_counts import ClassCounts, ClassSums, LabelledBatch, class_totals
from likely.inputs.tables import is_file, own_columns
from likely.inputs.targets import (
    check_weight,
    classes_of,
    codes_among,
    label_array,
    refuse_other_length,
    required,
)
from likely.objectives.components import ComponentLearner, Components, ComponentTotals
from likely.objectives.cooled_evidence import Absence, CooledEvidence
from likely.output.formatting import listed
from likely.text.documents import documents, empty_where_missing

AT_ONCE = 4096  # documents that are scored together
ROUNDING = 1e-9  # of a count: less is left by sums of weights that are no whole numbers


# ── Labelled documents in batches: of memory, or of a file that is read as it is needed ───────────


class LabelledDocuments(NamedTuple):
    """Batches to learn from, once, and the classes that occur in them."""

    batches: Iterable[LabelledBatch]
    classes: Array
    in_memory: bool


def labelled_documents(estimator: Any, X: Any, y: Any, sample_weight: Any) -> LabelledDocuments:
    """Documents of memory or of a file, with their classes; a document of weight 0 has none."""
    if is_file(X) and not (isinstance(X, str) and not Path(X).is_file()):
        return _of_file(estimator, X, y, sample_weight)
    X, y, sample_weight = own_columns(X, y, sample_weight)
    given = X if isinstance(X, list | tuple) else documents(X)  # lists are read in parts
    labels, weight = _checked(estimator, len(given), y, sample_weight)
    codes = np.full(len(labels), -1, dtype=np.int64)
    classes, codes[weight > 0] = classes_of(labels[weight > 0])
    return LabelledDocuments([LabelledBatch(given, codes, weight)], classes, in_memory=True)


def batch_of(estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Array) -> LabelledBatch:
    """Documents of memory whose classes are among those that are known."""
    X, y, sample_weight = own_columns(X, y, sample_weight)
    given = documents(X)  # all of them are checked before one is counted
    labels, weight = _checked(estimator, len(given), y, sample_weight)
    codes = codes_among(labels, classes).astype(np.int64)
    return LabelledBatch(given, np.where(weight > 0, codes, -1), weight)


def _checked(estimator: Any, n: int, y: Any, sample_weight: Any) -> tuple[Array, Array]:
    if not n:
        raise InvalidInput("there are no documents to learn from. Pass at least one.")
    labels = label_array(required(y, estimator))
    refuse_other_length(labels, n)
    weight = check_weight(sample_weight, n_rows=n)
    return labels, np.ones(n) if weight is None else weight


def _of_file(estimator: Any, X: Any, y: Any, sample_weight: Any) -> LabelledDocuments:
    """The text column of a file, with the label and the weight of each row in other columns."""
    source = read(X) if isinstance(X, str | Path) else X
    beside = [name for name in (required(y, estimator), sample_weight) if name is not None]
    for name in beside:
        if not isinstance(name, str):
            raise InvalidInput(
                "X is a file, so y and sample_weight must be names of its columns; found "
                f"{type(name).__name__}. Columns are {listed(source.names)}."
            )
        column_index(source.names, name)
    texts = [name for name in source.names if name not in beside]
    if len(texts) != 1:
        raise InvalidInput(
            f"the file has the columns {listed(source.names)}; one column of text was expected "
            "beside the label and the weight. Choose columns: likely.read(path).select([text, "
            f"{y!r}])."
        )
    one = executor_for("serial", None)
    schema = find_schema(source.select([y]), [True], one, table=source, weight=sample_weight)
    (classes,) = schema.categories
    assert classes is not None  # the column is read as codes
    batches = _batches(source, texts[0], y, sample_weight, classes)
    return LabelledDocuments(batches, classes, in_memory=False)


def _batches(
    source: Source, text: str, target: str, weight: str | None, classes: Array
) -> Iterator[LabelledBatch]:
    start = 0
    wanted = [text, target] if weight is None else [text, target, weight]
    for table in source.select(wanted).with_text([text]):
        given = documents(empty_where_missing(table.column(text)))
        codes = class_codes(table.column(target), classes).astype(np.int64)
        of_row = np.ones(len(codes)) if weight is None else weights(table.column(weight), start)
        unknown = (codes < 0) & (of_row > 0)
        if unknown.any():
            raise InvalidInput(
                f"Row {start + int(unknown.argmax())} has no label in column {target!r}; every "
                "row needs one. Remove the row."
            )
        yield LabelledBatch(given, np.where(of_row > 0, codes, -1), of_row)
        start += len(codes)


# ── Documents of a pass that are kept as ids of their terms, to be scored when it has ended ───────
#     kept: u_d < t,   u_d = hash(words of the document)        t halves when there are too many ids
#
# Equal documents have equal u_d, so that of copies all are kept or none: a copy that is not kept
# would be in the model that scores the others.  Documents of few words have a u_d by their number.

MOST_IDS = 2**22  # of a stream: 16 MB of ids, of about as many documents as are scored
PER_DOCUMENT = 11  # ids that take the memory of what else is kept of a document, 44 bytes
KEEP_SEED = 2  # of documents of few words that are kept; those that are scored have their own
MOST_PARTS = 32  # of a stream, until they are joined: many small arrays would scatter its memory


class KeptPart(NamedTuple):
    """Some documents with their classes."""

    found: TermIds
    codes: Codes
    weight: Array
    fold: Codes
    uniform: Array  # by the number of the document; it decides which documents are scored
    key: Array  # u_d, which decides whether it is kept

    def where(self, chosen: Array) -> "KeptPart":
        """The documents of a mask."""
        if chosen.all():
            return self
        ids, stops = self.found
        lengths = np.diff(stops, prepend=0)
        found = TermIds(ids[np.repeat(chosen, lengths)], np.cumsum(lengths[chosen]))
        return KeptPart(found, *(each[chosen] for each in self[1:]))

    def with_ids(self, places: Array) -> "KeptPart":
        """The documents with other ids, by the old ones; the last of ``places`` is that of −1."""
        ids, stops = self.found
        return self._replace(found=TermIds(places[ids], stops))

    @classmethod
    def joined(cls, parts: "list[KeptPart]") -> "KeptPart":
        """The documents of several parts as one."""
        first = np.cumsum([0, *(part.found.ids.size for part in parts[:-1])])
        stops = [part.found.stops + n for part, n in zip(parts, first, strict=True)]
        found = TermIds(np.concatenate([part.found.ids for part in parts]), np.concatenate(stops))
        others = zip(*(part[1:] for part in parts), strict=True)
        return cls(found, *(np.concatenate(each) for each in others))


@final
class KeptDocuments:
    """Documents that have a class: all of them, or a sample of at most so many ids."""

    def __init__(self, most_ids: int | None = None) -> None:
        self.most_ids = most_ids
        self.parts: list[KeptPart] = []
        self.n_rows = 0  # documents with a class so far, kept or not
        self.n_ids = 0  # and what takes the same memory
        self.share = 1.0  # t

    @property
    def n_kept(self) -> int:
        """The number of documents that are kept."""
        return sum(part.codes.size for part in self.parts)

    def scored(self, part: KeptPart) -> Array:
        """Which documents of a part are scored: about 20,000 of all that are kept."""
        return is_scored(part.uniform, self.n_rows * self.share, MOST_SCORED)

    @property
    def n_scored(self) -> int:
        """The number of documents that are scored."""
        return sum(int(self.scored(part).sum()) for part in self.parts)

    @property
    def is_complete(self) -> bool:
        """Whether no document was left out."""
        return self.share == 1.0

    def add(self, batch: LabelledBatch, found: TermIds, first: int) -> None:
        """Keep documents of a batch from ``first`` on."""
        here = slice(first, first + found.stops.size)
        codes, weight = batch.codes[here], batch.weight[here]
        known = codes >= 0
        n, fold, uniform = int(known.sum()), np.zeros(codes.size, np.int32), np.ones(codes.size)
        fold[known] = fold_of(self.n_rows, n, FOLD_SEED, N_FOLDS)
        uniform[known] = hashed_uniforms(self.n_rows, n, SAMPLE_SEED)
        key = np.zeros(codes.size)
        if self.most_ids is not None:
            key[known] = hashed_uniforms(self.n_rows, n, KEEP_SEED)
            key = keys_of(found, key)
        key[~known] = 1.0
        self.n_rows += n
        self._keep(KeptPart(found, codes, weight, fold, uniform, key))
        while self.most_ids is not None and self.n_ids > self.most_ids:
            self.share /= 2
            parts, self.parts, self.n_ids = self.parts, [], 0
            for part in parts:
                self._keep(part)
        if self.most_ids is not None and len(self.parts) > MOST_PARTS:
            self.parts = [KeptPart.joined(self.parts)]

    def _keep(self, part: KeptPart) -> None:
        """Keep the documents below the threshold, which those without a class are not."""
        part = part.where(part.key < self.share)
        ids, stops = part.found
        if ids.base is not None:  # a view would keep the room that it was cut from
            part = part._replace(found=TermIds(ids.copy(), stops))
        if part.codes.size:
            self.parts.append(part)
            self.n_ids += ids.size + PER_DOCUMENT * stops.size


def keys_of(found: TermIds, otherwise: Array) -> Array:
    """u_d in [0, 1): equal for documents of the same words; ``otherwise``, if these are few."""
    of_word = np.floor(hashed_values(found.ids, FOLD_SEED) * EXACT) / EXACT  # sums are exact
    before = np.concatenate([[0.0], np.cumsum(of_word)])
    stops = np.concatenate([[0], found.stops])
    by_words = hashed_values(np.diff(before[stops]), SAMPLE_SEED)
    return np.where(np.diff(stops) >= FEWEST_WORDS, by_words, otherwise)


# ── Their scores by models of the other folds ─────────────────────────────────────────────────────


class _LeftOut(NamedTuple):
    """The totals without a fold, and how its documents are read by a model of them."""

    totals: ComponentTotals
    columns: LumpedColumns | None  # of the totals; None for all
    places: Codes  # of the ids of kept documents, in these columns; the last is −1
    n_columns: int

    def learned(self, learn: ComponentLearner) -> Components:
        """The model of the totals."""
        own = learn if self.columns is None else learn.of_columns(self.columns)
        return own(self.totals)


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

    def best_factor(self, learn: ComponentLearner) -> float:
        self._keep_equal_together()
        n_folds = folds_of_factor(self.n_classes, self.n_columns)
        return factor_of_least_loss(lambda f: self._documents(learn.smoothed(f), n_folds))

    def cooled_by_length(self, learn: ComponentLearner) -> CooledEvidence:
        self._keep_equal_together()
        rows = self._documents(learn, N_FOLDS)
        self._known.clear()  # the last use
        found = cooled_by_documents(rows, self.counts.of_class)
        if rows is None or self.event != "bernoulli":
            return found
        whole = learn(class_totals(self.event, self.counts))
        return replace(found, absence=self._absence(whole))

    def cooled(self, learn: ComponentLearner) -> CooledEvidence:
        parts: list[ScoredRows] = []
        for fold in range(N_FOLDS):
            left = self._sums_without(fold)
            if self.n_classes < 2 or not left.totals.count.sum() > 0:
                return cooled_by_scores([], self.counts.of_class)
            model = left.learned(learn)
            for X, y, weight in self._rows(left, partial(_is_of, fold)):
                score = model.distribution.log_score(X)
                log_prior = np.broadcast_to(model.log_mixing, score.shape)
                parts.append(rows_scored(score, log_prior, y, weight))
        return cooled_by_scores(parts, self.counts.of_class)

    def _documents(self, learn: ComponentLearner, n_folds: int) -> ScoredDocuments | None:
        """The documents of the first folds, scored by models of the others."""
        parts: list[ScoredDocuments] = []
        for fold in range(n_folds):
            left, rows = self._without(fold)
            if self.n_classes < 2 or not left.totals.count.sum() > 0:
                continue
            model = left.learned(learn)
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
