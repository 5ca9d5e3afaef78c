"""A predictor from a model file: ``load``."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.categories import CodedValues
from likely.errors import InvalidInput
from likely.kinds import ColumnKind
from likely.runtime.columns import ColumnTable, TableColumn, column_of, numbers_beside, table_of
from likely.runtime.count_rows import CountRows
from likely.runtime.linear import (
    GLMModel,
    LinearRegressionModel,
    LogisticModel,
    OrdinalModel,
    SoftmaxModel,
)
from likely.runtime.naive_bayes import NaiveBayesModel
from likely.runtime.saved_model import (
    Records,
    RuntimeValues,
    SavedModel,
    SavedText,
    documents_of,
    not_predicted,
)
from likely.runtime.table_model import Moves, TableModel, columns_of
from likely.runtime.words import TextModel, WordCounts
from likely.storage.checks import check
from likely.storage.values import check_feature_names, read_content, refusals
from likely.workbench.preparation.cells import Cells, gaps_of, read_cells
from likely.workbench.preparation.dates import DateColumns
from likely.workbench.preparation.steps import (
    BooleanColumn,
    Categories,
    GappyBooleans,
    NumberColumn,
    Preparation,
    Step,
)

TABLE_MODELS: dict[str, Callable[[SavedModel], TableModel]] = {
    "GLM": GLMModel,
    "LinearRegression": LinearRegressionModel,
    "LogisticRegression": LogisticModel,
    "NaiveBayes": NaiveBayesModel,
    "OrdinalRegression": OrdinalModel,
    "SoftmaxRegression": SoftmaxModel,
}


class Predictor(ABC):
    """Predictions of one saved model.

    Attributes
    ----------
    classes : array of shape (n_classes,) or None
        The classes, in the order of the columns of ``predict_proba``; None for a model of numbers.
    feature_names : tuple of str or None
        The columns of the fit, by name; None where they had none, and for a model of texts.
    """

    name: str
    classes: Array | None
    feature_names: tuple[str, ...] | None

    @abstractmethod
    def predict(self, rows: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The most probable class of each row, or E[y | x]."""

    @abstractmethod
    def predict_log_proba(self, rows: Any, *, offset: Any = None) -> Array:
        """log p(k | x), (n, n_classes)."""

    def predict_proba(self, rows: Any, *, offset: Any = None) -> Array:
        """p(k | x), (n, n_classes)."""
        return np.exp(self.predict_log_proba(rows, offset=offset))

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"<likely.runtime predictor of {self.name}{classes}>"


@final
class TablePredictor(Predictor):
    """Predictions of a model of a table."""

    def __init__(self, model: TableModel) -> None:
        self.model, self.name = model, model.name
        self.classes, self.feature_names = model.classes, model.names

    def predict(self, rows: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The most probable class of each row, or E[y | x].

        Rows are a dict of columns, a list of dicts, or an array.  An offset and an exposure are a
        number for each row, or the name of a column of the rows.
        """
        table = self._table(rows)
        return self.model.chosen(table, _moves(rows, table.n_rows, offset, exposure))

    def predict_log_proba(self, rows: Any, *, offset: Any = None) -> Array:
        if self.classes is None:
            raise InvalidInput(f"{self.name} predicts numbers, not classes. Use predict.")
        table = self._table(rows)
        return self.model.answer(table, _moves(rows, table.n_rows, offset, None))

    def _table(self, rows: Any) -> ColumnTable:
        model = self.model
        return table_of(model.rows(rows), model.names, model.n_columns, model.unneeded)


@final
class TextPredictor(Predictor):
    """Predictions of a text classifier."""

    def __init__(self, model: TextModel) -> None:
        self.model, self.name = model, model.name
        self.classes, self.feature_names = model.classes, None

    def predict(self, rows: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The most probable class of each document; rows are a list of texts."""
        self._refuse_moves(offset, exposure)
        return self.model.chosen(rows)

    def predict_log_proba(self, rows: Any, *, offset: Any = None) -> Array:
        self._refuse_moves(offset)
        return self.model.log_proba(rows)

    def _refuse_moves(self, *given: Any) -> None:
        if any(each is not None for each in given):
            raise InvalidInput(f"{self.name} takes neither offset nor exposure. Leave it out.")


def load(path: str | os.PathLike[str]) -> Predictor | WordCounts:
    """A predictor of the model in a file that ``likely.save`` wrote, or in a RUN.

    Of a ``BagOfWords`` it is a ``WordCounts``, which finds and counts terms.  NumPy and
    safetensors are all that is needed.  The file is checked as ``likely.load`` checks it; one that
    is changed, or holds a model that the runtime does not have, is refused with ``InvalidFile``.

    Examples
    --------
    >>> import tempfile, likely, likely.runtime
    >>> model = likely.NaiveBayes().fit([[1.0], [1.2], [3.1], [3.0]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     likely.save(model, f"{folder}/model.likely")
    ...     predictor = likely.runtime.load(f"{folder}/model.likely")
    >>> predictor.predict([[1.1], [2.9]]).tolist()
    ['a', 'b']
    """
    with refusals(path):
        content = read_content(path)
        model = RuntimeValues(content.arrays).model(content.coded)
        check(model, Records())
        names = model.feature_names
        check_feature_names(None if names is None else list(names), content.feature_names)
        return _predictor(model)


def _predictor(model: SavedModel) -> Predictor | WordCounts:
    if model.name == "BagOfWords":
        return WordCounts(model)
    if model.name == "TextClassifier":
        return TextPredictor(TextModel(model))
    return TablePredictor(_table_model(model))


def _table_model(model: SavedModel) -> TableModel:
    if model.name == "Prepared":
        inner = model.required("model_")
        return PreparedModel(model, _table_model(inner))
    if model.name not in TABLE_MODELS:
        raise not_predicted(model.name)
    return TABLE_MODELS[model.name](model)


def _moves(rows: Any, n_rows: int, offset: Any, exposure: Any) -> Moves:
    total: Array | float = 0.0
    if offset is not None:
        total = numbers_beside(rows, offset, "offset", n_rows, positive=False)
    if exposure is not None:
        total = total + np.log(numbers_beside(rows, exposure, "exposure", n_rows, positive=True))
    return Moves(total, offset is not None or exposure is not None, exposure is not None)


# ── Prepared tables: the steps of each column, then the model inside ──────────────────────────────
# Imputation, missing indicators, categories, dates and scales are the library's steps
# (``workbench/preparation``); here text becomes dates without Arrow.

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


def days_of_texts(factor: CodedValues, name: str) -> Array:
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


def _column(name: str, made: Any) -> TableColumn:
    """A prepared column as the model inside reads it."""
    if isinstance(made, Categories):
        return TableColumn("category", None, made.factor)
    if isinstance(made, GappyBooleans):
        return TableColumn("boolean", np.where(made.gaps, np.nan, made.values.astype(float)))
    return column_of(made, f"Column {name!r}")
