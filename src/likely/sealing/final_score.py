"""The score of one evaluation on sealed rows."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast, final

import numpy as np

from likely._typing import Array, Codes
from likely.names import in_words
from likely.numerics.intervals import (
    Estimate,
    clearly_better,
    gain_from_json,
    gain_to_json,
    measures_from_json,
    measures_to_json,
)
from likely.output.formatting import capitalised, count, estimate_compared, html_paragraph
from likely.storage.json import plain

NEGATIVE = "negative-log-likelihood"  # what judges need; shown as a log-likelihood, upwards


def title_of_loss(metric: str) -> str:
    """The loss in words; a negative log-likelihood is shown as a log-likelihood."""
    return "log-likelihood per row" if metric == NEGATIVE else in_words(metric)


def upwards(metric: str, found: Estimate) -> Estimate:
    """A negative log-likelihood as the log-likelihood that every other text shows."""
    if metric != NEGATIVE:
        return found
    value, low, high, constant = found
    return Estimate(-value, -high, -low, -constant)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class FinalScore:
    """One evaluation of a model on a sealed test set.

    Attributes
    ----------
    metric : str
        A loss by its name, such as ``log-loss``: lower is better.
    estimate : Estimate
        The score (``value``), the ends of its interval (``low``, ``high``) of the given ``level``,
        1 − 0.05/k at evaluation k, and the score of the best constant prediction
        (``baseline``).
    gain : Estimate or None
        The score of the baseline minus that of the model, with an interval of the same level
        computed from the differences by row: the model is clearly better if ``low`` is above 0.
        None with ladder and thresholdout, because it would reveal too much.
    measures : dict
        An estimate of each metric of the task, by name; none under ladder and thresholdout.
    n_impossible : int
        The number of sealed rows with a value to which the model gave probability 0.  0 under
        ladder and thresholdout.
    group, n_groups : str, int or None
        For a seal by group: its column, and the number of sealed groups.  Intervals are then
        cluster-robust, because the rows of a group are not independent.  Without a group, where
        sealed rows are copies of each other: None, and the number of different rows.
    cv_estimate : float or None
        The cross-validation estimate on the training part, where one was given.
    of_this_model : bool
        False where a ladder repeats the best score so far: value and interval are then of an
        earlier model, and this one is not better by a step.
    resumed : bool
        Whether this evaluation had been counted before: by a call that was interrupted, or by
        the same predictions.
    model : object
        The model, fitted to the training part.
    findings : tuple of mappings
        What ``look`` finds in the training rows with which every score is too good, or may be:
        leaks and copies, with ``code``, ``columns`` and ``text``.
    """

    metric: str
    estimate: Estimate
    level: float
    n_rows: int
    evaluation: int
    budget: int
    judge: str
    gain: Estimate | None = None
    measures: Mapping[str, Estimate] = field(default_factory=dict)
    n_impossible: int = 0
    group: str | None = None
    n_groups: int | None = None
    cv_estimate: float | None = None
    note: str = ""
    of_this_model: bool = True
    resumed: bool = False
    head: str = ""  # SHA-256 of the ledger's last line
    model: Any = field(default=None, repr=False, compare=False)
    findings: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, compare=False)

    @property
    def title(self) -> str:
        """The metric in words; a log-likelihood is shown upwards, as everywhere."""
        return title_of_loss(self.metric)

    @property
    def shown(self) -> Estimate:
        """The estimate of ``title``: a negative log-likelihood with its sign changed."""
        return upwards(self.metric, self.estimate)

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def gain_over_baseline(self) -> Estimate:
        """The gain; the difference of the two scores, if the gain by row may not be shown."""
        value, low, high, constant = self.estimate
        unpaired = Estimate(constant - value, constant - high, constant - low, 0.0)
        return unpaired if self.gain is None else self.gain

    @property
    def better_than_baseline(self) -> bool:
        """Whether the gain is clearly above 0."""
        return clearly_better(self.gain_over_baseline)

    def to_json(self) -> dict[str, Any]:
        """The score as in ``final.json`` and ``--json``; an infinite end is null."""
        gain = (
            {"gain": None, "gain_interval": None} if self.gain is None else gain_to_json(self.gain)
        )
        record: dict[str, Any] = {
            "metric": self.metric,
            **self.estimate.to_json(),
            **gain,
            "level": self.level,
            "rows": self.n_rows,
            "evaluation": self.evaluation,
            "budget": self.budget,
            "judge": self.judge,
            "measures": measures_to_json(self.measures),
            "impossible_rows": self.n_impossible,
            "group": self.group,
            "groups": self.n_groups,
            "cv_estimate": self.cv_estimate,
            "note": self.note,
            "of_this_model": self.of_this_model,
            "resumed": self.resumed,
            "head": self.head,
        }
        return cast(dict[str, Any], plain(record))

    @classmethod
    def from_json(cls, record: Mapping[str, Any], model: Any = None) -> "FinalScore":
        """Read what ``to_json`` wrote; a line of the ledger has a part of it."""
        revealed = record.get("gain_interval") is not None
        return cls(
            metric=record["metric"],
            estimate=Estimate.from_json(record),
            level=record["level"],
            n_rows=record["rows"],
            evaluation=record["evaluation"],
            budget=record["budget"],
            judge=record["judge"],
            gain=gain_from_json(record) if revealed else None,
            measures=measures_from_json(record.get("measures", ())),
            n_impossible=record.get("impossible_rows", 0),
            group=record["group"],
            n_groups=record["groups"],
            cv_estimate=record["cv_estimate"],
            note=record["note"],
            of_this_model=record["of_this_model"],
            resumed=record["resumed"],
            head=record["head"],
            model=model,
        )

    def __str__(self) -> str:
        """The score, and what makes it too good."""
        return " ".join(
            [self.sentence, *(f"{each['code']} {each['text']}" for each in self.findings)]
        )

    @property
    def sentence(self) -> str:
        """One sentence each for the score, the baseline and the cross-validation estimate."""
        known = [] if self.cv_estimate is None else [self.cv_estimate]
        known = [-each if self.metric == NEGATIVE else each for each in known]
        value, constant, *cv_estimate = estimate_compared(*self.shown, *known, level=self.level)
        number = f"evaluation {self.evaluation} of {self.budget}"
        if self.evaluation > self.budget:
            number = f"evaluation {self.evaluation}, beyond the budget of {self.budget}"
        metric = capitalised(self.title)
        if not self.of_this_model:
            metric = f"Best score so far (an earlier model's): {self.title}"
        groups = ""
        if self.n_groups is not None and self.group is None:
            groups = f" ({count(self.n_groups, 'different row')})"
        elif self.n_groups is not None:
            groups = f" in {count(self.n_groups, 'group')} of {self.group}"
        parts = [
            f"{metric} {value} on {count(self.n_rows, 'sealed row')}{groups}; {number}.",
            f"Baseline (constant): {constant}.",
            *([self.note] if self.note else []),
            *(f"Cross-validation estimate: {each}." for each in cv_estimate),
        ]
        return " ".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))


# ── The contract of a scorer of sealed rows: predictions first, and labels only after them ────────
# Sealing does not depend on any metric: it is given a scorer.  The exact
# score is computed only if the judge of the seal reveals it; other judges use losses.

REQUIRED = {"value": (), "interval": (2,), "baseline": ()}  # of a score: the shape of each
Predictions = dict[str, Array]  # arrays of numbers, Booleans or text


class Scorer(ABC):
    """How predictions are made and compared with labels; lower losses are better."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the loss, in the ledger and in the text."""

    @abstractmethod
    def predictions(
        self, model: Any, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> Predictions:
        """The predictions of the model for the rows, with their offsets and exposures, if any."""

    @abstractmethod
    def losses(self, predictions: Predictions, y: Array) -> Array:
        """One number per row; not negative, if it is to work under ladder and thresholdout."""

    @abstractmethod
    def constant_loss(self, y: Array) -> float:
        """The mean loss of the best prediction of these labels that ignores the features."""

    @abstractmethod
    def score(
        self,
        predictions: Predictions,
        y: Array,
        *,
        y_train: Array,
        level: float,
        groups: Codes | None = None,
    ) -> Mapping[str, Any]:
        """The exact score, as JSON.

        Required: ``value`` (the mean loss), ``interval`` (its two ends) and ``baseline`` (the mean
        loss of the best constant of the training labels).  Optional: ``gain`` with
        ``gain_interval``, ``measures`` and ``impossible_rows``.  Rows of one of the ``groups`` are
        not independent.
        """

    def described(self) -> Mapping[str, Any]:
        """The facts from which the scorer can be made again, as JSON; a commit holds them."""
        return {"name": self.name}


def keys_missing(score: Mapping[str, Any]) -> list[str]:
    """The required keys that are missing in the score of a scorer, or have another shape."""
    return [key for key, shape in REQUIRED.items() if np.shape(score.get(key, [])) != shape]
