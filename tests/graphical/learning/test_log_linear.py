"""Log-linear potentials: the gradient is observed minus expected, and known models come out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely import LogisticRegression, SoftmaxRegression
from likely.differences import check_gradient
from likely.errors import BoundaryEstimate, InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.learning.coded_rows import coded_rows
from likely.graphical.learning.log_linear import (
    Feature,
    cell_features,
    fit_log_linear,
    log_linear_objective,
)
from likely.graphical.model.factor import Factor
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.markov_field import MarkovField
from tests.graphical.networks import drawn, random_network, row_families, with_gaps

few = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 999)


def objective_of(field, data, features=None, weight=None, **given):
    rows = coded_rows(field.variables, data, sample_weight=weight)
    return log_linear_objective(field, rows, features, row_families=row_families, **given)


def fitted(field, data, features=None, weight=None, tol=1e-13, **given):
    return fit_log_linear(objective_of(field, data, features, weight, **given), tol=tol)


def field_of(scopes, sizes):
    """A field with these scopes and potentials of 1."""
    states = dict(zip("abcdefgh", sizes, strict=False))
    ones = [(scope, np.ones([states[name] for name in scope])) for scope in scopes]
    return MarkovField.from_potentials(states, ones)


CYCLE = field_of([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], (2, 3, 2, 2))
CHAIN = field_of([("a", "b"), ("b", "c")], (2, 3, 2))


def joint(field, *names):
    request = Request((), (names,), GraphEvidence())
    return Enumeration().answer(field, request).joints[names]


def shares(codes, columns, shape):
    counts = np.zeros(shape)
    np.add.at(counts, tuple(codes[:, c] for c in columns), 1.0)
    return counts / len(codes)


@few
@given(seed=seeds, gaps=st.booleans(), target=st.sampled_from([None, "b", ("a", "c")]))
def test_the_gradient_is_the_derivative(seed, gaps, target):
    network = random_network(seed, sizes=(2, 3, 2, 2))
    codes = with_gaps(drawn(network, 20, seed), 0.3 * gaps, seed)
    objective = objective_of(CYCLE, codes, l2=0.3, target=target)
    theta = np.random.default_rng(seed).normal(size=len(objective.start))
    assert check_gradient(objective.value, objective.gradient, theta) < 1e-6


def test_the_value_is_minus_the_log_likelihood():
    network = random_network(0, sizes=(2, 3, 2, 2))
    codes = drawn(network, 20, 0)
    objective = objective_of(CYCLE, codes, l2=0.0, target="b")
    theta = np.random.default_rng(0).normal(size=len(objective.start))
    field = objective.design.field_at(theta)
    expected = 0.0
    for row in codes:
        given_ = {name: int(c) for name, c in zip("abcd", row, strict=True)}
        joint_ = Enumeration().log_partition(field, Request(evidence=GraphEvidence(given_)))
        del given_["b"]
        expected -= joint_ - Enumeration().log_partition(
            field, Request(evidence=GraphEvidence(given_))
        )
    assert_allclose(objective.value(theta), expected)


def test_a_decomposable_field_has_the_shares_of_the_data():
    network = random_network(4, sizes=(2, 3, 2))
    codes = drawn(network, 500, 0)
    field = fitted(CHAIN, codes, l2=0.0)
    assert_allclose(joint(field, "a", "b"), shares(codes, (0, 1), (2, 3)), atol=1e-6)
    assert_allclose(joint(field, "b", "c"), shares(codes, (1, 2), (3, 2)), atol=1e-6)
    ab, bc = shares(codes, (0, 1), (2, 3)), shares(codes, (1, 2), (3, 2))
    expected = 500 * (np.sum(ab * np.log(ab)) + np.sum(bc * np.log(bc / bc.sum(1)[:, None])))
    assert_allclose(field.fit_report.log_likelihood, expected, rtol=1e-9)


def test_at_the_optimum_expected_totals_equal_the_observed_ones():
    network = random_network(4, sizes=(2, 3, 2, 2))
    objective = objective_of(CYCLE, drawn(network, 300, 0), l2=0.0)
    field = fit_log_linear(objective, tol=1e-14)
    totals = objective.feature_totals(field.fit_report.solution.theta)
    assert_allclose(totals.expected, totals.observed, atol=1e-4)
    assert field.fit_report.converged and field.fit_report.method == "gradient"


def test_a_conditional_field_is_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 3))
    y = (rng.random(200) < 1 / (1 + np.exp(-(X @ [1.0, -2.0, 0.5] - 0.3)))).astype(int)
    codes = np.column_stack([X, y])
    field = field_of([("a", "d"), ("b", "d"), ("c", "d"), ("d",)], (2, 2, 2, 2))
    features = [Feature((x, "d"), [[0, 0], [0, 1]]) for x in "abc"] + [Feature(("d",), [0, 1])]
    weights = fitted(field, codes, features, l2=[1, 1, 1, 0], target="d").fit_report.solution.theta
    model = LogisticRegression(l2=1.0, tol=1e-12).fit(X, y)
    assert_allclose(weights, [*model.coef_.ravel(), *np.ravel(model.intercept_)], atol=1e-6)


def test_a_conditional_field_of_three_classes_is_softmax_regression():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 2))
    y = (rng.random((300, 3)) * [1.0, 1.5, 1.0] + X @ [[0.3, 0, 0], [0, 0, 0.4]]).argmax(axis=1)
    field = field_of([("a", "c"), ("b", "c"), ("c",)], (2, 2, 3))
    features = [Feature((x, "c"), [[0, 0, 0], np.eye(3)[k]]) for k in range(3) for x in "ab"] + [
        Feature(("c",), np.eye(3)[k]) for k in range(3)
    ]
    l2 = [0.5] * 6 + [0] * 3
    field = fitted(field, np.column_stack([X, y]), features, l2=l2, target="c")
    model = SoftmaxRegression(l2=0.5, tol=1e-12).fit(X, y)
    theta = field.fit_report.solution.theta
    assert_allclose(theta[:6].reshape(3, 2), model.coef_, atol=1e-6)
    bias = theta[6:] - theta[6:].mean()
    assert_allclose(bias, model.intercept_ - model.intercept_.mean(), atol=1e-6)


def test_tied_factors_share_their_table():
    field = field_of([("a", "b"), ("b", "c")], (2, 2, 2))
    codes = np.random.default_rng(0).integers(0, 2, (50, 3))
    features = cell_features(field, [("a", "b"), ("b", "c")])
    learned = fitted(field, codes, features, l2=0.1)
    assert_allclose(learned.factors[0].table, learned.factors[1].table)
    assert len(learned.fit_report.solution.theta) == 4
    twice = cell_features(field, [("a", "b"), ("c", "b")])  # the second is transposed
    learned = fitted(field, codes, twice, l2=0.1)
    assert_allclose(learned.factors[0].table, learned.factors[1].table.T)


def test_factors_without_features_are_kept_and_zeros_stay():
    field = MarkovField.from_potentials(
        {"a": 2, "b": 2}, {("a", "b"): [[1.0, 0.0], [1.0, 1.0]], "a": [1.0, 3.0]}
    )
    codes = np.array([[0, 0], [1, 0], [1, 1], [1, 1]])
    learned = fitted(field, codes, [Feature(("a", "b"), [[0, 0], [0, 1]])], l2=0.0)
    assert learned.factors[0].log_table[0, 1] == -np.inf
    assert_allclose(learned.factors[1].table, [1.0, 3.0])
    assert_allclose(joint(learned, "a", "b")[1, 1], 0.5, atol=1e-6)
    learned = fitted(field, codes, l2=0.0)
    assert_allclose(joint(learned, "a", "b"), [[0.25, 0.0], [0.25, 0.5]], atol=1e-5)
    with pytest.raises(InvalidInput, match=r"states of \(a, b\) whose potential is 0"):
        fitted(field, np.array([[0, 1]]))


def test_missing_cells_and_hidden_variables_raise_the_likelihood():
    network = random_network(4, sizes=(2, 3, 2, 2))
    codes = with_gaps(drawn(network, 60, 0), 0.3, 1)
    objective = objective_of(CYCLE, codes, l2=0.1)
    field = fit_log_linear(objective)
    assert field.fit_report.log_likelihood > -objective.value(objective.start)
    assert np.all(np.diff(field.fit_report.trace) >= -1e-9)


def test_weights_are_repetitions():
    codes = drawn(random_network(4, sizes=(2, 3, 2)), 30, 0)
    weight = np.arange(30) % 3
    a = fitted(CHAIN, codes, l2=0.2, weight=weight)
    b = fitted(CHAIN, np.repeat(codes, weight, axis=0), l2=0.2)
    for one, other in zip(a.factors, b.factors, strict=True):
        assert_allclose(one.table, other.table, atol=1e-6)
    assert a.fit_report.weight == b.fit_report.weight == weight.sum()


def test_cells_never_seen_have_no_estimate_without_a_penalty():
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 2, 1]])
    with pytest.warns(BoundaryEstimate, match=r"features are 0 in every row.*Use l2 > 0"):
        fitted(CHAIN, codes, l2=0.0, tol=1e-6)
    assert np.isfinite(fitted(CHAIN, codes, l2=0.1).fit_report.log_likelihood)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (Feature(("a", "c"), np.ones((2, 2))), "no factor of the field on exactly"),
        (Feature(("a", "b"), np.ones((3, 2))), r"shape \(3, 2\); \(2, 3\)"),
        (Feature(("a", "z"), np.ones((2, 2))), "no variable 'z'"),
    ],
)
def test_features_that_do_not_fit_are_refused(feature, message):
    with pytest.raises((InvalidInput, UnknownName), match=message):
        objective_of(CHAIN, np.zeros((2, 3), dtype=int), [feature])


def test_bad_arguments_are_refused():
    codes = np.zeros((2, 3), dtype=int)
    with pytest.raises(InvalidInput, match="not finite"):
        Feature(("a", "b"), [[np.inf, 0]])
    with pytest.raises(InvalidInput, match="no features"):
        objective_of(CHAIN, codes, [])
    with pytest.raises(InvalidInput, match="l2 has the shape"):
        objective_of(CHAIN, codes, l2=[1.0, 2.0])
    with pytest.raises(InvalidInput, match="l2"):
        objective_of(CHAIN, codes, l2=-1.0)
    with pytest.raises(UnknownName, match="no variable 'z'"):
        objective_of(CHAIN, codes, target="z")
    frame = pd.DataFrame({"a": [0], "b": [1], "q": [1]})
    with pytest.raises(InvalidInput, match="'q' is no variable"):
        objective_of(CHAIN, frame)


def test_a_factor_keeps_its_name():
    field = MarkovField([Factor(CHAIN.factors[0].variables, np.ones((2, 3)), name="link")])
    assert fitted(field, np.array([[0, 1]]), l2=1.0).factors[0].name == "link"
