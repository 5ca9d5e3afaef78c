"""The loop over epochs: steps, losses, stopping, checkpoints.

    repeat  rate η_t of the schedule → steps of an epoch → losses → checkpoint → stop?

Training ends when the loss that is watched has not fallen by more than ``tol`` for ``patience``
epochs, at ``max_epochs``, or when a callback says so.  With early stopping the validation loss is
watched, the whole curve is kept, and the parameters of its lowest point are restored: curves are
noisy, and a rise may be followed by a new minimum.  A loss that is not finite, or far above that of
the start, ends it with an error.

References
----------
Prechelt, Early stopping — but when?, 1998.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from time import perf_counter
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import TrainingDiverged
from likely.formatting import count
from likely.neural.history import LossCurve
from likely.neural.training.checkpoint import Checkpoint
from likely.neural.training.steps import Ending, Steps
from likely.progress import report
from likely.solvers.schedules import Schedule
from likely.solvers.stopping import steps_since_best

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
class Trained:
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
) -> Trained:
    """Train from ``theta``, or from a checkpoint, until a rule or a callback ends it.

    ``keep`` writes a checkpoint after every epoch: of the arrays of the state, the best θ, the
    curve and the loss at the start.
    """
    run = begun(steps, theta, losses) if resumed is None else _continued(steps, resumed)
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
        return Trained(theta, run.state, run.curve, stopped, kept, interrupted=True)
    return Trained(theta, run.state, run.curve, ending, kept)


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


def _continued(steps: Steps[Any], resumed: Checkpoint) -> TrainingRun:
    return TrainingRun(
        steps.restored(resumed.state), resumed.best, resumed.curve, resumed.start_loss
    )


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
