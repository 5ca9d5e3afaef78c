"""Documents that are kept: which they are, and how many."""

import numpy as np
from numpy.testing import assert_array_equal

from likely.data.split import hashed_uniforms
from likely.objectives.length_cooling import SAMPLE_SEED
from likely.text.term_tables import TermIds
from likely.text_models.kept_documents import MOST_PARTS, KeptDocuments, keys_of
from likely.text_models.labelled import LabelledBatch


def test_what_is_kept_does_not_depend_on_batches():
    codes, weight = np.zeros(300, np.int64), np.ones(300)
    codes[::7] = -1
    ids, found = np.arange(900, dtype=np.int32), []
    for size in (300, 100, 13, 2):
        kept = KeptDocuments(most_ids=200)
        for start in range(0, 300, size):
            here = slice(start, start + size)
            n = len(codes[here])
            part = TermIds(ids[3 * start : 3 * (start + n)], 3 * np.arange(1, n + 1))
            kept.add(LabelledBatch(None, codes[here], weight[here]), part, 0)
        assert kept.n_rows == (codes >= 0).sum() and not kept.is_complete
        found.append(np.concatenate([part.found.ids for part in kept.parts]))
    assert 50 < found[0].size <= 200
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    assert_array_equal(found[0], found[3])
    assert len(kept.parts) <= MOST_PARTS < 300 / 2
    stops = [part.found.stops for part in kept.parts]
    assert all((np.diff(each, prepend=0) == 3).all() for each in stops)


def test_a_document_with_too_many_words_is_not_kept():
    kept, n = KeptDocuments(most_ids=100), 20
    for i in range(n):
        size = 1000 if i == 7 else 2
        ids = TermIds(np.zeros(size, np.int32), np.array([size]))
        kept.add(LabelledBatch(None, np.zeros(1, np.int64), np.ones(1)), ids, 0)
    key = hashed_uniforms(0, n, SAMPLE_SEED)  # of few words
    long = TermIds(np.zeros(1000, np.int32), np.array([1000]))
    key[7] = keys_of(long, key[7:8])[0]
    assert kept.share <= key[7] != hashed_uniforms(0, n, SAMPLE_SEED)[7] and kept.n_rows == n
    assert kept.n_kept == (key < kept.share).sum() and kept.n_ids == 2 * kept.n_kept


def test_the_room_of_a_part_is_not_kept():
    room = np.zeros(10_000, np.int32)
    kept = KeptDocuments()
    found = TermIds(room[:5], np.array([5]))
    kept.add(LabelledBatch(None, np.zeros(1, np.int64), np.ones(1)), found, 0)
    assert kept.parts[0].found.ids.base is None and kept.is_complete
