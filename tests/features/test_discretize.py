"""Discretizer: codes, missing values, frames, tables, refusals, scikit-learn's own checks."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import InvalidInput, UnknownName
from likely.features.discretize import (
    STRATEGIES,
    Discretizer,
    equal_width_edges,
    given_edges,
    quantile_edges,
    supervised_edges,
)

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def with_gaps(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, 60)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(
    ("estimator", "at_least"),
    [
        (Discretizer(), 52),
        (Discretizer("uniform"), 52),
        (Discretizer("entropy"), 53),
        (Discretizer(edges=[0.0, 1.0]), 52),
    ],
    ids=["quantile", "uniform", "entropy", "given"],
)
def test_passes_the_checks_of_scikit_learn(estimator, at_least):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= at_least


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True), st.integers(0, 99))
def test_codes_equal_searchsorted_and_values_at_an_edge_go_up(edges, seed):
    edges = sorted(edges)
    x = np.concatenate([edges, np.random.default_rng(seed).normal(size=10)])[:, None]
    codes = Discretizer(edges=edges).fit(x).transform(x)
    assert_array_equal(codes[:, 0], np.searchsorted(edges, x[:, 0], side="right"))
    assert_array_equal(codes[: len(edges), 0], np.arange(len(edges)) + 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_missing_values_stay_missing(strategy):
    X, y = with_gaps()
    codes = Discretizer(strategy).fit_transform(X, y)
    assert codes.dtype == np.float64
    assert_array_equal(np.isnan(codes), np.isnan(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_codes_survive_the_way_back_and_forth(strategy):
    X, y = with_gaps(1)
    bins = Discretizer(strategy).fit(X, y)
    codes = bins.transform(X)
    values = bins.inverse_transform(codes)
    assert_array_equal(bins.transform(values), codes)
    assert (values[~np.isnan(X)] >= np.nanmin(X)).all()


def test_the_range_seen_bounds_the_outer_bins():
    bins = Discretizer(edges=[0.0]).fit([[-2.0], [np.nan], [4.0]])
    assert_array_equal(bins.inverse_transform([[0.0], [1.0]])[:, 0], [-1.0, 2.0])


def test_every_code_has_a_value_even_where_no_example_was():
    bins = Discretizer(edges=[0.0, 1.0, 5.0]).fit([[2.0], [3.0]])
    codes = np.arange(4.0)[:, None]
    values = bins.inverse_transform(codes)
    assert_array_equal(bins.transform(values), codes)
    assert_array_equal(values[1:3, 0], [0.5, 3.0])


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(seed=st.integers(0, 99))
def test_a_weight_of_two_is_the_row_twice_and_of_zero_the_row_absent(strategy, seed):
    X, y = with_gaps(seed)
    weight = np.random.default_rng(seed).integers(0, 3, 60)
    weighted = Discretizer(strategy, 4).fit(X, y, sample_weight=weight)
    repeated = Discretizer(strategy, 4).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for ours, theirs in zip(weighted.edges_, repeated.edges_, strict=True):
        assert_array_equal(ours, theirs)
    assert_array_equal(weighted.data_min_, repeated.data_min_)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_rows_does_not_matter(strategy):
    X, y = with_gaps(2)
    order = np.random.default_rng(0).permutation(60)
    first = Discretizer(strategy).fit(X, y)
    second = Discretizer(strategy).fit(X[order], y[order])
    for a, b in zip(first.edges_, second.edges_, strict=True):
        assert_array_equal(a, b)


def test_two_edges_on_each_petal_measure_part_the_species_of_iris():
    bins = Discretizer("entropy").fit(X_IRIS, Y_IRIS)
    assert_allclose(bins.edges_[2], [2.45, 4.75], rtol=1e-10, atol=1e-9)
    assert_allclose(bins.edges_[3], [0.8, 1.75], rtol=1e-10, atol=1e-9)
    short = X_IRIS[:, 2] < 2.45
    assert_array_equal(Y_IRIS == 0, short)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_give_the_codes_of_their_array_and_keep_names(frame):
    X, _ = with_gaps()
    data = frame({name: X[:, j] for j, name in enumerate("abc")})
    bins = Discretizer(edges={"b": [0.0], 2: [-1.0, 1.0]}).fit(data)
    assert bins.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert_array_equal(bins.edges_[1], [0.0])
    assert_array_equal(bins.edges_[2], [-1.0, 1.0])
    plain = Discretizer(edges={1: [0.0], 2: [-1.0, 1.0]}).fit(X)
    assert_array_equal(bins.edges_[0], plain.edges_[0])
    assert_array_equal(bins.transform(data), plain.transform(X))
    out = bins.set_output(transform="pandas").transform(data)
    assert list(out.columns) == ["a", "b", "c"]


def test_nulls_of_polars_are_missing():
    data = pl.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, None]})
    codes = Discretizer(n_bins=2).fit_transform(data)
    assert_array_equal(np.isnan(codes), [[False, False], [True, False], [False, True]])


def test_constant_and_empty_columns_get_one_bin():
    X = np.column_stack([np.full(6, 7.0), np.full(6, np.nan), np.arange(6.0)])
    bins = Discretizer(n_bins=3).fit(X)
    assert bins.n_bins_.tolist() == [1, 1, 3]
    assert_array_equal(bins.transform(X)[:, 0], 0)


def test_the_table_shows_intervals_over_codes():
    bins = Discretizer(edges={"size": [1, 10], "age": [0.5]})
    bins.fit(pd.DataFrame({"size": [0.0, 5.0], "age": [0.0, 1.0]}))
    assert str(bins.table()).splitlines() == [
        "size  (-inf,1)  [1,10)  [10,inf)",
        "             0       1         2",
        "age   (-inf,0.5)  [0.5,inf)",
        "               0          1",
    ]
    html = re.sub(r" style='[^']*'", "", bins.table()._repr_html_())
    assert "<td>age</td><td>1</td><td>[0.5,inf)</td>" in html


def test_the_table_never_shows_different_edges_as_equal():
    bins = Discretizer(edges=[1.00000001, 1.00000002]).fit([[1.0]])
    assert bins.table().intervals(0)[1] == "[1.00000001,1.00000002)"


def test_codes_feed_a_categorical_model():
    model = make_pipeline(Discretizer("entropy"), CategoricalNB())
    assert model.fit(X_IRIS, Y_IRIS).score(X_IRIS, Y_IRIS) > 0.93


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [np.inf]], "inf .*row 1, column 0.*finite.*Replace"),
        ([[1.0, -np.inf], [np.nan, 1.0]], "row 0, column 1"),
        (sparse.csr_array(np.eye(3)), "sparse.*dense.*toarray"),
        ([["a"], ["b"]], "strings, such as 'a'; expected numbers"),
        (np.array([["1.5"], ["2"]]), "strings, such as '1.5'"),
        (np.array([[1.5], ["2"]], dtype=object), "strings, such as '2'"),
        (
            pd.DataFrame({"n": [1.0], "town": ["Oslo"]}),
            "Column 'town' holds strings, such as 'Oslo'",
        ),
        (
            pl.DataFrame({"n": [1.0], "town": ["Oslo"]}),
            "Column 'town' holds strings, such as 'Oslo'",
        ),
        (pd.DataFrame({"k": pd.Categorical(["u", "v"])}), "Column 'k' holds strings"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-02"])}), "Column 't' holds times or other"),
        (np.array([["2020-01-02"]], dtype="datetime64[D]"), "X holds times, such as '2020-01-02'"),
    ],
)
def test_bad_columns_are_refused_with_advice(X, message):
    with pytest.raises(InvalidInput, match=message):
        Discretizer().fit(X)


def test_infinities_are_refused_at_transform():
    bins = Discretizer().fit([[1.0], [2.0]])
    with pytest.raises(InvalidInput, match="infinity"):
        bins.transform([[np.inf]])


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (Discretizer("entropie"), None, "Did you mean 'entropy'"),
        (Discretizer(n_bins=1), None, "n_bins is 1; expected .* 2 or more"),
        (Discretizer(n_bins=2.5), None, "n_bins is 2.5"),
        (Discretizer("entropy"), None, "requires y to be passed.*quantile"),
        (Discretizer("entropy"), [0.5, 1.0], "y holds 0.5; expected classes"),
        (Discretizer("entropy"), [np.nan, 1.0], "y holds nan"),
        (Discretizer("entropy"), [0, 1, 1], r"y has shape \(3,\); expected \(2,\)"),
    ],
)
def test_bad_arguments_are_refused(estimator, y, message):
    with pytest.raises(InvalidInput, match=message):
        estimator.fit([[1.0], [2.0]], y)


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(UnknownName, match="Did you mean 'width'"):
        Discretizer(edges={"widht": [1.0]}).fit(pd.DataFrame({"width": [1.0, 2.0]}))


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_a_missing_class_is_refused(gap):
    y = np.array(["a", "b", gap, "b"], dtype=object)
    with pytest.raises(InvalidInput, match=r"y is \w+ at row 2; expected a class.*Remove the row"):
        Discretizer("entropy").fit(np.arange(4.0)[:, None], y)


@pytest.mark.parametrize("weight", [[1.0, -1.0], [1.0, np.nan], [1.0]])
def test_weights_are_checked_as_everywhere(weight):
    with pytest.raises(InvalidInput, match="sample_weight"):
        Discretizer().fit([[1.0], [2.0]], sample_weight=weight)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match=r"[Ww]eight.*zero"):
        Discretizer().fit([[1.0], [2.0]], sample_weight=[0.0, 0.0])


@pytest.mark.parametrize("code", [-1.0, 2.0, 0.5])
def test_codes_that_are_no_bin_are_refused(code):
    bins = Discretizer(edges=[0.0]).fit([[1.0], [2.0]])
    with pytest.raises(InvalidInput, match=r"is not a bin; expected .* 0 to 1"):
        bins.inverse_transform([[code]])
    with pytest.raises(InvalidInput, match="expected 1 columns"):
        bins.inverse_transform([[0.0, 0.0]])


# ── Edges: scikit-learn for the unsupervised ones, the definition at length for the supervised ────


def bits(labels):
    """H of some labels, by counting."""
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


def edges_at_length(pairs):
    """Fayyad & Irani's procedure on sorted (x, class) pairs, every cut tried one by one."""
    n, labels = len(pairs), [c for _, c in pairs]
    best = None
    for i in range(1, n):
        if pairs[i - 1][0] < pairs[i][0]:
            left, right = labels[:i], labels[i:]
            mean = (len(left) * bits(left) + len(right) * bits(right)) / n
            if best is None or mean < best[0] - 1e-12:
                best = mean, i, left, right
    if best is None:
        return []
    mean, i, left, right = best
    k, k1, k2 = len(set(labels)), len(set(left)), len(set(right))
    delta = math.log2(3**k - 2) - (k * bits(labels) - k1 * bits(left) - k2 * bits(right))
    if bits(labels) - mean <= (math.log2(n - 1) + delta) / n:
        return []
    middle = (pairs[i - 1][0] + pairs[i][0]) / 2
    return [*edges_at_length(pairs[:i]), middle, *edges_at_length(pairs[i:])]


def two_steps(seed, n=80):
    """Classes that change at 3 and at 7, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, n) / 4
    codes = np.digitize(x, [3, 7])
    noisy = rng.random(n) < 0.1
    codes[noisy] = rng.integers(0, 3, noisy.sum())
    return x, codes


@given(st.integers(0, 999))
def test_supervised_edges_equal_the_procedure_at_length(seed):
    x, codes = two_steps(seed)
    expected = edges_at_length(sorted(zip(x.tolist(), codes.tolist(), strict=True)))
    assert_allclose(supervised_edges(x, codes, None, 3), expected)


def test_supervised_edges_are_found_where_the_classes_change():
    x, codes = two_steps(0, n=400)
    edges = supervised_edges(x, codes, None, 3)
    assert_allclose(edges, [2.875, 6.875])


def test_classes_that_do_not_depend_on_x_give_no_edge():
    x = np.linspace(0, 1, 200)
    codes = np.random.default_rng(0).integers(0, 2, 200)
    assert supervised_edges(x, codes, None, 2).size == 0


@given(st.integers(0, 999))
def test_a_supervised_weight_of_two_is_the_row_twice(seed):
    x, codes = two_steps(seed, n=50)
    weight = np.random.default_rng(seed).integers(0, 4, x.size)
    repeated = supervised_edges(np.repeat(x, weight), np.repeat(codes, weight), None, 3)
    assert_array_equal(supervised_edges(x, codes, weight.astype(float), 3), repeated)


def test_missing_values_and_unknown_classes_are_skipped():
    x, codes = two_steps(1)
    edges = supervised_edges(x, codes, None, 3)
    more_x = np.concatenate([x, [np.nan, 5.0]])
    more_codes = np.concatenate([codes, [0, -1]])
    assert_array_equal(supervised_edges(more_x, more_codes, None, 3), edges)
    assert supervised_edges(np.array([np.nan]), np.array([0]), None, 1).size == 0


def test_an_edge_between_neighbouring_floats_still_parts_them():
    low = 1.0
    high = np.nextafter(low, 2)
    x = np.repeat([low, high], 20)
    codes = np.repeat([0, 1], 20)
    edges = supervised_edges(x, codes, None, 2)
    assert_array_equal(np.searchsorted(edges, [low, high], side="right"), [0, 1])


def test_fractional_weights_do_not_invent_classes():
    """Running sums of tenths are rounded; a class that is absent must stay absent."""
    x = np.arange(60.0)
    codes = np.repeat([0, 1, 2], 20)
    tenths = supervised_edges(np.repeat(x, 10), np.repeat(codes, 10), np.full(600, 0.1), 3)
    assert_array_equal(tenths, supervised_edges(x, codes, None, 3))
    assert_array_equal(tenths, [19.5, 39.5])


@pytest.mark.parametrize("n_bins", [2, 5, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_unsupervised_edges_equal_scikit_learn(n_bins, weighted):
    rng = np.random.default_rng(0)
    x = rng.normal(size=203)
    weight = rng.integers(1, 4, 203).astype(float) if weighted else None
    for strategy, find in (("uniform", equal_width_edges), ("quantile", quantile_edges)):
        theirs = KBinsDiscretizer(
            n_bins, encode="ordinal", strategy=strategy, quantile_method="averaged_inverted_cdf"
        ).fit(x[:, None], sample_weight=weight)
        # the same definition of a quantile; 1e-12 allows another order of the same arithmetic
        inner = theirs.bin_edges_[0][1:-1]
        assert_allclose(find(x, n_bins, weight), inner, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 999), st.integers(2, 6))
def test_a_weight_of_two_is_the_row_twice(seed, n_bins):
    rng = np.random.default_rng(seed)
    x, weight = rng.integers(0, 9, 20).astype(float), rng.integers(0, 3, 20)
    for find in (equal_width_edges, quantile_edges):
        repeated = find(np.repeat(x, weight), n_bins)
        assert_array_equal(find(x, n_bins, weight.astype(float)), repeated)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(2, 8))
def test_no_bin_of_equal_frequency_is_empty(values, n_bins):
    x = np.array(values, dtype=float)
    edges = quantile_edges(x, n_bins)
    codes = np.searchsorted(edges, x, side="right")
    assert set(codes) == set(range(edges.size + 1))


@pytest.mark.parametrize("find", [equal_width_edges, quantile_edges])
@pytest.mark.parametrize("x", [[3.0, 3.0, 3.0], [np.nan, np.nan], [np.nan, 2.0]])
def test_a_column_with_one_value_or_none_has_one_bin(find, x):
    assert find(np.array(x), 5).size == 0


def test_equal_width_survives_the_widest_range():
    huge = np.finfo(float).max
    assert_allclose(equal_width_edges(np.array([-huge, huge]), 2), [0.0], atol=1e-300)


def test_given_edges_are_read_in_every_form():
    names = ["a", "b"]
    assert given_edges(None, names) == [None, None]
    for form in ([1, 2], (1.0, 2.0), np.array([1, 2]), [[1, 2], [1, 2]], {"a": [1, 2], 1: [1, 2]}):
        for edges in given_edges(form, names):
            assert_array_equal(edges, [1.0, 2.0])
    assert given_edges({-1: [1]}, names)[0] is None
    assert given_edges([[], [1]], names)[0].size == 0


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([2, 1], "column 'a' are .*increase.*Sort"),
        ([1, 1], "increase"),
        ([1, np.inf], "finite"),
        ({"b": [1, np.nan]}, "column 'b'"),
        ([[1], [2], [3]], "for 3 columns; expected 2"),
        ({5: [1]}, "no column 5"),
    ],
)
def test_bad_edges_are_refused(edges, message):
    with pytest.raises(InvalidInput, match=message):
        given_edges(edges, ["a", "b"])


def test_a_misspelt_column_is_met_with_the_nearest_name():
    with pytest.raises(UnknownName, match="Did you mean 'length'"):
        given_edges({"lenght": [1]}, ["length", "width"])


@pytest.mark.parametrize("share", [0.01, 0.06, 0.19, 0.21, 0.5, 0.81, 0.99])
def test_an_indicator_keeps_both_values_whatever_their_shares(share):
    x = (np.arange(1000) < 1000 * share).astype(float)
    assert_array_equal(quantile_edges(x, 5), [1.0])


def test_a_value_of_many_rows_has_a_bin_of_its_own():
    few, many = np.arange(1.0, 11.0), np.full(80, 20.0)
    x = np.concatenate([few, many, 30.0 + few])
    assert_array_equal(quantile_edges(x, 5), [20.0, 31.0])
    assert_array_equal(quantile_edges(-x, 5), [-20.0, -10.0])
    weight = np.concatenate([np.ones(10), [80.0], np.ones(10)])  # the same, by weights
    x = np.concatenate([few, [20.0], 30.0 + few])
    assert_array_equal(quantile_edges(x, 5, weight), [20.0, 31.0])
    zeros = np.concatenate([np.zeros(30), 1.0 + np.arange(70.0)])  # one quantile is the smallest
    assert_allclose(quantile_edges(zeros, 4), [1.0, 20.5, 45.5], rtol=1e-15)


def test_without_large_ties_edges_are_the_quantiles():
    x = np.random.default_rng(0).permutation(np.arange(100.0))
    assert_allclose(quantile_edges(x, 4), [24.5, 49.5, 74.5], rtol=1e-15)
    assert_array_equal(quantile_edges(np.full(9, 3.0), 4), [])
