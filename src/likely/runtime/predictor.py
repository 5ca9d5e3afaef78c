"""A predictor from a model file: ``load``."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.model_content import read_content, refusals
from likely.runtime.columns import ColumnTable
from likely.runtime.linear import (
    GLMModel,
    LinearRegressionModel,
    LogisticModel,
    OrdinalModel,
    SoftmaxModel,
)
from likely.runtime.naive_bayes import NaiveBayesModel
from likely.runtime.prepared import PreparedModel
from likely.runtime.rows import numbers_beside, table_of
from likely.runtime.saved_model import RuntimeValues, SavedModel
from likely.runtime.table_model import Moves, TableModel
from likely.runtime.text import TextModel
from likely.runtime.words import WordCounts

TABLE_MODELS: dict[str, Callable[[SavedModel], TableModel]] = {
    "GLM": GLMModel,
    "LinearRegression": LinearRegressionModel,
    "LogisticRegression": LogisticModel,
    "NaiveBayes": NaiveBayesModel,
    "OrdinalRegression": OrdinalModel,
    "SoftmaxRegression": SoftmaxModel,
}
SUPPORTED = (*TABLE_MODELS, "BagOfWords", "Prepared", "TextClassifier")


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
        return _predictor(RuntimeValues(content.arrays).model(content.coded))


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
        raise InvalidInput(
            f"it holds a {model.name}; likely.runtime predicts from {', '.join(sorted(SUPPORTED))}."
            " Use likely.load, which needs the other packages."
        )
    return TABLE_MODELS[model.name](model)


def _moves(rows: Any, n_rows: int, offset: Any, exposure: Any) -> Moves:
    total: Array | float = 0.0
    if offset is not None:
        total = numbers_beside(rows, offset, "offset", n_rows, positive=False)
    if exposure is not None:
        total = total + np.log(numbers_beside(rows, exposure, "exposure", n_rows, positive=True))
    return Moves(total, offset is not None or exposure is not None, exposure is not None)
