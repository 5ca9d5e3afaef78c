"""Random starts depend on the rows, not on their order, repetition or unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely._typing import Columns
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Csr, Dense, Mixed
from likely.distributions import DiagonalFamily, FullFamily, Multinomial
from likely.distributions.product import Part, ProductFamily, Selection
from likely.errors import InvalidInput
from likely.generative import starts
from likely.generative.starts import draw_labels, draw_subset
from tests.event_models import PRODUCT, several

COUNTS = ProductFamily((Part(Multinomial, Selection(False, (0, 1, 2), (0, 1, 2), True)),))


def rng(seed=0):
    return np.random.default_rng(seed)


def labels(X, k=3, seed=0, weight=None):
    subset = draw_subset(ArrayBlocks(Dense(X), None, weight), FullFamily())
    return draw_labels(subset, k, rng(seed))


@pytest.mark.parametrize("seed", range(5))
def test_order_repetition_and_unit_do_not_matter(seed):
    X = rng(seed).normal(size=(40, 2))
    here = labels(X, seed=seed)
    order = rng(1).permutation(40)
    assert_array_equal(labels(X[order], seed=seed), here[order])
    weight = rng(2).integers(1, 4, 40)
    index = np.repeat(np.arange(40), weight)
    weighted = labels(X, seed=seed, weight=weight.astype(float))
    assert_array_equal(labels(X[index], seed=seed), weighted[index])
    assert_array_equal(labels(X * [1e-5, 1e5] + [7.0, 0.0], seed=seed), here)


def test_well_separated_clusters_are_found_at_once():
    y = np.arange(60) % 3
    X = rng().normal(size=(60, 2)) + 50.0 * np.eye(3)[y][:, :2] * [1, -1]
    found = labels(X)
    assert len({(a, b) for a, b in zip(found, y, strict=True)}) == 3


def test_every_component_has_rows_though_points_repeat():
    X = np.repeat([[0.0], [0.0], [1.0], [2.0]], 10, axis=0)
    for seed in range(20):
        assert set(labels(X, 3, seed)) == {0, 1, 2}


def test_more_components_than_distinct_rows_are_refused():
    with pytest.raises(InvalidInput, match=r"n_components=3 but there are only 2 distinct rows"):
        labels(np.repeat([[0.0], [1.0]], 5, axis=0))


def test_missing_cells_lie_at_the_mean():
    X = np.array([[0.0, np.nan], [2.0, 1.0], [4.0, 3.0]])
    subset = draw_subset(ArrayBlocks(Dense(X)), DiagonalFamily())
    row = subset.points[subset.place[0]]
    assert_allclose(row[1], 0.0)
    assert len(subset.points) == 3


def test_mixed_columns_become_comparable_points():
    X = several(rng(), 30)
    X.codes[0, 0] = -1
    subset = draw_subset(ArrayBlocks(Mixed(X.numeric, X.codes, (3, 2, 4))), PRODUCT)
    assert isinstance(subset.stored, Columns)
    assert subset.points.shape[1] == 3 + 3 + 2 + 4
    assert np.isfinite(subset.points).all()


def test_counts_are_compared_by_their_shares():
    X = sparse.csr_array(np.array([[1, 1, 0], [10, 10, 0], [0, 1, 1], [0, 0, 0]]))
    subset = draw_subset(ArrayBlocks(Csr(X)), COUNTS)
    points = subset.points[subset.place]
    assert_allclose(points[0], points[1])
    assert np.linalg.norm(points[0] - points[2]) > 0.5
    assert_allclose(points[3], 0.0)


def test_many_rows_are_drawn_by_hashed_index(monkeypatch):
    monkeypatch.setattr(starts, "SUBSET", 1000)
    X = rng().normal(size=(20_000, 1))
    one, two = (
        draw_subset(ArrayBlocks(Dense(X), rows_per_block=n), FullFamily()) for n in (100, 7000)
    )
    assert 800 < len(one.stored) < 1200
    assert_array_equal(one.stored, two.stored)
