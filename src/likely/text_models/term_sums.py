"""Counts of terms by class, from one pass over labelled documents, without a matrix.

    N_vk = Σ_d w_d [y_d = k] x_dv        n_v = Σ_d [x_dv > 0]        t_v = Σ_d x_dv

n_v and t_v have no weights: they decide which terms are kept, as in ``BagOfWords``.
"""

from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.generative.class_counts import ClassCounts
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import parts
from likely.text.reader import TermIds
from likely.text_models.labelled import Batch, LabelledDocuments
from likely.text_models.reading import Growing, remember

FIRST_ROOM = 1 << 12  # terms, before more are known
PART_BYTES = 1 << 22  # of text whose terms are held at a time


@final
class TermSums:
    """Running sums of the terms of each class, with room for new terms."""

    def __init__(self, sums: Array, *, once: bool) -> None:
        self.sums, self.once = sums, once  # (room, n_classes)
        self.n_documents = 0
        self.seen = np.zeros((len(sums), 3), np.int64)  # last document, documents, occurrences

    @classmethod
    def of_classes(cls, n_classes: int, n_terms: int = FIRST_ROOM, *, once: bool) -> "TermSums":
        """No documents yet; memory is used by the terms that occur, not by ``n_terms``."""
        return cls(np.zeros((n_terms, n_classes)), once=once)

    @property
    def frequency(self) -> Array:
        """n_v, the number of documents with each term."""
        return self.seen[:, 1]

    @property
    def occurrences(self) -> Array:
        """t_v, how often each term occurs; with ``once``, in how many documents."""
        return self.seen[:, 2]

    def add(self, found: TermIds, codes: Codes, weight: Array, n_terms: int = 0) -> None:
        """Add documents of these classes; ids are below ``n_terms``, or below the room there is."""
        from likely.fast.text_scores import count_by_class

        self._make_room(n_terms)
        count_by_class(
            found.ids,
            found.stops,
            self.n_documents + 1,
            codes,
            weight,
            self.once,
            self.seen,
            self.sums,
        )
        self.n_documents += found.stops.size

    def _make_room(self, n_terms: int) -> None:
        room = len(self.sums)
        if n_terms <= room:
            return
        more = max(n_terms, 2 * room)
        for name in ("sums", "seen"):
            given = getattr(self, name)
            larger = np.zeros((more, given.shape[1]), given.dtype)
            larger[:room] = given
            setattr(self, name, larger)


def learned_counts(words: BagOfWords, given: LabelledDocuments) -> ClassCounts:
    """The counts of each class, of the terms that ``words`` keeps; it is fitted in the same pass.

    Terms are counted by the ids of a growing vocabulary; those that are kept become columns.
    """
    n_classes, once = len(given.classes), bool(words.binary)
    of_class = np.zeros(n_classes)
    reader = Growing(words._analysis())
    sums = TermSums.of_classes(n_classes, once=once)
    for batch in given.batches:
        _add(reader.read, lambda: len(reader), sums, batch)
        of_class += _class_weights(batch, n_classes)
    order = remember(words, reader, sums.frequency, sums.occurrences, sums.n_documents)
    kept = sums.sums[order]
    if words.unknown == "count":  # the last column: terms that are not kept
        kept = np.vstack([kept, sums.sums.sum(axis=0) - kept.sum(axis=0)])
    return ClassCounts(kept, of_class)


def _add(read: Any, n_terms: Any, sums: TermSums, batch: Batch) -> None:
    first = 0
    for part in parts(batch.documents, PART_BYTES):
        for found in read(part):
            here = slice(first, first + found.stops.size)
            sums.add(found, batch.codes[here], batch.weight[here], n_terms())
            first = here.stop


def _class_weights(batch: Batch, n_classes: int) -> Array:
    known = batch.codes >= 0
    return np.bincount(batch.codes[known], batch.weight[known], n_classes)


def add_batch(
    words: BagOfWords, earlier: ClassCounts | None, batch: Batch, n_classes: int
) -> ClassCounts:
    """The counts with those of more documents, whose new terms are added to ``words``."""
    raise NotImplementedError
