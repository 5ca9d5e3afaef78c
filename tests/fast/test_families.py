"""Compiled counts of combinations of codes equal sums by index."""

import numpy as np
from numpy.testing import assert_allclose

from likely.fast.families import count_families, count_pairs, count_triples

SIZES = np.array([2, 3, 4])


def some_codes(gaps, n=200):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, SIZES, (n, 3)).astype(np.int32)
    codes[rng.random(codes.shape) < gaps] = -1
    return codes, rng.random(n)


def counted(codes, weight, columns):
    table = np.zeros(SIZES[list(columns)])
    known = (codes[:, columns] >= 0).all(axis=1)
    np.add.at(table, tuple(codes[known][:, columns].T), weight[known])
    return table


def integers(*values):
    return np.array(values, dtype=np.int64)


def test_families_are_counted_where_they_are_complete():
    codes, weight = some_codes(gaps=0.2)
    families = [(1,), (2, 0), (0, 1, 2)]
    out = np.zeros(3 + 8 + 24)
    first, columns = integers(0, 1, 3, 6), integers(1, 2, 0, 0, 1, 2)
    strides, starts = integers(1, 2, 1, 12, 4, 1), integers(0, 3, 11)
    count_families(codes, weight, first, columns, strides, starts, out)
    parts = np.split(out, [3, 11])
    for part, family in zip(parts, families, strict=True):
        assert_allclose(part, counted(codes, weight, family).ravel())


def test_pairs_are_counted_by_label():
    codes, weight = some_codes(gaps=0.2)
    labels = np.random.default_rng(1).integers(-1, 2, len(codes))
    starts = integers(0, 2, 5)
    out = np.zeros((2, 9, 9))
    count_pairs(codes, labels, weight, starts, out)
    for k in range(2):
        for a in range(3):
            for b in range(a + 1, 3):
                part = out[k, starts[a] : starts[a] + SIZES[a], starts[b] : starts[b] + SIZES[b]]
                assert_allclose(part, counted(codes[labels == k], weight[labels == k], (a, b)))
        alone = np.diag(out[k])[:2]
        assert_allclose(alone, counted(codes[labels == k], weight[labels == k], (0,)))


def test_triples_are_counted():
    codes, weight = some_codes(gaps=0.0)
    columns = np.ascontiguousarray(codes.T)
    out = np.zeros(24)
    count_triples(columns[0].astype(np.int64), columns[1], columns[2], weight, 3, 4, out)
    assert_allclose(out.reshape(SIZES), counted(codes, weight, (0, 1, 2)))
