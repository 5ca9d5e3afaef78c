"""Calibration: reliability diagram, and the decomposition of Brier score and log loss."""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.metrics.calibration import (
    Bin,
    Bins,
    CalibrationError,
    ScoreParts,
    quantile_edges,
    reliability_curve,
)
from likely.metrics.classes import Brier, LogLoss
from likely.output.formatting import capitalised, estimate, fixed, number, shortened
from likely.reports.figures import (
    ACCENT,
    MUTED,
    SERIES,
    SIZE,
    diagonal,
    legend_above,
    picture,
    thousands,
)
from likely.reports.section import Block, Gallery, LeftOut, Picture, Section, TableBlock, Text
from likely.runs.folder import RunFacts
from likely.workbench.scoring.validation import Validation

TITLE = "Calibration"
PREDICTED = "Calibration, ranking and mistakes"
NEEDS = "no held-out predictions were saved: too few rows, or a streamed file"
MOST_CLASSES = len(SERIES)  # drawn
LONGEST_LABEL = 18
SHARES = (0.0, 0.5, 1.0)  # that an axis names; more would touch those of the next diagram
MOST_ACROSS = 3  # diagrams beside each other
DECIMALS = 4  # of parts that add up to the score


def calibration(facts: RunFacts) -> Section | LeftOut | None:
    held = facts.validation
    if held is None:
        return LeftOut(PREDICTED, NEEDS)
    if not held.has_classes:
        return None
    error = held.score.estimates[CalibrationError.name]
    blocks: list[Block] = [
        Gallery((_diagram(held), _histogram(held))),
        Text(
            f"Calibration error {estimate(error.value, error.low, error.high, level=0.95)}: the "
            "mean distance between predicted probabilities and observed shares, in ten bins of "
            "equal width."
        ),
        _decomposed(held),
    ]
    return Section("calibration", TITLE, tuple(blocks))


def events_drawn(held: Validation) -> list[int]:
    """The classes to draw: the second of two, or the most frequent of several."""
    if len(held.labels) == 2:
        return [1]
    counts = np.bincount(held.truth.y, minlength=len(held.labels))
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CLASSES].tolist())


def _curve(held: Validation, k: int) -> list[Bin]:
    """Bins that hold equal shares of the predictions, so that intervals are comparable."""
    p = np.exp(held.prediction.log_p[:, k])
    edges = quantile_edges(p)
    bins = Bins.of(held.truth, held.prediction, edges)
    event = 0 if len(held.labels) == 2 else k
    return [b for b in reliability_curve(bins, edges, event=event) if b.weight > 0]


def _diagram(held: Validation) -> Picture:
    """One curve for two classes; a small diagram for each of several, because curves overlap."""
    curves = {k: _curve(held, k) for k in events_drawn(held)}
    across = min(len(curves), MOST_ACROSS)
    grid = (-(-len(curves) // across), across)

    def draw(axes: Any) -> None:
        for ax, (k, bins) in zip(axes.flat, curves.items(), strict=False):
            _reliability(ax, held, k, bins)
        if len(curves) > 1:  # set for one, they are set for all
            names = [f"{share:g}" for share in SHARES]
            axes.flat[0].set_xticks(SHARES, names)
            axes.flat[0].set_yticks(SHARES, names)
        for j in range(len(curves), axes.size):
            axes.flat[j].set_visible(False)
            axes.flat[j - across].tick_params(labelbottom=True)  # nothing is below it
        figure = axes.flat[0].figure
        figure.supxlabel("Predicted probability", color=MUTED, fontsize=10)
        figure.supylabel("Observed share", color=MUTED, fontsize=10)

    worst = max(abs(b.predicted - b.observed) for bins in curves.values() for b in bins)
    label = (
        "Reliability diagram: predicted probability against the observed share, with intervals. "
        f"The largest distance from the diagonal is {number(worst)}."
    )
    caption = (
        "Ten bins with equal numbers of rows; bars are 95 % intervals. The dashed line is perfect "
        "calibration."
    )
    if 2 < len(curves) < len(held.labels):
        caption += f" The {len(curves)} most frequent of {len(held.labels)} classes."
    size = SIZE if len(curves) == 1 else (SIZE[0], 0.5 + 1.45 * grid[0])
    return picture(draw, label, caption=caption, size=size, grid=grid)


def _reliability(ax: Any, held: Validation, k: int, bins: list[Bin]) -> None:
    from sklearn.calibration import CalibrationDisplay

    predicted, seen = np.array([b.predicted for b in bins]), np.array([b.observed for b in bins])
    spread = np.abs(np.array([b.interval for b in bins]).T - seen)
    diagonal(ax)
    ax.errorbar(predicted, seen, yerr=spread, fmt="none", ecolor=ACCENT, alpha=0.55, lw=1.3)
    p = np.exp(held.prediction.log_p[:, k])
    display = CalibrationDisplay(seen, predicted, p, estimator_name=None)
    name = shortened(held.labels[k], LONGEST_LABEL)
    display.plot(ax=ax, ref_line=False, color=ACCENT, marker="o", ms=3.5, label=name)
    ax.get_legend().remove()  # the title is enough
    ax.set(xlabel="", ylabel="", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="auto")
    ax.set_title(name, loc="left")


def _histogram(held: Validation) -> Picture:
    """The histogram of predicted probabilities."""
    two = len(held.labels) == 2
    p = np.exp(held.prediction.log_p)
    confidence = p[:, 1] if two else p.max(axis=1)
    what = f"p({shortened(held.labels[1], LONGEST_LABEL)})" if two else "Largest probability"

    def draw(ax: Any) -> None:
        ax.hist(confidence, bins=np.linspace(0, 1, 21).tolist(), color=ACCENT, alpha=0.75)
        ax.set(xlabel=what, ylabel="Rows", xlim=(0, 1))
        thousands(ax.yaxis)
        ax.axvline(float(confidence.mean()), color=MUTED, lw=1, linestyle=(0, (4, 3)))

    label = f"Histogram of {what} of {len(p):,} held-out rows; mean {number(confidence.mean())}"
    return picture(
        draw,
        label,
        caption="Predicted probabilities of the held-out rows. The dashed line is their mean.",
    )


def _decomposed(held: Validation) -> TableBlock:
    rows = []
    for metric in (Brier(), LogLoss()):
        statistics = metric.statistics(held.truth, held.prediction)
        parts: ScoreParts = metric.parts(statistics)
        if np.isfinite(parts.reliability):
            value = metric.value(statistics)
            written = (fixed(part, DECIMALS) for part in (value, *parts))
            rows.append((capitalised(metric.title), *written))
    caption = (
        "Score = reliability (loss by miscalibration) − resolution (gain by telling rows apart) + "
        "uncertainty (the score of these rows' own class shares; the baseline has those of the "
        "training rows) + within-bin term."
    )
    if len(held.labels) > 2:
        caption += " The log loss of several classes has no such decomposition."
    head = ("score", "value", "reliability", "resolution", "uncertainty", "within-bin term")
    return TableBlock(head, tuple(rows), caption=caption)


# ── ROC and precision–recall curves, of two classes or of each class ──────────────────────────────

RANKING = "Ranking"
LETTERS, HANDLE, MOST_COLUMNS = 56, 4, 3  # of a legend: across it, of a line, and beside each other
PLACES = 3
CHANCE = {"color": MUTED, "linewidth": 1, "linestyle": (0, (4, 3)), "label": "_chance"}


def ranking(facts: RunFacts) -> Section | LeftOut | None:
    held = facts.validation
    if held is None or not held.has_classes:
        return None
    if not _ranked(held):
        return LeftOut(RANKING, "all held-out rows are of one class")
    return Section("ranking", RANKING, (Gallery((_roc(held), _precision_recall(held))),))


def _ranked(held: Validation) -> list[int]:
    """The classes to be drawn that have rows on both sides."""
    n = len(held.row)
    return [k for k in events_drawn(held) if 0 < int((held.truth.y == k).sum()) < n]


def _occurrences(held: Validation, k: int) -> tuple[Array, Array]:
    """Whether each row is of class k, and its probability."""
    return (held.truth.y == k).astype(int), np.exp(held.prediction.log_p[:, k])


def _roc(held: Validation) -> Picture:
    from sklearn.metrics import roc_auc_score

    weight = {"sample_weight": held.truth.weight}
    areas = {k: float(roc_auc_score(*_occurrences(held, k), **weight)) for k in _ranked(held)}

    def draw(ax: Any) -> None:
        from sklearn.metrics import RocCurveDisplay

        for j, (k, area) in enumerate(areas.items()):
            RocCurveDisplay.from_predictions(
                *_occurrences(held, k),
                **weight,
                ax=ax,
                curve_kwargs={"color": SERIES[j], "label": _named(held, k, area)},
                plot_chance_level=j == 0,
                chance_level_kw=CHANCE,
            )
        ax.set(xlabel="False positive rate", ylabel="True positive rate")
        _square(ax)

    each = ", ".join(f"{held.labels[k]} {fixed(area, PLACES)}" for k, area in areas.items())
    caption = "ROC curves with the area under each curve. The dashed line is chance, 0.5."
    return picture(draw, f"ROC curves; area under the curve: {each}.", caption=caption)


def _precision_recall(held: Validation) -> Picture:
    from sklearn.metrics import average_precision_score

    weight = {"sample_weight": held.truth.weight}
    precision = {
        k: float(average_precision_score(*_occurrences(held, k), **weight)) for k in _ranked(held)
    }
    occurred = {
        k: np.average(_occurrences(held, k)[0], weights=held.truth.weight) for k in precision
    }
    shares = {k: fixed(float(share), PLACES) for k, share in occurred.items()}

    def draw(ax: Any) -> None:
        from sklearn.metrics import PrecisionRecallDisplay

        for j, (k, average) in enumerate(precision.items()):
            PrecisionRecallDisplay.from_predictions(
                *_occurrences(held, k),
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
        f"{held.labels[k]} {fixed(value, PLACES)}, by chance {shares[k]}"
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
    return f"{shortened(held.labels[k], LONGEST_LABEL)} {fixed(value, PLACES)}"


def _square(ax: Any) -> None:
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("auto")
    names = ax.get_legend_handles_labels()[1]
    longest = max(map(len, names)) + HANDLE
    few = len(names) < MOST_COLUMNS + 2  # two below two
    legend_above(ax, max(min(LETTERS // longest, MOST_COLUMNS - few), 1))
