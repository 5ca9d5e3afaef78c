"""Documents to counts of words, by the options of a saved ``BagOfWords``.

What a term is, and the column of its hash, are the library's own definitions in plain Python
(``text/tokens.py``, ``text/term_counts.py``); compiled loops find the same terms.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.runtime.count_rows import CountRows
from likely.runtime.linear import LogisticModel, SoftmaxModel
from likely.runtime.naive_bayes import NaiveBayesScores
from likely.runtime.saved_model import SavedModel
from likely.text.documents import Vocabulary
from likely.text.term_counts import column_of_term, inverse_frequency
from likely.text.tokens import analysis_of

UNKNOWN_NAME = "<unknown>"
MOST_HASHES = 2**17  # of terms that are remembered, as the same words come again


@final
class WordCounts:
    """The terms of documents, as a saved ``BagOfWords`` finds and counts them."""

    def __init__(self, model: SavedModel) -> None:
        options = SimpleNamespace(**model.arguments)
        self.analysis = analysis_of(options)
        self.columns = _hashed(options) if options.n_features else _known(model, options)
        self.binary, self.norm = bool(options.binary), options.norm
        self.sublinear, self.idf = bool(options.sublinear_tf), None
        if options.use_idf:
            frequency, n = model.required("document_frequency_"), model.required("n_documents_")
            self.idf = inverse_frequency(frequency, n, smooth=bool(options.smooth_idf))

    @property
    def n_columns(self) -> int:
        return self.columns.n_columns

    def tokens(self, document: str) -> list[str]:
        """The terms of a document, one after the other, also those that are not known."""
        return list(self.analysis.tokens(document))

    def counts(self, documents: Iterable[str]) -> list[dict[str, float]]:
        """The count or weight of each term of each document; of a hashed column by its number."""
        rows, name = self.rows(documents), self.columns.name
        pairs = list(zip(map(name, rows.columns.tolist()), rows.data.tolist(), strict=True))
        return [dict(pairs[start:stop]) for start, stop in pairwise(rows.starts.tolist())]

    def rows(self, documents: Iterable[str]) -> CountRows:
        """The counts or weights of documents, one row each."""
        found = [self._counted(text) for text in checked(documents)]
        starts = np.array([0, *accumulate(len(each) for each in found)], dtype=np.int64)
        columns = np.array([j for each in found for j in each], dtype=np.int64)
        data = np.array([x for each in found for x in each.values()], dtype=np.float64)
        return self._weighted(CountRows(data, columns, starts, self.n_columns))

    def _counted(self, text: str) -> dict[int, int]:
        """How often each column occurs, in order of the columns."""
        found = Counter(map(self.columns.of, self.analysis.tokens(text)))
        found.pop(-1, None)
        return {j: 1 if self.binary else found[j] for j in sorted(found)}

    def _weighted(self, rows: CountRows) -> CountRows:
        data = rows.data
        if self.sublinear:
            data = 1.0 + np.log(data)
        if self.idf is not None:
            data = data * self.idf[rows.columns]
        if self.norm is not None:
            squared = self.norm == "l2"
            total = rows.row_sums(data**2 if squared else np.abs(data))
            total = np.where(total > 0, np.sqrt(total) if squared else total, 1.0)
            data = data / np.repeat(total, np.diff(rows.starts))
        return CountRows(data, rows.columns, rows.starts, rows.n_columns)


def checked(documents: Any) -> list[str]:
    """The documents, if they are text that can be read."""
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise InvalidInput(
            f"The documents are {_described(documents)}; a list of texts was expected. Put one "
            "document into a list: [text]."
        )
    found = list(documents)
    for row, text in enumerate(found):
        if not isinstance(text, str):
            raise InvalidInput(
                f"Document {row} is {_described(text)}; text was expected. Replace a missing one "
                "by an empty text, and decode bytes."
            )
        if not text.isascii() and _has_surrogates(text):
            raise InvalidInput(
                f"Document {row} has a lone surrogate, which is no character; valid Unicode was "
                'expected. Decode it with errors="replace".'
            )
    return found


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _described(value: Any) -> str:
    return "one text" if isinstance(value, str) else f"a {type(value).__name__}"


@final
@dataclass(frozen=True)
class TermColumns:
    """Which column each term has."""

    of: Callable[[str], int]  # −1: the term has none
    name: Callable[[int], str]
    n_columns: int


def _known(model: SavedModel, options: Any) -> TermColumns:
    """The columns of a vocabulary; others have none, or share the last one."""
    vocabulary: Vocabulary = model.required("terms_")
    letters, starts = vocabulary.letters.tobytes(), vocabulary.starts.tolist()
    names = [letters[start:stop].decode() for start, stop in pairwise(starts)]
    place = {name: j for j, name in enumerate(names)}
    other = -1
    if options.unknown == "count":
        other = len(names)
        names.append(UNKNOWN_NAME)
    return TermColumns(lambda term: place.get(term, other), names.__getitem__, len(names))


def _hashed(options: Any) -> TermColumns:
    """The columns of hashes."""
    n_features, of_words = int(options.n_features), options.analyzer == "word"

    @lru_cache(MOST_HASHES)
    def column(term: str) -> int:
        return column_of_term(term, n_features, of_words=of_words)

    return TermColumns(column, str, n_features)


# ── Text classifiers: the counts of words of each document, and the model that reads them ─────────

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
