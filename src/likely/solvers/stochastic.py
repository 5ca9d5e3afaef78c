"""Stochastic gradient descent: by example, by mini-batch, or by sampled batch.

    in epoch t, for each batch I_k:    g = mean of ∇L over I_k + c_k ∇R        θ ← update(θ, g, η_t)

One step of the search is one epoch, after which the objective is evaluated: so a trace, a rule that
stops and held-out rows mean the same as for every other solver.  What an epoch does depends on
(seed, epoch, θ, slots) alone, so a search may be continued from any state.

Gradients of batches say nothing certain about the distance to the optimum: the gap is infinite, and
the solver never calls itself converged.  ``patience`` ends it where epochs no longer help, and the
best epoch is then kept.

With ``average`` the answer of an epoch is the mean of θ over its steps, which removes most of the
noise of the last steps.

As the solver of a model, the search sees batches only.  Its end is judged afterwards by one pass:
½ gᵀH⁻¹g, the gap that Newton's method, or proximal Newton, certifies there.  Where a Hessian is too
costly the gap stays unknown.  The search has converged only if that gap is within ``tol``.  It is
taken as stopped on purpose, without a warning, if all its epochs are done or no longer help and the
gap is small for predictions.

References
----------
Robbins & Monro, A stochastic approximation method, 1951.
Polyak & Juditsky, Acceleration of stochastic approximation by averaging, 1992.
Bottou, Stochastic gradient descent tricks, 2012 (a rate that is tried on some examples).
"""

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.names import lookup
from likely.solvers.base import Solver, State
from likely.solvers.batched import PENALTY_SCALINGS, Batch, BatchedObjective
from likely.solvers.mini_batches import BatchPlan, batches_of
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.proximal_newton import ProximalNewton
from likely.solvers.schedules import Schedule, schedule_of
from likely.solvers.search_problem import Found, Limits, SearchProblem
from likely.solvers.settings import refuse_step, refuse_unless_number, refuse_unless_whole
from likely.solvers.stopping import scale_of, steps_since_best
from likely.solvers.updates import Update, update_of

FACTOR = 10**0.5  # between two rates that are tried
MOST_RATES = 24  # up from 1, and down: twelve decades
NO_FALL, EPOCHS_DONE = "the objective has not fallen", "all epochs are done"
SMALL_GAP = 1e-4  # of the null deviance: a fit that is as good for predictions
ADVICE = ". More epochs of StochasticDescent come nearer; solver='auto' finds the exact optimum"


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class StochasticState(State):
    """θ, what the update remembers, and what the next epoch depends on."""

    phi: Array  # the parameters after the last step, in the units of the objective
    slots: Array  # (n_slots, p)
    steps: int  # updates so far
    rate: float  # η₀
    losses: tuple[float, ...]  # F from the start to now
    best: tuple[float, Array]  # the least F, and θ there

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return len(self.losses) - 1


@final
@dataclass(frozen=True)
class StochasticDescent(Solver[BatchedObjective, StochasticState]):
    """Stochastic gradient descent, for ``minimise`` and as ``solver`` of linear models.

    Attributes
    ----------
    learning_rate : float, optional
        η₀; by default the best of a few that are tried on some examples.
    batch : int or BatchPlan
        Examples of a step; or ``SampledBatches``, ``BalancedBatches``.
    update : str or Update
        A name of ``UPDATES``, or a rule such as ``Momentum(0.9)`` or ``Clip(1.0) | Adam()``.
    schedule : str or Schedule
        A name of ``SCHEDULES``, or an instance, which then has its own rate.
        ``ReduceOnPlateau`` reads the objective after each epoch.
    epochs : int
        The largest number of epochs.
    penalty_scaling : {"sum", "mean", "epoch"}
        How a batch shares the penalty: see ``PENALTY_SCALINGS``.
    shuffle : bool
        Whether each epoch has an order of its own; otherwise rows come as they are.
    average : bool
        Whether the answer of an epoch is the mean of its steps.
    patience : int or None
        Epochs without a fall of the objective after which it ends, and the best epoch is kept.
    least : float
        A smaller fall, in units of the objective, is none.
    seed : int
    """

    learning_rate: float | None = None
    batch: int | BatchPlan = 32
    update: str | Update = "sgd"
    schedule: str | Schedule = "inverse-time"
    epochs: int = 100
    penalty_scaling: str = "sum"
    shuffle: bool = True
    average: bool = False
    patience: int | None = None
    least: float = 1e-6
    seed: int = 0

    name: ClassVar[str] = "stochastic gradient descent"

    def __post_init__(self) -> None:
        if self.learning_rate is not None:
            refuse_step("learning_rate", self.learning_rate)
        refuse_unless_whole("StochasticDescent", "epochs", self.epochs, "Use 100.")
        refuse_unless_number("StochasticDescent", "least", self.least, "Use 1e-6.")
        if self.patience is not None:
            refuse_unless_whole("StochasticDescent", "patience", self.patience, "Use 5.")
        lookup("penalty scaling", self.penalty_scaling, PENALTY_SCALINGS)
        batches_of(self.batch), update_of(self.update), self._schedule(1.0)

    def init(self, objective: BatchedObjective, theta: Array) -> StochasticState:
        if not isinstance(objective, BatchedObjective):
            raise InvalidInput(
                f"StochasticDescent was given {objective!r}; an objective in batches was expected. "
                "Use model.objective(X, y).in_batches(), or ExampleLosses."
            )
        theta = np.array(theta, dtype=float)
        value = self._value(objective, theta)
        phi = theta if objective.units is None else theta * objective.units
        rate = self.learning_rate
        if rate is None:
            rate = tried_rate(self, objective, phi) if isfinite(value) else 1.0
        return StochasticState(
            theta=theta,
            value=value,
            gap=inf,
            stuck="" if isfinite(value) else "the value at the start is not finite",
            phi=phi,
            slots=update_of(self.update).slots_for(phi),
            steps=0,
            rate=rate,
            losses=(value,),
            best=(value, theta),
        )

    def step(self, objective: BatchedObjective, state: StochasticState) -> StochasticState:
        """One epoch."""
        plan = batches_of(self.batch, shuffle=self.shuffle)
        rate = self._schedule(state.rate).rate(state.epoch, state.losses[1:])
        read = objective.batches(plan, self.seed, state.epoch)
        phi, mean, slots, steps = self._through(objective, state, read, rate)
        theta = in_own_units(objective, mean if self.average else phi)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._value(objective, theta) if np.isfinite(theta).all() else inf
        if not isfinite(value):
            return self._diverged(state, rate)
        best = (value, theta) if value < state.best[0] else state.best
        moved = replace(
            state,
            theta=theta,
            value=value,
            phi=phi,
            slots=slots,
            steps=steps,
            losses=(*state.losses, value),
            best=best,
        )
        return self._ended(objective, moved)

    def _diverged(self, state: StochasticState, rate: float) -> StochasticState:
        """The best state before an epoch that led to infinity."""
        (value, theta), epoch = state.best, state.losses.index(state.best[0])
        stuck = (
            f"the loss is not finite after epoch {state.epoch + 1} at a learning rate of "
            f"{rate:.3g}, which is too high; epoch {epoch} is kept, the best before. "
            "Use a smaller one"
        )
        return replace(state, value=value, theta=theta, stuck=stuck)

    def _through(
        self, objective: BatchedObjective, state: StochasticState, read: Any, rate: float
    ) -> tuple[Array, Array, Array, int]:
        """φ after all batches, its mean over them, the slots, and the number of steps so far."""
        update, units = update_of(self.update).at(state.epoch), objective.units
        phi, slots, steps = state.phi.copy(), state.slots.copy(), state.steps
        total = np.zeros_like(phi)
        with np.errstate(over="ignore", invalid="ignore"):  # a rate too high is noticed afterwards
            for batch in read:
                steps += 1
                gradient = self._gradient(objective, batch, in_own_units(objective, phi))
                update.apply(
                    phi, gradient if units is None else gradient / units, slots, steps, rate
                )
                total += phi
        return phi, total / max(steps - state.steps, 1), slots, steps

    def _gradient(self, objective: BatchedObjective, batch: Batch, theta: Array) -> Array:
        share = objective.share(self.penalty_scaling, batch)
        return objective.gradient_of(batch, theta, share)[1]

    def _ended(self, objective: BatchedObjective, state: StochasticState) -> StochasticState:
        """The state, stuck if no further epoch is to come; with patience, the best epoch then."""
        stuck = f"{EPOCHS_DONE} ({self.epochs})" if state.epoch >= self.epochs else ""
        if self.patience is not None:
            least = self.least * scale_of(objective, state.value)
            if steps_since_best(state.losses, least) >= self.patience:
                stuck = f"{NO_FALL} for {self.patience} epochs"
        if not stuck or self.patience is None:
            return replace(state, stuck=stuck)
        value, theta = state.best
        return replace(state, stuck=stuck, value=value, theta=theta)

    def _value(self, objective: BatchedObjective, theta: Array) -> float:
        size = batches_of(self.batch).size
        return objective.trained_value(theta, self.penalty_scaling, size)

    def _schedule(self, rate: float) -> Schedule:
        return schedule_of(self.schedule, rate, self.epochs)


def in_own_units(objective: BatchedObjective, phi: Array) -> Array:
    """θ from the parameters in the units of the objective."""
    return phi if objective.units is None else phi / objective.units


def tried_rate(solver: StochasticDescent, objective: BatchedObjective, phi: Array) -> float:
    """The rate that lowers the mean loss of some examples most in one epoch over them."""
    plan = batches_of(solver.batch)
    some = objective.trial_batches(plan.size)
    share = objective.share(solver.penalty_scaling, some[0])

    def mean(end: Array) -> float:
        theta = in_own_units(objective, end)
        losses = [objective.gradient_of(batch, theta, 0.0)[0] * batch.n_rows for batch in some]
        n_rows = sum(batch.n_rows for batch in some)
        return sum(losses) / n_rows + share * objective.penalty_value(theta)

    blank = StochasticState(
        theta=phi,
        value=inf,
        gap=inf,
        phi=phi,
        slots=update_of(solver.update).slots_for(phi),
        steps=0,
        rate=1.0,
        losses=(inf,),
        best=(inf, phi),
    )

    def reached(rate: float) -> float:
        end = solver._through(objective, blank, some, rate)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return mean(end) if np.isfinite(end).all() else inf

    best, least = 1.0, reached(1.0)
    for factor in (FACTOR, 1 / FACTOR):
        rate = best
        for _ in range(MOST_RATES):
            rate *= factor
            found = reached(rate)
            if found < least:
                best, least = rate, found
            elif factor > 1 or isfinite(least):  # below a rate that diverges another may not
                break
    return best


def search_in_batches(
    solver: StochasticDescent, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    """The end of a search by batches, with its gap where that can be known."""
    batched = problem.batches(start)
    if solver.penalty_scaling != "sum" and batched.penalty_value(np.ones_like(start)) > 0:
        raise InvalidInput(
            f"penalty_scaling={solver.penalty_scaling!r} was given to the solver of a model, whose "
            "penalty stands beside the sum of its losses; 'sum' was expected. Multiply the penalty "
            "instead, or use minimise with objective(X, y).in_batches()."
        )
    solver = replace(solver, epochs=min(solver.epochs, limits.max_iter))
    solution, state = search(
        solver,
        batched,
        start,
        tol=limits.tol,
        max_iter=solver.epochs + 1,  # the solver itself says that its epochs are done
        stop=limits.stop,
        held_out=problem.held_out,
    )
    gap = certified_gap(problem, state.theta)
    return Found(state.theta, judged(replace(solution, gap=gap), limits.tol), None)


def judged(solution: Solution, tol: float) -> Solution:
    """The solution, converged only if its gap is within ``tol``."""
    gap, reason = solution.gap, solution.reason
    if gap <= tol and not solution.stopped:
        return replace(solution, converged=True, reason=f"the gap {gap:.1e} is within tol={tol:g}")
    size = f"a gap of {gap:.1e}" if np.isfinite(gap) else "a gap of unknown size"
    if not reason.startswith((NO_FALL, EPOCHS_DONE)):
        return replace(solution, converged=False, reason=f"{reason}; it ended with {size}")
    near = gap <= SMALL_GAP
    reason = f"{reason}, with {size}{'' if near else ADVICE}"
    return replace(solution, converged=False, stopped=solution.stopped or near, reason=reason)


def certified_gap(problem: SearchProblem, theta: Array) -> float:
    """The gap at θ by a Newton step that is not taken; infinite where a Hessian is too costly."""
    shape = problem.shape
    if not np.isfinite(theta).all():
        return inf
    if not shape.rough and shape.hessian_is_affordable:
        return Newton(problem.intercepts).init(problem.objective, theta).gap
    if shape.rough and shape.has_working_sets and shape.hessian_is_affordable:
        return ProximalNewton().init(problem.objective, theta).gap
    return inf
