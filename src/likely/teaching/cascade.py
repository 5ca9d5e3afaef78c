"""Cascaded logistic regressions: the first units compute features, the last one classifies.

    h = σ(W x + b)        p = σ(vᵀh + c)

With given weights the units solve XOR: one is "or", one is "not both", and the last is "and".
Learned jointly, by the gradient of the last error through all of them, the cascade is a neural
network of one hidden layer.  That objective is not convex, so the result depends on the start.

    ∂/∂v = Σ (p − y) h      ∂/∂W = Σ (p − y) (v ∘ h ∘ (1 − h)) xᵀ

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.3 (the gradient).
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from likely._typing import Array
from likely.inputs.tables import finite_numbers
from likely.likelihoods.responses import likelihood_of
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import minimise
from likely.special import expit

START_SPREAD = 1.0  # standard deviation of the first weights: sigmoids neither flat nor alike
MOST_STEPS = 1000


@final
@dataclass(frozen=True, eq=False)
class Cascade:
    """Two stages of logistic units, with given weights.

    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> xor = Cascade([[20, 20], [-20, -20]], [-10, 30], coef=[20, 20], intercept=-30)
    >>> xor.probability(X).round(3)
    array([0., 1., 1., 0.])
    """

    hidden_coef: Array  # W, (n_hidden, n_features)
    hidden_intercept: Array  # b, (n_hidden,)
    coef: Array  # v, (n_hidden,)
    intercept: float  # c

    def hidden(self, X: Any) -> Array:
        """h, (n, n_hidden): the features that the last unit sees."""
        weights = np.asarray(self.hidden_coef, dtype=float)
        return expit(np.dot(finite_numbers(X), weights.T) + self.hidden_intercept)

    def decision(self, X: Any) -> Array:
        """vᵀh + c, (n,): the class is 1 where it is 0 or more."""
        return np.asarray(np.dot(self.hidden(X), self.coef) + self.intercept)

    def probability(self, X: Any) -> Array:
        """p(y = 1 | x), (n,)."""
        return expit(self.decision(X))

    def nll(self, X: Any, y: Any) -> float:
        """Σ −log p(y | x)."""
        likelihood = likelihood_of("bernoulli")
        return float(likelihood.nll(np.asarray(y, dtype=float), self.decision(X)).sum())

    @classmethod
    def fit_jointly(
        cls, X: Any, y: Any, *, n_hidden: int = 2, l2: float = 1e-4, seed: int = 0
    ) -> Self:
        """Fit all weights jointly, by L-BFGS from one random start; y is 0 or 1.

        The penalty ½ l2 ‖θ‖² keeps the weights finite where the classes are separable.
        """
        X, y = finite_numbers(X), np.asarray(y, dtype=float)
        likelihood_of("bernoulli").check(y)
        objective = CascadeObjective(X, y, n_hidden, l2)
        start = np.random.default_rng(seed).normal(scale=START_SPREAD, size=objective.n_parameters)
        solution = minimise(LBFGS(), objective, start, tol=1e-10, max_iter=MOST_STEPS)
        return cls.from_theta(solution.theta, n_hidden=n_hidden)

    @classmethod
    def from_theta(cls, theta: Array, *, n_hidden: int) -> Self:
        """Row by row (W, b), then (v, c)."""
        first, last = theta[: -(n_hidden + 1)].reshape(n_hidden, -1), theta[-(n_hidden + 1) :]
        return cls(first[:, :-1], first[:, -1], coef=last[:-1], intercept=float(last[-1]))


@final
@dataclass(frozen=True, eq=False)
class CascadeObjective(FirstOrderObjective):
    """Σ −log p(y | x) + ½ l2 ‖θ‖², with its gradient by the chain rule."""

    X: Array
    y: Array
    n_hidden: int
    l2: float = 0.0

    @property
    def n_parameters(self) -> int:
        return self.n_hidden * (self.X.shape[1] + 1) + self.n_hidden + 1

    def value(self, theta: Array) -> float:
        data = Cascade.from_theta(theta, n_hidden=self.n_hidden).nll(self.X, self.y)
        return data + self._penalty(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        cascade = Cascade.from_theta(theta, n_hidden=self.n_hidden)
        h = cascade.hidden(self.X)
        eta = np.dot(h, cascade.coef) + cascade.intercept
        nll, error, _ = likelihood_of("bernoulli").derivatives(self.y, eta)
        back = error[:, None] * cascade.coef * h * (1 - h)  # ∂nll/∂(W x + b), (n, n_hidden)
        first = np.column_stack([np.dot(back.T, self.X), back.sum(axis=0)])
        last = np.append(np.dot(error, h), error.sum())
        gradient = np.concatenate([first.ravel(), last]) + self.l2 * theta
        return FirstOrder(float(nll.sum()) + self._penalty(theta), gradient)

    def _penalty(self, theta: Array) -> float:
        return 0.5 * self.l2 * float(np.dot(theta, theta))
