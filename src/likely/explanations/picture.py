"""The picture of an explanation: from the base value to the total, one bar for each column."""

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.formatting import count
from likely.pictures import names_along_side, new_axes, readable

if TYPE_CHECKING:
    from likely.explanations.explanation import Explanation

UP, DOWN, END = "#c2553a", "#3a78c2", "#777777"  # readable on white and on black
WHITE_SHARE = 0.16  # of the width, beside the bars, for the numbers


def draw_row(found: "Explanation", row: int, group: int, ax: Any, top: int) -> Any:
    """The contributions to one score of a row as bars that start where the last one ended."""
    values = found.contributions[row, :, group]
    base = float(np.broadcast_to(found.base, (len(found), len(found.groups)))[row, group])
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:top], order[top:]
    parts = [(found.label(row, int(j)), float(values[j])) for j in shown]
    if len(rest):
        parts.append((count(len(rest), "other column"), float(values[rest].sum())))
    names = [found.base_is, *(name for name, _ in parts), "total"]
    total = float(found.total[row, group])
    axes = new_axes(len(names)) if ax is None else ax
    _bars(axes, base, [value for _, value in parts], total)
    names_along_side(axes, names)
    axes.set_xlabel(_about(found, group))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    readable(axes)
    return axes


def _bars(ax: Any, base: float, values: list[float], total: float) -> None:
    ends = np.cumsum([base, *values])
    low, high = min(0.0, *ends, total), max(0.0, *ends, total)
    span = (high - low) or 1.0
    ax.barh([0, len(values) + 1], [base, total], color=END, height=0.6)
    for i, value in enumerate(values, start=1):
        start, end = float(ends[i - 1]), float(ends[i])
        ax.barh(i, value, left=start, color=UP if value > 0 else DOWN, height=0.6)
        ax.plot([start, start], [i - 1, i], color=END, lw=0.6)
        ax.text(max(start, end) + 0.01 * span, i, _written(value), va="center", fontsize=8)
    for i, value in ((0, base), (len(values) + 1, total)):
        ax.text(max(value, 0.0) + 0.01 * span, i, _written(value), va="center", fontsize=8)
    ax.axvline(0, color=END, lw=0.8, zorder=0)
    ax.set_xlim(low - 0.03 * span, high + WHITE_SHARE * span)


def _about(found: "Explanation", group: int) -> str:
    label = str(found.groups[group])
    named = f" of {label}" if len(found.groups) > 1 else ""
    against = "" if found.against is None else f" against {found.groups[found.against]}"
    return f"{found.quantity[0].upper()}{found.quantity[1:]}{named}{against}"


def _written(value: float) -> str:
    return format(value, "+#.3g").rstrip(".")
