"""An explanation of rows: what each column adds to the score of a row.

    s_g(x) = b_g + Σ_j c_gj(x)

s is a quantity that the model computes: the log-odds of a class against another, the linear
predictor, a mean or a probability.  b is its base value, before any column is seen, and c_j is the
contribution of column j, in the unit of s.  They add up in every model; how a model splits its
score is in the docstring of its ``explain``, and an explanation that is an estimate says so.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, cast, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of, library_of
from likely.errors import InvalidInput, UnknownName
from likely.output.formatting import (
    WIDEST,
    capitalised,
    count,
    html_block,
    html_paragraph,
    html_table,
    paragraph,
    shortened,
    text_table,
)
from likely.output.pictures import names_along_side, new_axes, readable

MOST_ROWS = 3  # shown when printed
MOST_COLUMNS = 10
DECIMALS = 3  # parts are added up, so that all have the same last digit
SMALLEST = 5e-3  # of totals that three decimals can show
DIGITS = 4  # where they cannot
LONGEST_CELL = 24
UNDEFINED = (
    "A total is not defined where both classes are impossible, each by a value or word that it "
    "never had; with smoothing above 0 all are possible."
)
JOINED = " × "  # between the names of a pair of columns
LOG_ODDS, PROBABILITY, PREDICTION = "log-odds", "probability", "prediction"


Explains = TypeVar("Explains", bound=Callable[..., "Explanation"])


def like_its_rows(method: Explains) -> Explains:
    """An ``explain`` of a model whose frames are of the library of the rows it is given."""

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **named: Any) -> "Explanation":
        return replace(method(self, X, *args, **named), library=library_of(X))

    return cast("Explains", wrapper)


def columns_of_term(name: str, known: Container[str]) -> tuple[str, ...]:
    """The known columns of a term: itself, or the two of a pair ``a × b``.

    >>> columns_of_term("age × town", {"age", "town"})
    ('age', 'town')
    """
    parts = name.split(JOINED)
    halves = ((JOINED.join(parts[:k]), JOINED.join(parts[k:])) for k in range(1, len(parts)))
    pairs = (pair for pair in halves if pair[0] in known and pair[1] in known)
    return (name,) if name in known else next(pairs, ())


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of columns to the score of each row; they add up to it.

    Attributes
    ----------
    contributions : array of shape (n_rows, n_columns, n_groups)
    base : array of shape (n_groups,) or (n_rows, n_groups)
        The score before any column is seen: the prior, or the prediction for a typical row.
    groups : array of shape (n_groups,)
        The classes, components or targets whose scores are explained.
    names : tuple of str
        The columns.
    quantity : str
        What adds up: "log-odds", "probability", "prediction", "linear predictor (log link)", ….
    against : int or None
        The position of the class that log-odds compare with.
    notes : tuple of str
        How to read the contributions, and whether they are estimates.
    """

    contributions: Array
    base: Array
    groups: Array
    names: tuple[str, ...]
    quantity: str = LOG_ODDS
    against: int | None = None
    notes: tuple[str, ...] = ()
    base_is: str = "base"  # its name in a table
    cells: tuple[tuple[str, ...], ...] = ()  # of the rows, in words, where they are known
    rows: tuple[int, ...] = ()  # positions in the table they came from; () is 0, 1, …
    library: str | None = None  # of the frame that was explained

    def __len__(self) -> int:
        return len(self.contributions)

    @property
    def total(self) -> Array:
        """The explained score of each row, base plus contributions, (n_rows, n_groups).

        It is nan where contributions are infinite with both signs.
        """
        with np.errstate(invalid="ignore"):  # inf − inf
            return np.asarray(self.base + self.contributions.sum(axis=1))

    @property
    def shown(self) -> list[int]:
        """The groups that are shown: not the reference class, and of two shares the second."""
        kept = [g for g in range(len(self.groups)) if g != self.against]
        is_pair = self.quantity == PROBABILITY and len(kept) == 2
        return kept[1:] if is_pair else kept

    def importance(self) -> dict[str, float]:
        """The mean absolute contribution of each column over the rows, the largest first."""
        size = np.abs(self.contributions[:, :, self.shown]).mean(axis=0).max(axis=1, initial=0.0)
        order = np.argsort(-size, kind="stable")
        return {self.names[j]: float(size[j]) for j in order}

    def for_columns(self, names: Sequence[str], column: Sequence[int]) -> "Explanation":
        """The explanation by other columns: ``column[j]`` is the new place of column j."""
        out = np.zeros((len(self), len(names), len(self.groups)))
        for j, place in enumerate(column):
            out[:, place] += self.contributions[:, j]
        return replace(self, contributions=out, names=tuple(names), cells=())

    def for_origins(self, names: Sequence[str], origin: Mapping[str, int]) -> "Explanation":
        """The explanation by the columns that others were made from, at ``origin``.

        A pair of columns, ``a × b``, stays a term of its own.
        """
        terms, place = [*names], []
        for name in self.names:
            made_of = (names[origin[part]] for part in columns_of_term(name, origin))
            term = JOINED.join(dict.fromkeys(made_of))
            terms += [] if term in terms else [term]
            place.append(terms.index(term))
        return self.for_columns(terms, place)

    def also(self, *notes: str) -> "Explanation":
        """The explanation with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def to_frame(self, library: str | None = None) -> Any:
        """One row per row, group and column: ``row``, ``group``, ``column``, ``contribution``.

        The first column of each row is its base value.  In pandas, polars or Arrow, like the rows
        that were explained.
        """
        n, d, g = len(self), len(self.names), len(self.shown)
        base = np.broadcast_to(self.base, (n, len(self.groups)))[:, self.shown]
        values = np.concatenate([base[:, None], self.contributions[:, :, self.shown]], axis=1)
        labels = np.array([str(self.groups[k]) for k in self.shown], dtype=object)
        columns = {
            "row": np.repeat(np.array(self._positions(), dtype=np.int64), g * (d + 1)),
            "group": np.tile(np.repeat(labels, d + 1), n),
            "column": np.tile(np.array([self.base_is, *self.names], dtype=object), n * g),
            "contribution": values.transpose(0, 2, 1).ravel(),
        }
        return frame_of(columns, library or self.library)

    def to_json(self) -> dict[str, Any]:
        """Everything that is shown, in the types that JSON has."""
        return {
            "quantity": self.quantity,
            "against": None if self.against is None else _plain(self.groups[self.against]),
            "rows": [self._row_to_json(i) for i in range(len(self))],
            "notes": list(self.notes),
        }

    def _row_to_json(self, i: int) -> dict[str, Any]:
        cells = {"cells": dict(zip(self.names, self.cells[i], strict=True))} if self.cells else {}
        base = np.broadcast_to(self.base, (len(self), len(self.groups)))[i]
        groups = [
            {
                "group": _plain(self.groups[g]),
                "base": finite_or_none(base[g]),
                "contributions": dict(
                    zip(self.names, map(finite_or_none, self.contributions[i, :, g]), strict=True)
                ),
                "total": finite_or_none(self.total[i, g]),
            }
            for g in self.shown
        ]
        return {"row": self._positions()[i], **cells, "groups": groups}

    def plot(self, row: int = 0, group: Any = None, ax: Any = None, top: int = 15) -> Any:
        """The contributions to one row as bars, the largest first; the matplotlib axes."""
        from likely.explanations.explanation import draw_row

        if not 0 <= row < len(self):
            raise InvalidInput(
                f"row is {row!r}; the explanation has {count(len(self), 'row')}, numbered from 0. "
                "Use row=0 for the first."
            )
        return draw_row(self, row, self._group(group), ax, top)

    def _group(self, group: Any) -> int:
        labels = self.groups.tolist()
        if group is None:  # the one that is most probable in most rows
            return max(self.shown, key=lambda g: float(np.nanmean(self.total[:, g])))
        if group not in labels:
            raise UnknownName("group", group, map(str, labels))
        return int(labels.index(group))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def text(self, *, most: int = MOST_ROWS, top: int = MOST_COLUMNS, width: int = WIDEST) -> str:
        """The first rows as tables of at most ``top`` columns of the data."""
        blocks = [self._text(i, top, width) for i in range(min(most, len(self)))]
        rest = len(self) - len(blocks)
        if rest > 0:
            blocks.append(f"(+{count(rest, 'more row')})")
        notes = [line for note in self.notes for line in paragraph(f"Note: {note}", width)]
        return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])

    def _repr_html_(self) -> str:
        n = min(MOST_ROWS, len(self))
        tables = (html_table(self._head(i), self._rows(i, MOST_COLUMNS)) for i in range(n))
        return html_block(*tables, *(html_paragraph(f"Note: {note}") for note in self.notes))

    def title(self) -> str:
        """``log-odds against 'a'``: what adds up."""
        if self.against is None:
            return self.quantity
        return f"{self.quantity} against {_plain(self.groups[self.against])!r}"

    def _text(self, i: int, top: int, width: int) -> str:
        title, *groups = self._head(i)
        head = ["", *groups] if len(self.groups) > 1 else ()
        return "\n".join([title, *text_table(head, self._rows(i, top), indent=0, width=width)])

    def _head(self, i: int) -> list[str]:
        """A title, and the groups that are shown."""
        groups = [shortened(str(self.groups[g]), LONGEST_CELL) for g in self.shown]
        if len(self.groups) == 1:
            groups = [capitalised(self.quantity)]
        return [f"row {self._positions()[i]}: {self.title()}", *groups]

    def _rows(self, i: int, top: int) -> list[list[str]]:
        """The base value, the largest contributions, the rest together, and the total."""
        parts = self.parts(i, top)
        scale = np.abs([value for _, values in parts for value in values if np.isfinite(value)])
        few = scale.max(initial=0.0) >= SMALLEST
        form = f"+.{DECIMALS}f" if few else f"+.{DIGITS}g"
        return [[name, *(signed(value, form) for value in values)] for name, values in parts]

    def parts(self, i: int, top: int) -> list[tuple[str, Array]]:
        """What the total of a row consists of, in words, with the values of each shown group."""
        values = self.contributions[i][:, self.shown]
        order = np.argsort(-np.abs(values).max(axis=1, initial=0.0), kind="stable")
        base = np.broadcast_to(self.base, (len(self), len(self.groups)))[i, self.shown]
        rows = [(self.base_is, base)]
        rows += [(self.label(i, int(j)), values[j]) for j in order[:top]]
        if len(order) > top:
            rest = order[top:]
            with np.errstate(invalid="ignore"):  # inf − inf
                rows.append((f"{count(len(rest), 'other column')}", values[rest].sum(axis=0)))
        return [*rows, ("total", self.total[i, self.shown])]

    def label(self, i: int, j: int) -> str:
        """``age = 47``: a column with its cell in a row, where that is known."""
        if not self.cells:
            return self.names[j]
        return f"{self.names[j]} = {shortened(self.cells[i][j], LONGEST_CELL)}"

    def _positions(self) -> tuple[int, ...]:
        return self.rows or tuple(range(len(self)))


def log_odds_explanation(
    contributions: Array,
    log_prior: Array,
    classes: Array,
    against: object,
    names: Sequence[str],
    *,
    notes: Sequence[str] = (),
    base_is: str = "prior",
) -> Explanation:
    """Log-odds from log-probabilities: differences from the reference class.

    ``log_prior`` is (n_classes,) or (n_rows, n_classes).  The log-odds of two classes that are both
    impossible are nan.
    """
    reference = reference_class(classes, against)
    with np.errstate(invalid="ignore"):  # −inf − (−inf)
        log_odds = contributions - contributions[:, :, [reference]]
        base = log_prior - log_prior[..., [reference]]
    log_odds[:, :, reference] = 0.0
    base[..., reference] = 0.0
    found = Explanation(
        log_odds,
        base,
        classes,
        tuple(names),
        against=reference,
        notes=tuple(notes),
        base_is=base_is,
    )
    return found.also(UNDEFINED) if np.isnan(found.total).any() else found


def signed(value: Any, form: str = f"+.{DECIMALS}f") -> str:
    """A contribution or a total with its sign; one that is nan in words."""
    return "not defined" if np.isnan(value) else format(float(value), form)


def reference_class(classes: Array, against: object) -> int:
    """The position of the class that log-odds compare with: the first, unless one is named."""
    labels = classes.tolist()
    if against is not None and against not in labels:
        raise UnknownName("class", against, map(str, labels))
    return 0 if against is None else int(labels.index(against))


def refuse_against(against: object, quantity: str) -> None:
    """Refuse a reference class where the explained quantity has none."""
    if against is not None:
        raise InvalidInput(
            f"against={against!r} was given; a {quantity} is explained, which is compared with no "
            "class. Leave against out."
        )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def finite_or_none(value: Any) -> float | None:
    """A number for JSON, which has no infinity."""
    return float(value) if np.isfinite(value) else None


# ── The picture of an explanation: from the base value to the total, one bar for each column ──────

UP, DOWN, END = "#c2553a", "#3a78c2", "#777777"  # readable on white and on black
WHITE_SHARE = 0.16  # of the width, beside the bars, for the numbers


def draw_row(found: "Explanation", row: int, group: int, ax: Any, top: int) -> Any:
    """The contributions to one score of a row as bars that start where the last one ended."""
    values = found.contributions[row, :, group]
    base = float(np.broadcast_to(found.base, (len(found), len(found.groups)))[row, group])
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:top], order[top:]
    parts = [(found.label(row, int(j)), float(values[j])) for j in shown]
    if len(rest):
        parts.append((count(len(rest), "other column"), float(values[rest].sum())))
    names = [found.base_is, *(name for name, _ in parts), "total"]
    total = float(found.total[row, group])
    axes = new_axes(len(names)) if ax is None else ax
    _bars(axes, base, [value for _, value in parts], total)
    names_along_side(axes, names)
    axes.set_xlabel(_about(found, group))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    readable(axes)
    return axes


def _bars(ax: Any, base: float, values: list[float], total: float) -> None:
    ends = np.cumsum([base, *values])
    low, high = min(0.0, *ends, total), max(0.0, *ends, total)
    span = (high - low) or 1.0
    ax.barh([0, len(values) + 1], [base, total], color=END, height=0.6)
    for i, value in enumerate(values, start=1):
        start, end = float(ends[i - 1]), float(ends[i])
        ax.barh(i, value, left=start, color=UP if value > 0 else DOWN, height=0.6)
        ax.plot([start, start], [i - 1, i], color=END, lw=0.6)
        ax.text(max(start, end) + 0.01 * span, i, _written(value), va="center", fontsize=8)
    for i, value in ((0, base), (len(values) + 1, total)):
        ax.text(max(value, 0.0) + 0.01 * span, i, _written(value), va="center", fontsize=8)
    ax.axvline(0, color=END, lw=0.8, zorder=0)
    ax.set_xlim(low - 0.03 * span, high + WHITE_SHARE * span)


def _about(found: "Explanation", group: int) -> str:
    label = str(found.groups[group])
    named = f" of {label}" if len(found.groups) > 1 else ""
    against = "" if found.against is None else f" against {found.groups[found.against]}"
    return f"{found.quantity[0].upper()}{found.quantity[1:]}{named}{against}"


def _written(value: float) -> str:
    return format(value, "+#.3g").rstrip(".")
