"""Predictions of rows by fits that had not seen them, and the one loop that makes them.

    for each fold:  fit without the fold → predict the fold, beside the best constant of that fit

Everything that a model learns it learns inside the fit, its preparation of the table included.  The
constant is learned from the rows of the same fit; by time these are the earlier rows.
``HeldOut.score`` is the score that every verb gives: of all rows of a repeat together, and the mean
over repeats.  The values of single folds serve the paired tests between models alone.

References
----------
Forman & Scholz (2010), Apples-to-apples in cross-validation studies, SIGKDD Explorations 12.
"""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.compute.executor import Executor, executor_for
from likely.compute.serial import Serial
from likely.errors import InvalidInput
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.base import Metric
from likely.metrics.baseline import BestConstant
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.registry import metrics_for
from likely.metrics.score import LEVEL, Score, ScoreTotals, score_of
from likely.progress import report
from likely.workbench.fold_totals import merged_fits
from likely.workbench.folds import Fold, Folds
from likely.workbench.predictions import predict_for, predictive_family, truth_of
from likely.workbench.preparation.prepared import Prepared, prepared, unprepared
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa


Clock = Callable[[], float]  # seconds
Learned = Callable[[Codes], Codes]  # of the training rows of a fold, those that are learned from
ONE_PART = "one part held out"

_listening = threading.local()  # the warnings of a fit, by thread


@final
@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of rows by fits that had not seen them, each row once, in their order."""

    task: Task
    truth: Truth
    prediction: Prediction
    constant: Prediction  # of the best constant of the same fit's rows
    row: Codes  # (n,), the place of each row in its table
    fold: Codes  # (n,), the fold that held it out
    groups: Codes | None = None  # (n,); rows of one were held out together
    n_folds: int | None = None  # None of one part
    families: tuple[PredictiveFamily | None, ...] = ()  # by fold, of numbers
    is_constant: bool = False  # whether the model that predicted is the best constant itself

    @classmethod
    def joined(cls, parts: "Sequence[HeldOut]") -> "HeldOut":
        """The folds of a repeat as one."""
        groups = [part.groups for part in parts if part.groups is not None]
        whole = replace(
            parts[0],
            truth=Truth.joined([part.truth for part in parts]),
            prediction=Prediction.joined([part.prediction for part in parts]),
            constant=Prediction.joined([part.constant for part in parts]),
            row=np.concatenate([part.row for part in parts]),
            fold=np.concatenate([part.fold for part in parts]),
            groups=np.concatenate(groups) if groups else None,
            families=tuple(family for part in parts for family in part.families),
        )
        return whole.rows(np.argsort(whole.row, kind="stable"))

    def rows(self, index: Array) -> "HeldOut":
        """Some of the rows, by index or mask."""
        return replace(
            self,
            truth=self.truth.rows(index),
            prediction=self.prediction.rows(index),
            constant=self.constant.rows(index),
            row=self.row[index],
            fold=self.fold[index],
            groups=None if self.groups is None else self.groups[index],
        )

    def totals(self, metrics: Sequence[Metric]) -> ScoreTotals:
        """The statistics of these rows, which add to those of others."""
        prediction = None if self.is_constant else self.prediction
        return ScoreTotals.of(metrics, self.truth, prediction, self.constant)

    def score(self, metrics: Sequence[Metric] | None = None, *, level: float = LEVEL) -> Score:
        """The score by these metrics, the main one first; by all of the task if none are given."""
        score = score_of(
            metrics_for(self.task.kind) if metrics is None else metrics,
            self.truth,
            None if self.is_constant else self.prediction,
            self.constant,
            groups=self.groups,
            level=level,
        )
        how = ONE_PART if self.n_folds is None else f"{self.n_folds}-fold cross-validation"
        return replace(score, how=how, folds=self.n_folds)

    def by_fold(self, metric: Metric) -> Array:
        """The value of each fold alone, (n_folds,): for the paired tests between models."""
        scored = metric.of_constant(self.constant) if self.is_constant else self.prediction
        found = []
        for held in np.unique(self.fold):
            rows = np.flatnonzero(self.fold == held)
            found.append(metric.value(metric.statistics(self.truth.rows(rows), scored.rows(rows))))
        return np.array(found)


@final
@dataclass(eq=False)
class Repeat:
    """One model in one repeat of a cross-validation: the results of its folds so far.

    ``problem`` says why a fit failed; there are no more after it.
    """

    parts: list[HeldOut] = field(default_factory=list)
    training: list[HeldOut] = field(default_factory=list)  # the rows that were learned from
    n_learned: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of each fit
    warnings: list[str] = field(default_factory=list)
    problem: str = ""
    error: Exception | None = None

    @property
    def held(self) -> HeldOut:
        """All rows that were held out."""
        return HeldOut.joined(self.parts)

    def take(self, outcome: "FitOutcome") -> None:
        self.warnings += [text for text in outcome.warnings if text not in self.warnings]
        if self.error is not None:
            return
        self.n_learned.append(outcome.n_learned)
        if outcome.held is None:
            self.problem, self.error = outcome.problem, outcome.error
            return
        self.parts.append(outcome.held)
        self.seconds.append(outcome.seconds)
        if outcome.training is not None:
            self.training.append(outcome.training)


class Fit(NamedTuple):
    """One model, to be fitted without one fold."""

    name: str
    estimator: Any  # not fitted; with its preparation inside
    number: int  # of the fold in its repeat
    where: str  # "in fold 2 of repeat 1"
    fold: Fold
    train: "pa.Table"
    held: "pa.Table"
    truth: Truth
    constant: BestConstant
    fitted: Any = None  # a model of totals, fitted to all folds of a repeat at once
    seconds: float = 0.0  # that its fit took


class FitOutcome(NamedTuple):
    """The result of a fit: predictions, or an error."""

    name: str
    held: HeldOut | None
    warnings: list[str]
    n_learned: int
    seconds: float = 0.0
    training: HeldOut | None = None
    problem: str = ""
    error: Exception | None = None


@final
@dataclass(frozen=True, eq=False)
class Loop:
    """A cross-validation: the rows, and what is kept of each fit."""

    table: "pa.Table"  # every row with a target; the features and the target alone
    task: Task
    folds: Folds
    metric: Metric | None = None  # what a model must be able to have, if it is not to fail
    learned: Learned | None = None  # None is all training rows
    training: bool = False  # whether the rows learned from are predicted too
    clock: Clock = perf_counter

    def fits(
        self, models: Mapping[str, Any], repeat: int, left: Mapping[str, Repeat]
    ) -> Iterator[Fit]:
        """The fits fold by fold, without models that have failed."""
        merged = {name: self._merged(models[name], repeat, each) for name, each in left.items()}
        for number, fold in enumerate(self.folds.of_repeat(repeat)):
            first = self.fit("", None, number, fold, repeat)
            for name, each in left.items():
                if each.error is None:
                    known, seconds = merged[name]
                    fitted = known[number] if known else None
                    yield first._replace(
                        name=name, estimator=models[name], fitted=fitted, seconds=seconds
                    )

    def fit(self, name: str, model: Any, number: int, fold: Fold, repeat: int = 0) -> Fit:
        """The fit without one fold."""
        if self.learned is not None:
            fold = fold._replace(train=self.learned(fold.train))
        train, held = self.table.take(fold.train), self.table.take(fold.test)
        constant = BestConstant.of(truth_of(self.task, train))
        where = f"in fold {number + 1}"
        if self.folds.repeats > 1:
            where += f" of repeat {repeat + 1}"
        truth = truth_of(self.task, held)
        return Fit(name, model, number, where, fold, train, held, truth, constant)

    def _merged(self, model: Any, repeat: int, each: Repeat) -> tuple[list[Any], float]:
        """All fits of a repeat at once and the seconds of one, for a model of totals; else none."""
        if self.folds.time is not None or self.learned is not None:
            return [], 0.0
        began = self.clock()
        with caught_warnings() as messages:
            fold = self.folds.fold_of_rows(repeat)
            found = merged_fits(model, self.table, self.task, fold)
        if found is None:
            return [], 0.0
        each.warnings += messages
        return found, (self.clock() - began) / len(found)

    def outcome(self, fit: Fit) -> FitOutcome:
        """Fit, unless that is done, and predict; whatever fails becomes a sentence."""
        n_learned = len(fit.fold.train)
        with caught_warnings() as messages:
            try:
                model, seconds = fit.fitted, fit.seconds
                if model is None:
                    began = self.clock()
                    model = clone(fit.estimator).fit(fit.train, self.task.target)
                    seconds = self.clock() - began
                held = self._predicted(model, fit, fit.held, fit.truth, fit.fold.test)
                training = None
                if self.training:
                    truth = truth_of(self.task, fit.train)
                    training = self._predicted(model, fit, fit.train, truth, fit.fold.train)
            except Exception as error:  # of any estimator: the others must go on
                problem = f"{fit.where}: {_sentence(error)}"
                return FitOutcome(fit.name, None, messages, n_learned, problem=problem, error=error)
        return FitOutcome(fit.name, held, messages, n_learned, seconds, training)

    def _predicted(
        self, model: Any, fit: Fit, table: "pa.Table", truth: Truth, rows: Codes
    ) -> HeldOut:
        prediction = predict_for(model, self.task, table)
        if self.metric is not None and not self.metric.suits(prediction):
            name = type(unprepared(model)).__name__
            raise InvalidInput(
                f"{name} gives no density of the target, and {self.metric.title} needs "
                "one. Choose another metric, such as rmse, or another model."
            )
        groups = self.folds.groups
        return HeldOut(
            self.task,
            truth,
            prediction,
            fit.constant.prediction(truth),
            rows,
            np.full(len(rows), fit.number),
            None if groups is None else groups[rows],
            self.folds.n_folds,
            (None if self.task.has_classes else predictive_family(model),),
        )


def cross_validate(model: Any, loop: Loop) -> Repeat:
    """One model on the folds of one repeat; its first error is raised."""
    found = attempt(model, loop)
    if found.error is not None:
        raise found.error
    return found


def attempt(model: Any, loop: Loop) -> Repeat:
    """One model on the folds of one repeat, up to its first error."""
    found = Repeat()
    for fit in loop.fits({"": model}, 0, {"": found}):
        found.take(loop.outcome(fit))
    return found


def hold_out_fold(model: Any, loop: Loop, number: int) -> HeldOut:
    """One model on one fold of the first repeat; an error is raised."""
    fold = next(islice(loop.folds.of_repeat(0), number, None))
    outcome = loop.outcome(loop.fit("", model, number, fold))
    if outcome.error is not None:
        raise outcome.error
    assert outcome.held is not None, "there is no error"
    return outcome.held


def cross_validate_all(
    models: Mapping[str, Any], loop: Loop, executor: str | Executor = "serial"
) -> Iterator[dict[str, Repeat]]:
    """All models on the same folds, repeat by repeat; one that has failed is in no later one.

    Fits that share the machine are timed by what their own thread computed.
    """
    at_once = executor_for(executor, 0)
    loop = replace(loop, clock=perf_counter if isinstance(at_once, Serial) else thread_time)
    failed: set[str] = set()
    with warnings_by_thread(), at_once.session():
        for repeat in range(loop.folds.repeats):
            found = {name: Repeat() for name in models if name not in failed}
            fits = loop.fits(models, repeat, found)
            with at_once.mapping(loop.outcome, fits) as outcomes:
                for outcome in outcomes:
                    found[outcome.name].take(outcome)
                    report("fits", 1, outcome.name)
            failed |= {name for name, each in found.items() if each.error is not None}
            yield found


def with_settings(model: Any, parameters: Mapping[str, Any]) -> Prepared:
    """The model with these settings, and its preparation inside; neither is fitted."""
    outer = clone(prepared(model))
    outer.model.set_params(**parameters)
    return outer


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


@contextmanager
def warnings_by_thread() -> Iterator[None]:
    """Inside, a warning goes to the ``caught_warnings`` of its thread; outside of any, it is shown.

    ``warnings.catch_warnings`` belongs to the whole process, so it is entered once, outside of the
    threads.
    """
    with warnings.catch_warnings():
        shown = warnings.showwarning
        warnings.simplefilter("always")

        def route(message: Any, category: type[Warning], *rest: Any) -> None:
            messages: list[str] | None = getattr(_listening, "messages", None)
            if messages is None:
                shown(message, category, *rest)
            elif (text := f"{category.__name__}: {message}") not in messages:
                messages.append(text)

        warnings.showwarning = route  # type: ignore[assignment]  # the rest is file and line
        yield


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """The warnings of this thread from here to the end of the block, without repeats."""
    messages: list[str] = []
    _listening.messages = messages
    try:
        yield messages
    finally:
        _listening.messages = None
