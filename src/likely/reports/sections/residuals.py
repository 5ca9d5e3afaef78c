"""Numeric targets: predicted and observed values, residuals, and calibration of quantiles."""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.formatting import number, percent, percent_level
from likely.reports.figures import ACCENT, MUTED, diagonal, picture, thousands
from likely.reports.section import Block, Gallery, Picture, Section, TableBlock, Text
from likely.runs.folder import RunFacts
from likely.workbench.scoring.validation import Validation

TITLE = "Residuals"
MOST_POINTS = 800  # drawn: more would hide each other, and make the file large
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
N_BINS = 20


def residuals(facts: RunFacts) -> Section | None:
    held = facts.validation
    if held is None or held.has_classes:
        return None
    blocks: list[Block] = [Gallery((_against(held), _left_over(held)))]
    if held.pit is None:
        blocks.append(
            Text("The model has no predictive distribution, so its quantiles cannot be checked.")
        )
    else:
        blocks += [Gallery((_quantiles(held.pit), _histogram(held.pit))), _levels(held.pit)]
    return Section("residuals", TITLE, tuple(blocks))


def _some(held: Validation) -> Array:
    """Rows to be drawn: all, or as many as can be seen, the same each time."""
    n = len(held.row)
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def _drawn(held: Validation) -> str:
    n = len(held.row)
    return "" if n <= MOST_POINTS else f" {MOST_POINTS} of {n:,} rows are drawn."


def _display(ax: Any, held: Validation, kind: str) -> None:
    """scikit-learn's display of prediction errors, in the page's colours."""
    from matplotlib.ticker import MaxNLocator
    from sklearn.metrics import PredictionErrorDisplay

    some = _some(held)
    dots = {"color": ACCENT, "alpha": 0.4, "s": 11, "linewidths": 0}
    dashes = {"color": MUTED, "alpha": 1.0, "lw": 1, "linestyle": (0, (4, 3))}
    PredictionErrorDisplay(y_true=held.truth.y[some], y_pred=held.prediction.means[some]).plot(
        ax=ax, kind=kind, scatter_kwargs=dots, line_kwargs=dashes
    )
    ax.set_aspect("auto")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(7))  # round numbers, where the display has five ticks


def _against(held: Validation) -> Picture:
    y, mean = held.truth.y, held.prediction.means

    def draw(ax: Any) -> None:
        _display(ax, held, "actual_vs_predicted")
        ax.set(xlabel="Predicted", ylabel="Observed")

    agreement = float(np.corrcoef(y, mean)[0, 1]) if mean.std() > 0 and y.std() > 0 else 0.0
    label = f"Predicted against observed values; their correlation is {number(agreement)}."
    caption = f"Predicted and observed values of held-out rows.{_drawn(held)}"
    return picture(draw, label, caption=caption)


def _left_over(held: Validation) -> Picture:
    left = held.truth.y - held.prediction.means

    def draw(ax: Any) -> None:
        _display(ax, held, "residual_vs_predicted")
        ax.set(xlabel="Predicted", ylabel="Observed − predicted")

    label = (
        f"Residuals against predicted values; mean {number(float(left.mean()))}, standard "
        f"deviation {number(float(left.std()))}."
    )
    return picture(
        draw,
        label,
        caption="Residuals. A curve, or a spread that grows, means that the model can be improved.",
    )


def _quantiles(pit: Array) -> Picture:
    def draw(ax: Any) -> None:
        level = np.linspace(0, 1, 101)
        share = np.searchsorted(np.sort(pit), level, side="right") / len(pit)
        half = 1.96 * np.sqrt(level * (1 - level) / len(pit))
        ax.fill_between(level, level - half, level + half, color=MUTED, alpha=0.18, lw=0)
        diagonal(ax)
        ax.plot(level, share, color=ACCENT)
        ax.set(xlabel="Predicted quantile", ylabel="Observed share below", xlim=(0, 1), ylim=(0, 1))

    label = "Calibration of quantiles: the share of rows below each predicted quantile."
    return picture(
        draw, label, caption="Calibration of quantiles, with a 95 % band for a calibrated model."
    )


def _histogram(pit: Array) -> Picture:
    def draw(ax: Any) -> None:
        ax.hist(pit, bins=np.linspace(0, 1, N_BINS + 1).tolist(), color=ACCENT, alpha=0.75)
        ax.axhline(len(pit) / N_BINS, color=MUTED, lw=1, linestyle=(0, (4, 3)))
        ax.set(xlabel="Quantile of the observed value", ylabel="Rows", xlim=(0, 1))
        thousands(ax.yaxis)

    caption = (
        "Flat if calibrated. A peak in the middle means that intervals are too wide, peaks at the "
        "ends that they are too narrow."
    )
    return picture(
        draw,
        "Histogram of the quantile of each observed value in its predicted distribution.",
        caption=caption,
    )


def _levels(pit: Array) -> TableBlock:
    head = ("predicted quantile", *map(percent_level, LEVELS))
    row = ("Observed below", *(percent(float(np.mean(pit <= level))) for level in LEVELS))
    return TableBlock(head, (row,), caption="Share of rows below each predicted quantile.")
