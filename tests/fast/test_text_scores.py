"""The compiled sums over terms equal products with a matrix of counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from likely.fast.text_scores import add_weights, add_weights_once, count_by_class

N_TERMS, N_CLASSES = 9, 3


@pytest.fixture
def documents():
    """Runs of terms, some of them left out (−1), some documents empty."""
    rng = np.random.default_rng(0)
    lengths = np.array([4, 0, 7, 1, 0, 12])
    stops = np.cumsum(lengths)
    ids = rng.integers(-1, N_TERMS - 1, stops[-1]).astype(np.int32)  # the last does not occur
    rows = np.repeat(np.arange(len(lengths)), lengths)
    known = ids >= 0
    ones = (np.ones(known.sum()), (rows[known], ids[known]))
    return ids, stops, csr_matrix(ones, shape=(len(lengths), N_TERMS)).toarray()


@pytest.mark.parametrize("once", [False, True])
def test_sums_of_classes_are_products_with_labels(documents, once):
    ids, stops, counts = documents
    x = np.minimum(counts, 1) if once else counts
    code, weight = np.array([0, 1, 2, -1, 1, 0]), np.array([1.0, 2.0, 0.5, 3.0, 1.0, 2.5])
    seen, sums = np.zeros((N_TERMS, 3), np.int64), np.zeros((N_TERMS, N_CLASSES))
    half = int(stops[2])
    count_by_class(ids[:half], stops[:3], 1, code[:3], weight[:3], once, seen, sums)
    count_by_class(ids[half:], stops[3:] - half, 4, code[3:], weight[3:], once, seen, sums)
    labels = np.eye(N_CLASSES + 1)[code][:, :N_CLASSES] * weight[:, None]
    assert_allclose(sums, x.T @ labels, rtol=1e-14)
    assert_array_equal(seen[:, 1], (counts > 0).sum(axis=0))
    assert_array_equal(seen[:, 2], x.sum(axis=0))


@pytest.mark.parametrize("once", [False, True])
def test_scores_are_products_with_weights(documents, once):
    ids, stops, counts = documents
    x = np.minimum(counts, 1) if once else counts
    weights = np.random.default_rng(1).normal(size=(N_TERMS, N_CLASSES))
    scores, lengths = np.zeros((len(stops), N_CLASSES)), np.zeros(len(stops))
    if once:
        add_weights_once(ids, stops, np.zeros(N_TERMS, np.int64), weights, scores, lengths)
    else:
        add_weights(ids, stops, weights, scores, lengths)
    assert_allclose(scores, x @ weights, rtol=1e-12, atol=1e-14)
    assert_array_equal(lengths, x.sum(axis=1))


def test_a_term_that_a_class_cannot_have_excludes_it():
    weights = np.array([[0.0, -np.inf], [-1.0, -2.0]])
    scores, lengths = np.zeros((2, 2)), np.zeros(2)
    ids, stops = np.array([1, 0, 0, 1], np.int32), np.array([3, 4])
    add_weights(ids, stops, weights, scores, lengths)
    assert_array_equal(scores, [[-1.0, -np.inf], [-1.0, -2.0]])
