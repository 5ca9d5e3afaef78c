"""Cross-validation: the one loop in which models are fitted and their folds predicted.

    for each fold:  fit without the fold → predict the fold, with the best constant of that fit

Everything that a model learns it learns inside the fit, its preparation of the table included.  The
constant is learned from the rows of the same fit; by time these are the earlier rows.  The values
of single folds are used only for the paired tests between models.

Models that are functions of totals are fitted to all folds in one pass, where what the fits share
is the same in each: the columns that preparation keeps, the categories and the classes.  Where a
category occurs, or a column varies, in one fold only, folds are fitted one by one, because columns
must be prepared in the same way without any one of the folds.

References
----------
Forman & Scholz (2010), Apples-to-apples in cross-validation studies, SIGKDD Explorations 12.
"""

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from time import perf_counter, thread_time
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.compute.executor import Executor, Serial, executor_for
from likely.errors import InvalidInput, LoopsNotKept
from likely.generative.class_counts import fits_without, is_of_totals
from likely.inputs.estimators import Estimator
from likely.inputs.foreign_models import predictive_family
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.base import Metric
from likely.metrics.baseline import BestConstant
from likely.metrics.prediction import Prediction, Truth
from likely.output.progress import OutOfTime, out_of_time_after, report
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Fold, Folds
from likely.workbench.data.roles import MOSTLY, may_be_called
from likely.workbench.models.model_entry import (
    settings_of_words,
    split_settings,
    with_prefix,
)
from likely.workbench.models.model_inside import link_of, unprepared
from likely.workbench.preparation.cells import Cells, gaps_of
from likely.workbench.preparation.choices import (
    MOST_LEVELS,
    ROWS_PER_LEVEL,
    is_text,
    learn,
    needs_of,
)
from likely.workbench.preparation.prepared import Prepared, for_prediction, prepared
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.scoring.predictions import gives_density, predict_for, truth_of

Clock = Callable[[], float]  # seconds
Learned = Callable[[Codes], Codes]  # of the training rows of a fold, those that are learned from

UNFINISHED = "not finished in"  # so many seconds: the problem of a model that took too long

_listening = threading.local()  # the warnings of a fit, by thread


@final
@dataclass(eq=False)
class Repeat:
    """One model in one repeat of a cross-validation: the results of its folds so far.

    ``problem`` says why a fit failed; no further folds are fitted.
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
    """One model to fit without one fold."""

    name: str
    estimator: Any  # not fitted; with its preparation inside
    number: int  # of the fold in its repeat
    where: str  # "in fold 2 of repeat 1"
    fold: Fold
    train: Dataset
    held: Dataset
    truth: Truth  # of the rows held out
    constant: BestConstant
    fitted: Any = None  # a model of totals, fitted to all folds of a repeat at once
    finish: Callable[[], Any] | None = None  # gives a model that was trained with others
    seconds: float = 0.0  # that its fit took so far


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
class TimeLimit:
    """The seconds that the fits and predictions of each model may take together, in all threads.

    A fit ends when it next reports progress; one that reports none, before the next fit.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._used: Counter[str] = Counter()  # by model
        self._lock = threading.Lock()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Inside, OutOfTime is raised once the time of the model is over."""
        began = perf_counter()
        try:
            with out_of_time_after(self.seconds - self._used[name]):
                yield
        finally:
            with self._lock:
                self._used[name] += perf_counter() - began  # type: ignore[assignment]  # seconds


@final
@dataclass(frozen=True, eq=False)
class Loop:
    """A cross-validation: the rows, and what is stored for each fit."""

    rows: Dataset  # every row with a target
    folds: Folds
    metric: Metric | None = None  # what a model must be able to have, if it is not to fail
    learned: Learned | None = None  # None is all training rows
    training: bool = False  # whether the rows learned from are predicted too
    clock: Clock = perf_counter
    limit: "TimeLimit | None" = None  # of the fits of each model

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
        train, held = self.rows.take(fold.train), self.rows.take(fold.test)
        constant = BestConstant.of(_truth(train))
        where = f"in fold {number + 1}"
        if self.folds.repeats > 1:
            where += f" of repeat {repeat + 1}"
        return Fit(name, model, number, where, fold, train, held, _truth(held), constant)

    def _merged(self, model: Any, repeat: int, each: Repeat) -> tuple[list[Any], float]:
        """All fits of a repeat at once and the seconds of one, for a model of totals; else none."""
        if self.folds.time is not None or self.learned is not None:
            return [], 0.0
        began = self.clock()
        with caught_warnings() as messages:
            fold = self.folds.fold_of_rows(repeat)
            found = merged_fits(model, self.rows, fold)
        if found is None:
            return [], 0.0
        each.warnings += messages
        return found, (self.clock() - began) / len(found)

    def outcome(self, fit: Fit) -> FitOutcome:
        """Fit, unless fitted already, and predict; errors become messages."""
        n_learned, limit = len(fit.fold.train), self.limit
        with caught_warnings() as messages:
            try:
                with nullcontext() if limit is None else limit.of(fit.name):
                    return self._outcome(fit, messages)
            except OutOfTime:
                assert limit is not None, "nothing else sets a time"
                error: Exception = TimeoutError(f"{UNFINISHED} {limit.seconds:g} s")
                problem = str(error)
            except Exception as wrong:  # of any estimator: the others must continue
                error, problem = wrong, f"{fit.where}: {_sentence(wrong)}"
        return FitOutcome(fit.name, None, messages, n_learned, problem=problem, error=error)

    def _outcome(self, fit: Fit, messages: list[str]) -> FitOutcome:
        model, seconds = fit.fitted, fit.seconds
        if model is None:
            began = self.clock()
            finish = fit.finish or partial(fit.train.fit, for_prediction(fit.estimator))
            model = finish()
            seconds += self.clock() - began
        fit, training = _moved(model, fit), None
        held = self._predicted(model, fit, fit.held, fit.truth, fit.fold.test)
        if self.training:
            truth = _truth(fit.train, model)
            training = self._predicted(model, fit, fit.train, truth, fit.fold.train)
        return FitOutcome(fit.name, held, messages, len(fit.fold.train), seconds, training)

    def _predicted(self, model: Any, fit: Fit, data: Dataset, truth: Truth, rows: Codes) -> HeldOut:
        task, given = data.settled, data.roles.to_predict(data.table)
        prediction = predict_for(model, task, data.model_columns, given)
        if self.metric is not None and not self.metric.suits(prediction):
            raise without_metric(model, self.metric, prediction)
        groups, family = self.folds.units, None
        if not task.has_classes:
            family = predictive_family(model)
        return HeldOut(
            task,
            truth,
            prediction,
            fit.constant.prediction(truth),
            rows,
            np.full(len(rows), fit.number),
            None if groups is None else groups[rows],
            self.folds.n_folds,
            (family,),
            own=None if family is None else _own_constant(family, model, fit, truth),
        )


def without_metric(model: Any, metric: Metric, prediction: Prediction) -> InvalidInput:
    """The reason why a model has no score by a metric."""
    name = type(unprepared(model)).__name__
    if prediction.labels is not None:
        return InvalidInput(
            f"{name} has no predict_proba, and {metric.title} needs probabilities. Choose another "
            f"metric, such as accuracy, or calibrate it in Python: PlattScaling({name}())."
        )
    if gives_density(model):
        return InvalidInput(
            f"{name} fits every training row without an error, because it has as many coefficients "
            f"as rows; it then has no spread, which {metric.title} needs. Give more rows, or a "
            "penalty (l2=1.0)."
        )
    return InvalidInput(
        f"{name} gives no density of the target, and {metric.title} needs one. Choose another "
        "metric, such as rmse, or another model."
    )


def _truth(rows: Dataset, model: Any = None) -> Truth:
    """The true values of the rows; with offsets, if a fitted model is given."""
    task, offsets = rows.settled, None if model is None else rows.offsets
    truth = truth_of(task, rows.table, rows.weights)
    return truth if task.has_classes or offsets is None else truth.moved_by(offsets, link_of(model))


def _own_constant(family: PredictiveFamily, model: Any, fit: Fit, truth: Truth) -> Prediction:
    """The prediction of the best constant of a model's own family, of the rows of its fit."""
    level, own = fit.constant.level, type(family.response)
    if level is not None and type(level.response) is own:
        return fit.constant.prediction(truth)
    response = own() if own in (LogNormal, NegativeBinomial) else family.response
    return BestConstant.of(_truth(fit.train, model), response).prediction(truth)


def _moved(model: Any, fit: Fit) -> Fit:
    """The fit with the best constant, with offsets through the link of the model."""
    if fit.held.offsets is None:
        return fit
    constant = BestConstant.of(_truth(fit.train, model))
    return fit._replace(truth=_truth(fit.held, model), constant=constant)


def cross_validate(
    model: Any, loop: Loop, *, repeat: int = 0, until: Callable[[Repeat], bool] | None = None
) -> Repeat:
    """One model on the folds of one repeat; its first error is raised.

    ``until`` is asked after each fold whether the rest may be left out.
    """
    found = attempt(model, loop, repeat=repeat, until=until)
    if found.error is not None:
        raise found.error
    return found


def attempt(
    model: Any,
    loop: Loop,
    executor: Executor | None = None,
    *,
    repeat: int = 0,
    until: Callable[[Repeat], bool] | None = None,
) -> Repeat:
    """One model on the folds of one repeat, up to its first error; one by one by default."""
    found, at_once = Repeat(), Serial() if executor is None else executor
    with at_once.mapping(loop.outcome, loop.fits({"": model}, repeat, {"": found})) as outcomes:
        for outcome in outcomes:
            found.take(outcome)
            if until is not None and found.error is None and until(found):
                break
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
    models: Mapping[str, Any],
    loop: Loop,
    executor: str | Executor = "serial",
    *,
    groups: Sequence[Collection[str]] = (),
) -> Iterator[dict[str, Repeat]]:
    """All models on the same folds, repeat by repeat; a model that failed is not fitted again.

    Models of a ``group`` have all their repeats before those of the next.  Parallel fits are timed
    by the CPU time of their own thread.
    """
    at_once = executor_for(executor, 0)
    loop = replace(loop, clock=perf_counter if isinstance(at_once, Serial) else thread_time)
    failed: set[str] = set()
    n_fits = len(models) * loop.folds.n_folds * loop.folds.repeats
    with warnings_by_thread(), at_once.session():
        for group, repeat in product(groups or [models], range(loop.folds.repeats)):
            found = {name: Repeat() for name in models if name in group and name not in failed}
            fits = loop.fits(models, repeat, found)
            with at_once.mapping(loop.outcome, fits) as outcomes:
                for outcome in outcomes:
                    found[outcome.name].take(outcome)
                    report("fits", 1, outcome.name, total=n_fits)
            failed |= {name for name, each in found.items() if each.error is not None}
            yield found


def with_settings(model: Any, parameters: Mapping[str, Any]) -> Prepared:
    """The model with these settings, and its preparation inside; neither is fitted."""
    own, words = split_settings(parameters)
    outer = prepared(clone(prepared(model)), words)
    outer.model.set_params(**own)
    return outer


def settings_of(model: Any, *, with_words: bool) -> dict[str, Any]:
    """The settings that ``with_settings`` takes, with the values of the model."""
    outer = prepared(model)
    words = with_prefix(settings_of_words(outer.words)) if with_words else {}
    inside = outer.model.settings_inside() if isinstance(outer.model, Estimator) else {}
    return {**outer.model.get_params(), **inside, **words}


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


@contextmanager
def warnings_by_thread() -> Iterator[None]:
    """Inside, a warning goes to the ``caught_warnings`` of its thread; otherwise it is shown.

    ``warnings.catch_warnings`` belongs to the whole process, so it is entered once, outside the
    threads.
    """
    with warnings.catch_warnings():
        shown = warnings.showwarning
        warnings.simplefilter("always")

        def route(message: Any, category: type[Warning], *rest: Any) -> None:
            messages: list[str] | None = getattr(_listening, "messages", None)
            if messages is None or issubclass(category, LoopsNotKept):  # not of the model
                shown(message, category, *rest)
            elif (text := f"{category.__name__}: {message}") not in messages:
                messages.append(text)

        warnings.showwarning = route  # type: ignore[assignment]  # the rest is file and line
        yield


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """The warnings of this thread in the block, without repeats."""
    messages: list[str] = []
    _listening.messages = messages
    try:
        yield messages
    finally:
        _listening.messages = None


def merged_fits(estimator: Any, rows: Dataset, fold: Codes) -> list[Prepared] | None:
    """The model fitted without each fold in turn; None where folds must be fitted one by one."""
    if not isinstance(estimator, Prepared) or not is_of_totals(estimator.model):
        return None
    if estimator.impute is True or estimator.scale is True or fold.min() < 0:
        return None  # medians and scales are not totals
    if rows.roles.given() or rows.unlabelled is not None:
        return None
    whole = clone(estimator)
    try:
        columns = whole.read_columns(rows.features)
        if not all(_same_without(cells, fold) for cells in columns):
            return None
        needs = needs_of(whole.model, impute=whole.impute, scale=whole.scale)
        preparation = learn(columns, None, needs)
        X, y = preparation.table(columns), rows.table.column(rows.required_target())
        fits = fits_without(clone(estimator.model), X, y, fold=fold)
    except ValueError:  # the usual fit says what is wrong, and in which fold
        return None
    return None if fits is None else [whole.fitted_with(preparation, each) for each in fits]


def _same_without(cells: Cells, fold: Codes) -> bool:
    """Whether a column is prepared in the same way without any one of the folds."""
    gaps = gaps_of(cells)
    if gaps.all():
        return True
    n_folds = int(fold.max()) + 1
    if is_text(cells):
        return False  # each fit has its own words
    if cells.factor is None:
        assert cells.numbers is not None
        known, here = cells.numbers[~gaps], fold[~gaps]
        rests = [known[here != held] for held in range(n_folds)]
        if cells.kind == "date" or (may_be_called(cells.name) and not cells.declared):
            return False  # the parts of a date, and what is an identifier, depend on the rows
        varies = all(bool(len(rest) and rest.min() < rest.max()) for rest in rests)
        return bool(known.min() == known.max()) or varies
    codes, here = cells.factor.codes[~gaps], fold[~gaps]
    sizes = (len(cells.factor.values), n_folds)
    count = np.bincount(codes * n_folds + here, minlength=sizes[0] * sizes[1]).reshape(sizes)
    left = count.sum(axis=1, keepdims=True) - count  # (levels, folds)
    used = count.sum(axis=1) > 0
    return bool((left[used] > 0).all()) and _same_kind(
        int(used.sum()), left.sum(axis=0), len(codes)
    )


def _same_kind(n_levels: int, n_left: Array, n_known: int) -> bool:
    """Whether most of its texts differ, or it has too many levels, in all folds or in none."""

    def kind(n: int) -> tuple[bool, bool]:
        return n_levels > MOSTLY * n, n_levels > MOST_LEVELS and n < ROWS_PER_LEVEL * n_levels

    return all(kind(int(n)) == kind(n_known) for n in n_left)
