"""Elementary functions that neither overflow nor cancel, on any array library.

    σ(a)      = 1/(1 + e⁻ᵃ)                      1 − σ(a) = σ(−a)
    ln σ(a)   = min(a, 0) − ln(1 + e^−|a|)       d/da ln σ(a) = σ(−a)
    LSE(a)    = m + ln Σ_j e^(a_j − m)           m = max_j a_j
    s_k(a)    = e^(a_k − m) / Σ_j e^(a_j − m)    ∂s_k/∂a_j = s_k (δ_kj − s_j)
    ln B(x)   = ln Γ(1 + Σ_v x_v) − Σ_v ln Γ(1 + x_v)

Lists, numbers and NumPy arrays give NumPy; torch, CuPy and array-API arrays give their own
type.  ``xp`` is the library of the argument, where the caller knows it: loops over small batches
then look it up once.  −inf is a legal logarithm everywhere, and never becomes nan.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, final

import numpy as np

from likely._typing import Array, Matrix
from likely.errors import InvalidInput

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "append_constant",
    "exp",
    "expit",
    "expit_derivative",
    "expm1",
    "from_one_hot",
    "identity",
    "lgamma",
    "log",
    "log1p",
    "log_add_exp",
    "log_expit",
    "log_expit_complement",
    "log_expit_complement_derivative",
    "log_expit_derivative",
    "log_multinomial_coefficient",
    "log_softmax",
    "logit",
    "logsumexp",
    "multinomial_coefficient",
    "one_hot",
    "relu",
    "relu_derivative",
    "softmax",
    "softmax_jacobian",
    "softplus",
    "tanh",
    "tanh_derivative",
]

Axis = int | tuple[int, ...] | None

STIRLING = 60.0  # from here on four terms of its series are exact to a double's last digit
LOG_FLOOR = float(np.log(np.finfo(np.float64).eps))
# A class that a fit has not seen has probability 2⁻⁵² in every log loss: JSON has no infinity, and
# one impossible row should not hide all others.

MODULE_NAMESPACES = ("torch", "cupy")  # their arrays do not all carry __array_namespace__


def namespace(*arrays: Any) -> Any:
    """The library of the first argument that is not NumPy's, a list or a number; else NumPy."""
    for array in arrays:
        if isinstance(array, np.ndarray | np.generic):
            continue
        library = type(array).__module__.partition(".")[0]
        if library in MODULE_NAMESPACES:
            return importlib.import_module(library)
        protocol = getattr(array, "__array_namespace__", None)
        if protocol is not None:
            return protocol()
    return np


def floating(a: Any, xp: Any) -> Array:
    """``a`` as a floating array; another library's array is taken as it is."""
    if xp is not np:
        array: Array = a if namespace(a) is xp else xp.asarray(a)
        return array
    array = np.asarray(a)
    return array if array.dtype.kind in "f" else array.astype(np.float64)


def exp(a: Array, xp: Any = None) -> Array:
    """eᵃ; 0 or inf, without a warning, outside the range of float64."""
    xp = namespace(a) if xp is None else xp
    with np.errstate(over="ignore", under="ignore"):
        return xp.exp(floating(a, xp))


def expm1(a: Array, xp: Any = None) -> Array:
    """eᵃ − 1, accurate for small a."""
    xp = namespace(a) if xp is None else xp
    with np.errstate(over="ignore"):
        return xp.expm1(floating(a, xp))


def log(a: Array, xp: Any = None) -> Array:
    """ln a, with ln 0 = −inf without a warning."""
    xp = namespace(a) if xp is None else xp
    with np.errstate(divide="ignore"):
        return xp.log(floating(a, xp))


def log1p(a: Array, xp: Any = None) -> Array:
    """ln(1 + a), accurate for small a; −inf at −1 without a warning."""
    xp = namespace(a) if xp is None else xp
    with np.errstate(divide="ignore"):
        return xp.log1p(floating(a, xp))


def ones_like(a: Array, xp: Any = None) -> Array:
    xp = namespace(a) if xp is None else xp
    return xp.ones_like(floating(a, xp))


def lgamma(a: Array) -> Array:
    """ln Γ(a), elementwise."""
    xp = namespace(a)
    if xp is not np:
        return xp.lgamma(a)
    from scipy.special import gammaln  # here, so that importing this file needs NumPy alone

    return gammaln(floating(a, xp))


def expit(a: Array, xp: Any = None) -> Array:
    """σ(a), to full relative precision in both tails."""
    xp = namespace(a) if xp is None else xp
    a = floating(a, xp)
    e = exp(-xp.abs(a), xp)  # at most 1
    return xp.where(a >= 0, 1 / (1 + e), e / (1 + e))[()]


def expit_derivative(a: Array, xp: Any = None) -> Array:
    """σ′(a) = σ(a) σ(−a); 1 − σ(a) would cancel for large a."""
    xp = namespace(a) if xp is None else xp
    a = floating(a, xp)
    return expit(a, xp) * expit(-a, xp)


def log_expit(a: Array, xp: Any = None) -> Array:
    """ln σ(a)."""
    xp = namespace(a) if xp is None else xp
    a = floating(a, xp)
    return xp.where(a < 0, a, xp.zeros_like(a))[()] - log1p(exp(-xp.abs(a), xp), xp)


def log_expit_derivative(a: Array) -> Array:
    """d/da ln σ(a) = 1 − σ(a)."""
    return expit(-floating(a, namespace(a)))


def log_expit_complement(a: Array, xp: Any = None) -> Array:
    """ln(1 − σ(a))."""
    xp = namespace(a) if xp is None else xp
    return log_expit(-floating(a, xp), xp)


def log_expit_complement_derivative(a: Array) -> Array:
    """d/da ln(1 − σ(a)) = −σ(a)."""
    return -expit(a)


def logit(p: Array) -> Array:
    """ln p/(1 − p), the inverse of σ; ∓inf at 0 and 1."""
    p = floating(p, namespace(p))
    return log(p) - log1p(-p)


def log_add_exp(a: Array, b: Array) -> Array:
    """ln(eᵃ + eᵇ), in the form whose exponent is not positive."""
    xp = namespace(a, b)
    a, b = floating(a, xp), floating(b, xp)
    with np.errstate(invalid="ignore"):
        distance = xp.abs(a - b)
    distance = xp.where(a == b, xp.zeros_like(distance), distance)  # −inf − −inf is nan
    return (xp.where(a > b, a, b) + log1p(exp(-distance)))[()]


def logsumexp(
    a: Array, axis: Axis = None, *, weights: Array | None = None, keepdims: bool = False
) -> Array:
    """ln Σ_j w_j e^(a_j) over ``axis`` (None is all); w_j = 0 leaves j out.

    Weights may be negative, as ``b`` of SciPy's function; it is NaN where the sum is.
    """
    xp = namespace(a, weights)
    a = floating(a, xp)
    if weights is not None:
        weights = floating(weights, xp)
        a, weights = a + xp.zeros_like(weights), weights + xp.zeros_like(a)  # to one shape
        a = xp.where(weights == 0, xp.zeros_like(a) - math.inf, a)
    axes = tuple(range(a.ndim)) if axis is None else axis
    if 0 in a.shape:
        return log(xp.sum(a, axis=axes, keepdims=keepdims))  # the empty sum is 0
    centred, top = _centred(a, axes, xp)
    terms = exp(centred, xp) if weights is None else weights * exp(centred, xp)
    sums = xp.sum(terms, axis=axes, keepdims=True)
    if weights is not None:
        sums = xp.where(sums < 0, sums * math.nan, sums)  # without a warning
    total = top + log(sums)
    return total if keepdims else xp.squeeze(total, axes)[()]


def softmax(a: Array, axis: Axis = -1) -> Array:
    """Probabilities from logits; equal logits give equal probabilities, even where all are −inf."""
    xp = namespace(a)
    a = floating(a, xp)
    e = exp(_centred(a, axis, xp)[0], xp)
    return e / xp.sum(e, axis=axis, keepdims=True)


def log_softmax(a: Array, axis: Axis = -1) -> Array:
    """ln s(a) = a − LSE(a)."""
    xp = namespace(a)
    a = floating(a, xp)
    centred, _ = _centred(a, axis, xp)
    return centred - log(xp.sum(exp(centred, xp), axis=axis, keepdims=True), xp)


def softmax_jacobian(a: Array, axis: int = -1) -> Array:
    """∂s_k/∂a_j, shape (…, K, K): ``axis`` is moved to the end and doubled."""
    xp = namespace(a)
    s = xp.moveaxis(softmax(a, axis), axis, -1)
    outer = s[..., :, None] * s[..., None, :]
    ones = xp.ones_like(outer)
    delta = xp.tril(ones) * xp.triu(ones)  # on the device of ``a``, where eye would not be
    return s[..., :, None] * delta - outer


def _centred(a: Array, axis: Axis, xp: Any) -> tuple[Array, Array]:
    """a − max a, and max a; an infinite maximum gives 0, not nan."""
    largest = getattr(xp, "amax", None) or xp.max  # torch.max also returns positions
    top = largest(a, axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):
        return xp.where(a == top, xp.zeros_like(a), a - top), top


@final
@dataclass(frozen=True)
class Activation:
    """An elementwise nonlinearity h(a) and its derivative, also from the output h alone.

    Each takes the values, and their library where it is known: ``value(a, np)``.
    """

    value: Callable[..., Array]
    derivative: Callable[..., Array]
    derivative_from_output: Callable[..., Array]


def tanh(a: Array, xp: Any = None) -> Array:
    """(eᵃ − e⁻ᵃ) / (eᵃ + e⁻ᵃ)."""
    xp = namespace(a) if xp is None else xp
    return xp.tanh(floating(a, xp))


def tanh_derivative(a: Array, xp: Any = None) -> Array:
    """1 − tanh²(a) = 4 σ(2a) σ(−2a), which does not cancel for large a."""
    xp = namespace(a) if xp is None else xp
    return 4 * expit_derivative(2 * floating(a, xp), xp)


def relu(a: Array, xp: Any = None) -> Array:
    """max(a, 0); nan stays nan, so that a search that diverged is seen."""
    xp = namespace(a) if xp is None else xp
    a = floating(a, xp)
    return xp.where(a < 0, xp.zeros_like(a), a)[()]


def relu_derivative(a: Array, xp: Any = None) -> Array:
    """1 where a > 0, else 0; h > 0 exactly where a > 0, so the output can be used instead."""
    xp = namespace(a) if xp is None else xp
    a = floating(a, xp)
    return xp.where(a > 0, xp.ones_like(a), xp.zeros_like(a))[()]


def softplus(a: Array, xp: Any = None) -> Array:
    """ln(1 + eᵃ), whose derivative is σ(a); neither overflows nor cancels."""
    return -log_expit_complement(a, xp)


def identity(a: Array, xp: Any = None) -> Array:
    """a itself."""
    return a


# Elementwise; softmax couples its inputs, so it has a Jacobian instead.
ACTIVATIONS: Mapping[str, Activation] = {
    "tanh": Activation(tanh, tanh_derivative, lambda h, xp=None: (1 - h) * (1 + h)),
    "sigmoid": Activation(expit, expit_derivative, lambda h, xp=None: h * (1 - h)),
    "identity": Activation(identity, ones_like, ones_like),
    "relu": Activation(relu, relu_derivative, relu_derivative),
    "softplus": Activation(softplus, expit, lambda h, xp=None: -expm1(-h, xp)),
}


def one_hot(labels: Array | Sequence[Any], classes: Array | Sequence[Any] | None = None) -> Array:
    """T in {0, 1}, shape (n, K), with t_ik = 1 exactly when label i is class k.

    ``classes`` gives the order of the columns; None is the sorted distinct labels.
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise InvalidInput(
            f"Labels must be one per example; found an array of shape {labels.shape}. "
            "Pass a vector of labels."
        )
    values, position = np.unique(labels, return_inverse=True)
    columns = (values if classes is None else np.asarray(classes)).tolist()
    index = {label: k for k, label in enumerate(columns)}
    if len(index) != len(columns):
        raise InvalidInput(
            f"Classes must be distinct; found {len(columns)} of which {len(index)} differ. "
            "List each class once."
        )
    code = np.array([index.get(value, -1) for value in values.tolist()], dtype=np.intp)
    unseen = np.flatnonzero(code[position] < 0)
    if unseen.size:
        i = int(unseen[0])
        shown = ", ".join(map(repr, columns[:10])) + (", …" if len(columns) > 10 else "")
        raise InvalidInput(
            f"Label {labels[i].item()!r} of example {i} is not a class; expected one of {shown}. "
            "Add it to classes, or leave the example out."
        )
    T = np.zeros((labels.size, len(columns)))
    T[np.arange(labels.size), code[position]] = 1.0
    return T


def from_one_hot(T: Array, classes: Array | Sequence[Any] | None = None) -> Array:
    """The label of the largest entry of each row (the first of equals); None gives its index."""
    code = np.argmax(T, axis=-1)
    if classes is None:
        return code
    classes = np.asarray(classes)
    if len(classes) != np.shape(T)[-1]:
        raise InvalidInput(
            f"There are {len(classes)} classes and {np.shape(T)[-1]} columns; expected "
            "equal numbers. Give the classes of the columns, in their order."
        )
    return classes[code]


def multinomial_coefficient(counts: Matrix) -> int | Array:
    """B(x) = (Σ_v x_v)! / Π_v x_v!, exact.

    An int for a vector of counts; for a matrix, an array of ints, one per row.
    """
    dense = _counts(counts.toarray() if _is_sparse(counts) else counts)
    rows = [[int(count) for count in row] for row in np.atleast_2d(dense).tolist()]
    exact = [math.prod(map(math.comb, accumulate(row), row)) for row in rows]
    return exact[0] if dense.ndim == 1 else np.array(exact, dtype=object)


def log_multinomial_coefficient(counts: Matrix) -> Array:
    """ln B(x), (n,) for a matrix, dense or CSR; weighted counts (tf-idf) are allowed."""
    if not _is_sparse(counts):
        x = floating(counts, namespace(counts))
        _refuse_negative(x)
        if not isinstance(x, np.ndarray) or not x.shape[-1]:
            return lgamma(1 + x.sum(-1)) - lgamma(1 + x).sum(-1)
        at = x.argmax(axis=-1)[..., None]
        largest, others = np.take_along_axis(x, at, axis=-1)[..., 0], x.copy()
        np.put_along_axis(others, at, 0.0, axis=-1)
        return _log_rising(largest, others.sum(axis=-1)) - lgamma(1 + others).sum(axis=-1)
    x = counts.tocsr(copy=True)
    x.sum_duplicates()
    _refuse_negative(x.data)
    x.data = x.data.astype(np.float64)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    largest = np.zeros(x.shape[0])
    order = np.lexsort((x.data, rows))
    last = order[np.flatnonzero(np.diff(rows, append=-1) != 0)]  # the largest of each row
    largest[rows[last]] = x.data[last]
    x.data[last] = 0.0
    total = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
    x.data = lgamma(1 + x.data)  # ln Γ(1 + 0) = 0, so zeros need not be stored
    return _log_rising(largest, total) - np.asarray(x.sum(axis=1)).ravel()


def _log_rising(m: Array, r: Array) -> Array:
    """ln (m + r)! / m! for m, r ≥ 0: by Stirling's formula, because two large ln Γ would cancel."""
    low, high = 1.0 + m, 1.0 + m + r
    z = np.maximum(low, STIRLING)
    inverse = 1 / np.stack([z, z + r])
    square = inverse**2
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    far = (z - 0.5) * np.log1p(r / z) - r + r * np.log(z + r) + series[1] - series[0]
    return np.where(low >= STIRLING, far, lgamma(high) - lgamma(low))[()]


def _refuse_negative(values: Any) -> None:
    if isinstance(values, np.ndarray) and not (values >= 0).all():
        bad = values[~(values >= 0)]
        raise InvalidInput(
            f"Counts must be 0 or more; found {bad[0]:g}. "
            "Use a model of continuous features for negative numbers."
        )


def _counts(values: Any) -> Array:
    """``values``, when they are whole and not negative."""
    values = np.asarray(values)
    bad = values[~((values >= 0) & (values == np.floor(values)))]
    if bad.size:
        raise InvalidInput(
            f"Counts must be whole numbers, 0 or more; found {bad[0]:g}. "
            "Round them, or use a model of continuous features."
        )
    return values


def _is_sparse(X: Any) -> bool:
    return type(X).__module__.startswith("scipy.sparse")  # without importing it


def append_constant(X: Matrix, value: float = 1.0) -> Matrix:
    """x̃ = [x, 1]: the bias as one additional feature, so that w·x + b = w̃·x̃.  CSR stays CSR."""
    if _is_sparse(X):
        from scipy.sparse import csr_array, hstack

        return hstack([X, csr_array(np.full((X.shape[0], 1), value))], format="csr")
    xp = namespace(X)
    X = floating(X, xp)
    constant = xp.zeros_like(X[..., :1]) + value
    return xp.concat([X, constant], -1)
