"""The score of a look, as it is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import floor, isfinite, log10
from typing import Any, final

SMALLEST_WIDTH = 1e-12  # half an interval below this says nothing about digits
MOST_DECIMALS = 6
USUAL_LEVEL = 0.95  # of an interval; any other is said


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class FinalScore:
    """One look at a sealed test set.

    Attributes
    ----------
    value, low, high : float
        The score and an interval for it, of the given ``level``: 1 − 0.05/k at look k.
    constant : float
        The same score of the best prediction that ignores the features.
    gain, gain_low, gain_high : float or None
        constant − value, and its interval of the same level from the rows' differences: the model
        is better than the constant, beyond what chance would do, where ``gain_low`` is above 0.
        None under ladder and thresholdout, which would tell too much by it.
    group, n_groups : str, int or None
        Of a seal by group: its column, and how many groups are sealed.  Intervals are then those
        of groups, for the rows of one are not independent.
    promised : float or None
        What the training part had promised, by cross-validation, where that was said.
    of_this_model : bool
        False where a ladder repeats the best score so far: value and interval are then of an
        earlier model, and this one is not better by a step.
    resumed : bool
        Whether the look had been used before: by a call that was interrupted, or by the same
        predictions.
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
    promised: float | None = None
    note: str = ""
    of_this_model: bool = True
    extras: Mapping[str, Any] = field(default_factory=dict)
    resumed: bool = False
    head: str = ""  # SHA-256 of the ledger's last line
    model: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        digits = _decimals((self.high - self.low) / 2)
        value, low, high = (f"{x:.{digits}f}" for x in (self.value, self.low, self.high))
        low, high = (end.replace("inf", "∞") for end in (low, high))
        of = "" if self.of_this_model else "Best so far, of an earlier model: "
        metric = self.metric.capitalize() if self.of_this_model else self.metric
        level = "" if self.level == USUAL_LEVEL else f", {100 * self.level:.4g} %"
        said = (
            f"{of}{metric} {value} ({low}–{high}{level}) on {self.n_rows:,} sealed "
            f"row{'' if self.n_rows == 1 else 's'}{self._said_groups()}, "
            f"{self._said_look()}; best constant {self.constant:.{digits}f}."
        )
        if self.note:
            said += f" {self.note}"
        if self.promised is not None:
            said += f" Cross-validation had promised {self.promised:.{digits}f}."
        return said

    __repr__ = __str__

    def _said_groups(self) -> str:
        if self.n_groups is None:
            return ""
        return f" in {self.n_groups:,} group{'' if self.n_groups == 1 else 's'} of {self.group}"

    def _said_look(self) -> str:
        if self.look <= self.budget:
            return f"look {self.look} of {self.budget}"
        return f"look {self.look} where {self.budget} {'was' if self.budget == 1 else 'were'} meant"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _decimals(half_width: float) -> int:
    """Two digits of the interval's half width."""
    if half_width < SMALLEST_WIDTH or not isfinite(half_width):
        return 3
    return min(max(1 - floor(log10(half_width)), 0), MOST_DECIMALS)
