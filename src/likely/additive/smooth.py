"""How a number enters an additive model: splines or waves, and which numbers are a circle."""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.parameters import KnownParameters

FEWEST_VALUES = 4  # different ones, for a curve
MOST_SPLINES = 2_000  # of one column
CIRCLES = {  # which whole numbers are a circle, if the column is called so
    "hour": (0, 23),
    "hr": (0, 23),
    "month": (1, 12),
    "mnth": (1, 12),
    "weekday": (None, 7),
    "dow": (None, 7),
}


@final
@dataclass(frozen=True)
class Smooth(KnownParameters):
    """How one number enters: ``Smooth(k=20)`` splines, or ``Smooth(cyclic=24)``.

    Parameters
    ----------
    k : int, default=20
        The number of splines, 2,000 at most; with fewer than 800 rows fewer, one for 40 of them,
        and at least 10 or as many as there are different values.
    cyclic : float, default=0
        The period of a number of a circle: 24 for hours, 12 for months, 7 for weekdays.
    """

    k: int = 20
    cyclic: float = 0.0

    def __post_init__(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool)
        if not whole or not FEWEST_VALUES <= self.k <= MOST_SPLINES:
            raise InvalidInput(
                f"Smooth(k={self.k!r}) was given; a whole number of splines from {FEWEST_VALUES} "
                f"to {MOST_SPLINES:,} was expected. Use k=20, or 'linear' in place of a Smooth."
            )
        known = isinstance(self.cyclic, int | float | np.number)
        if not known or isinstance(self.cyclic, bool) or not 0 <= self.cyclic < np.inf:
            raise InvalidInput(
                f"Smooth(cyclic={self.cyclic!r}) was given; a period above 0 was expected. Use "
                "cyclic=24 for hours, for instance, or leave it out."
            )


def period_of(name: str, values: Array) -> int:
    """The period of a column of hours, months or weekdays, by its name and its values; else 0."""
    words = name.lower().replace("_", " ").replace(".", " ").split()
    for word, (first, last) in CIRCLES.items():
        if not any(each == word or each.removesuffix("s") == word for each in words):
            continue
        whole = values.size > 2 and bool((values == np.floor(values)).all())
        if first is None and whole and values[0] in (0, 1) and np.ptp(values) == last - 1:
            return last
        if first is not None and whole and values[0] >= first and values[-1] <= last:
            return last - first + 1
    return 0


def refuse_period(name: str, smooth: Smooth | str, values: Array, period: float) -> None:
    """Refuse a circle on which all values are at one place, so that it has no ``period``."""
    asked = isinstance(smooth, Smooth) and smooth.cyclic
    if asked and not period and len(values) >= FEWEST_VALUES:
        raise InvalidInput(
            f"terms[{name!r}]=Smooth(cyclic={asked:g}) was given, and every value of the column is "
            "at the same place of such a circle; a period longer than the distance of its values "
            "was expected. Use cyclic=24 for hours, 12 for months, 7 for weekdays."
        )
