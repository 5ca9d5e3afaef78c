"""The formulas of a network on some rows: values forward, errors backward, dropout, loss, penalty.

    a^(l+1) = W^(l) h̃^(l) + b^(l)        h^(l) = g(a^(l))        h̃^(l) = m^(l) ∘ h^(l)

    δ^(L) = ∂J/∂η                        δ^(l) = (W^(l)ᵀ δ^(l+1)) ∘ m^(l) ∘ g′(a^(l))
    ∂J/∂W^(l) = Σ_n δ_n^(l+1) h̃_n^(l)ᵀ    ∂J/∂b^(l) = Σ_n δ_n^(l+1)

    m_ij = [u_ij < q] / q        q = 1 − rate        u_ij = keyed_uniform(seed, e·L + l, i, j)

    strength of x_j  ∝  sd(x_j) · mean over rows and outputs of |∂η_k/∂x_j|

Rows are examples: a^(l) is (n, m_l).  X may be dense or CSR, and stays as it is.  The masks of
dropout have the mean 1, so prediction has none (inverted dropout).  The mask of unit j of layer l
depends on the seed, the epoch e and the global index i of the example, and on nothing else: not on
the batch, the block or the engine.  Layer 0 is the input.

The slopes of a strength are those of the function that was learned.  Products of absolute weights
along all paths are not: after a few epochs they are mostly those of the random start values.  η of
classes is centred over the classes, because a shift of all of them changes no probability.

These are the formulas of every engine.  NumPy computes them as they stand here; ``fast/network.py``
is their compiled twin; torch takes ``predictor``, and differentiates it itself.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.3.1.
Simonyan, Vedaldi & Zisserman (2014), Deep inside convolutional networks: visualising image
classification models and saliency maps, ICLR workshop.
Srivastava, Hinton, Krizhevsky, Sutskever & Salakhutdinov (2014), Dropout, JMLR 15, §4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Matrix
from likely.errors import InvalidInput
from likely.inputs.estimators import is_number
from likely.neural.architecture import Architecture, Layer
from likely.neural.outputs import Output
from likely.numerics.keyed_random import keyed_uniform
from likely.objectives.linear import Total
from likely.penalties.base import Strength
from likely.solvers.base import FirstOrder
from likely.special import ACTIVATIONS

CHUNK_CELLS = 2**19  # values of the widest layer at once: 4 MiB, which stays in the cache
FEWEST_ROWS = 256
Masks = Sequence[Matrix | None]  # m^(0) … m^(L−1); None is 1 everywhere
# g and g′, the latter from the output h, by name; NumPy is looked up once, not in every layer
VALUES: Mapping[str, Callable[[Any], Any]] = {
    name: partial(each.value, xp=np) for name, each in ACTIVATIONS.items()
}
SLOPES: Mapping[str, Callable[[Array], Array]] = {
    name: partial(each.derivative_from_output, xp=np) for name, each in ACTIVATIONS.items()
}


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
    for layer, name, mask in zip(
        architecture.unpack(theta), architecture.activations, masks, strict=True
    ):
        inputs.append(h[-1] if mask is None else masked(h[-1], mask))
        a.append(totals(layer, inputs[-1]))
        h.append(VALUES[name](a[-1]))
    return Trace(tuple(a), tuple(h), tuple(inputs), masks)


def predictor(
    architecture: Architecture,
    theta: Any,
    X: Any,
    masks: Masks | None = None,
    values: Mapping[str, Callable[[Any], Any]] = VALUES,
) -> Any:
    """η of each row, (n, n_outputs), with one layer in memory at a time.

    ``values`` are the activations of the library of θ and X, which may be tensors.
    """
    h = X
    masks = (None,) * architecture.n_layers if masks is None else masks
    for layer, name, mask in zip(
        architecture.unpack(theta), architecture.activations, masks, strict=True
    ):
        h = values[name](totals(layer, h if mask is None else masked(h, mask)))
    return h


def totals(layer: Layer, h: Any) -> Any:
    """W h̃ + b of each row."""
    total = h @ layer.weight.T
    if layer.bias is not None:
        total += layer.bias
    return total


def backward(
    architecture: Architecture, theta: Array, trace: Trace, output_slope: Array
) -> tuple[tuple[Array, ...], Array]:
    """Back-propagation: the errors δ^(1) … δ^(L), and the gradient as one vector like θ.

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
            back, mask = delta @ layers[at].weight, trace.masks[at]
            back = back if mask is None else masked(back, mask)
            deltas.insert(0, back * SLOPES[architecture.activations[at - 1]](trace.h[at]))
    return tuple(deltas), gradient


def masked(h: Any, mask: Any) -> Any:
    """m ∘ h; a sparse h has a sparse mask with the same cells."""
    return h.multiply(mask).tocsr() if sparse.issparse(h) else h * mask


def dropout_rates(
    architecture: Architecture, dropout: float | Sequence[float]
) -> tuple[float, ...]:
    """The rate of the input and of each hidden layer.

    A number is the rate of every hidden layer; a sequence has one for each hidden layer, or one
    for the input before them.
    """
    n_hidden = len(architecture.hidden)
    if isinstance(dropout, Sequence | np.ndarray) and not isinstance(dropout, str):
        rates = tuple(_checked_rate(rate) for rate in dropout)
        if len(rates) not in (n_hidden, n_hidden + 1):
            raise InvalidInput(
                f"dropout has {len(rates)} rates; expected {n_hidden}, one for each hidden layer, "
                f"or {n_hidden + 1}, the first for the input."
            )
        rates = rates if len(rates) > n_hidden else (0.0, *rates)
    else:
        rates = (0.0, *(_checked_rate(dropout),) * n_hidden)
    return rates


def dropout_masks(
    rates: Sequence[float],
    X: Matrix,
    architecture: Architecture,
    *,
    seed: int,
    epoch: int,
    index: Array,
) -> list[Matrix | None]:
    """m^(0) … m^(L−1) of the examples with these global indices; None where the rate is 0.

    The mask of a sparse X has the cells of X alone.
    """
    masks: list[Matrix | None] = []
    for level, (rate, size) in enumerate(zip(rates, architecture.sizes, strict=False)):
        if rate == 0.0:
            masks.append(None)
            continue
        key: Any = (seed, epoch * architecture.n_layers + level)
        dtype, kept = X.dtype, 1.0 - rate
        if level == 0 and sparse.issparse(X):
            rows = np.repeat(index, np.diff(X.indptr))
            cells = _kept(keyed_uniform(*key, rows, X.indices), kept, dtype)
            masks.append(sparse.csr_array((cells, X.indices, X.indptr), shape=X.shape))
        else:
            draws = keyed_uniform(*key, np.asarray(index)[:, None], np.arange(size))
            masks.append(_kept(draws, kept, dtype))
    return masks


def _kept(draws: Array, kept: float, dtype: Any) -> Array:
    return np.where(draws < kept, 1.0 / kept, 0.0).astype(dtype)


def _checked_rate(rate: Any) -> float:
    if not (is_number(rate) and 0.0 <= rate < 1.0):
        raise InvalidInput(
            f"dropout={rate!r} was given; expected a rate from 0 up to, but not, 1. A rate of 1 "
            "would remove every unit; 0.2 to 0.5 is usual."
        )
    return float(rate)


class NetworkRows(NamedTuple):
    """Some examples as a network reads them."""

    X: Matrix  # dense or CSR
    y: Array  # class numbers, or (n, n_outputs)
    weight: Array | None = None  # None is 1 for every example

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def total_weight(self) -> float:
        """Σ_i w_i."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def chosen(self, rows: Any) -> "NetworkRows":
        """The examples with these numbers, or those of a slice."""
        weight = None if self.weight is None else self.weight[rows]
        return NetworkRows(self.X[rows], self.y[rows], weight)


def weighted(weight: Array | None, each: Array) -> Array:
    """w_i times what each example has; 0 where w_i = 0, even if that is infinite."""
    if weight is None:
        return each
    column = weight.reshape(-1, *(1,) * (each.ndim - 1))
    return np.where(column > 0, column * np.where(column > 0, each, 0.0), 0.0)


@np.errstate(over="ignore", invalid="ignore")  # a loss that explodes is for the caller to see
def loss_total(
    architecture: Architecture, output: Output, theta: Array, rows: NetworkRows
) -> Total:
    """Σ_i w_i loss_i."""
    eta = predictor(architecture, theta, rows.X)
    loss = output.loss(rows.y, eta, architecture.extra(theta))
    return Total(float(weighted(rows.weight, loss).sum()))


@np.errstate(over="ignore", invalid="ignore")
def loss_first_order(
    architecture: Architecture,
    output: Output,
    theta: Array,
    rows: NetworkRows,
    masks: Masks | None = None,
) -> FirstOrder:
    """Σ_i w_i loss_i and its gradient."""
    trace = forward(architecture, theta, rows.X, masks)
    found = output.loss_and_slope(rows.y, trace.eta, architecture.extra(theta))
    slope = weighted(rows.weight, found.slope).astype(theta.dtype, copy=False)
    _, gradient = backward(architecture, theta, trace, slope)
    if found.extra is not None:
        architecture.extra(gradient)[...] = weighted(rows.weight, found.extra).sum(axis=0)
    return FirstOrder(float(weighted(rows.weight, found.loss).sum()), gradient)


def chunks(architecture: Architecture, rows: NetworkRows) -> Iterator[NetworkRows]:
    """Consecutive rows, as many at a time as the cache holds; the cut depends on sizes alone."""
    size = chunk_rows(architecture)
    for start in range(0, rows.n_rows, size):
        yield rows.chosen(slice(start, start + size))


def chunk_rows(architecture: Architecture) -> int:
    return max(FEWEST_ROWS, CHUNK_CELLS // max(architecture.sizes))


@np.errstate(over="ignore")
def penalty(architecture: Architecture, theta: Array, l1: Strength, l2: Strength) -> float:
    """Σ l1 |w| + ½ Σ l2 w² over weights; a strength is one number, or one for each parameter."""
    weights = theta.astype(np.float64, copy=False)
    total = 0.0
    for strength, each in ((l1, np.abs(weights)), (l2, 0.5 * np.square(weights))):
        own = architecture.penalised * strength
        total += float(np.dot(own[own > 0], each[own > 0]))  # 0 · inf is nan
    return total


@np.errstate(over="ignore")
def penalty_gradient(architecture: Architecture, theta: Array, l1: Strength, l2: Strength) -> Array:
    """l1 sign(w) + l2 w, and 0 for biases and extra parameters."""
    return np.asarray(architecture.penalised * (l1 * np.sign(theta) + l2 * theta))


def column_strengths(
    architecture: Architecture, output: Output, thetas: Sequence[Array], X: Array
) -> Array:
    """The share of each input, (n_inputs,), in the mean predictor of one or more networks."""
    each = [theta.astype(np.float64) for theta in thetas]
    traces = [forward(architecture, theta, X) for theta in each]
    strength = np.zeros(X.shape[1])
    for direction in _directions(output):
        slope = sum(
            _slope(architecture, theta, trace, direction)
            for theta, trace in zip(each, traces, strict=True)
        )
        strength += X.std(axis=0) * np.abs(slope).mean(axis=0)
    return np.asarray(strength / max(strength.sum(), np.finfo(float).tiny))


def _directions(output: Output) -> Array:
    """Which combinations of the outputs matter, one a row."""
    directions = np.eye(output.n_outputs)
    centred = output.n_classes is not None and output.n_outputs > 1
    return directions - 1 / output.n_outputs if centred else directions


def _slope(architecture: Architecture, theta: Array, trace: Trace, direction: Array) -> Array:
    """∂η/∂x of each row along a direction of the outputs, (n, n_inputs)."""
    n = len(trace.eta)
    deltas, _ = backward(architecture, theta, trace, np.tile(direction, (n, 1)))
    return np.asarray(deltas[0] @ architecture.unpack(theta)[0].weight)
