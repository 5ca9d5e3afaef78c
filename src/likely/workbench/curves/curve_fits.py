"""The fits of one point of a curve, and their scores on training rows and on held-out rows.

of a target     by the metric of the curve; the baseline is the best constant of the same rows
of a density    log p(x) per row; the baseline is one component, fitted to the same rows

The score of held-out rows is computed from all folds together; that of training rows is the mean
over fits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.metrics import Metric, Score, mean_score
from likely.metrics.numbers import LogLikelihood
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.score import score_of
from likely.numerics.intervals import NO_ESTIMATE, Estimate
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Fold, Folds
from likely.workbench.scoring.cross_validation import (
    Learned,
    Loop,
    attempt,
    caught_warnings,
    with_settings,
)
from likely.workbench.scoring.held_out import one_component


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
