"""Threads give the vocabulary, the ids and the counts of one thread."""

import numpy as np
import pytest

from likely.compute.executor import Serial, Threads
from likely.text.bag_of_words import BagOfWords
from likely.text.reader import Reader
from likely.text.tokens import Analysis

OPTIONS = [
    {},
    {"ngram_range": (1, 2), "stop_words": ["w7"]},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"token_pattern": r"[^ ]+"},
    {"n_features": 64},
]


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.setattr("likely.text.documents.MOST_BYTES", 500)
    rng = np.random.default_rng(0)
    return [" ".join(f"w{i}" for i in rng.zipf(1.3, 30) % 5000) for _ in range(120)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_fit_on_threads_is_that_on_one(options, texts):
    one = BagOfWords(executor=Serial(), **options)
    many = BagOfWords(executor=Threads(3), **options)
    expected, found = one.fit_transform(texts), many.fit_transform(texts)
    assert (found != expected).nnz == 0
    assert many.fit(texts).n_documents_ == len(texts)
    assert (many.transform(texts) != expected).nnz == 0
    assert many.terms_.names == one.terms_.names


def test_ids_are_in_the_order_of_first_appearance_whoever_reads(texts):
    readers = [Reader(Analysis()) for _ in range(4)]
    found = [
        [ids.tolist() for ids, _ in reader.learn(texts, Threads(workers) if workers else "serial")]
        for workers, reader in enumerate(readers)
    ]
    assert found[0] == found[1] == found[2] == found[3]
    seen = list(dict.fromkeys(word for text in texts for word in text.split()))
    assert [reader.names().to_pylist() for reader in readers] == [seen] * 4


def test_a_vocabulary_that_grows_on_threads_is_that_on_one(texts):
    grown = [
        BagOfWords(executor=executor, ngram_range=(1, 2))
        .partial_fit(texts[:50])
        .partial_fit(texts[50:])
        for executor in (Serial(), Threads(3))
    ]
    assert grown[0].terms_.names == grown[1].terms_.names
    assert (grown[0].transform(texts) != grown[1].transform(texts)).nnz == 0
