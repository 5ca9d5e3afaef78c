"""A reader of documents: its vocabulary, and the numbers of the terms that it finds.

Terms come in levels: words, pairs of words, and so on; runs of characters have one level.  Each
level numbers its terms in the order of their first appearance.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.text.analysis import Analysis
from likely.text.characters import characters
from likely.text.documents import bytes_of, parts
from likely.text.term_tables import Runs, Terms


class TermIds(NamedTuple):
    """The terms of some documents: ``ids[stops[i − 1] : stops[i]]`` are those of the i-th."""

    ids: Array  # int32; −1 is unknown
    stops: Array  # int64, one for each document


@final
class Reader:
    """Reads documents as ids of terms, by level; learns new terms if ``grow``."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.low, self.high = analysis.ngram_range
        self.of_words = analysis.analyzer == "word"
        self.n_stop = len(analysis.stop_words) if analysis.is_compiled else 0
        first = sorted(analysis.stop_words) if self.n_stop else []
        self.terms = Terms.of(first)
        self.runs = [Runs() for _ in range(2, self.high + 1)] if self.of_words else []

    @classmethod
    def of(cls, analysis: Analysis, names: Sequence[str]) -> tuple["Reader", list[Array]]:
        """A reader that knows these terms and no others, and the place of each id among them."""
        reader = cls(analysis)
        if not reader.of_words:
            reader.terms = Terms.of(names)
            return reader, [np.arange(len(names))]
        split = [name.split(" ") for name in names]
        flat = list(chain.from_iterable(split))
        ids = reader.terms.whole(bytes_of(_arrow(flat)), grow=True)
        stops = np.cumsum([len(words) for words in split])
        places = []
        last = previous = ids
        for n in range(1, reader.high + 1):
            if n > 1:
                last = reader.runs[n - 2].join(ids, stops, previous, grow=True)
                previous = last
            if n >= reader.low:
                place = np.full(reader.n_terms(n), -1)
                ending = [i for i, words in enumerate(split) if len(words) == n]
                place[last[stops[ending] - 1]] = ending
                places.append(place)
        return reader, places

    def n_terms(self, n: int) -> int:
        """The number of terms of n words."""
        return len(self.terms) if n == 1 or not self.of_words else len(self.runs[n - 2])

    def read(self, array: Any, *, grow: bool) -> Iterator[list[TermIds]]:
        """For each part of the documents, the ids of each level."""
        for part in parts(array):
            yield self._levels(part, grow=grow)

    def _levels(self, part: Any, *, grow: bool) -> list[TermIds]:
        if not self.of_words:
            return [self._characters(part, grow=grow)]
        words, stops = self._words(part, grow=grow)
        found, previous = [], words
        for n in range(1, self.high + 1):
            if n > 1:
                previous = self.runs[n - 2].join(words, stops, previous, grow=grow)
            if n >= self.low:
                found.append(TermIds(previous, stops) if n == 1 else _complete(previous, stops, n))
        return found

    def _words(self, part: Any, *, grow: bool) -> TermIds:
        """The ids of words; stop words, which come first in the vocabulary, are left out."""
        analysis = self.analysis
        if not analysis.is_compiled:
            found = [analysis.words(text) for text in part.to_pylist()]
            ids = self.terms.whole(bytes_of(_arrow(list(chain.from_iterable(found)))), grow=grow)
            return TermIds(ids, np.cumsum([len(words) for words in found], dtype=np.int64))
        tables = characters(lowercase=analysis.lowercase)
        shortest = analysis.shortest or 1
        ids, stops = self.terms.words(analysis.prepared(part), tables, shortest, grow=grow)
        if not self.n_stop:
            return TermIds(ids, stops)
        kept = (ids < 0) | (ids >= self.n_stop)
        before = np.concatenate([[0], np.cumsum(kept)])
        return TermIds(ids[kept], before[stops])

    def _characters(self, part: Any, *, grow: bool) -> TermIds:
        pieces = [self.analysis.pieces(text) for text in part.to_pylist()]
        given = bytes_of(_arrow(list(chain.from_iterable(pieces))))
        inside = self.analysis.analyzer == "char_wb"
        ids, stops = self.terms.runs(given, self.analysis.ngram_range, inside=inside, grow=grow)
        ends = np.cumsum([len(each) for each in pieces], dtype=np.int64)
        return TermIds(ids, np.concatenate([[0], stops])[ends])

    def names(self) -> list[list[str]]:
        """The terms of each level, by id."""
        words = self.terms.names()
        if not self.of_words:
            return [words]
        found, before = [], words
        for n in range(1, self.high + 1):
            if n > 1:
                before = self.runs[n - 2].names(before, words)
            if n >= self.low:
                found.append(before)
        return found


def _complete(ids: Array, stops: Array, n: int) -> TermIds:
    """The runs of n words of each document: those that end at its n-th word or later."""
    first = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    place = np.arange(ids.size) - np.repeat(first, stops - first)
    whole = place >= n - 1
    before = np.concatenate([[0], np.cumsum(whole)])
    return TermIds(ids[whole], before[stops])


def _arrow(texts: list[str]) -> Any:
    import pyarrow as pa

    return pa.array(texts, type=pa.large_string())
