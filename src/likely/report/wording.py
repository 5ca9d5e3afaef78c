"""Numbers, intervals and hashes as a reader wants them."""

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

SMALLEST_FIXED, LARGEST_FIXED = 1e-3, 1e5  # outside of these: three digits that count
ROUNDING = 1e-12  # smaller scores are zeros that floating point has left
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


def _written(value: float, decimals: int) -> str:
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) < ROUNDING:
        value = 0.0
    if value == 0 or SMALLEST_FIXED <= abs(value) < LARGEST_FIXED:
        return f"{value:.{decimals}f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:.3g}"


def interval(low: Any, high: Any, decimals: int = 3) -> str:
    """``0.389 to 0.436``."""
    return f"{number(low, decimals)} to {number(high, decimals)}"


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
