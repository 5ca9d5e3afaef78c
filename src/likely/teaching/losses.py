"""A linear classifier with a chosen loss, as a function of θ for any solver.

    f(θ) = Σ_i loss(y_i, x_iᵀw + b) + ½ κ ‖w‖²        θ = (w, b),  y ∈ {0, 1}

Only "cross_entropy" (the same as "logistic") is a likelihood.  The others are here to be compared
with it from the same start, by the same solver.  The hinge has a kink, where descent may stall;
the zero-one loss has no slope to follow.
"""

from typing import Any

import numpy as np

from likely.compute.serial import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense, Intercept
from likely.inputs.numbers import finite_numbers
from likely.likelihoods.responses import likelihood_of
from likely.names import lookup
from likely.objectives.linear import LinearObjective, Loss
from likely.penalties import L2
from likely.teaching.margin import MARGIN_LOSSES
from likely.teaching.square_error import SquareErrorLogistic

LOSSES: dict[str, Loss] = {
    "cross_entropy": likelihood_of("bernoulli"),
    "square_error": SquareErrorLogistic(),
    **MARGIN_LOSSES,
}


def loss_objective(
    X: Any, y: Any, *, loss: str | Loss = "cross_entropy", l2: float = 0.0
) -> LinearObjective:
    """The penalised sum of a loss over examples; the intercept, last in θ, is free.

    >>> import numpy as np
    >>> from likely.solvers import LBFGS, minimise
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> for loss in ("cross_entropy", "square_error"):
    ...     found = minimise(LBFGS(), loss_objective(X, y, loss=loss, l2=0.1), np.zeros(2))
    ...     print(loss, found.theta.round(2))
    cross_entropy [ 0.82 -1.22]
    square_error [ 0.55 -0.82]
    """
    design, response = finite_numbers(X), np.asarray(y, dtype=np.float64)
    likelihood_of("bernoulli").check(response)
    return LinearObjective(
        lookup("loss", loss, LOSSES),
        L2(np.append(np.full(design.shape[1], float(l2)), 0.0)),
        ArrayBlocks(Intercept(Dense(design)), response),
        Serial(),
    )
