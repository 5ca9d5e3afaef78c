"""Dual coordinate descent: logistic regression with an L2 penalty, row by row.

    F(β, b) = Σ_i w_i [S(η_i) − y_i η_i] + ½ κ ‖β‖²        η = Xβ + b + o,  S(η) = ln(1 + e^η)
    D(p)    = −Σ_i w_i h(p_i) + rᵀo − ‖Xᵀr‖² / 2κ          r = w(p − y)

    h(p) = p ln p + (1 − p) ln(1 − p)        β = −Xᵀr / κ        Σ r_i = 0 where b is free

D ≤ F everywhere.  A sweep visits the rows in random order and maximises D over one p_i at a time,
kept as its logit z_i.  A free b is the multiplier of Σr = 0: during a sweep it is a column of value
s under a proximal penalty κ(b − b_k)²/2s², and b_k follows after the sweep.

Then a point is certified: all z are shifted by one number until Σr = 0, β = −Xᵀr/κ is computed
again, b minimises F exactly, and

    F − D = Σ_i w_i [S(η_i) − S(z_i) − p_i(η_i − z_i)]

The gap is F − D: it bounds F(θ) − min F.

References
----------
Yu, Huang & Lin, Dual coordinate descent methods for logistic regression and maximum entropy
models, 2011.
Bertsekas, Constrained Optimization and Lagrange Multiplier Methods, 1982, §2 (multipliers).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, final

import numpy as np

from likely._typing import Array
from likely.solvers.base import Solver, State
from likely.solvers.stopping import scale_of
from likely.special import exp, log1p

FALL = 0.1  # of the gap found in a sweep, before a point is certified: that costs another sweep
MOST_SWEEPS = 20
COLUMN_OF_B = 0.1  # s², in mean squared row lengths: b follows fast, and slows no row
SHIFT_STEPS = 100
FARTHEST = 30.0  # the largest log-odds that the mean of y is taken for
SUM_IS_ZERO = 1e-13  # |Σr| relative to Σw
SMALLEST_PROBABILITY = 1e-300  # its logarithm is finite
HALVINGS = 10  # of the first dual point's length, on a log scale
SHORTEST = 1e-4
FULL_LENGTH = 1e-3  # a slope of D this small, relative to its terms, is that of the optimum


class RowObjective(ABC):
    """L2-penalised logistic regression, with access to the rows of X."""

    unit: float | None = None  # of gaps
    y: Array  # in [0, 1]
    weight: Array
    offset: Array
    ridge: float  # κ > 0, of every coefficient but b
    intercept: bool  # whether θ = [β; b], b free, or θ = β

    @property
    @abstractmethod
    def mean_square(self) -> float:
        """The mean of ‖x_i‖²."""

    @abstractmethod
    def times(self, beta: Array) -> Array:
        """Xβ."""

    @abstractmethod
    def transposed_times(self, r: Array) -> Array:
        """Xᵀr."""

    @abstractmethod
    def sweep(
        self, order: Array, logit: Array, beta: Array, b: float, s2: float
    ) -> tuple[float, float]:
        """Overwrite logit and beta with their values after a sweep; return b, and the gap found."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class DualState(State):
    logit: Array  # z, with Σr = 0 where b is free
    sweeps: int = 0


@final
@dataclass(frozen=True)
class DualCoordinateDescent(Solver[RowObjective, DualState]):
    """For sparse rows in memory.  A step is a few sweeps and one certified point."""

    name: ClassVar[str] = "dual coordinate descent"
    contract: ClassVar[type] = RowObjective
    needs: ClassVar[str] = "a sum over rows that it can read row by row, as a fit gives it"
    seed: int = 0  # of the order of the rows

    def init(self, objective: RowObjective, theta: Array) -> DualState:
        beta = theta[:-1] if objective.intercept else theta
        eta = objective.times(beta) + objective.offset
        if objective.intercept:
            eta = eta + balancing_shift(eta, objective)
        return certify(objective, _lengthened(objective, eta), sweeps=0)

    def step(self, objective: RowObjective, state: DualState) -> DualState:
        logit, free = state.logit.copy(), objective.intercept
        beta = np.array(state.theta[:-1] if free else state.theta)
        b, s2 = (
            (float(state.theta[-1]), COLUMN_OF_B * objective.mean_square) if free else (0.0, 0.0)
        )
        enough = FALL * state.gap * scale_of(objective, state.value)
        for sweep in range(state.sweeps, state.sweeps + MOST_SWEEPS):  # read below
            order = np.random.default_rng([self.seed, sweep]).permutation(len(logit))
            b, met = objective.sweep(order, logit, beta, b, s2)
            if met <= enough or not isfinite(met):
                break
            if free:
                b -= s2 / objective.ridge * float(_slopes(objective, logit).sum())
        return certify(objective, logit, sweeps=sweep + 1)


def certify(objective: RowObjective, logit: Array, *, sweeps: int) -> DualState:
    """The dual point made feasible, the primal point it implies, and the gap between them."""
    if objective.intercept:
        logit = logit + balancing_shift(logit, objective)
    beta = -objective.transposed_times(_slopes(objective, logit)) / objective.ridge
    eta, theta = objective.times(beta) + objective.offset, beta
    if objective.intercept:
        b = balancing_shift(eta, objective)
        eta, theta = eta + b, np.append(beta, b)
    p, softplus = sigmoid(logit), _softplus(eta)
    value = float(np.dot(objective.weight, softplus - objective.y * eta))
    value += 0.5 * objective.ridge * float(np.dot(beta, beta))
    terms = softplus - _softplus(logit) - p * (eta - logit)
    gap = max(float(np.dot(objective.weight, terms)), 0.0) / scale_of(objective, value)
    stuck = "" if isfinite(value) else "the value is not finite"
    return DualState(theta=theta, value=value, gap=gap, stuck=stuck, logit=logit, sweeps=sweeps)


def balancing_shift(eta: Array, objective: RowObjective) -> float:
    """The b with Σ w [σ(η + b) − y] = 0, by Newton's method within a bracket that halves.

    With y of one class it would be infinite, and stays at the end of the bracket.
    """
    w, y = objective.weight, objective.y
    total = float(w.sum())
    mean = float(np.dot(w, y)) / total if total > 0 else 0.5
    odds = float(np.clip(np.log(max(mean, 0.0) or 1e-300), -FARTHEST, 0.0))
    odds -= float(np.clip(np.log(max(1 - mean, 0.0) or 1e-300), -FARTHEST, 0.0))
    low, high = odds - float(eta.max()), odds - float(eta.min())
    b, last = min(max(0.0, low), high), np.inf
    for _ in range(SHIFT_STEPS):
        p = sigmoid(eta + b)
        excess = float(np.dot(w, p - y))
        if abs(excess) <= SUM_IS_ZERO * total:
            break
        low, high = (low, b) if excess > 0 else (b, high)
        curvature = float(np.dot(w, p * (1.0 - p)))
        newton = b - excess / curvature if curvature > 0.0 else np.inf
        fast = abs(excess) < 0.5 * last and low < newton < high
        b, last = (newton if fast else 0.5 * (low + high)), abs(excess)
    return b


def sigmoid(eta: Array) -> Array:
    e = exp(-np.abs(eta))
    return np.asarray(np.where(eta >= 0, 1.0, e) / (1.0 + e))


def _softplus(eta: Array) -> Array:
    return np.maximum(eta, 0.0) + log1p(exp(-np.abs(eta)))


def _slopes(objective: RowObjective, logit: Array) -> Array:
    """r = w(p − y), without cancelling where y is 0 or 1."""
    y = objective.y
    slope = (1.0 - y) * sigmoid(logit) - y * sigmoid(-logit)
    return np.asarray(objective.weight * slope)


def _lengthened(objective: RowObjective, eta: Array) -> Array:
    """The logits of p = y + t(σ(η) − y), 0 < t ≤ 1, where D is largest; t = 1 at the optimum."""
    y = objective.y
    r = _slopes(objective, eta)
    quadratic = float(np.sum(objective.transposed_times(r) ** 2)) / objective.ridge
    shift = float(np.dot(r, objective.offset))

    def logits(t: float) -> Array:
        success = (1 - t) * y + t * sigmoid(eta)
        failure = (1 - t) * (1 - y) + t * sigmoid(-eta)
        smallest = SMALLEST_PROBABILITY
        return np.log(np.maximum(success, smallest)) - np.log(np.maximum(failure, smallest))

    def slope(t: float) -> float:
        return shift - float(np.dot(r, logits(t))) - t * quadratic

    if slope(1.0) >= -FULL_LENGTH * quadratic:
        return eta
    low, high = np.log(SHORTEST), 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(np.exp(middle)) > 0 else (low, middle)
    return logits(float(np.exp(low)))
