"""The loop over epochs, and the steps of an epoch: of mini-batches, or one of L-BFGS.

    repeat  rate η_t of the schedule → steps of an epoch → losses → checkpoint → stop?

    mini-batches    θ ← update(θ, gradient of a batch) for each batch of the epoch's order
    L-BFGS          θ ← θ + t d, one line search on the summed loss of all rows

Each kind of step has a state that a checkpoint can keep, as arrays by name.

Training ends when the loss that is watched has not fallen by more than ``tol`` for ``patience``
epochs, at ``max_epochs``, or when a callback says so.  With early stopping the validation loss is
watched, the whole curve is kept, and the parameters of its lowest point are restored: curves are
noisy, and a rise may be followed by a new minimum.  A loss that is not finite, or far above that of
the start, ends it with an error.

References
----------
Prechelt, Early stopping — but when?, 1998.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import TrainingDiverged
from likely.neural.checkpoint import Checkpoint, check_state
from likely.neural.engine import Engine, TrainingState
from likely.neural.examples import PreparedExamples
from likely.neural.history import LossCurve
from likely.neural.objective import NetworkObjective
from likely.output.formatting import count
from likely.output.progress import report
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.lbfgs import LBFGS, LBFGSState, Pair
from likely.solvers.line_search import NO_LOWER_VALUE
from likely.solvers.mini_batches import BatchPlan, ShuffledBatches, epoch_order
from likely.solvers.schedules import Schedule
from likely.solvers.stopping import steps_since_best
from likely.solvers.updates import Update
from likely.storage.declarations import check_range
from likely.storage.values import same_count, same_names

S = TypeVar("S")
NEAR = 1e-8  # a gap at which a search that finds no lower value has reached its optimum
FLAT = 1e-6  # nats a row: a slope at which it has, where there is no gap


class Ending(NamedTuple):
    """Why training ends, and whether there was nothing left to gain."""

    reason: str
    converged: bool


class Steps(ABC, Generic[S]):
    """The steps of an epoch."""

    @abstractmethod
    def start(self, theta: Array) -> S:
        """The state before the first epoch."""

    @abstractmethod
    def epoch(self, state: S, number: int, rate: float) -> tuple[S, float]:
        """The state after an epoch, numbered from 0, and its running mean loss."""

    @abstractmethod
    def theta(self, state: S) -> Array: ...

    @abstractmethod
    def arrays(self, state: S) -> dict[str, Array]:
        """All that the state is made of."""

    @abstractmethod
    def restored(self, arrays: Mapping[str, Array]) -> S:
        """The state of such arrays."""

    def ending(self, state: S, tol: float | None) -> Ending | None:
        """Why no further step is needed or possible; None where one is."""
        return None


@final
@dataclass(frozen=True, eq=False)
class MiniBatchSteps(Steps[TrainingState]):
    """Steps on the batches of an order that is keyed by the seed and the epoch."""

    engine: Engine
    rows: PreparedExamples
    batches: BatchPlan
    seed: int
    labels: Codes | None = None  # for balanced batches

    def start(self, theta: Array) -> TrainingState:
        return self.engine.start(theta)

    def epoch(self, state: TrainingState, number: int, rate: float) -> tuple[TrainingState, float]:
        if not isinstance(self.batches, ShuffledBatches):
            return self._drawn(state, number, rate)
        total, weight = 0.0, 0.0
        size = self.batches.window
        for window in self.rows.windows(size):
            first = window.first + window.start
            order = (
                epoch_order(window.n_rows, self.seed, number, window=size, first=first)
                if self.batches.shuffle
                else np.arange(window.n_rows, dtype=np.intp)
            )
            state, loss = self.engine.epoch(
                state,
                window.rows,
                order + window.start,
                batch=self.batches.size,
                rate=rate,
                epoch=number,
                first_index=window.first,
            )
            part = slice(window.start, window.start + window.n_rows)
            here = window.rows.weight
            heavy = float(window.n_rows if here is None else here[part].sum())
            total, weight = total + heavy * loss, weight + heavy
        return state, total / weight

    def _drawn(self, state: TrainingState, number: int, rate: float) -> tuple[TrainingState, float]:
        """An epoch whose rows are drawn from all of them."""
        rows = self.rows.whole()
        order = self.batches.order(rows.n_rows, self.seed, number, self.labels)
        return self.engine.epoch(
            state, rows, order, batch=self.batches.size, rate=rate, epoch=number
        )

    def theta(self, state: TrainingState) -> Array:
        return state.theta

    def arrays(self, state: TrainingState) -> dict[str, Array]:
        return state_arrays(state)

    def restored(self, arrays: Mapping[str, Array]) -> TrainingState:
        return TrainingState(arrays["theta"], arrays["slots"], int(arrays["step"][0]))


def state_arrays(state: TrainingState) -> dict[str, Array]:
    """All that a state of mini-batch training is made of."""
    return {"theta": state.theta, "slots": state.slots, "step": np.array([state.step])}


def kept_state(state: dict[str, Array], update: Update | None) -> dict[str, Array]:
    """What an update rule remembers, besides the parameters; nothing of L-BFGS."""
    if update is None:
        return {}
    memory = {name: array for name, array in state.items() if name != "theta"}
    return {**memory, "rule": np.array([update.compiled().kind])}


def continued_state(state: dict[str, Array], update: Update | None) -> dict[str, Array] | None:
    """The memory to continue from; None where another rule left it, to which it means nothing."""
    same = update is not None and "rule" in state and state["rule"][0] == update.compiled().kind
    return {name: array for name, array in state.items() if name != "rule"} if same else None


def check_memory(state: dict[str, Array], n_parameters: int) -> None:
    """Refuse what no update rule remembers."""
    if not state:
        return
    same_names("What the update rule remembers", state, ("slots", "step", "rule"))
    slots, whole = state["slots"], (state["step"], state["rule"])
    same_count("A row of the slots", slots.shape[1:], (n_parameters,))
    same_count("The type of the slots", slots.dtype.kind, "f")
    check_range("The slots", slots, "finite")
    for each in whole:
        same_count("The steps and the rule", (each.shape, each.dtype.kind), ((1,), "i"))
        check_range("The steps and the rule", each, "not negative")


@final
@dataclass(frozen=True, eq=False)
class PartlyFrozen(FirstOrderObjective):
    """An objective of which some parameters stay as they are: their gradient is 0.

    L-BFGS then never moves them, because its directions are sums of gradients and past steps.
    """

    inner: NetworkObjective
    frozen: Array  # Booleans
    unit: float | None = None

    def value(self, theta: Array) -> float:
        return self.inner.value(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        here = self.inner.first_order(theta)
        return FirstOrder(here.value, np.where(self.frozen, 0.0, here.gradient))


@final
@dataclass(frozen=True, eq=False)
class QuasiNewtonSteps(Steps[LBFGSState]):
    """Steps of L-BFGS on the loss of all rows."""

    objective: FirstOrderObjective
    weight: float  # Σ w, by which the value is divided
    solver: LBFGS = field(default_factory=LBFGS)

    def start(self, theta: Array) -> LBFGSState:
        return self.solver.init(self.objective, np.array(theta, dtype=np.float64))

    def epoch(self, state: LBFGSState, number: int, rate: float) -> tuple[LBFGSState, float]:
        state = self.solver.step(self.objective, state)
        return state, state.value / self.weight

    def theta(self, state: LBFGSState) -> Array:
        return np.asarray(state.theta)

    def arrays(self, state: LBFGSState) -> dict[str, Array]:
        p = state.theta.size
        pairs = [np.array(part) for part in zip(*state.pairs, strict=True)]
        steps, changes = pairs or (np.empty((0, p)), np.empty((0, p)))
        return {
            "theta": state.theta,
            "gradient": state.gradient,
            "steps": steps,
            "changes": changes,
            "measures": np.array([state.value, state.gap, float(bool(state.stuck))]),
        }

    def restored(self, arrays: Mapping[str, Array]) -> LBFGSState:
        value, gap, stuck = arrays["measures"].tolist()
        pairs = zip(arrays["steps"], arrays["changes"], strict=True)
        return LBFGSState(
            theta=arrays["theta"],
            value=value,
            gap=gap,
            stuck=NO_LOWER_VALUE if stuck else "",
            gradient=arrays["gradient"],
            pairs=tuple(Pair(*pair) for pair in pairs),
        )

    def ending(self, state: LBFGSState, tol: float | None) -> Ending | None:
        if tol is not None and state.gap <= tol:
            return Ending(f"the gap {state.gap:.1e} is within tol={tol:g}", converged=True)
        if not state.stuck:
            return None
        slope = float(np.abs(state.gradient).max(initial=0.0)) / self.weight
        return Ending(state.stuck, converged=state.gap <= NEAR or slope <= FLAT)


AT_THE_START = (
    "Use a link that has a mean for every predictor, such as link='log', standardised columns, or "
    "other start values (initialise)."
)
EXPLODED = 1e6  # times the loss at the start, or times 1 where that is less


class Epoch(NamedTuple):
    """The state of training after an epoch, for callbacks."""

    number: int  # from 1
    max_epochs: int
    loss: float  # the mean of the training rows
    validation: float | None
    rate: float
    seconds: float  # that the epoch took
    theta: Array  # all parameters

    @property
    def seconds_left(self) -> float:
        """How long the epochs up to ``max_epochs`` take, at the pace of this one."""
        return self.seconds * (self.max_epochs - self.number)

    def __str__(self) -> str:
        held = "" if self.validation is None else f", validation {self.validation:.4g}"
        return (
            f"epoch {self.number} of at most {self.max_epochs}: loss {self.loss:.4g}{held}, "
            f"rate {self.rate:.3g}, at most {self.seconds_left:.3g} s left"
        )


Callback = Callable[[Epoch], Any]  # a true value ends the training
Keep = Callable[[dict[str, Array], Array, LossCurve, float], None]  # writes a checkpoint


@final
@dataclass(frozen=True, eq=False)
class TrainingRules:
    """When training ends, at which rates, and what is kept."""

    max_epochs: int
    rate: Callable[[int, LossCurve], float]  # of the epoch, from 0, and what was recorded before it
    tol: float | None = 1e-4  # None: train for max_epochs
    patience: int = 10
    early_stopping: bool = False
    watch: bool = True  # whether patience ends it; L-BFGS measures its gap instead
    level: float | None = None  # of the training loss, at which training ends
    advice: str = ""  # against a loss that explodes
    unit: float = 1.0  # by which losses are multiplied where they are shown
    theta_of: Callable[[Array], Array] | None = None  # θ as it is shown

    def shown(self, epoch: Epoch) -> Epoch:
        """An epoch as callbacks and reports see it: in the unit of y."""
        held = None if epoch.validation is None else self.unit * epoch.validation
        theta = epoch.theta if self.theta_of is None else self.theta_of(epoch.theta)
        return epoch._replace(loss=self.unit * epoch.loss, validation=held, theta=theta)

    def ending(self, curve: LossCurve) -> Ending | None:
        """Why training ends after these epochs; None where it goes on."""
        if self.level is not None and curve.loss and curve.loss[-1] <= self.level:
            level = self.unit * self.level
            return Ending(f"the training loss is down to {level:.6g}", converged=True)
        watched, name = (
            (curve.validation, "validation") if self.early_stopping else (curve.loss, "training")
        )
        least = 0.0 if self.tol is None else self.tol
        watching = self.early_stopping or (self.watch and self.tol is not None)
        if watching and len(watched) > self.patience:
            since = steps_since_best(watched, least)
            if since >= self.patience:
                more = f" by more than {least:g}" if least else ""
                epochs = count(self.patience, "epoch")
                return Ending(f"the {name} loss has not fallen{more} for {epochs}", converged=True)
        if curve.n_epochs < self.max_epochs:
            return None
        asked = self.tol is None and self.level is None
        return Ending(f"max_epochs={self.max_epochs} was reached", converged=asked)


def scheduled(schedule: Schedule) -> Callable[[int, LossCurve], float]:
    """The rates of a schedule, which may read the losses that are watched."""
    return lambda epoch, curve: schedule.rate(epoch, curve.watched)


def replayed(rates: Sequence[float]) -> Callable[[int, LossCurve], float]:
    """Rates that were used before, the last of them for all further epochs."""
    return lambda epoch, curve: rates[min(epoch, len(rates) - 1)]


@final
@dataclass(frozen=True, eq=False)
class Losses:
    """The mean losses of θ on the training rows and on the validation rows."""

    training: Callable[[Array], float] | None  # None: the running loss of the epoch is recorded
    validation: Callable[[Array], float] | None


@final
@dataclass(frozen=True, eq=False)
class TrainingResult:
    """How training ended."""

    theta: Array  # the parameters that are kept
    state: Any  # of the last epoch
    curve: LossCurve
    ending: Ending
    kept_epoch: int
    interrupted: bool = False  # by Ctrl-C


@final
@dataclass
class TrainingRun:
    """Training under way: what changes from epoch to epoch."""

    state: Any
    best: Array
    curve: LossCurve
    start_loss: float


def train(
    steps: Steps[Any],
    theta: Array,
    rules: TrainingRules,
    losses: Losses,
    *,
    resumed: Checkpoint | None = None,
    keep: Keep | None = None,
    callbacks: Sequence[Callback] = (),
) -> TrainingResult:
    """Train from ``theta``, or from a checkpoint, until a rule or a callback ends it.

    ``keep`` writes a checkpoint after every epoch: of the arrays of the state, the best θ, the
    curve and the loss at the start.
    """
    if resumed is None:
        run = begun(steps, theta, losses)
    else:
        check_state(resumed.state, steps.arrays(steps.start(theta)))
        state, best, start_loss = steps.restored(resumed.state), resumed.best, resumed.start_loss
        run = TrainingRun(state, best, resumed.curve, start_loss)
    try:
        ending = _loop(steps, rules, losses, run, keep, callbacks)
    except KeyboardInterrupt:
        if keep is not None:
            keep(steps.arrays(run.state), run.best, run.curve, run.start_loss)
        ending = None
    kept = run.curve.best if rules.early_stopping else run.curve.n_epochs
    theta = run.best if rules.early_stopping else steps.theta(run.state)
    if ending is None:
        stopped = Ending("it was interrupted", converged=False)
        return TrainingResult(theta, run.state, run.curve, stopped, kept, interrupted=True)
    return TrainingResult(theta, run.state, run.curve, ending, kept)


def _loop(
    steps: Steps[Any],
    rules: TrainingRules,
    losses: Losses,
    run: TrainingRun,
    keep: Keep | None,
    callbacks: Sequence[Callback],
) -> Ending:
    """Epoch after epoch, until there is a reason to end."""
    while True:
        ending = rules.ending(run.curve) or steps.ending(run.state, rules.tol)
        if ending is not None:
            return ending
        epoch = rules.shown(advance(steps, rules, losses, run))
        if keep is not None:
            keep(steps.arrays(run.state), run.best, run.curve, run.start_loss)
        report("epoch", 1, str(epoch).removeprefix("epoch "))
        answers = [callback(epoch) for callback in callbacks]
        if any(answers):
            return Ending("a callback ended it", converged=True)


def begun(steps: Steps[Any], theta: Array, losses: Losses) -> TrainingRun:
    state = steps.start(theta)
    evaluate = losses.training or losses.validation
    start_loss = 1.0 if evaluate is None else evaluate(steps.theta(state))
    return TrainingRun(state, steps.theta(state), LossCurve(), start_loss)


def advance(steps: Steps[Any], rules: TrainingRules, losses: Losses, run: TrainingRun) -> Epoch:
    """One epoch; the run moves on once its losses are known and finite."""
    began, number = perf_counter(), run.curve.n_epochs
    rate = rules.rate(number, run.curve)
    state, running = steps.epoch(run.state, number, rate)
    theta = steps.theta(state)
    loss = running if losses.training is None else losses.training(theta)
    held = None if losses.validation is None else losses.validation(theta)
    error = divergence(rules, run, rate, (loss, held))
    if error is not None:
        raise error
    seconds = perf_counter() - began
    curve = run.curve.with_epoch(loss, held, rate, seconds)
    run.state, run.curve = state, curve
    if curve.best == curve.n_epochs:
        run.best = np.array(theta)
    return Epoch(number + 1, rules.max_epochs, loss, held, rate, seconds, theta)


def divergence(
    rules: TrainingRules, run: TrainingRun, rate: float, losses: Sequence[float | None]
) -> TrainingDiverged | None:
    """The error of an epoch after those of ``run`` with such losses; None where they are sound."""
    for loss in losses:
        if loss is not None and not _is_sound(loss, run.start_loss):
            number = run.curve.n_epochs + 1
            advice = rules.advice if isfinite(run.start_loss) else AT_THE_START
            start = rules.unit * run.start_loss
            return TrainingDiverged(rules.unit * loss, number, rate, start, advice)
    return None


def _is_sound(loss: float, start_loss: float) -> bool:
    limit = EXPLODED * max(start_loss, 1.0) if isfinite(start_loss) else np.inf
    return isfinite(loss) and loss <= limit
