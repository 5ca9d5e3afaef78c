"""Partial effects: the mean prediction as a function of one column.

    e_j(v) = mean over rows of f(x with x_j = v)

The other columns keep their values, so combinations may occur that no row has; the band shows
between which values the curves of 80 % of the rows lie.  A curve per row that is not parallel to
the mean is an interaction.

A model that reads a date as time, month and weekday has one effect for each: the time, the month or
the weekday of all dates is changed, and the other two stay as they are.

References: Friedman, Greedy function approximation, Annals of Statistics 2001, §8.2; Goldstein et
al., Peeking inside the black box, JCGS 2015.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast, final, get_args, runtime_checkable

import numpy as np

from likely._typing import Array, Codes
from likely.data.frames import as_table, frame_of, library_of
from likely.errors import InvalidInput, UnknownName
from likely.explanations.any_model import predicted_score
from likely.explanations.explanation import PROBABILITY
from likely.explanations.sampled import MixedRows, mixed_rows
from likely.inputs.estimators import check_fitted_model
from likely.inputs.rows import about_missing_offset, offset_numbers
from likely.inputs.tables import as_frame, n_rows_of, own_columns, refuse_file, rows_at
from likely.names import known_name
from likely.output.formatting import (
    capitalised,
    cell,
    count,
    html_block,
    html_paragraph,
    html_table,
    number,
    text_table,
)

MOST_ROWS = 300
POINTS = 20
MOST_LEVELS = 12
BAND = (0.1, 0.9)
MOST_IN_TEXT = 8  # points of a column
MINUTES_A_DAY = 1440
SHORT_SPAN = 30  # days; dates of a shorter time are shown with their minute
DATES = None, 3, 6  # no zone; how many dates at least and at most are along a narrow foot
LETTERS = 3  # of a month or a weekday in a picture

EffectKind = Literal["number", "date", "category", "calendar"]
LINES: frozenset[EffectKind] = frozenset({"number", "date"})


@final
@dataclass(frozen=True, eq=False)
class DatePart:
    """What a model reads of a column of dates: the time, the month or the weekday of each row."""

    column: str
    part: str
    name: str  # of its effect
    values: Array | Codes  # of each row: days since 1970-01-01, NaN is missing; or codes, −1 is
    labels: tuple[str, ...] = ()  # of the codes; none of a time


@runtime_checkable
class ReadsDates(Protocol):
    """A model that reads dates as several columns, which the model inside it sees."""

    @property
    def model_(self) -> object: ...

    def date_parts(self, X: object) -> list[DatePart]: ...

    def prepare_at(self, X: object, part: DatePart, row: int) -> object: ...


@final
@dataclass(frozen=True, eq=False)
class PartialEffect:
    """The mean prediction at some values of one column."""

    column: str
    values: tuple[Any, ...]  # numbers or dates (text) in order; categories, the commonest first
    mean: Array  # (n_values, n_groups)
    low: Array  # of the curves of 80 % of the rows
    high: Array
    kind: EffectKind = "category"

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "values": [v if self.kind == "number" else str(v) for v in self.values],
            "mean": self.mean.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "kind": self.kind,
        }

    @classmethod
    def from_json(cls, record: Any) -> "PartialEffect":
        mean, low, high = (
            np.array(record[name], dtype=np.float64) for name in ("mean", "low", "high")
        )
        values = tuple(record["values"])
        kind = known_name("kind of effect", record["kind"], get_args(EffectKind))
        return cls(str(record["column"]), values, mean, low, high, cast(EffectKind, kind))

    def spread(self, group: int) -> float:
        """How much the mean prediction varies over the values."""
        return float(np.ptp(self.mean[:, group])) if len(self.mean) else 0.0


@final
@dataclass(frozen=True, eq=False)
class PartialEffects:
    """The partial effects of some columns."""

    effects: tuple[PartialEffect, ...]
    groups: tuple[str, ...]  # classes or targets
    quantity: str
    n_rows: int
    notes: tuple[str, ...] = ()
    library: str | None = None  # of the frame of rows

    def __len__(self) -> int:
        return len(self.effects)

    def __getitem__(self, column: str) -> PartialEffect:
        for effect in self.effects:
            if effect.column == column:
                return effect
        raise UnknownName("column", column, [effect.column for effect in self.effects])

    @property
    def shown(self) -> list[int]:
        """The groups that are shown: of the shares of two classes, the second."""
        n = len(self.groups)
        return [1] if self.quantity == PROBABILITY and n == 2 else list(range(n))

    def to_frame(self, library: str | None = None) -> Any:
        """One row per column, value and group: ``column``, ``value`` (as text), ``mean``, …."""
        rows = [
            (effect.column, cell(value), self.groups[g], *ends)
            for effect in self.effects
            for g in self.shown
            for value, *ends in zip(
                effect.values, effect.mean[:, g], effect.low[:, g], effect.high[:, g], strict=True
            )
        ]
        heads = ("column", "value", "group", "mean", "low", "high")
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in heads]
        kinds = (object, object, object, float, float, float)
        made = zip(heads, columns, kinds, strict=True)
        arrays = {name: np.array(each, dtype=kind) for name, each, kind in made}
        return frame_of(arrays, library or self.library)

    def to_json(self) -> dict[str, Any]:
        return {
            "effects": [effect.to_json() for effect in self.effects],
            "groups": list(self.groups),
            "quantity": self.quantity,
            "rows": self.n_rows,
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, record: Any) -> "PartialEffects":
        """Read what ``to_json`` has written."""
        return cls(
            tuple(PartialEffect.from_json(each) for each in record["effects"]),
            tuple(map(str, record["groups"])),
            str(record["quantity"]),
            int(record["rows"]),
            tuple(map(str, record["notes"])),
        )

    def __str__(self) -> str:
        tables = [text_table(*self._cells(effect), indent=0) for effect in self.effects]
        return "\n\n".join([self._title(), *map("\n".join, tables)])

    def html(self) -> str:
        """The table for a notebook."""
        tables = [html_table(*self._cells(effect)) for effect in self.effects]
        return html_block(html_paragraph(self._title(), bold=True), *tables)

    _repr_html_ = html

    def _title(self) -> str:
        return f"Partial effects: mean {self.quantity} over {count(self.n_rows, 'row')}"

    def _cells(self, effect: PartialEffect) -> tuple[list[str], list[list[str]]]:
        """A head, and rows of some of the values."""
        names = [self.groups[g] for g in self.shown] if len(self.groups) > 1 else ["mean"]
        at = np.linspace(0, len(effect.values) - 1, MOST_IN_TEXT).round().astype(int)
        rows = [
            [cell(effect.values[i]), *(number(effect.mean[i, g]) for g in self.shown)]
            for i in np.unique(at)
        ]
        return [effect.column, *names], rows

    __repr__ = __str__

    def plot(self, ax: Any = None, column: str | None = None) -> Any:
        """The effect of a column, or a grid of all; the matplotlib axes, an array for a grid."""
        chosen = self.effects if column is None else (self[column],)
        from likely.output.pictures import new_axes, readable

        if len(chosen) == 1:
            axes = new_axes(size=(5.2, 3.6)) if ax is None else ax
            self.draw(axes, chosen[0])
            readable(axes)
            return axes
        import matplotlib.pyplot as plt

        n_columns = min(3, len(chosen))
        shape = -(-len(chosen) // n_columns), n_columns
        size = 3.6 * shape[1], 2.9 * shape[0]
        grid = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False)[1]
        for axes, effect in zip(grid.flat, chosen, strict=False):
            self.draw(axes, effect)
            readable(axes)
        for axes in grid.flat[len(chosen) :]:
            axes.set_visible(False)
        return grid

    def draw(self, ax: Any, effect: PartialEffect, colours: Sequence[str] | None = None) -> None:
        """Draw one effect: a line with its band for numbers and times, dots with bars for others.

        Months and weekdays are in their order, and joined.
        """
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        from likely.output.pictures import LONGEST_TICK, shortened_name

        for k, g in enumerate(self.shown):
            colour = f"C{k % 10}" if colours is None else colours[k % len(colours)]
            label = self.groups[g] if len(self.shown) > 1 else None
            mean, low, high = effect.mean[:, g], effect.low[:, g], effect.high[:, g]
            if effect.kind in LINES:
                at = np.array(effect.values, dtype=None if effect.kind == "number" else "M8")
                ax.plot(at, mean, color=colour, label=label)
                ax.fill_between(at, low, high, color=colour, alpha=0.15, lw=0)
            else:
                place = np.arange(len(mean)) + 0.12 * (k - (len(self.shown) - 1) / 2)
                ax.vlines(place, low, high, color=colour, alpha=0.3, lw=4)
                ax.plot(place, mean, "o", color=colour, label=label, markersize=5)
                if effect.kind == "calendar":
                    ax.plot(place, mean, color=colour, lw=0.8)
        if effect.kind == "date":
            locator = AutoDateLocator(*DATES)
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        elif effect.kind != "number":
            names = [shortened_name(cell(value), LONGEST_TICK) for value in effect.values]
            if effect.kind == "calendar":
                names = [name[:LETTERS] for name in names]
            slanted = sum(map(len, names)) > 28
            ax.set_xticks(range(len(names)), names)
            if slanted:
                ax.tick_params(axis="x", rotation=40)
                for text in ax.get_xticklabels():
                    text.set_horizontalalignment("right")
                    text.set_rotation_mode("anchor")
        ax.set_xlabel(shortened_name(effect.column))
        one = len(self.shown) == 1 and len(self.groups) > 1
        ax.set_ylabel(capitalised(self.quantity) + (f" of {self.groups[1]}" if one else ""))
        if len(self.shown) > 1:
            ax.legend(fontsize=8)


def partial_effects(
    model: Any,
    X: Any,
    columns: str | Sequence[str],
    *,
    offset: Any = None,
    exposure: Any = None,
    points: int = POINTS,
    rows: int | None = MOST_ROWS,
    random_state: int = 0,
) -> PartialEffects:
    """The mean prediction as a function of each of some columns.

    Parameters
    ----------
    model : fitted estimator
        Of this library or another.
    X : array or data frame
        Rows over which predictions are averaged.
    columns : str or sequence of str
        Names of columns; x0, x1, … in an array.  A date has up to three effects: of its time, under
        its name, of its month and of its weekday.
    offset, exposure : array or str
        Of each row, or the name of a column of X.  Without them the predictions of a model that was
        fitted with an exposure are rates, and a note says so.
    points : int, default=20
        Values of a number at which the model predicts, at equal steps of its quantiles.
    rows : int or None, default=300
        How many rows are used, drawn at random; None uses all.
    random_state : int, default=0

    Returns
    -------
    PartialEffects
        Prints as tables; ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LinearRegression, partial_effects
    >>> X = np.linspace(0, 1, 41).reshape(-1, 1)
    >>> model = LinearRegression().fit(X, 2 * X[:, 0])
    >>> partial_effects(model, X, "x0", points=3)["x0"].mean.round(9)[:, 0].tolist()
    [0.0, 1.0, 2.0]
    """
    check_fitted_model(model)
    refuse_file(X, "partial_effects")
    notes = list(filter(None, [about_missing_offset(model, offset=offset, exposure=exposure)]))
    X, offset, exposure = own_columns(as_frame(X), offset, exposure)
    X = as_frame(X)
    n_given = n_rows_of(X)
    moved = offset_numbers(n_given, offset=offset, exposure=exposure)
    if rows is not None and n_given > rows:
        index = np.sort(np.random.default_rng(random_state).choice(n_given, rows, replace=False))
        X = rows_at(X, index)
        moved = {name: values[index] for name, values in moved.items()}
        notes.append(f"{rows:,} of {n_given:,} rows were used, drawn at random.")
    cells, table = mixed_rows(X), as_table(X)
    names = list(cells.names or (f"x{j}" for j in range(cells.n_columns)))
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in names:
            raise UnknownName("column", name, names)
    score, quantity, groups = predicted_score(model, moved)
    dates = model.date_parts(X) if isinstance(model, ReadsDates) else []
    found: list[PartialEffect] = []
    for name in wanted:
        parts = [part for part in dates if part.column == name]
        found += [_date_effect(model, X, part, moved, points) for part in parts]
        if not parts:
            found.append(_effect(score, cells, table, names.index(name), name, points))
    n_groups = found[0].mean.shape[1] if found else 1
    labels = ["prediction"] if n_groups == 1 else list(range(n_groups))
    named = labels if groups is None else groups.tolist()
    return PartialEffects(
        tuple(found), tuple(map(str, named)), quantity, n_rows_of(X), tuple(notes), library_of(X)
    )


def _effect(
    score: Any, cells: MixedRows, table: Any, j: int, name: str, points: int
) -> PartialEffect:
    if table.kinds[j] not in ("number", "boolean", "category"):
        raise InvalidInput(
            f"Column {name!r} holds dates or other values without an effect of their own; numbers, "
            "Booleans or text were expected. Choose another column."
        )
    is_number = table.kinds[j] == "number"
    if is_number:
        numbers = np.asarray(table.numbers(j), dtype=np.float64)
        donors = _quantile_rows(numbers, points)
        values = tuple(numbers[donors].tolist())
    else:
        donors, values = _levels(table, j)
    own = np.repeat(np.arange(table.n_rows)[:, None], cells.n_columns, axis=1)

    def table_of(donor: int) -> object:
        source = own.copy()
        source[:, j] = donor
        return cells.table(source)

    kind: EffectKind = "number" if is_number else "category"
    return _over_rows(name, values, (score(table_of(donor)) for donor in donors), kind)


def _date_effect(
    model: ReadsDates, X: object, part: DatePart, moved: dict[str, Array], points: int
) -> PartialEffect:
    """The effect of the time, the month or the weekday of a date."""
    score, _, _ = predicted_score(model.model_, moved)
    if part.labels:
        codes, first = np.unique(part.values, return_index=True)
        donors: Codes = first[codes >= 0]
        values = tuple(part.labels[code] for code in codes if code >= 0)
    else:
        donors = _quantile_rows(part.values, points)
        values = _written_days(part.values[donors])
    predicted = (score(model.prepare_at(X, part, int(donor))) for donor in donors)
    return _over_rows(part.name, values, predicted, "calendar" if part.labels else "date")


def _over_rows(
    name: str, values: tuple[Any, ...], predicted: Iterable[Array], kind: EffectKind
) -> PartialEffect:
    """The mean and the band over rows of the predictions (n, G) at each value."""
    both = [(each.mean(axis=0), *np.quantile(each, BAND, axis=0)) for each in predicted]
    mean, low, high = map(np.array, zip(*both, strict=True)) if both else (np.empty((0, 1)),) * 3
    return PartialEffect(name, values, mean, low, high, kind)


def _written_days(days: Array) -> tuple[str, ...]:
    """Days since 1970-01-01 as dates, with the minute where there are few days.

    >>> _written_days(np.array([0.0, 40.5])), _written_days(np.array([0.0, 0.5]))
    (('1970-01-01', '1970-02-10'), ('1970-01-01T00:00', '1970-01-01T12:00'))
    """
    short = np.ptp(days) < SHORT_SPAN and (days % 1).any() if len(days) else False
    minutes = np.floor(days * MINUTES_A_DAY).astype(np.int64).astype("datetime64[m]")
    return tuple((minutes if short else minutes.astype("datetime64[D]")).astype(str).tolist())


def _quantile_rows(numbers: Array, points: int) -> Codes:
    """Rows that hold the quantiles of a number, in their order, each value once."""
    known = np.flatnonzero(np.isfinite(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    if not len(order):
        return np.empty(0, dtype=np.intp)
    at = np.linspace(0, len(order) - 1, points).round().astype(np.intp)
    donors = order[np.unique(at)]
    _, first = np.unique(numbers[donors], return_index=True)
    return np.asarray(donors[first])


def _levels(table: Any, j: int) -> tuple[Codes, tuple[Any, ...]]:
    """Rows that hold the most common categories, and the categories."""
    factor = table.factor(j)
    codes = np.asarray(factor.codes)
    counts = np.bincount(codes[codes >= 0], minlength=1)
    chosen = [int(k) for k in np.argsort(-counts, kind="stable")[:MOST_LEVELS] if counts[k]]
    donors = np.array([np.flatnonzero(codes == k)[0] for k in chosen], dtype=np.intp)
    labels = np.asarray(factor.values).tolist()
    return donors, tuple(labels[k] for k in chosen)
