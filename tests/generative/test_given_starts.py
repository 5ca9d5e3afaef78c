"""Starts that the user gives: what works, and what is refused in words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import DiscriminantAnalysis, GaussianMixture, MixtureModel
from likely.errors import InvalidInput
from tests.generative.test_gaussian_mixture import blobs

X, Y = blobs(60)
SOFT = np.eye(3)[Y]


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
        (gaps(SOFT, np.nan), r"start holds \[nan, nan, nan\] at row 3; soft rows are finite"),
        (gaps(SOFT, -1.0), r"at row 3; soft rows are finite and 0 or more\. Mend"),
        (SOFT.astype(str), r"start holds '1.0'|start holds '0.0'"),
        (np.minimum(Y, 1), r"start gives component 2 no row; every one of the 3.*fewer"),
        (Y[:-1], r"start has 59 rows and X has 60; labels and soft rows are one per row"),
        ([[1.0], [1.0, 2.0]], r"start is a list with rows of different lengths.*Give one of"),
        (5, r"start is a int with 0 dimensions; labels \(n,\)"),
        (GaussianMixture(3), r"start is a GaussianMixture that is not fitted.*Fit it first"),
        (GaussianMixture(3, start=Y).fit(X[:, :1]), r"of 1 columns and X has 2.*same columns"),
        (GaussianMixture(2, start=Y > 0).fit(X), r"start has 2 components; n_components is 3"),
        (DiscriminantAnalysis().fit(X, Y), r"start is a DiscriminantAnalysis; labels, soft rows"),
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
        ({"mixing": 1}, r"start is a dict; labels, soft rows or a fitted MixtureModel"),
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
    with pytest.raises(InvalidInput, match=r"X is a file; they go with rows in memory.*fitted"):
        GaussianMixture(3, start=Y).fit(path)
    first = GaussianMixture(3, start=Y).fit(X)
    assert_allclose(GaussianMixture(3, start=first).fit(path).means_, first.means_, atol=1e-3)
