"""Losses by the step of a search: the rows of a printed table, and the picture.

A table of many steps shows some of them, evenly spaced, the best one and the last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from likely._typing import Array

MOST_SHOWN = 20  # steps in the printed table; of more, every few and "…" for the others


def shown_rows(columns: Mapping[str, Sequence[str]], best: int) -> list[list[str]]:
    """The cells of the rows to print; ``best`` is the position of a row that is always shown."""
    cells = list(columns.values())
    last = len(cells[0]) - 1
    n_shown = last + 1 if last < MOST_SHOWN else MOST_SHOWN // 2
    chosen = sorted({*np.rint(np.linspace(0, last, n_shown)).astype(int).tolist(), best})
    rows = list[list[str]]()
    for before, k in zip([-1, *chosen], chosen, strict=False):
        if k > before + 1:
            rows.append(["…"] * len(cells))
        rows.append([each[k] for each in cells])
    return rows


def draw_losses(
    ax: Any,
    step: Array,
    train: Array | None,
    validation: Array | None,
    *,
    best: int,
    words: tuple[str, str, str],
) -> Any:
    """Both losses, and a line at the best step; the axes, new ones where ``ax`` is None.

    ``words`` are the noun of a step, the label of the losses and the title.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    noun, label, title = words
    axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1] if ax is None else ax
    if train is not None:
        axes.plot(step, train, marker="o", markersize=3, label="training")
    if validation is not None:
        axes.plot(step, validation, marker="o", markersize=3, label="validation")
        axes.axvline(best, color="0.6", linestyle=":", label=f"best, {noun} {best}")
    axes.set(xlabel=noun, ylabel=label, title=title)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes
