"""Models against each other on the same folds: each is fitted to the others and scored on one.

Everything that a model learns it learns inside the fold, its preparation of the table included.
A model that cannot be fitted is out, with a sentence that says why; the others go on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.compute.executor import executor_for
from likely.errors import InvalidInput
from likely.evaluate.fold_totals import merged_fits
from likely.evaluate.folds import Fold, Folds
from likely.evaluate.metrics.base import Metric, Truth
from likely.evaluate.metrics.intervals import Ends
from likely.evaluate.paired import corrected_interval
from likely.evaluate.predicting import predict_for, truth_of
from likely.evaluate.task import Task
from likely.evaluate.warned import heard, routing
from likely.progress import report

if TYPE_CHECKING:
    import pyarrow as pa


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

    def attempt(self, where: str, work: Callable[[], Any]) -> Any:
        """What ``work`` returns, or None where it fails; warnings are kept."""
        with heard() as messages:
            try:
                return work()
            except Exception as error:  # of any estimator: the others must go on
                self.problem = f"{where}: {_sentence(error)}"
                return None
            finally:
                self.warnings += [text for text in messages if text not in self.warnings]


def contest(arena: Arena, contestants: Sequence[Contestant]) -> None:
    """Fit and score every contestant on every fold, in place."""
    merged: dict[str, Any] = {}
    with routing(), executor_for("serial", None).session():
        for number, fold in enumerate(arena.folds):
            repeat, place = divmod(number, arena.folds.n_folds)
            if place == 0:
                merged = {each.name: _merged(arena, each, repeat) for each in contestants}
            _one_fold(arena, contestants, fold, (repeat, place), merged)


def _merged(arena: Arena, each: Contestant, repeat: int) -> Any:
    """All fits of one repeat at once, for a model of totals; None for the others."""
    if each.problem or arena.folds.time is not None:
        return None
    fold = arena.folds.fold_of_rows(repeat)
    began = perf_counter()
    with heard() as messages:
        fits = merged_fits(each.estimator, arena.table, arena.task, fold)
    if fits is None:
        return None
    each.warnings += [text for text in messages if text not in each.warnings]
    return fits, (perf_counter() - began) / len(fits)


def _one_fold(
    arena: Arena,
    contestants: Sequence[Contestant],
    fold: Fold,
    place: tuple[int, int],
    merged: Mapping[str, Any],
) -> None:
    train, held = arena.table.take(fold.train), arena.table.take(fold.test)
    truth = truth_of(arena.task, held)
    where = f"in fold {place[1] + 1}"
    if arena.folds.repeats > 1:
        where += f" of repeat {place[0] + 1}"
    for each in contestants:
        if each.problem:
            continue
        done = merged[each.name]

        def work(each: Contestant = each, done: Any = done) -> Scored:
            began = perf_counter()
            if done is None:
                model = clone(each.estimator).fit(train, arena.task.target)
                seconds = perf_counter() - began
            else:
                model, seconds = done[0][place[1]], done[1]
            found = arena.score(model, held, truth)
            return Scored(found, train.num_rows, held.num_rows, seconds)

        scored = each.attempt(where, work)
        if scored is not None:
            each.scored.append(scored)
        report("fits", 1, each.name)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"
