"""The library finds the terms of the test vectors, by its definition and by compiled loops."""

from collections import Counter

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

import likely as lk
from likely.text.tokens import ENGLISH
from tests.runtime.vectors import CASES, DOCUMENTS, NAMES


def with_tuple(options):
    if "ngram_range" in options:
        options = {**options, "ngram_range": tuple(options["ngram_range"])}
    return options


@pytest.mark.parametrize(("options", "terms"), CASES, ids=NAMES)
def test_terms_are_those_of_the_vectors(options, terms):
    words = lk.BagOfWords(**with_tuple(options))
    assert [words.tokens(text) for text in DOCUMENTS] == terms
    counts, names = words.fit_transform(DOCUMENTS).tolil(), words.get_feature_names_out()
    for row, expected in zip(range(len(DOCUMENTS)), terms, strict=True):
        found = zip(names[counts.rows[row]], counts.data[row], strict=True)
        assert dict(found) == Counter(expected)


@pytest.mark.parametrize(("options", "terms"), CASES, ids=NAMES)
def test_the_vectors_are_those_of_scikit_learn(options, terms):
    analyse = CountVectorizer(**with_tuple(options)).build_analyzer()
    assert [analyse(text) for text in DOCUMENTS] == terms


def test_english_stop_words_are_those_of_scikit_learn():
    assert ENGLISH == ENGLISH_STOP_WORDS
