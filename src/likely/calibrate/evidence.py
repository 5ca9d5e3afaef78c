"""Calibrated evidence of a generative model: cooled, and no stronger than its rows can show.

    p(k | x) ∝ π_k q_k        q_k = (1 − λ_k) exp(δ_k) + λ_k        λ_k = 1/((K − 1)(n_k + 2))
                              δ_k = (s_k − max_j s_j) / T           s_k = log p(x | k)

The temperature T cools evidence that dependent columns give several times; the class prior π is not
cooled, so that useless evidence (T → ∞) leaves the prior.  λ_k is the share of the rows of class k
that look like rows of the likeliest class: by the rule of succession, n_k rows without one do not
show that there is none.  So the evidence against a class ends near log n_k nats, however far a row
is from all rows before it.  Without that end, the evidence of a Gaussian column grows with the
square of the distance, and one row of a heavy tail costs more than all other rows gain.

T is chosen on out-of-fold scores: row i is scored by a model that has not seen its fold, in which
all copies of the row are.  Fold statistics are merged by prefix and suffix, so all
leave-one-fold-out models cost one pass.  The choice is cautious: it is the T whose gain over the
prior, Σ_i w_i [log p(y_i | x_i) − log π_{y_i}], is largest after ``CAUTION`` of its standard errors
are subtracted.  A gain that a few rows make by chance is not used.  Two passes over a grid of T
find it, first a coarse one, then a fine one.  In large tables, and with many classes, they score a
part of the rows, which a hash draws: one number needs no more.

Scores that have no prior are divided by a temperature alone: ``temperature.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, MappedBlocks
from likely.data.copies import copies_in_blocks
from likely.data.hashed_splits import FOLD_SEED, fold_of, hashed_uniforms
from likely.distributions.base import Family
from likely.errors import NothingToCalibrate, warn_user
from likely.numerics.additive import Additive, FieldwiseAdditive, pairwise_total
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_expectations,
    block_totals,
)
from likely.objectives.cooled_evidence import CooledEvidence
from likely.special import log_softmax

WARMEST = 1e12  # at this temperature scores have no effect, even those of a very narrow Gaussian
N_FOLDS = 5
CAUTION = 1.0  # standard errors that are subtracted from a gain
COLDEST = 1e-6  # beyond is separation, not calibration
STEP = 10 ** (1 / 3)  # of the coarse grid of 1/T
COARSE = np.geomspace(1 / WARMEST, 1 / COLDEST, 55)
FINE = np.geomspace(1 / STEP, STEP, 25)  # times the best of the coarse grid
SAME = 1e-9  # of a gain: two that differ by less are equal
SAMPLE_SEED = 1  # of the rows that are scored; the folds have their own
MOST_SCORED_CELLS = 4_000_000  # rows times classes
FEWEST_SCORED = 2_000  # rows, however many classes there are
LOWEST_SCORE = -1e100  # of an impossible class: finite, so that products with 0 are 0


class Wording(NamedTuple):
    """Words for warnings about a calibrated model."""

    left: str  # what is left of it without any evidence
    advice: str  # what to do instead


WORDS = Wording(
    "only the class prior (the shares of the classes) is left",
    "leave out calibrate (--set calibrate=none)",
)


def warn_no_information(words: Wording) -> None:
    """Warn that the highest temperature is used."""
    warn_user(
        "The scores carry no information about the classes, so the temperature is "
        f"{WARMEST:.0e} and {words.left}. Give more rows or other columns, or "
        f"{words.advice}.",
        NothingToCalibrate,
    )


def warn_nothing_to_calibrate(why: str, words: Wording) -> None:
    """Warn that the temperature is 1."""
    warn_user(
        f"There is nothing to calibrate: among the scored rows, {why}. The temperature is 1. "
        f"Give more rows, or {words.advice}.",
        NothingToCalibrate,
    )


@final
@dataclass(frozen=True, eq=False)
class FoldTotals(Additive):
    """The totals of each fold, and the number of rows."""

    folds: tuple[ComponentTotals, ...]
    n_rows: int

    def __add__(self, other: Self) -> Self:
        folds = tuple(a + b for a, b in zip(self.folds, other.folds, strict=True))
        return type(self)(folds, self.n_rows + other.n_rows)

    def without(self, fold: int) -> ComponentTotals:
        """Σ over all folds but one: one at a time, where tables are large."""
        return pairwise_total(each for f, each in enumerate(self.folds) if f != fold)

    def left_out(self) -> tuple[ComponentTotals, ...]:
        """Σ over all folds but one, for each, by prefix and suffix: without subtraction."""
        n = len(self.folds)
        prefix, suffix = list(self.folds), list(self.folds)
        for i in range(1, n):
            prefix[i] = prefix[i - 1] + self.folds[i]
            suffix[n - 1 - i] = self.folds[n - 1 - i] + suffix[n - i]
        ends = [suffix[1], *(prefix[i - 1] + suffix[i + 1] for i in range(1, n - 1)), prefix[n - 2]]
        return tuple(ends)


def with_copies_in_one_fold(blocks: Blocks) -> Blocks:
    """The blocks with a fold for each row, if rows in memory are copies of each other."""
    if isinstance(blocks, MappedBlocks):
        return replace(blocks, inner=with_copies_in_one_fold(blocks.inner))
    copies = copies_in_blocks(blocks)
    if copies is None or not isinstance(blocks, ArrayBlocks):
        return blocks
    return replace(blocks, group=fold_of(0, copies.size, FOLD_SEED, N_FOLDS)[copies])


def fold_of_rows(block: Block) -> Codes:
    """The fold of each row: by its index, or that of the first row that it is a copy of."""
    if block.group is not None:
        return block.group
    return fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS)


def block_fold_totals(family: Family, n_components: int, block: Block) -> FoldTotals:
    assert block.y is not None  # calibration needs labels
    fold = fold_of_rows(block)
    return FoldTotals(
        tuple(
            block_totals(family, n_components, replace(block, y=np.where(fold == f, block.y, -1)))
            for f in range(N_FOLDS)
        ),
        block.n_rows,
    )


def completed_fold_totals(family: Family, model: Components, block: Block) -> FoldTotals:
    """The totals of labelled rows with missing cells, which have their expectations at θ."""
    fold = fold_of_rows(block)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return FoldTotals(
        tuple(
            block_expectations(family, model, replace(block, weight=np.where(fold == f, weight, 0)))
            for f in range(N_FOLDS)
        ),
        block.n_rows,
    )


class ScoredRows(NamedTuple):
    """Rows scored by the model that was not trained on them."""

    score: Array  # log p(x | k) up to a shared term, (n, K)
    log_prior: Array  # log π_k, (n, K)
    y: Codes
    weight: Array


def is_scored(uniform: Array, n_rows: float, most: float) -> Array:
    """Which rows are scored, about ``most`` of all, by the uniform numbers of all rows."""
    return np.asarray(uniform * n_rows < most)


def scored_rows(
    models: tuple[Components, ...], block: Block, n_rows: float = 0.0
) -> ScoredRows | None:
    """The rows whose class is known to the model that scores them; if there are ``n_rows``, some.

    None if no row of the block is scored.
    """
    assert block.y is not None  # calibration needs labels
    most = max(FEWEST_SCORED, MOST_SCORED_CELLS / len(models[0].log_mixing))
    drawn = is_scored(hashed_uniforms(block.start, block.n_rows, SAMPLE_SEED), n_rows, most)
    fold = np.where(drawn & (block.y >= 0), fold_of_rows(block), -1)
    parts = []
    for f, model in enumerate(models):
        rows = np.flatnonzero(fold == f)
        if rows.size:
            score = model.distribution.log_score(block.X.taken(rows).stored())
            log_prior = np.broadcast_to(model.log_mixing, score.shape)
            weight = np.ones(rows.size) if block.weight is None else block.weight[rows]
            parts.append(rows_scored(score, log_prior, block.y[rows], weight))
    return ScoredRows(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


def rows_scored(score: Array, log_prior: Array, y: Codes, weight: Array) -> ScoredRows:
    """Rows with their scores, of which those are left out whose class the model has not seen."""
    impossible = np.isneginf(log_prior)
    top = np.max(score, axis=1, keepdims=True, where=~impossible, initial=-np.inf)
    centred = np.subtract(score, top, where=np.isfinite(top), out=np.zeros(score.shape))
    score, log_prior = np.maximum(centred, LOWEST_SCORE), np.maximum(log_prior, LOWEST_SCORE)
    own = np.minimum(score, log_prior)[np.arange(len(y)), y]
    known = (y >= 0) & (own > LOWEST_SCORE)
    return ScoredRows(score[known], log_prior[known], y[known], weight[known])


@final
@dataclass(frozen=True, eq=False)
class EvidenceGains(FieldwiseAdditive):
    """The reduction in loss relative to the class prior, for each 1/T of a list."""

    weight: float  # Σ w
    first: Array  # Σ w d, d = log p(y | x) − log π_y
    second: Array  # Σ w d²

    def cautious(self) -> Array:
        """Σ w d minus ``CAUTION`` standard errors."""
        variance = np.maximum(self.second - self.first**2 / max(self.weight, 1e-300), 0.0)
        return self.first - CAUTION * np.sqrt(variance)


def block_gains(
    models: tuple[Components, ...],
    outlier_share: Array,
    betas: Array,
    block: Block,
    n_rows: float = 0.0,
) -> EvidenceGains:
    """The gains of a block's rows whose class the model that scores them has seen."""
    rows = scored_rows(models, block, n_rows)
    if rows is None:
        return EvidenceGains(0.0, np.zeros(len(betas)), np.zeros(len(betas)))
    return row_gains(rows, outlier_share, betas)


def row_gains(rows: ScoredRows, outlier_share: Array, betas: Array) -> EvidenceGains:
    """The gains of rows, for each 1/T of a list.

    d = log q_y − log Σ_k π_k q_k, and q_k − 1 = (1 − λ_k) (exp(δ_k) − 1): exactly 0 where all
    scores are equal, so that no gain is made by rounding.
    """
    own = np.arange(len(rows.y)), rows.y
    within = np.exp(log_softmax(rows.log_prior, axis=1)) * (1 - outlier_share)
    score, share = np.minimum(rows.score, 0.0), outlier_share[rows.y]
    d, less = np.empty((len(betas), len(rows.y))), np.empty(score.shape)
    for i, beta in enumerate(betas):
        np.exp(np.multiply(score, beta, out=less), out=less)
        far = np.log((1 - share) * less[own] + share)
        less -= 1.0
        near = np.log1p((1 - share) * less[own])
        d[i] = np.where(less[own] > -0.5, near, far)
        d[i] -= np.log1p(np.einsum("ik,ik->i", within, less))
    return EvidenceGains(
        float(rows.weight.sum()), np.dot(d, rows.weight), np.dot(d**2, rows.weight)
    )


def outlier_shares(count: Array) -> Array:
    """1/((K − 1)(n_k + 2)): rows of a class that look like those of another, by succession."""
    return 1 / (max(len(count) - 1, 1) * (count + 2.0))


def calibrate_evidence(
    family: Family,
    n_components: int,
    blocks: Blocks,
    executor: Executor,
    learn: Callable[[ComponentTotals], Components],
    *,
    fold_totals: Callable[[Block], FoldTotals] | None = None,
) -> CooledEvidence:
    """T of out-of-fold scores, and the shares of outliers; ``learn`` turns totals into a model.

    ``fold_totals`` are those of a block, where cells are missing that the family cannot leave out.
    """
    blocks = with_copies_in_one_fold(blocks)
    if fold_totals is None:
        fold_totals = partial(block_fold_totals, family, n_components)
    folds = executor.sum(fold_totals, blocks)
    left_out = folds.left_out()
    if n_components < 2 or not all(totals.count.sum() > 0 for totals in left_out):
        warn_nothing_to_calibrate("there is one class, or there are too few rows", WORDS)
        return CooledEvidence()
    models = tuple(map(learn, left_out))
    share = outlier_shares(np.sum([totals.count for totals in folds.folds], axis=0))

    def gains(betas: Array) -> EvidenceGains:
        term = partial(block_gains, models, share, betas, n_rows=folds.n_rows)
        return executor.sum(term, blocks)

    return CooledEvidence(_temperature(gains), share)


def cooled_by_scores(parts: Sequence[ScoredRows], count: Array) -> CooledEvidence:
    """T of rows that were scored out of fold, and the shares of outliers."""
    if not parts:
        warn_nothing_to_calibrate("there is one class, or there are too few rows", WORDS)
        return CooledEvidence()
    share = outlier_shares(count)

    def gains(betas: Array) -> EvidenceGains:
        return pairwise_total([row_gains(rows, share, betas) for rows in parts])

    return CooledEvidence(_temperature(gains), share)


def _temperature(gains: Callable[[Array], EvidenceGains]) -> float:
    """The T of the largest cautious gain.

    Where the scores do not determine T, it is 1; where they have no information, it is 1e12.
    """
    coarse = gains(COARSE)
    cautious = coarse.cautious()
    top = float(cautious.max())
    if not coarse.weight > 0 or (top > 0 and cautious[-1] >= top * (1 - SAME)):
        why = (
            "every held-out row is already predicted correctly, or its class is missing from the "
            "training folds"
        )
        warn_nothing_to_calibrate(why, WORDS)
        return 1.0
    if not top > 0:
        warn_no_information(WORDS)
        return WARMEST
    betas = COARSE[int(cautious.argmax())] * FINE
    return 1 / peak(betas, gains(betas).cautious())


def peak(betas: Array, gains: Array) -> float:
    """The β with the largest gain, by the parabola through it and its neighbours in log β."""
    best = int(gains.argmax())
    if not 0 < best < len(gains) - 1:
        return float(betas[best])
    left, top, right = gains[best - 1 : best + 2]
    step = 0.5 * (left - right) / (left - 2 * top + right)  # between −½ and ½ of the grid's
    return float(betas[best] * (betas[1] / betas[0]) ** step)
