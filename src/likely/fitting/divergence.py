"""Whether a maximum of the likelihood exists, judged from a search that diverges.

A direction d leads to infinity if no example loses along it and some gain without limit:

    y at the lower end of the means, or at the upper       s_i x_iᵀd ≥ 0, and > 0 for some i
    y between them                                         x_iᵀd = 0

where s_i is the direction in which the predictor of example i improves its fit: classes 1 and 0,
counts of 0 under a log link.  A search shows it: along d the curvature has vanished between the
start θ₀ and the end.

    dᵀH(θ̂)d ≪ dᵀH(θ₀)d

That may also be a very good fit.  A linear program over the examples decides; with too many
examples, or more than one predictor, the value far out along d decides.

    f(θ̂ + s d) ≤ f(θ̂), s large

f is convex, so if f has not increased far out, it increases nowhere before.

References
----------
Albert & Anderson, On the existence of maximum likelihood estimates in logistic regression models,
1984.  Correia, Guimarães & Zylkin, Verifying the existence of maximum likelihood estimates for
generalized linear models, 2019.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import LinAlgError, eigh

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.fitting.problem import Problem
from likely.fitting.separation import LEAST_MARGIN, solve_program
from likely.likelihoods.base import Likelihood
from likely.numerics.additive import Additive
from likely.numerics.cholesky import unit_diagonal
from likely.objectives.linear import Total
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found

SUSPECT = 0.05  # of the curvature at the start, in some direction
FADED = 1e-2  # of the curvature at the start: a model that fits well keeps more
MOVING = 1e-2  # Σ w η²: one example that moves by 1 makes more, a step that converged less
FAR = 30.0  # steps of about 1 in the linear predictor: beyond, a probability is 0 or 1
RISE = 1e-6  # relative: a value that rises by less has no minimum
MOST_NAMED = 5  # columns in a warning
NOTHING_LEFT = 1e-3  # nats per row: a fit that loses less may be a separation
SHARE = 0.05  # of the strongest column: weaker ones are not named
MOST_CELLS = 200_000  # of a linear program to begin with
MOST_ADDED = 100  # rows of a block that one round adds to it
ROUNDS = 30
MOST_FOR_A_HESSIAN = 2000  # coefficients, to see whether the curvature has vanished
SUM_ROUNDING = 1e-9  # relative, of a sum of many terms
NO_LENGTH = 1e-12  # a squared length, relative to the largest
JITTER = 1e-10  # of a unit diagonal: directions without curvature at both points have not vanished


@final
@dataclass(frozen=True, eq=False)
class Sides(Additive):
    """Rows with the direction that improves the fit of each."""

    rows: Array  # (n, p)
    side: Array  # (n,): −1, 0 or 1

    def __add__(self, other: "Sides") -> "Sides":
        return Sides(
            np.concatenate([self.rows, other.rows]), np.concatenate([self.side, other.side])
        )

    def at(self, chosen: Array | slice) -> "Sides":
        return Sides(self.rows[chosen], self.side[chosen])


@final
@dataclass(frozen=True, eq=False)
class SideTotals(Additive):
    """What the linear program needs of all rows, and some of them to begin with."""

    wish: Array  # Σ s_i x_i
    bound: Array  # Σ x_i x_iᵀ of the rows that may not move
    largest: Array  # |x_ij|, one per column
    ends: tuple[float, float]  # the least and the largest s_i
    some: Sides

    def __add__(self, other: "SideTotals") -> "SideTotals":
        return SideTotals(
            self.wish + other.wish,
            self.bound + other.bound,
            np.maximum(self.largest, other.largest),
            (min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1])),
            self.some + other.some,
        )


def block_side_rows(likelihood: Likelihood, free: Array, block: Block) -> Sides:
    """The examples that count, on the columns without a penalty."""
    seen = Sides(
        block.X.matmat(np.eye(block.X.n_features)[:, free]), sides(likelihood, block.target)
    )
    return seen if block.weight is None else seen.at(block.weight > 0)


def block_sides(likelihood: Likelihood, free: Array, every: int, block: Block) -> SideTotals:
    seen = block_side_rows(likelihood, free, block)
    fixed = seen.rows[seen.side == 0]
    return SideTotals(
        np.dot(seen.side, seen.rows),
        np.dot(fixed.T, fixed),
        np.abs(seen.rows).max(axis=0, initial=0.0),
        (float(seen.side.min(initial=1.0)), float(seen.side.max(initial=-1.0))),
        seen.at(seen.side != 0).at(slice(None, None, every)),
    )


def block_losers(likelihood: Likelihood, free: Array, direction: Array, block: Block) -> Sides:
    """The rows that lose most by a direction, and the one that gains most."""
    seen = block_side_rows(likelihood, free, block)
    gained = seen.side * np.dot(seen.rows, direction)
    order = np.argsort(gained, kind="stable")
    worst = order[: min(MOST_ADDED, int(np.sum(gained < -LEAST_MARGIN)))]
    return seen.at(np.append(worst, order[-1:]))


def sides(likelihood: Likelihood, y: Array) -> Array:
    """The sign of an infinite predictor that would fit y, or 0 if there is none."""
    ends = np.asarray(likelihood.response.means, dtype=float)
    inside = np.clip(ends, *likelihood.link.means)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        eta = np.asarray(likelihood.link.link(inside), dtype=float)
    wanted = np.where(np.isinf(eta) & np.isfinite(ends), np.sign(eta), 0.0)
    return np.asarray(np.where(y == ends[0], wanted[0], np.where(y == ends[1], wanted[1], 0.0)))


def may_diverge(hessian: Array, at_start: Array) -> bool:
    """Whether the curvature has vanished in some direction between the start and the end."""
    scale, unit = unit_diagonal(at_start)
    jitter = JITTER * np.eye(len(unit))
    try:
        end = hessian / scale[:, None] / scale + jitter
        least = eigh(end, unit + jitter, eigvals_only=True, subset_by_index=[0, 0])
    except (LinAlgError, ValueError):
        return True
    return bool(least[0] < SUSPECT)


def recession(
    likelihood: Likelihood, free: Array, blocks: Blocks, executor: Executor
) -> Array | None:
    """A direction in which no example loses and some gain without limit, if there is one.

    The linear program has some of the rows; those that lose by its solution are added.
    """
    cells = (blocks.n_rows or MOST_CELLS) * int(free.sum())
    term = partial(block_sides, likelihood, free, -(-cells // MOST_CELLS))
    seen = executor.sum(term, blocks)
    direction = np.zeros(free.size)
    constant = np.ptp(seen.some.rows[:, -1]) == 0 if seen.some.rows.size else False
    if constant and seen.ends[0] == seen.ends[1] != 0:
        direction[np.flatnonzero(free)[-1]] = seen.ends[0]  # all y at one end: the intercept alone
        return direction
    if constant and free.sum() == 1:
        return None
    scale = np.where(seen.largest > 0, seen.largest, 1.0)
    basis = _null_space(seen.bound / scale[:, None] / scale)
    if not basis.shape[1] or not seen.wish.any():
        return None
    wish = np.dot(seen.wish / scale, basis)
    wish, some = wish / max(float(np.abs(wish).max()), 1e-300), seen.some
    for _ in range(ROUNDS):
        S = np.unique(some.side[:, None] * some.rows / scale, axis=0) @ basis
        found = solve_program(-wish, -S, np.zeros(len(S)), [(-1.0, 1.0)] * S.shape[1])
        direction[free] = np.dot(basis, found.x) / scale
        met = executor.sum(partial(block_losers, likelihood, free, direction[free]), blocks)
        gained = met.side * np.dot(met.rows, direction[free])
        if not gained.max(initial=0.0) > LEAST_MARGIN:
            return None
        if gained.min() >= -LEAST_MARGIN:
            return direction
        some = some + met.at(gained < -LEAST_MARGIN)
    return None


def _null_space(gram: Array) -> Array:
    """The null directions of this Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors[:, values <= NO_LENGTH * max(float(values[-1]), 0.0)])


def block_unseparated(likelihood: Likelihood, direction: Array, block: Block) -> Total:
    """Σ x xᵀ of all rows, and of those that do not gain by a direction."""
    gained = sides(likelihood, block.target) * block.X.matmat(direction[:, None])[:, 0]
    counts = np.ones(block.n_rows) if block.weight is None else (block.weight > 0).astype(float)
    kept = counts * (gained <= LEAST_MARGIN)
    return Total(np.stack([block.X.sandwich(counts), block.X.sandwich(kept)]))


def separated_directions(
    likelihood: Likelihood, direction: Array, blocks: Blocks, executor: Executor
) -> Array:
    """All directions, (p, k), that move only the rows that this one separates.

    The other rows alone do not determine them: Correia, Guimarães & Zylkin, §3.
    """
    term = partial(block_unseparated, likelihood, direction)
    whole, kept = np.asarray(executor.sum(term, blocks).value)
    scale = np.sqrt(np.diag(whole))
    scale = np.where(scale > 0, scale, 1.0)
    along = _null_space(kept / scale[:, None] / scale) / scale[:, None]
    return np.column_stack([direction, along])


class Divergence(NamedTuple):
    """A direction along which the likelihood never decreases."""

    direction: Array
    columns: tuple[int, ...]  # the entries that make it, the strongest first

    @classmethod
    def along(cls, direction: Array, at_start: Array) -> "Divergence":
        return cls(direction, strongest(direction, at_start))


@final
@dataclass(frozen=True, eq=False)
class Reach(Additive):
    """The smallest and largest s_i x_iᵀd along some directions."""

    low: Array
    high: Array

    def __add__(self, other: "Reach") -> "Reach":
        return Reach(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def block_reach(likelihood: Likelihood, directions: Array, block: Block) -> Reach:
    """An example between the ends would lose either way: its change counts against d."""
    moved = block.X.matmat(directions)
    if block.weight is not None:
        moved = moved * (block.weight > 0)[:, None]
    side = sides(likelihood, block.target)[:, None]
    gained = np.where(side == 0, -np.abs(moved), side * moved)
    return Reach(gained.min(axis=0, initial=0.0), gained.max(axis=0, initial=0.0))


def block_side_totals(likelihood: Likelihood, block: Block) -> Total:
    """Σx and Σsx of each column."""
    counts = np.ones(block.n_rows) if block.weight is None else (block.weight > 0).astype(float)
    side = counts * sides(likelihood, block.target)
    return Total(block.X.rmatmat(np.column_stack([counts, side])))


def deciding_columns(likelihood: Likelihood, blocks: Blocks, executor: Executor) -> Array:
    """Some columns whose rows all have the same s_i, such as rare categories.

    Of cells of 0 and above Σx and |Σsx| are the same then, but for the order of their sums; a
    second pass confirms it.
    """
    totals = np.asarray(executor.sum(partial(block_side_totals, likelihood), blocks).value)
    total, on_side = totals.T
    one_sided = np.abs(on_side) >= (1 - SUM_ROUNDING) * np.abs(total)
    suspects = np.flatnonzero((total != 0) & one_sided)[:MOST_NAMED]
    if not suspects.size:
        return suspects
    directions = np.zeros((blocks.n_features, suspects.size))
    directions[suspects, np.arange(suspects.size)] = np.sign(on_side[suspects])
    reach = executor.sum(partial(block_reach, likelihood, directions), blocks)
    return suspects[(reach.low == 0) & (reach.high > 0)]


def diverging(
    value: Callable[[Array], float],
    theta: Array,
    direction: Array,
    hessian: Array,
    at_start: Array,
    *,
    per_row: float = 1.0,
    mean_weight: float = 1.0,
) -> Divergence | None:
    """The direction to infinity, if there is one; costs two or three evaluations if suspected.

    ``per_row`` is the curvature in η that an example has at the start, with its weight.  Where
    everything is separated there may be no further step; θ itself is then used as the direction.
    """
    unit = min(1.0, mean_weight)  # not above: a rare group may count for 1 beside millions
    for d, far in ((direction, FAR), (theta, 1.0)):
        before = float(d @ at_start @ d)
        if not before > MOVING * min(unit, per_row) or float(d @ hessian @ d) > FADED * before:
            continue
        columns = strongest(d, at_start)
        # a fit that is very good ends with a tiny step: twice the distance so far is far
        reach = max(far, abs(float(theta[columns[0]] / d[columns[0]])))
        here = value(theta)
        with np.errstate(over="ignore", invalid="ignore"):  # a value that overflows has risen
            there = value(theta + reach * d)
        if there <= here + RISE * max(unit, abs(here)):
            return Divergence(d, columns)
    return None


def wholly_separated(
    value: Callable[[Array], float], theta: Array, *, total_weight: float, n_columns: int
) -> Divergence | None:
    """Without a Hessian: whether 2θ fits far better, with every row fitted in its direction."""
    here, most = value(theta), NOTHING_LEFT * total_weight
    if not theta.any() or not 0 <= here < most or value(2 * theta) > here / 2:
        return None
    order = np.argsort(-np.abs(theta[:n_columns]), kind="stable")
    return Divergence(theta, tuple(int(j) for j in order[:MOST_NAMED]))


def strongest(direction: Array, at_start: Array) -> tuple[int, ...]:
    strength = np.abs(direction) * np.sqrt(np.maximum(np.diag(at_start), 0.0))
    order = np.argsort(-strength, kind="stable")
    return tuple(int(j) for j in order if strength[j] >= SHARE * strength[order[0]])


def divergence(problem: Problem, found: Found, start: Array) -> Divergence | None:
    """A direction without a penalty in which the likelihood never decreases."""
    free = problem.penalty.free(found.theta.size)
    if not free.any():
        return None
    if found.theta.size > MOST_FOR_A_HESSIAN:
        return _divergence_of_many(problem, found)
    unknown = found.hessian is None  # that of all columns costs more than a look at one
    if unknown and free.sum() == 1 and isinstance(problem.loss, Likelihood):
        direction = recession(problem.loss, free, problem.data.blocks, problem.executor)
        return None if direction is None else Divergence(direction, (int(np.argmax(free)),))
    found = with_direction(problem, found)
    at_start = problem.on_start_rows.second_order(start).hessian / problem.data.share
    if not (np.diag(at_start) > 0).all():  # a column that none of the rows to start from have
        at_start = problem.objective.second_order(start).hessian
    on_free = np.ix_(free, free)
    sure = found.solution.converged
    if sure and not may_diverge(np.asarray(found.hessian)[on_free], at_start[on_free]):
        return None
    if isinstance(problem.loss, Likelihood):
        direction = recession(problem.loss, free, problem.data.blocks, problem.executor)
        return None if direction is None else Divergence.along(direction, at_start)
    return divergence_far_out(problem, found, at_start)


def with_direction(problem: Problem, found: Found) -> Found:
    """With the Hessian at the end and the next Newton step: known, or from one more pass."""
    if found.direction is not None and found.hessian is not None:
        return found
    state = Newton(problem.intercepts).init(problem.objective, found.theta)
    return found._replace(hessian=state.hessian, direction=state.direction)


def divergence_far_out(problem: Problem, found: Found, at_start: Array) -> Divergence | None:
    """By the value far out along the next step, where no linear program decides."""
    direction = np.asarray(found.direction)
    if problem.penalty.value(direction) > 0 or not np.isfinite(direction).all():
        return None
    n_rows = (problem.data.start.n_rows or 1) / problem.data.share
    intercept = problem.data.framing.intercept
    return diverging(
        problem.objective.value,
        found.theta,
        direction,
        np.asarray(found.hessian),
        at_start,
        per_row=at_start[-1, -1] / n_rows if intercept else problem.mean_weight,
        mean_weight=problem.mean_weight,
    )


def _divergence_of_many(problem: Problem, found: Found) -> Divergence | None:
    """Check without a Hessian: a column that separates its rows, or all rows separated."""
    data, likelihood = problem.data, problem.loss
    if problem.penalty.value(found.theta) > 0:
        return None
    if isinstance(likelihood, Likelihood):
        deciding = deciding_columns(likelihood, data.rows, problem.executor)
        if deciding.size:
            direction = np.zeros(found.theta.size)
            direction[deciding] = 1.0
            return Divergence(direction, tuple(deciding.tolist()))
    return wholly_separated(
        problem.objective.value,
        found.theta,
        total_weight=problem.mean_weight * (data.rows.n_rows or 1),
        n_columns=data.framing.n_coefficients,
    )
