"""Starts of a mixture: drawn at random, or given by the user; refused in words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely import DiscriminantAnalysis, GaussianMixture, MixtureModel
from likely._typing import NumbersAndCodes
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.distributions import DiagonalFamily, FullFamily, Multinomial
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.errors import InvalidInput
from likely.generative import starts
from likely.generative.starts import draw_labels, draw_subset
from tests.event_models import PRODUCT, several
from tests.generative.test_gaussian_mixture import blobs

X, Y = blobs(60)
SOFT = np.eye(3)[Y]
COUNTS = ProductFamily((ProductPart(Multinomial, Selection(False, (0, 1, 2), (0, 1, 2), True)),))


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
    assert isinstance(subset.stored, NumbersAndCodes)
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


def gaps(rows, value):
    rows = rows.astype(float)
    rows[3] = value
    return rows


@pytest.mark.parametrize(
    "start",
    [Y.astype(float), Y.tolist(), Y.astype(np.uint8), SOFT.astype(bool), 2.0 * SOFT],
    ids=["float", "list", "uint8", "bool", "any-scale"],
)
def test_labels_of_any_whole_type_are_the_same_start(start):
    plain = GaussianMixture(3, start=Y).fit(X)
    assert_allclose(GaussianMixture(3, start=start).fit(X).means_, plain.means_, rtol=1e-9)


def test_booleans_are_labels_of_two_components():
    two = GaussianMixture(2, start=Y > 0).fit(X)
    assert_allclose(two.means_, GaussianMixture(2, start=(Y > 0).astype(int)).fit(X).means_)


@pytest.mark.parametrize("start", [Y, SOFT], ids=["labels", "soft"])
def test_rows_of_no_weight_are_absent_from_the_start_too(start):
    weight = np.ones(60)
    weight[[5, 7]] = 0.0
    kept = weight > 0
    there = GaussianMixture(3, start=start).fit(X, sample_weight=weight)
    alone = GaussianMixture(3, start=start[kept]).fit(X[kept])
    assert_allclose(there.means_, alone.means_, rtol=1e-9)
    assert_allclose(
        GaussianMixture(3, start=start[kept]).fit(X, sample_weight=weight).means_, there.means_
    )


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (Y + 0.5, r"start holds \S+ at row 0; labels are whole numbers from 0 to 2.*np\.unique"),
        (Y.astype(str), r"start holds '\d'; labels are whole numbers.*np\.unique"),
        (gaps(Y, np.nan), r"start holds nan at row 3; labels are whole numbers"),
        (gaps(Y, 3), r"start holds 3 at row 3; labels are whole numbers from 0 to 2"),
        (gaps(Y, -1), r"start holds -1 at row 3"),
        (gaps(SOFT, np.nan), r"start holds \[nan, nan, nan\] at row 3; soft labels are finite"),
        (gaps(SOFT, -1.0), r"at row 3; soft labels are finite and 0 or more\. Fix"),
        (SOFT.astype(str), r"start holds '1.0'|start holds '0.0'"),
        (np.minimum(Y, 1), r"start gives component 2 no row; every one of the 3.*fewer"),
        (Y[:-1], r"start has 59 rows and X has 60; labels and soft labels are one per row"),
        ([[1.0], [1.0, 2.0]], r"start is a list with rows of different lengths.*Give one of"),
        (5, r"start is a int with 0 dimensions; labels \(n,\)"),
        (GaussianMixture(3), r"start is a GaussianMixture that is not fitted.*Fit it first"),
        (GaussianMixture(3, start=Y).fit(X[:, :1]), r"of 1 columns and X has 2.*same columns"),
        (GaussianMixture(2, start=Y > 0).fit(X), r"start has 2 components; n_components is 3"),
        (DiscriminantAnalysis().fit(X, Y), r"start is a DiscriminantAnalysis; labels, soft labels"),
        (MixtureModel(3, start=Y).fit(X), r"start is a MixtureModel; .* a fitted GaussianMixture"),
    ],
)
def test_what_is_no_start_is_refused(start, message):
    with pytest.raises(InvalidInput, match=message):
        GaussianMixture(3, start=start).fit(X)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mixing": [0.5, 0.5]}, r"start\['mixing'\] has shape \(2,\); \(3,\) was expected"),
        ({"mixing": [0.5, 0.5, 0.0]}, r"start\['mixing'\] holds 0; positive numbers"),
        ({"mean": np.zeros((3, 4))}, r"start\['mean'\] has shape \(3, 4\); \(3, 2\)"),
        ({"mean": "here"}, r"start\['mean'\] is not an array of numbers"),
        ({"mean": np.full((3, 2), np.nan)}, r"start\['mean'\] holds nan; finite numbers"),
        ({"covariance": np.ones((3, 2, 2))}, r"Covariance 0 is not positive definite"),
    ],
)
def test_parameters_that_make_no_mixture_are_refused(changed, message):
    start = {"mixing": np.ones(3) / 3, "mean": np.eye(3)[:, :2], "covariance": [np.eye(2)] * 3}
    GaussianMixture(3, start=start).fit(X)
    with pytest.raises(InvalidInput, match=message):
        GaussianMixture(3, start={**start, **changed}).fit(X)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (GaussianMixture(3, start=Y).fit(X), r"start is a GaussianMixture; .* fitted MixtureModel"),
        ({"mixing": 1}, r"start is a dict; labels, soft labels or a fitted MixtureModel"),
        (MixtureModel(3, start=Y).fit(X[:, :1]), r"MixtureModel of 1 columns and X has 2"),
        (MixtureModel(3), r"MixtureModel that is not fitted"),
        (MixtureModel(3, "laplace", start=Y).fit(X), r"other event models or categories"),
    ],
)
def test_a_product_mixture_refuses_what_it_cannot_begin_from(start, message):
    with pytest.raises(InvalidInput, match=message):
        MixtureModel(3, start=start).fit(X)


def test_labels_do_not_go_with_a_file(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    with pytest.raises(InvalidInput, match=r"X is a file; these need rows in memory.*fitted"):
        GaussianMixture(3, start=Y).fit(path)
    first = GaussianMixture(3, start=Y).fit(X)
    assert_allclose(GaussianMixture(3, start=first).fit(path).means_, first.means_, atol=1e-3)
