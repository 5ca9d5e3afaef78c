"""Text classifiers: the counts of words of each document, and the model that reads them."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.runtime.count_rows import CountRows
from likely.runtime.linear import LogisticModel, SoftmaxModel
from likely.runtime.naive_bayes import NaiveBayesScores
from likely.runtime.saved_model import SavedModel
from likely.runtime.words import WordCounts, checked

CHUNK = 1000  # documents that are counted at a time

LogProba = Callable[[CountRows], Array]


@final
class TextModel:
    """A saved ``TextClassifier``: words, and a model of their counts."""

    def __init__(self, model: SavedModel) -> None:
        inner = model.required("model_")
        self.name = f"TextClassifier({inner.name})"
        self.words = WordCounts(model.required("words_"))
        self.classes: Array = model.required("classes_")
        self.log_proba_of_counts = _of_counts(inner, self.words.n_columns)

    def log_proba(self, documents: Any) -> Array:
        """log p(k | document), (n, n_classes)."""
        texts = checked(documents)
        if not texts:
            return np.zeros((0, len(self.classes)))
        parts = (texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK))
        return np.concatenate([self.log_proba_of_counts(self.words.rows(part)) for part in parts])


def _of_counts(model: SavedModel, n_columns: int) -> LogProba:
    """log p(k | counts) of a model that was fitted to counts of words."""
    if model.name not in ("LogisticRegression", "NaiveBayes", "SoftmaxRegression"):
        raise InvalidInput(
            f"it holds a TextClassifier around a {model.name}; likely.runtime has those around "
            "LogisticRegression, NaiveBayes and SoftmaxRegression. Use likely.load."
        )
    found = int(model.required("n_features_in_"))
    if found != n_columns:
        raise InvalidInput(
            f"the model has {found} columns and its words have {n_columns}; expected as many. Save "
            "the model again."
        )
    if model.name == "NaiveBayes":
        return NaiveBayesScores(model).log_proba
    linear = LogisticModel(model) if model.name == "LogisticRegression" else SoftmaxModel(model)
    return lambda rows: linear.response(linear.predictor_of(rows))
