"""The cross-validated score of some settings: everything that is learned, is learned in the fold.

    score = mean over folds of metric(model fitted to the other folds)

The folds are the same for all settings, so trials differ by their settings alone.  A trial on a
share of the rows learns from that share of each class and is held to all rows of the fold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from sklearn.base import clone

from likely._typing import Codes
from likely.data.split import hashed_uniforms
from likely.errors import InvalidInput
from likely.intervals import mean_of_independent
from likely.metrics.base import Metric
from likely.workbench.folds import Fold, Folds
from likely.workbench.predictions import predict_for, truth_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.search.trials import TrialScore
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True, eq=False)
class CrossValidated:
    """An objective for a search."""

    model: Any  # an estimator; clones of it are fitted
    table: "pa.Table"  # every row with a target
    task: Task
    metric: Metric
    n_folds: int = 5
    seed: int = 0
    groups: Codes | None = None  # (n_rows,); rows of one group are never on both sides
    time: Codes | None = None  # (n_rows,); later rows are predicted from earlier ones

    @property
    def folds(self) -> Folds:
        return self.split(self.n_folds, self.seed)

    def split(self, n_folds: int, seed: int) -> Folds:
        """By time or in groups where that was said; stratified where there are classes."""
        n_rows = self.table.num_rows
        if self.time is not None:
            return Folds(n_rows=n_rows, n_folds=n_folds, seed=seed, time=self.time)
        classes = strata_of(self.table, self.task) if self.task.has_classes else None
        return Folds(
            n_rows=n_rows, n_folds=n_folds, seed=seed, stratify=classes, groups=self.groups
        )

    def on(self, rows: Codes) -> Self:
        """The same objective on some of the rows."""
        return replace(
            self,
            table=self.table.take(rows),
            groups=None if self.groups is None else self.groups[rows],
            time=None if self.time is None else self.time[rows],
        )

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore:
        start = monotonic()
        parts = [self.held_out(parameters, fold, share=share) for fold in self.folds]
        values, low, high = (np.array(column) for column in zip(*parts, strict=True))
        ends = (-inf, inf)
        if np.isfinite(np.concatenate([values, low, high])).all():
            ends = mean_of_independent(values, low, high)
        seconds = monotonic() - start
        return TrialScore(float(values.mean()), tuple(values.tolist()), seconds, *ends)

    def held_out(
        self, parameters: Mapping[str, Any], fold: Fold, *, share: float = 1.0
    ) -> tuple[float, float, float]:
        """The metric on the rows held out, with the ends of its interval."""
        train = fold.train if share == 1.0 else self._some(fold.train, share)
        model = prepared(self.model, parameters).fit(self.table.take(train), self.task.target)
        held = self.table.take(fold.test)
        prediction = predict_for(model, self.task, held)
        if not self.metric.suits(prediction):
            raise InvalidInput(
                f"{type(model.model).__name__} gives no density of the target, and "
                f"{self.metric.title} needs one. Choose another metric, such as rmse."
            )
        statistics = self.metric.statistics(truth_of(self.task, held), prediction)
        return (self.metric.value(statistics), *self.metric.interval(statistics))

    def baseline(self) -> float:
        """What the best constant reaches in the same cross-validation."""
        return float(np.mean([self.constant(fold) for fold in self.folds]))

    def constant(self, fold: Fold) -> float:
        """What the best constant reaches on the rows held out."""
        training, held = (truth_of(self.task, self.table.take(rows)) for rows in fold)
        return self.metric.best_constant(training, held)

    def _some(self, train: Codes, share: float) -> Codes:
        """A share of the rows of each class, those that a hash puts first; at least one."""
        order = train[np.argsort(hashed_uniforms(0, self.table.num_rows, self.seed)[train])]
        labels = strata_of(self.table, self.task)[order]
        kept = [
            order[labels == label][: ceil(share * np.count_nonzero(labels == label))]
            for label in np.unique(labels)
        ]
        return np.sort(np.concatenate(kept))


def prepared(model: Any, parameters: Mapping[str, Any]) -> Prepared:
    """The model with these settings, and its preparation inside; neither is fitted."""
    outer = clone(model) if isinstance(model, Prepared) else Prepared(clone(model))
    outer.model.set_params(**parameters)
    return outer


def strata_of(table: "pa.Table", task: Task) -> Codes:
    """The class of each row, one stratum for numbers.

    Codes are of the sorted labels, so that folds do not depend on the order of the classes.
    """
    if not task.has_classes:
        return np.zeros(table.num_rows, dtype=np.int64)
    return replace(task, classes=tuple(sorted(task.classes))).codes(table)
