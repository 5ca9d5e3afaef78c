"""The terms of a document with their places are the terms that are counted."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.text.text_explanation import term_places
from likely.text.tokens import Analysis

ANALYSES = [
    Analysis(),
    Analysis(ngram_range=(1, 3), stop_words=frozenset({"the", "a"})),
    Analysis(lowercase=False, token_pattern=r"(?u)\b\w+\b"),
    Analysis(token_pattern=r"#(\w+)"),
    Analysis(strip_accents="unicode"),
    Analysis("char", ngram_range=(1, 3)),
    Analysis("char_wb", ngram_range=(2, 4)),
]


@pytest.mark.parametrize("analysis", ANALYSES, ids=range(len(ANALYSES)))
@given(st.text(st.sampled_from("aB cé \n\tİΣß#_9🙂́"), max_size=30))
@example("")
@example("the İstanbul the ΣΑΣ")
@settings(max_examples=40, deadline=None)
def test_terms_are_those_that_are_counted(analysis, document):
    places = term_places(analysis, document)
    assert [term.name for term in places.terms] == list(analysis.tokens(document))
    for term in places.terms:
        assert_allclose(sum(term.shares), 1.0)
        assert all(0 <= word < len(places.starts) for word in term.words)
    values = np.arange(1.0, len(places.terms) + 1)
    assert_allclose(places.by_word(values).sum(), values.sum() if len(values) else 0.0)
    for start, end in zip(places.starts, places.ends, strict=True):
        assert 0 <= start <= end <= len(places.shown)


def test_the_document_is_shown_as_it_is_written():
    places = term_places(Analysis(), "The CAT, the Cat.")
    assert places.shown == "The CAT, the Cat."
    assert [places.word(i) for i in range(4)] == ["The", "CAT", "the", "Cat"]
    assert [term.name for term in places.terms] == ["the", "cat", "the", "cat"]


def test_where_lower_case_is_longer_it_is_shown():
    places = term_places(Analysis(), "İİ ok")
    assert places.shown == "İİ ok".lower()
    assert places.word(0) == "ok"
