"""Paths of penalties: where they begin, each fit on them, and the choice by folds."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import ElasticNetCV, LassoCV
from sklearn.linear_model import lasso_path as sklearn_lasso_path
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import InvalidInput, UnknownName
from likely.linear.glm import GLM
from likely.linear.logistic import LogisticRegression
from likely.linear.ordinal import OrdinalRegression
from likely.linear.path import PenaltyPath
from likely.linear.regression import LinearRegression
from likely.linear.softmax import SoftmaxRegression
from likely.penalties import L1, L2, ElasticNet, Group

TIGHT = 1e-13  # of a gap: coefficients are as exact as its root
N, P = 60, 6


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + 1.0
    eta = X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 2]
    return X, eta, rng


def responses(name, seed=0, n=N):
    """X and y that suit the model."""
    X, eta, rng = table(seed, n)
    noisy = eta + rng.logistic(size=n)
    y = {
        "linear": noisy,
        "searched": noisy,
        "poisson": rng.poisson(np.exp(0.5 * eta)),
        "logistic": (noisy > 0.6).astype(int),
        "softmax": np.digitize(noisy, [-0.5, 1.5]),
        "ordinal": np.digitize(noisy, [-0.5, 1.5]),
    }[name]
    return X, y


MODELS = {
    "linear": LinearRegression(tol=TIGHT),
    "searched": LinearRegression(tol=TIGHT, solver="proximal-newton"),
    "poisson": GLM("poisson", tol=TIGHT),
    "logistic": LogisticRegression(l2=0.0, tol=TIGHT),
    "softmax": SoftmaxRegression(l2=0.0, tol=TIGHT),
    "ordinal": OrdinalRegression(l2=0.0, tol=TIGHT),
}
every_model = pytest.mark.parametrize("name", MODELS)


def bare(model):
    """Without standard errors, where the model has a choice."""
    free = "covariance" in model.get_params()
    return clone(model).set_params(standard_errors=None) if free else clone(model)


@every_model
def test_the_first_penalty_is_the_least_that_keeps_all_coefficients_at_zero(name):
    X, y = responses(name)
    path = PenaltyPath(MODELS[name], cv=None, n_penalties=3).fit(X, y)
    assert path.n_nonzero_[0] == 0
    first = path.penalties_[0]
    assert not bare(MODELS[name]).set_params(l1=first).fit(X, y).coef_.any()
    assert bare(MODELS[name]).set_params(l1=first * (1 - 1e-4)).fit(X, y).coef_.any()


@every_model
def test_every_point_of_a_path_is_the_fit_at_its_penalty(name):
    X, y = responses(name)
    path = PenaltyPath(MODELS[name], cv=None, n_penalties=6, smallest=1e-2).fit(X, y)
    for i in (1, 3, 5):
        alone = bare(MODELS[name]).set_params(l1=path.penalties_[i]).fit(X, y)
        assert_allclose(path.coefs_[i], alone.coef_, atol=1e-6)
        beside = alone.thresholds_ if name == "ordinal" else alone.intercept_
        assert_allclose(path.intercepts_[i], beside, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "poisson", "logistic"])
def test_a_ridge_path_begins_below_one_hundredth_degree_of_freedom_a_column(name):
    X, y = responses(name)
    model = bare(MODELS[name])
    path = PenaltyPath(model, along="l2", cv=None, n_penalties=4).fit(X, y)
    free = model.set_params(l2=1e-9).fit(X, y)
    assert_allclose(path.penalties_[-1] / path.penalties_[0], 1e-7)
    assert np.abs(path.coefs_[0]).max() < 0.05 * np.abs(free.coef_).max()
    alone = model.set_params(l2=path.penalties_[2]).fit(X, y)
    assert_allclose(path.coefs_[2], alone.coef_, atol=1e-6)


def test_the_degrees_of_freedom_of_the_first_ridge_are_one_percent_at_most():
    X, y = responses("linear")
    first = PenaltyPath(MODELS["linear"], along="l2", cv=None).fit(X, y).penalties_[0]
    centred = X - X.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(centred.T @ centred)
    assert 0.009 * P < (eigenvalues / (eigenvalues + first)).sum() < 0.01 * P


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_a_lasso_path_agrees_with_scikit_learn(layout):
    X, y = responses("linear")
    ours = PenaltyPath(MODELS["linear"], cv=None, n_penalties=20).fit(layout(X), y)
    centred = X - X.mean(axis=0)
    alphas = ours.penalties_ / N
    _, theirs, _ = sklearn_lasso_path(centred, y - y.mean(), alphas=alphas, tol=1e-12)
    assert_allclose(ours.coefs_, theirs.T, atol=1e-6)


def test_folds_and_choice_agree_with_lasso_cv():
    X, y = responses("linear")
    cv = KFold(5, shuffle=True, random_state=0)
    ours = PenaltyPath(MODELS["linear"], cv=cv, rule="best", n_penalties=30).fit(X, y)
    theirs = LassoCV(cv=cv, alphas=30, eps=1e-3, tol=1e-10, max_iter=100_000).fit(X, y)
    assert_allclose(ours.penalties_ / N, theirs.alphas_)
    assert_allclose(ours.deviance_, theirs.mse_path_, rtol=1e-6)
    assert_allclose(ours.penalty_ / N, theirs.alpha_)
    assert_allclose(ours.model_.coef_, theirs.coef_, atol=1e-6)


def test_both_penalties_together_agree_with_elastic_net_cv():
    X, y = responses("linear")
    cv = KFold(4, shuffle=True, random_state=1)
    model = LinearRegression(l1=0.3, l2=0.7, tol=TIGHT)
    ours = PenaltyPath(model, along="both", cv=cv, rule="best", n_penalties=15).fit(X, y)
    theirs = ElasticNetCV(
        l1_ratio=0.3, cv=cv, alphas=ours.penalties_ / N, tol=1e-10, max_iter=100_000
    ).fit(X, y)
    assert_allclose(ours.deviance_, theirs.mse_path_, rtol=1e-6)
    assert_allclose(ours.penalty_ / N, theirs.alpha_)
    assert ours.n_nonzero_[0] == 0 < ours.n_nonzero_[1]


@pytest.mark.parametrize("name", ["linear", "poisson", "logistic"])
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(name):
    X, y = responses(name)
    weight = np.random.default_rng(3).integers(0, 3, N)
    index = np.repeat(np.arange(N), weight)
    half = np.arange(N) < N // 2
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    folds += [parts[::-1] for parts in folds]
    again = [tuple(np.flatnonzero(np.isin(index, part)) for part in parts) for parts in folds]
    weighted = PenaltyPath(MODELS[name], n_penalties=8, cv=folds).fit(X, y, sample_weight=weight)
    repeated = PenaltyPath(MODELS[name], n_penalties=8, cv=again).fit(X[index], y[index])
    assert_allclose(weighted.penalties_, repeated.penalties_, rtol=1e-7)
    assert_allclose(weighted.deviance_, repeated.deviance_, rtol=1e-6)
    assert_allclose(weighted.standard_error_, repeated.standard_error_, rtol=1e-5)
    assert weighted.index_ == repeated.index_
    assert_allclose(weighted.model_.coef_, repeated.model_.coef_, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_columns_of_factor_zero_are_free_and_others_wait_in_proportion(name):
    X, y = responses(name)
    factors = np.array([0.0, 1.0, 2.0, 1.0, 1.0, 4.0])
    model = bare(MODELS[name]).set_params(l1=factors)
    path = PenaltyPath(model, cv=None, n_penalties=5, smallest=0.1).fit(X, y)
    first = np.reshape(path.coefs_[0], -1)
    assert_array_equal(np.flatnonzero(first), [0])
    just_below = (1 - 1e-4) * path.penalties_[0]
    assert np.count_nonzero(clone(model).set_params(l1=just_below * factors).fit(X, y).coef_) == 2
    alone = clone(model).set_params(l1=path.penalties_[3] * factors).fit(X, y)
    assert_allclose(path.coefs_[3], alone.coef_, atol=1e-6)


def test_factors_by_name_equal_factors_by_column():
    X, y = responses("linear")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = PenaltyPath(LinearRegression(l1={"a": 1.0, "c": 2.0}, tol=TIGHT), cv=None)
    by_column = PenaltyPath(LinearRegression(l1=[1.0, 0, 2.0, 0, 0, 0], tol=TIGHT), cv=None)
    assert_allclose(by_name.fit(frame, y).coefs_, by_column.fit(X, y).coefs_, atol=1e-8)


def test_a_fixed_ridge_stays_along_l1():
    X, y = responses("linear")
    model = LinearRegression(l2=5.0, tol=TIGHT, standard_errors=None)
    path = PenaltyPath(model, cv=None, n_penalties=4, smallest=0.1).fit(X, y)
    alone = clone(model).set_params(l1=path.penalties_[2]).fit(X, y)
    assert_allclose(path.coefs_[2], alone.coef_, atol=1e-6)
    assert path.n_nonzero_[0] == 0


def test_a_penalised_intercept_is_held_by_the_first_penalty():
    X, y = responses("poisson")
    model = GLM("poisson", penalise_intercept=True, tol=TIGHT, standard_errors=None)
    path = PenaltyPath(model, cv=None, n_penalties=2).fit(X, y)
    below = clone(model).set_params(l1=(1 - 1e-4) * path.penalties_[0]).fit(X, y)
    assert path.n_nonzero_[0] == 0 == path.intercepts_[0]
    assert below.intercept_ != 0 or below.coef_.any()


@every_model
def test_classes_and_numbers_are_chosen_by_folds(name):
    X, y = responses(name)
    model = clone(MODELS[name]).set_params(tol=1e-8)
    path = PenaltyPath(model, n_penalties=6, cv=3).fit(X, y)
    assert path.deviance_.shape == (6, 3)
    assert path.index_ <= path.best_index_
    assert path.best_index_ == path.mean_deviance_.argmin()
    assert path.penalty_ == path.model_.l1 == path.penalties_[path.index_]
    # tol is on the gap, of which a coefficient is as exact as the root
    assert_allclose(path.model_.coef_, path.coefs_[path.index_], atol=1e-3)
    assert is_classifier(path) == is_classifier(model)
    assert is_regressor(path) == is_regressor(model)
    assert_array_equal(path.predict(X), path.model_.predict(X))
    assert path.score(X, y) == path.model_.score(X, y)


def test_the_deviance_of_a_fold_is_that_of_a_model_of_the_others():
    X, y = responses("logistic")
    cv = [(np.arange(20, N), np.arange(20)), (np.arange(40), np.arange(40, N))]
    path = PenaltyPath(MODELS["logistic"], n_penalties=4, cv=cv).fit(X, y)
    share = 40 / N  # of the rows, and so of the penalty
    model = bare(MODELS["logistic"]).set_params(l1=share * path.penalties_[2])
    model.fit(X[20:], y[20:])
    expected = -2 * model.log_likelihood(X[:20], y[:20]) / 20
    assert_allclose(path.deviance_[2, 0], expected, rtol=1e-6)


def test_the_chosen_model_keeps_its_own_settings():
    X, y = responses("logistic")
    path = PenaltyPath(LogisticRegression(l2=0.5), n_penalties=5, cv=3).fit(X, y)
    kept = path.model_.l2, path.model_.warm_start, path.model_.standard_errors
    assert kept == (0.5, False, "model")
    assert path.model_.inference_ is not None
    assert path.predict_proba(X).shape == path.predict_log_proba(X).shape == (N, 2)
    assert path.decision_function(X).shape == (N,)


def test_a_method_that_the_model_lacks_is_lacking():
    path = PenaltyPath(LinearRegression())
    assert callable(path.predict)
    assert not hasattr(path, "predict_proba")
    assert not hasattr(path, "decision_function")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_with_categories_and_their_own_target_go_straight_in(library):
    X, y = responses("linear")
    town = np.array(["Ulm", "Bonn", "Kiel"])[np.arange(N) % 3]
    frame = library({"a": X[:, 0], "b": X[:, 1], "town": town, "price": y + (town == "Ulm")})
    path = PenaltyPath(LinearRegression(), n_penalties=5, cv=3).fit(frame, "price")
    assert path.model_.terms_ == ("a", "b", "town[Bonn]", "town[Kiel]", "town[Ulm]")
    assert path.coefs_.shape == (5, 5)
    assert path.feature_names_in_.tolist() == ["a", "b", "town"]
    told = path.to_frame()
    assert type(told) is type(frame)
    by_hand = [path.penalties_, path.mean_deviance_, path.standard_error_, path.n_nonzero_]
    for name, column in zip(
        ["penalty", "deviance", "standard_error", "nonzero"], by_hand, strict=True
    ):
        assert_allclose(np.asarray(told[name]), column)


def test_without_a_frame_the_table_is_arrow_and_without_folds_it_has_no_deviance():
    X, y = responses("linear")
    path = PenaltyPath(LinearRegression(), n_penalties=3, cv=None).fit(X, y)
    assert path.to_frame().column_names == ["penalty", "nonzero"]
    with pytest.raises(InvalidInput, match="cv=None computes the path alone"):
        path.predict(X)


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_a_file_is_walked_without_folds(name, tmp_path):
    X, y = responses(name)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    whole = PenaltyPath(MODELS[name], n_penalties=3, cv=None)
    from_file = clone(whole).fit(tmp_path / "rows.csv", "y")
    assert_allclose(from_file.coefs_, whole.fit(X, y).coefs_, atol=1e-6)
    with pytest.raises(InvalidInput, match=r"needs rows in memory.*cv=None"):
        PenaltyPath(MODELS[name]).fit(str(tmp_path / "rows.csv"), "y")


def test_given_penalties_are_used_from_the_largest_down():
    X, y = responses("logistic")
    path = PenaltyPath(MODELS["logistic"], penalties=[0.1, 5.0, 1.0], cv=None).fit(X, y)
    assert_array_equal(path.penalties_, [5.0, 1.0, 0.1])


def test_folds_are_shuffled_by_the_random_state_alone():
    X, y = responses("linear")

    def deviance(seed):
        path = PenaltyPath(LinearRegression(), n_penalties=3, cv=4, random_state=seed)
        return path.fit(X, y).deviance_

    assert_array_equal(deviance(None), deviance(None))
    assert_array_equal(deviance(1), deviance(1))
    assert (deviance(1) != deviance(2)).any()


def test_a_constant_response_needs_no_column():
    X, _ = responses("linear")
    path = PenaltyPath(LinearRegression(), n_penalties=3, cv=3).fit(X, np.ones(N))
    assert_array_equal(path.n_nonzero_, 0)
    assert_allclose(path.predict(X), 1.0)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), along=st.sampled_from(["l1", "l2"]))
def test_the_fit_gets_no_worse_as_the_penalty_falls(seed, along):
    X, y = responses("linear", seed=seed, n=30)
    path = PenaltyPath(MODELS["linear"], along=along, cv=None, n_penalties=8).fit(X, y)
    residual = y[:, None] - X @ path.coefs_.T - path.intercepts_
    squares = (residual**2).sum(axis=0)
    assert (np.diff(squares) <= 1e-9 * squares[0]).all()


REFUSED = [
    ({"model": pd.DataFrame()}, "model is DataFrame"),
    ({"along": "l3"}, "no penalty to vary 'l3'; choose one of both, l1, l2"),
    ({"along": "both"}, "both must be above 0"),
    ({"rule": "least"}, "no rule 'least'"),
    ({"cv": 1}, "cv is 1; expected a number of folds"),
    ({"cv": [(np.arange(3), np.arange(3, 6))]}, "gives 1 folds"),
    ({"n_penalties": 0}, "n_penalties is 0"),
    ({"smallest": 1.0}, "smallest is 1.0"),
    ({"penalties": [1.0, 0.0]}, "finite numbers above 0"),
    ({"model": LinearRegression(l1=[0.0] * P)}, "nothing to vary"),
    ({"model": LogisticRegression(firth=True)}, "firth=True"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_arguments_that_make_no_sense_are_refused_with_advice(arguments, message):
    X, y = responses("linear")
    path = PenaltyPath(**({"model": LinearRegression()} | arguments))
    with pytest.raises((InvalidInput, UnknownName), match=message):
        path.fit(X, y)


def test_a_class_of_one_row_and_a_cell_that_is_not_finite_are_refused():
    X, y = responses("logistic")
    with pytest.raises(InvalidInput, match=r"Class .* has one row"):
        PenaltyPath(LogisticRegression(), n_penalties=2).fit(X, np.arange(N) == 0)
    X[4, 2] = np.nan
    for model in (LinearRegression(), LogisticRegression()):
        with pytest.raises(InvalidInput, match="row 4, column 'x2'"):
            PenaltyPath(model, n_penalties=2).fit(X, y)


def test_a_path_that_stops_early_says_so_once():
    X, y = responses("logistic")
    path = PenaltyPath(LogisticRegression(l2=0.0, max_iter=1), cv=None, n_penalties=6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path.fit(X, y)
    assert len(caught) == 1
    assert "did not converge at" in str(caught[0].message)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "least"), [(LinearRegression(), 59), (LogisticRegression(), 63)])
def test_scikit_learn_checks_pass(model, least):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks' data are degenerate on purpose
        results = check_estimator(PenaltyPath(model, n_penalties=5), on_fail=None, on_skip=None)
    status = Counter(result["status"] for result in results)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert status["passed"] >= least


@pytest.mark.parametrize(
    ("penalty", "strengths", "along"),
    [
        (L1(3.0), {"l2": 0.0}, "l1"),
        (ElasticNet(1.0, 2.0), {"l2": 2.0}, "l1"),
        (L2(2.0), {"l1": 0.0}, "l2"),
        (ElasticNet(0.3, 0.7), {"l1": 0.3, "l2": 0.7}, "both"),
        (L1([1.0, 2, 0, 1, 1, 1]) + L2(0.5), {"l1": [1.0, 2, 0, 1, 1, 1], "l2": 0.5}, "l1"),
    ],
)
@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_a_penalty_object_is_the_strengths_that_it_has(name, penalty, strengths, along):
    X, y = responses(name)
    plain = clone(MODELS[name]).set_params(**strengths)
    with_object = clone(MODELS[name]).set_params(penalty=penalty)
    ours, theirs = (
        PenaltyPath(model, along=along, n_penalties=8, smallest=0.05).fit(X, y)
        for model in (with_object, plain)
    )
    assert_allclose(ours.penalties_, theirs.penalties_, rtol=1e-12)
    assert_allclose(ours.coefs_, theirs.coefs_, rtol=1e-12, atol=1e-14)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.get_params()["model__penalty"] is penalty, "arguments stay as they were given"


def test_a_path_has_no_groups_and_refuses_what_is_no_penalty():
    X, y = responses("linear")
    with pytest.raises(InvalidInput, match="a path varies l1 and l2, and no groups"):
        PenaltyPath(LinearRegression(penalty=Group())).fit(X, y)
    with pytest.raises(InvalidInput, match=r"a penalty of likely\.penalties was expected"):
        PenaltyPath(LinearRegression(penalty="l1")).fit(X, y)
