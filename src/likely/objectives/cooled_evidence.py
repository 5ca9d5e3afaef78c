"""Class probabilities from calibrated evidence: cooled, and bounded by the outliers of each class.

    p(k | x) ∝ π_k q_k        q_k = (1 − λ_k) exp(δ_k) + λ_k        δ_k = (s_k − max_j s_j) / T(L)
                                                                    T(L) = T (1 + b L)

s_k is log p(x | k), up to a term that the classes share; L is the length of a document, its number
of words.  ``evidence.py`` and ``length_evidence.py`` have the reasons, and how T, λ and b are
chosen.  Predictions need no more than this file, which imports NumPy only.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.special import log_softmax


@final
@dataclass(frozen=True, eq=False)
class CooledEvidence:
    """How evidence is calibrated: divided by T, and bounded by the outliers of each class.

    The formula and its reasons are in ``likely.objectives.evidence``.
    """

    temperature: float = 1.0
    outlier_share: Array | None = None  # λ_k, (n_components,); None is 0
    length_rate: float = 0.0  # b, by which each word of a document raises the temperature

    @property
    def is_calibrated(self) -> bool:
        """Whether the evidence is changed at all."""
        return self.temperature != 1.0 or self.outlier_share is not None or self.needs_length

    @property
    def needs_length(self) -> bool:
        """Whether the temperature depends on the length of a row."""
        return self.length_rate != 0.0

    def temperature_of(self, length: Array | None) -> Array | float:
        """T(L), a column (n, 1); without lengths, T."""
        if not self.needs_length:
            return self.temperature
        assert length is not None  # the caller asks ``needs_length``
        return self.temperature * (1.0 + self.length_rate * length[:, None])

    def log_posterior(self, log_prior: Array, score: Array, length: Array | None = None) -> Array:
        """log p(k | x) from log π and log p(x | k) up to a shared term, (n, n_components)."""
        temperature = self.temperature_of(length)
        if self.outlier_share is None:
            return log_softmax(log_prior + score / temperature, axis=1)
        top = np.max(score, axis=1, keepdims=True, where=log_prior > -np.inf, initial=-np.inf)
        return log_softmax(log_prior + self._bounded((score - top) / temperature), axis=1)

    def log_posterior_or_prior(
        self, log_prior: Array, score: Array, length: Array | None = None
    ) -> Array:
        """log p(k | x); the class prior for a row that no class gives a probability."""
        impossible = np.isneginf((log_prior + score).max(axis=1, keepdims=True))
        if not impossible.any():
            return self.log_posterior(log_prior, score, length)
        possible = self.log_posterior(log_prior, np.where(impossible, 0.0, score), length)
        return np.where(impossible, log_prior, possible)

    def contributions(
        self, contributions: Array, log_prior: Array, length: Array | None = None
    ) -> Array:
        """Each feature's part of the calibrated log-odds, (n, n_features, n_components).

        Their differences between classes add up to those of log q_k.
        """
        temperature: Any = self.temperature_of(length)
        if self.needs_length:
            temperature = temperature[:, :, None]
        if self.outlier_share is None:
            return contributions / temperature
        score = np.where(log_prior > -np.inf, contributions.sum(axis=1), -np.inf)
        top = np.argmax(score, axis=1)[:, None, None]
        apart = contributions - np.take_along_axis(contributions, top, axis=2)
        total = apart.sum(axis=1, keepdims=True)  # of the row: what the class is behind the top
        kept = self._bounded(total / temperature)
        endless = np.isinf(total)  # it is of the features that exclude the class
        parts = np.isinf(apart) / np.maximum(np.isinf(apart).sum(axis=1, keepdims=True), 1)
        at_once = np.broadcast_to((1 - self.outlier_share) / temperature, total.shape)
        ratio = np.divide(kept, total, out=at_once.copy(), where=~endless & (total < 0))
        with np.errstate(invalid="ignore"):  # 0 · ∞, not used
            return np.where(endless, kept * parts, apart * ratio)

    def _bounded(self, behind: Array) -> Array:
        """log q_k of a class that is so far behind the likeliest one, after cooling."""
        assert self.outlier_share is not None
        log_share, log_rest = np.log(self.outlier_share), np.log1p(-self.outlier_share)
        return np.logaddexp(log_rest + np.minimum(behind, 0.0), log_share)
