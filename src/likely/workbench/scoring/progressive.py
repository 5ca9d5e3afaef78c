"""Progressive validation: each row is predicted before the model has learned from it.

    L_n = (1/n) Σ_{i≤n} −log p(y_i | x_i, rows before its block)

Blocks double: the model that predicts rows n + 1 to 2n has learned from the first n.  All fits
together cost as much as one fit to twice the rows, and every row of the estimate is held out.  Rows
are in random order, or in the order of time where it is given.  Copies of earlier rows are learned
from, and not scored.

Texts of a file that is larger than memory are fitted and scored in one pass over the rows in the
order of the file (``fit_text_stream``).  The words are hashed, so that memory does not grow with
the file.  A model that is calibrated is so on a sample of the documents, and each model of the
progressive validation on those before it.  The score is that of the last block: of up to half of
the rows, predicted by the model of those before.  The model does not depend on the order, but the
score does: where the classes of a late block are far from those of all rows, there is none.

    ½ Σ_k |share of k in the block − share of k in all rows| > ¼ + ½ Σ_k √(p_k (1 − p_k) / n)

The last term bounds the mean distance of n rows in random order.

A long text that is a copy of one before the block is learned from, and not scored.  Texts are told
apart by 25 bits of a hash, so that a share of the others is left out too, at random.

References
----------
Blum, Kalai & Langford (1999), Beating the hold-out: bounds for k-fold and progressive
cross-validation, COLT.
"""

import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.data.arrow import values_of
from likely.data.copies import words_of_cells
from likely.data.source_blocks import chunks
from likely.errors import InvalidInput, NothingToCalibrate
from likely.metrics.baseline import BestConstant
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.registry import METRICS, metrics_for
from likely.metrics.score import Score, ScoreTotals
from likely.numerics.keyed_random import mix
from likely.output.progress import report
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import empty_where_missing
from likely.text.text_classifier import TextClassifier
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.task import Task
from likely.workbench.models.model_entry import bag_of
from likely.workbench.preparation.prepared import for_prediction
from likely.workbench.scoring.predictions import predict_for, truth_of

if TYPE_CHECKING:
    import pyarrow as pa

N_COLUMNS = 2**20  # of hashed words
VOCABULARY = ("max_df", "min_df", "max_features", "vocabulary", "unknown")  # settings of words
FAR = 0.25  # distance between shares of classes
MANY_ROWS = 16  # a class with so many expected rows is not missing by chance: e⁻¹⁶
AT_ONCE = 2048  # documents that are predicted, then learned from
COPIED = 40  # characters of a text that is equal to another by being a copy
PLACES = 25  # bits of a hash
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


class StreamedText(NamedTuple):
    """A classifier of texts, and what its pass over the file has shown."""

    model: TextClassifier
    task: Task
    n_rows: int
    losses: list[ProgressiveLoss]
    score: Score | None  # None where there are too few rows, or they are sorted
    n_held_out: int | None  # documents on which the model was calibrated; None if it was not
    is_sorted: bool  # by the target, or its classes drift: losses say nothing about new documents


class _Block(NamedTuple):
    """Rows that one model predicts: the first of them, the model, and their totals so far."""

    start: int
    model: TextClassifier
    constant: BestConstant
    before: Array  # rows of each class that came earlier
    totals: ScoreTotals | None = None


class _Scored(NamedTuple):
    """The totals of a block that has ended, whose model is no longer needed."""

    stop: int  # the rows so far
    totals: ScoreTotals
    rows: Array  # of each class


def progressive_losses(model: Any, data: Dataset, *, seed: int = 0) -> list[ProgressiveLoss]:
    """The log loss after each block; none where there are too few rows, or no classes."""
    task = data.settled
    if not task.has_classes:
        return []
    order = _order(data, seed)
    metric, found = METRICS[METRIC], []
    totals: list[Any] = []  # of the model, and of the constant
    for start, stop in _blocks(len(order), max(FIRST_ROWS, ROWS_PER_CLASS * len(task.classes))):
        scored = _unlike(data.units, order[:start], order[start:stop])
        if not scored.size:
            continue
        before, block = data.take(order[:start]), data.take(scored)
        truth = truth_of(task, block.table, block.weights)
        constant = BestConstant.of(truth_of(task, before.table, before.weights))
        fitted = before.fit(for_prediction(clone(model)))
        given = block.roles.to_predict(block.table)
        ours = metric.statistics(truth, predict_for(fitted, task, block.model_columns, given))
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


def fit_text_stream(
    model: Any, data: Dataset, text: str, words: Mapping[str, Any] | None = None
) -> StreamedText:
    """Fit a naive Bayes of counts to the words of a column, in one pass after that for classes.

    ``words`` are settings of the bag of words.
    """
    bag, target = _hashed(words or {}), data.required_target()
    labelled = data.labelled().source.select([text, *data.roles.columns]).with_text([text])
    task = _task_of_labels(labelled.select([target]), target)
    classifier = TextClassifier(model, bag).keep_documents()
    first = max(FIRST_ROWS, ROWS_PER_CLASS * len(task.classes))
    metrics = metrics_for(task.kind, in_memory=False)
    labels, n = np.array(task.classes), 0
    seen = np.zeros((2, len(labels)))  # rows, and their weight, of each class
    done: list[_Scored] = []
    block, n_blocks = None, 1
    met = np.zeros(2**PLACES, dtype=np.uint8)  # the first block of the texts of each hash, from 1
    for table in chunks(labelled, AT_ONCE):
        if n >= (first if block is None else 2 * block.start):
            done += _ended(n, block, seen[0])
            block = None  # before the next: a model is large
            n_blocks += 1
            block = _Block(n, _as_it_is(classifier), _constant(seen[1]), seen[0].copy())
        documents = empty_where_missing(table.column(text).cast("large_string"))
        truth = truth_of(task, table, data.roles.weights(table))
        new = _first_met(met, documents, n_blocks)
        if block is not None and new.size:
            rows = documents.take(new)
            block = block._replace(totals=_more(block, rows, truth.rows(new), metrics))
        y, of_row = values_of(table.column(target)), truth.weights
        classifier.partial_fit(documents, y, classes=labels, sample_weight=of_row)
        seen += [np.bincount(truth.y, each, len(labels)) for each in (None, of_row)]
        n += table.num_rows
        report("rows", table.num_rows)
    done += _ended(n, block, seen[0])
    block = None
    classifier.complete_fit()
    classifier.feature_names_in_, classifier.n_features_in_ = np.array([text], dtype=object), 1
    n_held_out = None if classifier._kept is None else classifier._kept.n_scored
    classifier._kept = None
    is_sorted = any(_differs(each.rows, seen[0]) for each in done[-2:])  # the last may be short
    score = None if is_sorted or not done else replace(done[-1].totals.score(), how=PROGRESSIVE)
    return StreamedText(classifier, task, n, list(_losses(done)), score, n_held_out, is_sorted)


def _hashed(words: Mapping[str, Any]) -> BagOfWords:
    """A bag of words without a vocabulary; what needs one is refused."""
    needs_vocabulary = [name for name in VOCABULARY if name in words]
    if needs_vocabulary:
        name = needs_vocabulary[0]
        raise InvalidInput(
            f"words.{name} (words__{name}) was given, which needs a vocabulary; the file is larger "
            "than memory, and its words are hashed, without one. Leave it out, or train on fewer "
            "rows."
        )
    return bag_of({"n_features": N_COLUMNS, **words})


def _task_of_labels(source: Any, target: str) -> Task:
    """The classes of a target, which is read once."""
    found: set[Any] = set()
    for batch in source:
        found.update(pc.unique(batch.column(0)).to_pylist())
    found.discard(None)
    if len(found) < 2 or len(found) > N_COLUMNS // 1024:
        raise InvalidInput(
            f"The target {target!r} has {len(found):,} classes; from 2 to {N_COLUMNS // 1024:,} "
            "were expected for a file that is larger than memory. Choose another target."
        )
    return Task("binary" if len(found) == 2 else "classes", target, tuple(sorted(found)))


def _as_it_is(classifier: TextClassifier) -> TextClassifier:
    """The classifier as it is now; what is learned later does not change its model."""
    with warnings.catch_warnings():  # those of the whole file are shown
        warnings.simplefilter("ignore", NothingToCalibrate)
        classifier.complete_fit()
    return copy(classifier)


def _constant(weighed: Array) -> BestConstant:
    with np.errstate(divide="ignore"):
        return BestConstant(np.log(weighed / weighed.sum()))


def _more(block: _Block, documents: Any, truth: Truth, metrics: Any) -> ScoreTotals:
    ours = Prediction.of_classes(block.model.predict_log_proba(documents))
    here = ScoreTotals.of(metrics, truth, ours, block.constant.prediction(truth))
    return here if block.totals is None else block.totals + here


def _first_met(met: Array, documents: "pa.Array | pa.ChunkedArray", block: int) -> Codes:
    """The rows without a text of an earlier block, and a note of their texts for later ones."""
    place = mix(words_of_cells(documents)) >> np.uint64(64 - PLACES)
    long = pc.utf8_length(documents).to_numpy(zero_copy_only=False) > COPIED
    earlier = long & (met[place] > 0) & (met[place] < block)
    noted = place[long & (met[place] == 0)]
    met[noted] = block
    return np.flatnonzero(~earlier)


def _ended(n: int, block: _Block | None, seen: Array) -> list[_Scored]:
    """The totals of a block, if there is one, after n rows."""
    if block is None or block.totals is None:
        return []
    return [_Scored(n, block.totals, seen - block.before)]


def _differs(rows: Array, all_rows: Array) -> bool:
    """Whether the classes of some rows are far from those of all, or lack a frequent one."""
    n, share = rows.sum(), all_rows / all_rows.sum()
    distance = 0.5 * np.abs(rows / n - share).sum()
    by_chance = 0.5 * np.sqrt(share * (1 - share) / n).sum()
    missing = (rows == 0) & (n * share > MANY_ROWS)
    return bool(distance > FAR + by_chance or missing.any())


def _losses(done: list[_Scored]) -> Iterator[ProgressiveLoss]:
    """The mean log loss of each block, and of all so far."""
    before: ScoreTotals | None = None
    for n, totals, _ in done:
        before = totals if before is None else before + totals
        main = before.score().main
        yield ProgressiveLoss(n, totals.score().main.value, main.value, main.baseline)
