"""Documents of a pass that are kept as ids of their terms, to be scored when it has ended.

    kept: u_d < t,   u_d = hash(words of the document)        t halves when there are too many ids

Equal documents have equal u_d, so that of copies all are kept or none: a copy that is not kept
would be in the model that scores the others.  Documents of few words have a u_d by their number.
"""

from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import N_FOLDS
from likely.calibrate.length_cooling import SAMPLE_SEED
from likely.calibrate.length_evidence import EXACT, FEWEST_WORDS, is_scored
from likely.data.split import FOLD_SEED, fold_of, hashed_uniforms, hashed_values
from likely.text.term_tables import TermIds
from likely.text_models.labelled import LabelledBatch

MOST_IDS = 2**22  # of a stream: 16 MB of ids, of about as many documents as are scored
PER_DOCUMENT = 11  # ids that take the memory of what else is kept of a document, 44 bytes
KEEP_SEED = 2  # of documents of few words that are kept; those that are scored have their own
MOST_PARTS = 32  # of a stream, until they are joined: many small arrays would scatter its memory


class KeptPart(NamedTuple):
    """Some documents with their classes."""

    found: TermIds
    codes: Codes
    weight: Array
    fold: Codes
    uniform: Array  # by the number of the document; it decides which documents are scored
    key: Array  # u_d, which decides whether it is kept

    def where(self, chosen: Array) -> "KeptPart":
        """The documents of a mask."""
        if chosen.all():
            return self
        ids, stops = self.found
        lengths = np.diff(stops, prepend=0)
        found = TermIds(ids[np.repeat(chosen, lengths)], np.cumsum(lengths[chosen]))
        return KeptPart(found, *(each[chosen] for each in self[1:]))

    def with_ids(self, places: Array) -> "KeptPart":
        """The documents with other ids, by the old ones; the last of ``places`` is that of −1."""
        ids, stops = self.found
        return self._replace(found=TermIds(places[ids], stops))

    @classmethod
    def joined(cls, parts: "list[KeptPart]") -> "KeptPart":
        """The documents of several parts as one."""
        first = np.cumsum([0, *(part.found.ids.size for part in parts[:-1])])
        stops = [part.found.stops + n for part, n in zip(parts, first, strict=True)]
        found = TermIds(np.concatenate([part.found.ids for part in parts]), np.concatenate(stops))
        others = zip(*(part[1:] for part in parts), strict=True)
        return cls(found, *(np.concatenate(each) for each in others))


@final
class KeptDocuments:
    """Documents that have a class: all of them, or a sample of at most so many ids."""

    def __init__(self, most_ids: int | None = None) -> None:
        self.most_ids = most_ids
        self.parts: list[KeptPart] = []
        self.n_rows = 0  # documents with a class so far, kept or not
        self.n_ids = 0  # and what takes the same memory
        self.share = 1.0  # t

    @property
    def n_kept(self) -> int:
        """The number of documents that are kept."""
        return sum(part.codes.size for part in self.parts)

    def scored(self, part: KeptPart) -> Array:
        """Which documents of a part are scored: about 20,000 of all that are kept."""
        return is_scored(part.uniform, self.n_rows * self.share)

    @property
    def n_scored(self) -> int:
        """The number of documents that are scored."""
        return sum(int(self.scored(part).sum()) for part in self.parts)

    @property
    def is_complete(self) -> bool:
        """Whether no document was left out."""
        return self.share == 1.0

    def add(self, batch: LabelledBatch, found: TermIds, first: int) -> None:
        """Keep documents of a batch from ``first`` on."""
        here = slice(first, first + found.stops.size)
        codes, weight = batch.codes[here], batch.weight[here]
        known = codes >= 0
        n, fold, uniform = int(known.sum()), np.zeros(codes.size, np.int32), np.ones(codes.size)
        fold[known] = fold_of(self.n_rows, n, FOLD_SEED, N_FOLDS)
        uniform[known] = hashed_uniforms(self.n_rows, n, SAMPLE_SEED)
        key = np.zeros(codes.size)
        if self.most_ids is not None:
            key[known] = hashed_uniforms(self.n_rows, n, KEEP_SEED)
            key = keys_of(found, key)
        key[~known] = 1.0
        self.n_rows += n
        self._keep(KeptPart(found, codes, weight, fold, uniform, key))
        while self.most_ids is not None and self.n_ids > self.most_ids:
            self.share /= 2
            parts, self.parts, self.n_ids = self.parts, [], 0
            for part in parts:
                self._keep(part)
        if self.most_ids is not None and len(self.parts) > MOST_PARTS:
            self.parts = [KeptPart.joined(self.parts)]

    def _keep(self, part: KeptPart) -> None:
        """Keep the documents below the threshold, which those without a class are not."""
        part = part.where(part.key < self.share)
        ids, stops = part.found
        if ids.base is not None:  # a view would keep the room that it was cut from
            part = part._replace(found=TermIds(ids.copy(), stops))
        if part.codes.size:
            self.parts.append(part)
            self.n_ids += ids.size + PER_DOCUMENT * stops.size


def keys_of(found: TermIds, otherwise: Array) -> Array:
    """u_d in [0, 1): equal for documents of the same words; ``otherwise``, if these are few."""
    of_word = np.floor(hashed_values(found.ids, FOLD_SEED) * EXACT) / EXACT  # sums are exact
    before = np.concatenate([[0.0], np.cumsum(of_word)])
    stops = np.concatenate([[0], found.stops])
    by_words = hashed_values(np.diff(before[stops]), SAMPLE_SEED)
    return np.where(np.diff(stops) >= FEWEST_WORDS, by_words, otherwise)
