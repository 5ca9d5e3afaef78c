"""Words, and counts of each class, learned in one pass over labelled documents.

Terms of a vocabulary that is learned are counted by id; those that are kept become columns.
"""

from typing import NamedTuple

from likely.text.bag_of_words import BagOfWords
from likely.text.reader import Reader
from likely.text.term_counts import TermSums
from likely.text_models.class_sums import ClassSums
from likely.text_models.kept_documents import MOST_IDS, KeptDocuments
from likely.text_models.labelled import LabelledDocuments

FIRST_ROOM = 1 << 12  # terms, before more are known


class LearnedSums(NamedTuple):
    """The sums of all documents, and documents that are kept to be scored."""

    sums: ClassSums
    kept: KeptDocuments | None


def learned_sums(words: BagOfWords, given: LabelledDocuments, *, keep: bool) -> LearnedSums:
    """The counts of each class, of the terms that ``words`` keeps; it is fitted in the same pass.

    With ``keep`` the documents are kept, too: those of memory all, those of a file a sample.
    """
    n_classes, once = len(given.classes), bool(words.binary)
    grows = words._grows
    if grows:
        words._start()
    else:
        words.fit([])
    room = FIRST_ROOM if grows else words.n_columns
    sums = ClassSums.of_classes(n_classes, room, once=once)
    kept = KeptDocuments(sums, None if given.in_memory else MOST_IDS) if keep else None
    reader = Reader(words._analysis()) if grows else None
    for batch in given.batches:
        first = 0
        learned = (
            words.read(batch.documents)
            if reader is None
            else reader.learn(batch.documents, words.executor)
        )
        for found in learned:
            n_terms = words.n_columns if reader is None else reader.n_ids
            first = (kept or sums).add(batch, found, first, n_terms)
    if kept is not None:
        kept.close()
    if reader is None:
        words._remember_documents(TermSums(sums.frequency.copy(), sums.total, sums.n_documents))
        return LearnedSums(sums, kept)
    order = words.remember(reader, sums.frequency, sums.total, sums.n_documents)
    if kept is not None:
        kept.choose(order)
    return LearnedSums(sums.of_terms(order), kept)
