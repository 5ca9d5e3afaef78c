"""One model of a comparison: its scores, its tests against others, and notes about its fits."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.formatting import all_listed
from likely.inputs.foreign_models import chooses_columns
from likely.intervals import NO_ESTIMATE, Estimate, clearly_worse, gain_to_json
from likely.metrics import Metric, Score, mean_score
from likely.workbench.models.model_entry import entry_of_estimator
from likely.workbench.models.registry import BASELINE
from likely.workbench.preparation.choices import needs_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import Repeat, without_metric
from likely.workbench.scoring.held_out import OwnBaseline
from likely.workbench.scoring.paired import Paired
from likely.workbench.verdict.row_checks import LoneRows, lone_rows


@final
@dataclass(frozen=True, eq=False)
class Entry:
    """One model of a comparison; ``problem`` says why there are no scores."""

    name: str
    estimator: Any  # not fitted, with its preparation inside
    score: Score | None = None
    per_fold: Array = field(default_factory=lambda: np.empty(0))  # the main metric, fold by fold
    seconds: float = nan  # of one fit, on average
    against_best: Paired | None = None  # this model's score minus the best one's, over folds
    against_baseline: Paired | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # how columns are prepared for an estimator without a preparation
    metric: str = ""  # the one that orders the models; a model may not have it
    own: OwnBaseline | None = None  # the constant of its own family, where that is another one
    lone: LoneRows | None = None  # rows without which it would be clearly better than the baseline

    @property
    def worse_than_baseline(self) -> bool:
        """Whether it is clearly worse than the baseline of the table."""
        return self.score is not None and clearly_worse(self.score.gain)

    @property
    def main(self) -> Estimate:
        """The estimate by the metric that orders the models."""
        if self.score is None:
            return NO_ESTIMATE
        return (
            self.score.estimates.get(self.metric, NO_ESTIMATE) if self.metric else self.score.main
        )

    @property
    def without_metric(self) -> bool:
        """Whether it has scores, but not by the metric that orders the models."""
        return (
            self.score is not None and bool(self.metric) and self.metric not in self.score.estimates
        )

    @property
    def value(self) -> float:
        return self.main.value

    @property
    def others(self) -> dict[str, float]:
        """The values of the other metrics, by name."""
        if self.score is None:
            return {}
        main = self.metric or self.score.metric
        return {name: e.value for name, e in self.score.estimates.items() if name != main}

    @property
    def warning_kinds(self) -> tuple[str, ...]:
        """The first warning of each kind, with the number of others."""
        by_kind: dict[str, list[str]] = {}
        for warning in self.warnings:
            kind, colon, text = warning.partition(": ")
            by_kind.setdefault(kind if colon else "", []).append(text if colon else warning)
        return tuple(
            texts[0] + (f" ({len(texts) - 1} more like it in other folds.)" if texts[1:] else "")
            for texts in by_kind.values()
        )

    def facts(self) -> dict[str, Any]:
        """The model and its scores, in types of JSON."""
        paired = {"against_best": self.against_best, "against_baseline": self.against_baseline}
        gain = NO_ESTIMATE if self.score is None else self.score.gain
        return {
            "model": self.name,
            **self.main.to_json(),
            "baseline_link": None if self.score is None else self.score.baseline_link,
            **gain_to_json(gain),
            "own_baseline": None if self.own is None else self.own.to_json(),
            "lone_rows": None if self.lone is None else self.lone.to_json(),
            "folds": self.per_fold.tolist(),
            "others": self.others,
            "fit_seconds": self.seconds,
            **{key: None if test is None else test._asdict() for key, test in paired.items()},
            "problem": self.problem or None,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


@final
@dataclass(eq=False)
class Tally:
    """A model, and its repeats so far."""

    name: str
    estimator: Any
    bare: bool = False  # whether it was given as an estimator without a preparation
    scores: list[Score] = field(default_factory=list)
    per_fold: list[Array] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problem: str = ""
    metric: str = ""
    without: str = ""  # why it has no score by the main metric
    own: list[OwnBaseline] = field(default_factory=list)  # of each repeat, where it is another one
    lone: LoneRows | None = None  # of the first repeat

    def take(self, found: Repeat, metrics: Sequence[Metric]) -> None:
        self.warnings += [text for text in found.warnings if text not in self.warnings]
        self.problem = found.problem
        if self.problem:
            return
        held, main = replace(found.held, is_constant=self.name == BASELINE), metrics[0]
        self.metric, suited = main.name, held.is_constant or main.suits(held.prediction)
        if not suited:
            self.without = str(without_metric(self.estimator, main, held.prediction))
        if not suited and not any(each.suits(held.prediction) for each in metrics):
            self.problem = f": {self.without}"
            return
        self.scores.append(held.score(metrics))
        none = np.full(len(np.unique(held.fold)), nan)
        self.per_fold.append(held.by_fold(main) if suited else none)
        self.seconds += found.seconds
        self.own += filter(None, [held.own_baseline()])
        if len(self.scores) == 1 and not held.is_constant:
            self.lone = lone_rows(
                held.prediction.gain_over(held.constant, held.truth), held.truth.weights, held.row
            )

    def entry(self) -> Entry:
        warnings = tuple(self.warnings)
        if self.problem:
            return Entry(self.name, self.estimator, problem=self.problem, warnings=warnings)
        return Entry(
            self.name,
            self.estimator,
            mean_score(self.scores),
            np.concatenate(self.per_fold),
            float(np.mean(self.seconds)),
            warnings=warnings,
            notes=(
                *([f"ranked last: {self.without}"] if self.without else []),
                *(preparation_notes(self.estimator) if self.bare else ()),
            ),
            metric=self.metric,
            own=self._own_baseline(),
            lone=self.lone,
        )

    def _own_baseline(self) -> OwnBaseline | None:
        if not self.own:
            return None
        gain = Estimate(*np.mean([each.gain for each in self.own], axis=0).tolist())
        return OwnBaseline(self.own[0].family, gain)


def preparation_notes(estimator: Prepared) -> tuple[str, ...]:
    """How columns are prepared for an estimator that was given without a preparation.

    None for one that has its own, and for a model of this library whose columns keep their scale.
    """
    model = estimator.model
    needs = needs_of(model, impute="auto", scale="auto")
    foreign = entry_of_estimator(estimator).is_foreign
    if chooses_columns(model) or not (foreign or needs.scale):
        return ()
    steps = ["missing cells are filled"] * needs.impute
    steps += ["categories become columns of 0 and 1"] * needs.levels
    steps.append(f"numbers are {'standardised' if needs.scale else 'not scaled'}")
    return (
        f"columns are prepared before each fit: {all_listed(steps)}. Another preparation is "
        f"possible in Python: Prepared(model, scale={not needs.scale}), or a Pipeline that begins "
        "with a ColumnTransformer, which is given the columns as they are.",
    )
