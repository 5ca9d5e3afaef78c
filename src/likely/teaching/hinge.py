"""Training with the hinge: a function with kinks, its duality gap, and a solver that closes it.

    P(w, b) = Σ_i v_i max(0, 1 − m_i) + ½ κ ‖w‖²    m_i = s_i (x_iᵀw + b),  s_i = ±1
    D(α)    = Σ_i α_i − ‖Σ_i α_i s_i x_i‖²/2κ       0 ≤ α_i ≤ v_i,  Σ_i α_i s_i = 0
    D(α) ≤ min P ≤ P(w, b)

v_i is the weight of an example.  At the optimum α_i is v_i where m_i < 1 and 0 where m_i > 1, and
κw = Σ α_i s_i x_i determines the others, by least squares.  Any such α gives a bound, for every θ.

``Smoothing`` minimises with h ln(1 + e^((1 − m)/h)) for the hinge and lets h go to 0.

References
----------
Shalev-Shwartz & Ben-David, Understanding Machine Learning, §15.4 (duality).
Chen & Mangasarian (1996), A class of smoothing functions for nonlinear and mixed complementarity
problems, Computational Optimization and Applications 5.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, final

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.fitting.edge import damped_newton
from likely.objectives.linear import LinearObjective
from likely.solvers.base import (
    FirstOrder,
    FirstOrderObjective,
    Kinked,
    SecondOrder,
    SmoothObjective,
    Solver,
    State,
)
from likely.solvers.stopping import scale_of
from likely.special import expit, log_expit
from likely.teaching.margin import Hinge, MarginLoss

AT_KINK = 1e-4  # of a margin to 1: such rows may have any α
NARROWER = 0.1  # of the width, from step to step
FIRST_WIDTH = 1.0
LEAST_WIDTH = 1e-12  # of a margin: no more digits
ENOUGH = 1e-3  # of a decrement in units of the width: close enough to continue
STEPS = 50


@final
@dataclass(frozen=True)
class SoftHinge(MarginLoss):
    """h ln(1 + e^((1 − m)/h)), above the hinge by at most h ln 2."""

    width: float = 1.0

    name = "soft_hinge"
    scale = 1.0
    convex = True

    def value(self, margin: Array) -> Array:
        return -self.width * log_expit((np.asarray(margin) - 1) / self.width)

    def slope(self, margin: Array) -> Array:
        return -expit((1 - np.asarray(margin)) / self.width)

    def curvature(self, margin: Array) -> Array:
        a = (1 - np.asarray(margin)) / self.width
        return expit(a) * expit(-a) / self.width


@final
@dataclass(frozen=True, eq=False)
class KinkedObjective(FirstOrderObjective, SmoothObjective, Kinked):
    """A linear classifier whose loss has kinks."""

    of: LinearObjective
    unit: float | None = None  # of gaps, as that of the sum

    def value(self, theta: Array) -> float:
        return self.of.value(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        return self.of.first_order(theta)

    def second_order(self, theta: Array) -> SecondOrder:
        return self.of.second_order(theta)

    def smoothed(self, width: float) -> LinearObjective:
        """With the soft hinge in place of the hinge."""
        return replace(self.of, likelihood=SoftHinge(width))

    def gap(self, theta: Array) -> float:
        """The duality gap of the hinge with a ridge; inf for another loss, or without one."""
        strength = float(np.max(self.of.penalty_on.curvature(theta)[:-1], initial=0.0))
        if not isinstance(self.of.likelihood, Hinge) or strength == 0.0:
            return inf
        rows = self.of.blocks
        assert isinstance(rows, ArrayBlocks), "loss_objective makes them of arrays"
        X = rows.X.matmat(np.eye(rows.n_features))[:, :-1]
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        dual = _dual(theta, X, 2 * rows.target - 1, weight, strength)
        return max(self.value(theta) - dual, 0.0)


def _dual(theta: Array, X: Array, sign: Array, weight: Array, strength: float) -> float:
    """D(α) at the α that corresponds to θ; every weight is above 0."""
    from scipy.optimize import lsq_linear  # here: slow to import

    margin = sign * (X @ theta[:-1] + theta[-1])
    alpha = weight * (margin < 1)
    at = np.abs(margin - 1) <= AT_KINK
    signed = sign[:, None] * np.column_stack([X, np.ones(len(X))])
    if at.any():
        wanted = np.append(strength * theta[:-1], 0.0) - signed[~at].T @ alpha[~at]
        most = weight[at]
        alpha[at] = np.clip(lsq_linear(signed[at].T, wanted, (0, most), tol=1e-14).x, 0, most)
    sums = alpha[sign > 0].sum(), alpha[sign < 0].sum()
    less = min(sums)
    for side, total in zip((sign > 0, sign < 0), sums, strict=True):
        alpha[side] *= less / total if total > 0 else 0.0  # Σ α s = 0, and none above its weight
    return float(alpha.sum() - np.sum((alpha * sign @ X) ** 2) / 2 / strength)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SmoothingState(State):
    width: float  # h


@final
@dataclass(frozen=True)
class Smoothing(Solver[KinkedObjective, SmoothingState]):
    """For objectives of ``loss_objective`` with the hinge and l2 > 0."""

    name: ClassVar[str] = "Smoothing"

    def init(self, objective: KinkedObjective, theta: Array) -> SmoothingState:
        return self._at(objective, np.asarray(theta, dtype=float), FIRST_WIDTH / NARROWER)

    def step(self, objective: KinkedObjective, state: SmoothingState) -> SmoothingState:
        width = state.width * NARROWER
        if width < LEAST_WIDTH:
            return replace(state, stuck="the hinge is as sharp as double precision allows")
        soft = objective.smoothed(width)
        theta = damped_newton(soft, state.theta, decrement=ENOUGH * width, steps=STEPS)
        return self._at(objective, theta, width)

    def _at(self, objective: KinkedObjective, theta: Array, width: float) -> SmoothingState:
        gap = objective.gap(theta) / scale_of(objective, value := objective.value(theta))
        return SmoothingState(theta=theta, value=value, gap=gap, width=width)
