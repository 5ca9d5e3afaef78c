"""A boosted reference: what gradient boosting gains over models on the same held-out rows.

    gain = mean of (loss of the model − loss of the reference), row by row, in nats

The reference is no candidate: it is not ranked, called the best, or suggested.  A clear gain with
a smaller squared error says that the terms of a model miss something, as a straight line misses a
bend, and two lines a product; a gain without it is one of the spread.

Its means are those of scikit-learn's histogram boosting under the loss that fits y: Poisson, gamma,
squared or log loss.  Numbers have the density of the likeliest family of their kind around these
means; its spread is estimated on one half of the held-out rows of a fold and used on the other.

It is fitted where that costs little: to rows without texts, offsets or exposures, of at most
``MOST_COLUMNS`` prepared columns and ``MOST_CLASSES`` classes.  It learns from at most
``MOST_LEARNED`` rows of a fold, and folds are left out once ``ENOUGH_HELD`` rows are predicted.

Which columns carry the gain: with e the loss of the means, and the cells of a column shuffled,

    (e of the reference, shuffled − e of the reference) − (the same of the model)

A pair of columns does, if the reference is far from additive in them, with f its predictor:

    D = f(a, b) − f(a′, b) − f(a, b′) + f(a′, b′)        mean D² above ¼ of mean step² of both

References
----------
Breiman (2001), Random forests, Machine Learning 45, §10.  Friedman & Popescu (2008), Predictive
learning via rule ensembles, Annals of Applied Statistics 2, §8.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import TargetKind
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.baseline import family_around, usual_families
from likely.metrics.numbers import GammaDeviance, PoissonDeviance, SquaredDeviance, UnitDeviance
from likely.metrics.prediction import Prediction, Truth
from likely.numerics.intervals import Estimate, clearly_better, gain_from_json, gain_to_json
from likely.output.formatting import all_listed, estimate, quoted
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Folds
from likely.workbench.data.task import Task
from likely.workbench.models.registry import BASELINE, entry_of_path
from likely.workbench.preparation.prepared import prepared
from likely.workbench.scoring.cross_validation import Fit, Loop, caught_warnings, warnings_by_thread
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.scoring.paired import LEVEL, mean_ends
from likely.workbench.scoring.predictions import (
    features_of,
    predict_features,
    with_density,
)

if TYPE_CHECKING:
    import pyarrow as pa

WORTH = 0.05  # nats a row, below which a clear gain is not worth other terms
MOST_COLUMNS, MOST_CLASSES = 200, 10
MOST_LEARNED, ENOUGH_HELD = 20_000, 2_000  # rows
MOST_SHUFFLED = 1_000  # rows that are predicted again for each column
MOST_TRIED = 40  # columns
MOST_NAMED, CARRIES = 3, 0.1  # columns, each with so much of what all carry
PRODUCT = 0.25  # of the squared steps in two columns, from which on they are no sum
LEAST_MEAN = 1e-3  # of the mean of y, in place of a mean that is not above 0
NAME = "gradient boosting"
BOOSTED = "sklearn.ensemble.HistGradientBoosting"
SETTINGS = {"early_stopping": True, "max_iter": 200}
LOSSES: Mapping[TargetKind, tuple[str, UnitDeviance]] = {
    "count": ("poisson", PoissonDeviance()),
    "positive": ("gamma", GammaDeviance()),
    "real": ("squared_error", SquaredDeviance()),
}


class FittedModel(Protocol):
    """A model after its fit."""

    def predict(self, X: "pa.Table") -> Array: ...


class RowLosses(NamedTuple):
    """The losses of a model, by row of the table; NaN where a row was not held out."""

    nats: Array
    squares: Array | None  # of numbers, (y − μ)²


def row_losses(held: HeldOut) -> RowLosses:
    """The losses of held-out rows at their places in the table."""

    def placed(values: Array) -> Array:
        found = np.full(int(held.row.max()) + 1, np.nan)
        found[held.row] = values
        return found

    mean = held.prediction.mean
    squares = None if mean is None else placed(np.square(held.truth.y - mean))
    return RowLosses(placed(held.prediction.losses(held.truth)), squares)


@final
@dataclass(frozen=True, eq=False)
class Reference:
    """The gain of the reference over each model, and the columns that carry that over one."""

    gains: Mapping[str, Estimate]  # nats a row, by model
    n_rows: int
    over: str = ""  # the model that was best
    columns: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    closer: tuple[str, ...] = ()  # models of numbers whose means are farther from y than its own

    def is_missed_by(self, model: str) -> bool:
        """Whether its terms clearly miss something that is worth having."""
        gain = self.gains.get(model)
        clear = gain is not None and clearly_better(gain) and gain.value > WORTH
        return clear and model in self.closer

    def about(self, model: str) -> str:
        """A sentence on what a model misses; empty where it misses nothing."""
        if not self.is_missed_by(model):
            return ""
        gain = estimate(*self.gains[model][:3])
        named = ""
        if self.columns:
            verb = "carries" if len(self.columns) == 1 else "carry"
            pairs = all_listed([f"{a} × {b}" for a, b in self.pairs])
            pairs = f" (also as {'a product' if len(self.pairs) == 1 else 'products'}: {pairs})"
            named = f" {quoted(self.columns)} {verb} it{pairs if self.pairs else ''}."
        first = f"The terms of {model} miss something"
        if model == BASELINE:
            first = "The columns say more than these models see"
        return (
            f"{first}: {NAME}, a reference and no candidate, is better "
            f"by {gain} nats a row on {self.n_rows:,} of the same held-out rows.{named} Look for "
            "bends and products of columns."
        )

    def to_json(self) -> dict[str, object]:
        return {
            "model": NAME,
            "rows": self.n_rows,
            "gains": {name: gain_to_json(gain) for name, gain in self.gains.items()},
            "over": self.over,
            "columns": list(self.columns),
            "pairs": [list(pair) for pair in self.pairs],
            "closer": list(self.closer),
        }


def reference_from_json(record: Mapping[str, object] | None) -> Reference | None:
    """Read what ``to_json`` wrote."""
    match record:
        case {
            "gains": dict(gains),
            "rows": int(rows),
            "over": str(over),
            "columns": list(columns),
            "pairs": list(pairs),
            "closer": list(closer),
        }:
            found = {str(name): gain_from_json(gain) for name, gain in gains.items()}
            both = tuple((a, b) for a, b in pairs)
            return Reference(found, rows, over, tuple(columns), both, tuple(closer))
    return None


def costs_little(rows: Dataset, n_columns: int) -> bool:
    """Whether the reference is fitted without being asked for."""
    return not (
        rows.roles.at_prediction()
        or rows.texts
        or n_columns > MOST_COLUMNS
        or len(rows.settled.classes) > MOST_CLASSES
    )


@final
@dataclass(frozen=True, eq=False)
class Boosted:
    """The reference on folds of the first repeat, and its fit without the first one."""

    plan: Folds
    row: Codes  # held out
    truth: Truth
    prediction: Prediction
    first: tuple[Fit, FittedModel]
    seed: int

    def over(self, losses: Mapping[str, RowLosses]) -> Reference:
        """What it gains over models, without the columns."""
        gains = _gains(self.plan, losses, self.row, self.truth, self.prediction)
        closer = (n for n in gains if _is_closer(losses[n], self.row, self.truth, self.prediction))
        return Reference(gains, len(self.row), closer=tuple(closer))

    def with_columns(self, found: Reference, name: str, estimator: object) -> Reference:
        """With the columns that carry the gain over a model, not fitted, if it misses something."""
        if not found.is_missed_by(name):
            return replace(found, over=name)
        fit, model = self.first
        task = fit.train.settled
        try:
            with warnings_by_thread(), caught_warnings(), one_thread():
                carried = _Shuffled(task, fit, model, fit.train.fit(estimator), self.seed)
                columns = carried.columns()
                return replace(found, over=name, columns=columns, pairs=carried.pairs(columns))
        except ValueError:  # of columns or values that one of them does not take
            return replace(found, over=name)


def boosted_on(rows: Dataset, plan: Folds, *, seed: int) -> Boosted | None:
    """The reference; None where it cannot be fitted."""
    loop = Loop(rows, plan, learned=partial(learned_rows, seed))
    boosted = prepared(boosted_model(rows.settled, seed))
    held, first, n = [], None, 0
    try:
        with warnings_by_thread(), caught_warnings(), one_thread():
            for number, fold in enumerate(plan.of_repeat(0)):
                fit = loop.fit("", boosted, number, fold)
                model = fit.train.fit(boosted)
                held.append((fold.test, fit.truth, _scored(model, rows.settled, fit)))
                first = (fit, model) if first is None else first
                n += len(fold.test)
                if n >= ENOUGH_HELD:
                    break
        assert first is not None, "there are two folds at least"
        row, truth, prediction = zip(*held, strict=True)
        joined = Truth.joined(truth), Prediction.joined(prediction)
        return Boosted(plan, np.concatenate(row), *joined, first, seed)
    except ValueError:  # of columns or values that it does not take: there is no reference
        return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Trees of so few rows are grown faster by one thread than by many that wait for each other."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def boosted_model(task: Task, seed: int) -> object:
    settings: dict[str, object] = {**SETTINGS, "random_state": seed}
    if not task.has_classes:
        settings["loss"] = _loss_of(task)[0]
    path = f"{BOOSTED}{'Classifier' if task.has_classes else 'Regressor'}"
    return entry_of_path(path).build(task, settings)


def _means_above_0(task: Task) -> bool:
    return task.kind != "real" or task.with_zeros


def _loss_of(task: Task) -> tuple[str, UnitDeviance]:
    """The loss that fits y; amounts of which some are 0 have that of counts, with means above 0."""
    return LOSSES["count" if task.with_zeros else task.kind]


def learned_rows(seed: int, train: Codes) -> Codes:
    """At most so many of the training rows, in their order."""
    if len(train) <= MOST_LEARNED:
        return train
    chosen = np.random.default_rng(seed).choice(len(train), MOST_LEARNED, replace=False)
    return train[np.sort(chosen)]


def _scored(model: FittedModel, task: Task, fit: Fit) -> Prediction:
    """The predictions of a fold, of numbers with a density."""
    table = fit.held.model_columns
    found = predict_features(model, task, features_of(model, task, table))
    if task.has_classes:
        return found
    half, density = np.arange(len(fit.truth.y)) % 2, np.empty(len(fit.truth.y))
    for side in (0, 1):
        here, other = np.flatnonzero(half == side), np.flatnonzero(half != side)
        density[here] = _density(fit.truth, found.means, other, here)
    return Prediction.of_numbers(found.means, density)


def _density(truth: Truth, mean: Array, known: Array, new: Array) -> Array:
    """log p of new rows by the family that is likeliest on those that are known."""
    y, weight, best = truth.y, truth.weights, (-np.inf, np.full(len(new), -np.inf))
    for response in usual_families(truth.kind, y, truth.with_zeros):
        family = PredictiveFamily.of(*family_around(response, y[known], mean[known], weight[known]))
        if family is not None:
            own, theirs = (
                with_density(Prediction.of_numbers(mean[at]), family, y[at], truth).log_density
                for at in (known, new)
            )
            assert own is not None
            assert theirs is not None
            best = max(best, (float(np.dot(weight[known], own)), theirs), key=lambda one: one[0])
    return best[1]


def _gains(
    plan: Folds, losses: Mapping[str, RowLosses], row: Codes, truth: Truth, prediction: Prediction
) -> dict[str, Estimate]:
    groups = None if plan.units is None else plan.units[row]
    found, weight = {}, truth.weights
    for name, each in losses.items():
        saved = each.nats[row] - prediction.losses(truth)
        if np.isfinite(saved).all():
            ends = mean_ends(saved, weight, groups, LEVEL)
            found[name] = Estimate(float(np.average(saved, weights=weight)), *ends, 0.0)
    return found


def _is_closer(model: RowLosses, row: Codes, truth: Truth, prediction: Prediction) -> bool:
    """Whether the reference gains by its means, not by its spread alone; always, of classes."""
    if model.squares is None or prediction.mean is None:
        return True
    squares = np.square(truth.y - prediction.mean)
    return bool(np.dot(truth.weights, model.squares[row] - squares) > 0)


@final
class _Shuffled:
    """The reference and a model on rows of a fold in which columns are shuffled."""

    def __init__(
        self, task: Task, fit: Fit, reference: FittedModel, model: FittedModel, seed: int
    ) -> None:
        n = min(len(fit.truth.y), MOST_SHUFFLED)
        self.task, self.truth = task, fit.truth.rows(np.arange(n))
        self.table = fit.held.model_columns.slice(0, n)
        self.names = [name for name in fit.held.features.column_names if name != task.target]
        self.models = (reference, model)
        self.order = np.random.default_rng(seed).permutation(n)

    def columns(self) -> tuple[str, ...]:
        """The columns by which the reference loses clearly more than the model."""
        if len(self.names) > MOST_TRIED:
            return ()
        usual = [self._loss(model) for model in self.models]
        carried = {}
        for name in self.names:
            moved = [self._loss(model, name) for model in self.models]
            carried[name] = (moved[0] - usual[0]) - (moved[1] - usual[1])
        total = sum(max(value, 0.0) for value in carried.values())
        in_order = sorted(carried, key=lambda name: -carried[name])
        return tuple(n for n in in_order if carried[n] > CARRIES * total)[:MOST_NAMED]

    def pairs(self, columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Pairs of these columns in which the reference is far from a sum."""
        found = []
        for a, b in combinations(columns, 2):
            whole, less_a, less_b, neither = (
                self.predictor(*moved) for moved in ((), (a,), (b,), (a, b))
            )
            steps = np.square(whole - less_a).mean() + np.square(whole - less_b).mean()
            bend = np.square(whole - less_a - less_b + neither).mean()
            if bend > PRODUCT * steps:
                found.append((a, b))
        return tuple(found)

    def _loss(self, model: FittedModel, *shuffled: str) -> float:
        """The mean loss of the means, or of the probabilities."""
        prediction, truth = self._prediction(model, *shuffled), self.truth
        if self.task.has_classes:
            return float(np.average(prediction.losses(truth), weights=truth.weights))
        least = LEAST_MEAN * abs(float(truth.y.mean()))
        mean = prediction.means
        if _means_above_0(self.task):
            mean = np.maximum(mean, least)
        each = _loss_of(self.task)[1].of(truth.y, mean)
        return float(np.average(each, weights=truth.weights))

    def predictor(self, *shuffled: str) -> Array:
        """Of the reference, on the scale on which its trees add."""
        found = self._prediction(self.models[0], *shuffled)
        if self.task.has_classes:
            return found.log_p
        return np.log(found.means) if _means_above_0(self.task) else found.means

    def _prediction(self, model: FittedModel, *shuffled: str) -> Prediction:
        table = self.table
        for name in shuffled:
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).take(self.order))
        return predict_features(model, self.task, features_of(model, self.task, table))
