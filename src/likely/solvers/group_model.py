"""The quadratic model of proximal Newton where coefficients are in groups.

    minimise  m(θ) = ½ θᵀQθ − cᵀθ + Σ_j λ_j|θ_j| + Σ_g γ_g‖θ_g‖

Compiled descent by groups finds which are 0.  On the others m is smooth, and Newton's method goes
to its minimum, however slow the descent is.  It has ended where the Newton decrement there is
within ``tol`` and no coefficient at 0 wants to move: that is the optimum of a convex model, and
not merely a place where steps are short.

References
----------
Tseng & Yun, A coordinate gradient descent method for nonsmooth separable minimization, 2009.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from likely._typing import Array, Codes
from likely.numerics.cholesky import factorise

SWEEPS = 50  # of descent, before Newton's method takes the groups as found
ROUNDS = 100
STEPS = 50  # of Newton's method on the coefficients that are not 0
SHORTEST = 2.0**-30
AT_REST = 1e-11  # a pull that exceeds its strength by this part of it is rounding
ROUNDING = 1e-14  # of two evaluations of the model


class Grouping(NamedTuple):
    """Which coefficients form a group."""

    codes: Codes  # (d,): −1 for none
    strength: Array  # (d,): γ of the group of each; 0 outside all

    def on(self, columns: Array) -> "Grouping":
        return Grouping(self.codes[columns], self.strength[columns])

    def lengths(self, theta: Array) -> Array:
        """‖θ_g‖ of the group of each coefficient; |θ_j| outside all."""
        inside, n = self.codes >= 0, int(self.codes.max(initial=-1)) + 1
        squares = np.bincount(self.codes[inside], weights=theta[inside] ** 2, minlength=n)
        return np.where(inside, np.append(np.sqrt(squares), 0.0)[self.codes], np.abs(theta))

    def value(self, theta: Array) -> float:
        """Σ_g γ_g‖θ_g‖, each group once."""
        lengths, inside = self.lengths(theta), self.codes >= 0
        _, first = np.unique(self.codes[inside], return_index=True)
        return float(np.dot(self.strength[inside][first], lengths[inside][first]))

    def excess(self, theta: Array, pull: Array, l1: Array) -> Array:
        """By how much a pull on a coefficient at 0 exceeds what holds it; 0 for the others.

        A group at 0 is held by γ_g, a coefficient at 0 in a group that is not by its own λ_j.
        """
        beyond, at_0 = np.maximum(np.abs(pull) - l1, 0.0), theta == 0
        whole = (self.lengths(theta) == 0) & (self.codes >= 0)
        of_group = np.maximum(self.lengths(np.where(whole, beyond, 0.0)) - self.strength, 0.0)
        return np.where(whole, of_group, np.where(at_0, beyond, 0.0))


def minimise_groups(
    Q: Array, c: Array, l1: Array, groups: Grouping, theta: Array, tol: float
) -> tuple[Array, bool]:
    """The minimum of the model, from ``theta``; and whether it was reached."""
    from likely.fast.coordinate import descend_groups

    # groups stand together, and a coefficient outside all is one of its own
    alone = np.where(groups.codes < 0, len(l1) + np.arange(len(l1)), groups.codes)
    order = np.argsort(alone, kind="stable")
    _, first = np.unique(alone[order], return_index=True)
    first = np.append(first, len(order)).astype(np.int64)
    Q, c, l1 = np.ascontiguousarray(Q[np.ix_(order, order)]), c[order].copy(), l1[order].copy()
    groups, theta = groups.on(order), np.array(theta[order], dtype=float)
    strength = groups.strength[first[:-1]].copy()
    curvature = np.array([largest(Q[i:j, i:j]) for i, j in pairwise(first)])
    ended = False
    for _ in range(ROUNDS):
        descend_groups(Q, c, l1, strength, first, curvature, theta, tol, SWEEPS)
        theta, ended = _smooth_minimum(Q, c, l1, groups, theta, tol)
        ended = ended and _at_rest(Q, c, l1, groups, theta)
        if ended:
            break
    out = np.empty_like(theta)
    out[order] = theta
    return out, ended


def largest(matrix: Array) -> float:
    """Its largest eigenvalue, or a little more."""
    return float(matrix[0, 0]) if len(matrix) == 1 else float(np.linalg.eigvalsh(matrix)[-1])


def _at_rest(Q: Array, c: Array, l1: Array, groups: Grouping, theta: Array) -> bool:
    pull = c - Q @ theta
    held = np.maximum(np.abs(pull), np.maximum(l1, groups.strength))
    return bool((groups.excess(theta, pull, l1) <= AT_REST * held).all())


def _smooth_minimum(
    Q: Array, c: Array, l1: Array, groups: Grouping, theta: Array, tol: float
) -> tuple[Array, bool]:
    """Newton's method on the coefficients that are not 0; one that would turn stays at 0."""
    for _ in range(STEPS):
        lengths = groups.lengths(theta)
        on = np.flatnonzero((theta != 0) | ((l1 == 0) & (lengths > 0)))
        if not on.size:
            return theta, True
        slope, bend = _derivatives(Q, c, l1, groups, theta, on, lengths[on])
        try:
            d = -factorise(bend, hold=False).solve(slope)
        except LinAlgError:
            return theta, False
        decrement = -float(np.dot(slope, d))
        if not np.isfinite(decrement):
            return theta, False
        if decrement <= tol:
            theta[on] += np.where(np.sign(theta[on] + d) == np.sign(theta[on]), d, 0.0)
            return theta, True
        moved = _lower(Q, c, l1, groups, theta, on, d)
        if moved is None:
            return theta, False
        theta = moved
    return theta, False


def _derivatives(
    Q: Array, c: Array, l1: Array, groups: Grouping, theta: Array, on: Array, length: Array
) -> tuple[Array, Array]:
    """The slope and the Hessian of the model on the coefficients ``on``."""
    codes, here = groups.codes[on], theta[on]
    unit, size = here / length, groups.strength[on] / length
    slope = Q[on] @ theta - c[on] + l1[on] * np.sign(here) + groups.strength[on] * unit
    same = (codes[:, None] == codes) & (codes >= 0)
    bend = np.diag(size) - same * size[:, None] * np.outer(unit, unit)
    return slope, Q[np.ix_(on, on)] + bend


def _lower(
    Q: Array, c: Array, l1: Array, groups: Grouping, theta: Array, on: Array, d: Array
) -> Array | None:
    """A lower point along d, no further than where a coefficient with a corner reaches 0."""

    def parts(x: Array) -> tuple[float, float, float]:
        rough = float(np.dot(l1, np.abs(x))) + groups.value(x)
        return 0.5 * float(np.dot(x, Q @ x)), -float(np.dot(c, x)), rough

    here, before = theta[on], parts(theta)
    turning = (l1[on] > 0) & (np.sign(here + d) != np.sign(here))
    reach = np.divide(-here, d, out=np.full(len(d), np.inf), where=turning)
    t = min(1.0, float(reach.min()))
    while t >= SHORTEST:
        trial = theta.copy()
        trial[on] = here + t * d
        trial[on[reach <= t]] = 0.0
        if sum(parts(trial)) <= sum(before) + ROUNDING * sum(map(abs, before)):
            return trial
        t /= 2
    return None
