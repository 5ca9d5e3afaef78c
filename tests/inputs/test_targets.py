"""Labels become classes and codes, in any wrapping; what is no label is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

import likely
from likely import NaiveBayes
from likely.errors import AlphabeticalOrder, InvalidInput
from likely.inputs.targets import (
    COUNTED_RANGE,
    check_labels,
    check_numbers,
    check_response,
    check_weight,
    codes_among,
    known_classes,
    ordered_classes,
    refuse_one_class,
)


class Some(BaseEstimator):
    """An estimator without a mind of its own."""


@given(st.lists(st.integers(-5, 5) | st.just(10 * COUNTED_RANGE), min_size=1, max_size=30))
def test_counted_labels_equal_sorted_labels(labels):
    y = np.array(labels)
    found = check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    assert_array_equal(found.classes, classes)
    assert_array_equal(found.codes, codes)
    assert found.classes.dtype == y.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.int64, np.uint64])
def test_labels_of_any_integer_type_are_counted(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    y = np.array([low, high, low, 3, high], dtype=dtype)
    found = check_labels(y)
    assert_array_equal(found.classes[found.codes], y)


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "b"], [True, False, True], [2.0, 1.0, 2.0], np.array(["b", "a", "b"], "O")],
)
def test_labels_of_other_types_are_sorted(labels):
    found = check_labels(labels)
    assert_array_equal(found.codes, [1, 0, 1])
    assert_array_equal(found.classes[found.codes], labels)


@pytest.mark.parametrize(
    "wrap", [pd.Series, pl.Series, list, tuple, lambda y: np.array(y)[:, None]]
)
def test_labels_may_come_in_any_wrapping(wrap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column vector is flattened with a warning
        assert check_labels(wrap([3, 1, 3])).codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("unlabelled", [-1, "?", np.nan])
def test_unlabelled_rows_have_the_code_minus_one(unlabelled):
    y = np.array(["a", unlabelled, "b"], dtype=object)
    found = check_labels(y, unlabelled=unlabelled)
    assert found.codes.tolist() == [0, -1, 1]
    assert found.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, np.nan], r"label of row 1 is missing.*unlabelled="),
        (np.array(["a", None], dtype=object), r"label of row 1 is missing"),
        ([0.3, 0.7], r"Unknown label type: continuous"),
        ([0, 1, 0], r"X has 2 rows and y has 3"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, n_rows=2)


def test_labels_that_are_all_unknown_are_refused():
    with pytest.raises(InvalidInput, match=r"All 2 labels equal unlabelled=-1.*mixture"):
        check_labels([-1, -1], unlabelled=-1)
    with pytest.raises(InvalidInput, match=r"No row with a positive weight has a label"):
        known_classes(np.array([-1]), -1)
    assert known_classes(np.array([-1, 2]), -1).tolist() == [2]
    assert known_classes(np.array([-1, 2]), None).tolist() == [-1, 2]


def test_codes_among_known_classes():
    classes = np.array(["a", "b", "c"])
    assert codes_among(["c", "a"], classes).tolist() == [2, 0]
    with pytest.raises(
        InvalidInput, match=r"label 'd' in y does not exist.*known classes are a, b, c"
    ):
        codes_among(["a", "d"], classes)


def test_one_class_is_refused_by_its_plain_name():
    with pytest.raises(InvalidInput, match=r"Some needs at least 2 classes.*one class, 3\. Check"):
        refuse_one_class(np.array([3]), Some())
    refuse_one_class(np.array([3, 4]), Some())


@pytest.mark.parametrize(("dtype", "far"), [("i1", 100), ("i2", 20_000), ("u1", 200)])
def test_narrow_integer_labels_do_not_wrap(dtype, far):
    low = 0 if dtype == "u1" else -far
    y = np.repeat(np.array([low, 1, far], dtype), 4)
    found = check_labels(y)
    assert_array_equal(found.classes, [low, 1, far])
    assert_array_equal(found.codes, np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA], ids=["nan", "None", "NA"])
def test_a_gap_among_text_labels_is_a_gap_not_a_class(gap):
    labels = ["a", "b", gap, "a"]
    for y in (labels, pd.Series(labels, dtype=object)):
        with pytest.raises(InvalidInput, match="label of row 2 is missing"):
            check_labels(y)
        found = check_labels(y, unlabelled=np.float32("nan"))
        assert_array_equal(found.classes, ["a", "b"])
        assert_array_equal(found.codes, [0, 1, -1, 0])


def test_a_value_for_unlabelled_does_not_excuse_a_gap():
    with pytest.raises(InvalidInput, match="label of row 1 is missing"):
        check_labels([1.0, np.nan, 2.0], unlabelled=-1)
    found = check_labels(["a", "b", -1], unlabelled=-1)
    assert_array_equal(found.codes, [0, 1, -1])


def test_labels_of_several_types_are_refused():
    with pytest.raises(InvalidInput, match=r"several types \(int, str\).*all text"):
        check_labels(["a", 2, 0])


# ── Responses, weights and offsets: one finite number per row ─────────────────────────────────────


MODEL = likely.GLM()


def test_responses_are_one_finite_number_per_row():
    assert check_response([1, 2], n_rows=2, estimator=MODEL).dtype == np.float64
    assert check_response(pd.Series([1, 2]), n_rows=2, estimator=MODEL).shape == (2,)
    both = check_response(np.ones((2, 3)), n_rows=2, estimator=MODEL, several=True)
    assert both.shape == (2, 3)
    for y, expected in (
        (None, "requires y to be passed"),
        (["a", "b"], "y must hold numbers.*Use a classifier"),
        ([1.0, np.nan], "contains NaN"),
        ([1.0, 2.0, 3.0], "3"),
        (np.ones((2, 3)), "1d array"),
    ):
        with pytest.raises(ValueError, match=expected):
            check_response(y, n_rows=2, estimator=MODEL)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"y contains NaN: row 1 has nan; a response is a finite number. Fix it"),
        ([-np.inf, 1.0], r"y contains infinity: row 0 has -inf; .* drop the row"),
        ([[1.0, 2.0], [3.0, np.inf]], r"y contains infinity: row 1 has inf"),
    ],
)
def test_a_response_that_is_not_finite_is_named_by_its_row(y, message):
    with pytest.raises(InvalidInput, match=message):
        check_response(y, n_rows=2, estimator=None, several=True)


def test_responses_whose_total_overflows_are_finite_all_the_same():
    assert check_response([1.7e308, 1.7e308], n_rows=2, estimator=None).tolist() == [1.7e308] * 2


def test_offsets_are_one_finite_number_per_row_or_one_for_all():
    assert_allclose(check_numbers(2, "offset", n_rows=3), 2.0)
    assert_allclose(check_numbers(pl.Series([1, 2]), "offset", n_rows=2), [1, 2])
    for values, positive, expected in (
        ([1.0], False, r"shape \(1,\); X has 2 rows"),
        ([1.0, np.inf], False, "offset of row 1 is inf"),
        ([0.0, 1.0], True, "row 0 is 0; it must be finite and above 0"),
        (["a", "b"], False, "offset must hold numbers"),
    ):
        with pytest.raises(InvalidInput, match=expected):
            check_numbers(values, "offset", n_rows=2, positive=positive)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -2.0], r"row 1 has -2; weights are finite and 0 or more"),
        ([np.nan, 1.0], r"row 0 has nan"),
        ([1.0, np.inf], r"row 1 has inf"),
        ([0.0, 0.0], r"at least one non-zero number; all 2 are 0"),
        ([1.0], r"shape \(1,\); X has 2 rows"),
        ([[1.0], [1.0]], r"shape \(2, 1\); X has 2 rows"),
    ],
)
def test_wrong_weights_are_refused(weight, message):
    with pytest.raises(InvalidInput, match=message):
        check_weight(weight, n_rows=2)


def test_weights_become_float64():
    assert check_weight(None, n_rows=2) is None
    assert check_weight([1, 0], n_rows=2).dtype == np.float64
    assert check_weight(2, n_rows=3).tolist() == [2.0, 2.0, 2.0]
    assert check_weight(pl.Series([1, 2]), n_rows=2).tolist() == [1.0, 2.0]


def test_weights_that_are_text_are_refused():
    with pytest.raises(InvalidInput, match="sample_weight must hold numbers"):
        NaiveBayes().fit(np.ones((2, 1)), [0, 1], sample_weight=["x", "y"])


# ── The order of classes: given, categorical or sorted ────────────────────────────────────────────


LEVELS = ["low", "middle", "high"]
Y = ["high", "low", "middle", "low"]
DICTIONARY = pa.DictionaryArray.from_arrays([2, 0, 1, 0], LEVELS, ordered=True)


@pytest.mark.parametrize(
    ("y", "order"),
    [
        (Y, LEVELS),
        (np.array(Y), tuple(LEVELS)),
        (pd.Series(Y), np.array(LEVELS)),
        (pd.Categorical(Y, LEVELS, ordered=True), None),
        (pd.Series(pd.Categorical(Y, LEVELS, ordered=True)), None),
        (pl.Series(Y, dtype=pl.Enum(LEVELS)), None),
        (pa.chunked_array([DICTIONARY]), None),
    ],
    ids=["list", "array", "series", "Categorical", "pandas", "polars", "arrow"],
)
def test_the_order_is_the_one_given_or_that_of_the_categories(y, order):
    classes, codes = ordered_classes(y, order)
    assert classes.tolist() == LEVELS
    assert codes.tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize(
    "y", [Y, pd.Series(pd.Categorical(Y, LEVELS)), pl.Series(Y, dtype=pl.Categorical)]
)
def test_labels_without_an_order_are_sorted(y):
    with pytest.warns(AlphabeticalOrder, match="high < low < middle; give the order"):
        assert ordered_classes(y).classes.tolist() == ["high", "low", "middle"]


def test_numbers_and_two_words_are_sorted_without_a_warning():
    assert ordered_classes([10, 9, 10, 11]).classes.tolist() == [9, 10, 11]
    assert ordered_classes(["yes", "no"]).classes.tolist() == ["no", "yes"]


def test_an_order_that_is_given_rules_over_that_of_the_categories():
    y = pd.Series(pd.Categorical(Y, LEVELS, ordered=True))
    assert ordered_classes(y, LEVELS[::-1]).classes.tolist() == LEVELS[::-1]


@given(st.lists(st.integers(-5, 5), min_size=1), st.permutations(range(-5, 6)))
def test_codes_lead_back_to_the_labels_and_rise_with_the_order(y, order):
    classes, codes = ordered_classes(y, order)
    assert_array_equal(classes[codes], y)
    assert classes.tolist() == [label for label in order if label in y]


def test_classes_without_a_row_are_left_out():
    y = pd.Series(pd.Categorical(["low", "high"], LEVELS, ordered=True))
    assert ordered_classes(y).classes.tolist() == ["low", "high"]
    classes, codes = ordered_classes(Y, LEVELS, weight=np.array([0.0, 1.0, 1.0, 0.0]))
    assert classes.tolist() == ["low", "middle"]
    assert codes.tolist() == [-1, 0, 1, 0]


def test_a_label_that_is_not_in_the_order_is_named():
    with pytest.raises(InvalidInput, match=r"label 'middle'; the order is low, high\. Add"):
        ordered_classes(Y, ["low", "high"])


def test_a_label_that_is_in_the_order_twice_is_named():
    with pytest.raises(InvalidInput, match="names 'low' twice"):
        ordered_classes(Y, [*LEVELS, "low"])


# ── Soft labels: the names of their columns, and refusals that name y ─────────────────────────────


NAMES = ["ve", "se", "vi"]  # not sorted: the order of the columns counts
RNG = np.random.default_rng(0)
X, SOFT = RNG.normal(size=(40, 2)), RNG.dirichlet(np.ones(3), 40)
FRAMES = {
    "pandas": lambda S, names: pd.DataFrame(S, columns=names),
    "polars": lambda S, names: pl.DataFrame(S, schema=names),
    "pyarrow": lambda S, names: pa.table(dict(zip(names, S.T, strict=True))),
}
MODELS = [
    likely.NaiveBayes(),
    likely.DiscriminantAnalysis(),
    likely.SoftmaxRegression(),
    likely.MaxEntropy(),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@every_model
@pytest.mark.parametrize("library", FRAMES)
def test_the_columns_of_a_frame_name_the_classes(model, library):
    frame = FRAMES[library]
    plain = model.fit(X, SOFT)
    expected = plain.predict_proba(X)
    assert_array_equal(plain.classes_, [0, 1, 2])
    named = model.fit(X, frame(SOFT, NAMES))
    assert named.classes_.tolist() == NAMES
    assert_allclose(named.predict_proba(X), expected, rtol=1e-12)
    assert_array_equal(named.predict(X), np.array(NAMES)[expected.argmax(axis=1)])


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("library", FRAMES)
def test_columns_are_matched_with_the_classes_by_name(model, library):
    frame = FRAMES[library]
    model.fit(X, frame(SOFT, NAMES))
    value = model.log_likelihood(X, SOFT)
    assert_allclose(model.log_likelihood(X, frame(SOFT, NAMES)), value, rtol=1e-12)
    turned = frame(SOFT[:, ::-1], NAMES[::-1])
    assert_allclose(model.log_likelihood(X, turned), value, rtol=1e-12)
    with pytest.raises(InvalidInput, match="columns a, se, vi; the classes ve, se, vi were exp"):
        model.log_likelihood(X, frame(SOFT, ["a", "se", "vi"]))


def test_a_frame_without_names_has_numbered_classes():
    model = likely.NaiveBayes().fit(X, pd.DataFrame(SOFT))
    assert_array_equal(model.classes_, [0, 1, 2])
    assert np.isfinite(model.log_likelihood(X, pd.DataFrame(SOFT)))


@every_model
def test_a_missing_soft_label_is_one_of_y(model):
    gap = SOFT.copy()
    gap[3, 1] = np.nan
    with pytest.raises(InvalidInput, match="y must be a table of finite numbers"):
        model.fit(X, gap)


ONE_HOT = np.eye(2, dtype=int)[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: likely.LogisticRegression().fit(X, ONE_HOT), "Soft labels are for fit .* Softmax"),
        (
            lambda: likely.NaiveBayes().partial_fit(X, ONE_HOT, classes=[0, 1]),
            "Give one label for each row",
        ),
        (
            lambda: likely.NaiveBayes().fit(X, ONE_HOT).score(X, ONE_HOT),
            "Give one label for each row",
        ),
        (
            lambda: likely.SoftmaxRegression().fit(X, ONE_HOT).score(X, ONE_HOT),
            "Give one label for each row",
        ),
        (
            lambda: likely.GLM("bernoulli").fit(X, 3 * ONE_HOT),
            r"k successes of n trials are y=k/n with sample_weight=n",
        ),
        (
            lambda: likely.LinearRegression().objective(X, X),
            r"Give one column of y at a time",
        ),
    ],
)
def test_several_columns_where_one_is_needed_are_refused_with_advice(call, advice):
    with pytest.raises(InvalidInput, match=rf"y has the shape \(40, 2\); .* expected.*{advice}"):
        call()


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_whose_sum_is_no_ordinary_number_are_refused(weight):
    with pytest.raises(InvalidInput, match=r"The sum of sample_weight is .*Divide the weights by"):
        check_weight(np.full(20, weight), n_rows=20)
    assert check_weight(np.full(20, 1e-300), n_rows=20) is not None
