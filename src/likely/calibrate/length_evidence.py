"""Evidence of documents, cooled by their length.

    p(k | x) ∝ π_k exp(β(L) s_k)        β(L) = a / (1 + b L),  a > 0,  b ≥ 0
                                        s_k = log p(x | k),  L = Σ_v x_v, the words of the document

Words of a document depend on one another, so that naive Bayes counts the same evidence again and
again, the more the longer the document is.  One temperature cannot repair that: it would leave long
documents overconfident and short ones without evidence.  β(L) s_k grows with L up to a/b times the
evidence of the average word.  The class prior π is not cooled, and an empty document has it.

In models of presence (Bernoulli) and of Poisson counts absent words are evidence too, and a short
document lacks most words of any class.  A word that a document of the mean length m lacks with the
probability 1 − θ is lacking in one of length L with (1 − θ)^(L/m), so that absence is evidence in
proportion to the length, and s_k + (L/m − 1) Σ_v log(1 − θ_kv) is in the place of s_k.

a and b minimise the log loss of out-of-fold scores.  The statistics of all other folds are sums of
fold totals, so that the models of all folds cost one pass over the rows, and no refit.  By the rule
of succession, n rows do not show that errors are rarer than one in n + 2, so each row counts with
ε = 1/(n + 2) as one of the likeliest wrong class:

    minimise  −Σ_i w_i [ (1 − ε) log p(y_i | x_i) + ε log p(j_i | x_i) ],   j_i = argmax_{k≠y} s_k

Without the wrong class, classes that no held-out row confuses would leave a without a bound.
Equal documents of five or more different words (reposts, templates) are in one fold: scored by a
model that has seen their copies, they would make it overconfident of documents without any.

Smoothing that a fit chooses itself is chosen again, with a and b: the leave-one-out likelihood
leaves out a token but not its copies in the same document, so that it takes words for more regular
than they are.  Strengths that differ by factors of 4 are compared by the loss above.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
Bennett, Assessing the calibration of naive Bayes' posterior estimates, CMU-CS-00-155, 2000.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import (
    N_FOLDS,
    SAMPLE_SEED,
    WORDS,
    FoldTotals,
    calibrate_evidence,
    fold_of_rows,
    is_scored,
    warn_nothing_to_calibrate,
    with_copies_in_one_fold,
)
from likely.calibrate.length_temperature import (
    ScoredDocuments,
    best_cooling,
    best_mixed_cooling,
    documents_scored,
    joined_documents,
    search_cooling,
)
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.hashed_splits import FOLD_SEED, hashed_uniforms, hashed_values
from likely.distributions.lengths import (
    SplitScores,
    absence_is_evidence,
    has_other_columns,
    refuse_without_words,
    row_lengths,
    score_of_absence,
    split_scores,
    word_parts,
)
from likely.distributions.product import ProductFamily
from likely.numerics.additive import Additive, pairwise_total
from likely.objectives.components import (
    ComponentLearner,
    Components,
    ComponentTotals,
    block_totals,
    no_smaller_than_totals,
)
from likely.objectives.cooled_evidence import Absence, CooledEvidence

FEWEST_WORDS = 5  # different words of documents that are not equal by chance
EXACT = 2.0**24  # keys of words are multiples of 1/EXACT
ROUNDED = 6  # decimals of their sums, where words have weights that are no whole numbers
MOST_SCORED = 20_000  # rows whose scores are used: two numbers need no more
STEP = 4.0  # between the strengths of smoothing that are tried
MOST_STEPS = 4  # up or down
LARGE_TABLE = 1_000_000  # cells: its strength of smoothing is chosen on one fold


class HeldOutRows(ABC):
    """Rows whose scores come from models that were not trained on them."""

    @abstractmethod
    def best_factor(self, learn: ComponentLearner) -> float:
        """What to multiply the strength of smoothing by."""

    @abstractmethod
    def cooled(self, learn: ComponentLearner) -> CooledEvidence:
        """The evidence with one temperature."""

    @abstractmethod
    def cooled_by_length(self, learn: ComponentLearner) -> CooledEvidence:
        """The evidence with a temperature T = 1/a that grows with the length of a row."""


@final
@dataclass(frozen=True, eq=False)
class HeldOutBlocks(HeldOutRows):
    """Rows in blocks, which are read once for the totals of all folds, and again to be scored."""

    n_components: int
    blocks: Blocks
    executor: Executor

    def best_factor(self, learn: ComponentLearner) -> float:
        blocks, folds = self._folds(learn.family)
        n_folds = folds_of_factor(self.n_components, blocks.n_features)

        def scored(factor: float) -> ScoredDocuments | None:
            smoothed = learn.smoothed(factor)
            return scored_documents(learn.family, folds, blocks, self.executor, smoothed, n_folds)

        return factor_of_least_loss(scored)

    def cooled(self, learn: ComponentLearner) -> CooledEvidence:
        given = learn.family, self.n_components, self.blocks, self.executor
        return calibrate_evidence(*given, learn)

    def cooled_by_length(self, learn: ComponentLearner) -> CooledEvidence:
        family = learn.family
        blocks, folds = self._folds(family)
        rows = scored_documents(family, folds, blocks, self.executor, learn)
        count = np.sum([each.count for each in folds.totals.folds], axis=0)
        found = cooled_by_documents(rows, count)
        if rows is None or not absence_is_evidence(family):
            return found
        whole = pairwise_total(folds.totals.folds)
        return replace(found, absence=absence_of(family, learn(whole), folds.mean_length))

    def _folds(self, family: ProductFamily) -> "tuple[Blocks, CountedFolds]":
        refuse_without_words(family)
        blocks = with_document_folds(family, self.blocks)
        return blocks, folds_of(family, self.n_components, blocks, self.executor)


@final
@dataclass(frozen=True, eq=False)
class CountedFolds(Additive):
    """The totals of each fold, and the length of all documents."""

    totals: FoldTotals
    length: float  # Σ w L of the labelled rows

    def __add__(self, other: Self) -> Self:
        return type(self)(self.totals + other.totals, self.length + other.length)

    @property
    def mean_length(self) -> float:
        """m, of the labelled rows."""
        return self.length / max(sum(float(each.count.sum()) for each in self.totals.folds), 1e-300)


def cooled_by_documents(rows: ScoredDocuments | None, count: Array) -> CooledEvidence:
    """T = 1/a and b of rows that were scored out of fold, if there are any.

    ``count`` is the number of rows of each class.
    """
    if rows is None:
        warn_nothing_to_calibrate(
            "there is one class, or each class is missing from the other folds", WORDS
        )
        return CooledEvidence()
    return best_mixed_cooling(rows, count) if rows.others.shape[1] else best_cooling(rows)


def folds_of_factor(n_components: int, n_features: int) -> int:
    """The number of folds on which the strength of smoothing is chosen."""
    return 1 if n_components * n_features > LARGE_TABLE else N_FOLDS


def factor_of_least_loss(scored: Callable[[float], ScoredDocuments | None]) -> float:
    """The factor, a power of 4, whose out-of-fold scores have the smallest loss."""
    losses: dict[int, float] = {}

    def loss(step: int) -> float:
        if step not in losses:
            rows = scored(STEP**step)
            losses[step] = np.inf if rows is None else search_cooling(rows).loss
        return losses[step]

    way = 1 if loss(1) < loss(0) else -1
    best = 0
    while abs(best) < MOST_STEPS and loss(best + way) < loss(best):
        best += way
    return STEP**best


def folds_of(
    family: ProductFamily, n_components: int, blocks: Blocks, executor: Executor
) -> CountedFolds:
    """The totals of all folds, in one pass."""
    blocks = no_smaller_than_totals(blocks, n_components)
    return executor.sum(partial(_block_folds, family, n_components), blocks)


def scored_documents(
    family: ProductFamily,
    folds: CountedFolds,
    blocks: Blocks,
    executor: Executor,
    learn: Callable[[ComponentTotals], Components],
    n_folds: int = N_FOLDS,
) -> ScoredDocuments | None:
    """Rows scored by the models of the other folds, at most about 20,000; None if there are none.

    Rows of a class that the other folds do not have are left out.
    """
    n_components = len(folds.totals.folds[0].count)
    blocks = no_smaller_than_totals(blocks, n_components)
    scored: list[ScoredDocuments] = []
    for fold in range(n_folds):
        totals = folds.totals.without(fold)
        if n_components > 1 and totals.count.sum() > 0:
            term = partial(_scored_sample, family, learn(totals), fold, folds)
            scored.extend(executor.map(term, blocks))
    return joined_documents(scored)


def _block_folds(family: ProductFamily, n_components: int, block: Block) -> CountedFolds:
    assert block.y is not None  # calibration needs labels
    fold = document_folds(family, block)
    each = (_rows_of(block, np.flatnonzero(fold == f)) for f in range(N_FOLDS))
    totals = tuple(block_totals(family, n_components, rows) for rows in each)
    length = 0.0
    if absence_is_evidence(family):
        known = np.where(block.y >= 0, 1.0 if block.weight is None else block.weight, 0.0)
        length = float(np.dot(known, row_lengths(family, block.X.stored())))
    return CountedFolds(FoldTotals(totals, block.n_rows), length)


def with_document_folds(family: ProductFamily, blocks: Blocks) -> Blocks:
    """The blocks with a fold for each row, where words do not tell which rows are copies."""
    return blocks if all(word_parts(family)) else with_copies_in_one_fold(blocks)


def document_folds(family: ProductFamily, block: Block) -> Codes:
    """The fold of each row of a block: by its words, or by its index if it has few, or others.

    Beside other columns, copies in memory have the fold of the first one, if blocks come from
    ``with_document_folds``.

    The words are summed with random weights, so that equal documents have equal sums.  Beside other
    columns, texts may be few and repeat, so that their folds would not divide the rows.
    """
    by_index = fold_of_rows(block)
    if not all(word_parts(family)):
        return by_index
    X, n = block.X.stored(), block.n_rows
    total, distinct = np.zeros(n), np.zeros(n, dtype=np.int64)
    for part in family.parts:
        own = part.selection.of(X)
        own = np.nan_to_num(own) if isinstance(own, np.ndarray) else own
        total += own @ word_keys(own.shape[1])
        distinct += np.asarray((own != 0).sum(axis=1)).ravel()
    return folds_by_words(total, distinct, by_index)


def word_keys(n: int) -> Array:
    """Random weights of words, whose sums over words that are counted are exact in any order."""
    return np.floor(hashed_uniforms(0, n, FOLD_SEED) * EXACT) / EXACT


def folds_by_words(total: Array, distinct: Codes, by_index: Codes) -> Codes:
    """The folds of documents by the sums of the keys of their words, if these are not few."""
    by_words = hashed_values(np.round(total, ROUNDED), FOLD_SEED)
    fold = np.minimum((by_words * N_FOLDS).astype(np.int32), N_FOLDS - 1)
    return np.where(distinct >= FEWEST_WORDS, fold, by_index)


def _rows_of(block: Block, rows: Codes) -> Block:
    """Some rows of a block, by position."""
    weight, group = (None if of is None else of[rows] for of in (block.weight, block.group))
    return replace(block, X=block.X.taken(rows), y=block.target[rows], weight=weight, group=group)


def _scored_sample(
    family: ProductFamily, model: Components, fold: int, folds: CountedFolds, block: Block
) -> ScoredDocuments:
    """Some of the rows of a fold, at most about 20,000 of all folds."""
    drawn = is_scored(
        hashed_uniforms(block.start, block.n_rows, SAMPLE_SEED), folds.totals.n_rows, MOST_SCORED
    )
    chosen = replace(block, y=np.where(drawn, block.target, -1))
    return scored_block(family, model, fold, chosen, folds.mean_length)


def absence_of(family: ProductFamily, model: Components, mean_length: float) -> Absence | None:
    """What absent words say, where they are evidence."""
    if not absence_is_evidence(family):
        return None
    return absence_with(score_of_absence(family, model.distribution), mean_length)


def absence_with(score: Array, mean_length: float) -> Absence | None:
    """What absent words say; None without words, or if a class excludes an empty document."""
    return Absence(mean_length, score) if mean_length > 0 and np.isfinite(score).all() else None


def scored_block(
    family: ProductFamily, model: Components, fold: int, block: Block, mean_length: float = 0.0
) -> ScoredDocuments:
    """The labelled rows of a fold whose class the model of the other folds has seen."""
    chosen = np.flatnonzero((document_folds(family, block) == fold) & (block.target >= 0))
    rows = _rows_of(block, chosen)
    X = rows.X.stored()
    member: Any = model.distribution  # a product of these families
    if has_other_columns(family):
        scores = split_scores(family, member, X)
    else:
        scores = of_words(member.log_score(X))
    weight = np.ones(len(chosen)) if rows.weight is None else rows.weight
    return documents_scored(
        model,
        scores,
        rows.target,
        weight,
        row_lengths(family, X),
        absence_of(family, model, mean_length),
    )


def of_words(score: Array) -> SplitScores:
    """Scores of rows that have words only."""
    return SplitScores(score, np.empty((len(score), 0)))
