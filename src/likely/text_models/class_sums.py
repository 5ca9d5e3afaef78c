"""Counts of terms by class, from labelled documents, without a matrix.

    N_vk = Σ_d w_d [y_d = k] x_dv        n_v = Σ_d [x_dv > 0]        t_v = Σ_d x_dv

n_v and t_v have no weights: they decide which terms are kept, as in ``BagOfWords``.
"""

from collections.abc import Iterable
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.generative.class_counts import ClassCounts
from likely.text.bag_of_words import BagOfWords
from likely.text.term_tables import TermIds
from likely.text_models.kept_documents import KeptDocuments
from likely.text_models.labelled import LabelledBatch


@final
class ClassSums:
    """Running sums of the terms of each class, with room for new terms."""

    def __init__(self, counts: ClassCounts, *, once: bool) -> None:
        self.sums = np.require(counts.by_feature, np.float64, ["C", "W"])  # (room, n_classes)
        self.of_class = counts.of_class.copy()  # weights of the documents of each class
        self.n_terms = len(self.sums)  # so far: the rest is room
        self.once = once
        self.n_documents = 0
        self.seen = np.zeros((len(self.sums), 3), np.int64)  # last document, documents, total

    @classmethod
    def of_classes(cls, n_classes: int, n_terms: int, *, once: bool) -> "ClassSums":
        """No documents yet; memory is used by the terms that occur, not by ``n_terms``."""
        nothing = ClassCounts(np.zeros((n_terms, n_classes)), np.zeros(n_classes))
        return cls(nothing, once=once)

    @property
    def counts(self) -> ClassCounts:
        """The counts so far; later ones are added in place."""
        return ClassCounts(self.sums[: self.n_terms], self.of_class.copy())

    def without_frequencies(self) -> "ClassSums":
        """The same sums, without the numbers of documents with each term."""
        return ClassSums(self.counts, once=self.once)

    def copied(self) -> "ClassSums":
        """The same sums, to which documents can be added without a change of these."""
        new = ClassSums(ClassCounts(self.sums.copy(), self.of_class), once=self.once)
        new.n_terms, new.n_documents, new.seen = self.n_terms, self.n_documents, self.seen.copy()
        return new

    def of_terms(self, order: Array) -> "ClassSums":
        """The sums of some terms, in this order."""
        return ClassSums(ClassCounts(self.sums[order], self.of_class), once=self.once)

    @property
    def frequency(self) -> Array:
        """n_v, the number of documents with each term."""
        return self.seen[:, 1]

    @property
    def total(self) -> Array:
        """t_v, how often each term occurs; with ``once``, in how many documents."""
        return self.seen[:, 2]

    def add(
        self,
        batch: LabelledBatch,
        parts: Iterable[tuple[TermIds, int]],
        kept: KeptDocuments | None = None,
    ) -> None:
        """Add the documents of a batch, in parts with the number of terms so far; keep them, too.

        Ids of a part are below its number of terms.
        """
        first = 0
        for found, n_terms in parts:
            self._make_room(n_terms)
            here = slice(first, first + found.stops.size)
            self.count(found, batch.codes[here], batch.weight[here])
            if kept is not None:
                kept.add(batch, found, first)
            first = here.stop

    def count(self, found: TermIds, codes: Codes, weight: Array) -> None:
        """Add documents with the codes of their classes; there is room for their ids."""
        from likely.fast.text_scores import count_by_class

        number = self.n_documents + 1
        count_by_class(
            found.ids, found.stops, number, codes, weight, self.once, self.seen, self.sums
        )
        known = codes >= 0
        self.of_class += np.bincount(codes[known], weight[known], self.of_class.size)
        self.n_documents += found.stops.size

    def _make_room(self, n_terms: int) -> None:
        room = len(self.sums)
        self.n_terms = n_terms
        if n_terms <= room:
            return
        more = max(n_terms, 2 * room)
        for name in ("sums", "seen"):
            given = getattr(self, name)
            larger = np.zeros((more, given.shape[1]), given.dtype)
            larger[:room] = given
            setattr(self, name, larger)


def add_batch(
    words: BagOfWords, sums: ClassSums, batch: LabelledBatch, kept: KeptDocuments | None = None
) -> None:
    """Add the counts of more documents; their new terms are added to ``words``."""
    words.partial_fit(batch.documents)
    found = words.read(batch.documents)
    sums.add(batch, ((ids, words.n_columns) for ids in found), kept)
