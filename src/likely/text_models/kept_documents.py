"""Documents of one pass that are kept as ids of their terms, to be scored when it has ended.

    kept: u_d < t,   u_d = hash(number of the document)        t halves when there are too many ids

Which documents are kept depends on their numbers only, not on how they came.  The counts of a
document go to the sums of all others when it is no longer kept, or when the pass has ended, so that
the sums without some kept documents are sums, and nothing is subtracted.
"""

from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.split import FOLD_SEED, fold_of, hashed_uniforms
from likely.generative.class_counts import ClassCounts
from likely.objectives.evidence import N_FOLDS
from likely.objectives.length_evidence import SAMPLE_SEED
from likely.text.term_tables import TermIds
from likely.text_models.class_sums import ClassSums
from likely.text_models.labelled import LabelledBatch

MOST_IDS = 2**24  # of a file: 64 MB of ids


class KeptPart(NamedTuple):
    """Some documents with their classes."""

    found: TermIds
    codes: Codes
    weight: Array
    fold: Codes
    uniform: Array  # u_d

    def where(self, chosen: Array) -> "KeptPart":
        """The documents of a mask."""
        ids, stops = self.found
        lengths = np.diff(stops, prepend=0)
        found = TermIds(ids[np.repeat(chosen, lengths)], np.cumsum(lengths[chosen]))
        return KeptPart(found, *(each[chosen] for each in self[1:]))

    def with_ids(self, places: Array) -> "KeptPart":
        """The documents with other ids, by the old ones; −1 stays."""
        ids, stops = self.found
        return self._replace(found=TermIds(np.append(places, np.int32(-1))[ids], stops))


@final
class KeptDocuments:
    """Documents that are added to sums later: all of them, or a sample of at most so many ids."""

    def __init__(self, sums: ClassSums, most_ids: int | None = None) -> None:
        self.sums = sums
        self.most_ids = most_ids
        self.parts: list[KeptPart] = []
        self.n_rows = 0  # documents with a class so far, kept or not
        self.n_ids = 0
        self.share = 1.0  # t
        self.columns = np.zeros(0, np.int64)  # of the ids after the pass; −1 without one
        self.others: ClassCounts | None = None  # of the documents that are not kept, by id

    def add(self, batch: LabelledBatch, found: TermIds, first: int, n_terms: int) -> int:
        """Keep documents of a batch from ``first`` on, and return the first that is left."""
        here = slice(first, first + found.stops.size)
        codes, weight = batch.codes[here], batch.weight[here]
        known = codes >= 0
        n, fold, uniform = int(known.sum()), np.zeros(codes.size, np.int32), np.ones(codes.size)
        fold[known] = fold_of(self.n_rows, n, FOLD_SEED, N_FOLDS)
        uniform[known] = hashed_uniforms(self.n_rows, n, SAMPLE_SEED)
        self.n_rows += n
        self.sums.make_room(n_terms)
        own = TermIds(found.ids.copy(), found.stops)  # a view would keep the room it was cut from
        self._keep(KeptPart(own, codes, weight, fold, uniform))
        while self.most_ids is not None and self.n_ids > self.most_ids:
            self.share /= 2
            parts, self.parts, self.n_ids = self.parts, [], 0
            for part in parts:
                self._keep(part)
        return here.stop

    def _keep(self, part: KeptPart) -> None:
        """Keep the documents of a part below the threshold; the others go to the sums."""
        chosen = part.uniform < self.share
        if not chosen.all():
            gone = part.where(~chosen)
            self.sums.count(gone.found, gone.codes, gone.weight)
            part = part.where(chosen)
        if part.codes.size:
            self.parts.append(part)
            self.n_ids += part.found.ids.size

    def close(self) -> None:
        """Add all documents to the sums; ids become positions in ``columns``, those that occur."""
        sums, used = self.sums, np.zeros(self.sums.n_terms, dtype=bool)
        for part in self.parts:
            ids = part.found.ids
            used[ids[ids >= 0]] = True
        self.columns = np.flatnonzero(used)
        if sums.of_class.any():
            self.others = ClassCounts(sums.sums[self.columns], sums.of_class.copy())
        places = np.full(used.size, -1, np.int32)
        places[self.columns] = np.arange(self.columns.size)
        for i, part in enumerate(self.parts):
            sums.count(part.found, part.codes, part.weight)
            self.parts[i] = part.with_ids(places)

    def choose(self, order: Codes) -> None:
        """After ``close``: the columns of terms are their places in ``order``, −1 without one."""
        places = np.full(self.sums.n_terms, -1, np.int64)
        places[order] = np.arange(order.size)
        self.columns = places[self.columns]
