"""Coordinate descent on columns: sparse coefficients without a Hessian.

    F(β, b) = Σ_i f_i(x_iᵀβ + b) + Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²

    1  slopes r_i = f_i′, curvatures d_i = f_i″, and gradients Xᵀr of all columns
    2  the working set W: columns that are unpenalised, not 0, or not optimal at 0
    3  the quadratic model of F at (β, b) is minimised over W, one column after another, with the
       optimal b throughout; only the model's slopes r + d ∘ (change of η) are computed
    4  conjugate gradients reduce it further with these signs fixed; a coefficient that would
       change sign is set to 0
    5  a step t ∈ {1, ½, ¼, …} along the change, the first that lowers F without moving an
       example to where it has a slope but no curvature; then the optimal b, by Newton's method

The best b makes Σr = 0, so r can be scaled to a dual point: s ≤ 1 is the largest number that
brings every |s(x_jᵀr + κ_jβ_j)| with λ_j > 0 within λ_j, and

    D = −Σ_i f_i*(s r_i) − Σ_j max(|s x_jᵀr| − λ_j, 0)² / 2κ_j        gap = F − D ≥ F − min F

Where f* is not known, or a column other than the intercept has no penalty, the gap is the
decrease predicted by the model: an estimate, as in proximal Newton.  It is infinite where an
unpenalised column has a gradient but no curvature.

References
----------
Yuan, Ho & Lin, An improved GLMNET for l1-regularized logistic regression, 2012.
Friedman, Hastie & Tibshirani, Regularization paths for GLMs via coordinate descent, 2010.
Fercoq, Gramfort & Salmon, Mind the duality gap, 2015.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar, NamedTuple, final

import numpy as np

from likely._typing import Array, Matrix
from likely.solvers.base import UNDERFLOW, Solver, State, without_curvature
from likely.solvers.line_search import NO_LOWER_VALUE, armijo_trials
from likely.solvers.proximal_newton import working_set
from likely.solvers.stopping import rounding_of, scale_of

SMALLEST_SET = 10_000  # columns that a working set may always have
NEARLY_THERE = 1e-3  # a relative gap below which all columns may move
SWEEPS = 3  # to find signs; conjugate gradients are faster once they are known
SHARE = 0.05  # of the first sweep's moves: below it, sweeping ends early
CG_STEPS = 20
CG_SHARE = 0.1  # of the first residual: the model itself is no closer than that
INTERCEPT_STEPS = 50
BALANCED = 1e-14  # |Σr| relative to Σ|r|
LONGEST = 4.0  # a step of b, where curvature all but vanishes
GONE = 1e-6  # of an example's curvature before the step; the logit's after a move of 14 in η


class Slopes(NamedTuple):
    """Σ f_i, f_i′ and f_i″, weights included."""

    value: float
    slope: Array
    curvature: Array


class ColumnObjective(ABC):
    """F, with access to the columns of X.  θ = [β; b], or β without an intercept."""

    unit: float | None = None  # of gaps
    l1: Array  # λ
    l2: Array  # κ
    intercept: bool

    @abstractmethod
    def predictor(self, theta: Array) -> Array:
        """η = Xβ + b + o."""

    @abstractmethod
    def slopes(self, eta: Array) -> Slopes: ...

    @abstractmethod
    def pulls(self, slope: Array) -> Array:
        """Xᵀr."""

    @abstractmethod
    def change(self, columns: Array, moves: Array) -> Array:
        """Σ_k moves_k x_{columns_k}: the change of η when these coefficients move."""

    @abstractmethod
    def curvatures(self, columns: Array, d: Array) -> Array:
        """Σ_i d_i x_ij², for these columns."""

    @abstractmethod
    def on(self, columns: Array) -> Matrix:
        """These columns of X: something with ``@`` and ``.T``."""

    @abstractmethod
    def conjugate(self, slope: Array) -> float | None:
        """Σ f_i*(r_i), each f_i as a function of x_iᵀβ + b; None where it is not known."""

    @abstractmethod
    def descend(
        self, columns: Array, here: Slopes, beta: Array, *, share: float, max_sweeps: int
    ) -> tuple[Array, float]:
        """The model's minimiser on ``columns``, from ``beta`` there; and the change of b."""

    def penalty(self, beta: Array) -> float:
        ridge = 0.5 * float(np.dot(self.l2, beta**2))
        return float(np.dot(self.l1, np.abs(beta))) + ridge


class ColumnStep(NamedTuple):
    d: Array  # in θ
    d_eta: Array
    decrease: float  # promised by a whole step, to first order
    fall: float  # of the model
    whole: bool  # whether W had every column that needs to move


class _ColumnPoint(NamedTuple):
    theta: Array
    eta: Array
    slopes: Slopes
    value: float


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnState(State):
    here: _ColumnPoint
    pulls: Array  # Xᵀr
    certified: bool
    limit: int  # on the size of W
    direction: ColumnStep | None = None  # known already if it was used for the gap


@final
@dataclass(frozen=True)
class CoordinateDescent(Solver[ColumnObjective, ColumnState]):
    """For columns in memory.  A step costs a pass over all columns, and sweeps over a few."""

    name: ClassVar[str] = "coordinate descent"
    contract: ClassVar[type] = ColumnObjective
    needs: ClassVar[str] = "a sum over rows that it can read column by column, as a fit gives it"

    def init(self, objective: ColumnObjective, theta: Array) -> ColumnState:
        return _complete(objective, _evaluate(objective, np.asarray(theta, float)), SMALLEST_SET)

    def step(self, objective: ColumnObjective, state: ColumnState) -> ColumnState:
        way = state.direction or _direction(objective, state)
        if way.decrease <= 0.0:
            return replace(state, stuck="no column of the working set can move")
        start = state.here
        trials = armijo_trials(
            lambda t: _at(objective, start.theta + t * way.d, start.eta + t * way.d_eta),
            state.value,
            way.decrease,
            slack=rounding_of(objective, state.value),
        )
        there = next((trial for trial in trials if not _too_far(start.slopes, trial.slopes)), None)
        if there is None:
            return replace(state, stuck=NO_LOWER_VALUE)
        there = _with_best_intercept(objective, there)
        limit = max(SMALLEST_SET, 2 * int(np.count_nonzero(there.theta)))
        return _complete(objective, there, limit)


def _evaluate(objective: ColumnObjective, theta: Array) -> _ColumnPoint:
    return _with_best_intercept(objective, _at(objective, theta, objective.predictor(theta)))


def _at(objective: ColumnObjective, theta: Array, eta: Array) -> _ColumnPoint:
    slopes = objective.slopes(eta)
    value = slopes.value + objective.penalty(_beta(objective, theta))
    return _ColumnPoint(theta, eta, slopes, value)


def _too_far(before: Slopes, after: Slopes) -> bool:
    """Whether an example has lost its curvature but not its slope: it is far on the wrong side."""
    gone = after.curvature < GONE * before.curvature
    return bool((gone & (np.abs(after.slope) >= np.abs(before.slope))).any())


def _beta(objective: ColumnObjective, theta: Array) -> Array:
    return theta[:-1] if objective.intercept else theta


def _with_best_intercept(objective: ColumnObjective, here: _ColumnPoint) -> _ColumnPoint:
    """b moved until Σr = 0, as long as F decreases; η changes by a constant, so X is not read."""
    if not objective.intercept:
        return here
    one = np.append(np.zeros(len(here.theta) - 1), 1.0)
    for _ in range(INTERCEPT_STEPS):
        _, r, d = here.slopes
        excess, total = float(r.sum()), float(d.sum())
        if abs(excess) <= BALANCED * float(np.abs(r).sum()) or total <= 0.0:
            break
        move = float(np.clip(-excess / total, -LONGEST, LONGEST))
        there = _at(objective, here.theta + move * one, here.eta + move)
        if not abs(there.slopes.slope.sum()) < abs(excess):
            break
        here = there
    return here


def _complete(objective: ColumnObjective, here: _ColumnPoint, limit: int) -> ColumnState:
    pulls = objective.pulls(here.slopes.slope)
    dual = dual_value(objective, here.theta, here.slopes.slope, pulls)
    scale = scale_of(objective, here.value)
    gap = inf if dual is None else max(here.value - dual, 0.0) / scale
    state = ColumnState(
        theta=here.theta,
        value=here.value,
        gap=gap,
        stuck="" if isfinite(here.value) else "the value is not finite",
        here=here,
        pulls=pulls,
        certified=dual is not None,
        limit=limit if gap > NEARLY_THERE else len(pulls),
    )
    if state.certified or state.stuck:
        return state
    way = _direction(objective, state)
    if (column := _immovable(objective, state, way)) is not None:
        return replace(state, gap=inf, stuck=without_curvature(column))
    return replace(state, direction=way, gap=way.fall / scale if way.whole else inf)


def _immovable(objective: ColumnObjective, state: ColumnState, way: ColumnStep) -> int | None:
    """An unpenalised column with a gradient that cannot move: the curvature of its rows is 0."""
    free = (objective.l1 == 0) & (objective.l2 == 0) & (_beta(objective, way.d) == 0)
    columns = np.flatnonzero(free & (np.abs(state.pulls) > UNDERFLOW))
    if not columns.size:
        return None
    flat = objective.curvatures(columns, state.here.slopes.curvature) == 0
    return int(columns[flat][0]) if flat.any() else None


def dual_value(objective: ColumnObjective, theta: Array, r: Array, pulls: Array) -> float | None:
    """D at the scaled slopes; None where no dual point is known."""
    l1, l2, beta = objective.l1, objective.l2, _beta(objective, theta)
    if ((l1 == 0) & (l2 == 0) & (pulls != 0)).any():
        return None
    forces, bounded = np.abs(pulls + l2 * beta), l1 > 0
    worst = float(np.max(forces[bounded] / l1[bounded], initial=1.0))
    values = []
    for s in {1.0 / worst, 1.0} if (l2 > 0).all() else {1.0 / worst}:
        conjugate = objective.conjugate(s * r)
        if conjugate is None:
            return None
        over = np.maximum(s * np.abs(pulls) - l1, 0.0)[l2 > 0]
        values.append(-conjugate - 0.5 * float(np.sum(over**2 / l2[l2 > 0])))
    return max(values)


def _direction(objective: ColumnObjective, state: ColumnState) -> ColumnStep:
    """The model's minimiser on the working set, as a change of θ and of η."""
    l1, l2, theta = objective.l1, objective.l2, state.here.theta
    beta, slopes = _beta(objective, theta), state.here.slopes
    columns, whole = working_set(beta, state.pulls + l2 * beta, l1, state.limit)
    found, shift = objective.descend(columns, slopes, beta[columns], share=SHARE, max_sweeps=SWEEPS)
    moves = found - beta[columns]
    swept = _promise(objective, state, columns, moves, objective.change(columns, moves), shift)
    support = columns[found != 0]
    if not support.size:
        return swept._replace(whole=whole)
    faced = _on_face(objective, state, support, swept)
    return max(swept, faced, key=lambda way: way.fall)._replace(whole=whole)


def _promise(
    objective: ColumnObjective,
    state: ColumnState,
    columns: Array,
    moves: Array,
    change: Array,
    shift: float,
) -> ColumnStep:
    """The direction of these moves, with the model's prediction for it."""
    theta, slopes = state.here.theta, state.here.slopes
    d = np.zeros_like(theta)
    d[columns] = moves
    if objective.intercept:
        d[-1] = shift
    beta, l1, l2 = _beta(objective, theta)[columns], objective.l1[columns], objective.l2[columns]
    kept = beta * (beta + moves) > 0  # |β + d| − |β| without cancelling
    longer = np.where(kept, np.sign(beta) * moves, np.abs(beta + moves) - np.abs(beta))
    linear = float(np.sum((state.pulls[columns] + l2 * beta) * moves + l1 * longer))
    decrease = -(linear + shift * float(slopes.slope.sum()))
    d_eta = change + shift
    bend = float(np.dot(slopes.curvature, d_eta**2) + np.dot(l2, moves**2))
    fall = max(decrease - 0.5 * bend, 0.0)
    return ColumnStep(d, d_eta, max(decrease, 0.0), fall, False)


def _on_face(
    objective: ColumnObjective, state: ColumnState, support: Array, swept: ColumnStep
) -> ColumnStep:
    """Conjugate gradients with the signs that the sweeps found; sign changes become 0."""
    slopes, beta = state.here.slopes, _beta(objective, state.here.theta)
    found = beta[support] + _beta(objective, swept.d)[support]
    X, d, l2 = objective.on(support), slopes.curvature, objective.l2[support]
    total = float(d.sum()) if objective.intercept else inf
    cross = np.asarray(X.T @ d)

    def curve(v: Array) -> Array:
        bent = np.asarray(X.T @ (d * np.asarray(X @ v)))
        return bent - cross * (float(np.dot(cross, v)) / total) + l2 * v

    q = slopes.slope + d * swept.d_eta
    force = np.asarray(X.T @ q) + l2 * found + objective.l1[support] * np.sign(found)
    diagonal = objective.curvatures(support, d) - cross**2 / total + l2
    target = found + conjugate_gradients(curve, -force, diagonal)
    target = np.where(target * found > 0, target, 0.0)
    columns = np.union1d(support, np.flatnonzero(beta))
    moves = -beta[columns]
    moves[np.searchsorted(columns, support)] += target
    change = objective.change(columns, moves)
    excess = float(slopes.slope.sum() + np.dot(d, change))
    shift = -excess / total if objective.intercept else 0.0
    return _promise(objective, state, columns, moves, change, shift)


def conjugate_gradients(curve: Callable[[Array], Array], right: Array, diagonal: Array) -> Array:
    """H⁻¹ times ``right``, until the residual is ``CG_SHARE`` of the first, in diagonal units."""
    scale = 1.0 / np.maximum(diagonal, np.finfo(float).tiny)
    x, residual = np.zeros_like(right), right.copy()
    z = scale * residual
    p, rz = z, float(np.dot(residual, z))
    enough = CG_SHARE**2 * rz
    for _ in range(CG_STEPS):
        Hp = curve(p)
        bend = float(np.dot(p, Hp))
        if rz <= enough or bend <= 0.0:
            break
        x, residual = x + rz / bend * p, residual - rz / bend * Hp
        z = scale * residual
        before, rz = rz, float(np.dot(residual, z))
        p = z + rz / before * p
    return x
