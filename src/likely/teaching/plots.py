"""The picture of losses of the margin: their values and their slopes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely.errors import InvalidInput
from likely.names import lookup
from likely.teaching.margin import MARGIN_LOSSES, MarginLoss

POINTS = 1601  # of a curve
JUMP = 0.5  # of a slope between two points: a kink of the loss, not a line
HIGHEST, STEEPEST = 4.0, -3.0  # what the two panels show


def plot_margin_losses(
    losses: Sequence[str | MarginLoss] | None = None,
    *,
    margins: tuple[float, float] = (-4.0, 4.0),
) -> Any:
    """A matplotlib figure of losses of the margin: values on the left, slopes on the right.

    Each loss that is no upper bound of the zero-one loss as it stands is divided by its scale;
    without that it is dotted, and shaded where it is below 1 although the margin is an error.
    ``losses`` are names of ``MARGIN_LOSSES``, or losses of your own; by default all of the list.

    >>> figure = plot_margin_losses(["zero-one", "hinge"])
    >>> [axis.get_title() for axis in figure.axes]
    ['value', 'slope']
    """
    import matplotlib.pyplot as plt

    low, high = margins
    if not low < high:
        raise InvalidInput(f"margins={margins!r}; the lower end first was expected. Use (-4, 4).")
    shown = [
        loss if isinstance(loss, MarginLoss) else lookup("margin loss", loss, MARGIN_LOSSES)
        for loss in (MARGIN_LOSSES if losses is None else losses)
    ]
    m = np.linspace(low, high, POINTS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for k, loss in enumerate(shown):
        _draw(loss, m, left, right, "black" if loss.name == "zero-one" else f"C{k}")
    left.set(ylim=(-0.1, HIGHEST), xlabel="margin s·a", ylabel="loss", title="value")
    right.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    right.set(ylim=(STEEPEST, 1.5), xlabel="margin s·a", ylabel="d loss / d margin", title="slope")
    figure.legend(loc="outside right upper")
    return figure


def _draw(loss: MarginLoss, m: Any, left: Any, right: Any, color: str) -> None:
    """One loss; its slope has no line across a jump."""
    name = loss.name.replace("_", " ").replace("zero one", "zero-one")
    scaled = loss.convex and not loss.bounds_zero_one
    scale = loss.scale if scaled else 1.0
    label = f"{name} / {scale:.3g}" if scaled else name
    left.plot(m, loss.value(m) / scale, color=color, label=label)
    slope = np.array(loss.slope(m) / scale)
    slope[np.append(np.abs(np.diff(slope)) > JUMP, False)] = np.nan
    right.plot(m, slope, color=color)
    if scaled:
        value = loss.value(m)
        below = (m < 0) & (value < 1)
        left.plot(m, value, ":", color=color, label=f"{name}, unscaled")
        left.fill_between(m[below], value[below], 1, color=color, alpha=0.3, linewidth=0)
