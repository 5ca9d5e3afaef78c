"""The parts of a date that models learn from: time since the start, month and weekday.

    days       t − t₀ in days, where t₀ is the first day of the fit; the time of day is a fraction
    month      January to December, a category
    weekday    Monday to Sunday, a category

A part that never varies is left out, and so are months and weekdays of which there are fewer than
fifty rows each on average, and the weekday of dates that all are the same day of their month: they
stand for months.  A month or weekday that the fit did not see is read as the nearest one that it
did, so a model can predict dates after its training rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.categories import CodedValues
from likely.workbench.preparation.cells import Cells, numbers_of
from likely.workbench.preparation.steps import NumberColumn, Step

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
TIME = "time"
NAMES = {"month": MONTHS, "weekday": WEEKDAYS}
THURSDAY = 3  # 1970-01-01, which is day 0
ROWS_PER_PART = 50  # months or weekdays with fewer rows each are not learned


@final
@dataclass(frozen=True)
class CalendarPart:
    """The month or the weekday of a date, as categories."""

    part: str  # "month" or "weekday"
    seen: tuple[int, ...]  # in the fit, from 0
    step: Step  # what is done with the categories

    def columns(self, days: Array) -> dict[str, Any]:
        """The columns that the model sees; a missing date is a missing category."""
        names, seen = NAMES[self.part], np.asarray(self.seen)
        found = nearest(calendar_codes(days, self.part), self.seen, len(names))
        codes = np.where(found < 0, -1, np.searchsorted(seen, found)).astype(np.int32)
        factor = CodedValues(codes, np.array([names[code] for code in self.seen], dtype=object))
        return self.step.columns(Cells(self.step.name, "category", None, factor))


@final
@dataclass(frozen=True)
class DateColumns(Step):
    """A date as its time since the start, and its month and weekday where these vary."""

    name: str
    start: float  # the first day of the fit, in days since 1970-01-01
    days: NumberColumn  # since then
    fill: float | None  # of a missing date, for its month and weekday; None leaves it missing
    parts: tuple[CalendarPart, ...]
    left_out: tuple[str, ...] = ()  # parts of too few rows

    @property
    def scaled(self) -> bool:
        return self.days.scaled

    def columns(self, cells: Cells) -> dict[str, Any]:
        days = numbers_of(cells, date=True)
        found = self.part_columns(TIME, days)
        if self.fill is not None:
            days = np.where(np.isnan(days), self.fill, days)
        for part in self.parts:
            found.update(part.columns(days))
        return found

    def part_columns(self, part: str, days: Array) -> dict[str, Any]:
        """The columns of one part of dates: ``"time"``, ``"month"`` or ``"weekday"``."""
        if part == TIME:
            return self.days.columns(Cells(self.days.name, "number", days - self.start, None))
        return next(each for each in self.parts if each.part == part).columns(days)

    def description(self) -> str:
        how = self.days.description()
        since = f"{self.days.name!r}, days since {np.datetime64(int(self.start), 'D')}"
        parts = [since if how == "as it is" else f"{since} ({how})"]
        parts += [f"{part.step.name!r}, {part.step.description()}" for part in self.parts]
        parts += [f"{part} left out (too few rows of each)" for part in self.left_out]
        return "; ".join(parts)


def calendar_codes(days: Array, part: str) -> Codes:
    """The month (0 is January) or weekday (0 is Monday) of each day; −1 is missing."""
    known = ~np.isnan(days)
    whole = np.floor(np.where(known, days, 0.0)).astype(np.int64)
    if part == "weekday":
        codes = (whole + THURSDAY) % 7
    else:
        codes = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return np.where(known, codes, -1)


def are_months(days: Array) -> bool:
    """Whether all are the same day of a month, so that they stand for whole months."""
    whole = np.floor(days).astype(np.int64)
    first = whole.astype("datetime64[D]").astype("datetime64[M]").astype("datetime64[D]")
    return bool(np.ptp(whole - first.astype(np.int64)) == 0)


def nearest(codes: Codes, seen: Sequence[int], n: int) -> Codes:
    """Each code, or the nearest one of those seen on a circle of n, the earlier of two."""
    every = np.arange(n)
    ahead = (np.asarray(seen) - every[:, None]) % n  # (n, seen)
    distance = np.minimum(ahead, n - ahead) + np.where(2 * ahead <= n, 0.25, 0.0) * (ahead > 0)
    found = np.asarray(seen)[distance.argmin(axis=1)]
    return np.where(codes < 0, -1, found[codes])
