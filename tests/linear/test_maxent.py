"""Maximum entropy: indicators are softmax regression, totals match, functions and arrays agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.differences import check_gradient, check_hessian
from likely.errors import InvalidInput, RedundantColumns, Separation
from likely.linear.maxent import MaxEntropy, by_row, feature_array
from likely.linear.softmax import SoftmaxRegression
from likely.objectives.maxent import MaxEntropyObjective
from likely.penalties import L2


def some_features(seed=0, n=60, K=3, J=4):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, K, J))
    scores = F @ rng.normal(size=J) + rng.gumbel(size=(n, K))
    return F, scores.argmax(axis=1)


def indicators(X, K):
    """1{y = c}·[x; 1] written out."""
    rows = np.column_stack([X, np.ones(len(X))])
    F = np.zeros((len(X), K, K, rows.shape[1]))
    for k in range(K):
        F[:, k, k] = rows
    return F.reshape(len(X), K, -1)


def test_derivatives_are_those_of_the_value():
    F, y = some_features()
    weight = np.random.default_rng(1).random(len(y))
    blocks = ArrayBlocks(Dense(F.reshape(len(F), -1)), y, weight, rows_per_block=17)
    objective = MaxEntropyObjective(3, L2(np.arange(4.0)), blocks, Serial())
    w = np.random.default_rng(2).normal(size=4)
    assert check_gradient(objective.value, lambda t: objective.first_order(t).gradient, w) < 1e-7
    error = check_hessian(
        lambda t: objective.first_order(t).gradient,
        lambda t: objective.second_order(t).hessian,
        w,
    )
    assert error < 1e-6
    totals = objective.feature_totals(w)
    difference = totals.expected - totals.observed + np.arange(4.0) * w
    assert_allclose(objective.first_order(w).gradient, difference, rtol=1e-10)


@pytest.mark.parametrize("l2", [0.5, 3.0])
def test_indicators_are_softmax_regression(l2):
    """The indicators 1{y = c} are not penalised, the others are; F is written out here."""
    X, y = load_iris(return_X_y=True)
    softmax = SoftmaxRegression(l2=l2, tol=1e-14).fit(X, y)
    short = MaxEntropy(l2=l2, tol=1e-14).fit(X, y)
    strengths = np.tile(np.append(np.full(4, l2), 1e-9), 3)  # 1e-9 settles the free shift
    written_out = MaxEntropy(l2=strengths, tol=1e-14).fit(indicators(X, 3), y)
    assert_allclose(short.predict_proba(X), softmax.predict_proba(X), rtol=1e-10, atol=1e-10)
    # that penalty, times intercepts of about 10, moves probabilities by 1e-8
    written = written_out.predict_proba(indicators(X, 3))
    assert_allclose(written, short.predict_proba(X), rtol=0, atol=3e-8)
    assert_allclose(short.coef_.reshape(3, 5)[:, :4], softmax.coef_, rtol=1e-12, atol=1e-12)
    assert_allclose(short.coef_.reshape(3, 5)[:, 4], softmax.intercept_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_without_a_penalty_expected_totals_are_the_observed_ones(solver):
    F, y = some_features(3)
    model = MaxEntropy(l2=0.0, solver=solver, tol=1e-15).fit(F, y)
    totals = model.feature_totals(F, y)
    assert_allclose(totals.observed, F[np.arange(len(y)), y].sum(axis=0))
    assert_allclose(totals.expected, totals.observed, atol=1e-6)


def test_totals_of_indicators_are_sums_over_classes():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    model = MaxEntropy().fit(X, y)
    totals = model.feature_totals(X, y, weight)
    F = indicators(X, 3)
    assert_allclose(totals.observed, weight @ F[np.arange(len(y)), y])
    expected = np.einsum("i,ik,ikj->j", weight, model.predict_proba(X), F)
    assert_allclose(totals.expected, expected)


def test_functions_rows_and_arrays_are_the_same_features():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["x", "y", "z"])[y]
    functions = [
        lambda X, label: X[:, 0] * (label == "x"),
        by_row(lambda row, label: row[2] * row[3] if label == "z" else 0.0),
        lambda X, label: float(label == "y"),
    ]
    by_functions = MaxEntropy(functions, tol=1e-13).fit(X, labels)
    F = feature_array(functions, X, by_functions.classes_)
    by_array = MaxEntropy(tol=1e-13).fit(F, labels)
    assert F.shape == (150, 3, 3)
    assert_allclose(by_array.coef_, by_functions.coef_, rtol=1e-10, atol=1e-10)
    assert_allclose(by_functions.predict_proba(X).sum(axis=1), 1.0)
    assert_array_equal(by_functions.predict(X), by_array.predict(F))
    assert by_functions.log_likelihood(X, labels) > -150 * np.log(3)


def test_weight_two_is_the_row_twice():
    F, y = some_features(4)
    weight = np.random.default_rng(5).integers(1, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    weighted = MaxEntropy(tol=1e-14).fit(F, y, weight)
    assert_allclose(
        weighted.coef_, MaxEntropy(tol=1e-14).fit(F[twice], y[twice]).coef_, rtol=1e-9, atol=1e-9
    )


def test_a_feature_that_is_the_same_for_every_label_is_named():
    F, y = some_features(6)
    F[:, :, 2] = 1.0
    with pytest.warns(RedundantColumns, match="feature 2 .* the same for every label"):
        model = MaxEntropy(l2=0.0).fit(F, y)
    assert model.coef_[2] == 0.0


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("length", "features is 'length'; a list"),
        ([], "a list of one or more functions"),
        ([lambda X, label: X], r"Feature 0 gave an array of shape \(150, 4\)"),
        ([lambda X, label: np.inf], "Feature 0 is not finite for label 0"),
    ],
)
def test_features_that_are_none_are_refused(features, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInput, match=message):
        MaxEntropy(features).fit(X, y)


def test_an_array_for_other_labels_or_weights_is_refused():
    F, y = some_features()
    model = MaxEntropy().fit(F, y)
    with pytest.raises(InvalidInput, match="has 2 labels; y has 3"):
        model.predict(F[:, :2])
    with pytest.raises(InvalidInput, match="of 4 weights were expected"):
        model.predict(F[:, :, :3])
    F[3, 1, 2] = np.nan
    with pytest.raises(InvalidInput, match=r"X\[3, 1, 2\] is nan"):
        MaxEntropy().fit(F, y)


def test_one_class_is_refused_by_the_name_of_the_model():
    with pytest.raises(InvalidInput, match="MaxEntropy needs at least 2 classes"):
        MaxEntropy().fit(np.ones((4, 1)), np.zeros(4))


def test_the_summary_advises_no_argument_that_it_has_not():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    notes = " ".join(MaxEntropy().fit(X, y).summary().notes)
    assert "against the geometric mean of all." in notes
    assert "reference=" not in notes
    assert "reference=" in " ".join(SoftmaxRegression().fit(X, y).summary().notes)


def test_warnings_about_indicators_name_the_model_that_was_fitted():
    """It is fitted as a softmax regression, of which the user knows nothing."""
    X = np.column_stack([np.arange(8.0), 2.0 * np.arange(8.0)])
    with pytest.warns(Separation, match=r"^MaxEntropy: the responses are separated"):
        MaxEntropy(l2=0.0, standard_errors=None).fit(X[:, :1], np.arange(8) > 3)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    column = rng.normal(size=(60, 1)) + y[:, None]
    with pytest.warns(RedundantColumns, match=r"^MaxEntropy: 'x1' can be computed"):
        MaxEntropy(l2=0.0).fit(np.hstack([column, 2 * column]), y)
    with pytest.warns(ConvergenceWarning, match=r"^MaxEntropy did not converge"):
        MaxEntropy(solver="lbfgs", max_iter=1).fit(column, y)
