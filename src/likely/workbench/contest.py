"""Models against each other on the same folds: each is fitted to the others and scored on one.

Everything that a model learns it learns inside the fold, its preparation of the table included.
A model that cannot be fitted is out, with a sentence that says why; the others go on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.compute.serial import Serial
from likely.errors import InvalidInput
from likely.intervals import Ends
from likely.metrics.base import Metric, Truth
from likely.progress import report
from likely.workbench.fit_warnings import heard, routing
from likely.workbench.fold_totals import merged_fits
from likely.workbench.folds import Folds
from likely.workbench.paired import corrected_interval
from likely.workbench.predictions import predict_for, truth_of
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

Clock = Callable[[], float]  # seconds


class Scored(NamedTuple):
    """One fit, held to the rows of its fold."""

    statistics: Mapping[str, Any]  # by metric
    n_train: int
    n_test: int
    seconds: float  # of the fit


@final
@dataclass(frozen=True, eq=False)
class Arena:
    """What all models share: rows, task, folds and metrics."""

    table: "pa.Table"  # every row with a target
    task: Task
    folds: Folds
    metrics: tuple[Metric, ...]  # the main one first

    @cached_property
    def held_per_learned(self) -> float:
        """n_test/n_train, on average over the folds."""
        return float(np.mean([len(fold.test) / len(fold.train) for fold in self.folds]))

    def interval(self, values: Array) -> Ends:
        """Of the mean over folds of the main metric; losses have no negative ends."""
        low, high = corrected_interval(values, test_per_train=self.held_per_learned)
        return (max(low, 0.0) if self.metrics[0].better == "lower" else low), high

    def score(self, model: Any, held: "pa.Table", truth: Truth) -> dict[str, Any]:
        """The statistics of each metric for rows that the model has not seen."""
        prediction = predict_for(model, self.task, held)
        if not self.metrics[0].suits(prediction):
            raise InvalidInput(
                f"It gives no density of the target, and {self.metrics[0].title} needs one. "
                "Choose another metric, such as rmse, or another model."
            )
        return {
            metric.name: metric.statistics(truth, prediction)
            for metric in self.metrics
            if metric.suits(prediction)
        }


@final
@dataclass(eq=False)
class Contestant:
    """A model, and how it has done so far; it is out as soon as ``problem`` says something."""

    name: str
    estimator: Any  # not fitted; with its preparation inside
    scored: list[Scored] = field(default_factory=list)
    problem: str = ""
    warnings: list[str] = field(default_factory=list)

    def take(self, outcome: "Outcome") -> None:
        """Keep what came of one fold; after a failure there is nothing more to keep."""
        self.warnings += [text for text in outcome.warnings if text not in self.warnings]
        if self.problem:
            return
        if outcome.scored is None:
            self.problem = outcome.problem
        else:
            self.scored.append(outcome.scored)


class Round(NamedTuple):
    """One contestant, on one fold."""

    contestant: Contestant
    train: "pa.Table"
    held: "pa.Table"
    truth: Truth
    where: str  # "in fold 2 of repeat 1"
    fitted: Any = None  # a model of totals, fitted to all folds of a repeat at once
    seconds: float = 0.0  # that its fit took


class Outcome(NamedTuple):
    """What came of a round: a score, or a sentence."""

    contestant: Contestant
    scored: Scored | None
    problem: str
    warnings: list[str]


def contest(
    arena: Arena, contestants: Sequence[Contestant], executor: str | Executor = "serial"
) -> None:
    """Fit and score every contestant on every fold, in place.

    Rounds that share the machine are timed by what their own thread computed.
    """
    at_once = executor_for(executor, 0)
    clock = perf_counter if isinstance(at_once, Serial) else thread_time
    with routing(), at_once.session():
        rounds = _rounds(arena, contestants, clock)
        with at_once.mapping(partial(_attempt, arena, clock), rounds) as outcomes:
            for outcome in outcomes:
                outcome.contestant.take(outcome)
                report("fits", 1, outcome.contestant.name)


def _rounds(arena: Arena, contestants: Sequence[Contestant], clock: Clock) -> Iterator[Round]:
    """Fold by fold; a contestant that has failed is left out."""
    merged: dict[str, tuple[list[Any], float]] = {}
    for number, fold in enumerate(arena.folds):
        repeat, place = divmod(number, arena.folds.n_folds)
        if place == 0:
            merged = {each.name: _merged(arena, each, repeat, clock) for each in contestants}
        train, held = arena.table.take(fold.train), arena.table.take(fold.test)
        truth = truth_of(arena.task, held)
        where = f"in fold {place + 1}"
        if arena.folds.repeats > 1:
            where += f" of repeat {repeat + 1}"
        for each in contestants:
            if each.problem:
                continue
            fits, seconds = merged[each.name]
            fitted = fits[place] if fits else None
            yield Round(each, train, held, truth, where, fitted, seconds)


def _merged(arena: Arena, each: Contestant, repeat: int, clock: Clock) -> tuple[list[Any], float]:
    """All fits of one repeat at once, for a model of totals, and what one took; else none."""
    if each.problem or arena.folds.time is not None:
        return [], 0.0
    fold = arena.folds.fold_of_rows(repeat)
    began = clock()
    with heard() as messages:
        fits = merged_fits(each.estimator, arena.table, arena.task, fold)
    if fits is None:
        return [], 0.0
    each.warnings += [text for text in messages if text not in each.warnings]
    return fits, (clock() - began) / len(fits)


def _attempt(arena: Arena, clock: Clock, this: Round) -> Outcome:
    """Fit, unless that is done, and score; whatever fails becomes a sentence."""
    with heard() as messages:
        try:
            model, seconds = this.fitted, this.seconds
            if model is None:
                began = clock()
                model = clone(this.contestant.estimator).fit(this.train, arena.task.target)
                seconds = clock() - began
            found = arena.score(model, this.held, this.truth)
            scored = Scored(found, this.train.num_rows, this.held.num_rows, seconds)
        except Exception as error:  # of any estimator: the others must go on
            problem = f"{this.where}: {_sentence(error)}"
            return Outcome(this.contestant, None, problem, messages)
    return Outcome(this.contestant, scored, "", messages)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"
