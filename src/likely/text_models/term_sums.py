"""Counts of terms by class, from one pass over labelled documents, without a matrix.

    N_vk = Σ_d w_d [y_d = k] x_dv        n_v = Σ_d [x_dv > 0]        t_v = Σ_d x_dv

n_v and t_v have no weights: they decide which terms are kept, as in ``BagOfWords``.
"""

from typing import final

import numpy as np

from likely._typing import Array
from likely.generative.class_counts import ClassCounts
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import parts
from likely.text.reader import TermIds
from likely.text_models.labelled import Batch, LabelledDocuments
from likely.text_models.reading import Growing, read_columns, remember

FIRST_ROOM = 1 << 12  # terms, before more are known
PART_BYTES = 1 << 22  # of text whose terms are held at a time


@final
class TermSums:
    """Running sums of the terms of each class, with room for new terms."""

    def __init__(self, sums: Array, *, once: bool) -> None:
        self.sums, self.once = sums, once  # (room, n_classes)
        self.n_documents = 0
        self.batch: Batch | None = None  # of which documents are added
        self.place = 0  # of the next of them
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

    def add(self, found: TermIds, batch: Batch, n_terms: int = 0) -> None:
        """Add the next documents of a batch; ids are below ``n_terms``, or the room there is."""
        from likely.fast.text_scores import count_by_class

        if batch is not self.batch:
            self.batch, self.place = batch, 0
        self._make_room(n_terms)
        here = slice(self.place, self.place + found.stops.size)
        count_by_class(
            found.ids,
            found.stops,
            self.n_documents + 1,
            batch.codes[here],
            batch.weight[here],
            self.once,
            self.seen,
            self.sums,
        )
        self.place = here.stop
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
    of_class = np.zeros(len(given.classes))
    reader = Growing(words._analysis())
    sums = TermSums.of_classes(len(given.classes), once=bool(words.binary))
    for batch in given.batches:
        for part in parts(batch.documents, PART_BYTES):
            for found in reader.read(part):
                sums.add(found, batch, len(reader))
        of_class += batch.class_weights(of_class.size)
    order = remember(words, reader, sums.frequency, sums.occurrences, sums.n_documents)
    kept = sums.sums[order]
    if words.unknown == "count":  # the last column: terms that are not kept
        kept = np.vstack([kept, sums.sums.sum(axis=0) - kept.sum(axis=0)])
    return ClassCounts(kept, of_class)


def counts_with(words: BagOfWords, earlier: ClassCounts, batch: Batch) -> ClassCounts:
    """The counts with those of more documents, whose new terms are added to ``words``.

    The earlier counts are overwritten where the columns are the same, so that the cost is that of
    the documents.
    """
    words.partial_fit(batch.documents)
    n_columns = len(words.get_feature_names_out())
    by_feature = earlier.by_feature
    if len(by_feature) < n_columns:
        last = len(by_feature) - (words.unknown == "count" and len(by_feature) > 0)
        wider = np.zeros((n_columns, by_feature.shape[1]))
        wider[:last] = by_feature[:last]
        if last < len(by_feature):
            wider[-1] = by_feature[-1]
        by_feature = wider
    sums = TermSums(np.ascontiguousarray(by_feature), once=bool(words.binary))
    for part in parts(batch.documents, PART_BYTES):
        for found in read_columns(words, part):
            sums.add(found, batch)
    return ClassCounts(sums.sums, earlier.of_class + batch.class_weights(earlier.of_class.size))
