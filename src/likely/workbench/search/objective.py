"""What a search improves: the cross-validated score of some settings.

The folds are the same for all settings, so that trials differ by their settings alone.  A trial on
a share of the rows learns from that share of each class and is held to all rows of the fold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import monotonic
from typing import Any, Self, final

from likely._typing import Codes
from likely.metrics import Metric
from likely.workbench.dataset import Dataset
from likely.workbench.folds import Folds, share_of_rows
from likely.workbench.held_out import (
    HeldOut,
    Loop,
    cross_validate,
    hold_out_fold,
    with_settings,
)
from likely.workbench.models import BASELINE, MODELS
from likely.workbench.search.trials import TrialScore


@final
@dataclass(frozen=True, eq=False)
class CrossValidated:
    """The objective of ``tune``."""

    model: Any  # an estimator; clones of it are fitted
    rows: Dataset  # every row with a target
    metric: Metric
    n_folds: int = 5
    seed: int = 0

    @cached_property
    def folds(self) -> Folds:
        return self.split(self.n_folds, self.seed)

    def on(self, rows: Codes) -> Self:
        """The same objective on some of the rows."""
        return replace(self, rows=self.rows.take(rows))

    def evaluate(self, parameters: Mapping[str, Any], *, share: float = 1.0) -> TrialScore:
        start = monotonic()
        model = with_settings(self.model, parameters)
        found = cross_validate(model, self._loop(self.folds, share))
        held = found.held
        main = held.score([self.metric]).main
        return TrialScore(
            main.value,
            tuple(held.by_fold(self.metric).tolist()),
            monotonic() - start,
            main.low,
            main.high,
            tuple(found.warnings),
        )

    def baseline(self) -> float:
        """What the best constant reaches in the same cross-validation."""
        constant = MODELS[BASELINE].build(self.rows.settled)
        held = cross_validate(constant, self._loop(self.folds)).held
        return replace(held, is_constant=True).score([self.metric]).main.value

    def split(self, n_folds: int, seed: int) -> Folds:
        """Other folds of the same rows."""
        return self.rows.folds(n_folds, seed=seed)

    def fold(self, parameters: Mapping[str, Any], folds: Folds, number: int) -> HeldOut:
        """One of some folds, under these settings."""
        return hold_out_fold(with_settings(self.model, parameters), self._loop(folds), number)

    def _loop(self, folds: Folds, share: float = 1.0) -> Loop:
        table, task = self.rows.learned, self.rows.settled
        learned = None
        if share != 1.0:
            learned = partial(share_of_rows, share=share, strata=task.strata(table), seed=self.seed)
        return Loop(table, task, folds, self.metric, learned)
