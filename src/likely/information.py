"""Entropy, cross-entropy and Kullback–Leibler divergence, in nats or bits.

    H(p)      = −Σ_x p(x) ln p(x)                 0 ln 0 = 0
    H(p, q)   = −Σ_x p(x) ln q(x)                 for one-hot p: −ln q_k
    KL(p ‖ q) = Σ_x p(x) ln p(x)/q(x) = H(p, q) − H(p) ≥ 0

Distributions are along ``axis``; all other axes are batches.  The functions named ``…_of_logits``
take q (and, for entropy and divergence, p) as logits, and compute in logarithms throughout.

References
----------
Cover & Thomas, Elements of Information Theory, 2nd ed., §2.1–2.3.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from likely._typing import Array
from likely.names import lookup
from likely.special import exp, floating, log, log1p, log_expit, log_softmax, namespace

__all__ = [
    "UNITS",
    "bernoulli_cross_entropy",
    "bernoulli_cross_entropy_of_logits",
    "cross_entropy",
    "cross_entropy_of_logits",
    "entropy",
    "entropy_of_logits",
    "kl_divergence",
    "kl_divergence_of_logits",
]

UNITS: Mapping[str, float] = {"nats": 1.0, "bits": 1 / math.log(2)}


def entropy(p: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """H(p)."""
    return cross_entropy(p, p, axis, unit=unit)


def entropy_of_logits(a: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """H(s(a))."""
    log_p = log_softmax(a, axis)
    return _expectation(exp(log_p), -log_p, axis, unit)


def cross_entropy(p: Array, q: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """H(p, q); inf where q is 0 and p is not."""
    return _expectation(p, -log(q), axis, unit)


def cross_entropy_of_logits(p: Array, a: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """H(p, s(a))."""
    return _expectation(p, -log_softmax(a, axis), axis, unit)


def kl_divergence(p: Array, q: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """KL(p ‖ q); inf where q is 0 and p is not."""
    return _divergence(p, q, log(p), log(q), axis, unit)


def kl_divergence_of_logits(a: Array, b: Array, axis: int = -1, *, unit: str = "nats") -> Array:
    """KL(s(a) ‖ s(b))."""
    log_p, log_q = log_softmax(a, axis), log_softmax(b, axis)
    return _divergence(exp(log_p), exp(log_q), log_p, log_q, axis, unit)


def bernoulli_cross_entropy(t: Array, f: Array, *, unit: str = "nats") -> Array:
    """−[t ln f + (1 − t) ln(1 − f)], elementwise: t the target, f the predicted probability."""
    t, f = floating(t, namespace(t, f)), floating(f, namespace(t, f))
    return lookup("unit", unit, UNITS) * (_product(t, -log(f)) + _product(1 - t, -log1p(-f)))


def bernoulli_cross_entropy_of_logits(t: Array, a: Array, *, unit: str = "nats") -> Array:
    """−[t ln σ(a) + (1 − t) ln(1 − σ(a))], elementwise; finite at a = ±1000."""
    t, a = floating(t, namespace(t, a)), floating(a, namespace(t, a))
    nats = _product(t, -log_expit(a)) + _product(1 - t, -log_expit(-a))
    return lookup("unit", unit, UNITS) * nats


def _expectation(p: Any, value: Array, axis: int, unit: str) -> Array:
    xp = namespace(p, value)
    return lookup("unit", unit, UNITS) * xp.sum(_product(p, value), axis=axis)


def _divergence(p: Any, q: Any, log_p: Array, log_q: Array, axis: int, unit: str) -> Array:
    """Σ p ln p/q − p + q: its terms are not negative, so rounding cannot make the sum negative."""
    xp = namespace(p, q)
    p, q = floating(p, xp), floating(q, xp)
    with np.errstate(invalid="ignore"):
        terms = _product(p, log_p - log_q) - p + q
    terms = xp.where(terms < 0, xp.zeros_like(terms), terms)
    return lookup("unit", unit, UNITS) * xp.sum(terms, axis=axis)


def _product(p: Any, value: Array) -> Array:
    """p·value, with 0·inf = 0."""
    xp = namespace(p, value)
    p, value = floating(p, xp), floating(value, xp)
    with np.errstate(invalid="ignore"):
        product = p * value
    return xp.where(p == 0, xp.zeros_like(product), product)[()]
