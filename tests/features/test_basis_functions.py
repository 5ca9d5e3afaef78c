"""Basis functions: their formulas, where they sit, references, worked examples, refusals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import InvalidInput, UnknownName
from likely.features.basis_functions import BASES, BasisFunctions

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
DIFFERENT = np.array([0, 1, 1, 0])
every_basis = pytest.mark.parametrize("basis", BASES)


def rows(seed=0, n=60, n_columns=2):
    return np.random.default_rng(seed).normal(size=(n, n_columns))


def twice(X):
    return 2 * X


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize("basis", [*BASES, twice])
def test_passes_the_checks_of_scikit_learn(basis):
    results = check_estimator(BasisFunctions(basis, centres=4), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 52


def test_distances_to_two_corners_take_xor_apart_and_their_squares_do_not():
    """xor_table (LR-14)."""
    corners = BasisFunctions("distance", centres=[[0, 0], [1, 1]])
    root = np.sqrt(2)
    moved = corners.fit_transform(XOR)
    assert_allclose(moved, [[0, root], [1, 1], [1, 1], [root, 0]], rtol=1e-10, atol=1e-12)
    assert_array_equal(moved.sum(axis=1) >= 1 + root / 2, DIFFERENT == 1)
    model = make_pipeline(corners, LogisticRegression(C=1e4)).fit(XOR, DIFFERENT)
    assert model.score(XOR, DIFFERENT) == 1
    assert_allclose((moved**2).sum(axis=1), 2)  # on one line: no line parts them


def test_radial_is_the_gaussian_kernel_and_at_all_rows_gives_kernel_ridge():
    """REG-12 and KER-2: w = (K + λI)⁻¹y is least squares on K with the penalty λ wᵀKw."""
    X, s = rows(), 0.8
    y = np.sin(X[:, 0]) + X[:, 1]
    features = BasisFunctions("radial", centres=X, width=s).fit(X)
    kernel = features.transform(X)
    assert_allclose(kernel, rbf_kernel(X, gamma=1 / (2 * s**2)), rtol=1e-10, atol=1e-12)
    weights = np.linalg.solve(kernel + 0.1 * np.eye(len(X)), y)
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / (2 * s**2)).fit(X, y)
    new = rows(1)
    assert_allclose(features.transform(new) @ weights, theirs.predict(new), atol=1e-8)


def test_sigmoids_are_of_each_column_at_its_own_centres():
    X = rows()
    features = BasisFunctions("sigmoid", centres=[[0.0, 1.0], [-1.0]], width=0.5).fit(X)
    expected = [expit(2 * X[:, 0]), expit(2 * (X[:, 0] - 1)), expit(2 * (X[:, 1] + 1))]
    assert_allclose(features.transform(X), np.column_stack(expected))
    names = ["x0_sigmoid_0", "x0_sigmoid_1", "x1_sigmoid_0"]
    assert features.get_feature_names_out().tolist() == names
    assert len(BasisFunctions("sigmoid", centres=[0.0, 1.0]).fit(X).centres_) == 2


@given(seed=st.integers(0, 99), n_knots=st.integers(2, 7))
def test_splines_agree_with_scikit_learn_within_and_beyond_the_knots(seed, n_knots):
    X = rows(seed)
    knots = np.sort(rows(seed + 1, n_knots), axis=0)
    theirs = SplineTransformer(knots=knots, extrapolation="constant", include_bias=False)
    ours = BasisFunctions("spline", centres=list(knots.T)).fit(X)
    assert_allclose(ours.transform(3 * X), theirs.fit(X).transform(3 * X), rtol=1e-10, atol=1e-9)


def test_splines_and_an_intercept_hold_every_cubic():
    x = np.linspace(-1, 2, 50)[:, None]
    y = (x - 0.3).ravel() ** 3
    model = make_pipeline(BasisFunctions("spline", centres=4), LinearRegression()).fit(x, y)
    assert_allclose(model.predict(x), y, rtol=1e-10, atol=1e-10)
    design = np.c_[np.ones(50), model[0].transform(x)]
    assert np.linalg.matrix_rank(design) == design.shape[1]


def test_a_callable_is_any_map():
    """REG-12: Φ(x) = (x, 1) is the plain regression."""
    X = rows()
    y = X @ [1.0, 2.0] + 3
    features = BasisFunctions(lambda X: np.c_[X, np.ones(len(X))])
    model = make_pipeline(features, Ridge(alpha=0, fit_intercept=False)).fit(X, y)
    assert_allclose(model[-1].coef_, [1, 2, 3])
    assert model[0].get_feature_names_out().tolist() == ["basis_0", "basis_1", "basis_2"]
    assert BasisFunctions(twice).fit(X).get_feature_names_out().tolist() == ["twice_0", "twice_1"]
    assert BasisFunctions(lambda X: X[:, 0]).fit_transform(X).shape == (60, 1)


def test_centres_of_one_column_are_quantiles_and_the_width_is_their_mean_gap():
    x = np.arange(101.0)[:, None] ** 2
    features = BasisFunctions(centres=5).fit(x)
    assert_allclose(features.centres_.ravel(), [0, 625, 2500, 5625, 10000])
    assert_allclose(features.width_, np.mean([625, 625, 1875, 3125, 4375]))
    alone = BasisFunctions(centres=1).fit(x)
    assert alone.centres_ == 2500
    assert_allclose(alone.width_, np.sqrt(np.mean((x - 2500) ** 2)))


def test_ties_leave_fewer_centres():
    x = np.repeat([0.0, 1.0], 20)[:, None]
    assert BasisFunctions(centres=7).fit(x).centres_.ravel().tolist() == [0, 0.5, 1]
    assert len(BasisFunctions(centres=7).fit(XOR).centres_) == 4
    constant = BasisFunctions("spline", centres=4).fit(np.full((9, 1), 3.0))
    assert_allclose(constant.centres_[0], [2.5, 3.5])


@given(seed=st.integers(0, 99))
def test_centres_of_several_columns_are_far_apart_rows_whatever_the_order(seed):
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    X = np.repeat(corners, 20, axis=0) + 0.1 * rows(seed)
    features = BasisFunctions(centres=3, random_state=seed).fit(X)
    near = np.linalg.norm(features.centres_[:, None] - corners, axis=2) < 1
    assert_array_equal(near.sum(axis=0), 1)
    assert all((row == X).all(axis=1).any() for row in features.centres_)
    order = np.random.default_rng(seed).permutation(60)
    again = BasisFunctions(centres=3, random_state=seed).fit(X[order])
    assert_array_equal(again.centres_, features.centres_)


@every_basis
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(basis):
    X = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = BasisFunctions(basis, centres=4, random_state=0).fit(X, sample_weight=weight)
    repeated = BasisFunctions(basis, centres=4, random_state=0).fit(np.repeat(X, weight, axis=0))
    assert_allclose(weighted.transform(X), repeated.transform(X))


@every_basis
def test_missing_values_are_left_out_of_the_fit_and_stay_missing(basis):
    X = rows()
    gappy = np.r_[X, [[np.nan, 0.0]]]
    features = BasisFunctions(basis, centres=3, random_state=0).fit(gappy)
    assert np.isfinite(features.transform(X)).all()
    assert np.isnan(features.transform(gappy)[-1]).any()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_the_same_and_their_names_are_used(library):
    X = rows()
    frame = pd.DataFrame(X, columns=["u", "v"])
    frame = pl.from_pandas(frame) if library == "polars" else frame
    features = BasisFunctions("spline", centres=2).fit(frame)
    assert_allclose(features.transform(frame), BasisFunctions("spline", centres=2).fit_transform(X))
    out = features.set_output(transform=library).transform(frame)
    assert list(out.columns) == [f"{c}_spline_{k}" for c in "uv" for k in range(3)]


def growing(X):
    return np.ones((len(X), len(X)))


@pytest.mark.parametrize(
    ("basis", "options", "message"),
    [
        ("radial", {"centres": 0}, "centres is 0; expected a number of centres, 1 or more"),
        ("radial", {"width": 0.0}, r"width is 0\.0; expected a positive number"),
        ("radial", {"centres": [[0.0]]}, r"centres has shape \(1, 1\); expected \(n_centres, 2\)"),
        ("distance", {"centres": [[0.0, np.inf]]}, "centres holds inf"),
        ("sigmoid", {"centres": [[0.0]]}, "centres for 1 columns; expected one list"),
        ("spline", {"centres": [1.0]}, "1 different centres for a column; expected 2 or more"),
        (lambda X: np.ones((1, 2)), {}, r"shape \(1, 2\) for 2 rows"),
        (growing, {}, "gave 2 functions; it gave 1 in fit"),
    ],
    ids=["none", "flat", "shape", "infinite", "lists", "knots", "rows", "number"],
)
def test_what_cannot_be_placed_is_refused(basis, options, message):
    with pytest.raises(InvalidInput, match=message):
        BasisFunctions(basis, **options).fit(XOR).transform(XOR[:2])


def test_an_unknown_basis_sparse_rows_and_text_are_refused():
    with pytest.raises(UnknownName, match=r"no basis 'gaussian'; choose one of distance, radial"):
        BasisFunctions("gaussian").fit(XOR)
    with pytest.raises(InvalidInput, match=r"sparse matrix.*rarely 0"):
        BasisFunctions().fit(sparse.csr_array(XOR))
    with pytest.raises(InvalidInput, match="Column 'town' holds strings, such as 'Ulm'"):
        BasisFunctions().fit(pd.DataFrame({"town": ["Ulm", "Bonn"]}))


@pytest.mark.parametrize("basis", ["radial", "spline"])
def test_a_column_without_a_value_has_no_place_for_centres(basis):
    with pytest.raises(InvalidInput, match="centres cannot be chosen"):
        BasisFunctions(basis).fit([[np.nan], [np.nan]])
