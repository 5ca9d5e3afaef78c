"""The score of one evaluation on sealed rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from likely.formatting import capitalised, count, estimate_beside, html_paragraph


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class FinalScore:
    """One evaluation of a model on a sealed test set.

    Attributes
    ----------
    value, low, high : float
        The score and an interval for it, of the given ``level``: 1 − 0.05/k at evaluation k.
    constant : float
        The same score of the best prediction that ignores the features.
    gain, gain_low, gain_high : float or None
        constant − value, and its interval of the same level from the rows' differences: the model
        is better than the constant, beyond what chance would do, where ``gain_low`` is above 0.
        None under ladder and thresholdout, because it would reveal too much.
    group, n_groups : str, int or None
        Of a seal by group: its column, and how many groups are sealed.  Intervals are then those
        of groups, because the rows of one are not independent.
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
    """

    metric: str
    value: float
    low: float
    high: float
    level: float
    n_rows: int
    look: int
    budget: int
    judge: str
    constant: float
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    group: str | None = None
    n_groups: int | None = None
    cv_estimate: float | None = None
    note: str = ""
    of_this_model: bool = True
    extras: Mapping[str, Any] = field(default_factory=dict)
    resumed: bool = False
    head: str = ""  # SHA-256 of the ledger's last line
    model: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """One sentence each for the score, the baseline and the cross-validation estimate."""
        beside = [self.constant, *([] if self.cv_estimate is None else [self.cv_estimate])]
        value, constant, *cv_estimate = estimate_beside(
            self.value, self.low, self.high, *beside, level=self.level
        )
        number = f"evaluation {self.look} of {self.budget}"
        if self.look > self.budget:
            number = f"evaluation {self.look}, beyond the budget of {self.budget}"
        metric = capitalised(self.metric)
        if not self.of_this_model:
            metric = f"Best so far, of an earlier model: {self.metric}"
        groups = (
            "" if self.n_groups is None else f" in {count(self.n_groups, 'group')} of {self.group}"
        )
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
