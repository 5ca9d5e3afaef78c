"""Permutation importance: how much worse predictions become without what a column tells.

    I_j = mean over rows and shuffles of  loss(y, f(x with column j shuffled)) − loss(y, f(x))

The loss is −log p(y | x) for classes and for numbers whose model has a density, else the squared
error (or 1 for a wrong label).  Shuffling a column keeps its distribution and breaks its relation
to y and to the other columns.  The interval is Student's, over the rows, of the mean change of each
row.  A column whose information is also in another looks unimportant alone, so columns with a rank
correlation of 0.9 or more are also shuffled together.

Reference: Breiman, Random forests, Machine Learning 2001, §10.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.stats import rankdata, t
from sklearn.base import is_classifier

from likely._typing import Array, Codes
from likely.data.frames import as_table, frame_of, library_of
from likely.errors import UnknownName
from likely.explanations.sampled import MixedRows, mixed_rows
from likely.inputs.bounded_rows import counting_bounded
from likely.inputs.estimators import check_fitted_model, refuse_unless_whole
from likely.inputs.foreign_models import new_spread, predictive_family
from likely.inputs.rows import offset_arguments, offset_numbers, refuse_without_offset
from likely.inputs.tables import as_frame, n_rows_of, own_columns, refuse_file, rows_at
from likely.inputs.targets import check_numbers, codes_among
from likely.names import has_method
from likely.output.formatting import (
    WIDEST,
    count,
    estimate_cells,
    html_block,
    html_paragraph,
    html_table,
    listed,
    paragraph,
    text_table,
)
from likely.special import LOG_FLOOR

MOST_ROWS = 1000
REPEATS = 5
COLLINEAR = 0.9  # rank correlation
MOST_COMPARED = 300  # columns whose correlations are computed
MOST_SHOWN = 30
LEVEL = 0.95


@final
@dataclass(frozen=True, eq=False)
class Importance:
    """The increase of the loss when a column is shuffled, the most important first."""

    names: tuple[str, ...]  # columns; of several together, joined by " + "
    increase: Array  # (n,)
    low: Array
    high: Array
    loss: float  # of the rows as they are
    unit: str
    n_rows: int
    repeats: int
    together: tuple[tuple[str, ...], ...] = ()  # columns with nearly the same information
    notes: tuple[str, ...] = ()
    library: str | None = None  # of the frame of rows

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per column: ``column``, ``increase``, ``low``, ``high``; the largest first.

        In pandas, polars or Arrow, like the rows.
        """
        return frame_of(
            {
                "column": np.array(self.names, dtype=object),
                "increase": self.increase,
                "low": self.low,
                "high": self.high,
            },
            library or self.library,
        )

    def to_json(self) -> dict[str, Any]:
        rows = zip(self.names, *map(np.ndarray.tolist, self._numbers()), strict=True)
        return {
            "columns": [
                {"column": name, "increase": value, "interval": [low, high]}
                for name, value, low, high in rows
            ],
            "loss": self.loss,
            "unit": self.unit,
            "rows": self.n_rows,
            "repeats": self.repeats,
            "together": [list(group) for group in self.together],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, record: Any) -> "Importance":
        """Read what ``to_json`` has written."""
        columns = record["columns"]
        ends = np.array([each["interval"] for each in columns], dtype=np.float64).reshape(-1, 2)
        return cls(
            tuple(str(each["column"]) for each in columns),
            np.array([each["increase"] for each in columns], dtype=np.float64),
            ends[:, 0],
            ends[:, 1],
            float(record["loss"]),
            str(record["unit"]),
            int(record["rows"]),
            int(record["repeats"]),
            tuple(tuple(map(str, group)) for group in record["together"]),
            tuple(map(str, record["notes"])),
        )

    def plot(self, ax: Any = None, top: int = MOST_SHOWN) -> Any:
        """The increases with their intervals, the largest first; the matplotlib axes."""
        from likely.output.pictures import intervals_along_side

        order = list(range(len(self)))[:top]
        return intervals_along_side(
            ax,
            [self.names[i] for i in order],
            [(self.increase[i], self.low[i], self.high[i]) for i in order],
            f"Increase of the {self.unit} when shuffled",
        )

    def text(self, *, top: int = MOST_SHOWN, width: int = WIDEST) -> str:
        """The columns as a table, the most important first."""
        title = (
            f"Importance: increase of the {self.unit} when a column is shuffled, on "
            f"{count(self.n_rows, 'row')}"
        )
        lines = [title, *text_table(self._head(), self._rows(top), indent=0, width=width)]
        if len(self) > top:
            lines.append(f"… and {count(len(self) - top, 'more column')}")
        return "\n".join(
            [*lines, *(line for note in self._notes_shown() for line in paragraph(note))]
        )

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = html_table(self._head(), self._rows(MOST_SHOWN))
        return html_block(table, *(html_paragraph(note) for note in self._notes_shown()))

    def _notes_shown(self) -> list[str]:
        return [f"Note: {note}" for note in self.notes]

    def _head(self) -> list[str]:
        return ["column", "increase", "95 % interval"]

    def _rows(self, top: int) -> list[list[str]]:
        rows = zip(self.names, *self._numbers(), strict=True)
        return [[name, *estimate_cells(*map(float, values))] for name, *values in rows][:top]

    def _numbers(self) -> tuple[Array, Array, Array]:
        return self.increase, self.low, self.high


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    columns: Sequence[str] | None = None,
    offset: Any = None,
    exposure: Any = None,
    repeats: int = REPEATS,
    rows: int | None = MOST_ROWS,
    random_state: int = 0,
) -> Importance:
    """How much worse a fitted model predicts y where a column of X is shuffled.

    Use rows that the model has not seen: on its training rows, columns that it has overfitted look
    important.

    Parameters
    ----------
    model : fitted classifier or regressor
        Of this library or another.
    X, y : the rows and their targets
        y may be the name of a column of X.
    columns : sequence of str or None
        The columns to shuffle; all where none are given.
    offset, exposure : array or str
        Of each row, or the name of a column of X: for a model that was fitted with one.
    repeats : int, default=5
        How often each column is shuffled.
    rows : int or None, default=1000
        How many rows are used, drawn at random; None uses all.
    random_state : int, default=0

    Returns
    -------
    Importance
        Prints as a table; ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LinearRegression, permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X[:100], 3 * X[:100, 0])
    >>> permutation_importance(model, X[100:], 3 * X[100:, 0]).names[0]
    'x0'
    """
    check_fitted_model(model)
    refuse_file(X, "permutation_importance")
    refuse_unless_whole("repeats", repeats, lowest=1, advice="Use 5.")
    rng = np.random.default_rng(random_state)
    refuse_without_offset(model, offset=offset, exposure=exposure)
    X, y, offset, exposure = own_columns(as_frame(X), y, offset, exposure)
    X = as_frame(X)
    n_given = n_rows_of(X)
    moved = offset_numbers(n_given, offset=offset, exposure=exposure)
    notes = []
    if rows is not None and n_given > rows:
        index = np.sort(rng.choice(n_given, rows, replace=False))
        X, y = rows_at(X, index), rows_at(y, index)
        moved = {name: values[index] for name, values in moved.items()}
        notes.append(f"{rows:,} of {n_given:,} rows were used, drawn at random.")
    losses, unit = _losses(model, y, n_rows_of(X), moved)
    cells = mixed_rows(X)
    names = list(cells.names or _column_names(model, cells.n_columns))
    wanted = [_place(names, name) for name in names if columns is None or name in columns]
    if columns is not None:
        for name in columns:
            _place(names, name)
    groups = [(j,) for j in wanted] + _collinear(X, wanted)
    with counting_bounded():  # cells are changed, so nothing is warned of
        base = losses(X)
        changes = [_change(losses, cells, group, base, repeats, rng) for group in groups]
    if len(groups) > len(wanted):
        notes.append(_about_groups([[names[j] for j in group] for group in groups[len(wanted) :]]))
    found = _importance(groups, changes, names, float(base.mean()), unit, repeats, notes)
    return replace(found, library=library_of(X))


def _change(
    losses: Callable[[Any], Array],
    cells: MixedRows,
    group: tuple[int, ...],
    base: Array,
    repeats: int,
    rng: np.random.Generator,
) -> Array:
    """The mean change of the loss of each row, over shuffles of some columns together, (n,)."""
    own = np.repeat(np.arange(len(base))[:, None], cells.n_columns, axis=1)
    total = np.zeros(len(base))
    for _ in range(repeats):
        source = own.copy()
        source[:, list(group)] = rng.permutation(len(base))[:, None]
        total += losses(cells.table(source)) - base
    return total / repeats


def _importance(
    groups: Sequence[tuple[int, ...]],
    changes: Sequence[Array],
    names: Sequence[str],
    loss: float,
    unit: str,
    repeats: int,
    notes: Sequence[str],
) -> Importance:
    """The estimates with their intervals, the largest first."""
    n = len(changes[0])
    value = np.array([change.mean() for change in changes])
    error = np.array([change.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan for change in changes])
    half = float(t.ppf((1 + LEVEL) / 2, max(n - 1, 1))) * error
    order = np.argsort(-value, kind="stable")
    return Importance(
        tuple(" + ".join(names[j] for j in groups[i]) for i in order),
        value[order],
        (value - half)[order],
        (value + half)[order],
        loss,
        unit,
        n,
        repeats,
        tuple(tuple(names[j] for j in group) for group in groups if len(group) > 1),
        tuple(notes),
    )


def _losses(
    model: Any, y: Any, n_rows: int, moved: dict[str, Array]
) -> tuple[Callable[[Any], Array], str]:
    """The loss of each row of a table, as a function, and its name."""
    if is_classifier(model):
        codes = codes_among(y, np.asarray(model.classes_), n_rows=n_rows)
        if not has_method(model, "predict_proba"):
            wrong = model.classes_[codes]
            return lambda X: np.asarray(model.predict(X) != wrong, dtype=np.float64), "error rate"
        moved = offset_arguments(model, "predict_proba", **moved)
        return lambda X: _log_loss(model, X, codes, moved), "log loss"
    numbers = np.asarray(check_numbers(y, "y", n_rows=n_rows), dtype=np.float64)
    moved = offset_arguments(model, "predict", **moved)
    family = predictive_family(model)
    if family is None:
        return lambda X: np.square(numbers - _means(model, X, moved)), "squared error"
    whole = bool((numbers == np.round(numbers)).all() and (numbers >= 0).all())

    def losses(X: object) -> Array:
        spread = new_spread(model, X)
        found = family.log_density(numbers, _means(model, X, moved), spread, counts=whole)
        return -np.maximum(found, -745.0)

    return losses, "negative log-likelihood"


def _log_loss(model: Any, X: Any, codes: Codes, moved: dict[str, Array]) -> Array:
    with np.errstate(divide="ignore"):  # log 0
        log_proba = np.log(np.asarray(model.predict_proba(X, **moved), dtype=np.float64))
    return -np.maximum(log_proba[np.arange(len(codes)), codes], LOG_FLOOR)


def _means(model: Any, X: Any, moved: dict[str, Array]) -> Array:
    return np.asarray(model.predict(X, **moved), dtype=np.float64).ravel()


def _collinear(X: Any, wanted: Sequence[int]) -> list[tuple[int, ...]]:
    """Sets of columns of numbers that are joined by rank correlations of 0.9 or more."""
    table = as_table(X)
    columns = [j for j in wanted if table.kinds[j] in ("number", "boolean")][:MOST_COMPARED]
    if len(columns) < 2 or table.n_rows < 3:
        return []
    values = np.column_stack([np.asarray(table.numbers(j), dtype=np.float64) for j in columns])
    ranks = rankdata(np.where(np.isnan(values), np.nanmedian(values, axis=0), values), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant column
        close = np.abs(np.nan_to_num(np.corrcoef(ranks.T))) >= COLLINEAR
    found, left = [], set(range(len(columns)))
    while left:
        group, new = set(), {left.pop()}
        while new:
            group |= new
            new = {k for j in new for k in np.flatnonzero(close[j]).tolist()} - group
        left -= group
        if len(group) > 1:
            found.append(tuple(columns[j] for j in sorted(group)))
    return found


def _about_groups(groups: Sequence[Sequence[str]]) -> str:
    each = "; ".join(listed(group, 4) for group in groups[:3])
    more = "" if len(groups) <= 3 else f"; and {count(len(groups) - 3, 'more group')}"
    return (
        f"Columns with nearly the same information ({each}{more}) mislead one by one, so they were "
        "also shuffled together."
    )


def _column_names(model: Any, n: int) -> tuple[str, ...]:
    known = getattr(model, "feature_names_in_", None)
    return tuple(map(str, known)) if known is not None else tuple(f"x{j}" for j in range(n))


def _place(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise UnknownName("column", name, names)
    return list(names).index(name)
