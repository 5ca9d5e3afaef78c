"""What fitted networks of numbers answer: the distribution of y, and how well it fits.

``FittedNumbers`` has methods that only read what a fit has learned; see ``surface`` for those of
all networks.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from likely._typing import Array
from likely.inputs.estimators import generator
from likely.inputs.numbers import check_response, check_weight
from likely.inputs.tables import own_columns
from likely.likelihoods.base import Response
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.neural.outputs import Output
from likely.objectives.linear import weighted_sum


class FittedNumbers(ABC):
    """A trained network whose output is a number, or several."""

    output_: Output
    dispersion_: float
    alpha_: float | None
    random_state: Any

    @abstractmethod
    def predict(self, X: Any) -> Array:
        """E[y | x] of each row."""

    def predict_distribution(self, X: Any) -> PredictiveDistribution:
        """The distribution of y given each row: the response around its mean."""
        return PredictiveDistribution(self._response, self.predict(X), self.dispersion_)

    def predictive_family(self) -> PredictiveFamily | None:
        """The response, with the dispersion of the fit; None for several responses."""
        if self.output_.n_outputs > 1:
            return None
        return PredictiveFamily.of(self._response, self.dispersion_)

    def log_likelihoods(self, X: Any, y: Any) -> Array:
        """log p(y_i | x_i) of each row, with all its terms, at ``dispersion_``."""
        X, y = own_columns(X, y)
        mean = self.predict(X)
        y = self._responses(y, len(mean))
        each = self._response.log_prob(y, mean, self.dispersion_)
        return np.asarray(each if each.ndim == 1 else each.sum(axis=1))

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Σ w_i log p(y_i | x_i), with all its terms, at ``dispersion_``."""
        X, y, sample_weight = own_columns(X, y, sample_weight)
        each = self.log_likelihoods(X, y)
        return weighted_sum(check_weight(sample_weight, n_rows=len(each)), each)

    def deviance(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Twice the log-likelihood of the saturated model minus that of the model."""
        X, y, sample_weight = own_columns(X, y, sample_weight)
        mean = self.predict(X)
        weight = check_weight(sample_weight, n_rows=len(mean))
        return float(self._deviances(self._responses(y, len(mean)), mean, weight).sum())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the constant model's deviance that is explained; R² for a Gaussian.

        Of several responses, their mean.
        """
        X, y, sample_weight = own_columns(X, y, sample_weight)
        mean = self.predict(X)
        y, weight = self._responses(y, len(mean)), check_weight(sample_weight, n_rows=len(mean))
        constant = np.broadcast_to(np.average(y, axis=0, weights=weight), y.shape)
        left, null = (self._deviances(y, each, weight) for each in (mean, constant))
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(null > 0, 1 - left / null, np.nan)
        return float(shares.mean())

    def sample(self, X: Any, random_state: Any = None) -> Array:
        """One y for each row, drawn from the fitted model."""
        rng = generator(self.random_state if random_state is None else random_state)
        return self._response.sample(self.predict(X), rng, self.dispersion_)

    @property
    def _response(self) -> Response:
        """The response whose density y has, with its estimated α."""
        alpha = vars(self).get("alpha_")
        if alpha is None:
            return self.output_.response
        return NegativeBinomial(alpha) if alpha > 0 else Poisson()

    def _deviances(self, y: Array, mean: Array, weight: Array | None) -> Array:
        """The deviance of each response, (n_responses,)."""
        each = self._response.deviance(y, mean).reshape(len(y), -1)
        return np.dot(np.ones(len(y)) if weight is None else weight, each)

    def _responses(self, y: Any, n_rows: int) -> Array:
        several = self.output_.n_outputs > 1
        y = check_response(y, n_rows=n_rows, estimator=self, several=several)
        self.output_.check(y)
        return y
