"""Whether a maximum of the likelihood exists: separated data send coefficients to infinity.

    dᵀH(θ̂)d ≪ dᵀH(θ₀)d        f(θ̂ + s d) ≤ f(θ̂), s large        d = −H⁻¹g, the next Newton step

Where classes are separated, the next step is still about 1 in the linear predictor when the value
has stopped to fall: the curvature along it has faded.  f is convex, so an f that has not risen far
out along d rises nowhere on the way, and the estimate lies at infinity.

References
----------
Albert & Anderson, On the existence of maximum likelihood estimates in logistic regression models,
1984.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likely._typing import Array

FADED = 1e-2  # of the curvature at the start: a model that fits well keeps more
MOVING = 1e-2  # Σ w η²: one example that moves by 1 makes more, a step that converged less
FAR = 30.0  # steps of about 1 in the linear predictor: beyond, a probability is 0 or 1
RISE = 1e-6  # relative: a value that rises by less has no minimum to speak of
MOST_NAMED = 5  # columns in a warning
NOTHING_LEFT = 1e-3  # nats a row: a fit that loses less may be a separation
SHARE = 0.05  # of the strongest column: weaker ones are not named


class Divergence(NamedTuple):
    """A direction along which the likelihood never falls."""

    direction: Array
    columns: tuple[int, ...]  # the entries that make it, the strongest first


def diverging(
    value: Callable[[Array], float],
    theta: Array,
    direction: Array,
    hessian: Array,
    at_start: Array,
    *,
    per_row: float = 1.0,
) -> Divergence | None:
    """The direction to infinity, if there is one; costs two or three values where it is suspected.

    ``per_row`` is the curvature in η that an example has at the start.  Where everything is
    separated no step may be left to compute; θ itself leads on then.
    """
    for d, far in ((direction, FAR), (theta, 1.0)):
        before = float(d @ at_start @ d)
        if not before > MOVING * min(1.0, per_row) or float(d @ hessian @ d) > FADED * before:
            continue
        columns = _strongest(d, at_start)
        # a fit that is very good ends with a tiny step: as far again as it has come is far
        reach = max(far, abs(float(theta[columns[0]] / d[columns[0]])))
        here = value(theta)
        with np.errstate(over="ignore", invalid="ignore"):  # a value that overflows has risen
            there = value(theta + reach * d)
        if there <= here + RISE * max(1.0, abs(here)):
            return Divergence(d, columns)
    return None


def wholly_separated(
    value: Callable[[Array], float], theta: Array, *, n_rows: int, n_columns: int
) -> Divergence | None:
    """Without a Hessian: twice θ fits far better where every row is on its side."""
    here = value(theta)
    if not theta.any() or not 0 <= here < NOTHING_LEFT * n_rows or value(2 * theta) > here / 2:
        return None
    order = np.argsort(-np.abs(theta[:n_columns]), kind="stable")
    return Divergence(theta, tuple(int(j) for j in order[:MOST_NAMED]))


def _strongest(direction: Array, at_start: Array) -> tuple[int, ...]:
    strength = np.abs(direction) * np.sqrt(np.maximum(np.diag(at_start), 0.0))
    order = np.argsort(-strength, kind="stable")
    return tuple(int(j) for j in order if strength[j] >= SHARE * strength[order[0]])
