"""Curves: by size of the training set, by a setting, or by iteration with the chosen step.

scikit-learn's displays of curves need the score of every fold and shade one standard deviation of
them; the bands here are intervals that account for overlapping folds, so they are drawn here.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from likely.metrics.score import title_of
from likely.numerics.intervals import Estimate
from likely.output.formatting import capitalised, count, number, setting
from likely.reports.figures import (
    ACCENT,
    INK,
    MUTED,
    SECOND,
    few_ticks,
    legend_above,
    picture,
    thousands,
)
from likely.reports.section import Gallery, LeftOut, Picture, Section, Text
from likely.runs.folder import RunFacts
from likely.workbench.comparison.records import Record
from likely.workbench.curves.curve_text import band_of, baseline_of
from likely.workbench.data.folds import split_text

TITLE = "Curves"
TOO_WIDE = 30.0  # the largest x over the smallest: beyond this the axis is logarithmic
MOST_POWERS = 5  # of ten that fit the foot of a picture
FEW = 8  # whole numbers on an axis that can all be written
ORDER = ("size", "iterations")  # of curves of one model; settings come between
LINES = (  # the scores of a point
    ("Training", SECOND, "train"),
    ("Held out", ACCENT, "validation"),
)
READING = (
    "If the gap between the two curves still narrows at the largest size, more rows would help; if "
    "the curves have already met, try another model; if the held-out curve starts to get worse, "
    "stop there."
)


def curves(facts: RunFacts) -> Section | LeftOut | None:
    if not facts.curves:
        return LeftOut(TITLE, f"none was saved; run {shlex.join(['likely', 'curve', facts.path])}")
    own = str(facts.run.get("model"))
    ordered = sorted(facts.curves, key=lambda each: (each.get("model") != own, _place(each)))
    drawn = tuple(_drawn(_CurvePlot.of(each, facts)) for each in ordered)
    if len(drawn) == 1:  # its reading beside it
        return Section("curves", TITLE, (Gallery((*drawn, Text(READING))),))
    return Section("curves", TITLE, (Text(READING), Gallery(drawn)))


def _place(curve: Record) -> float:
    """The order of curves: by size first, by iteration last."""
    return float(ORDER.index(curve["of"])) if curve["of"] in ORDER else 0.5


@final
@dataclass(frozen=True, eq=False)
class _CurvePlot:
    """A curve, with the positions of its points and its marks."""

    curve: Record
    points: tuple[Record, ...]
    x: tuple[float, ...]
    words: bool  # whether the values are not numbers
    marks: tuple[tuple[float, str], ...]  # places and their labels

    @classmethod
    def of(cls, curve: Record, facts: RunFacts) -> "_CurvePlot":
        points = tuple(each for each in curve["points"] if not each.get("problem"))
        words = any(not _is_number(each["x"]) for each in points)
        x = tuple(float(k if words else each["x"]) for k, each in enumerate(points))
        values = [str(each["x"]) for each in points]
        marks = []
        best, chosen = _best(curve, points), _chosen(curve, facts)
        if best is not None and (chosen is None or values[best] != str(chosen)):
            marks.append((x[best], f"Best: {_short(points[best]['x'])}"))
        if chosen is not None and (not words or str(chosen) in values):
            place = float(values.index(str(chosen))) if words else float(chosen)
            marks.append((place, f"Chosen: {_short(chosen)}"))
        return cls(curve, points, x, words, tuple(marks))

    def scores(self, key: str) -> list[Estimate]:
        """The scores of the points on the training or the held-out rows."""
        return [Estimate.from_json(each[key]) for each in self.points]

    @property
    def logarithmic(self) -> bool:
        return (
            not self.words and min(self.x, default=0) > 0 and max(self.x) / min(self.x) > TOO_WIDE
        )

    def has(self, place: float) -> bool:
        """Whether the axis can show the value: a logarithmic axis has no 0."""
        return place > 0 or not self.logarithmic

    @property
    def title(self) -> str:
        return title_of(str(self.curve["metric"]))

    @property
    def axis(self) -> str:
        names = {"size": "Training rows", "iterations": "Iteration"}
        return names.get(str(self.curve["of"]), str(self.curve["of"]))


def _chosen(curve: Record, facts: RunFacts) -> Any:
    """The value of this run; None for another model."""
    if curve.get("model") != facts.run.get("model"):
        return None
    if curve["of"] == "iterations":
        return None if facts.description is None else facts.description.n_iter
    return (facts.run.get("parameters") or {}).get(curve["of"])


def _best(curve: Record, points: Sequence[Record]) -> int | None:
    """The point with the best held-out score; None for training rows."""
    sign = 1 if curve.get("better", "lower") == "lower" else -1
    held = [point["validation"]["value"] for point in points]
    scored = [i for i, value in enumerate(held) if value is not None]
    if curve["of"] == "size" or not scored:
        return None
    return min(scored, key=lambda i: sign * held[i])


def _drawn(plot: _CurvePlot) -> Picture:
    curve, points = plot.curve, plot.points

    def draw(ax: Any) -> None:
        for name, colour, key in LINES:
            value, low, high = band_of(plot.scores(key))
            ax.plot(plot.x, value, color=colour, marker="o", markersize=3.5, label=name)
            ax.fill_between(plot.x, low, high, color=colour, alpha=0.15, lw=0)
        constant, label = baseline_of(plot.scores("train"), plot.scores("validation"))
        dashes = {"linestyle": (0, (4, 3)), "label": capitalised(label)}
        ax.plot(plot.x, constant, color=MUTED, lw=1, **dashes)
        for k, (place, what) in enumerate(reversed([m for m in plot.marks if plot.has(m[0])])):
            style = (0, (1, 2)) if k else "-"
            ax.axvline(place, color=INK, lw=1.1, alpha=0.75, linestyle=style, label=what)
        _ticks(ax, plot)
        ax.set(xlabel=plot.axis, ylabel=capitalised(plot.title))
        legend_above(ax, 2)

    last = plot.scores("validation")[-1].value if points else None
    marks = "; ".join([f"at the end {number(last)} on held-out rows", *(m[1] for m in plot.marks)])
    label = f"{capitalised(plot.title)} of {curve.get('model', 'the model')} by {plot.axis.lower()}"
    return picture(draw, f"{label}; {marks}.", caption=_caption(plot))


def _ticks(ax: Any, plot: _CurvePlot) -> None:
    x = plot.x
    whole = all(place == int(place) for place in x)
    if plot.words:
        ax.set_xticks(x, [_short(point["x"]) for point in plot.points])
    elif plot.logarithmic:
        _logarithmic(ax)
    elif whole and max(x, default=0) <= FEW:
        ax.set_xticks(range(int(min(x, default=0)), int(max(x, default=0)) + 1))
    else:
        few_ticks(ax.xaxis)
        thousands(ax.xaxis)


def _logarithmic(ax: Any) -> None:
    """Powers of ten as plain text; those of matplotlib need mathematical text."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=MOST_POWERS))
    thousands(ax.xaxis)
    ax.xaxis.set_minor_formatter(NullFormatter())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    return setting(value) if _is_number(value) else str(value)


def _caption(plot: _CurvePlot) -> str:
    curve = plot.curve
    name = f" of {curve['model']}" if curve.get("model") else ""
    name += ", with the settings of this run," if curve.get("run") else ""
    kinds = {
        "size": f"Learning curve{name.rstrip(',')}.",
        "iterations": f"Score{name} by iteration.",
    }
    first = kinds.get(str(curve["of"]), f"Validation curve{name.rstrip(',')} by {curve['of']}.")
    folds = f" of all {count(int(curve['folds']), 'fold')}" if curve.get("folds") else ""
    folds += split_text(curve.get("group"), curve.get("by_time"))
    failed = len(curve["points"]) - len(plot.points)
    gone = f" {count(failed, 'point')} could not be scored." if failed else ""
    far = "".join(
        f" {what} is outside the axis." for place, what in plot.marks if not plot.has(place)
    )
    return f"{first} Bands are 95 % intervals of the held-out rows{folds}.{gone}{far}"
