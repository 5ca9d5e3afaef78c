"""Ordinal regression: order, layouts, frames and files, two classes, refusals, many classes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import AlphabeticalOrder, InvalidInput, RedundantColumns, Separation
from likely.linear.logistic import LogisticRegression
from likely.linear.ordinal import OrdinalRegression, with_falling_thresholds
from likely.links import Probit
from likely.solvers.search_problem import Found

LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]
SIZES = ["small", "medium", "large"]
TIGHT = 1e-12  # tol, so that two fits agree to more digits than the default certifies


SLOW_MODEL = OrdinalRegression("cauchit", l1=1.0, l2=0.0)


@pytest.mark.parametrize(
    "model", [OrdinalRegression(), pytest.param(SLOW_MODEL, marks=pytest.mark.slow)], ids=str
)
def test_scikit_learn_accepts_it(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its data are separable, its y infinite
        found = check_estimator(model, on_skip=None)
    assert sum(check["status"] == "passed" for check in found) >= 62


def some_data(n=400, p=3, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    latent = X @ np.linspace(1.5, -1, p) + rng.logistic(size=n)
    return X, np.searchsorted(np.quantile(latent, np.arange(1, K) / K), latent)


def sized(y):
    """Labels whose sorted order (large, medium, small) is not their order."""
    return np.array(SIZES)[y]


@pytest.mark.parametrize("link", LINKS)
def test_the_fit_is_the_minimum_of_the_penalised_likelihood(link):
    X, y = some_data()
    model = OrdinalRegression(link, l2=2.0, tol=TIGHT).fit(X, y)
    assert model.solution_.converged

    def objective(coef, thresholds):
        other = OrdinalRegression(link, l2=2.0).fit(X, y)
        other.coef_, other.thresholds_ = coef, thresholds
        return -other.log_likelihood(X, y) + coef @ coef

    best = objective(model.coef_, model.thresholds_)
    rng = np.random.default_rng(1)
    for _ in range(10):
        step = 0.01 * rng.normal(size=6)
        assert objective(model.coef_ + step[:3], model.thresholds_ + step[3:]) > best


def test_probabilities_ranks_and_survival_tell_the_same_story():
    X, y = some_data()
    model = OrdinalRegression().fit(X, y)
    p, survival = model.predict_proba(X), model.survival(X)
    assert_allclose(p.sum(axis=1), 1)
    assert_allclose(survival, 1 - np.cumsum(p, axis=1)[:, :-1], rtol=1e-12, atol=1e-12)
    assert_allclose(model.expected_rank(X), p @ [1, 2, 3, 4])
    assert_allclose(np.exp(model.predict_log_proba(X)), p)
    assert_array_equal(model.predict(X), p.argmax(axis=1))
    log_odds = np.log(survival / (1 - survival))
    assert_allclose(log_odds, model.thresholds_ + model.linear_predictor(X)[:, None], rtol=1e-9)
    assert (np.diff(model.thresholds_) < 0).all()
    assert_allclose(model.log_likelihood(X, y), model.inference_.log_likelihood, rtol=1e-9)


def test_the_difference_of_two_log_odds_is_the_same_at_every_threshold():
    X, y = some_data()
    model = OrdinalRegression().fit(X, y)
    survival = model.survival(X[:2])
    odds = survival / (1 - survival)
    expected = model.coef_ @ (X[0] - X[1])
    assert_allclose(np.log(odds[0] / odds[1]), np.full(3, expected), rtol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_two_classes_are_a_logistic_regression(link):
    X, y = some_data(K=2)
    ordinal = OrdinalRegression(link, l2=0.5, tol=TIGHT).fit(X, y)
    logistic = LogisticRegression(link, l2=0.5, tol=TIGHT).fit(X, y)
    assert_allclose(ordinal.coef_, logistic.coef_[0], rtol=1e-6)
    assert_allclose(ordinal.thresholds_, logistic.intercept_, rtol=1e-6, atol=1e-9)
    assert_allclose(ordinal.predict_proba(X), logistic.predict_proba(X), atol=1e-7)
    if link == "logit":  # observed and expected information are one for the canonical link
        assert_allclose(
            ordinal.inference_.standard_errors, logistic.inference_.standard_errors, rtol=1e-5
        )


def test_the_order_is_given_or_that_of_a_categorical_or_sorted():
    X, y = some_data(K=3)
    labels = sized(y)
    codes = OrdinalRegression(tol=TIGHT).fit(X, y)
    categorical = pd.Series(pd.Categorical(labels, categories=SIZES, ordered=True))
    enum = pl.Series(labels, dtype=pl.Enum(SIZES))
    fits = [
        OrdinalRegression(order=SIZES, tol=TIGHT).fit(X, labels),
        OrdinalRegression(tol=TIGHT).fit(X, categorical),
        OrdinalRegression(tol=TIGHT).fit(X, enum),
    ]
    for fit in fits:
        assert list(fit.classes_) == SIZES
        assert_allclose(fit.coef_, codes.coef_, rtol=1e-9)
        assert_array_equal(fit.predict(X), sized(codes.predict(X)))
        assert_allclose(fit.log_likelihood(X, labels), codes.log_likelihood(X, y))
    with pytest.warns(AlphabeticalOrder, match=r"order: large < medium < small; .*\(order=, or"):
        assert list(OrdinalRegression().fit(X, labels).classes_) == sorted(SIZES)


def test_the_reverse_order_turns_every_sign_around():
    X, y = some_data(K=3)
    up = OrdinalRegression(tol=TIGHT).fit(X, y)
    down = OrdinalRegression(order=[2, 1, 0], tol=TIGHT).fit(X, y)
    assert_allclose(down.coef_, -up.coef_, rtol=1e-7)
    assert_allclose(down.thresholds_, -up.thresholds_[::-1], rtol=1e-7)
    loglog = OrdinalRegression("loglog", tol=TIGHT).fit(X, y)
    cloglog = OrdinalRegression("cloglog", order=[2, 1, 0], tol=TIGHT).fit(X, y)
    assert_allclose(cloglog.coef_, -loglog.coef_, rtol=1e-6)


def test_arrays_sparse_rows_frames_and_files_give_the_same_fit(tmp_path):
    X, y = some_data(K=3)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(size=sized(y), w=weight)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = OrdinalRegression(order=SIZES, tol=TIGHT)
    dense = model.fit(X, sized(y), weight).coef_
    assert_allclose(model.fit(csr_array(X), sized(y), weight).coef_, dense, rtol=1e-7)
    assert_allclose(model.fit(X.astype(np.float32), sized(y), weight).coef_, dense, rtol=1e-4)
    assert_allclose(model.fit(frame, "size", "w").coef_, dense, rtol=1e-7)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    file = model.fit(tmp_path / "rows.csv", "size", "w")
    assert_allclose(file.coef_, dense, rtol=1e-7)
    assert file.solution_.passes >= 3
    assert list(file.classes_) == SIZES


def test_categories_are_codes_and_a_penalty_gives_each_a_coefficient():
    X, y = some_data(K=3, p=1)
    colour = np.random.default_rng(3).choice(["blue", "green", "red"], len(y))
    frame = pl.DataFrame({"x": X[:, 0], "colour": colour})
    one_hot = np.column_stack([X, colour == "blue", colour == "green", colour == "red"])
    penalised = OrdinalRegression(tol=TIGHT).fit(frame, y)
    assert penalised.terms_ == ("x", "colour[blue]", "colour[green]", "colour[red]")
    assert_allclose(
        penalised.coef_, OrdinalRegression(tol=TIGHT).fit(one_hot, y).coef_, rtol=1e-6, atol=1e-8
    )
    free = OrdinalRegression(l2=0, tol=TIGHT).fit(frame, y)
    reference = OrdinalRegression(l2=0, tol=TIGHT).fit(one_hot[:, [0, 2, 3]], y)
    assert_allclose(free.coef_, reference.coef_, rtol=1e-6, atol=1e-8)


def test_weight_two_is_the_row_twice_and_weight_zero_is_none():
    X, y = some_data()
    weight = np.random.default_rng(4).integers(0, 3, len(y))
    model = OrdinalRegression(tol=TIGHT)
    weighted = model.fit(X, y, weight)
    coef, errors = weighted.coef_, weighted.inference_.standard_errors
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(repeated.coef_, coef, rtol=1e-8)
    assert_allclose(repeated.inference_.standard_errors, errors, rtol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "proximal-newton", "fista"])
def test_all_solvers_agree(solver):
    X, y = some_data()
    newton = OrdinalRegression(tol=TIGHT).fit(X, y)
    other = OrdinalRegression(solver=solver, tol=1e-10, max_iter=5000).fit(X, y)
    assert other.solution_.converged
    assert_allclose(other.coef_, newton.coef_, atol=1e-4)
    assert_allclose(other.thresholds_, newton.thresholds_, atol=1e-4)


def test_a_lasso_sets_coefficients_to_zero_and_leaves_the_thresholds_free():
    X, y = some_data()
    noise = np.random.default_rng(5).normal(size=(len(y), 3))
    model = OrdinalRegression(l1=20.0, l2=0.0).fit(np.column_stack([X, noise]), y)
    assert model.solution_.solver == "proximal Newton"
    assert_array_equal(model.coef_[3:], 0)
    assert (model.coef_[[0, 2]] != 0).all()
    assert np.isnan(model.inference_.standard_errors[3:6]).all()
    all_gone = OrdinalRegression(l1=1e4, l2=0.0).fit(X, y)
    assert_array_equal(all_gone.coef_, 0)
    assert_allclose(all_gone.predict_proba(X[:1])[0], np.bincount(y) / len(y), atol=1e-6)


def test_units_and_places_of_columns_do_not_matter():
    X, y = some_data()
    plain = OrdinalRegression(l2=0, tol=TIGHT).fit(X, y)
    scale, shift = np.array([1e8, 1.0, 1e-8]), np.array([0.0, 1e5, 3.0])
    moved = OrdinalRegression(l2=0, tol=TIGHT).fit(X * scale + shift, y)
    assert_allclose(moved.coef_ * scale, plain.coef_, rtol=1e-5)
    assert_allclose(moved.thresholds_ + moved.coef_ @ shift, plain.thresholds_, rtol=1e-4)
    errors = moved.inference_.standard_errors[:3] * scale
    assert_allclose(errors, plain.inference_.standard_errors[:3], rtol=1e-5)


def test_many_rows_start_from_some_and_end_where_all_rows_do():
    X, y = some_data(n=30_000)
    model = OrdinalRegression().fit(X, y)
    assert model.solution_.passes < 5
    exact = OrdinalRegression(tol=1e-14).fit(X, y)
    assert_allclose(model.coef_, exact.coef_, rtol=1e-5)


def test_a_class_that_is_missing_from_the_first_rows_is_learned_all_the_same():
    X, y = some_data(n=30_000)
    y = np.where(y == 2, 1, y)
    y[-3:] = 2  # three examples, at the very end
    model = OrdinalRegression(tol=TIGHT).fit(X, y)
    assert model.solution_.converged
    share = model.predict_proba(X).mean(axis=0)
    assert_allclose(share, np.bincount(y) / len(y), rtol=0.02)


def test_a_hundred_classes_are_fitted_in_order():
    X, y = some_data(n=20_000, K=100)
    model = OrdinalRegression(tol=TIGHT).fit(X, y)
    assert model.solution_.converged
    assert (np.diff(model.thresholds_) < 0).all()
    few = OrdinalRegression(tol=TIGHT).fit(X, y // 25)  # proportional odds survive merging
    assert_allclose(model.coef_, few.coef_, rtol=0.05)
    assert_allclose(model.thresholds_[24::25], few.thresholds_, atol=0.1)


def test_a_last_step_that_makes_thresholds_cross_is_taken_back():
    solution = OrdinalRegression().fit(*some_data()).solution_
    before, step = np.array([5.0, 1.0, 0.9]), np.array([1.0, 0.0, 0.2])
    crossed = Found(before + step, solution, None, (), step)
    assert_allclose(with_falling_thresholds(crossed, 1).theta, before)
    fine = crossed._replace(theta=before)
    assert with_falling_thresholds(fine, 1) is fine


def test_threads_give_the_same_fit():
    X, y = some_data(n=3000)
    serial = OrdinalRegression(executor="serial").fit(X, y)
    threads = OrdinalRegression(executor="threads").fit(X, y)
    assert_allclose(threads.coef_, serial.coef_, rtol=1e-9)


def test_the_summary_names_coefficients_and_thresholds():
    X, y = some_data(K=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OrdinalRegression(Probit(), order=SIZES, l2=0).fit(frame, sized(y))
    table = model.summary().to_frame()
    assert list(table.index) == ["a", "b", "c", "Y > small", "Y > medium"]
    assert_allclose(table["coef"], [*model.coef_, *model.thresholds_])
    assert "3 ordered classes, probit link" in str(model.summary())
    assert model.wald_test(["a", "b"]).p < 1e-6
    null = len(y) * np.log(1 / 3)
    assert_allclose(model.inference_.null_log_likelihood, null, rtol=1e-4)
    assert model.inference_.n_parameters == 5


def test_separated_classes_are_named_and_a_penalty_helps():
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.repeat([0, 1, 2], 10)
    with pytest.warns(Separation, match="'x0'.*no finite estimate.*penalty"):
        assert OrdinalRegression(l2=0).fit(X, y).separated_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OrdinalRegression(l2=0.1).fit(X, y)
    assert not model.separated_
    assert model.score(X, y) > 0.9


def test_columns_that_repeat_or_never_vary_are_held_at_zero():
    X, y = some_data()
    doubled = np.column_stack([X, X[:, 0], np.ones(len(y))])
    with pytest.warns(RedundantColumns, match="'x3', 'x4'"):
        model = OrdinalRegression(l2=0, tol=TIGHT).fit(doubled, y)
    assert_array_equal(model.coef_[3:], 0)
    plain = OrdinalRegression(l2=0, tol=TIGHT).fit(X, y)
    assert_allclose(model.coef_[:3], plain.coef_, rtol=1e-7)


def test_a_search_that_stops_early_says_so():
    X, y = some_data()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached"):
        OrdinalRegression(max_iter=1, tol=1e-12).fit(X, y)


@pytest.mark.parametrize(
    ("change", "labels", "message"),
    [
        ({"order": ["small", "tiny", "medium", "large"]}, SIZES, "'tiny', which no row has"),
        ({"order": ["small", "medium"]}, SIZES, "y has the label 'large'; the order is"),
        ({"order": ["small", "small", "medium", "large"]}, SIZES, "'small' twice"),
        ({}, ["one"], "only one class, 'one'"),
        ({"link": "log"}, SIZES, "no link of an ordinal response 'log'; choose one of"),
        ({"link": "logitt"}, SIZES, "Did you mean 'logit'"),
        ({"l2": -1.0}, SIZES, "l2=-1 is not a strength"),
        ({"tol": 0}, SIZES, "tol is 0"),
        ({"solver": "neutron"}, SIZES, "no solver 'neutron'"),
        ({"solver": "newton", "l1": 1.0}, SIZES, "smooth objective"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_advice(change, labels, message):
    X, y = some_data(K=3)
    names = np.resize(labels, 3)[y]
    with pytest.raises(InvalidInput, match=message):
        OrdinalRegression(**{"order": labels, **change}).fit(X, names)


def test_numbers_are_not_classes():
    with pytest.raises(InvalidInput, match=r"1500 different labels.*GLM"):
        OrdinalRegression().fit(np.zeros((1500, 1)), np.arange(1500))


def test_gaps_are_named_in_the_fit_and_in_the_prediction():
    X, y = some_data()
    model = OrdinalRegression().fit(X, y)
    X[7, 1] = np.nan
    for rows in (X, csr_array(X)):
        with pytest.raises(InvalidInput, match="NaN: row 7, column 'x1'"):
            OrdinalRegression().fit(rows, y)
    with pytest.raises(InvalidInput, match="NaN: row 7, column 'x1'"):
        model.predict(X)
