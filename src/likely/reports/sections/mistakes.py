"""Confusions of classes, and the held-out rows with the largest loss."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from likely._typing import Array
from likely.metrics.classes import confusion_of
from likely.numerics.intervals import wilson
from likely.output.description import Description
from likely.output.formatting import DASH, cell, count, number, percent, percent_level, shortened
from likely.reports.figures import ACCENT, INK, MUTED, diagonal, picture, shade, thousands
from likely.reports.section import (
    Block,
    Gallery,
    Heading,
    LeftOut,
    Picture,
    Section,
    TableBlock,
    Text,
)
from likely.runs.folder import RunFacts
from likely.workbench.scoring.validation import Validation

TITLE = "Mistakes"
MOST_DRAWN = 12  # classes; more do not fit a picture
MOST_PAIRS = 12
MOST_CLASSES = 20  # in a table
MOST_CELLS = 6  # columns of a row; more are wider than a page
LONGEST_CELL = 40
LONGEST_TEXT = 200  # of a document, enough to see what it is about
LONGEST_LABEL = 12


def mistakes(facts: RunFacts) -> Section | LeftOut | None:
    held = facts.validation
    if held is None:
        return None  # calibration says so
    blocks: list[Block] = []
    if held.has_classes:
        counts = np.asarray(confusion_of(held.truth, held.prediction).counts)
        blocks += _confusion(held, counts)
    if held.surprising:
        texts = frozenset(facts.run.get("texts") or ())
        blocks += _surprising(held, facts.description, texts)
    if not blocks:
        return LeftOut(TITLE, "no rows were saved")
    return Section("mistakes", TITLE, tuple(blocks))


def _confusion(held: Validation, counts: Array) -> list[Block]:
    pairs, table = _pairs(held, counts), _by_class(held, counts)
    drawn = len(held.labels) <= MOST_DRAWN
    first: Block = Gallery((_matrix(held, counts), table)) if drawn else table
    return [first, *([pairs] if pairs.rows and len(held.labels) > 2 else [])]


def _by_class(held: Validation, counts: Array) -> TableBlock:
    """Precision and recall of each class with their intervals, F1, and how many rows it has."""
    rows = []
    for k, label in enumerate(held.labels[:MOST_CLASSES]):
        support, predicted, right = counts[k].sum(), counts[:, k].sum(), counts[k, k]
        f1 = percent(2 * right / (support + predicted)) if support + predicted > 0 else DASH
        rows.append(
            (label, _share(right, predicted), _share(right, support), f1, f"{support:,.0f}")
        )
    left = len(held.labels) - MOST_CLASSES
    what = "number" if held.truth.weight is None else "total weight"
    return TableBlock(
        ("class", "precision", "recall", "F₁", "support"),
        tuple(rows),
        caption=f"With 95 % Wilson intervals. Support is the {what} of held-out rows of the class.",
        more=f"{count(left, 'more class', 'more classes')}" if left > 0 else "",
    )


def _share(part: float, whole: float) -> str:
    """``65.9 % (60.6 % to 70.9 %)``: a share with its 95 % interval."""
    if not whole > 0:
        return DASH
    low, high = wilson(part / whole, float(whole), 0.95)
    return f"{percent(part / whole)} ({percent(low)} to {percent(high)})"


def _matrix(held: Validation, counts: Array) -> Picture:
    n = len(held.labels)
    names = [shortened(label, LONGEST_LABEL) for label in held.labels]

    def draw(ax: Any) -> None:
        from sklearn.metrics import ConfusionMatrixDisplay

        display = ConfusionMatrixDisplay(counts, display_labels=names)
        slanted = 45 if max(map(len, names)) * n > 30 else "horizontal"
        size = {"color": INK, "fontsize": 11 if n <= 5 else 9}
        display.plot(
            ax=ax,
            cmap=shade(),
            colorbar=False,
            im_kw={"vmin": 0},
            values_format=",.0f",
            text_kw=size,
            xticks_rotation=slanted,
        )
        ax.grid(visible=False)
        ax.set(xlabel="Predicted", ylabel="Observed")

    right = counts.trace() / max(counts.sum(), 1)
    label = f"Confusion matrix of {n} classes: {percent(right)} of the rows are on the diagonal."
    size = (min(2.6 + 0.45 * n, 6.5), min(1.8 + 0.4 * n, 5.6))
    caption = f"Held-out rows by observed and predicted class. {_threshold(held)}"
    return picture(draw, label, caption=caption, size=size)


def _threshold(held: Validation) -> str:
    """When a class is predicted; of two classes, which is the positive one."""
    if len(held.labels) != 2:
        return "The most probable class is predicted."
    positive = held.labels[1]
    return f"{positive} is the positive class, predicted if its probability is above 0.5."


def _pairs(held: Validation, counts: Array) -> TableBlock:
    """The most frequent confusions."""
    off = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
    rows = []
    for i, j in zip(*np.unravel_index(order, off.shape), strict=True):
        if off[i, j] > 0:
            share = off[i, j] / counts[i].sum()
            rows.append((held.labels[i], held.labels[j], f"{off[i, j]:,.0f}", percent(share)))
    caption = "The most frequent confusions."
    head = ("observed", "predicted", "rows", "share of the class")
    return TableBlock(head, tuple(rows), caption=caption, left=2)


def _most_important(description: Description | None, columns: Collection[str]) -> list[str]:
    """Names of columns, the most important in the model first.

    A term is a column, or ``column[category]``; the name of a column may have brackets, too.
    """
    terms = [] if description is None else description.most_important()
    return [term if term in columns else term.rpartition("[")[0] for term in terms]


def _surprising(
    held: Validation, description: Description | None, texts: frozenset[str]
) -> list[Block]:
    """A table of the rows; of a text, more is shown than of other cells."""
    cells = held.surprising[0]["cells"]
    important = _most_important(description, cells)
    own = [name for name in cells if name == held.facts.get("identifier")]
    columns = [name for name in cells if name not in own]
    place = {name: k for k, name in reversed(list(enumerate(important)))}
    chosen = sorted(columns, key=lambda name: place.get(name, len(important)))[:MOST_CELLS]
    in_nats = held.prediction.mean is None or held.prediction.log_density is not None
    unit = "loss in nats" if in_nats else "squared error"
    longest = {name: LONGEST_TEXT if name in texts else LONGEST_CELL for name in cells}
    rows = tuple(_row(each, own, chosen, longest) for each in held.surprising)
    left = len(columns) - len(chosen)
    more = "" if left <= 0 else f"{count(left, 'more column')}"
    caption = "The most important columns of the model." if left > 0 and important else ""
    first, heads = ([shortened(c, LONGEST_CELL) for c in names] for names in (own, chosen))
    at = len(own)
    return [
        Heading("Rows with the largest held-out loss"),
        Text(
            "Training rows with the largest loss while they were held out, numbered from 0; sealed "
            "rows are not shown. Check them for wrong labels and missing information."
        ),
        TableBlock(
            (*first, "row", held.target, "predicted", unit, *heads),
            rows,
            left=at + 3,
            words=frozenset(
                at + 4 + j
                for j, name in enumerate(chosen)
                if any(isinstance(each["cells"].get(name), str) for each in held.surprising)
            ),
            names=frozenset({*range(at), at + 1, *range(at + 4, at + 4 + len(chosen))}),
            caption=caption,
            more=more,
        ),
    ]


def _row(
    each: Mapping[str, Any], own: list[str], chosen: list[str], longest: Mapping[str, int]
) -> tuple[str, ...]:
    found = each["predicted"]
    if "class" in found:
        predicted = f"{found['class']} ({number(found['p'])})"
    else:
        predicted = number(found["mean"])
    loss = "∞" if each["loss"] is None else number(each["loss"])
    first, cells = (
        [shortened(cell(each["cells"].get(name)), longest[name]) for name in names]
        for names in (own, chosen)
    )
    return *first, str(each["row"]), cell(each["truth"]), predicted, loss, *cells


# ── Numeric targets: predicted and observed values, residuals, and calibration of quantiles ───────

RESIDUALS = "Residuals"
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
    return Section("residuals", RESIDUALS, tuple(blocks))


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
