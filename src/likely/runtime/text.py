"""Text classifiers: the counts of words of each document, and the model that reads them."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.runtime.count_rows import CountRows
from likely.runtime.linear import LogisticModel, SoftmaxModel
from likely.runtime.naive_bayes import NaiveBayesScores
from likely.runtime.saved_model import SavedModel
from likely.runtime.words import WordCounts, checked

MOST_DOCUMENTS = 1000  # that are counted at a time
MOST_CELLS = 50_000_000  # of their table, if it had to be dense

LINEAR = {"LogisticRegression": LogisticModel, "SoftmaxRegression": SoftmaxModel}


@final
class TextModel:
    """A saved ``TextClassifier``: words, and a model of their counts."""

    def __init__(self, model: SavedModel) -> None:
        inner = model.required("model_")
        self.name = f"TextClassifier({inner.name})"
        self.words = WordCounts(model.required("words_"))
        self.classes: Array = model.required("classes_")
        _check_inner(inner, self.words.n_columns)
        self.linear = LINEAR[inner.name](inner) if inner.name in LINEAR else None
        self.scores = NaiveBayesScores.of_words(inner) if self.linear is None else None

    def log_proba(self, documents: Any) -> Array:
        """log p(k | document), (n, n_classes)."""
        return np.concatenate([self._log_proba(rows) for rows in self._pieces(documents)])

    def chosen(self, documents: Any) -> Array:
        """The most probable class of each document."""
        return np.concatenate([self._chosen(rows) for rows in self._pieces(documents)])

    def _log_proba(self, rows: CountRows) -> Array:
        if self.linear is not None:
            return self.linear.response(self.linear.predictor_of(rows))
        assert self.scores is not None  # a model is one of the two
        return self.scores.log_proba(rows)

    def _chosen(self, rows: CountRows) -> Array:
        if self.linear is not None:
            return self.linear.choice(self.linear.predictor_of(rows))
        return self.classes[self._log_proba(rows).argmax(axis=1)]

    def _pieces(self, documents: Any) -> Iterator[CountRows]:
        """The counts of some documents at a time; of none, if there are none."""
        texts = checked(documents)
        size = max(1, min(MOST_DOCUMENTS, MOST_CELLS // max(1, self.words.n_columns)))
        for start in range(0, max(1, len(texts)), size):
            yield self.words.rows(texts[start : start + size])


def _check_inner(model: SavedModel, n_columns: int) -> None:
    """Refuse a model that the runtime does not have, or one of other columns than the words."""
    if model.name != "NaiveBayes" and model.name not in LINEAR:
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
