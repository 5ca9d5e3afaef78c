"""Schedules of the learning rate: η as a function of the epoch t = 0, 1, ….

    constant             η₀
    inverse time         η₀ / (1 + ε t)
    step                 η₀ γ^⌊t / s⌋
    cosine               m + (η₀ − m) (1 + cos π t/T) / 2, and m from T on
    hold, then decay     η₀ before t₀, then a schedule in t − t₀
    warm-up              η₀ (t + 1)/(t₀ + 1) before t₀, then a schedule in t − t₀
    reduce on plateau    η ← γ η whenever the validation loss has not fallen for some epochs

A schedule is a pure function of t and of the validation losses of the epochs before t, so training
that is resumed continues with the same rates.

References
----------
Robbins & Monro, A stochastic approximation method, 1951.
Loshchilov & Hutter, SGDR: stochastic gradient descent with warm restarts, 2017 (cosine).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, floor, inf, pi
from typing import ClassVar, Self, final

from likely.errors import InvalidInput
from likely.names import lookup
from likely.solvers.settings import (
    refuse_step,
    refuse_unless_number,
    refuse_unless_share,
    refuse_unless_whole,
)


class Schedule(ABC):
    """The contract of a schedule."""

    @abstractmethod
    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        """η in epoch t, where the validation losses of epochs 0 to t − 1 are known."""

    @classmethod
    @abstractmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        """The schedule of this name, with usual settings for so many epochs from this rate."""

    @property
    def needs_losses(self) -> bool:
        """Whether rates depend on validation losses."""
        return False

    @property
    def epochs_before(self) -> int:
        """Epochs of a hold or a warm-up, before the part that lets training settle."""
        return 0


@final
@dataclass(frozen=True)
class Constant(Schedule):
    """The same rate in every epoch."""

    start: float = 0.01

    def __post_init__(self) -> None:
        refuse_step("start", self.start)

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        return self.start

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(rate)


@final
@dataclass(frozen=True)
class InverseTime(Schedule):
    """η₀ / (1 + ε t): on a convex loss the steps settle at the minimum.

    >>> [round(InverseTime(1e-3, 0.5).rate(t), 6) for t in (0, 1, 2, 10)]
    [0.001, 0.000667, 0.0005, 0.000167]
    """

    start: float = 0.01
    decay: float = 0.1  # ε, for an epoch

    usual_decay: ClassVar[float] = 0.1

    def __post_init__(self) -> None:
        refuse_step("start", self.start)
        refuse_unless_number("InverseTime", "decay", self.decay, "Use 0.1.")

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        return self.start / (1 + self.decay * t)

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(rate, cls.usual_decay)


@final
@dataclass(frozen=True)
class StepDecay(Schedule):
    """The rate times ``factor`` after every so many epochs."""

    start: float = 0.01
    factor: float = 0.1
    every: int = 30

    def __post_init__(self) -> None:
        refuse_step("start", self.start)
        refuse_unless_share("StepDecay", "factor", self.factor, "Use 0.1.", above=True)
        refuse_unless_whole("StepDecay", "every", self.every, "Use 10 epochs.")

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        return self.start * self.factor ** floor(t / self.every)

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(rate, 0.1, max(1, -(-max_epochs // 3)))


@final
@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine from the rate down to ``floor`` over ``epochs``, and the floor afterwards."""

    start: float = 0.01
    epochs: int = 100
    floor: float = 0.0

    def __post_init__(self) -> None:
        refuse_step("start", self.start)
        refuse_unless_whole("Cosine", "epochs", self.epochs, "Use 10 epochs.")
        refuse_unless_number("Cosine", "floor", self.floor, "Use 0.", most=self.start)

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        share = (1 + cos(pi * min(t / self.epochs, 1.0))) / 2
        return self.floor + (self.start - self.floor) * share

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(rate, max_epochs)


@final
@dataclass(frozen=True)
class HoldThenDecay(Schedule):
    """The first rate of ``then`` for ``epochs`` epochs, then that schedule.

    >>> schedule = HoldThenDecay(2, InverseTime(0.1, 1.0))
    >>> [schedule.rate(t) for t in range(5)]
    [0.1, 0.1, 0.1, 0.05, 0.03333333333333333]
    """

    epochs: int = 10
    then: Schedule = field(default_factory=InverseTime)

    def __post_init__(self) -> None:
        refuse_unless_whole("HoldThenDecay", "epochs", self.epochs, "Use 10 epochs.")
        _refuse_unless_schedule("HoldThenDecay", self.then)

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        return self.then.rate(max(t - self.epochs, 0), losses[self.epochs :])

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(max(1, max_epochs // 2), InverseTime(rate, InverseTime.usual_decay))

    @property
    def needs_losses(self) -> bool:
        return self.then.needs_losses

    @property
    def epochs_before(self) -> int:
        return self.epochs + self.then.epochs_before


@final
@dataclass(frozen=True)
class WarmUp(Schedule):
    """A rate that grows evenly for ``epochs`` epochs to the first rate of ``then``."""

    epochs: int = 5
    then: Schedule = field(default_factory=Constant)

    def __post_init__(self) -> None:
        refuse_unless_whole("WarmUp", "epochs", self.epochs, "Use 10 epochs.")
        _refuse_unless_schedule("WarmUp", self.then)

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        if t < self.epochs:
            return self.then.rate(0) * (t + 1) / (self.epochs + 1)
        return self.then.rate(t - self.epochs, losses[self.epochs :])

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        epochs = max(1, max_epochs // 20)
        return cls(epochs, Cosine(rate, max(1, max_epochs - epochs)))

    @property
    def needs_losses(self) -> bool:
        return self.then.needs_losses

    @property
    def epochs_before(self) -> int:
        return self.epochs + self.then.epochs_before


@final
@dataclass(frozen=True)
class ReduceOnPlateau(Schedule):
    """The rate times ``factor`` after ``patience`` epochs in which the loss did not fall.

    The count restarts after each cut.  The loss of an epoch must be more than ``least`` below
    the best so far; NaN is no fall.

    >>> schedule = ReduceOnPlateau(1e-3, patience=2)
    >>> [round(schedule.rate(t, [5, 4, 4, 4, 4, 4][:t]), 9) for t in range(7)]
    [0.001, 0.001, 0.001, 0.001, 0.0001, 0.0001, 1e-05]
    """

    start: float = 0.01
    factor: float = 0.1
    patience: int = 5
    floor: float = 0.0
    least: float = 0.0

    def __post_init__(self) -> None:
        refuse_step("start", self.start)
        refuse_unless_share("ReduceOnPlateau", "factor", self.factor, "Use 0.1.", above=True)
        refuse_unless_whole("ReduceOnPlateau", "patience", self.patience, "Use 10 epochs.")
        refuse_unless_number("ReduceOnPlateau", "floor", self.floor, "Use 0.", most=self.start)
        refuse_unless_number("ReduceOnPlateau", "least", self.least, "Use 0.")

    def rate(self, t: float, losses: Sequence[float] = ()) -> float:
        if len(losses) < floor(t):
            raise InvalidInput(
                f"ReduceOnPlateau was given {len(losses)} losses for epoch {t:g}; the validation "
                f"loss of each of the {floor(t)} epochs before was expected. Give validation rows."
            )
        best, since, cuts = inf, 0, 0
        for loss in losses[: floor(t)]:
            improved = loss < best - self.least
            best, since = (loss, 0) if improved else (best, since + 1)
            if since == self.patience:
                cuts, since = cuts + 1, 0
        return max(self.start * self.factor**cuts, self.floor)

    @classmethod
    def usual(cls, rate: float, max_epochs: int) -> Self:
        return cls(rate)

    @property
    def needs_losses(self) -> bool:
        return True


SCHEDULES: dict[str, type[Schedule]] = {
    "constant": Constant,
    "inverse-time": InverseTime,
    "hold-then-decay": HoldThenDecay,
    "step": StepDecay,
    "cosine": Cosine,
    "warm-up": WarmUp,
    "reduce-on-plateau": ReduceOnPlateau,
}


def schedule_of(schedule: str | Schedule, rate: float, max_epochs: int) -> Schedule:
    """The schedule of a name, from this rate; a schedule that is given has its own rate.

    A hold or a warm-up that is longer than the training is refused: its decay would never come.
    """
    if isinstance(schedule, str):
        refuse_step("learning_rate", rate)
        return lookup("schedule", schedule, SCHEDULES).usual(rate, max_epochs)
    _refuse_unless_schedule("schedule", schedule)
    if schedule.epochs_before and schedule.epochs_before >= max_epochs:
        raise InvalidInput(
            f"The schedule {schedule!r} holds or warms up for {schedule.epochs_before} epochs, and "
            f"max_epochs={max_epochs}; fewer were expected, because the rest would never begin. "
            "Raise max_epochs, or shorten the hold."
        )
    return schedule


def _refuse_unless_schedule(name: str, given: object) -> None:
    if not isinstance(given, Schedule):
        raise InvalidInput(
            f"{name} was given {given!r}; a schedule was expected, one of "
            f"{', '.join(SCHEDULES)}, or an instance. Use InverseTime(0.01, 0.1)."
        )
