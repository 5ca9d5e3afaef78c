"""Counts of real documents are those of scikit-learn, cell by cell."""

import os
from pathlib import Path

import pytest

from tests.text.test_bag_of_words import assert_same

HERE = Path(__file__).resolve()
SHARED = Path(os.environ.get("LIKELY_BENCH_DATA", HERE.parents[3] / "shared" / "data")) / "text"
OPTIONS = [
    {},
    {"ngram_range": (1, 2), "min_df": 2},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "max_features": 5_000},
    {"stop_words": "english", "strip_accents": "unicode", "binary": True},
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the texts of ../shared/data/text are not here"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("corpus", ["20news", "debian", "sms"])
def test_counts_of_a_corpus_are_those_of_scikit_learn(corpus, options):
    from benchmarks.text_quality import documents

    train, _, test, _ = documents(SHARED, corpus)
    assert_same([*train, *test], options)


def test_counts_of_a_hundred_megabytes_are_those_of_scikit_learn(monkeypatch):
    from benchmarks import text_corpora

    monkeypatch.setattr(text_corpora, "DATA", SHARED.parent)
    found = text_corpora.corpus(text_corpora.RESAMPLED, 100_000_000)
    assert found.nbytes >= 100_000_000
    assert_same(found.texts, {})
