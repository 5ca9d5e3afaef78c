"""The inside of a network for some rows: values forward, errors backward, and the gradient.

a^(l), h^(l)        δ^(l) = ∂loss/∂a^(l)        ∂loss/∂W^(l) = Σ_n δ_n^(l+1) h_n^(l)ᵀ
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Matrix
from likely.neural.architecture import Architecture, Layer
from likely.neural.outputs import Output
from likely.neural.propagation import backward, forward


class Inspection(NamedTuple):
    """Every value of a network for some rows, and the errors that are propagated back."""

    a: tuple[Array, ...]  # a^(1) … a^(L), each (n, units): what activations are applied to
    h: tuple[Matrix, ...]  # h^(0) = x, h^(1) … h^(L)
    mean: Array  # of the response; probabilities of classes
    loss: Array | None = None  # of each row, where y was given
    deltas: tuple[Array, ...] = ()  # ∂loss/∂a^(1) … ∂loss/∂a^(L) of each row, where y was given
    gradient: tuple[Layer, ...] = ()  # of the summed loss, by layer, where y was given


def inspected(
    architecture: Architecture, output: Output, theta: Array, X: Matrix, y: Any = None
) -> Inspection:
    """The values of all layers, in float64; with targets also losses, errors and gradient."""
    theta, X = theta.astype(np.float64), X.astype(np.float64, copy=False)
    found, extra = forward(architecture, theta, X), architecture.extra(theta)
    mean = output.mean(found.eta, extra)
    if y is None:
        return Inspection(found.a, found.h, mean)
    here = output.loss_and_slope(output.target(y), found.eta, extra)
    deltas, gradient = backward(architecture, theta, found, here.slope)
    return Inspection(
        found.a, found.h, mean, here.loss, deltas, tuple(architecture.unpack(gradient))
    )
