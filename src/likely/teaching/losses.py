"""A linear classifier with a chosen loss, as a function of θ for any solver.

    f(θ) = Σ_i v_i loss(y_i, x_iᵀw + b) + ½ κ ‖w‖²        θ = (w, b),  y ∈ {0, 1}

or f(θ) / Σ_i v_i, where the loss is averaged over the weights v.  A target t between 0 and 1 is
two examples, of class 1 with the part t of the weight and of class 0 with the rest; square error
is ½(f − t)², which has the same slope.

Only "cross-entropy" (the same as "logistic") is a likelihood.  The others are for comparison
with it, from the same start, by the same solver.  The hinge has a kink, where descent may stall:
its objective certifies the gap itself, and ``Smoothing`` reaches the optimum.  The zero-one loss
has no slope to follow.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.2.4 (canonical links).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.inputs.tables import finite_numbers
from likely.inputs.targets import check_weight
from likely.likelihoods.responses import likelihood_of
from likely.names import lookup
from likely.objectives.linear import LinearObjective, Loss
from likely.objectives.model import REDUCTIONS, Reduction
from likely.penalties.base import L2
from likely.special import expit
from likely.teaching.hinge import KinkedObjective
from likely.teaching.margin import MARGIN_LOSSES, Hinge, MarginLoss, ZeroOne


@final
@dataclass(frozen=True)
class SquareErrorLogistic:
    """½(σ(η) − y)², square error behind a sigmoid, to be compared with cross-entropy.

        loss   = ½(f − y)²,  f = σ(η)
        loss′  = (f − y) f(1 − f)
        loss″ ≈ (f(1 − f))²              Gauss–Newton's part, which is never negative

    The factor f(1 − f) vanishes at f = 0 and at f = 1 for every target: a prediction that is
    entirely wrong is hardly corrected.  Cross-entropy's slope is f − y, which has no such factor.
    It takes the place of a likelihood in an objective but is not one: there is no density,
    so it has no deviance and no standard errors.  It is not convex in η: it curves downwards
    wherever |f − y| > ⅔.

    >>> import numpy as np
    >>> loss, slope, _ = SquareErrorLogistic().derivatives(np.ones(2), np.array([-10.0, 0.0]))
    >>> slope  # at −10 the prediction is wrong, but the slope is nearly 0
    array([-4.539e-05, -1.250e-01])
    """

    def nll(self, y: Array, eta: Array) -> Array:
        """The loss, under the name that objectives use."""
        return self.derivatives(y, eta)[0]

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        f, complement = expit(eta), expit(-eta)
        error = (1 - y) * f - y * complement  # f − y would cancel where both are near 1
        mean_slope = f * complement
        return error**2 / 2, error * mean_slope, mean_slope**2

    def mean(self, eta: Array) -> Array:
        """f = σ(η): a score between 0 and 1."""
        return expit(eta)


LOSSES: dict[str, Loss] = {
    "cross-entropy": likelihood_of("bernoulli"),
    "square-error": SquareErrorLogistic(),
    **MARGIN_LOSSES,
}


def loss_objective(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    loss: str | Loss = "cross-entropy",
    l2: float = 0.0,
    reduction: Reduction = "sum",
) -> LinearObjective | KinkedObjective:
    """The penalised loss over examples, summed or averaged; the intercept, last in θ, is free.

    >>> import numpy as np
    >>> from likely.solvers import LBFGS, minimise
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> for loss in ("cross-entropy", "square-error"):
    ...     found = minimise(LBFGS(), loss_objective(X, y, loss=loss, l2=0.1), np.zeros(2))
    ...     print(loss, found.theta.round(2))
    cross-entropy [ 0.82 -1.22]
    square-error [ 0.55 -0.82]
    """
    design, response = finite_numbers(X), np.asarray(y, dtype=np.float64)
    likelihood_of("bernoulli").check(response)
    weight = check_weight(sample_weight, n_rows=len(design))
    chosen = lookup("loss", loss, LOSSES)
    if isinstance(chosen, MarginLoss) and ((response > 0) & (response < 1)).any():
        weight = np.ones(len(design)) if weight is None else weight
        weight = np.concatenate([weight * response, weight * (1 - response)])
        design, response = np.tile(design, (2, 1)), np.repeat([1.0, 0.0], len(response))
    if weight is not None:
        present = weight > 0
        design, response, weight = design[present], response[present], weight[present]
    if lookup("reduction", reduction, REDUCTIONS) == "mean":
        total = float(len(design) if weight is None else weight.sum())
        weight, l2 = (np.ones(len(design)) if weight is None else weight) / total, l2 / total
    objective = LinearObjective(
        chosen,
        L2(np.append(np.full(design.shape[1], float(l2)), 0.0)),
        ArrayBlocks(Intercept(Dense(design)), response, weight),
        Serial(),
    )
    if isinstance(chosen, Hinge | ZeroOne):
        return KinkedObjective(objective, objective.unit)
    return objective


def canonical_update(
    theta: Array, X: Array, *, y: Array, mean: Callable[[Array], Array], step: float
) -> Array:
    """θ after one gradient step of length ``step``; a column of ones in X gives an intercept.

        θ ← θ + t Σ_n (y_n − f_n) x_n        f_n = mean(x_nᵀθ)

    With the identity for the mean this is a step on ½ Σ (f − y)², with the sigmoid on the
    cross-entropy, with exp on the likelihood of counts.  Every response with its canonical link has
    the slope f − y in η, which is all that the update uses.

    >>> import numpy as np
    >>> from likely.special import expit, identity
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([0.0, 1.0])
    >>> canonical_update(np.zeros(2), X, y=y, mean=identity, step=0.5)
    array([0.5, 1. ])
    >>> canonical_update(np.zeros(2), X, y=y, mean=expit, step=0.5)
    array([0. , 0.5])
    """
    residual = y - mean(np.dot(X, theta))
    return np.asarray(theta + step * np.dot(residual, X))
