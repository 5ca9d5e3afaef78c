"""Curves: by size of the training set, by a setting, or by iteration with the chosen epoch."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from likely.evaluate.metrics import METRICS
from likely.report.figures import ACCENT, MUTED, SECOND, legend_above, picture
from likely.report.run_files import Record, RunFacts
from likely.report.section import Gallery, LeftOut, Picture, Section
from likely.report.wording import number

TITLE = "Curves"
TOO_WIDE = 30.0  # the largest x over the smallest: beyond this the axis is logarithmic
LINES = (  # of a point: the value and the ends of its band
    ("training", SECOND, ("train", "train_low", "train_high")),
    ("validation", ACCENT, ("validation", "low", "high")),
)


def curves(facts: RunFacts) -> Section | LeftOut:
    if not facts.curves:
        return LeftOut(TITLE, "no curve was kept; likely curve DATA MODEL draws one")
    return Section("curves", TITLE, (Gallery(tuple(_curve(each) for each in facts.curves)),))


def _curve(curve: Record) -> Picture:
    title = METRICS[curve["metric"]].title if curve["metric"] in METRICS else curve["metric"]
    points = [each for each in curve["points"] if not each.get("problem")]
    words = any(isinstance(each["x"], str | bool) or each["x"] is None for each in points)
    x = list(range(len(points))) if words else [each["x"] for each in points]
    chosen, word = _chosen(curve, points)

    def draw(ax: Any) -> None:
        for name, colour, keys in LINES:
            _band(ax, x, [[_known(p.get(key)) for p in points] for key in keys], colour, name)
        if curve.get("constant") is not None:
            dashes = {"linestyle": (0, (4, 3)), "label": "best constant"}
            ax.axhline(curve["constant"], color=MUTED, lw=1, **dashes)
        if chosen is not None:
            place = x[chosen]
            ax.axvline(place, color=MUTED, lw=1.2, label=f"{word}: {_short(points[chosen]['x'])}")
        if words:
            ax.set_xticks(x, [_short(point["x"]) for point in points])
        elif min(x) > 0 and max(x) / min(x) > TOO_WIDE:
            _logarithmic(ax)
        ax.set(xlabel=_axis(curve), ylabel=title)
        legend_above(ax, 2)

    last = points[-1]["validation"] if points else None
    label = f"{title} by {_axis(curve)}; at the end {number(last)} on held-out rows"
    label += "." if chosen is None else f"; {word} {_short(points[chosen]['x'])}."
    return picture(draw, label, caption=_caption(curve))


def _chosen(curve: Record, points: Sequence[Mapping[str, Any]]) -> tuple[int | None, str]:
    """The place that was chosen, or the best one; more rows are always better."""
    places = {str(point["x"]): i for i, point in enumerate(points)}
    if curve.get("chosen") is not None:
        return places.get(str(curve["chosen"])), "chosen"
    sign = 1 if curve.get("better", "lower") == "lower" else -1
    scored = [i for i, point in enumerate(points) if point["validation"] is not None]
    if curve["of"] == "size" or not scored:
        return None, ""
    return min(scored, key=lambda i: sign * float(points[i]["validation"])), "best"


def _band(ax: Any, x: list[float], lines: list[list[float]], colour: str, name: str) -> None:
    value, low, high = lines
    ax.plot(x, value, color=colour, marker="o", markersize=3.5, label=name)
    ax.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)


def _known(value: Any) -> float:
    return nan if value is None else float(value)


def _logarithmic(ax: Any) -> None:
    """Powers of ten as a person writes them; matplotlib's own need mathematical text."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _short(value: Any) -> str:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,.4g}" if plain else str(value)


def _axis(curve: Record) -> str:
    names = {"size": "training rows", "iterations": "iteration"}
    return names.get(str(curve["of"]), str(curve["of"]))


def _caption(curve: Record) -> str:
    kinds = {
        "size": "Learning curve: what more rows would bring.",
        "iterations": "By iteration: where training should stop.",
    }
    said = kinds.get(str(curve["of"]), f"Validation curve of {curve['of']}.")
    band = "Bands are 95 % intervals."
    return f"{curve['model']}. {said} {band}" if curve.get("model") else f"{said} {band}"
