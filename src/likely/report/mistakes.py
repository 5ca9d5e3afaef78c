"""What was taken for what, and the rows that surprised the model most while they were held out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely._typing import Array
from likely.evaluate.metrics.confusion import confusion_of
from likely.report.figures import INK, picture, shade
from likely.report.run_files import RunFacts
from likely.report.section import Block, Heading, LeftOut, Picture, Section, Table, Text
from likely.report.validation import Validation
from likely.report.wording import number, shortened

TITLE = "Mistakes"
MOST_DRAWN = 12  # classes; more do not fit a picture
MOST_PAIRS = 12
MOST_CELLS = 10  # columns of a row
LONGEST_CELL = 40
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
        blocks += _surprising(held)
    if not blocks:
        return LeftOut(TITLE, "no surprising rows were kept")
    return Section("mistakes", TITLE, tuple(blocks))


def _confusion(held: Validation, counts: Array) -> list[Block]:
    pairs = _pairs(held, counts)
    drawn: list[Block] = [_matrix(held, counts)] if len(held.labels) <= MOST_DRAWN else []
    return drawn + ([pairs] if pairs.rows and len(held.labels) > 2 else [])


def _matrix(held: Validation, counts: Array) -> Picture:
    n = len(held.labels)
    names = [shortened(label, LONGEST_LABEL) for label in held.labels]

    def draw(ax: Any) -> None:
        from sklearn.metrics import ConfusionMatrixDisplay

        shown = ConfusionMatrixDisplay(counts, display_labels=names)
        slanted = 45 if n > 4 or max(map(len, names)) * n > 30 else "horizontal"
        size = {"color": INK, "fontsize": 11 if n <= 5 else 8}
        shown.plot(
            ax=ax,
            cmap=shade(),
            colorbar=False,
            values_format=",.0f",
            text_kw=size,
            xticks_rotation=slanted,
        )
        ax.grid(visible=False)
        ax.set(xlabel="the model said", ylabel="it was")

    right = counts.trace() / max(counts.sum(), 1)
    label = f"Confusion matrix of {n} classes: {right:.1%} of the rows are on the diagonal."
    size = (min(2.6 + 0.45 * n, 6.5), min(1.8 + 0.4 * n, 5.6))
    return picture(
        draw, label, caption="Held-out rows: what they were, and what was said.", size=size
    )


def _pairs(held: Validation, counts: Array) -> Table:
    """The most frequent confusions."""
    off = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
    rows = []
    for i, j in zip(*np.unravel_index(order, off.shape), strict=True):
        if off[i, j] > 0:
            share = off[i, j] / counts[i].sum()
            rows.append((held.labels[i], held.labels[j], f"{off[i, j]:,.0f}", f"{share:.1%}"))
    caption = "The most frequent confusions."
    head = ("it was", "the model said", "rows", "of that class")
    return Table(head, tuple(rows), caption=caption, left=2)


def _surprising(held: Validation) -> list[Block]:
    columns = list(held.surprising[0]["cells"])
    shown = columns[:MOST_CELLS]
    unit = "loss in nats" if held.prediction.mean is None or _has_density(held) else "squared error"
    rows = tuple(_row(each, shown) for each in held.surprising)
    more = "" if len(columns) == len(shown) else f"{len(columns) - len(shown)} more columns"
    return [
        Heading("The most surprising rows"),
        Text(
            "Training rows with the largest loss while they were held out, counted from 0; none is "
            "from a sealed test set. Look for wrong labels, and for columns that are missing."
        ),
        Table(
            (
                "row",
                held.target,
                "the model said",
                unit,
                *(shortened(c, LONGEST_CELL) for c in shown),
            ),
            rows,
            left=3,
            words=frozenset(4 + j for j, name in enumerate(shown) if _is_words(held, name)),
            more=more,
        ),
    ]


def _is_words(held: Validation, name: str) -> bool:
    return any(isinstance(each["cells"].get(name), str) for each in held.surprising)


def _has_density(held: Validation) -> bool:
    return held.prediction.log_density is not None


def _row(each: Mapping[str, Any], shown: list[str]) -> tuple[str, ...]:
    said = each["said"]
    told = f"{said['class']} ({number(said['p'])})" if "class" in said else number(said["mean"])
    loss = "∞" if each["loss"] is None else number(each["loss"])
    cells = (shortened(_cell(each["cells"].get(name)), LONGEST_CELL) for name in shown)
    return str(each["row"]), _cell(each["truth"]), told, loss, *cells


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
