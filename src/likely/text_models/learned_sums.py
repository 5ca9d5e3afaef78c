"""Words, and counts of each class, learned in one pass over labelled documents.

Terms of a vocabulary that is learned are counted by id; those that are kept become columns.
"""

from typing import NamedTuple

import numpy as np

from likely._typing import Codes
from likely.text.bag_of_words import BagOfWords
from likely.text.reader import Reader
from likely.text.term_counts import TermSums
from likely.text_models.class_sums import ClassSums
from likely.text_models.kept_documents import KeptDocuments
from likely.text_models.labelled import LabelledDocuments

FIRST_ROOM = 1 << 12  # terms, before more are known


class LearnedSums(NamedTuple):
    """The sums of all documents, by column, and the column of each id that was met."""

    sums: ClassSums
    columns: Codes  # −1 without one


def learned_sums(
    words: BagOfWords, given: LabelledDocuments, kept: KeptDocuments | None = None
) -> LearnedSums:
    """The counts of each class, of the terms that ``words`` keeps; it is fitted in the same pass.

    The documents are kept, too, if there is something to keep them in.
    """
    n_classes, once = len(given.classes), bool(words.binary)
    if not words._grows:
        words.fit([])
        sums = ClassSums.of_classes(n_classes, words.n_columns, once=once)
        for batch in given.batches:
            sums.add(
                batch, ((found, words.n_columns) for found in words.read(batch.documents)), kept
            )
        words._remember_documents(TermSums(sums.frequency.copy(), sums.total, sums.n_documents))
        return LearnedSums(sums.without_frequencies(), np.arange(words.n_columns, dtype=np.int32))
    words._start()
    reader = Reader(words._analysis())
    sums = ClassSums.of_classes(n_classes, FIRST_ROOM, once=once)
    for batch in given.batches:
        learned = reader.learn(batch.documents, words.executor)
        sums.add(batch, ((found, reader.n_ids) for found in learned), kept)
    order = words.remember(reader, sums.frequency, sums.total, sums.n_documents)
    columns = np.full(reader.n_ids, -1, np.int32)
    columns[order] = np.arange(order.size)
    return LearnedSums(sums.of_terms(order), columns)
