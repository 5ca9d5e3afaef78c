"""Square error behind a sigmoid, to be compared with cross-entropy.

    loss   = ½(f − t)²,  f = σ(η)
    loss′  = (f − t) f(1 − f)
    loss″ ≈ (f(1 − f))²              Gauss–Newton's part, which is never negative

The factor f(1 − f) vanishes at f = 0 and at f = 1 whatever the target: a prediction that is
entirely wrong is hardly corrected.  Cross-entropy's slope is f − t, which has no such factor.

It stands where a likelihood would and is none: there is no density behind it, so no deviance and no
standard error follow from it.  It is not convex in η: it curves
downwards wherever |f − t| > ⅔.
"""

from dataclasses import dataclass
from typing import final

from likely._typing import Array
from likely.special import expit


@final
@dataclass(frozen=True)
class SquareErrorLogistic:
    """½(σ(η) − y)², for an objective where ``likelihood_of("bernoulli")`` would stand.

    >>> import numpy as np
    >>> loss, slope, _ = SquareErrorLogistic().derivatives(np.ones(2), np.array([-10.0, 0.0]))
    >>> slope  # at −10 the prediction is wrong, and the slope says nothing
    array([-4.539e-05, -1.250e-01])
    """

    def nll(self, y: Array, eta: Array) -> Array:
        """The loss, under the name by which an objective asks for what it minimises."""
        return self.derivatives(y, eta)[0]

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        f, complement = expit(eta), expit(-eta)
        error = (1 - y) * f - y * complement  # f − y would cancel where both are near 1
        mean_slope = f * complement
        return error**2 / 2, error * mean_slope, mean_slope**2

    def mean(self, eta: Array) -> Array:
        """f = σ(η): a score between 0 and 1."""
        return expit(eta)
