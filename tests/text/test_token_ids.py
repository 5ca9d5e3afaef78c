"""Documents as sequences of word ids: ids, counts and presence agree."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_matrix
from scipy.stats import multinomial
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from likely.data.sequences import Sequences, is_sequences
from likely.errors import InvalidInput
from likely.text.bag_of_words import BagOfWords
from likely.text.token_ids import TokenIds
from tests.text.test_bag_of_words import OPTIONS, TEXTS

LISTS = [[0, 2, 2, 1], [], [3], [1, 1, 1, 0, 3]]
SHARED = [each for each in OPTIONS if not {"binary", "dtype"} & set(each)]


@pytest.mark.parametrize("options", SHARED, ids=str)
def test_counts_are_the_histogram_of_ids_and_presence_is_counts_above_0(options):
    found = TokenIds(**options).fit(TEXTS).transform(TEXTS)
    counts = BagOfWords(**options).fit_transform(TEXTS).toarray()
    histograms = [np.bincount(ids, minlength=found.n_words) for ids in found]
    assert_array_equal(histograms, counts)
    assert_array_equal(found.to_counts().toarray(), counts)
    assert_array_equal(found.to_presence().toarray(), counts > 0)
    assert_array_equal(found.lengths, counts.sum(axis=1))


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char"}])
def test_ids_stand_in_the_order_of_the_words(options):
    tokens = TokenIds(**options).fit(TEXTS)
    words = tokens.inverse_transform(tokens.transform(TEXTS))
    expected = [BagOfWords(**options).tokens(text) for text in TEXTS]
    assert [each.tolist() for each in words] == expected


def test_unknown_words_are_left_out_or_have_an_id_of_their_own():
    texts, new = ["the cat", "the dog"], ["the bird and the cat"]
    assert TokenIds().fit(texts).transform(new)[0].tolist() == [2, 2, 0]
    kept = TokenIds(unknown="count").fit(texts)
    assert kept.transform(new)[0].tolist() == [2, 3, 3, 2, 0]
    assert kept.inverse_transform(kept.transform(new))[0][1] == "<unknown>"


@pytest.mark.parametrize("options", [{"vocabulary": ["cat", "the"]}, {"n_features": 64}])
def test_given_and_hashed_ids_need_no_fit(options):
    tokens = TokenIds(**options)
    assert not get_tags(tokens).requires_fit
    found = tokens.transform(["the cat and the mouse"])
    fitted = TokenIds(**options).fit(["a bird"])
    assert found.n_words == fitted.n_words_ == tokens.n_words_
    assert found[0].tolist() == fitted.transform(["the cat and the mouse"])[0].tolist()
    with pytest.raises(NotFittedError):
        TokenIds().transform(["the cat"])


def test_the_vocabulary_grows_and_ids_stay():
    tokens = TokenIds().partial_fit(["the cat"])
    before = tokens.transform(["the cat"])[0].tolist()
    tokens.partial_fit(["a bird, the cat"])
    assert tokens.transform(["the cat bird"])[0].tolist() == [*before, 2]


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=6), st.data())
def test_rows_are_chosen_as_of_a_list(lists, data):
    found = Sequences.of(lists, 6)
    assert [ids.tolist() for ids in found] == lists
    assert len(found) == len(lists)
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=5))
    chosen = found[np.array(rows, int)]
    assert [ids.tolist() for ids in chosen] == [lists[i] for i in rows]
    assert [ids.tolist() for ids in found[1:]] == lists[1:]
    assert found[-1].tolist() == lists[-1]
    assert_array_equal(chosen.to_counts().toarray(), found.to_counts()[rows].toarray())


@pytest.mark.parametrize(
    "form",
    [
        list,
        lambda lists: [np.array(row, np.uint8) for row in lists],
        pa.array,
        lambda lists: pa.chunked_array([lists[:1], lists[1:]]),
        lambda lists: pa.array([[9], *lists], pa.list_(pa.int16()))[1:],
        lambda lists: Sequences.of(lists).to_arrow(),
        Sequences.of,
    ],
)
def test_sequences_come_in_any_form(form):
    assert is_sequences(form(LISTS))
    assert Sequences.of(form(LISTS)) == Sequences.of(LISTS, 4)


def test_tables_and_texts_are_no_sequences():
    for given_ in (np.ones((2, 2)), [[1, 2], [3, 4]], ["a text"], [], pa.array(["a"]), None):
        assert not is_sequences(given_)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ([[0, -1]], "from 0 up"),
        ([[0, 4]], "has 4 words"),
        ([[0.5]], "sequence 0 is"),
        ([[0], ["a"]], "sequence 1 is"),
        ([[[0]]], "sequence 0 is"),
        (pa.array([[0], None]), "missing"),
        (pa.array([[0, None]]), "missing"),
    ],
)
def test_what_is_no_id_is_refused(given_, said):
    with pytest.raises(InvalidInput, match=said):
        Sequences.of(given_, 4)


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1)
    ),
    st.sampled_from([np.array, csr_matrix, csc_array, np.asfortranarray]),
    st.sampled_from([np.int64, np.uint8, np.float64]),
)
def test_counts_come_back_from_their_sequences(rows, form, dtype):
    """The round trip: of_counts(x).to_counts() is x, and its presence is x > 0."""
    counts = np.array(rows, dtype).reshape(len(rows), -1)
    found = Sequences.of_counts(form(counts))
    assert found.shape == counts.shape
    assert_array_equal(found.to_counts().toarray(), counts)
    assert_array_equal(found.to_presence().toarray(), counts > 0)
    assert Sequences.of_counts(found.to_counts()) == found
    assert Sequences.of_counts(counts > 0) == Sequences.of_counts(found.to_presence())
    assert all((np.diff(ids) >= 0).all() for ids in found)


def test_repeated_cells_of_a_sparse_table_are_added_and_it_stays_as_it_is():
    counts = csr_matrix((np.array([1, 2, 1]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert Sequences.of_counts(counts)[0].tolist() == [0, 0, 2, 2]
    assert counts.data.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[1, -1]], "a count is -1; whole numbers from 0 up"),
        (csr_matrix([[0.0, 0.5]]), "a count is 0.5"),
        ([[np.nan, 1.0]], "a count is nan"),
        ([1, 2], r"shape \(2,\)"),
        ([["cat"]], "a table of whole numbers was expected"),
    ],
)
def test_what_is_no_count_is_refused(counts, said):
    with pytest.raises(InvalidInput, match=said):
        Sequences.of_counts(counts)


def test_the_number_of_orders_is_the_multinomial_coefficient():
    """log p(counts) − log p(sequence) = ln B."""
    p = np.array([0.1, 0.2, 0.3, 0.4])
    found = Sequences.of(LISTS, 4)
    counts = found.to_counts().toarray()
    of_counts = multinomial.logpmf(counts, counts.sum(axis=1), p)
    of_sequences = [np.log(p[ids]).sum() for ids in found]
    assert_allclose(of_counts - of_sequences, found.log_orders(), rtol=1e-12, atol=1e-12)


def test_frames_are_refused_as_output_in_words():
    with pytest.raises(InvalidInput, match="different lengths"):
        TokenIds().set_output(transform="pandas")
