"""ROC and precision–recall curves, of two classes or of each class."""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.formatting import fixed, shortened
from likely.reports.figures import MUTED, SERIES, legend_above, picture
from likely.reports.section import Gallery, LeftOut, Picture, Section
from likely.reports.sections.calibration import LONGEST_LABEL, events_drawn
from likely.runs.folder import RunFacts
from likely.workbench.scoring.validation import Validation

TITLE = "Ranking"
LETTERS, HANDLE, MOST_COLUMNS = 56, 4, 3  # of a legend: across it, of a line, and beside each other
DECIMALS = 3
CHANCE = {"color": MUTED, "linewidth": 1, "linestyle": (0, (4, 3)), "label": "_chance"}


def ranking(facts: RunFacts) -> Section | LeftOut | None:
    held = facts.validation
    if held is None or not held.has_classes:
        return None
    if not _ranked(held):
        return LeftOut(TITLE, "all held-out rows are of one class")
    return Section("ranking", TITLE, (Gallery((_roc(held), _precision_recall(held))),))


def _ranked(held: Validation) -> list[int]:
    """The classes to be drawn that have rows on both sides."""
    n = len(held.row)
    return [k for k in events_drawn(held) if 0 < int((held.truth.y == k).sum()) < n]


def _happened(held: Validation, k: int) -> tuple[Array, Array]:
    """Whether each row is of class k, and its probability."""
    return (held.truth.y == k).astype(int), np.exp(held.prediction.log_p[:, k])


def _roc(held: Validation) -> Picture:
    from sklearn.metrics import roc_auc_score

    weight = {"sample_weight": held.truth.weight}
    areas = {k: float(roc_auc_score(*_happened(held, k), **weight)) for k in _ranked(held)}

    def draw(ax: Any) -> None:
        from sklearn.metrics import RocCurveDisplay

        for j, (k, area) in enumerate(areas.items()):
            RocCurveDisplay.from_predictions(
                *_happened(held, k),
                **weight,
                ax=ax,
                curve_kwargs={"color": SERIES[j], "label": _named(held, k, area)},
                plot_chance_level=j == 0,
                chance_level_kw=CHANCE,
            )
        ax.set(xlabel="False positive rate", ylabel="True positive rate")
        _square(ax)

    each = ", ".join(f"{held.labels[k]} {fixed(area, DECIMALS)}" for k, area in areas.items())
    caption = "ROC curves with the area under each curve. The dashed line is chance, 0.5."
    return picture(draw, f"ROC curves; area under the curve: {each}.", caption=caption)


def _precision_recall(held: Validation) -> Picture:
    from sklearn.metrics import average_precision_score

    weight = {"sample_weight": held.truth.weight}
    precision = {
        k: float(average_precision_score(*_happened(held, k), **weight)) for k in _ranked(held)
    }
    happened = {k: np.average(_happened(held, k)[0], weights=held.truth.weight) for k in precision}
    shares = {k: fixed(float(share), DECIMALS) for k, share in happened.items()}

    def draw(ax: Any) -> None:
        from sklearn.metrics import PrecisionRecallDisplay

        for j, (k, average) in enumerate(precision.items()):
            PrecisionRecallDisplay.from_predictions(
                *_happened(held, k),
                **weight,
                ax=ax,
                drop_intermediate=True,
                curve_kwargs={
                    "color": SERIES[j],
                    "label": f"{_named(held, k, average)} ({shares[k]})",
                },
                plot_chance_level=len(precision) == 1,
                chance_level_kw=CHANCE,
            )
        ax.set(xlabel="Recall", ylabel="Precision")
        _square(ax)

    each = ", ".join(
        f"{held.labels[k]} {fixed(value, DECIMALS)}, by chance {shares[k]}"
        for k, value in precision.items()
    )
    dashes = " The dashed line is that share." if len(precision) == 1 else ""
    return picture(
        draw,
        f"Precision–recall curves; average precision: {each}.",
        caption="Precision–recall curves with the average precision of each curve and, in "
        f"brackets, the share of its class, which is the precision of a random ranking.{dashes}",
    )


def _named(held: Validation, k: int, value: float) -> str:
    return f"{shortened(held.labels[k], LONGEST_LABEL)} {fixed(value, DECIMALS)}"


def _square(ax: Any) -> None:
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("auto")
    names = ax.get_legend_handles_labels()[1]
    longest = max(map(len, names)) + HANDLE
    few = len(names) < MOST_COLUMNS + 2  # two below two
    legend_above(ax, max(min(LETTERS // longest, MOST_COLUMNS - few), 1))
