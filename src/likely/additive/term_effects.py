"""One term of an additive model on a grid: as a frame, as a table of levels, and as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import ndtri

from likely._typing import Array
from likely.data.frames import frame_of
from likely.numerics.intervals import refuse_level
from likely.output.description import NamedColumn, NamedTable
from likely.output.formatting import short_number
from likely.output.pictures import readable, shortened_name

IN_A_ROW = 4  # pictures


@final
@dataclass(frozen=True, eq=False)
class TermEffect:
    """One term on a grid: what it adds to the linear predictor, with its standard error."""

    name: str
    columns: tuple[str, ...]  # one, or the two of a pair
    values: tuple[Array, ...]  # of each column, one for each row of ``effect``
    effect: Array  # (n,) or, for several classes, (n, K)
    se: Array  # of the same shape
    library: str | None = None

    def to_frame(self, library: str | None = None) -> Any:
        """One row for each point: the columns, ``effect`` and ``se``."""
        columns = dict(zip(self.columns, self.values, strict=True))
        if self.effect.ndim == 1:
            return frame_of(
                {**columns, "effect": self.effect, "se": self.se}, library or self.library
            )
        classes = {f"effect {k}": self.effect[:, k] for k in range(self.effect.shape[1])}
        errors = {f"se {k}": self.se[:, k] for k in range(self.se.shape[1])}
        return frame_of({**columns, **classes, **errors}, library or self.library)


class TermTest(NamedTuple):
    """The test that a term is 0."""

    edf: float
    statistic: float
    p: float
    range: float  # between the lowest and the highest value of the term over a grid


def table_of_terms(
    names: Sequence[str], kinds: Sequence[str], tests: Sequence[TermTest], statistic: str
) -> NamedTable:
    """A row for each term: its kind, effective coefficients, test and range."""
    return NamedTable(
        "terms",
        (
            NamedColumn("term", "term"),
            NamedColumn("kind", "kind"),
            NamedColumn("edf", "edf", "number"),
            NamedColumn("statistic", statistic, "statistic"),
            NamedColumn("p", "p-value", "p"),
            NamedColumn("range", "range", "number"),
        ),
        tuple((name, kind, *test) for name, kind, test in zip(names, kinds, tests, strict=True)),
        noun="term",
        weights=tuple((test.range,) for test in tests),
        ranked=False,
    )


def table_of_levels(
    term: str, levels: Sequence[str], rows: Array, effect: Array, se: Array, classes: Sequence[str]
) -> NamedTable:
    """A row for each level of a column of categories: its rows, and what it adds to η.

    ``effect`` and ``se`` are (n_levels, K); of several ``classes`` the errors are left out.
    """
    columns = [NamedColumn("level", term), NamedColumn("rows", "rows", "number")]
    if classes:
        columns += [NamedColumn("effect", name, "number", name) for name in classes]
    else:
        columns += [NamedColumn("effect", "effect", "estimate")]
        columns += [NamedColumn("se", "std err", "error")]
    values = effect if classes else np.hstack([effect, se])
    weights = np.abs(effect) if classes else rows[:, None]  # which are shown, where not all are
    return NamedTable(
        f"levels of {term}",
        tuple(columns),
        tuple(
            (level, int(n) if n.is_integer() else n, *row)
            for level, n, row in zip(levels, rows.tolist(), values.tolist(), strict=True)
        ),
        noun="level",
        title=f"{term}: what each level adds to the linear predictor",
        weights=tuple(map(tuple, weights.tolist())),
        ranked=False,
    )


def draw_terms(effects: Sequence[TermEffect], classes: Sequence[str], level: float) -> Any:
    """A figure with one picture for each term, four in a row."""
    refuse_level(level)
    import matplotlib.pyplot as plt

    wide = min(len(effects), IN_A_ROW) or 1
    high = -(-len(effects) // wide) or 1
    size = (3.1 * wide + 0.4, 2.7 * high)
    figure, axes = plt.subplots(high, wide, figsize=size, layout="constrained", squeeze=False)
    reach = float(ndtri((1 + level) / 2))
    for ax, each in zip(axes.flat, effects, strict=False):
        if len(each.columns) == 2:
            _draw_pair(figure, ax, each)
        else:
            _draw_one(ax, each, classes, reach)
        readable(ax)
    for ax in axes.flat[len(effects) :]:
        ax.set_visible(False)
    return figure


def _draw_one(ax: Any, each: TermEffect, classes: Sequence[str], reach: float) -> None:
    values, words = each.values[0], each.values[0].dtype.kind not in "if"
    effects, errors = np.atleast_2d(each.effect.T), np.atleast_2d(each.se.T)
    ax.axhline(0.0, color="0.7", linewidth=0.8)
    ax.set_title(shortened_name(each.name), fontsize=10)
    labels = classes or ("",)
    if words:
        place = np.arange(len(values))
        for k, (effect, se) in enumerate(zip(effects, errors, strict=True)):
            shift = (k - (len(effects) - 1) / 2) * 0.15
            ax.errorbar(
                place + shift, effect, reach * se, fmt="o", ms=4, capsize=0, label=labels[k]
            )
        shown = [shortened_name(str(value), 12) for value in values]
        ax.set_xticks(place, shown, rotation=45 if len(values) > 4 else 0)
    else:
        for k, (effect, se) in enumerate(zip(effects, errors, strict=True)):
            (line,) = ax.plot(values, effect, label=labels[k])
            ax.fill_between(values, effect - reach * se, effect + reach * se,
                            color=line.get_color(), alpha=0.2, linewidth=0)  # fmt: skip
    if classes:
        ax.legend(fontsize=7)


def _draw_pair(figure: Any, ax: Any, each: TermEffect) -> None:
    """A map of a pair; of several classes, that of the one whose effect is largest."""
    effect = each.effect
    if effect.ndim == 2:
        effect = effect[:, int(np.abs(effect).max(axis=0).argmax())]
    shape = [len(dict.fromkeys(values.tolist())) for values in each.values]
    largest = float(np.abs(effect).max()) or 1.0
    image = ax.imshow(
        effect.reshape(shape).T,
        origin="lower", aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest,
    )  # fmt: skip
    for axis, values, n in zip((ax.xaxis, ax.yaxis), each.values, shape, strict=True):
        own = list(dict.fromkeys(values.tolist()))
        at = np.unique(np.linspace(0, n - 1, min(n, 4)).astype(int))
        shown = [own[i] if isinstance(own[i], str) else short_number(own[i], 3) for i in at]
        axis.set_ticks(at, [shortened_name(str(text), 10) for text in shown])
    ax.set_xlabel(shortened_name(each.columns[0], 16), fontsize=9)
    ax.set_ylabel(shortened_name(each.columns[1], 16), fontsize=9)
    ax.set_title(shortened_name(each.name), fontsize=10)
    figure.colorbar(image, ax=ax)
