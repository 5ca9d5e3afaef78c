"""Terms of documents as columns: until ``BagOfWords`` gives them itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from likely._typing import Array
from likely.text.bag_of_words import BagOfWords
from likely.text.reader import Reader, TermIds


def joined(levels: list[TermIds]) -> TermIds:
    if len(levels) == 1:
        return TermIds(levels[0].ids.astype(np.int32), levels[0].stops)
    document = [
        np.searchsorted(each.stops, np.arange(each.ids.size), side="right") for each in levels
    ]
    order = np.argsort(np.concatenate(document), kind="stable")
    ids = np.concatenate([each.ids for each in levels])[order]
    return TermIds(ids.astype(np.int32), np.sum([each.stops for each in levels], axis=0))


def read_columns(words: BagOfWords, part: Any) -> Iterator[TermIds]:
    reader, places = words._known()
    other = len(words.terms_) if words.unknown == "count" else -1
    for levels in reader.read(part, grow=False):
        found = []
        for each, place in zip(levels, places, strict=True):
            columns = np.append(place, -1)[each.ids]
            found.append(
                TermIds(np.where(columns < 0, other, columns).astype(np.int32), each.stops)
            )
        yield joined(found)


class Growing:
    """A reader with one id space over levels: level j's id i is n_levels · i + j."""

    def __init__(self, analysis: Any) -> None:
        self.reader = Reader(analysis)
        self.n_levels = 1

    def read(self, given: Any) -> Iterator[TermIds]:
        for levels in self.reader.read(given, grow=True):
            self.n_levels = n = len(levels)
            yield joined(
                [
                    TermIds(np.where(e.ids < 0, -1, n * e.ids.astype(np.int64) + j), e.stops)
                    for j, e in enumerate(levels)
                ]
            )

    def __len__(self) -> int:
        return self.n_levels * max(len(level) for level in self.reader.names())


def remember(words: BagOfWords, growing: Growing, frequency: Array, total: Array, n: int) -> Array:
    n_levels = growing.n_levels
    by_level = growing.reader.names()
    names, ids = [], []
    for j, level in enumerate(by_level):
        names += level
        ids += [n_levels * i + j for i in range(len(level))]
    ids_ = np.array(ids, np.int64)
    seen = np.flatnonzero(frequency[ids_])
    order = seen[np.argsort(np.array(names, dtype=object)[seen])]
    ids_ = ids_[order]
    names = [names[i] for i in order]

    class Fake:
        shape = (n, len(names))
        indices = np.repeat(np.arange(len(names)), frequency[ids_])

        def sum(self, axis: int) -> Any:
            return total[ids_]

    kept = words._kept(Fake())
    words._remember([names[i] for i in kept])
    words.n_documents_ = n
    words.document_frequency_ = frequency[ids_][kept]
    return ids_[kept]


def columns_of(words: BagOfWords, terms: list[str]) -> Array:
    other = len(words.terms_) if words.unknown == "count" else -1
    known = words.vocabulary_
    return np.array([known.get(term, other) for term in terms], dtype=np.int64)
