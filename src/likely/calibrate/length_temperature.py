"""How much the words of documents are cooled: the search for a and b.

    minimise  −Σ_i w_i [ (1 − ε) log p(y_i | x_i) + ε log p(j_i | x_i) ],   j_i = argmax_{k≠y} s_k
              p(k | x) ∝ π_k exp(β(L) s_k),  β(L) = a / (1 + b L),  ε = 1/(n + 2)

``length_evidence.py`` has the reasons, and makes the scores.  Other columns of a row have a
temperature T of their own:

    p(k | x) ∝ π_k exp(β(L) s_k) q_k        s_k = log p(words | k)
                                            q_k = (1 − λ_k) exp(δ_k) + λ_k
                                            δ_k = (t_k − max_j t_j) / T
                                            t_k = log [p(other columns | k) + f]

Words and other columns are wrong in different ways.  Words repeat each other; a number whose
distribution is far from its event model (a price with a long tail) gives evidence that grows with
the square of its distance.  With one temperature for both, one such number outweighs a text, or
cools it until it says nothing.  T is chosen with a and b by the loss of out-of-fold scores.

λ_k bounds the evidence against a class by the number of its rows, as in ``evidence.py``.  f is the
lowest density that a row of the fit has in its own likeliest class: by the rule of succession one
row in n + 2 is further away than that, and nothing is known about such rows, so that they say
nothing about the class.  Between Gaussian columns the class with the largest variance would have
them all.

Other columns are used if their gain exceeds ``CAUTION`` of its standard errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import (
    CAUTION,
    LOWEST_SCORE,
    SAME,
    SAMPLE_SEED,
    WARMEST,
    WORDS,
    outlier_shares,
    peak,
    warn_no_information,
    warn_nothing_to_calibrate,
)
from likely.data.hashed_splits import hashed_uniforms
from likely.distributions.lengths import SplitScores
from likely.objectives.components import Components
from likely.objectives.cooled_evidence import Absence, CooledEvidence
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import search
from likely.solvers.newton import Newton
from likely.special import log_softmax

FIRST_MIXED_LOOK = 2000  # rows of the coarse grid of T
COARSE = np.geomspace(1e-6, 1e1, 15)  # of 1/T
FINE = np.geomspace(10**-0.5, 10**0.5, 7)  # times the best of the coarse grid
FIRST_LOOK = 500  # rows of the grid where the search starts
LEAST, MOST = np.log(1 / WARMEST), np.log(1e6)  # of log a
SLOWEST, FASTEST = np.log(1e-6), np.log(1e2)  # of log b times the mean length
GRID_A, GRID_B = np.log(np.geomspace(1e-4, 1e1, 11)), np.log(np.geomspace(1e-3, 1e2, 6))


class ScoredDocuments(NamedTuple):
    """Rows scored by the model that was not trained on them."""

    score: Array  # log p(x | k) less that of the likeliest class, (n, K)
    log_prior: Array  # log π_k, (n, K)
    y: Codes
    weight: Array
    length: Array
    others: Array  # log p(x | k) of columns that are not words, (n, K); (n, 0) without any


def best_cooling(rows: ScoredDocuments) -> CooledEvidence:
    """The T = 1/a and b of the smallest loss."""
    found = search_cooling(rows)
    if found.evidence.temperature == WARMEST:
        warn_no_information(WORDS)
    elif not found.bounded:
        warn_nothing_to_calibrate("every held-out row is already predicted correctly", WORDS)
    return found.evidence


class Cooling(NamedTuple):
    """How words are cooled best, and the loss that is left."""

    evidence: CooledEvidence
    loss: float
    bounded: bool = True  # whether held-out rows show how sure to be: else T is 1


def search_cooling(rows: ScoredDocuments) -> Cooling:
    """The search for a and b; words without information have the highest T."""
    typical = float(np.average(rows.length, weights=rows.weight)) or 1.0
    objective = LengthObjective(rows, typical)
    start = _best_of_grid(rows, typical)
    found = search(Newton(), objective, start, tol=1e-10, max_iter=1000)[0].theta
    log_a, log_b = np.clip(found, [LEAST, SLOWEST], [MOST, FASTEST])
    loss = objective.second_order(found).value
    without = objective.second_order(np.array([LEAST, log_b])).value
    if log_a <= LEAST or without * (1 - SAME) <= loss:
        return Cooling(CooledEvidence(WARMEST), without)
    if log_a >= MOST:
        return Cooling(CooledEvidence(), loss, bounded=False)
    rate = 0.0 if log_b <= SLOWEST else float(np.exp(log_b)) / typical
    return Cooling(CooledEvidence(float(np.exp(-log_a)), None, rate), loss)


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
    few = ScoredDocuments(*(each[:FIRST_LOOK] for each in shuffled(rows)))
    losses = {
        (log_a, log_b): length_loss(few, float(np.exp(log_a)), float(np.exp(log_b)) / typical).value
        for log_a in GRID_A
        for log_b in GRID_B
    }
    return np.array(min(losses, key=losses.__getitem__))


def shuffled(rows: ScoredDocuments) -> ScoredDocuments:
    """The rows in an order without folds."""
    order = np.argsort(hashed_uniforms(0, len(rows.y), SAMPLE_SEED))
    return ScoredDocuments(*(each[order] for each in rows))


def joined_documents(parts: Sequence[ScoredDocuments]) -> ScoredDocuments | None:
    """The rows of all parts; None without any weight."""
    if not parts:
        return None
    rows = ScoredDocuments(*map(np.concatenate, zip(*parts, strict=True)))
    return rows if rows.weight.sum() > 0 else None


def documents_scored(
    model: Components,
    scores: SplitScores,
    y: Codes,
    weight: Array,
    length: Array,
    absence: Absence | None = None,
) -> ScoredDocuments:
    """Rows with their scores, of which those are left out whose class the model has not seen."""
    score, possible = scores.words, model.log_mixing > -np.inf
    if absence is not None:
        score = score + absence.surplus(length)[:, None] * absence.score
    top = np.max(score, axis=1, keepdims=True, where=possible, initial=-np.inf)
    centred = np.subtract(score, top, where=np.isfinite(top), out=np.zeros(score.shape))
    score = np.clip(np.where(possible, centred, LOWEST_SCORE), LOWEST_SCORE, 0.0)
    known = score[np.arange(len(y)), y] > LOWEST_SCORE
    log_prior = np.broadcast_to(np.maximum(model.log_mixing, LOWEST_SCORE), score.shape)
    found = (score, log_prior, y, weight, length, scores.others)
    return ScoredDocuments(*(each[known] for each in found))


def best_mixed_cooling(rows: ScoredDocuments, count: Array) -> CooledEvidence:
    """The a, b and T of the smallest loss; ``count`` is the number of rows of each class."""
    share, lowest = outlier_shares(count), _lowest_density(rows)

    def others(beta: float) -> CooledEvidence:
        return CooledEvidence(1 / beta, share, lowest=lowest)

    few = ScoredDocuments(*(each[:FIRST_MIXED_LOOK] for each in shuffled(rows)))
    coarse = [_loss(few, others(beta)) for beta in COARSE]
    betas = COARSE[int(np.argmin(coarse))] * FINE
    losses = np.array([_loss(rows, others(beta)) for beta in betas])
    best = others(peak(betas, -losses))
    if not _is_gain(rows, best):
        best = others(1 / WARMEST)
    words = search_cooling(_given(rows, best)).evidence
    if words.temperature == best.temperature == WARMEST:
        warn_no_information(WORDS)
    return CooledEvidence(words.temperature, None, words.length_rate, others=best)


def _lowest_density(rows: ScoredDocuments) -> float:
    """log f; where no row has a density above 0, the lowest number that is used."""
    top = rows.others.max(axis=1)
    top = top[np.isfinite(top) & (rows.weight > 0)]
    return float(top.min()) if len(top) else LOWEST_SCORE


def _given(rows: ScoredDocuments, others: CooledEvidence) -> ScoredDocuments:
    """The rows with the evidence of their other columns in the prior of their words."""
    return rows._replace(log_prior=rows.log_prior + others.log_factor(rows.log_prior, rows.others))


def _loss(rows: ScoredDocuments, others: CooledEvidence) -> float:
    """The loss with the best a and b."""
    return search_cooling(_given(rows, others)).loss


def _is_gain(rows: ScoredDocuments, others: CooledEvidence) -> bool:
    """Whether other columns reduce the loss by more than chance."""
    without, given = _log_probability(rows), _log_probability(_given(rows, others))
    d = given - without
    first, second = np.dot(rows.weight, d), np.dot(rows.weight, d**2)
    variance = max(second - first**2 / rows.weight.sum(), 0.0)
    return bool(first > CAUTION * np.sqrt(variance))


def _log_probability(rows: ScoredDocuments) -> Array:
    """log p(y | x) of each row, with the best a and b."""
    evidence = search_cooling(rows).evidence
    log_p = evidence.log_posterior(rows.log_prior, rows.score, rows.length)
    return np.asarray(log_p[np.arange(len(rows.y)), rows.y])
