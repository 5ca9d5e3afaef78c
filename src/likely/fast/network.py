"""A whole epoch of a fully connected network, compiled: the twin of ``neural.engine``.

    for each batch:  gather rows → forward → slopes of the loss → backward → penalty → update

    losses           categorical   ln Σ_k e^(η_k) − η_y         bernoulli   ln(1 + e^η) − yη
                     gaussian      ½(η − y)²                    poisson     e^η − yη
    random numbers   z = mix(seed + G);   z ← mix(z ⊕ (n G + G)) for each number n of the key

The losses are those of ``neural.outputs``, the updates those of ``likely.solvers.updates``, and the
random numbers those of ``likely.numerics.keyed_random``, bit for bit, modulo 2⁶⁴ as there.

Products are BLAS calls on buffers that are made once, through ``np.dot(a, b, out)``; the rest is
one pass over each layer.  All values are of one type, float32 or float64; the loss and its slope in
η are computed in float64.  Numbers of an update are rounded to that type before its loops, as
NumPy does.  Buffers hold h^(0) … h^(L) one after another, (batch, m_l) each.

The callers check; nothing is checked here.  Arrays are C-contiguous.  Functions with one caller are
inlined: Numba would optimise each of them twice, and compile for a third longer.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from likely.fast.activations import activate, times_slope

CATEGORICAL, BERNOULLI, GAUSSIAN, POISSON = 0, 1, 2, 3  # losses
PLAIN, MOMENTUM, NESTEROV, ADAGRAD, RMSPROP, ADAM, ADAMW = 0, 1, 2, 3, 4, 5, 6  # rules
CLIP_AT = 7  # the place of the largest norm of a gradient among the numbers of a rule

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


class Network(NamedTuple):
    """Sizes, activations and the places of parameters, int64 each."""

    n_units: int  # Σ_l m_l, as a number: Numba takes a second to compile a sum
    widest: int  # max_l m_l
    sizes: Any  # m_0 … m_L
    activations: Any  # (L,) numbers of ``fast.activations``
    weight_at: Any  # (L,) where W^(l) starts in θ
    bias_at: Any  # (L,) where b^(l) starts; −1 where there is none


class ExampleArrays(NamedTuple):
    """The rows that an epoch reads."""

    X: Any  # (n, m_0)
    codes: Any  # (n,) int64 class numbers; (0,) for numbers
    target: Any  # (n, m_L) float64; (0, 0) for classes
    weight: Any  # (n,) float64; (0,) is 1 for every row


class Descent(NamedTuple):
    """How the gradient of a batch becomes a step."""

    loss: int  # CATEGORICAL …
    kind: int  # PLAIN …, and the numbers of the rule, in the order of ``solvers.updates``
    hyper: Any  # (8,) float64
    rate: float
    penalises: bool  # whether any strength is above 0
    l1: Any  # (p,) float64, of each parameter; (0,) where nothing is penalised
    l2: Any
    share: float  # c = share + share_per_row · rows of the batch
    share_per_row: float
    mean_weight: float
    freezes: bool  # whether any layer is frozen
    frozen: Any  # (L,) uint8: 1 for layers that are not trained


class Dropout(NamedTuple):
    """What the masks are drawn from."""

    used: bool  # whether any rate is above 0
    rates: Any  # (L,) float64, of the layers 0 … L−1
    seed: Any  # uint64
    epoch: int
    first_index: int


@njit(cache=True, nogil=True, error_model="numpy")
def train_epoch(network, theta, slots, step, examples, order, batch, piece, descent, dropout):
    """Overwrite ``theta`` and ``slots`` by the steps of an epoch.

    Returns the summed loss, the weight of the rows, and the number of steps so far.  The gradient
    of a batch of more than ``piece`` rows is summed over pieces, so that memory is bounded.
    """
    piece = max(1, min(piece, batch, order.size))
    h = np.empty(piece * network.n_units, dtype=theta.dtype)
    fed = np.empty(h.size if dropout.used else 0, dtype=theta.dtype)  # h after dropout
    mask = np.empty(fed.size, dtype=theta.dtype)
    deltas = np.empty((2, piece * network.widest), dtype=theta.dtype)
    gradient, part = np.zeros(theta.size, dtype=theta.dtype), np.zeros(theta.size, theta.dtype)
    kept = theta.copy()
    loss, weight = 0.0, 0.0
    for start in range(0, order.size, batch):
        end = min(start + batch, order.size)
        for first in range(start, end, piece):
            rows = order[first : min(first + piece, end)]
            into = gradient if first == start else part
            size = end - start
            here, weighed = batch_gradient(
                network, theta, examples, rows, size, h, fed, mask, deltas, into, descent, dropout
            )
            loss += here
            weight += weighed
            if first > start:
                for k in range(theta.size):
                    gradient[k] += part[k]
        if descent.penalises:
            share = descent.share + descent.share_per_row * (end - start)
            penalise(network, theta, gradient, share, descent)
        step += 1
        update(descent.kind, descent.hyper, theta, gradient, slots, step, descent.rate)
        if descent.freezes:
            restore(network, theta, kept, descent.frozen)
    return loss, weight, step


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def batch_gradient(
    network, theta, examples, rows, batch, h, fed, mask, deltas, gradient, descent, dropout
):
    """The gradient of these rows, of a batch of ``batch``; their summed loss and weight."""
    b, outputs = rows.size, network.sizes[-1]
    gather(examples.X, rows, h)
    forward(network, theta, h, fed, mask, rows, dropout)
    loss, weight = losses_and_slopes(
        descent.loss,
        h[b * (network.n_units - outputs) : b * network.n_units].reshape(b, outputs),
        examples.codes,
        examples.target,
        examples.weight,
        rows,
        1.0 / (batch * descent.mean_weight),
        deltas[0, : b * outputs].reshape(b, outputs),
    )
    backward(network, theta, h, fed, mask, b, deltas, gradient, descent.frozen)
    return loss, weight


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def gather(X, rows, out):
    """The chosen rows of X, at the start of a buffer."""
    d = X.shape[1]
    for i in range(rows.size):
        row = rows[i]
        for j in range(d):
            out[i * d + j] = X[row, j]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def forward(network, theta, h, fed, mask, rows, dropout):
    """h^(1) … h^(L) of a batch whose h^(0) is at the start of ``h``.

    ``fed`` and ``mask`` are empty without dropout.
    """
    sizes, b = network.sizes, rows.size
    at = 0
    for level in range(sizes.size - 1):
        inputs, outputs = sizes[level], sizes[level + 1]
        end = at + b * inputs
        before = h[at:end]
        if dropout.used:
            drop(before, fed[at:end], mask[at:end], rows, inputs, level, dropout)
            before = fed[at:end]
        after = h[end : end + b * outputs].reshape(b, outputs)
        layer(network, theta, level, before.reshape(b, inputs), after)
        at = end


@njit(cache=True, nogil=True, error_model="numpy")
def layer(network, theta, level, before, after):
    """after = g(before Wᵀ + b)."""
    inputs, outputs = network.sizes[level], network.sizes[level + 1]
    w, bias = network.weight_at[level], network.bias_at[level]
    np.dot(before, theta[w : w + inputs * outputs].reshape(outputs, inputs).T, after)
    activate(network.activations[level], after, theta[max(bias, 0) :], bias >= 0)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def drop(h, fed, mask, rows, size, level, dropout):
    """fed = m ∘ h, and m, drawn by the global index of each row."""
    rate = dropout.rates[level]
    number = h.dtype.type
    if rate == 0.0:
        for k in range(h.size):
            fed[k] = h[k]
            mask[k] = number(1.0)
        return
    share = 1.0 - rate
    one, nothing = number(1.0 / share), number(0.0)
    of_layer = next_key(first_key(dropout.seed), dropout.epoch * dropout.rates.size + level)
    for i in range(rows.size):
        of_row = next_key(of_layer, rows[i] + dropout.first_index)
        for j in range(size):
            k = i * size + j
            m = one if uniform_of(next_key(of_row, j)) < share else nothing
            mask[k] = m
            fed[k] = m * h[k]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def backward(network, theta, h, fed, mask, b, deltas, gradient, frozen):
    """The gradient of a batch; ``deltas[0]`` holds ∂J/∂η.  Frozen layers have the gradient 0."""
    sizes = network.sizes
    n_layers = sizes.size - 1
    lowest = 0
    while lowest < n_layers and frozen[lowest]:
        lowest += 1
    end = b * (network.n_units - sizes[n_layers])
    one, other = 0, 1
    for level in range(n_layers - 1, lowest - 1, -1):
        inputs, outputs = sizes[level], sizes[level + 1]
        at = end - b * inputs
        delta = deltas[one, : b * outputs].reshape(b, outputs)
        w, bias = network.weight_at[level], network.bias_at[level]
        if not frozen[level]:
            into = gradient[w : w + inputs * outputs].reshape(outputs, inputs)
            before = fed[at:end] if fed.size > 0 else h[at:end]
            np.dot(delta.T, before.reshape(b, inputs), into)
            if bias >= 0:
                column_sums(delta, gradient[bias : bias + outputs])
        if level > lowest:
            W = theta[w : w + inputs * outputs].reshape(outputs, inputs)
            back = deltas[other, : b * inputs]
            np.dot(delta, W, back.reshape(b, inputs))
            if mask.size > 0:
                for k in range(b * inputs):
                    back[k] *= mask[at + k]
            times_slope(network.activations[level - 1], h[at:end], back)
            one, other = other, one
        end = at


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def column_sums(delta, out):
    for j in range(out.size):
        out[j] = delta[0, j]
    for i in range(1, delta.shape[0]):
        for j in range(out.size):
            out[j] += delta[i, j]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def penalise(network, theta, gradient, share, descent):
    """Add a share of l1 sign(w) + l2 w to the gradient of every weight that is trained."""
    number = theta.dtype.type
    nothing = number(0.0)
    for level in range(network.sizes.size - 1):
        if descent.frozen[level]:
            continue
        start = network.weight_at[level]
        for k in range(start, start + network.sizes[level] * network.sizes[level + 1]):
            w, l1, l2 = theta[k], number(share * descent.l1[k]), number(share * descent.l2[k])
            corner = l1 if w > nothing else (-l1 if w < nothing else nothing)
            gradient[k] += corner + l2 * w


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def restore(network, theta, kept, frozen):
    """Put the parameters of frozen layers back: a rule may decay them."""
    for level in range(frozen.size):
        if frozen[level]:
            start = network.weight_at[level]
            end = start + network.sizes[level] * network.sizes[level + 1]
            if network.bias_at[level] >= 0:
                end += network.sizes[level + 1]
            for k in range(start, end):  # a slice takes Numba two seconds to compile
                theta[k] = kept[k]


@njit(cache=True, nogil=True, error_model="numpy")
def predictors(network, theta, X, chunk, eta):
    """η of every row of X into ``eta`` (n, m_L), ``chunk`` rows at a time."""
    sizes = network.sizes
    n_layers = sizes.size - 1
    buffers = np.empty((2, min(chunk, len(X)) * network.widest), dtype=theta.dtype)
    for start in range(0, len(X), chunk):
        end = min(start + chunk, len(X))
        before, b = X[start:end], end - start
        for level in range(n_layers - 1):
            after = buffers[level % 2, : b * sizes[level + 1]].reshape(b, sizes[level + 1])
            layer(network, theta, level, before, after)
            before = after
        layer(network, theta, n_layers - 1, before, eta[start:end])


@njit(cache=True, nogil=True, error_model="numpy")
def total_loss(network, theta, examples, chunk, loss):
    """The summed loss of all rows, ``chunk`` at a time, without dropout."""
    n, outputs = examples.X.shape[0], network.sizes[-1]
    eta = np.empty((min(chunk, n), outputs), dtype=theta.dtype)
    slope = np.empty((len(eta), outputs), dtype=theta.dtype)
    places = np.empty(len(eta), dtype=np.int64)
    total = 0.0
    for start in range(0, n, chunk):
        b = min(chunk, n - start)
        for i in range(b):
            places[i] = start + i
        predictors(network, theta, examples.X[start : start + b], chunk, eta[:b])
        total += losses_and_slopes(
            loss,
            eta[:b],
            examples.codes,
            examples.target,
            examples.weight,
            places[:b],
            1.0,
            slope[:b],
        )[0]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def losses_and_slopes(kind, eta, codes, target, weight, rows, scale, slope):
    """Write scale · w_i ∂loss_i/∂η into ``slope`` (b, m); return Σ w_i loss_i and Σ w_i.

    ``rows`` (b,) are the places of the examples in codes, target and weight; a row of weight 0
    has loss and slope 0, even where they are infinite.
    """
    number = eta.dtype.type
    total, weighed = 0.0, 0.0
    for i in range(rows.size):
        row = rows[i]
        w = weight[row] if weight.size > 0 else 1.0
        if not w > 0.0:
            for k in range(eta.shape[1]):
                slope[i, k] = number(0.0)
            continue
        if kind == CATEGORICAL:
            loss = categorical(eta[i], codes[row], w * scale, slope[i])
        else:
            loss = 0.0
            for k in range(eta.shape[1]):
                each, pull = scalar(kind, np.float64(eta[i, k]), target[row, k])
                loss += each
                slope[i, k] = number(w * scale * pull)
        total += w * loss
        weighed += w
    return total, weighed


@njit(cache=True, nogil=True, error_model="numpy")
def categorical(eta, y, scale, slope):
    """The cross-entropy of class y; its slope, times ``scale``, is p − onehot(y)."""
    number = eta.dtype.type
    top = eta[0]
    for k in range(1, eta.size):
        top = max(top, eta[k])
    total = 0.0
    for k in range(eta.size):
        e = math.exp(np.float64(eta[k]) - np.float64(top))
        slope[k] = number(e)
        total += e
    others = 0.0
    factor = scale / total
    for k in range(eta.size):
        if k != y:
            p = np.float64(slope[k]) * factor
            others += p
            slope[k] = number(p)
    slope[y] = number(-others)  # p_y − 1 would cancel where p_y is near 1
    return math.log(total) + (np.float64(top) - np.float64(eta[y]))


@njit(cache=True, nogil=True, error_model="numpy")
def scalar(kind, eta, y):
    """The loss of a number and its slope."""
    if kind == GAUSSIAN:
        return 0.5 * (eta - y) * (eta - y), eta - y
    if kind == POISSON:
        mean = math.exp(eta)
        return mean - y * eta, mean - y
    e = math.exp(-abs(eta))  # at most 1
    nearer, farther = 1.0 / (1.0 + e), e / (1.0 + e)
    success, failure = (nearer, farther) if eta >= 0.0 else (farther, nearer)
    return max(eta, 0.0) - y * eta + math.log1p(e), (1.0 - y) * success - y * failure


@njit(cache=True, nogil=True, error_model="numpy")
def update(kind, hyper, theta, gradient, slots, step, rate):
    """One step: overwrite ``theta`` (p,) and ``slots`` (n_slots, p), all of one type.

    ``hyper`` (8,) float64; ``step`` counts from 1; ``gradient`` (p,) is left as it is.
    """
    number = theta.dtype.type
    kept = number(clip_factor(hyper[CLIP_AT], gradient))
    if kind == PLAIN:
        length = number(rate)
        for j in range(theta.size):
            theta[j] += -length * (gradient[j] * kept)
    elif kind in (MOMENTUM, NESTEROV):
        roll(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), kind == NESTEROV)
    elif kind == ADAGRAD:
        one = number(1.0)
        scale(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), one, one)
    elif kind == RMSPROP:
        decay, rest = number(hyper[1]), number(1.0 - hyper[1])
        scale(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), decay, rest)
    else:
        shrink = rate * hyper[3] if kind == ADAMW else 0.0
        adapt(theta, gradient, slots[0], slots[1], kept, hyper, step, rate, number(shrink))


@njit(cache=True, nogil=True, error_model="numpy")
def clip_factor(norm, gradient):
    """c / ‖g‖ where the gradient is longer than c > 0, else 1."""
    if norm <= 0.0:
        return 1.0
    squares = 0.0
    for j in range(gradient.size):
        g = np.float64(gradient[j])
        squares += g * g
    length = np.sqrt(squares)
    return norm / length if length > norm else 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def roll(theta, gradient, delta, kept, rate, momentum, ahead):
    """Δ ← −η g + ν Δ, and θ ← θ + Δ, or θ − η g + ν Δ."""
    if ahead:
        for j in range(theta.size):
            g = rate * (gradient[j] * kept)
            new = delta[j] * momentum - g
            delta[j] = new
            theta[j] += momentum * new - g
    else:
        for j in range(theta.size):
            new = delta[j] * momentum - rate * (gradient[j] * kept)
            delta[j] = new
            theta[j] += new


@njit(cache=True, nogil=True, error_model="numpy")
def scale(theta, gradient, squares, kept, rate, epsilon, decay, share):
    """s ← decay s + share g², and θ ← θ − η g / (√s + ε)."""
    for j in range(theta.size):
        g = gradient[j] * kept
        new = squares[j] * decay + share * (g * g)
        squares[j] = new
        theta[j] += -rate * g / (np.sqrt(new) + epsilon)


@njit(cache=True, nogil=True, error_model="numpy")
def adapt(theta, gradient, mean, squares, kept, hyper, step, rate, shrink):
    """Adam, with a θ that shrinks by ``shrink`` θ."""
    number = theta.dtype.type
    epsilon, beta1, beta2 = number(hyper[0]), number(hyper[1]), number(hyper[2])
    rest1, rest2 = number(1.0 - hyper[1]), number(1.0 - hyper[2])
    power = np.float64(step)  # a power of a whole number is rounded in another way
    length = number(rate / (1.0 - hyper[1] ** power))
    shrunk = number(np.sqrt(1.0 - hyper[2] ** power))
    for j in range(theta.size):
        g = gradient[j] * kept
        m = mean[j] * beta1 + rest1 * g
        v = squares[j] * beta2 + rest2 * (g * g)
        mean[j] = m
        squares[j] = v
        theta[j] += -length * m / (np.sqrt(v) / shrunk + epsilon) - shrink * theta[j]


@njit(cache=True, nogil=True)
def mix(z):
    """SplitMix64's bijection of a 64-bit word: in Numba uint64 + int64 would be a float."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@njit(cache=True, nogil=True)
def first_key(seed):
    """The key of a seed alone."""
    return mix(np.uint64(seed) + GOLDEN)


@njit(cache=True, nogil=True)
def next_key(key, number):
    """The key with one more number: what does not change in a loop is computed outside it."""
    return mix(key ^ (np.uint64(number) * GOLDEN + GOLDEN))


@njit(cache=True, nogil=True)
def uniform_of(key):
    """The uniform number in [0, 1) of a key: that of ``keyed(…)`` is ``keyed_uniform(…)``."""
    return np.float64(key >> S11) * UNIT
