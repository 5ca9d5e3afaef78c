"""Documents that are kept: which they are, and how many."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.calibrate import length_evidence
from likely.data.sequences import TermIds
from likely.data.split import hashed_uniforms
from likely.text.class_sums import LabelledBatch
from likely.text.held_out_documents import (
    KEEP_SEED,
    MOST_PARTS,
    PER_DOCUMENT,
    KeptDocuments,
    keys_of,
)


def test_what_is_kept_does_not_depend_on_batches():
    codes, weight = np.zeros(300, np.int64), np.ones(300)
    codes[::7] = -1
    ids, found = np.arange(900, dtype=np.int32), []
    for size in (300, 100, 13, 2):
        kept = KeptDocuments(most_ids=800)
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
    key = hashed_uniforms(0, n, KEEP_SEED)  # of few words
    long = TermIds(np.zeros(1000, np.int32), np.array([1000]))
    key[7] = keys_of(long, key[7:8])[0]
    assert kept.share <= key[7] != hashed_uniforms(0, n, KEEP_SEED)[7] and kept.n_rows == n
    assert kept.n_kept == (key < kept.share).sum()
    assert kept.n_ids == (2 + PER_DOCUMENT) * kept.n_kept <= 100


def test_documents_without_words_take_room_too():
    kept, nothing = KeptDocuments(most_ids=10_000), np.zeros(0, np.int32)
    for _ in range(20):
        batch = LabelledBatch(None, np.zeros(1000, np.int64), np.ones(1000))
        kept.add(batch, TermIds(nothing, np.zeros(1000, np.int64)), 0)
    assert 0 < kept.n_kept <= 10_000 // PER_DOCUMENT and kept.n_rows == 20_000


@pytest.mark.parametrize("n_words", [2, 12])
@pytest.mark.parametrize(("most", "share"), [(10_000, 1.0), (500, 0.5)])
def test_of_many_kept_documents_some_are_scored_and_of_few_all(monkeypatch, n_words, most, share):
    """However many documents there were: the share of those that are kept does not matter."""
    monkeypatch.setattr(length_evidence, "MOST_SCORED", most)
    rng, n = np.random.default_rng(0), 16_000
    kept = KeptDocuments(most_ids=1000 * (n_words + PER_DOCUMENT))
    ids = rng.integers(0, 999, n * n_words).astype(np.int32)
    found = TermIds(ids, n_words * np.arange(1, n + 1))
    kept.add(LabelledBatch(None, np.zeros(n, np.int64), np.ones(n)), found, 0)
    assert 400 < kept.n_kept <= 1000
    expected = kept.n_kept if share == 1.0 else most * kept.n_kept / (n * kept.share)
    assert abs(kept.n_scored - expected) <= (0 if share == 1.0 else 90)


def test_the_room_of_a_part_is_not_kept():
    room = np.zeros(10_000, np.int32)
    kept = KeptDocuments()
    found = TermIds(room[:5], np.array([5]))
    kept.add(LabelledBatch(None, np.zeros(1, np.int64), np.ones(1)), found, 0)
    assert kept.parts[0].found.ids.base is None and kept.is_complete
