"""Outputs of numbers, one η for each: any response and link, and the lectures' square error.

    likelihood       loss = Σ_j nll(y_j, η_j)              ∂/∂η = nll′
    square error     loss = ½ Σ_j (σ(η_j) − y_j)²          ∂/∂η = (σ − y) σ′

A Bernoulli response or a sigmoid also serves two classes.  For Bernoulli with the logit and for the
Gaussian, ∂loss/∂η = mean − y.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.bernoulli import BernoulliLogit, log_probabilities
from likely.likelihoods.gaussian import GaussianIdentity
from likely.likelihoods.poisson import Poisson
from likely.links import Log
from likely.neural.outputs.base import (
    BERNOULLI,
    GAUSSIAN,
    NOT_COMPILED,
    POISSON,
    LossAndSlope,
    Output,
    double,
)
from likely.objectives.overdispersion import estimated_shape
from likely.special import expit, expit_derivative, log_expit


@final
@dataclass(frozen=True)
class ScalarOutput(Output):
    """Numbers, each with a response and a link; two classes, with a Bernoulli response."""

    likelihood: Likelihood
    n_outputs: int = 1
    classes: bool = False  # whether y is the number of a class, 0 or 1

    @property
    def name(self) -> str:
        return f"{self.likelihood.response.name} ({self.likelihood.link.name} link)"

    @property
    def response(self) -> Response:
        return self.likelihood.response

    @property
    def compiled(self) -> int:  # type: ignore[override]  # a value of the instance here
        """The number of the loss in the compiled epoch."""
        if isinstance(self.likelihood, BernoulliLogit):
            return BERNOULLI
        if isinstance(self.likelihood, GaussianIdentity):
            return GAUSSIAN
        poisson = isinstance(self.likelihood.response, Poisson)
        return POISSON if poisson and isinstance(self.likelihood.link, Log) else NOT_COMPILED

    @property
    def n_classes(self) -> int | None:
        return 2 if self.classes else None

    def check(self, y: Array) -> None:
        self.likelihood.check(np.ravel(y))

    def constant(self, y: Array, weight: Array | None) -> Array:
        """g of the mean of y."""
        return np.asarray(self.likelihood.eta_of_mean(np.average(y, axis=0, weights=weight)))

    def with_shape(self, y: Array, weight: Array | None) -> "ScalarOutput":
        """α of a negative binomial that is to be estimated, around the mean of y."""
        response, y = self.response, self.target(y)
        if response.shape_is_known:
            return self
        weight = np.ones(len(y)) if weight is None else weight
        mean = np.broadcast_to(np.average(y, axis=0, weights=weight), y.shape)
        each_weight = np.repeat(weight, y.shape[1])
        found = estimated_shape(response, y.ravel(), mean.ravel(), each_weight)
        return replace(self, likelihood=found.with_link(self.likelihood.link))

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.asarray(self.likelihood.nll(y, double(eta))).sum(axis=1)

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        nll, slope, _ = self.likelihood.derivatives(y, double(eta))
        return LossAndSlope(nll.sum(axis=1), slope, None)

    def mean(self, eta: Array, extra: Array) -> Array:
        """μ, (n, n_outputs); of two classes (1 − μ, μ)."""
        if self.classes:
            return np.exp(self.log_probability(eta, extra))
        return self.likelihood.mean(double(eta))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        if not self.classes:
            return Output.log_probability(self, eta, extra)
        return np.column_stack(log_probabilities(self.likelihood, double(eta)[:, 0]))


@final
@dataclass(frozen=True)
class SquareErrorSigmoid(Output):
    """½ Σ_j (σ(η_j) − y_j)² for y between 0 and 1; its slope vanishes where σ is flat."""

    n_outputs: int = 1
    classes: bool = False  # whether y is the number of a class, 0 or 1

    name = "square-error-sigmoid"
    in_nats = False

    @property
    def n_classes(self) -> int | None:
        return 2 if self.classes else None

    def check(self, y: Array) -> None:
        inside = (np.asarray(y) >= 0) & (np.asarray(y) <= 1)
        if not inside.all():
            found = np.ravel(y)[~np.ravel(inside)][0]
            raise InvalidInput(
                f"The square error of a sigmoid needs y between 0 and 1; found {found:g}. Scale y, "
                "or use response='gaussian'."
            )

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.square(expit(double(eta)) - y).sum(axis=1) / 2

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        eta = double(eta)
        slope = (expit(eta) - y) * expit_derivative(eta)
        return LossAndSlope(self.loss(y, eta, extra), slope, None)

    def mean(self, eta: Array, extra: Array) -> Array:
        """σ(η), (n, n_outputs); of two classes (1 − σ, σ)."""
        if self.classes:
            return np.exp(self.log_probability(eta, extra))
        return expit(double(eta))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        if not self.classes:
            return Output.log_probability(self, eta, extra)
        return np.column_stack([log_expit(-double(eta)), log_expit(double(eta))])
