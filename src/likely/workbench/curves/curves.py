"""Curves: the score on training rows and on held-out rows, along one axis.

    size          the training rows: nested subsets, chosen by a hash
    iterations    the maximum number of steps of the fit
    a setting     the values of its dimension in the usual space of the model

A gap between the two curves shows what more rows, or a stronger penalty, could gain; two curves
that meet at a bad score suggest another model.  The score of held-out rows is computed from all
folds together, as in ``compare``, and so is its baseline; that of training rows is the mean over
fits.  Of a mixture, which has no target, the scores are log p(x) per row, and the baseline is one
component, fitted to the same rows.  Bands are 95 % intervals.

References
----------
Cortes et al. (1994), Learning curves: asymptotic values and rate of convergence, NIPS 6.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, Unpack, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.compute.executor import Executor, executor_for, executor_of_fits
from likely.data.frames import frame_of
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import steps_of
from likely.metrics import METRICS, Metric, Score, mean_score, metric_named
from likely.metrics.numbers import LogLikelihood
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.score import score_of
from likely.numerics.intervals import NO_ESTIMATE, Estimate
from likely.output.progress import report, stage
from likely.spaces import Dimension
from likely.workbench.comparison.records import keep_curve
from likely.workbench.curves.curve_text import draw, html_of, text_of
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.dataset_notes import target_left_out
from likely.workbench.data.folds import Fold, Folds, share_of_rows
from likely.workbench.data.opening import DataArguments, dataset, takes_data_arguments
from likely.workbench.look.look import about_scores
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import entry_for
from likely.workbench.preparation.prepared import Prepared, built
from likely.workbench.scoring.cross_validation import (
    Learned,
    Loop,
    attempt,
    caught_warnings,
    settings_of,
    warnings_by_thread,
    with_settings,
)
from likely.workbench.scoring.held_out import one_component
from likely.workbench.scoring.predictions import metric_of_models
from likely.workbench.search.question import space_for

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # of the training rows
MOST_STEPS = 12  # points of a curve by iterations
ROWS = object()  # means the number of training rows, because None may be a setting
FEWEST_ROWS = 10  # training rows at the left end of a curve by size


class CurvePoint(NamedTuple):
    """The scores at one point of a curve."""

    x: Any  # rows, steps, or the value of the setting
    train: Estimate  # of the rows that were learned from
    validation: Estimate  # of the rows that were held out
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        scores = {"train": self.train.to_json(), "validation": self.validation.to_json()}
        return {"x": self.x, **scores, "problem": self.problem}


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """A score against a size, a number of steps or a setting.  Prints as a table.

    Attributes
    ----------
    of : str
        ``"size"``, ``"iterations"`` or the name of the setting.
    points : tuple of CurvePoint
    metric : Metric
    model : str
    rows : Dataset
        The table, its task, and what it is called.
    n_folds : int
    notes : tuple of str
        What should be known about the scores.
    """

    of: str
    points: tuple[CurvePoint, ...]
    metric: Metric
    model: str
    rows: Dataset
    n_folds: int
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> CurvePoint:
        """The point with the best validation score."""
        scored = [point for point in self.points if np.isfinite(point.validation.value)]
        if not scored:
            raise InvalidInput(
                f"No point of the curve of {self.model} has a score; expected at least one. Fix "
                f"the problem of the first: {self.points[0].problem}"
            )
        sign = 1 if self.metric.better == "lower" else -1
        return min(scored, key=lambda point: sign * point.validation.value)

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per point, in pandas, polars or Arrow, like the data."""
        values = [point.x for point in self.points]
        number = all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)
        columns: dict[str, Any] = {
            self.of: np.array(values) if number else np.array([str(x) for x in values], object)
        }
        train = np.array([point.train for point in self.points])  # (points, fields of an estimate)
        held = np.array([point.validation for point in self.points])
        columns |= zip(("train", "train_low", "train_high"), train.T[:3], strict=True)
        columns |= zip(("validation", "low", "high", "baseline"), held.T, strict=True)
        columns["problem"] = np.array([point.problem for point in self.points], dtype=object)
        return frame_of(columns, self.rows.library if library is None else library)

    def plot(self, ax: Any = None) -> Any:
        """Both scores with their bands; the matplotlib axes, new ones where none are given."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
        draw(self, ax)
        return ax

    def facts(self) -> dict[str, Any]:
        """The whole curve, in types of JSON."""
        return {
            "data": self.rows.label,
            "rows": self.rows.table.num_rows,
            "target": self.rows.target,
            "model": self.model,
            "of": self.of,
            "metric": self.metric.name,
            "better": self.metric.better,
            "folds": self.n_folds,
            "seed": self.seed,
            "group": self.rows.group,
            "by_time": self.rows.by_time,
            "roles": self.rows.roles.given(),
            "points": [point.to_json() for point in self.points],
            "notes": list(self.notes),
        }


@takes_data_arguments
def learning_curve(
    data: Any,
    target: Any = None,
    model: Any = None,
    *,
    of: Literal["size", "iterations"] | str = "size",
    values: Sequence[Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    metric: str | Metric | Callable[..., float] | None = None,
    executor: str | Executor = "auto",
    name: str | None = None,
    **about: Unpack[DataArguments],
) -> Curve:
    """The scores of a model on training rows and on held-out rows, along one axis.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Only the training rows of a seal are read.
    target : str, or one label for each row
        The column to predict; a seal and built-in data have their own.
    model : str or estimator
        A name, or an estimator.  A mixture needs no target: its score is log p(x) per row, and its
        baseline one component.
    of : {"size", "iterations"} or the name of a setting, default="size"
    values : sequence, optional
        The points: shares of the training rows, numbers of steps, or values of the setting.
        By default, shares from 5 % up; all steps; the default range of the setting.
    folds, seed, metric, group, by_time, weight, offset, exposure
        As in ``compare``.
    kind, order, drop, category, feature, text
        As in ``compare``.
    executor : str or Executor, default="auto"
        How the fits of a point are run: in parallel threads for a small table, otherwise one after
        another.
    name : str, optional
        The name of an estimator in the curve; by default that of its class.

    Returns
    -------
    Curve
        ``points``, ``best``, ``to_frame()``; prints as a table.

    Examples
    --------
    >>> import likely as lk, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"x": rng.normal(size=200)})
    >>> frame["y"] = frame["x"] + rng.normal(size=200) > 0
    >>> curve = lk.learning_curve(frame, "y", "logistic", values=[0.1, 1.0])
    >>> [point.x for point in curve.points]
    [17, 160]
    """
    given = dataset(data, target, **about)
    entry = entry_for(model)
    name = entry.name if name is None else name
    notes: tuple[str, ...] = ()
    if entry.is_mixture:
        rows, main, notes = _for_density(given, entry, name, metric)
        estimator = entry.build(rows.task, seed=seed)
    else:
        rows = given.for_models(model, "learning_curve")
        estimator = built(entry, rows.task, seed=seed)
        main, notes = metric_of_models(rows.settled.kind, metric, {name: estimator})
    at_once = executor_for(executor_of_fits(executor, rows.table.nbytes), 0)
    plan = rows.folds(folds, seed=seed)
    fits: CurveFits
    if entry.is_mixture:
        fits = DensityFits(rows, plan, estimator, at_once)
    else:
        fits = TargetFits(Loop(rows, plan, main, training=True), main, estimator, at_once)
    with warnings_by_thread(), at_once.session(), stage(f"curve of {name}", unit="fits"):
        points = AXES.get(of, _by_setting)(
            _CurvePlan(fits, name, entry, estimator, of, seed), values
        )
    found = Curve(of, points, main, name, rows, folds, seed, (*notes, *about_scores(rows)))
    if rows.seal is not None:
        keep_curve(rows.seal.path, found.facts())  # for the reports of its runs
    return found


def _for_density(
    given: Dataset, entry: ModelEntry, name: str, metric: Any
) -> tuple[Dataset, Metric, tuple[str, ...]]:
    """The rows without a target, the metric of a density, and notes about both."""
    main = METRICS["log-likelihood"]
    if metric is not None and metric_named(metric).name != main.name:
        raise InvalidInput(
            f"The metric {metric_named(metric).name} was given, and {name} predicts no target: it "
            "has a log-likelihood per row. Leave the metric out."
        )
    if isinstance(entry.example, Prepared):
        raise InvalidInput(
            f"A Prepared {name} was given; a mixture reads columns as they are. Give the mixture "
            "itself."
        )
    notes = ["The baseline is the same mixture with one component."]
    if given.target is not None:
        notes.append(target_left_out(given.target, name))
    return given.for_density("learning_curve"), main, tuple(notes)


class PointScores(NamedTuple):
    """The scores of the fits of one point; ``error`` says why there are none."""

    train: Estimate
    validation: Estimate
    n_learned: float  # training rows of a fit, on average
    error: Exception | None = None


class CurveFits(Protocol):
    """The rows of a curve, its folds and its model."""

    @property
    def rows(self) -> Dataset: ...

    @property
    def folds(self) -> Folds: ...

    def scores(self, settings: Mapping[str, Any], learned: Learned | None) -> PointScores:
        """The scores under some settings, from all training rows or some."""

    def fitted(self, train: Dataset) -> Any:
        """The model, without its preparation, fitted to training rows."""


class _CurvePlan(NamedTuple):
    """The fits that all points of a curve share, and its axis."""

    fits: CurveFits
    name: str
    entry: ModelEntry
    estimator: Any
    of: str
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        task = self.fits.rows.task
        return settings_of(self.estimator, with_words=task is not None and bool(task.text))


def _by_size(plan: _CurvePlan, values: Sequence[Any] | None) -> tuple[CurvePoint, ...]:
    shares = SHARES if values is None else tuple(values)
    if not shares or not all(0 < share <= 1 for share in shares):
        raise InvalidInput(
            f"values={list(shares)!r}; shares of the training rows, above 0 and up to 1, were "
            "expected. Use [0.1, 0.3, 1.0]."
        )
    smallest = min(len(fold.train) for fold in plan.fits.folds)
    if values is None:
        shares = tuple(share for share in shares if share * smallest >= FEWEST_ROWS) or (1.0,)
    some = partial(share_of_rows, strata=plan.fits.rows.strata, seed=plan.seed)
    return tuple(
        _point(plan, {}, ROWS, partial(some, share=share)) for share in sorted(set(shares))
    )


def _by_iterations(plan: _CurvePlan, values: Sequence[Any] | None) -> tuple[CurvePoint, ...]:
    if "max_iter" not in plan.settings:
        raise InvalidInput(
            f"{plan.name} has no max_iter: it is fitted without iterations. A curve by iterations "
            "needs a model with them, such as softmax. Use of='size'."
        )
    steps = _steps(plan) if values is None else tuple(values)
    return tuple(_point(plan, {"max_iter": int(step)}, int(step)) for step in steps)


def _by_setting(plan: _CurvePlan, values: Sequence[Any] | None) -> tuple[CurvePoint, ...]:
    if plan.of not in plan.settings:
        raise UnknownName("setting", plan.of, ["size", "iterations", *plan.settings])
    if values is None:
        values = _usual_values(plan)
    return tuple(_point(plan, {plan.of: value}, value) for value in values)


def _usual_values(plan: _CurvePlan) -> Sequence[Any]:
    """Values of the setting in the usual space of the model."""
    dimensions: Mapping[str, Dimension] = {}
    if plan.entry.space is not None:
        dimensions = space_for(None, plan.entry, plan.estimator, plan.fits.rows).dimensions
    if plan.of not in dimensions:
        those = f"those of {plan.name} that have one are {', '.join(dimensions)}"
        raise InvalidInput(
            f"{plan.of!r} has no default range; "
            f"{those if dimensions else f'no setting of {plan.name} has one'}. Give the values: "
            "values=[…]."
        )
    return dimensions[plan.of].grid(len(SHARES) + 1)


AXES: Mapping[str, Callable[[_CurvePlan, Sequence[Any] | None], tuple[CurvePoint, ...]]] = {
    "size": _by_size,
    "iterations": _by_iterations,
}


def _point(
    plan: _CurvePlan, settings: Mapping[str, Any], x: Any, learned: Learned | None = None
) -> CurvePoint:
    """The scores under some settings; ``x`` may be ``ROWS``."""
    found = plan.fits.scores(settings, learned)
    x = round(found.n_learned) if x is ROWS else x
    if found.error is not None:
        if not isinstance(found.error, ValueError | ArithmeticError | TypeError):
            raise found.error
        return CurvePoint(x, NO_ESTIMATE, NO_ESTIMATE, str(found.error))
    report("fits", plan.fits.folds.n_folds, plan.name)
    return CurvePoint(x, found.train, found.validation)


def _steps(plan: _CurvePlan) -> tuple[int, ...]:
    """1, 2, 3, … up to the longest fit of a fold; a subset if there are many."""
    last = 0
    for fold in plan.fits.folds:
        with caught_warnings():
            model = plan.fits.fitted(plan.fits.rows.take(fold.train))
        last = max(last, steps_of(model))
    if last < 1:
        raise InvalidInput(
            f"{plan.name} was fitted to these rows in one pass; a curve by iterations needs an "
            "iterative fit. Use of='size'."
        )
    return tuple(dict.fromkeys(np.rint(np.geomspace(1, last, MOST_STEPS)).astype(int).tolist()))


@final
@dataclass(frozen=True, eq=False)
class TargetFits:
    """Fits of a model that predicts a target."""

    loop: Loop
    metric: Metric
    model: Any  # not fitted
    executor: Executor

    @property
    def rows(self) -> Dataset:
        return self.loop.rows

    @property
    def folds(self) -> Folds:
        return self.loop.folds

    def scores(self, settings: Mapping[str, Any], learned: Learned | None) -> PointScores:
        loop = replace(self.loop, learned=learned)
        found = attempt(with_settings(self.model, settings), loop, self.executor)
        n_learned = float(np.mean(found.n_learned))
        if found.error is not None:
            return PointScores(NO_ESTIMATE, NO_ESTIMATE, n_learned, found.error)
        train = mean_score([part.score([self.metric]) for part in found.training])
        return PointScores(train.main, found.held.score([self.metric]).main, n_learned)

    def fitted(self, train: Dataset) -> Any:
        return train.fit(with_settings(self.model, {}).for_prediction()).model_


@final
@dataclass(frozen=True, eq=False)
class DensityFits:
    """Fits of a mixture to rows without a target; columns are read as they are."""

    rows: Dataset
    folds: Folds
    model: Any  # not fitted
    executor: Executor

    def scores(self, settings: Mapping[str, Any], learned: Learned | None) -> PointScores:
        model, folds = clone(self.model).set_params(**settings), self._folds(learned)
        n_learned = float(np.mean([len(fold.train) for fold in folds]))
        try:
            with self.executor.mapping(lambda fold: self._part(model, fold), folds) as found:
                parts = list(found)
        except (ValueError, ArithmeticError, TypeError) as error:
            return PointScores(NO_ESTIMATE, NO_ESTIMATE, n_learned, error)
        train = mean_score([part.training for part in parts])
        rows = np.concatenate([fold.test for fold in folds])
        ours, one = (np.concatenate([part.held[k] for part in parts]) for k in range(2))
        return PointScores(train.main, self._score(rows, ours, one).main, n_learned)

    def fitted(self, train: Dataset) -> Any:
        return train.fit(clone(self.model))

    def _folds(self, learned: Learned | None) -> list[Fold]:
        folds = list(self.folds.of_repeat(0))
        if learned is None:
            return folds
        return [fold._replace(train=learned(fold.train)) for fold in folds]

    def _part(self, model: Any, fold: Fold) -> "_DensityPart":
        """The mixture and one component, fitted without the fold."""
        train, held = self.rows.take(fold.train), self.rows.take(fold.test)
        with caught_warnings():
            fits = [train.fit(clone(model)), train.fit(one_component(clone(model)))]
        inside, outside = (
            tuple(np.asarray(fit.log_likelihoods(rows.features)) for fit in fits)
            for rows in (train, held)
        )
        return _DensityPart(outside, self._score(fold.train, *inside))

    def _score(self, rows: Codes, ours: Array, one: Array) -> Score:
        weight, groups = self.rows.weights, self.folds.groups
        return score_of(
            [LogLikelihood()],
            Truth(np.zeros(len(rows)), None if weight is None else weight[rows], kind="real"),
            Prediction(log_density=ours),
            Prediction(log_density=one),
            groups=None if groups is None else groups[rows],
        )


class _DensityPart(NamedTuple):
    """log p(x) of the held-out rows of a fold, and the score of its training rows."""

    held: tuple[Array, ...]  # by the mixture, and by one component
    training: Score
