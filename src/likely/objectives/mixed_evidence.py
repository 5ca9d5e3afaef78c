"""Evidence of words and of the other columns of a row, each with a temperature of its own.

    p(k | x) ∝ π_k exp(β(L) s_k) q_k        s_k = log p(words | k),   β(L) = a / (1 + b L)
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

import numpy as np

from likely._typing import Array
from likely.objectives.cooled_evidence import CooledEvidence
from likely.objectives.evidence import (
    CAUTION,
    LOWEST_SCORE,
    WORDS,
    outlier_shares,
    peak,
)
from likely.objectives.length_cooling import ScoredDocuments, search_cooling, shuffled
from likely.objectives.temperature import WARMEST, warn_no_information

FIRST_LOOK = 2000  # rows of the coarse grid
COARSE = np.geomspace(1e-6, 1e1, 15)  # of 1/T
FINE = np.geomspace(10**-0.5, 10**0.5, 7)  # times the best of the coarse grid


def best_mixed_cooling(rows: ScoredDocuments, count: Array) -> CooledEvidence:
    """The a, b and T of the smallest loss; ``count`` is the number of rows of each class."""
    share, lowest = outlier_shares(count), _lowest_density(rows)

    def others(beta: float) -> CooledEvidence:
        return CooledEvidence(1 / beta, share, lowest=lowest)

    few = ScoredDocuments(*(each[:FIRST_LOOK] for each in shuffled(rows)))
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
