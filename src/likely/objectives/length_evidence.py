"""Evidence of documents, cooled by their length.

    p(k | x) ∝ π_k exp(β(L) s_k)        β(L) = a / (1 + b L),  a > 0,  b ≥ 0
                                        s_k = log p(x | k),  L = Σ_v x_v, the words of the document

Words of a document depend on one another, so that naive Bayes counts the same evidence again and
again, the more the longer the document is.  One temperature cannot repair that: it would leave long
documents overconfident and short ones without evidence.  β(L) s_k grows with L up to a/b times the
evidence of the average word.  The class prior π is not cooled.  An empty document has it in models
of counts; in Bernoulli models absent words are evidence too, cooled by a alone since L = 0.

a and b minimise the log loss of out-of-fold scores.  The statistics of all other folds are sums of
fold totals, so that the models of all folds cost one pass over the rows, and no refit.  By the rule
of succession, n rows do not show that errors are rarer than one in n + 2, so each row counts with
ε = 1/(n + 2) as one of the likeliest wrong class:

    minimise  −Σ_i w_i [ (1 − ε) log p(y_i | x_i) + ε log p(j_i | x_i) ],   j_i = argmax_{k≠y} s_k

Without the wrong class, classes that no held-out row confuses would leave a without a bound.  The
folds do not depend on what rows hold: a document with a copy in another fold is scored by a model
that has seen it, and many copies make the probabilities overconfident for documents without any.

Smoothing that a fit chooses itself is chosen again, with a and b: the leave-one-out likelihood
leaves out a token but not its copies in the same document, so that it takes words for more regular
than they are.  Strengths that differ by factors of 4 are compared by the loss above.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
Bennett, Assessing the calibration of naive Bayes' posterior estimates, CMU-CS-00-155, 2000.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.split import FOLD_SEED, fold_of, hashed_uniforms
from likely.distributions.lengths import row_lengths
from likely.distributions.product import ProductFamily
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_totals,
    no_smaller_than_totals,
)
from likely.objectives.cooled_evidence import CooledEvidence
from likely.objectives.evidence import LOWEST_SCORE, N_FOLDS, SAME, WORDS, FoldTotals
from likely.objectives.temperature import (
    WARMEST,
    warn_no_information,
    warn_nothing_to_calibrate,
)
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton
from likely.special import log_softmax

MOST_SCORED = 20_000  # rows whose scores are used: two numbers need no more
SAMPLE_SEED = 1  # of the rows that are scored; the folds have their own
FIRST_LOOK = 500  # rows of the grid where the search starts
LEAST, MOST = np.log(1 / WARMEST), np.log(1e6)  # of log a
SLOWEST, FASTEST = np.log(1e-6), np.log(1e2)  # of log b times the mean length
STEP = 4.0  # between the strengths of smoothing that are tried
MOST_STEPS = 4  # up or down
LARGE_TABLE = 1_000_000  # cells: its strength of smoothing is chosen on one fold
GRID_A, GRID_B = np.log(np.geomspace(1e-4, 1e1, 11)), np.log(np.geomspace(1e-3, 1e2, 6))


class ScoredDocuments(NamedTuple):
    """Rows scored by the model that was not trained on them."""

    score: Array  # log p(x | k) less that of the likeliest class, (n, K)
    log_prior: Array  # log π_k, (n, K)
    y: Codes
    weight: Array
    length: Array


@final
@dataclass(frozen=True, eq=False)
class CountedFolds(Additive):
    """The totals of each fold, and the number of rows."""

    totals: FoldTotals
    n_rows: int

    def __add__(self, other: Self) -> Self:
        return type(self)(self.totals + other.totals, self.n_rows + other.n_rows)


def calibrate_by_length(
    family: ProductFamily,
    n_components: int,
    blocks: Blocks,
    executor: Executor,
    learn: Callable[[ComponentTotals], Components],
) -> CooledEvidence:
    """T = 1/a and b of out-of-fold scores; ``learn`` turns totals into a model."""
    folds = folds_of(family, n_components, blocks, executor)
    return cooled_by_documents(scored_documents(family, folds, blocks, executor, learn))


def cooled_by_documents(rows: ScoredDocuments | None) -> CooledEvidence:
    """T = 1/a and b of rows that were scored out of fold, if there are any."""
    if rows is None:
        warn_nothing_to_calibrate(
            "there is one class, or each class is missing from the other folds", WORDS
        )
        return CooledEvidence()
    return best_cooling(rows)


def best_factor(
    family: ProductFamily,
    n_components: int,
    blocks: Blocks,
    executor: Executor,
    learn: Callable[[float, ComponentTotals], Components],
) -> float:
    """What to multiply the strength of smoothing by; ``learn`` takes it, and totals."""
    folds = folds_of(family, n_components, blocks, executor)
    n_folds = folds_of_factor(n_components, blocks.n_features)

    def scored(factor: float) -> ScoredDocuments | None:
        return scored_documents(family, folds, blocks, executor, partial(learn, factor), n_folds)

    return factor_of_least_loss(scored)


def folds_of_factor(n_components: int, n_features: int) -> int:
    """The number of folds on which the strength of smoothing is chosen."""
    return 1 if n_components * n_features > LARGE_TABLE else N_FOLDS


def factor_of_least_loss(scored: Callable[[float], ScoredDocuments | None]) -> float:
    """The factor, a power of 4, whose out-of-fold scores have the smallest loss."""
    losses: dict[int, float] = {}

    def loss(step: int) -> float:
        if step not in losses:
            rows = scored(STEP**step)
            losses[step] = np.inf if rows is None else _search(rows).loss
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
            term = partial(_scored_block, family, learn(totals), fold, folds.n_rows)
            scored.extend(executor.map(term, blocks))
    return joined_documents(scored)


def joined_documents(parts: Sequence[ScoredDocuments]) -> ScoredDocuments | None:
    """The rows of all parts; None without any weight."""
    if not parts:
        return None
    rows = ScoredDocuments(*map(np.concatenate, zip(*parts, strict=True)))
    return rows if rows.weight.sum() > 0 else None


def _block_folds(family: ProductFamily, n_components: int, block: Block) -> CountedFolds:
    assert block.y is not None  # calibration needs labels
    fold = fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS)
    each = (_rows_of(block, np.flatnonzero(fold == f)) for f in range(N_FOLDS))
    totals = tuple(block_totals(family, n_components, rows) for rows in each)
    return CountedFolds(FoldTotals(totals), block.n_rows)


def _rows_of(block: Block, rows: Codes) -> Block:
    """Some rows of a block, by position."""
    weight = None if block.weight is None else block.weight[rows]
    return replace(block, X=block.X.taken(rows), y=block.target[rows], weight=weight)


def _scored_block(
    family: ProductFamily, model: Components, fold: int, n_rows: int, block: Block
) -> ScoredDocuments:
    """The rows of a fold whose class the model of the other folds has seen."""
    drawn = is_scored(hashed_uniforms(block.start, block.n_rows, SAMPLE_SEED), n_rows)
    here = fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS) == fold
    rows = _rows_of(block, np.flatnonzero(drawn & here & (block.target >= 0)))
    X = rows.X.stored()
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    return documents_scored(model, X, rows.target, weight, row_lengths(family, X))


def is_scored(uniform: Array, n_rows: int) -> Array:
    """Which rows are scored, by the uniform numbers of all rows."""
    return uniform * n_rows < MOST_SCORED


def documents_scored(
    model: Components, X: Any, y: Codes, weight: Array, length: Array
) -> ScoredDocuments:
    """Rows scored by a model, of which those are left out whose class it has not seen."""
    score, possible = model.distribution.log_score(X), model.log_mixing > -np.inf
    top = np.max(score, axis=1, keepdims=True, where=possible, initial=-np.inf)
    centred = np.subtract(score, top, where=np.isfinite(top), out=np.zeros(score.shape))
    score = np.clip(np.where(possible, centred, LOWEST_SCORE), LOWEST_SCORE, 0.0)
    known = score[np.arange(len(y)), y] > LOWEST_SCORE
    log_prior = np.broadcast_to(np.maximum(model.log_mixing, LOWEST_SCORE), score.shape)
    return ScoredDocuments(score[known], log_prior[known], y[known], weight[known], length[known])


def best_cooling(rows: ScoredDocuments) -> CooledEvidence:
    """The T = 1/a and b of the smallest loss."""
    log_a, log_b, typical, loss = _search(rows)
    without = LengthObjective(rows, typical).second_order(np.array([LEAST, log_b])).value
    if log_a <= LEAST or without * (1 - SAME) <= loss:
        warn_no_information(WORDS)
        return CooledEvidence(WARMEST)
    if log_a >= MOST:
        warn_nothing_to_calibrate("every held-out row is already predicted correctly", WORDS)
        return CooledEvidence()
    rate = 0.0 if log_b <= SLOWEST else float(np.exp(log_b)) / typical
    return CooledEvidence(float(np.exp(-log_a)), None, rate)


class _Cooling(NamedTuple):
    log_a: float
    log_b: float  # of b times the mean length
    typical: float  # the mean length
    loss: float


def _search(rows: ScoredDocuments) -> _Cooling:
    typical = float(np.average(rows.length, weights=rows.weight)) or 1.0
    objective = LengthObjective(rows, typical)
    start = _best_of_grid(rows, typical)
    found = minimise(Newton(), objective, start, tol=1e-10, max_iter=100).theta
    log_a, log_b = np.clip(found, [LEAST, SLOWEST], [MOST, FASTEST])
    return _Cooling(float(log_a), float(log_b), typical, objective.second_order(found).value)


def length_loss(rows: ScoredDocuments, a: float, b: float) -> SecondOrder:
    """The loss, and its derivatives in log a and log b.

    The Hessian is that of the loss in β, which is convex, times the outer product of dβ: what is
    left out of it is in the gradient, see ``LengthObjective``.
    """
    every = np.arange(len(rows.y))
    beta = a / (1.0 + b * rows.length)
    log_p = log_softmax(rows.log_prior + beta[:, None] * rows.score, axis=1)
    p = np.exp(log_p)
    wrong = _likeliest_wrong(rows)
    error = np.where(wrong == rows.y, 0.0, 1.0 / (len(rows.y) + 2.0))
    mean = np.einsum("ik,ik->i", p, rows.score)
    wanted = (1 - error) * rows.score[every, rows.y] + error * rows.score[every, wrong]
    with np.errstate(over="ignore"):  # scores of impossible classes are −1e100
        spread = np.einsum("ik,ik->i", p, np.square(rows.score - mean[:, None]))
    d_beta = np.stack([beta, -beta * b * rows.length / (1.0 + b * rows.length)])  # in log a, log b
    slope, curvature = rows.weight * (mean - wanted), rows.weight * spread
    loss = (1 - error) * log_p[every, rows.y] + error * log_p[every, wrong]
    return SecondOrder(
        value=-float(np.dot(rows.weight, loss)),
        gradient=np.dot(d_beta, slope),
        hessian=np.dot(d_beta * curvature, d_beta.T),
    )


def _likeliest_wrong(rows: ScoredDocuments) -> Codes:
    """The likeliest class but the row's own; its own where no other is possible."""
    others = np.where(rows.log_prior > LOWEST_SCORE, rows.score, -np.inf)
    others[np.arange(len(rows.y)), rows.y] = LOWEST_SCORE
    return np.asarray(others.argmax(axis=1))


@final
@dataclass(frozen=True, eq=False)
class LengthObjective(SmoothObjective):
    """The loss as a function of θ = (log a, log b · the mean length), kept in a box."""

    rows: ScoredDocuments
    typical: float  # the mean length

    def second_order(self, theta: Array) -> SecondOrder:
        low, high = np.array([LEAST, SLOWEST]), np.array([MOST, FASTEST])
        a, b = np.exp(np.clip(theta, low, high))
        here = length_loss(self.rows, float(a), float(b) / self.typical)
        gradient = here.gradient
        # |gradient| keeps the curvature positive where the loss is not convex in θ
        hessian = here.hessian + np.diag(np.abs(gradient))
        outwards = ((theta <= low) & (gradient > 0)) | ((theta >= high) & (gradient < 0))
        if outwards.any():  # stay at the end
            gradient = np.where(outwards, 0.0, gradient)
            hessian = hessian * np.outer(~outwards, ~outwards) + np.diag(1.0 * outwards)
        return replace(here, gradient=gradient, hessian=hessian)


def _best_of_grid(rows: ScoredDocuments, typical: float) -> Array:
    """The (log a, log b · the mean length) of the smallest loss of some rows, on a grid."""
    few = ScoredDocuments(*(each[:FIRST_LOOK] for each in _shuffled(rows)))
    losses = {
        (log_a, log_b): length_loss(few, float(np.exp(log_a)), float(np.exp(log_b)) / typical).value
        for log_a in GRID_A
        for log_b in GRID_B
    }
    return np.array(min(losses, key=losses.__getitem__))


def _shuffled(rows: ScoredDocuments) -> ScoredDocuments:
    """The rows in an order without folds."""
    order = np.argsort(hashed_uniforms(0, len(rows.y), SAMPLE_SEED))
    return ScoredDocuments(*(each[order] for each in rows))
