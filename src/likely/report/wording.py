"""Numbers, intervals and hashes as a reader wants them."""

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

SMALLEST_FIXED, LARGEST_FIXED = 1e-3, 1e5  # outside of these: whole, or three digits that count
ROUNDING = 1e-12  # smaller scores are zeros that floating point has left
LARGEST_WHOLE = 1e9  # up to here without a power of ten
LARGEST_SHORT, LARGEST_SETTING = 1e4, 1e7  # between these settings are whole, with commas
MOST_DECIMALS = 6
HASH_LETTERS = 16  # of a SHA-256: enough to compare by eye
MINUS = "\N{MINUS SIGN}"


def number(value: Any, decimals: int = 3) -> str:
    """``0.412``, ``1,204.5``, ``3.1e−05``; a dash where there is none."""
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    return _written(value, decimals).replace("-", MINUS)


def beside_each_other(values: Sequence[Any], decimals: int = 3) -> list[str]:
    """Scores of one line or column: three decimals, and 0.000 for what is tiny beside the others.

    Where all of them are tiny they have digits that count: an error in small units is no 0.
    """
    known = [abs(value) for value in values if isinstance(value, float) and isfinite(value)]
    if max(known, default=0.0) < SMALLEST_FIXED:
        return [number(value, decimals) for value in values]
    return [number(_without_digits(value, decimals), decimals) for value in values]


def plainly(value: float, digits: int = 4) -> str:
    """``0.1235``, ``2019``, ``55,889``: a power of ten only where a person would write one."""
    size = abs(value)
    if LARGEST_WHOLE > size >= 10**digits:
        return f"{value:,.0f}".replace("-", MINUS)
    if size >= 10 ** (digits - 1) and size < 10**digits:
        return f"{value:.0f}".replace("-", MINUS)  # it may be a year
    return f"{value:.{digits}g}".replace("-", MINUS)


def settled(value: float) -> str:
    """A count or a setting on an axis: ``1,000``, and ``0.01`` as short as it is."""
    whole = LARGEST_SHORT <= abs(value) < LARGEST_SETTING
    return (f"{value:,.0f}" if whole else f"{value:,.4g}").replace("-", MINUS)


def _without_digits(value: Any, decimals: int) -> Any:
    """What three decimals show of a number that is smaller; 0.0 has no sign."""
    if not isinstance(value, float) or not abs(value) < SMALLEST_FIXED:
        return value
    return round(value, decimals) + 0.0


def _written(value: float, decimals: int) -> str:
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) < ROUNDING:
        value = 0.0
    if value == 0 or SMALLEST_FIXED <= abs(value) < LARGEST_FIXED:
        return f"{value:.{decimals}f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:,.0f}" if 1 <= abs(value) < LARGEST_WHOLE else f"{value:.3g}"


def interval(low: Any, high: Any, decimals: int = 3) -> str:
    """``0.389 to 0.436``; a dash where neither end is known."""
    return from_to(number(low, decimals), number(high, decimals))


def from_to(low: str, high: str) -> str:
    """Two ends that are written already."""
    return number(None) if low == high == number(None) else f"{low} to {high}"


def with_interval(value: float, low: float, high: float) -> str:
    """``0.412 (0.389–0.436)``, with two digits of the half width."""
    digits = decimals_of((high - low) / 2)
    dash = "–" if low >= 0 else " to "
    return f"{number(value, digits)} ({number(low, digits)}{dash}{number(high, digits)})"


def decimals_of(half_width: float) -> int:
    if not (isfinite(half_width) and half_width > 10**-MOST_DECIMALS):
        return 3
    return min(max(1 - floor(log10(half_width)), 0), MOST_DECIMALS)


def count(n: int, one: str, many: str | None = None) -> str:
    """``1 row``, ``1,400 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def percent_level(level: float) -> str:
    """``95 %``, ``97.5 %``, ``98.33 %``."""
    return f"{100 * level:.4g} %"


def setting(value: Any) -> str:
    """A setting of a model, with four digits that count."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def short_hash(digest: Any) -> str:
    text = str(digest)
    return text if len(text) <= HASH_LETTERS else f"{text[:HASH_LETTERS]}…"


def shortened(text: Any, most: int) -> str:
    said = str(text)
    return said if len(said) <= most else said[: most - 1] + "…"


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], most: int) -> str:
    """``a, b, c and 4 more``."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
