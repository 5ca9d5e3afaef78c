"""Prepared tables: the steps of each column, then the model inside.

Imputation, missing indicators, categories, dates and scales are the library's steps
(``workbench/preparation``); here text becomes dates without Arrow.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.categories import Factor
from likely.errors import InvalidInput
from likely.kinds import ColumnKind
from likely.runtime.columns import Column, ColumnTable, column_of
from likely.runtime.count_rows import CountRows
from likely.runtime.saved_model import SavedModel
from likely.runtime.table_model import Moves, TableModel, columns_of
from likely.runtime.text_columns import SavedText, documents_of
from likely.runtime.words import WordCounts
from likely.workbench.preparation.cells import Cells, gaps_of, read_cells
from likely.workbench.preparation.columns import Categories, GappyBooleans
from likely.workbench.preparation.dates import DateColumns
from likely.workbench.preparation.steps import BooleanColumn, NumberColumn, Preparation, Step

ISO = re.compile(  # what Arrow reads as a date, with a time of day and a zone where there is one
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(?P<zone>Z|[+-]\d{2}(:?\d{2})?)?)?",
    re.ASCII,
)


@final
class PreparedModel(TableModel):
    """A saved ``Prepared``, around a model that the runtime has."""

    def __init__(self, model: SavedModel, inner: TableModel) -> None:
        self.name = f"Prepared({inner.name})"
        self.names, self.n_columns = columns_of(model)
        self.inner, self.classes = inner, inner.classes
        self.preparation: Preparation | None = model.learned("preparation_")
        if self.preparation is not None:
            self._refuse_others(self.preparation)
            self.unneeded = self.preparation.dropped
            self.texts = {
                j: WordCounts(step.words)
                for j, step in enumerate(self.preparation.steps)
                if isinstance(step, SavedText)
            }

    def answer(self, table: ColumnTable, moves: Moves) -> Array:
        return self.inner.answer(self.prepared(table), moves)

    def chosen(self, table: ColumnTable, moves: Moves) -> Array:
        return self.inner.chosen(self.prepared(table), moves)

    def prepared(self, table: ColumnTable) -> ColumnTable:
        """The table that the model inside sees."""
        if self.preparation is None:
            return table
        steps = self.preparation.steps
        cells = [_cells(table, j, step) for j, step in enumerate(steps)]
        made = self.preparation.columns(cells)
        columns = [_column(name, column) for name, column in made.items()]
        return ColumnTable(columns, table.n_rows, tuple(made), self._words(cells))

    def _words(self, cells: list[Cells]) -> CountRows | None:
        """The words of all texts, side by side."""
        assert self.preparation is not None
        joined: CountRows | None = None
        for j, counts in self.texts.items():
            rows, length = counts.rows(documents_of(cells[j])), self.preparation.steps[j].length  # type: ignore[attr-defined]  # of a text
            rows = rows if length is None else replace(rows, data=length * rows.data)
            joined = rows if joined is None else joined.beside(rows)
        return joined

    def _refuse_others(self, preparation: Preparation) -> None:
        for step in preparation.steps:
            if not isinstance(step, Step):
                raise InvalidInput(
                    f"it prepares a column by {step.name}, which likely.runtime does not have. "
                    "Use likely.load."
                )


def _cells(table: ColumnTable, j: int, step: Step) -> Cells:
    """Column j as its step reads it."""
    column = table.columns[j]
    if step.dropped:
        return Cells(step.name, "number", np.full(table.n_rows, np.nan), None)
    if column.kind == "date" or column.measured:
        kind: ColumnKind = "number" if column.measured else "date"
        return Cells(step.name, kind, column.values, None, declared=column.measured)
    if column.kind == "other":
        raise InvalidInput(
            f"Column {step.name!r} holds neither numbers, Booleans, dates nor text. Convert it."
        )
    cells = read_cells(table, j, step.name)
    if cells.factor is None or gaps_of(cells).all():
        return cells
    if isinstance(step, DateColumns) or (isinstance(step, NumberColumn) and step.date):
        return Cells(step.name, "date", days_of_texts(cells.factor, step.name), None)
    if isinstance(step, NumberColumn | BooleanColumn):
        found = cells.factor.values[cells.factor.codes.max()]
        raise InvalidInput(
            f"Column {step.name!r} must hold numbers, as in the fit; found text such as "
            f"{found!r}. Convert it: float() reads one number."
        )
    return cells


def days_of_texts(factor: Factor, name: str) -> Array:
    """Days since 1970-01-01 of text in ISO 8601 form, all with a zone or all without."""
    days, zoned = [], set()
    for code, text in enumerate(factor.values.tolist()):
        if not (factor.codes == code).any():  # a dictionary may hold more
            days.append(np.nan)
            continue
        found = ISO.fullmatch(text)
        try:
            stamp = datetime.fromisoformat(text if found else "")
        except ValueError:
            raise InvalidInput(
                f"Column {name!r} must hold dates, as in the fit, which {text!r} is not. Write it "
                "as 2024-02-29, or as 2024-02-29 13:05:00."
            ) from None
        zoned.add(stamp.tzinfo is not None)
        stamp = stamp.astimezone(UTC).replace(tzinfo=None) if stamp.tzinfo else stamp
        days.append(float(column_of([stamp], name).values[0]))  # type: ignore[index]
    if len(zoned) > 1:
        raise InvalidInput(
            f"Column {name!r} has dates with a time zone and others without; expected one of both. "
            "Write all with their zone."
        )
    return np.array([*days, np.nan])[factor.codes]


def _column(name: str, made: Any) -> Column:
    """A prepared column as the model inside reads it."""
    if isinstance(made, Categories):
        return Column("category", None, made.factor)
    if isinstance(made, GappyBooleans):
        return Column("boolean", np.where(made.gaps, np.nan, made.values.astype(float)))
    return column_of(made, f"Column {name!r}")
