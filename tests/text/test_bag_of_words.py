"""``BagOfWords``: tokens, vocabulary and counts are those of scikit-learn, whatever the text."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.utils import get_tags

from likely.errors import InvalidInput, UnknownName
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import bytes_of, documents, parts
from likely.text.text_classifier import TextClassifier
from likely.text.token_ids import TokenIds
from likely.text.tokens import Analysis, check_counts

TEXTS = [
    "The cat sat on the mat.",
    "Ünïcode straße A b c 日本語 テスト _x 12",
    "",
    "the the cat\x00dog ÀB",
    "ΣΑΣ σας İstanbul ISPARTA Kelvin \u212a",  # lower case that depends on its place
    "one  two\tthree\n\nthe cat sat",
    "e\u0301te\u0301 👩‍👩‍👧 emoji 🎉party مرحبا بالعالم שלום",
    "x" * 300 + " y",
]
OPTIONS = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"ngram_range": (3, 3)},
    {"stop_words": "english", "ngram_range": (1, 2)},
    {"stop_words": ["cat", "the"]},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (2, 2), "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (6, 8)},
    {"min_df": 2},
    {"max_df": 0.2},
    {"max_df": 3, "min_df": 2},
    {"max_features": 5},
    {"max_features": 5, "binary": True},
    {"binary": True},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"(?u)\b\w\w\w+\b"},
    {"token_pattern": r"[a-z]+", "stop_words": ["cat"]},
    {"dtype": np.float32},
]
NAMES = [", ".join(f"{k}={v}" for k, v in options.items()) or "default" for options in OPTIONS]


def assert_same(texts, options):
    theirs = CountVectorizer(**options)
    expected = theirs.fit_transform(texts)
    ours = BagOfWords(**options)
    found = ours.fit_transform(texts)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert found.dtype == expected.dtype
    assert (found != expected).nnz == 0
    assert found.has_sorted_indices
    again = [*texts[::-1], "unknown words, the cat"]
    assert (ours.transform(again) != theirs.transform(again)).nnz == 0


@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_counts_are_those_of_scikit_learn(options):
    assert_same(TEXTS * 2, options)


@pytest.mark.parametrize("options", [OPTIONS[i] for i in (0, 2, 5, 7, 9, 17)])
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_counts_of_any_text_are_those_of_scikit_learn(texts, options):
    assert_same([*texts, "some words"], options)


@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_the_definition_in_plain_python_gives_the_same_terms(options):
    if {"min_df", "max_df", "max_features"} & set(options):
        pytest.skip("terms are left out")
    words = BagOfWords(**options).fit(TEXTS)
    counts = words.transform(TEXTS).toarray()
    for text, row in zip(TEXTS, counts, strict=True):
        tokens = words.tokens(text)
        expected = np.zeros(row.size)
        np.add.at(expected, [words.vocabulary_[token] for token in tokens], 1)
        if options.get("binary"):
            expected = np.minimum(expected, 1)
        np.testing.assert_array_equal(row, expected)


def test_many_words_make_the_table_grow():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 40_000, 500)) for _ in range(120)]
    assert_same(texts, {})
    assert_same(texts[:40], {"ngram_range": (1, 2)})


def test_one_long_document_and_one_long_word_are_read():
    assert_same(["long " * 200_000 + "x" * 3_000_000], {})


def test_documents_are_read_in_parts(monkeypatch):
    monkeypatch.setattr("likely.text.documents.MOST_BYTES", 40)
    array = documents(TEXTS)
    assert sum(len(part) for part in parts(array, 40)) == len(TEXTS)
    assert [text for part in parts(array, 40) for text in part.to_pylist()] == TEXTS
    assert len(list(parts(array, 40))) > 3


def test_weights_are_those_of_scikit_learn():
    for options in ({}, {"sublinear_tf": True}, {"norm": "l1"}, {"smooth_idf": False}):
        expected = TfidfVectorizer(**options).fit_transform(TEXTS)
        ours = BagOfWords(use_idf=True, **{"norm": "l2", **options})
        np.testing.assert_allclose(
            ours.fit_transform(TEXTS).toarray(), expected.toarray(), rtol=1e-14
        )


FORMS = {
    "tuple": tuple,
    "generator": iter,
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "array of text": np.array,
    "pandas": pd.Series,
    "categories": lambda texts: pd.Series(texts, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
    "view": lambda texts: pa.array(texts, pa.string_view()),
    "slice": lambda texts: pa.array(["first", *texts, "last"])[1:-1],
    "frame of one column": lambda texts: pd.DataFrame({"text": texts}),
}


@pytest.mark.parametrize("form", FORMS)
def test_documents_come_in_any_form(form):
    texts = [text.replace("\x00", " ") for text in TEXTS]  # arrays of text drop a NUL at the end
    expected = BagOfWords().fit_transform(texts)
    assert (BagOfWords().fit_transform(FORMS[form](texts)) != expected).nnz == 0


REFUSED = {
    "one text": ("a text", "Pass a list"),
    "bytes": ([b"bytes"], "document 0 is b'bytes'"),
    "a number": (["a text", 3], "document 1 is 3, of type int"),
    "missing": (["a text", None], r"document 1 is missing"),
    "nan": (["a text", float("nan")], r"document 1 is missing \(NaN\)"),
    "a surrogate": (["fine", "half \ud800 pair"], "document 1 has half of a surrogate pair"),
    "two columns": (pd.DataFrame({"a": ["x"], "b": ["y"]}), "a frame of 2 columns"),
    "a matrix": (np.array([["x", "y"]]), r"the shape \(1, 2\)"),
    "numbers of Arrow": (pa.array([1, 2]), "type int64"),
    "no UTF-8": (
        pa.StringArray.from_buffers(
            1, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")
        ),
        "no valid UTF-8",
    ),
    "no words": (["", "a b"], "no term is left"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_document_is_refused_in_words(name):
    given_, said = REFUSED[name]
    with pytest.raises(InvalidInput, match=said):
        BagOfWords().fit(given_)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"analyzer": "sentence"}, UnknownName),
        ({"strip_accents": "all"}, UnknownName),
        ({"norm": "max"}, UnknownName),
        ({"stop_words": "german"}, UnknownName),
        ({"unknown": "raise"}, UnknownName),
        ({"ngram_range": (2, 1)}, InvalidInput),
        ({"token_pattern": None}, InvalidInput),
        ({"token_pattern": "(a)(b)"}, InvalidInput),
        ({"token_pattern": "("}, InvalidInput),
        ({"ngram_range": (0, 1)}, InvalidInput),
        ({"vocabulary": []}, InvalidInput),
        ({"vocabulary": ["a", "a"]}, InvalidInput),
        ({"vocabulary": {"a": 1}}, InvalidInput),
        ({"min_df": 99}, InvalidInput),
    ],
)
def test_arguments_that_make_no_sense_are_refused(options, error):
    with pytest.raises(error):
        BagOfWords(**options).fit(TEXTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_features": -1}, "max_features must be a whole number, at least 1; found -1. Give"),
        ({"max_features": 2.5}, "max_features must be a whole number, at least 1; found 2.5. Give"),
        ({"max_features": True}, "max_features must be a whole number"),
        ({"min_df": -1}, "min_df=-1 was given; a whole number of documents from 1 up was .* Use"),
        ({"min_df": "2"}, "min_df='2' was given; a whole number of documents"),
        ({"min_df": True}, "min_df=True was given"),
        ({"max_df": 2.0}, r"max_df=2.0 was given; .* a share of them as a float from 0.0 to 1.0"),
        ({"max_df": float("nan")}, "max_df=nan was given"),
        ({"lowercase": "no"}, "lowercase='no' was given; True or False was expected. Use"),
        ({"ngram_range": 2}, "ngram_range=2 was given; two whole numbers from 1 up .* Use"),
        ({"ngram_range": ("1", "2")}, r"ngram_range=\('1', '2'\) was given"),
        ({"ngram_range": (1, 2, 3)}, r"ngram_range=\(1, 2, 3\) was given"),
        ({"ngram_range": (1, 1.5)}, r"ngram_range=\(1, 1.5\) was given"),
        ({"token_pattern": b"a"}, "it is of type bytes, not str"),
        ({"stop_words": 3}, "stop_words has 3, of type int; words were expected. Give"),
        ({"stop_words": ["the", None]}, "stop_words has None"),
        ({"vocabulary": "cat"}, "vocabulary='cat' was given; a list of terms was expected"),
        ({"vocabulary": 3}, "vocabulary=3 was given"),
        ({"vocabulary": ["cat", 3]}, "the vocabulary has 3, of type int; terms must be text"),
        ({"vocabulary": {"cat": "first"}}, "must be 0, 1, 2, …, each once"),
        ({"n_features": True}, "n_features=True"),
    ],
)
def test_values_without_a_meaning_are_refused_in_words(options, message):
    texts = ["the cat", "the dog and the cat"]
    for words in (BagOfWords(**options), TokenIds(**options)):
        with pytest.raises(InvalidInput, match=message):
            words.fit(texts)
    with pytest.raises(InvalidInput, match=message):
        TextClassifier(words=BagOfWords(**options)).fit(texts, [0, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, complex, object, "counts", str])
def test_types_that_do_not_hold_counts_are_refused(dtype):
    with pytest.raises(InvalidInput, match=r"holds large counts was expected.* Use np.int64"):
        BagOfWords(dtype=dtype).fit(["cat " * 300])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, "int64", np.float32, float])
def test_types_that_hold_counts_give_them(dtype):
    counts = BagOfWords(dtype=dtype).fit_transform(["cat " * 300])
    assert counts.dtype == np.dtype(dtype)
    assert counts.toarray().tolist() == [[300]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
def test_presence_fits_into_any_integer(dtype):
    found = BagOfWords(dtype=dtype, binary=True).fit_transform(["cat " * 300])
    assert found.dtype == dtype
    assert found.toarray().tolist() == [[1]]


@pytest.mark.parametrize(("dtype", "most"), [(np.int32, 2**31 - 1), (np.float32, 2**24)])
def test_a_count_that_its_type_does_not_hold_is_refused(dtype, most):
    check_counts(np.array([1, most]), dtype)
    with pytest.raises(InvalidInput, match=f"holds counts up to {most:,}. Use dtype=np.int64"):
        check_counts(np.array([1, most + 1]), dtype)


def test_a_given_vocabulary_needs_no_fit():
    new = ["the cat and a cat", "a dog"]
    for options in ({}, {"unknown": "count"}, {"norm": "l2"}, {"binary": True}):
        words = BagOfWords(vocabulary=["cat", "the"], **options)
        expected = clone(words).fit(["a bird"]).transform(new).toarray()
        np.testing.assert_array_equal(words.transform(new).toarray(), expected)
        assert words.columns_of(["the", "cat"]).tolist() == [1, 0]
        assert words.get_feature_names_out().tolist()[:2] == ["cat", "the"]
        assert words.inverse_transform(words.transform(["cat"]))[0].tolist() == ["cat"]
        assert words.partial_fit(["a cat"]).n_documents_ == 1
    assert not get_tags(words).requires_fit
    assert get_tags(BagOfWords()).requires_fit
    for options in ({"use_idf": True, "vocabulary": ["cat"]}, {}):
        with pytest.raises(NotFittedError):
            BagOfWords(**options).transform(new)
    with pytest.raises(InvalidInput, match="the vocabulary repeats"):
        BagOfWords(vocabulary=["cat", "cat"]).transform(new)
    with pytest.raises(InvalidInput, match="max_features must be a whole number"):
        BagOfWords(vocabulary=["cat"], max_features=-1).transform(new)


def test_a_given_vocabulary_is_kept_in_its_order():
    for vocabulary in (["the", "cat", "sat on"], {"the": 0, "sat on": 2, "cat": 1}):
        words = BagOfWords(vocabulary=vocabulary, ngram_range=(1, 2)).fit(TEXTS)
        assert words.get_feature_names_out().tolist() == ["the", "cat", "sat on"]
        assert words.transform(TEXTS).toarray()[0].tolist() == [2, 1, 1]


def test_unknown_words_are_counted_on_request():
    words = BagOfWords(unknown="count").fit(["the cat", "the dog"])
    assert words.get_feature_names_out().tolist() == ["cat", "dog", "the", "<unknown>"]
    assert words.transform(["the bird and the cat"]).toarray().tolist() == [[1, 0, 2, 2]]


def test_partial_fit_adds_words_at_the_end_and_documents_to_the_counts():
    words = BagOfWords(use_idf=True)
    words.partial_fit(TEXTS[:3]).partial_fit(TEXTS[3:])
    whole = BagOfWords(use_idf=True).fit(TEXTS)
    assert sorted(words.vocabulary_) == sorted(whole.vocabulary_)
    first = BagOfWords().partial_fit(TEXTS[:3]).get_feature_names_out()
    assert words.get_feature_names_out()[: first.size].tolist() == first.tolist()
    order = [words.vocabulary_[name] for name in whole.get_feature_names_out()]
    np.testing.assert_array_equal(words.document_frequency_[order], whole.document_frequency_)
    np.testing.assert_allclose(words.idf_[order], whole.idf_, rtol=1e-15)
    expected = whole.transform(TEXTS).toarray()
    np.testing.assert_allclose(words.transform(TEXTS).toarray()[:, order], expected, rtol=1e-14)
    with pytest.raises(InvalidInput, match="all documents at once"):
        BagOfWords(min_df=2).partial_fit(TEXTS)


def test_documents_with_unknown_terms_are_counted_by_partial_fit():
    words = BagOfWords(vocabulary=["cat"], unknown="count")
    words.partial_fit(["a cat", "the dog"]).partial_fit(["the bird", "cat"])
    assert words.document_frequency_.tolist() == [2, 2]
    assert words.n_documents_ == 4


def test_frames_are_refused_as_output_in_words():
    assert BagOfWords().set_output(transform="default").fit(TEXTS)
    with pytest.raises(InvalidInput, match="a cell for every 0"):
        BagOfWords().set_output(transform="pandas")


def test_a_weight_of_documents_needs_use_idf():
    assert not hasattr(BagOfWords().fit(TEXTS), "idf_")
    assert not hasattr(BagOfWords(use_idf=True), "vocabulary_")


def test_rows_give_back_their_terms():
    words = BagOfWords().fit(["b a a1", "a1 c1 b1"])
    rows = words.inverse_transform(words.transform(["c1 a1 a1"]))
    assert [row.tolist() for row in rows] == [["a1", "c1"]]
    with pytest.raises(InvalidInput, match="3 terms"):
        words.inverse_transform(np.ones((1, 2)))


def test_no_documents_have_no_rows():
    words = BagOfWords().fit(TEXTS)
    assert words.transform([]).shape == (0, len(words.vocabulary_))


def test_bytes_of_a_slice_are_those_of_the_slice():
    given_ = bytes_of(documents(["ab", "cd", "ef"])[1:])
    assert bytes(given_.text[given_.starts[0] : given_.starts[-1]]) == b"cdef"


@pytest.mark.parametrize("pattern", [r"(?u)\b\w+\b", r"(?u)\b\w\w+\b", r"(?u)\b\w\w\w+\b"])
def test_a_pattern_of_whole_words_is_compiled(pattern):
    assert Analysis(token_pattern=pattern).shortest == pattern.count(r"\w")
    assert Analysis(token_pattern=pattern[4:]).shortest is None


WARNED = [
    ({"vocabulary": ["cat", "Dog"]}, r"upper case \('?Dog'?\).*lowercase=False"),
    ({"vocabulary": {"Cat": 0, "dog": 1}}, r"upper case \('?Cat'?\)"),
    ({"stop_words": ["don't", "the"]}, r"they contain '?don'?, which are not among them"),
    ({"stop_words": ["The"]}, r"they contain '?the'?,"),
    ({"stop_words": ["the"], "analyzer": "char"}, r"stop_words was given with analyzer='char'"),
    ({"stop_words": "english", "analyzer": "char_wb"}, r"stop_words was given"),
    ({"token_pattern": r"\w", "analyzer": "char"}, r"token_pattern was given"),
]


@pytest.mark.parametrize(("options", "message"), WARNED)
def test_options_without_the_effect_that_was_meant_are_warned_about_as_by_scikit_learn(
    options, message
):
    texts = ["the cat and the dog", "a cat, don't"]
    with pytest.warns(UserWarning):
        CountVectorizer(**options).fit_transform(texts)
    for method in ("fit", "fit_transform", "partial_fit"):
        with pytest.warns(UserWarning, match=message) as warned:
            getattr(BagOfWords(**options), method)(texts)
        assert len(warned) == 1


def test_options_that_fit_together_are_not_warned_about():
    texts = ["the cat and the dog", "a cat, don't"]
    for options in (
        {"vocabulary": ["cat", "Dog"], "lowercase": False},
        {"stop_words": "english"},
        {"stop_words": ["the", "and"]},
        {"stop_words": ["The"], "lowercase": False},
        {"analyzer": "char"},
    ):
        BagOfWords(**options).fit(texts)  # warnings are errors


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_runs_of_characters_need_no_token_pattern(analyzer):
    ours = BagOfWords(analyzer=analyzer, token_pattern=None, ngram_range=(1, 2))
    theirs = CountVectorizer(analyzer=analyzer, token_pattern=None, ngram_range=(1, 2))
    assert (ours.fit_transform(TEXTS) != theirs.fit_transform(TEXTS)).nnz == 0
    with pytest.raises(InvalidInput, match="token_pattern=None is no regular expression"):
        BagOfWords(token_pattern=None).fit(TEXTS)


@pytest.mark.parametrize("n_features", [None, 2**10])
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_runs_longer_than_every_document_cost_nothing(analyzer, n_features):
    texts = ["a few words are here", "", "more words here"]
    given = {"analyzer": analyzer, "n_features": n_features}
    found, usual = (
        BagOfWords(ngram_range=(1, high), **given).fit_transform(texts) for high in (10**9, 40)
    )
    assert found.sum() == usual.sum() > 15
    assert (found != usual).nnz == 0
    longer = BagOfWords(ngram_range=(2, 10**9)).fit(texts).get_feature_names_out()
    assert longer.size == 6 + 3  # of four words and of three


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 50)},
        {"ngram_range": (1, 500), "n_features": 2**10},
        {"analyzer": "char", "ngram_range": (1, 60)},
        {"analyzer": "char_wb", "ngram_range": (1, 2000)},
    ],
    ids=str,
)
def test_long_runs_of_a_large_document_are_refused_before_they_fill_the_memory(options):
    texts = ["abc def " * 50_000 + "x" * 20_000]
    with pytest.raises(InvalidInput, match=r"runs of 1 to .* fill the memory"):
        BagOfWords(**options).fit_transform(texts)
