"""Hashed columns: where the definition puts each term, without a vocabulary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import InvalidInput
from likely.text.bag_of_words import BagOfWords
from likely.text.term_counts import column_of, hash_of, hash_of_run
from tests.text.test_bag_of_words import TEXTS

FORMS = [
    {},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "stop_words": ["the"]},
    {"analyzer": "char", "ngram_range": (1, 12)},
    {"analyzer": "char_wb", "ngram_range": (3, 5)},
    {"token_pattern": r"[^\s]+", "ngram_range": (1, 2)},
    {"strip_accents": "unicode", "lowercase": False},
    {"binary": True},
]


def expected_row(words, text, n_features):
    """The counts by the definition in plain Python."""
    analysis, row = words._analysis(), np.zeros(n_features, int)
    low, high = words.ngram_range
    if words.analyzer != "word":
        hashes = [hash_of(token) for token in analysis.tokens(text)]
    else:
        found = analysis.words(text)
        hashes = [
            hash_of_run(found[i : i + n])
            for n in range(low, high + 1)
            for i in range(len(found) - n + 1)
        ]
    np.add.at(row, [column_of(h, n_features) for h in hashes], 1)
    return np.minimum(row, 1) if words.binary else row


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("n_features", [1, 37, 1024])
def test_terms_are_counted_where_the_definition_puts_them(options, n_features):
    words = BagOfWords(n_features=n_features, **options)
    counts = words.transform(TEXTS).toarray()  # no fit is needed
    expected = [expected_row(words, text, n_features) for text in TEXTS]
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(words.fit_transform(TEXTS).toarray(), expected)


HASHES = ["0x8719ca12e8970702", "0xc1218e9520906df", "0xdc03a2ab53b8d970"]


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_any_text_is_counted_where_the_definition_puts_it(texts):
    words = BagOfWords(n_features=64, ngram_range=(1, 2))
    expected = [expected_row(words, text, 64) for text in texts]
    np.testing.assert_array_equal(words.transform(texts).toarray(), expected)


def test_hashes_are_the_same_in_every_version():
    """Files keep weights by column: these numbers may not change."""
    assert [hex(hash_of(term)) for term in ("a", "straße", "internationalisation")] == HASHES
    assert column_of(hash_of("a"), 2**20) == int(HASHES[0], 16) >> 44


def test_columns_are_taken_evenly():
    """χ² of 40,000 words in 256 columns is near its mean, 255, with standard deviation 22.6."""
    for form in ("w{}", "{}", "prefix{}suffix", "{0}{0}"):
        terms = [form.format(i) for i in range(40_000)]
        taken = np.bincount([column_of(hash_of(term), 256) for term in terms], minlength=256)
        chi2 = ((taken - 40_000 / 256) ** 2 / (40_000 / 256)).sum()
        assert 150 < chi2 < 360


def test_words_and_their_columns_are_those_of_transform():
    words = BagOfWords(n_features=2**20, ngram_range=(1, 2)).fit(TEXTS)
    columns = words.columns_of(["cat", "the cat"])
    row = words.transform(["the cat"])
    assert set(columns) < set(row.indices)
    assert BagOfWords().fit(["cat dog"]).columns_of(["dog", "bird"]).tolist() == [1, -1]
    counting = BagOfWords(unknown="count").fit(["cat dog"])
    assert counting.columns_of(["dog", "bird"]).tolist() == [1, 2]


def test_weights_need_a_fit_and_add_over_parts():
    words = BagOfWords(n_features=512, use_idf=True, norm="l2")
    with pytest.raises(ValueError, match="not fitted"):
        words.transform(TEXTS)
    whole = words.fit_transform(TEXTS).toarray()
    parts = BagOfWords(n_features=512, use_idf=True, norm="l2")
    parts.partial_fit(TEXTS[:3]).partial_fit(TEXTS[3:])
    assert parts.n_documents_ == len(TEXTS)
    np.testing.assert_allclose(parts.transform(TEXTS).toarray(), whole, rtol=1e-14)


def test_hashed_columns_have_no_names_and_no_limits():
    words = BagOfWords(n_features=64).fit(TEXTS)
    with pytest.raises(InvalidInput, match="keeps no terms"):
        words.get_feature_names_out()
    with pytest.raises(InvalidInput, match="keeps no terms"):
        words.inverse_transform(words.transform(TEXTS))
    for options in ({"vocabulary": ["a"]}, {"min_df": 2}, {"unknown": "count"}):
        with pytest.raises(InvalidInput, match="keeps no vocabulary"):
            BagOfWords(n_features=64, **options).fit(TEXTS)
    for n_features in (0, -1, 2**22 + 1, 0.5, "many"):
        with pytest.raises(InvalidInput, match="number of columns"):
            BagOfWords(n_features=n_features).transform(TEXTS)


def test_hashed_counts_are_those_of_a_vocabulary_added_up():
    kept = BagOfWords(ngram_range=(1, 2)).fit(TEXTS)
    hashed = BagOfWords(ngram_range=(1, 2), n_features=16)
    columns = hashed.columns_of(kept.get_feature_names_out())
    added = np.zeros((len(TEXTS), 16), int)
    np.add.at(added.T, columns, kept.transform(TEXTS).toarray().T)
    np.testing.assert_array_equal(hashed.transform(TEXTS).toarray(), added)
