"""Bags of words that were learned apart, merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely import BagOfWords
from likely.errors import InvalidInput

TEXTS = st.lists(st.text("ab c", max_size=12), max_size=8)


@given(TEXTS, TEXTS, st.sampled_from([{}, {"ngram_range": (1, 2)}, {"unknown": "count"}]))
def test_merged_bags_have_the_terms_and_documents_of_both(ours, theirs, options):
    options = {"token_pattern": r"(?u)\b\w+\b", **options}
    merged = BagOfWords(**options).partial_fit(ours)
    merged.merge(BagOfWords(**options).partial_fit(theirs))
    whole = BagOfWords(**options).partial_fit(ours).partial_fit(theirs)
    assert merged.n_documents_ == whole.n_documents_
    assert merged.vocabulary_.keys() == whole.vocabulary_.keys()
    ours_first = list(BagOfWords(**options).partial_fit(ours).vocabulary_)
    assert list(merged.vocabulary_)[: len(ours_first)] == ours_first
    terms = list(whole.vocabulary_)
    assert_array_equal(
        merged.document_frequency_[merged.columns_of(terms)],
        whole.document_frequency_[whole.columns_of(terms)],
    )
    again = merged.transform(ours + theirs)[:, merged.columns_of(terms)]
    assert_array_equal(again.toarray(), whole.transform(ours + theirs)[:, : len(terms)].toarray())


@pytest.mark.parametrize("options", [{}, {"n_features": 64}, {"vocabulary": ["cat", "dog", "ox"]}])
def test_merged_weights_are_those_of_all_documents(options):
    ours, theirs = ["the cat sat", "a dog"], ["the cat ran", "an ox", "the dog, the cat"]
    words = BagOfWords(use_idf=True, norm="l2", **options)
    merged = BagOfWords(**words.get_params()).fit(ours)
    merged.merge(BagOfWords(**words.get_params()).fit(theirs))
    whole = words.fit(ours + theirs)
    if options:
        assert_allclose(merged.idf_, whole.idf_)
        return
    order = merged.columns_of(list(whole.vocabulary_))
    assert_allclose(merged.transform(theirs)[:, order].toarray(), whole.transform(theirs).toarray())


def test_merging_leaves_the_other_as_it_is():
    other = BagOfWords().fit(["one two", "two"])
    BagOfWords().fit(["two three"]).merge(other)
    assert list(other.vocabulary_) == ["one", "two"]
    assert_array_equal(other.document_frequency_, [1, 2])


TERMS = [f"term{i}" for i in range(3000)]
OTHER = [*TERMS[:1500], "another", *TERMS[1501:]]


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("vocabulary", np.array(TERMS), np.array(OTHER)),  # NumPy prints both alike
        ("vocabulary", ["one", "two"], ["two", "one"]),
        ("vocabulary", {"one": 0, "two": 1}, {"one": 1, "two": 0}),
        ("ngram_range", (1, 2), (1, 1)),
        ("stop_words", {"one"}, {"two"}),
    ],
)
def test_options_with_other_values_are_refused(name, ours, theirs):
    words = BagOfWords(**{name: ours}).fit(["one two three"])
    with pytest.raises(InvalidInput, match=f"{name} is"):
        words.merge(BagOfWords(**{name: theirs}).fit(["one two three"]))


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("vocabulary", np.array(TERMS), tuple(TERMS)),
        ("vocabulary", {"one": 0, "two": 1}, {"two": 1, "one": 0}),
        ("ngram_range", (1, 2), [1, 2]),
        ("stop_words", ["one", "two"], ("one", "two")),
        ("stop_words", set(TERMS), frozenset(reversed(TERMS))),
        ("dtype", np.int64, np.dtype("int64")),
    ],
)
def test_options_with_equal_values_are_merged(name, ours, theirs):
    words = BagOfWords(**{name: ours}).fit(["one two three"])
    words.merge(BagOfWords(**{name: theirs}).fit(["one two three"]))
    assert words.n_documents_ == 2


def test_what_cannot_be_merged_is_refused():
    words = BagOfWords().fit(["one two"])
    with pytest.raises(InvalidInput, match="lowercase is True here and False in the other"):
        words.merge(BagOfWords(lowercase=False).fit(["one"]))
    with pytest.raises(InvalidInput, match="need all documents at once"):
        BagOfWords(min_df=2).fit(["one", "one"]).merge(words)
    with pytest.raises(InvalidInput, match="a fitted BagOfWords was expected"):
        words.merge(np.ones(3))
    assert words.n_documents_ == 1
