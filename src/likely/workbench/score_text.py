"""A score as text: four digits that count, zeros at the end among them, so that columns line up."""

from math import isfinite

DIGITS = 4
ROUNDING = 1e-12  # a smaller score is 0


def score_text(x: float) -> str:
    """A dash where there is no number.

    >>> score_text(0.516), score_text(12.0), score_text(-1e-15), score_text(float("inf"))
    ('0.5160', '12.00', '0.000', '–')
    """
    if not isfinite(x):
        return "–"
    return f"{0.0 if abs(x) < ROUNDING else x:#.{DIGITS}g}".rstrip(".")


def interval_text(low: float, high: float) -> str:
    """Both ends; a dash where they are not finite."""
    return f"{score_text(low)} to {score_text(high)}" if isfinite(high - low) else "–"
