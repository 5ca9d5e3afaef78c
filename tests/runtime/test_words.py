"""Words of saved models in the runtime: the terms, counts and weights of the library."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import likely as lk
import likely.runtime
from likely.errors import InvalidInput
from likely.runtime.count_rows import CountRows, NumbersAndWords
from tests.runtime.vectors import CASES, DOCUMENTS, NAMES
from tests.text.test_vectors import with_tuple

WEIGHTS = [
    {"binary": True},
    {"unknown": "count", "max_features": 9},
    {"use_idf": True},
    {"use_idf": True, "smooth_idf": False, "norm": "l2"},
    {"sublinear_tf": True, "norm": "l1"},
    {"use_idf": True, "norm": "l2", "ngram_range": (1, 2), "min_df": 2},
    {"vocabulary": ["the cat", "cat", "the"], "ngram_range": (1, 2)},
    {"dtype": np.float32},
    {"n_features": 64, "ngram_range": (1, 3)},
    {"n_features": 2**20},
    {"n_features": 1000, "analyzer": "char_wb", "ngram_range": (2, 3), "use_idf": True},
    {"use_idf": True, "norm": "l2", "unknown": "count", "min_df": 2},
]


def saved(words, folder):
    lk.save(words, folder / "words.likely")
    return likely.runtime.load(folder / "words.likely")


@pytest.mark.parametrize(("options", "terms"), CASES, ids=NAMES)
def test_terms_are_those_of_the_vectors(options, terms, tmp_path):
    words = saved(lk.BagOfWords(**with_tuple(options)).fit(DOCUMENTS), tmp_path)
    assert [words.tokens(text) for text in DOCUMENTS] == terms


@pytest.mark.parametrize("options", WEIGHTS, ids=str)
def test_counts_and_weights_are_those_of_the_library(options, tmp_path):
    words = lk.BagOfWords(**options).fit(DOCUMENTS)
    found = saved(words, tmp_path).rows(["the cat saw the zebra", *DOCUMENTS])
    expected = words.transform(["the cat saw the zebra", *DOCUMENTS]).tocsr()
    assert found.shape == expected.shape
    assert found.columns.tolist() == expected.indices.tolist()
    assert found.starts.tolist() == expected.indptr.tolist()
    assert_allclose(found.data, expected.data, rtol=1e-14)


def test_counts_have_the_names_of_the_terms(tmp_path):
    words = saved(lk.BagOfWords(unknown="count").fit(["the cat"]), tmp_path)
    expected = {"the": 2.0, "cat": 1.0, "<unknown>": 1.0}
    assert words.counts(["the cat, the dog", ""]) == [expected, {}]


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text(), min_size=1, max_size=4))
def test_terms_of_any_unicode_are_those_of_the_library(texts, folder_of_words):
    words, alone = folder_of_words
    rows = words.transform(texts)
    assert_allclose(alone.rows(texts).toarray(), rows.toarray())


@pytest.fixture(scope="module")
def folder_of_words(tmp_path_factory):
    words = lk.BagOfWords(ngram_range=(1, 2), unknown="count", token_pattern=r"(?u)\b\w+\b")
    words.fit([*DOCUMENTS, "0 1 2 ² ª 0 1"])
    return words, saved(words, tmp_path_factory.mktemp("words"))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "are one text; a list of texts"),
        (["a", None], "Document 1 is a NoneType"),
        (["a", b"b"], "Document 1 is a bytes"),
        (["fine", "bad \ud800"], "Document 1 has a lone surrogate"),
        (7, "are a int"),
    ],
)
def test_what_is_no_document_is_refused(documents, message, folder_of_words):
    with pytest.raises(InvalidInput, match=message):
        folder_of_words[1].rows(documents)


def test_products_of_count_rows_are_those_of_arrays():
    rows = CountRows(
        np.array([2.0, 1.0, 3.0]), np.array([0, 2, 1]), np.array([0, 0, 2, 2, 3, 3]), 3
    )
    M = np.arange(6.0).reshape(3, 2)
    dense = rows.toarray()
    assert_allclose(rows @ M, dense @ M)
    assert_allclose(rows.sum(axis=1), dense.sum(axis=1))
    assert_allclose((rows != 0).toarray(), dense != 0)
    assert_allclose(rows.rows(1, 4).toarray(), dense[1:4])
    assert_allclose(rows.beside(rows).toarray(), np.hstack([dense, dense]))
    numbers = np.arange(10.0).reshape(5, 2)
    both = NumbersAndWords(numbers, rows)
    assert_allclose(both[:, [1, 0]], numbers[:, ::-1])
    assert both[:, [2, 3, 4]] is rows
    assert_allclose(both[:, [0, 4]], both.toarray()[:, [0, 4]])
