"""A curve, put for the terminal, for the notebook and as a picture."""

from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.workbench.folds import parted_by
from likely.workbench.score_text import interval_text, score_text

if TYPE_CHECKING:
    from likely.workbench.curves import Curve

BARS = "▁▂▃▄▅▆▇█"
LINE = "rgba(127,127,127,.45)"
CELL = "text-align:right;padding:.15em .7em;border:0;font-variant-numeric:tabular-nums"
WIDE = 8.0  # a range of values this many times its least is drawn on a logarithmic axis


def text_of(curve: "Curve") -> str:
    rows = table_of(curve)
    wide = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = ["  " + "  ".join(c.rjust(w) for c, w in zip(row, wide, strict=True)) for row in rows]
    return "\n".join([title(curve), "", *lines, "", *sentences(curve)])


def html_of(curve: "Curve") -> str:
    head, *rows = table_of(curve)
    said = "".join(f"<p style='margin:.3em 0'>{escape(each)}</p>" for each in sentences(curve))
    body = "".join(_html_row(row, "td") for row in rows)
    return (
        "<div style='font-size:.95em;overflow-x:auto'>"
        f"<p style='font-weight:600'>{escape(title(curve))}</p>"
        f"<table style='border-collapse:collapse;color:inherit;border-top:1px solid {LINE};"
        f"border-bottom:1px solid {LINE}'><thead>{_html_row(head, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>{said}</div>"
    )


def title(curve: "Curve") -> str:
    rows = curve.rows
    return (
        f"{rows.label}: {curve.metric.title} of {curve.model} by {axis_title(curve)}, "
        f"{curve.metric.better} is better, {curve.n_folds} folds"
        f"{parted_by(rows.group, rows.by_time)}."
    )


def axis_title(curve: "Curve") -> str:
    return {"size": "rows learned from", "iterations": "steps of the fit"}.get(curve.of, curve.of)


def table_of(curve: "Curve") -> list[list[str]]:
    """A head and a row per point."""
    head = [axis_title(curve), "training", "95 %", "held out", "95 %"]
    return [head, *([_value(point.x), *_scores(point)] for point in curve.points)]


def sentences(curve: "Curve") -> list[str]:
    """The shape, the best point, and what went wrong."""
    scored = [point for point in curve.points if isfinite(point.validation)]
    said = [f"{point.x}: {point.problem}" for point in curve.points if point.problem]
    if not scored:
        return said
    best = curve.best
    where = f"{axis_title(curve)} = {_value(best.x)}"
    shape = sparkline([point.validation for point in curve.points])
    return [f"Held out {shape}; best {score_text(best.validation)} at {where}.", *said]


def sparkline(values: list[float]) -> str:
    """Bars from the least to the greatest value; a gap where there is none."""
    known = [x for x in values if isfinite(x)]
    low, high = min(known), max(known)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((x - low) / step)] if isfinite(x) else " " for x in values)


def figure_of(curve: "Curve", *, width: float = 6.4, height: float = 4.0) -> Any:
    """A matplotlib figure: training and held-out scores with their bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    points = [point for point in curve.points if isfinite(point.validation)]
    x, named = _places([point.x for point in points])
    for name, part in (("training", _band(points, "train")), ("held out", _band(points, ""))):
        middle, low, high = part
        (line,) = axes.plot(x, middle, marker="o", markersize=4, label=name)
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    if named:
        axes.set_xticks(x, named)
    elif len(x) > 1 and min(x) > 0 and max(x) >= WIDE * min(x):
        axes.set_xscale("log")
    axes.set_xlabel(axis_title(curve))
    axes.set_ylabel(curve.metric.title)
    axes.set_title(curve.model)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def _band(points: list[Any], part: str) -> tuple[list[float], list[float], list[float]]:
    names = ("train", "train_low", "train_high") if part else ("validation", "low", "high")
    middle, low, high = ([getattr(point, name) for point in points] for name in names)
    ends = [np.where(np.isfinite(end), end, middle).tolist() for end in (low, high)]
    return middle, ends[0], ends[1]


def _places(values: list[Any]) -> tuple[list[float], list[str]]:
    """Numbers where they are; other values side by side, by name."""
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        return [float(x) for x in values], []
    return [float(k) for k in range(len(values))], [str(x) for x in values]


def _scores(point: Any) -> list[str]:
    if point.problem:
        return ["failed", "", "failed", ""]
    return [
        score_text(point.train),
        interval_text(point.train_low, point.train_high),
        score_text(point.validation),
        interval_text(point.low, point.high),
    ]


def _value(x: Any) -> str:
    if isinstance(x, int) and not isinstance(x, bool):
        return f"{x:,}"
    return f"{x:.4g}" if isinstance(x, float) else str(x)


def _html_row(row: list[str], tag: str) -> str:
    cells = "".join(f"<{tag} style='{CELL}'>{escape(cell)}</{tag}>" for cell in row)
    return f"<tr style='background:none'>{cells}</tr>"
