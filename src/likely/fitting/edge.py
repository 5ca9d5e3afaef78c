"""Links with a restricted η, such as the identity for counts: starts, and boundary optima.

    low < x_iᵀθ + o_i < high        for every row, with low or high finite

*A start.*  Where the constant model is not valid (an offset, no intercept), least
squares of the distance to a margin δ inside the edges find one, or show that there is none:

    minimise  ½ Σ_i w_i max(0, low + δ − η_i, η_i − high + δ)²/δ²

*An optimum at an edge.*  A count of 0 does not keep its mean away from 0, nor an outcome 1 its mean
away from 1, so the best θ may have rows at an edge.  Halved steps approach it slowly; instead

    f_τ(θ) = f(θ) − τ Σ_i w_i (ln(η_i − low) + ln(high − η_i))        τ → 0

is followed by Newton's method.  For a convex f its minimum is within τ·Σw per edge of min f.  An
inner optimum no longer changes with τ; the slack of a row at an edge keeps shrinking with τ.

References
----------
Boyd & Vandenberghe, Convex Optimization, §11.2 to §11.4 (barriers, the gap, finding a start).
Marschner & Gillett (2012), Relative risk regression: reliable and flexible methods for log-binomial
models, Biostatistics 13.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Interval
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.errors import BoundaryEstimate, InvalidInput, warn_user
from likely.fitting.problem import Problem, linear_problem
from likely.likelihoods.base import Likelihood
from likely.numerics.additive import Additive
from likely.objectives.linear import LinearObjective, PenalisedSum, block_eta, weighted_sum
from likely.output.formatting import short_number
from likely.penalties.base import NoPenalty
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import scale_of
from likely.solvers.tolerances import (
    BARRIER_STEPS,
    CENTRED,
    EDGE_CURVATURE,
    EDGE_DIFFERENCE,
    EDGE_RANK,
    FIRST_BARRIER,
    LAST_BARRIER,
    NEAR_EDGE,
    NEXT_BARRIER,
    PLAIN_STEPS,
    SHRINKING,
    TOUCHING,
)

EVERYWHERE = Interval(-inf, inf)
MARGINS = 10.0 ** -np.arange(1.0, 9.0)  # tried, as parts of the size of η
ARMIJO, SHORTEST = 1e-4, 2.0**-30


@final
@dataclass(frozen=True)
class Outside:
    """Half the squared shortfall of η from a margin inside the edges, in units of the margin."""

    etas: Interval
    margin: float

    def nll(self, y: Array, eta: Array) -> Array:
        return np.square(self._missing(eta)) / 2

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        missing = self._missing(eta)
        curvature = np.where(missing != 0, 1.0, EDGE_CURVATURE) / self.margin**2
        return np.square(missing) / 2, missing / self.margin, curvature

    def _missing(self, eta: Array) -> Array:
        low, high = self.etas.low + self.margin, self.etas.high - self.margin
        return (np.maximum(eta - high, 0.0) - np.maximum(low - eta, 0.0)) / self.margin


@final
@dataclass(frozen=True)
class Barriered:
    """A likelihood plus −τ ln of the distance to each finite edge.

    Near an edge the expected curvature grows although the loss of a row may have none: 1/η for a
    count of 0.  Newton's steps would be short, so the curvature is that of the loss itself.
    """

    likelihood: Likelihood
    tau: float

    def nll(self, y: Array, eta: Array) -> Array:
        nll = self.likelihood.nll(y, eta)
        for distance, _ in self._distances(eta):
            inside = np.where(distance > 0, distance, 1.0)
            nll = np.where(distance > 0, nll - self.tau * np.log(inside), np.inf)
        return nll

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        slope, curvature = self.likelihood.derivatives(y, eta)[1], self._curvature(y, eta)
        for distance, sign in self._distances(eta):
            inside = np.where(distance > 0, distance, 1.0)
            slope = slope - sign * self.tau / inside
            curvature = curvature + self.tau / np.square(inside)
        return self.nll(y, eta), slope, curvature

    def _distances(self, eta: Array) -> Iterator[tuple[Array, float]]:
        """The distance from each finite edge, and on which side of it η is."""
        for end, sign in zip(self.likelihood.etas, (1.0, -1.0), strict=True):
            if isfinite(end):
                yield sign * (eta - end), sign

    def _curvature(self, y: Array, eta: Array) -> Array:
        """nll″ by differences of nll′, and 0 where it is negative."""
        reach = EDGE_DIFFERENCE * np.abs(_distance(self.likelihood, eta))
        below, above = (self.likelihood.derivatives(y, eta + s * reach)[1] for s in (-1, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(np.maximum((above - below) / (2 * reach), 0.0), posinf=0.0)


@final
@dataclass(frozen=True, eq=False)
class Slack(Additive):
    """How far rows are from the nearest edge."""

    least: float
    mean: float  # Σ w slack
    stiffness: float  # Σ w nll″ slack², in nats
    weight: float
    near: float  # Σ w of rows nearer than asked

    def __add__(self, other: "Slack") -> "Slack":
        return Slack(
            min(self.least, other.least),
            self.mean + other.mean,
            self.stiffness + other.stiffness,
            self.weight + other.weight,
            self.near + other.near,
        )


class EdgeOptimum(NamedTuple):
    """Where a search along the barrier ended."""

    found: Found
    n_rows: float  # Σ w of rows at an edge; 0 where the optimum is inside
    likelihood: Likelihood


def valid_start(
    likelihood: Likelihood, start: Array, eta: float, blocks: Blocks, executor: Executor
) -> Array:
    """``start``, or a nearby valid point if some row is not valid there."""
    slack = partial(slack_of, likelihood, blocks, executor)
    if slack(start).least > 0:
        return start
    etas, size = likelihood.etas, _distance(likelihood, np.asarray(eta))
    for margin in MARGINS * float(size):
        objective = LinearObjective(Outside(etas, margin), NoPenalty(), blocks, executor)
        theta = minimise(Newton(), objective, start, tol=1e-9, max_iter=BARRIER_STEPS).theta
        if slack(theta).least > 0:
            return np.asarray(theta)
    raise InvalidInput(
        f"No coefficients were found that give every row a valid mean: the link "
        f"{likelihood.link.name!r} of a {likelihood.response.name} response needs predictors "
        f"between {etas.low:g} and {etas.high:g}. Keep the intercept, or use the link "
        f"{'logit' if likelihood.response.means.high == 1 else 'log'!r}."
    )


def steps_allowed(
    problem: Problem, likelihood: Likelihood, solver: str | StochasticDescent, max_iter: int
) -> int:
    """The maximum number of steps of a search: halved steps at an edge make little progress."""
    free = likelihood.etas == EVERYWHERE or problem.shape.rough
    return max_iter if free or solver not in ("auto", "newton") else min(max_iter, PLAIN_STEPS)


def optimum_at_edge(
    problem: Problem, likelihood: Likelihood, found: Found, start: Array, *, tol: float
) -> EdgeOptimum | None:
    """The optimum by a barrier method, if a search ended near an edge or did not converge."""
    if likelihood.etas == EVERYWHERE or problem.shape.rough:
        return None
    slack = partial(slack_of, likelihood, problem.data.blocks, problem.executor)
    edge = None
    if found.solution.converged:
        here = slack(found.theta)
        near = NEAR_EDGE * _usual(likelihood, here)
        if here.least > near:
            return None
        edge = EdgeOptimum(found, slack(found.theta, near).near, likelihood)
    barrier = _Barrier(problem, likelihood, found, slack).follow(start, tol)
    if edge is None:
        return barrier
    value, scale = problem.objective.value, partial(scale_of, problem.objective)
    before, after = value(found.theta), value(barrier.found.theta)
    lower = before < after - 2 * tol * scale(after)  # of several optima, that of the search
    inner = not barrier.n_rows and not after < before - 2 * tol * scale(before)
    return edge if lower else None if inner else barrier


class _Barrier(NamedTuple):
    problem: Problem
    likelihood: Likelihood
    found: Found
    slack: Callable[..., Slack]

    def follow(self, begin: Array, tol: float) -> EdgeOptimum:
        """Newton at one τ after the other; the last is so small that its gap is within tol."""
        theta, at = begin, self.slack(begin)
        nats = at.stiffness / at.weight
        value = self.problem.objective.value(theta)
        scale = scale_of(self.problem.objective, value)
        last = min(LAST_BARRIER * nats, tol * scale / at.weight / 10)
        tau, slacks, trace = FIRST_BARRIER * nats, list[float](), [value]
        touching = TOUCHING * _usual(self.likelihood, at)
        while tau > last / 2 and (len(slacks) < 3 or slacks[-1] > touching):
            theta = self._centred(theta, tau, at.weight)
            slacks.append(self.slack(theta).least)
            trace.append(self.problem.objective.value(theta))
            tau *= NEXT_BARRIER
        shrunk = slacks[-1] < max(SHRINKING * slacks[-3], touching)
        near = self.slack(theta, max(2 * slacks[-3], touching) if shrunk else 0.0).near
        gap = tau / NEXT_BARRIER * at.weight * sum(map(isfinite, self.likelihood.etas)) / scale
        solution = Solution(
            theta, True, self._reason(near, gap), tuple(trace), gap, "barrier", None
        )
        found = replace_found(self.found, theta, solution)
        return EdgeOptimum(found, near, self.likelihood)

    def _reason(self, near: float, gap: float) -> str:
        where = f"{_rows(near)} at the edge" if near else "it is inside the valid range"
        return f"a barrier method found an optimum within {gap:.1e}; {where}"

    def _centred(self, theta: Array, tau: float, weight: float) -> Array:
        of = self.problem
        loss = Barriered(self.likelihood, tau)
        objective = linear_problem(loss, of.penalty, of.data, of.executor).objective
        enough = CENTRED * tau * weight
        return damped_newton(
            objective, theta, decrement=enough, steps=BARRIER_STEPS, held=self.found.held
        )


def damped_newton(
    objective: PenalisedSum,
    theta: Array,
    *,
    decrement: float,
    steps: int,
    held: tuple[int, ...] = (),
) -> Array:
    """Newton's method with halved steps, for objectives that are stiff: until gᵀH⁻¹g is small."""
    free = np.setdiff1d(np.arange(theta.size), held)
    for _ in range(steps):
        here = objective.second_order(theta)
        step = np.zeros(theta.size)
        step[free] = -_solved(here.hessian[np.ix_(free, free)], here.gradient[free])
        decrease = -float(np.dot(here.gradient, step))
        if decrease < decrement:
            return theta
        t = 1.0
        while t > SHORTEST and not (
            objective.value(theta + t * step) <= here.value - ARMIJO * t * decrease
        ):
            t /= 2
        if t <= SHORTEST:
            return theta
        theta = theta + t * step
    return theta


def _solved(hessian: Array, gradient: Array) -> Array:
    """H⁻¹g on the range of H scaled to a unit diagonal: rows at an edge make it ill-conditioned."""
    scale = 1 / np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))
    scaled = hessian * scale * scale[:, None]
    return np.asarray(scale * np.linalg.lstsq(scaled, scale * gradient, rcond=EDGE_RANK)[0])


def replace_found(found: Found, theta: Array, solution: Solution) -> Found:
    """The search with another end; what was computed at the old end is discarded."""
    return found._replace(theta=theta, solution=solution, hessian=None, direction=None)


def warn_of_edge(name: str, edge: EdgeOptimum) -> None:
    """Warn, in the name of an estimator, of rows whose mean is at the edge."""
    response = edge.likelihood.response
    low, high = response.means
    ends = " or ".join(f"{end:g}" for end in (low, high) if isfinite(end))
    warn_user(
        f"{name}: the best coefficients give {_rows(edge.n_rows)} a mean at the edge "
        f"of what a {response.name} response can have ({ends}). The estimate is on the "
        "boundary and has no standard errors. Use another link, or give a penalty (l2=1.0).",
        BoundaryEstimate,
    )


def _rows(weight: float) -> str:
    return "1 row" if weight == 1 else f"{short_number(weight)} rows"


def slack_of(
    likelihood: Likelihood, blocks: Blocks, executor: Executor, theta: Array, near: float = 0.0
) -> Slack:
    return executor.sum(partial(block_slack, likelihood, theta, near), blocks)


def block_slack(likelihood: Likelihood, theta: Array, near: float, block: Block) -> Slack:
    eta, weight = block_eta(theta, block), block.weight
    slack = _distance(likelihood, eta)
    if weight is not None:
        slack = np.where(weight > 0, slack, inf)  # weight 0 is the row absent
    counted = np.where(np.isfinite(slack), slack, 0.0)
    curvature = likelihood.derivatives(block.target, eta)[2]
    return Slack(
        float(slack.min(initial=inf)),
        weighted_sum(weight, counted),
        weighted_sum(weight, curvature * np.square(counted)),
        weighted_sum(weight, np.ones(len(eta))),
        weighted_sum(weight, (slack < near).astype(float)),
    )


def _usual(likelihood: Likelihood, slack: Slack) -> float:
    """The scale of a slack: a quarter of the valid η, or the mean for an infinite range."""
    low, high = likelihood.etas
    return (high - low) / 4 if isfinite(high - low) else slack.mean / slack.weight


def _distance(likelihood: Likelihood, eta: Array) -> Array:
    """The distance from η to the nearest finite edge; negative where η is not valid."""
    low, high = likelihood.etas
    return np.minimum(eta - low, high - eta)
