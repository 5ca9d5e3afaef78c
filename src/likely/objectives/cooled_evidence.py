"""Class probabilities from calibrated evidence: cooled, and bounded by the outliers of each class.

    p(k | x) ∝ π_k q_k        q_k = (1 − λ_k) exp(δ_k) + λ_k        δ_k = (s_k − max_j s_j) / T(L)
                                                                    T(L) = T (1 + b L)

s_k is log p(x | k), up to a term that the classes share; L is the length of a document, its number
of words.  Where words that are absent are evidence, s_k + (L/m − 1) s_k(empty document) is in its
place, with m the mean length.  ``likely.calibrate`` has the reasons, in ``evidence``
and ``length_evidence``, and how T, λ and b are chosen.  Rows with words and other columns have two
such factors, see ``length_temperature`` there:

    p(k | x) ∝ π_k q_k(words) q_k(others)        s_k(others) = log [p(x | k) + f]

Densities far below f, the lowest of all rows in the fit, say nothing about the class.  Predictions
need no more than this file, whose imports need no package but NumPy, as the runtime requires.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.distributions.lengths import row_lengths, split_scores
from likely.special import log_softmax


@final
@dataclass(frozen=True, eq=False)
class Absence:
    """What words that are absent say, in proportion to the length of a document."""

    mean_length: float
    score: Array  # log p(x | k) of an empty document, (n_components,)

    def surplus(self, length: Array) -> Array:
        """L/m − 1, (n,): what is missing of, or beyond, the evidence of the mean length."""
        return np.asarray(length / self.mean_length - 1.0)


class EvidenceScores(NamedTuple):
    """What calibrated evidence reads of rows."""

    score: Array  # log p(x | k) up to a shared term, (n, n_components)
    length: Array | None = None  # L, where the temperature depends on it
    others: Array | None = None  # log p(x | k) of columns that are not words, if apart from them


@final
@dataclass(frozen=True, eq=False)
class CooledEvidence:
    """How evidence is calibrated: divided by T, and bounded by the outliers of each class.

    The formula and its reasons are in ``likely.calibrate.evidence``.
    """

    temperature: float = 1.0
    outlier_share: Array | None = None  # λ_k, (n_components,); None is 0
    length_rate: float = 0.0  # b, by which each word of a document raises the temperature
    absence: "Absence | None" = None  # where words that are absent are evidence
    lowest: float = -np.inf  # log f, the lowest density of a row that says anything
    others: "CooledEvidence | None" = None  # of columns that are not words, if apart from them

    @classmethod
    def of_attributes(cls, learned: Callable[[str], Any]) -> Self:
        """The calibration of a fitted naive Bayes; ``learned`` gives its attributes by name."""
        temperature, rate = float(learned("temperature_")), float(learned("length_rate_") or 0.0)
        mean, share = learned("mean_length_"), learned("outlier_share_")
        absence = None if mean is None else Absence(float(mean), learned("empty_score_"))
        other, lowest = learned("other_temperature_"), learned("lowest_density_")
        if other is None:
            return cls(temperature, share, rate, absence)
        others = cls(float(other), share, lowest=-np.inf if lowest is None else float(lowest))
        return cls(temperature, None, rate, absence, others=others)

    @property
    def attributes(self) -> dict[str, Any]:
        """The calibration as attributes of a fitted naive Bayes: see ``of_attributes``."""
        absence, others = self.absence, self.others
        return {
            "temperature_": self.temperature,
            "outlier_share_": self.outlier_share if others is None else others.outlier_share,
            "length_rate_": self.length_rate,
            "mean_length_": None if absence is None else absence.mean_length,
            "empty_score_": None if absence is None else absence.score,
            "other_temperature_": None if others is None else others.temperature,
            "lowest_density_": None if others is None else others.lowest,
        }

    @property
    def is_calibrated(self) -> bool:
        """Whether the evidence is changed at all."""
        cooled = self.temperature != 1.0 or self.needs_length or self.others is not None
        return cooled or self.outlier_share is not None

    @property
    def needs_length(self) -> bool:
        """Whether the temperature depends on the length of a row."""
        return self.length_rate != 0.0 or self.absence is not None

    def temperature_of(self, length: Array | None) -> Array | float:
        """T(L), a column (n, 1); without lengths, T."""
        if not self.needs_length:
            return self.temperature
        assert length is not None  # the caller asks ``needs_length``
        return self.temperature * (1.0 + self.length_rate * length[:, None])

    def scores(self, family: Any, distribution: Any, X: Any) -> EvidenceScores:
        """What is read of rows X, of a product of families and its fitted member."""
        length = row_lengths(family, X) if self.needs_length else None
        if self.others is None:
            return EvidenceScores(distribution.log_score(X), length)
        words, others = split_scores(family, distribution, X)
        return EvidenceScores(words, length, others)

    def log_posterior(
        self, log_prior: Array, score: Array, length: Any = None, others: Array | None = None
    ) -> Array:
        """log p(k | x) from log π and log p(x | k) up to a shared term, (n, n_components)."""
        if self.others is not None:
            assert others is not None  # ``scores`` has both
            log_prior = log_prior + self.others.log_factor(log_prior, others)
        temperature = self.temperature_of(length)
        if self.absence is not None:
            score = score + self.absence.surplus(length)[:, None] * self.absence.score
        if self.outlier_share is None:
            return log_softmax(log_prior + score / temperature, axis=1)
        return log_softmax(log_prior + self._behind(log_prior, score, temperature), axis=1)

    def log_posterior_or_prior(
        self, log_prior: Array, score: Array, length: Any = None, others: Array | None = None
    ) -> Array:
        """log p(k | x); words, or a row, that no class gives a probability, say nothing."""
        impossible = np.isneginf((log_prior + score).max(axis=1, keepdims=True))
        if not impossible.any():
            return self.log_posterior(log_prior, score, length, others)
        score = np.where(impossible, 0.0, score)
        possible = self.log_posterior(log_prior, score, length, others)
        return possible if self.others is not None else np.where(impossible, log_prior, possible)

    def log_factor(self, log_prior: Array, score: Array) -> Array:
        """log q_k, 0 for the likeliest class, (n, n_components)."""
        return self._behind(log_prior, np.logaddexp(score, self.lowest), self.temperature)

    def contributions(
        self,
        contributions: Array,
        log_prior: Array,
        length: Any = None,
        absent: Array | None = None,
    ) -> Array:
        """Each feature's part of the calibrated log-odds, (n, n_features, n_components).

        Their differences between classes add up to those of log q_k.  ``absent`` are those of an
        empty document, (n_features, n_components), where absent words are evidence.
        """
        if self.absence is not None and absent is not None:
            contributions = contributions + self.absence.surplus(length)[:, None, None] * absent
        temperature: Any = self.temperature_of(length)
        if self.needs_length:
            temperature = temperature[:, :, None]
        if self.outlier_share is None:
            return contributions / temperature
        score = np.where(log_prior > -np.inf, contributions.sum(axis=1), -np.inf)
        top = np.argmax(score, axis=1)[:, None, None]
        apart = contributions - np.take_along_axis(contributions, top, axis=2)
        total = apart.sum(axis=1, keepdims=True)  # of the row: what the class is behind the top
        at_once = np.broadcast_to((1 - self.outlier_share) / temperature, total.shape)
        return _shared_out(apart, self._bounded(total / temperature), at_once)

    def factor_contributions(self, contributions: Array, log_prior: Array, score: Array) -> Array:
        """Each feature's part of ``log_factor``, whose score is given with all constants."""
        kept = self.log_factor(log_prior, score)
        top = np.argmax(np.where(log_prior > -np.inf, score, -np.inf), axis=1)[:, None, None]
        apart = contributions - np.take_along_axis(contributions, top, axis=2)
        return _shared_out(apart, kept[:, None], np.zeros((len(kept), 1, kept.shape[1])))

    def _behind(self, log_prior: Array, score: Array, temperature: Any) -> Array:
        """log q_k of scores that are not yet cooled."""
        top = np.max(score, axis=1, keepdims=True, where=log_prior > -np.inf, initial=-np.inf)
        return self._bounded((score - top) / temperature)

    def _bounded(self, behind: Array) -> Array:
        """log q_k of a class that is so far behind the likeliest one, after cooling."""
        assert self.outlier_share is not None
        log_share, log_rest = np.log(self.outlier_share), np.log1p(-self.outlier_share)
        return np.logaddexp(log_rest + np.minimum(behind, 0.0), log_share)


def _shared_out(apart: Array, kept: Array, at_once: Array) -> Array:
    """What is kept of the total of the features, in proportion to what each of them has.

    ``at_once`` is the proportion where the total is 0.
    """
    total = apart.sum(axis=1, keepdims=True)
    endless = np.isinf(total)  # it is of the features that exclude the class
    parts = np.isinf(apart) / np.maximum(np.isinf(apart).sum(axis=1, keepdims=True), 1)
    ratio = np.divide(kept, total, out=at_once.copy(), where=~endless & (total < 0))
    with np.errstate(invalid="ignore"):  # 0 · ∞, not used
        return np.where(endless, kept * parts, apart * ratio)
