"""Documents to counts of words, by the options of a saved ``BagOfWords``.

What a term is, is the library's own definition in plain Python (``text/analysis.py``); compiled
loops find the same terms.  Counts and weights are those of ``BagOfWords``:

    tf = x or 1 + ln x        idf_v = 1 + ln ((n + s) / (n_v + s)),  s = 1 if smooth_idf else 0
"""

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.runtime.count_rows import CountRows
from likely.runtime.saved_model import Record, SavedModel
from likely.text.analysis import Analysis
from likely.text.stop_words import stop_words

UNKNOWN_NAME = "<unknown>"


@final
class WordCounts:
    """The terms of documents, as a saved ``BagOfWords`` finds and counts them."""

    def __init__(self, model: SavedModel) -> None:
        argument = model.argument
        self.analysis = _analysis(model)
        self.names = _terms(model.required("terms_"))
        self.place = {name: j for j, name in enumerate(self.names)}
        self.counts_unknown = argument("unknown") == "count"
        self.binary, self.norm = bool(argument("binary")), argument("norm")
        self.sublinear, self.idf = bool(argument("sublinear_tf")), _idf(model)

    @property
    def n_columns(self) -> int:
        return len(self.names) + self.counts_unknown

    def tokens(self, document: str) -> list[str]:
        """The terms of a document, one after the other, also those that are not known."""
        return list(self.analysis.tokens(document))

    def counts(self, documents: Iterable[str]) -> list[dict[str, float]]:
        """The count or weight of each known term of each document."""
        rows, names = self.rows(documents), (*self.names, UNKNOWN_NAME)
        pieces = zip(rows.starts[:-1], rows.starts[1:], strict=True)
        return [
            {names[j]: float(x) for j, x in zip(rows.columns[a:b], rows.data[a:b], strict=True)}
            for a, b in pieces
        ]

    def rows(self, documents: Iterable[str]) -> CountRows:
        """The counts or weights of documents, one row each."""
        found = [self._counted(text) for text in checked(documents)]
        starts = np.array([0, *accumulate(len(each) for each in found)], dtype=np.int64)
        columns = np.array([j for each in found for j in each], dtype=np.int64)
        data = np.array([x for each in found for x in each.values()], dtype=np.float64)
        return self._weighted(CountRows(data, columns, starts, self.n_columns))

    def _counted(self, text: str) -> dict[int, int]:
        """How often each column occurs, in order of the columns."""
        other = len(self.names) if self.counts_unknown else -1
        found = Counter(self.place.get(term, other) for term in self.analysis.tokens(text))
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


def _analysis(model: SavedModel) -> Analysis:
    analyzer, (low, high) = model.argument("analyzer"), model.argument("ngram_range")
    left_out = stop_words(model.argument("stop_words")) if analyzer == "word" else frozenset()
    return Analysis(
        analyzer,
        bool(model.argument("lowercase")),
        model.argument("strip_accents"),
        model.argument("token_pattern"),
        (int(low), int(high)),
        left_out,
    )


def _terms(vocabulary: Record) -> tuple[str, ...]:
    letters, starts = vocabulary["letters"].tobytes(), vocabulary["starts"].tolist()
    return tuple(letters[start:stop].decode() for start, stop in pairwise(starts))


def _idf(model: SavedModel) -> Array | None:
    if not model.argument("use_idf"):
        return None
    extra = float(bool(model.argument("smooth_idf")))
    with np.errstate(divide="ignore"):
        ratio = (model.required("n_documents_") + extra) / (
            model.required("document_frequency_") + extra
        )
    return np.asarray(np.log(ratio) + 1.0)
