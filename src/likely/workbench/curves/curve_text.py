"""A curve as text for the terminal, as HTML for the notebook and as a picture."""

from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array
from likely.output.formatting import (
    estimate_cells,
    html_block,
    html_paragraph,
    html_table,
    number,
    setting,
    text_table,
)
from likely.workbench.data.folds import split_text

if TYPE_CHECKING:
    from likely.numerics.intervals import Estimate
    from likely.workbench.curves.curves import Curve, CurvePoint

BARS = "▁▂▃▄▅▆▇█"
MOST_ROOM = 2.0  # between the curves and the baseline, as a share of the range of the curves
WIDE = 8.0  # a range of values this many times its least is drawn on a logarithmic axis


def text_of(curve: "Curve") -> str:
    head, *rows = table_of(curve)
    table = text_table(head, rows, words=_words(curve))
    return "\n".join([title(curve), "", *table, "", *sentences(curve)])


def html_of(curve: "Curve") -> str:
    head, *rows = table_of(curve)
    return html_block(
        html_paragraph(title(curve), bold=True),
        html_table(head, rows, words=_words(curve)),
        *map(html_paragraph, sentences(curve)),
    )


def title(curve: "Curve") -> str:
    rows = curve.rows
    return (
        f"{rows.label}: {curve.metric.title} of {curve.model} by {axis_title(curve)}, "
        f"{curve.metric.better} is better, {curve.n_folds} folds"
        f"{split_text(rows.group, rows.by_time)}."
    )


def axis_title(curve: "Curve") -> str:
    return {"size": "training rows", "iterations": "iterations"}.get(curve.of, curve.of)


def table_of(curve: "Curve") -> list[list[str]]:
    """A head and a row per point."""
    ends = "95 % interval"
    head = [axis_title(curve), "training", ends, "held out", ends, "baseline"]
    return [head, *([setting(point.x), *_scores(point)] for point in curve.points)]


def sentences(curve: "Curve") -> list[str]:
    """The shape, the best point, and the problems."""
    scored = [point for point in curve.points if isfinite(point.validation.value)]
    problems = [f"{point.x}: {point.problem}" for point in curve.points if point.problem]
    if not scored:
        return problems
    best = curve.best
    value = estimate_cells(*best.validation)[0]
    where = f"{axis_title(curve)} = {setting(best.x)}"
    shape = sparkline([point.validation.value for point in curve.points])
    return [f"Held out {shape}; best {value} at {where}.", *curve.notes, *problems]


def sparkline(values: list[float]) -> str:
    """Bars from the smallest to the largest value; a gap where there is none."""
    known = [x for x in values if isfinite(x)]
    low, high = min(known), max(known)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((x - low) / step)] if isfinite(x) else " " for x in values)


def draw(curve: "Curve", axes: Any) -> None:
    """Training and held-out scores with their bands, and the baseline, on matplotlib axes."""
    points = [point for point in curve.points if isfinite(point.validation.value)]
    x, named = _places([point.x for point in points])
    held = [point.validation for point in points]
    for name, scores in (("training", [point.train for point in points]), ("held out", held)):
        middle, low, high = band_of(scores)
        (line,) = axes.plot(x, middle, marker="o", markersize=4, label=name)
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    constant, name = baseline_of([point.train for point in points], held)
    axes.plot(x, constant, color="0.5", linestyle="--", linewidth=1, label=name)
    if named:
        axes.set_xticks(x, named)
    elif len(x) > 1 and min(x) > 0 and max(x) >= WIDE * min(x):
        axes.set_xscale("log")
        axes.set_xticks(x, [setting(point.x) for point in points])
        axes.minorticks_off()  # their powers of ten would overlap
    axes.set_xlabel(axis_title(curve))
    axes.set_ylabel(curve.metric.title)
    axes.set_title(curve.model)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def band_of(scores: "Sequence[Estimate]") -> tuple[Array, Array, Array]:
    """Values and ends to draw, (n,) each; an end that is open is drawn at the value."""
    middle, low, high = np.array(scores).reshape(-1, 4).T[:3]
    return middle, *(np.where(np.isfinite(end), end, middle) for end in (low, high))


def baseline_of(train: "Sequence[Estimate]", held: "Sequence[Estimate]") -> tuple[Array, str]:
    """The baseline to draw, (n,), and its name; NaN where it would squeeze the curves flat."""
    constant = np.array([score.baseline for score in held])
    ends = np.array([band_of(train), band_of(held)])
    known, drawn = ends[np.isfinite(ends)], constant[np.isfinite(constant)]
    if not (known.size and drawn.size):
        return constant, "baseline"
    room = MOST_ROOM * float(np.ptp(known)) or inf
    if known.min() - room <= drawn.min() and drawn.max() <= known.max() + room:
        return constant, "baseline"
    return np.full(len(constant), nan), f"baseline {number(constant[-1])}, outside the axis"


def _places(values: list[Any]) -> tuple[list[float], list[str]]:
    """Places on an axis: numbers as they are, other values side by side with their names."""
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        return [float(x) for x in values], []
    return [float(k) for k in range(len(values))], [str(x) for x in values]


def _scores(point: "CurvePoint") -> list[str]:
    if point.problem:
        return ["failed", "", "failed", "", ""]
    return [*estimate_cells(*point.train[:3]), *estimate_cells(*point.validation)]


def _words(curve: "Curve") -> tuple[int, ...]:
    """The first column, if its values are not numbers."""
    return (0,) if any(isinstance(point.x, str) for point in curve.points) else ()
