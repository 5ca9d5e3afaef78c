"""The inside of a network for some rows: values forward, errors backward, and the gradient.

a^(l), h^(l)        δ^(l) = ∂loss/∂a^(l)        ∂loss/∂W^(l) = Σ_n δ_n^(l+1) h_n^(l)ᵀ
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Matrix
from likely.formatting import count, text_table
from likely.neural.architecture import Architecture, Layer
from likely.neural.formulas import backward, forward
from likely.neural.outputs import Output


class Inspection(NamedTuple):
    """Every value of a network for some rows, and the errors that are propagated back."""

    a: tuple[Array, ...]  # a^(1) … a^(L), each (n, units): what activations are applied to
    h: tuple[Matrix, ...]  # h^(0) = x, h^(1) … h^(L)
    mean: Array  # of the response; probabilities of classes
    loss: Array | None = None  # of each row, where y was given
    deltas: tuple[Array, ...] = ()  # ∂loss/∂a^(1) … ∂loss/∂a^(L) of each row, where y was given
    gradient: tuple[Layer, ...] = ()  # of the summed loss, by layer, where y was given
    network: int = 0  # which of several networks, from 0
    n_networks: int = 1  # that are averaged in a prediction

    def __repr__(self) -> str:
        """The smallest and the largest value of each layer."""
        has_errors = bool(self.deltas)
        head = ["layer", "units", "a", "h", *(["mean |δ|"] if has_errors else [])]
        rows = [["input", str(self.h[0].shape[1]), "", _range(self.h[0])]]
        for at, (a, h) in enumerate(zip(self.a, self.h[1:], strict=True)):
            name = "output" if at == len(self.a) - 1 else "hidden"
            rows.append([name, str(a.shape[1]), _range(a), _range(h)])
        if has_errors:
            errors = ["", *(f"{np.abs(delta).mean():.4g}" for delta in self.deltas)]
            rows = [[*row, error] for row, error in zip(rows, errors, strict=True)]
        return "\n".join([self._title(), "", *text_table(head, rows, words=(0, 2, 3))])

    def _title(self) -> str:
        parts = [f"Values of {count(len(self.mean), 'row')} in every layer"]
        if self.loss is not None:
            parts.append(f"mean loss {np.mean(self.loss):.6g}")
        if self.n_networks > 1:
            parts.append(
                f"of network {self.network + 1} of {self.n_networks} alone (network="
                f"{self.network}): predictions average all, and shrink the average"
            )
        return f"{'; '.join(parts)}."


def _range(values: Matrix) -> str:
    """From the smallest to the largest."""
    return f"{values.min():.4g} to {values.max():.4g}" if values.shape[0] else ""


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
