"""Forward and backward propagation of several networks of one shape, in batched products.

    a = W h̃ + b      h = g(a)      δ^(l) = (W^(l)ᵀ δ^(l+1)) ∘ m^(l) ∘ g′(a^(l))

The formulas of ``neural/propagation.py`` with one more axis, the networks, before the examples: θ
is (n_networks, p), a layer (n_networks, batch, units).  Rows that all networks share have 1 there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from likely.neural.architecture import Architecture
from likely.neural.tensors.library import torch_library
from likely.special import ACTIVATIONS


class TensorLayer(NamedTuple):
    """The weights from one layer of units to the next, views of θ."""

    weight: Any  # (n_networks, m_{l+1}, m_l)
    bias: Any | None  # (n_networks, 1, m_{l+1})


class TensorTrace(NamedTuple):
    """What the backward pass needs of a forward pass."""

    inputs: Sequence[Any]  # h̃^(0) … h̃^(L−1)
    h: Sequence[Any]  # h^(0) … h^(L); the last is η
    masks: Sequence[Any | None]


def layers_of(architecture: Architecture, theta: Any) -> list[TensorLayer]:
    """W^(l) and b^(l) of each network as views of θ (n_networks, p)."""
    n = len(theta)
    shapes = zip(architecture.sizes[1:], architecture.sizes[:-1], strict=True)
    return [
        TensorLayer(
            theta[:, place.weight].view(n, *shape),
            theta[:, place.bias].view(n, 1, shape[0]) if has_bias else None,
        )
        for place, shape, has_bias in zip(
            architecture.places, shapes, architecture.biases, strict=True
        )
    ]


def forward(
    architecture: Architecture, layers: Sequence[TensorLayer], X: Any, masks: Sequence[Any | None]
) -> TensorTrace:
    """The values of every layer; X is (n_networks or 1, batch, features)."""
    inputs, h = [], [X]
    for layer, name, mask in zip(layers, architecture.activations, masks, strict=True):
        inputs.append(h[-1] if mask is None else h[-1] * mask)
        h.append(activation(name)(totals(layer, inputs[-1])))
    return TensorTrace(inputs, h, masks)


def predictor(architecture: Architecture, layers: Sequence[TensorLayer], X: Any) -> Any:
    """η, (n_networks, n, n_outputs), with one layer in memory at a time."""
    h = X
    for layer, name in zip(layers, architecture.activations, strict=True):
        h = activation(name)(totals(layer, h))
    return h


def totals(layer: TensorLayer, h: Any) -> Any:
    """W h + b."""
    h = h.expand(len(layer.weight), -1, -1)
    if layer.bias is None:
        return h.bmm(layer.weight.mT)
    return torch_library().baddbmm(layer.bias, h, layer.weight.mT)


def backward(
    architecture: Architecture,
    layers: Sequence[TensorLayer],
    trace: TensorTrace,
    output_slope: Any,
    into: Sequence[TensorLayer],
) -> None:
    """Write the gradient of each layer ``into`` views like those of θ."""
    torch, delta = torch_library(), output_slope
    for at in reversed(range(architecture.n_layers)):
        inputs = trace.inputs[at].expand(len(delta), -1, -1)
        torch.bmm(delta.mT, inputs, out=into[at].weight)
        bias = into[at].bias
        if bias is not None:
            torch.sum(delta, dim=1, keepdim=True, out=bias)
        if at > 0:
            delta = delta.bmm(layers[at].weight)
            mask = trace.masks[at]
            delta = delta if mask is None else delta * mask
            delta = through(architecture.activations[at - 1])(delta, trace.h[at])


def activation(name: str) -> Callable[[Any], Any]:
    """g, in one kernel where torch has one."""
    return VALUES.get(name) or ACTIVATIONS[name].value


def through(name: str) -> Callable[[Any, Any], Any]:
    """δ ∘ g′ from δ and the output h."""

    def general(delta: Any, h: Any) -> Any:
        return delta * ACTIVATIONS[name].derivative_from_output(h)

    return SLOPES.get(name, general)


VALUES: Mapping[str, Callable[[Any], Any]] = {
    "relu": lambda a: a.relu(),
    "sigmoid": lambda a: a.sigmoid(),
    "tanh": lambda a: a.tanh(),
    # torch's softplus is linear above 20, which loses digits in float64
    "softplus": lambda a: a.logaddexp(a.new_zeros(())),
}

SLOPES: Mapping[str, Callable[[Any, Any], Any]] = {
    "identity": lambda delta, h: delta,
    "relu": lambda delta, h: torch_library().ops.aten.threshold_backward(delta, h, 0),
    "sigmoid": lambda delta, h: torch_library().ops.aten.sigmoid_backward(delta, h),
    "tanh": lambda delta, h: torch_library().ops.aten.tanh_backward(delta, h),
}
