"""Forward propagation of values and backward propagation of errors.

    a^(l+1) = W^(l) h̃^(l) + b^(l)        h^(l) = g(a^(l))        h̃^(l) = m^(l) ∘ h^(l)

    δ^(L) = ∂J/∂η                        δ^(l) = (W^(l)ᵀ δ^(l+1)) ∘ m^(l) ∘ g′(a^(l))
    ∂J/∂W^(l) = Σ_n δ_n^(l+1) h̃_n^(l)ᵀ    ∂J/∂b^(l) = Σ_n δ_n^(l+1)

Rows are examples: a^(l) is (n, m_l).  m^(l) are the masks of dropout, 1 where there is none.  X may
be dense or CSR, and stays as it is.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Matrix
from likely.neural.architecture import Architecture
from likely.special import ACTIVATIONS

Masks = Sequence[Matrix | None]  # m^(0) … m^(L−1); None is 1 everywhere


@final
@dataclass(frozen=True, eq=False)
class Trace:
    """Every value of a forward pass."""

    a: tuple[Array, ...]  # a^(1) … a^(L); the last is η
    h: tuple[Matrix, ...]  # h^(0) = x, h^(1) … h^(L)
    inputs: tuple[Matrix, ...]  # h̃^(0) … h̃^(L−1): h after dropout, what the next layer sees
    masks: tuple[Matrix | None, ...]

    @property
    def eta(self) -> Array:
        """The predictor, (n, n_outputs)."""
        return self.a[-1]


def forward(
    architecture: Architecture, theta: Array, X: Matrix, masks: Masks | None = None
) -> Trace:
    """The values of every layer for each row of X."""
    masks = (None,) * architecture.n_layers if masks is None else tuple(masks)
    a: list[Array] = []
    h: list[Matrix] = [X]
    inputs: list[Matrix] = []
    for at, layer in enumerate(architecture.unpack(theta)):
        inputs.append(masked(h[at], masks[at]))
        total = inputs[at] @ layer.weight.T
        a.append(total if layer.bias is None else total + layer.bias)
        h.append(ACTIVATIONS[architecture.activations[at]].value(a[at]))
    return Trace(tuple(a), tuple(h), tuple(inputs), masks)


def predictor(architecture: Architecture, theta: Array, X: Matrix) -> Array:
    """η of each row, (n, n_outputs), with one layer in memory at a time."""
    h = X
    for layer, name in zip(architecture.unpack(theta), architecture.activations, strict=True):
        total = h @ layer.weight.T
        if layer.bias is not None:
            total += layer.bias
        h = ACTIVATIONS[name].value(total)
    return h


def backward(
    architecture: Architecture, theta: Array, trace: Trace, output_slope: Array
) -> tuple[tuple[Array, ...], Array]:
    """The errors δ^(1) … δ^(L), and the gradient as one vector like θ.

    ``output_slope`` is ∂J/∂η of each row, weights included.  The entries of extra parameters are 0:
    they belong to the likelihood.
    """
    gradient = np.zeros(architecture.n_parameters, dtype=theta.dtype)
    layers, into = architecture.unpack(theta), architecture.unpack(gradient)
    deltas: list[Array] = [output_slope]
    for at in reversed(range(architecture.n_layers)):
        delta = deltas[0]
        # (Xᵀδ)ᵀ, not δᵀX: a sparse X has only the first
        into[at].weight[...] = (trace.inputs[at].T @ delta).T
        bias = into[at].bias
        if bias is not None:
            delta.sum(axis=0, out=bias)
        if at > 0:
            slope = ACTIVATIONS[architecture.activations[at - 1]].derivative_from_output(
                trace.h[at]
            )
            deltas.insert(0, masked(delta @ layers[at].weight, trace.masks[at]) * slope)
    return tuple(deltas), gradient


def masked(h: Matrix, mask: Matrix | None) -> Matrix:
    """m ∘ h; a sparse h has a sparse mask with the same cells."""
    if mask is None:
        return h
    return h * mask if isinstance(h, np.ndarray) else h.multiply(mask).tocsr()
