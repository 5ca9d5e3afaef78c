"""A picture of models with their intervals, as far beyond the best constant as is worth seeing.

One bad model would squash all others, so that the axis ends a little beyond the constant; what lies
outside has an arrow, and its number.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from likely.formatting import capitalised, estimate_cells, number
from likely.report.figures import ACCENT, INK, MUTED, few_ticks, picture
from likely.report.section import Picture
from likely.workbench.models import BASELINE

BEYOND = 1.0  # the axis goes on behind the constant, as a share of its distance from the best
WIDEST = 2.0  # an interval is shown as far as this many times the range of the scores
MARGIN = 0.04  # of the axis, on both sides
ARROW = 0.28  # of the axis, behind it: there an arrow and its number touch no other mark

Entry = Mapping[str, Any]


class _Window(NamedTuple):
    """The part of the axis that is shown."""

    left: float
    right: float

    def holds(self, x: float) -> bool:
        return self.left <= x <= self.right

    def around(self, values: Sequence[float]) -> "_Window":
        """With room for the arrows of what lies outside, on the side where it lies."""
        room = ARROW * (self.right - self.left)
        left = self.left - (room if any(x < self.left for x in values) else 0.0)
        right = self.right + (room if any(x > self.right for x in values) else 0.0)
        return _Window(left, right)


def intervals_drawn(found: Entry, entries: Sequence[Entry], metric: str) -> Picture | None:
    """Means with intervals; None where there are not two to compare."""
    usable = [each for each in entries if None not in (each["value"], *each["interval"])]
    if len(usable) < 2:
        return None
    window = _window(usable, lower=found["better"] == "lower")
    shown = window.around([each["value"] for each in usable])

    def draw(ax: Any) -> None:
        margin = MARGIN * (shown.right - shown.left)
        ax.set_xlim(shown.left - margin, shown.right + margin)
        for i, each in enumerate(usable):
            if window.holds(each["value"]):
                _line(ax, i, each, window)
            else:
                _arrow(ax, i, each["value"], shown)
        ax.set_yticks(range(len(usable)), [str(each["model"]) for each in usable])
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(usable) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(capitalised(metric))
        few_ticks(ax.xaxis)

    scores = (estimate_cells(each["value"], *each["interval"])[0] for each in usable)
    told = ", ".join(f"{each['model']} {score}" for each, score in zip(usable, scores, strict=True))
    caption = "Scores of held-out rows with 95 % intervals. The dashed line is the baseline."
    if not all(window.holds(each["value"]) for each in usable):
        caption += " An arrow with a number stands for a score outside of the axis."
    size = (4.8, 0.9 + 0.27 * len(usable))
    return picture(draw, f"{metric} of each model: {told}.", caption=caption, size=size)


def _line(ax: Any, i: int, each: Entry, window: _Window) -> None:
    value, baseline = each["value"], each["model"] == BASELINE
    colour = MUTED if baseline else ACCENT
    if baseline:
        ax.axvline(value, color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
    low, high = each["interval"]
    ends = [max(low, window.left), min(high, window.right)]
    ax.plot(ends, [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
    ax.plot([value], [i], "o", color=colour, markersize=6)


def _arrow(ax: Any, i: int, value: float, shown: _Window) -> None:
    """At the edge of what is shown, with the number that lies behind it."""
    right = value > (shown.left + shown.right) / 2
    edge = shown.right if right else shown.left
    ax.plot([edge], [i], ">" if right else "<", color=ACCENT, markersize=6)
    place = {"xytext": (-8 if right else 8, 0), "textcoords": "offset points"}
    side = {"ha": "right" if right else "left", "va": "center"}
    ax.annotate(number(value), (edge, i), color=INK, fontsize=9, **place, **side)


def _window(entries: Sequence[Entry], *, lower: bool) -> _Window:
    """From the best score to a little beyond the constant, with the intervals of what is inside."""
    sign = 1.0 if lower else -1.0  # below, less is better
    values = {str(each["model"]): sign * each["value"] for each in entries}
    best, constant = min(values.values()), values.get(BASELINE, max(values.values()))
    widths = [abs(high - low) for low, high in (each["interval"] for each in entries)]
    gap = max(constant - best, min(widths)) or abs(best) or 1.0
    furthest = constant + BEYOND * gap
    inside = [each for each in entries if sign * each["value"] <= furthest]
    scores = [sign * each["value"] for each in inside]
    span = max(max(scores) - min(scores), gap)
    ends = [sign * end for each in inside for end in each["interval"]]
    near = max(min(ends), min(scores) - WIDEST * span)
    far = min(max(ends), max(scores) + WIDEST * span)
    left, right = sorted((sign * near, sign * far))
    return _Window(left, right)
