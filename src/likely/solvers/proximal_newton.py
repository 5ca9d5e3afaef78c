"""Proximal Newton with working sets: sparse coefficients from totals alone.

    F(θ) = f(θ) + Σ_j λ_j|θ_j| + Σ_g γ_g‖θ_g‖

    1  total g = ∇f(θ); the working set W: coefficients that are unpenalised, not 0, or not optimal
       at 0
    2  total H = ∇²f(θ) on W
    3  d = argmin ½ dᵀHd + gᵀd + the penalty of θ + d on W, by compiled coordinate descent
    4  θ ← θ + t d        t ∈ {1, ½, ¼, …}, the first that lowers F and does not overshoot

The unpenalised coefficients of step 3 are eliminated first, because an intercept with columns far
from 0 would need thousands of sweeps of coordinate descent.

The gap is the decrease of F predicted by the quadratic model: with all λ = 0
it is half the squared Newton decrement.  It is infinite while a coefficient that should move is
outside W, and when coordinate descent did not converge.

References
----------
Lee, Sun & Saunders, Proximal Newton-type methods for minimizing composite functions, 2014.
Friedman, Hastie & Tibshirani, Regularization paths for GLMs via coordinate descent, 2010.
"""

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar, NamedTuple, Protocol, final, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError

from likely._typing import Array
from likely.numerics.cholesky import factorise
from likely.solvers.base import UNDERFLOW, Solver, State, without_curvature
from likely.solvers.group_model import Grouping, minimise_groups
from likely.solvers.line_search import NO_LOWER_VALUE, armijo_trials
from likely.solvers.newton import overshoots
from likely.solvers.proximal import CompositeObjective
from likely.solvers.stopping import rounding_of, scale_of

SMALLEST_SET = 100  # columns that a working set may always have
NEARLY_THERE = 1e-4  # a relative fall below which the set grows until it certifies
AT_REST = 1e-12  # a gradient below this part of its terms is rounding
SWEEPS = 100  # of coordinate descent, before the signs are taken as found
ROUNDS = 50
MODEL_TOL = 1e-18  # the last fall of the model in a sweep, in the unit of the objective
JITTER = 1e-13  # relative to each diagonal entry: keeps dependent columns factorisable


@runtime_checkable
class L1Objective(CompositeObjective, Protocol):
    """f(θ) + Σ λ_j|θ_j| + Σ γ_g‖θ_g‖, with the Hessian of f on any few columns."""

    @property
    def l1(self) -> Array:
        """λ, one per coefficient; 0 leaves one free."""

    @property
    def groups(self) -> Grouping | None:
        """Which coefficients form groups; None where there are none."""

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        """∇²f(θ) on the given columns, shape (len(columns), len(columns))."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ProximalNewtonState(State):
    gradient: Array  # of f
    direction: Array  # d, from the current θ
    decrease: float  # −(gᵀd + change of the penalty), promised by a whole step
    columns: Array  # W
    hessian: Array  # of f, on W
    fall: float  # of the model on W, in the unit of the objective


class WorkingSetStep(NamedTuple):
    d: Array  # on W
    decrease: float
    fall: float  # of the model
    ended: bool


class _Evaluated(NamedTuple):
    theta: Array
    value: float
    gradient: Array


@final
@dataclass(frozen=True)
class ProximalNewton(Solver[L1Objective, ProximalNewtonState]):
    """One step costs a pass for the gradient and one for a Hessian on the working set."""

    name: ClassVar[str] = "proximal Newton"
    contract: ClassVar[type] = L1Objective
    needs: ClassVar[str] = "a penalty apart from f, as objective(X, y).composite of a model has it"

    def init(self, objective: L1Objective, theta: Array) -> ProximalNewtonState:
        return _complete(objective, _evaluate(objective, theta), limit=SMALLEST_SET)

    def step(self, objective: L1Objective, state: ProximalNewtonState) -> ProximalNewtonState:
        grown = 4 * len(state.columns) if state.fall < NEARLY_THERE else 0
        W, stuck = state.columns, NO_LOWER_VALUE
        for there in armijo_trials(
            lambda t: _evaluate(objective, state.theta + t * state.direction),
            state.value,
            state.decrease,
            slack=rounding_of(objective, state.value),
        ):
            limit = max(SMALLEST_SET, 2 * int(np.count_nonzero(there.theta)), grown)
            trial = _complete(objective, there, limit=limit)
            step = trial.theta - state.theta
            if not trial.stuck and not overshoots(state.hessian, step[W], trial.direction[W]):
                return trial
            stuck = trial.stuck or stuck
        return replace(state, stuck=stuck)


def working_set(theta: Array, gradient: Array, l1: Array, limit: int) -> tuple[Array, bool]:
    """The columns that may move, the largest gradients first; and whether all are included."""
    at_zero = np.maximum(np.abs(gradient) - l1, 0.0)
    pull = np.where(theta != 0, np.abs(gradient + l1 * np.sign(theta)), at_zero)
    kept = (theta != 0) | (l1 == 0)
    wanting = np.flatnonzero(~kept & (pull > AT_REST * np.maximum(np.abs(gradient), l1)))
    limit = max(limit - int(kept.sum()), 1)
    if len(wanting) > limit:
        kept[wanting[np.argpartition(-pull[wanting], limit - 1)[:limit]]] = True
        return np.flatnonzero(kept), False
    kept[wanting] = True
    return np.flatnonzero(kept), True


def group_working_set(
    theta: Array, gradient: Array, l1: Array, limit: int, groups: Grouping
) -> tuple[Array, bool]:
    """The same with groups, which enter and leave the set as a whole."""
    excess, size = groups.excess(theta, gradient, l1), np.maximum(l1, groups.strength)
    kept = (groups.lengths(theta) > 0) | (size == 0)
    wanting = np.flatnonzero(~kept & (excess > AT_REST * np.maximum(np.abs(gradient), size)))
    limit = max(limit - int(kept.sum()), 1)
    whole = len(wanting) <= limit
    if not whole:
        wanting = wanting[np.argpartition(-excess[wanting], limit - 1)[:limit]]
    kept[wanting] = True
    of_group = np.isin(groups.codes, groups.codes[wanting]) & (groups.codes >= 0)
    return np.flatnonzero(kept | of_group), whole


def minimise_model(
    Q: Array, c: Array, l1: Array, theta: Array, tol: float, groups: Grouping | None = None
) -> tuple[Array, bool]:
    """argmin ½θᵀQθ − cᵀθ + Σλ|θ| + Σγ‖θ_g‖, from ``theta``; and whether the descent ended.

    The free coefficients a are eliminated: θ_a = Q_aa⁻¹ (c_a − Q_ab θ_b).
    """
    if (np.diag(Q) < 0).any():
        raise LinAlgError("a negative curvature")
    Q = Q + np.diag(np.where(np.diag(Q) > 0, JITTER * np.diag(Q), 1.0))
    held = l1 > 0 if groups is None else (l1 > 0) | (groups.strength > 0)
    a, b = np.flatnonzero(~held), np.flatnonzero(held)
    if not a.size:
        return _penalised(Q, c, l1, theta, tol, groups)
    free = factorise(Q[np.ix_(a, a)], hold=False)  # a held one would be sent to 0
    explained = free.solve(np.column_stack([Q[np.ix_(a, b)], c[a]]))
    reduced_Q = Q[np.ix_(b, b)] - Q[np.ix_(b, a)] @ explained[:, :-1]
    reduced_c = c[b] - Q[np.ix_(b, a)] @ explained[:, -1]
    # a column that the free ones explain keeps a positive diagonal
    floor = JITTER * np.diag(Q)[b]
    np.fill_diagonal(reduced_Q, np.maximum(np.diag(reduced_Q), floor))
    solution, ended = np.empty_like(theta), True
    if b.size:
        inner = None if groups is None else groups.on(b)
        solution[b], ended = _penalised(reduced_Q, reduced_c, l1[b], theta[b], tol, inner)
    solution[a] = explained[:, -1] - explained[:, :-1] @ solution[b]
    return solution, ended


def _penalised(
    Q: Array, c: Array, l1: Array, theta: Array, tol: float, groups: Grouping | None
) -> tuple[Array, bool]:
    """Coordinate descent; where it is slow, jumps to the optimum of the signs it has found."""
    if groups is not None:
        return minimise_groups(Q, c, l1, groups, theta, tol)
    from likely.fast.coordinate import descend_coordinates

    Q, theta = np.ascontiguousarray(Q), np.array(theta, dtype=float)
    for _ in range(ROUNDS):
        if descend_coordinates(Q, c, l1, theta, tol, SWEEPS) <= SWEEPS:
            return theta, True
        theta = _jump(Q, c, l1, theta)
    return theta, False


def _jump(Q: Array, c: Array, l1: Array, theta: Array) -> Array:
    """The minimum of the model with the signs of θ fixed; sign changes become 0."""
    theta = theta.copy()
    while theta.any():
        support = np.flatnonzero(theta)
        here, signs = theta[support], np.sign(theta[support])
        try:
            factor = factorise(Q[np.ix_(support, support)], hold=False)
        except LinAlgError:
            return theta
        target = factor.solve(c[support] - l1[support] * signs)
        turning = np.flatnonzero(target * signs <= 0)
        if not turning.size:
            theta[support] = target
            return theta
        reach = here[turning] / (here[turning] - target[turning])
        theta[support] = here + reach.min() * (target - here)
        theta[support[turning[reach.argmin()]]] = 0.0  # every round lowers the model
    return theta


def _evaluate(objective: L1Objective, theta: Array) -> _Evaluated:
    here = objective.first_order(theta)
    return _Evaluated(theta, here.value + objective.penalty(theta), here.gradient)


def _complete(objective: L1Objective, here: _Evaluated, limit: int) -> ProximalNewtonState:
    columns, whole = _working_set(objective, here, limit)
    direction, fall, gap = np.zeros_like(here.theta), 0.0, 0.0
    finite = isfinite(here.value) and bool(np.isfinite(here.gradient).all())
    decrease, stuck = 0.0, "" if finite else "the value or its gradient is not finite"
    gap = 0.0 if finite else inf
    hessian = np.zeros((columns.size, columns.size))
    if columns.size and not stuck:
        hessian = objective.hessian_on(here.theta, columns)
        flat = columns[(np.diag(hessian) == 0) & (np.abs(here.gradient[columns]) > UNDERFLOW)]
        try:
            tol = MODEL_TOL * scale_of(objective, here.value)
            found = _direction(objective, hessian, here, columns, tol)
            direction[columns], decrease = found.d, found.decrease
            fall = found.fall / scale_of(objective, here.value)
            gap = fall if whole and found.ended and not flat.size else inf
            stuck = without_curvature(int(flat[0])) if flat.size else ""
        except LinAlgError:
            gap, stuck = inf, "the Hessian is not positive definite"
    return ProximalNewtonState(
        theta=here.theta,
        value=here.value,
        gap=gap,
        stuck=stuck,
        gradient=here.gradient,
        direction=direction,
        decrease=decrease,
        columns=columns,
        hessian=hessian,
        fall=fall,
    )


def _working_set(objective: L1Objective, here: _Evaluated, limit: int) -> tuple[Array, bool]:
    if objective.groups is None:
        return working_set(here.theta, here.gradient, objective.l1, limit)
    return group_working_set(here.theta, here.gradient, objective.l1, limit, objective.groups)


def _direction(
    objective: L1Objective, hessian: Array, here: _Evaluated, columns: Array, tol: float
) -> WorkingSetStep:
    theta, g, l1 = here.theta[columns], here.gradient[columns], objective.l1[columns]
    groups = None if objective.groups is None else objective.groups.on(columns)
    target, ended = minimise_model(hessian, hessian @ theta - g, l1, theta, tol, groups)
    if not np.isfinite(target).all():  # coordinate descent runs away where Q is indefinite
        raise LinAlgError("the model has no minimum")
    d = target - theta
    change = float(np.dot(l1, np.abs(target) - np.abs(theta)))
    if groups is not None:
        change += groups.value(target) - groups.value(theta)
    decrease = -(float(np.dot(g, d)) + change)
    fall = decrease - 0.5 * float(np.dot(d, hessian @ d))
    return WorkingSetStep(d, max(decrease, 0.0), max(fall, 0.0), ended)
