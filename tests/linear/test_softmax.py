"""Softmax regression: solvers, layouts, identification, reference class, soft labels, refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from likely.errors import InvalidInput, RedundantColumns, Separation
from likely.generative.naive_bayes import NaiveBayes
from likely.linear.logistic import LogisticRegression
from likely.linear.softmax import SoftmaxRegression


def overlapping(seed=0, n=300, d=4, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def objective(model, X, y, l1=0.0, l2=0.0):
    return (
        -model.log_likelihood(X, y) + l1 * abs(model.coef_).sum() + l2 / 2 * (model.coef_**2).sum()
    )


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "fista", "proximal-newton"])
def test_every_solver_finds_the_same_optimum(solver):
    X, y = overlapping()
    exact = SoftmaxRegression(l2=2.0, solver="newton", tol=1e-14).fit(X, y)
    model = SoftmaxRegression(l2=2.0, solver=solver, tol=1e-10).fit(X, y)
    assert model.solution_.converged
    assert_allclose(model.coef_, exact.coef_, atol=1e-4)
    assert_allclose(model.intercept_, exact.intercept_, atol=1e-4)
    assert objective(model, X, y, l2=2.0) <= objective(exact, X, y, l2=2.0) * (1 + 1e-9)


def test_the_gap_of_lbfgs_is_honest_where_scores_are_confident():
    """Within a factor of three: it is an estimate, by the least curvature of the last ten steps."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600, 20:44], y[:600]
    exact = SoftmaxRegression(solver="newton", tol=1e-12).fit(X, y)
    best = objective(exact, X, y, l2=1.0)
    share = np.bincount(y) / len(y)
    null_deviance = -2 * len(y) * np.sum(share * np.log(share))
    for tol in (1e-3, 1e-5, 1e-7):
        model = SoftmaxRegression(solver="lbfgs", tol=tol).fit(X, y)
        assert model.solution_.converged
        assert objective(model, X, y, l2=1.0) - best <= 3 * tol * null_deviance


def test_auto_says_what_it_chose():
    X, y = overlapping()
    assert SoftmaxRegression().fit(X, y).solution_.solver == "Newton"
    assert SoftmaxRegression(l1=1.0).fit(X, y).solution_.solver == "proximal Newton"
    rng = np.random.default_rng(0)
    wide, labels = rng.normal(size=(60, 600)), rng.integers(0, 3, 60)
    model = SoftmaxRegression(l2=100.0, tol=1e-5).fit(wide, labels)
    assert model.solution_.solver == "L-BFGS"
    assert model.solution_.passes > model.n_iter_ > 1


def test_many_rows_start_from_some_of_them():
    X, y = overlapping(1, n=30_000, d=3)
    model = SoftmaxRegression(tol=1e-10).fit(X, y)
    few = SoftmaxRegression(tol=1e-10).fit(X[:3000], y[:3000])
    assert model.solution_.passes < few.solution_.passes


@pytest.mark.parametrize("options", [{"l2": 1.0}, {"l2": 0.0}, {"l2": 1.0, "solver": "lbfgs"}])
def test_weights_are_centred_over_classes(options):
    X, y = overlapping(2)
    model = SoftmaxRegression(**options).fit(X, y)
    assert_allclose(model.coef_.sum(axis=0), 0.0, rtol=1e-10, atol=1e-10)
    assert_allclose(model.intercept_.sum(), 0.0, rtol=1e-10, atol=1e-10)


def test_two_classes_are_logistic_regression_at_half_the_penalty():
    X, y = overlapping(3, n_classes=2)
    model = SoftmaxRegression(l2=3.0, tol=1e-13).fit(X, y)
    logistic = LogisticRegression(l2=1.5, tol=1e-13).fit(X, y)
    assert model.coef_.shape == (1, 4)
    assert_allclose(model.coef_, logistic.coef_, atol=1e-8)
    assert_allclose(model.intercept_, logistic.intercept_, atol=1e-8)
    assert_allclose(model.decision_function(X), logistic.decision_function(X), atol=1e-7)
    assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=1e-8)


def test_a_reference_class_changes_the_weights_and_not_the_unpenalised_fit():
    X, y = overlapping(4)
    labels = np.array(["a", "b", "c"])[y]
    free = SoftmaxRegression(l2=0.0, tol=1e-13).fit(X, labels)
    against = SoftmaxRegression(l2=0.0, reference="b", tol=1e-13).fit(X, labels)
    assert_array_equal(against.coef_[1], 0.0)
    assert against.intercept_[1] == 0.0
    assert_allclose(against.coef_, free.coef_ - free.coef_[1], atol=1e-7)
    assert_allclose(against.predict_proba(X), free.predict_proba(X), atol=1e-8)


def test_with_two_classes_and_a_reference_the_penalty_is_that_of_logistic_regression():
    X, y = overlapping(5, n_classes=2)
    model = SoftmaxRegression(l2=1.5, reference=0, tol=1e-13).fit(X, y)
    logistic = LogisticRegression(l2=1.5, tol=1e-13).fit(X, y)
    assert_allclose(model.coef_, logistic.coef_, atol=1e-8)


def test_an_unknown_reference_is_refused():
    X, y = overlapping()
    with pytest.raises(InvalidInput, match="no class for reference 7; choose one of 0, 1, 2"):
        SoftmaxRegression(reference=7).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"solver": "lbfgs"}, {"l1": 1.0}, {"reference": 2}])
def test_a_search_from_the_optimum_ends_there(options):
    X, y = overlapping(12)
    X = X + 5.0
    first = SoftmaxRegression(**options, tol=1e-9).fit(X, y)
    again = SoftmaxRegression(
        **options, tol=1e-7, start={"coef": first.coef_, "intercept": first.intercept_}, max_iter=6
    ).fit(X, y)
    assert again.solution_.trace[0] == pytest.approx(first.solution_.trace[-1], rel=1e-8)
    # a gap of 1e-7 of 200 nats leaves weights their root apart; L-BFGS, which measures its units
    # anew, takes a step of 8e-6, the others none
    assert_allclose(again.coef_, first.coef_, atol=1e-4)


def test_weights_of_naive_bayes_are_a_start():
    X = np.random.default_rng(0).poisson(2.0, size=(300, 5))
    score = X @ [1, -1, 0, 1, 0] + np.random.default_rng(1).normal(size=300)
    y = np.digitize(score, [0, 3])
    bayes = NaiveBayes("multinomial").fit(X, y)
    start = {"coef": bayes.class_coef_, "intercept": bayes.class_intercept_}
    model = SoftmaxRegression(start=start, tol=1e-14).fit(X, y)
    assert_allclose(model.coef_, SoftmaxRegression(tol=1e-14).fit(X, y).coef_, atol=1e-6)
    same = SoftmaxRegression(start=bayes.logistic_form(), tol=1e-14).fit(X, y)
    assert same.solution_.trace == model.solution_.trace
    with pytest.raises(InvalidInput, match=r"of shape \(3, 4\) and intercepts of shape \(3,\)"):
        SoftmaxRegression(start=start).fit(X[:, :4], y)
    with pytest.raises(InvalidInput, match="a mapping with coef and intercept was expected"):
        SoftmaxRegression(start=(bayes.class_coef_, bayes.class_intercept_)).fit(X, y)


def test_soft_labels_are_weighted_labels():
    X, y = overlapping(6)
    T = np.random.default_rng(0).dirichlet(np.ones(3), len(y))
    soft = SoftmaxRegression(tol=1e-13).fit(X, T)
    repeated = SoftmaxRegression(tol=1e-13).fit(
        np.repeat(X, 3, axis=0), np.tile(np.arange(3), len(y)), sample_weight=T.ravel()
    )
    assert_allclose(soft.coef_, repeated.coef_, atol=1e-8)
    one_hot = SoftmaxRegression(tol=1e-13).fit(X, np.eye(3)[y])
    assert_allclose(one_hot.coef_, SoftmaxRegression(tol=1e-13).fit(X, y).coef_, atol=1e-8)


def test_soft_labels_that_do_not_sum_to_one_are_refused():
    X, y = overlapping()
    T = np.eye(3)[y]
    T[4] = [0.5, 0.1, 0.1]
    with pytest.raises(InvalidInput, match=r"Row 4 of y is \[0.5, 0.1, 0.1\].*1 in sum.*Divide"):
        SoftmaxRegression().fit(X, T)


def test_dense_sparse_frames_and_files_are_the_same_fit(tmp_path):
    X, y = overlapping(7)
    X = np.where(abs(X) < 0.5, 0.0, X)
    names = [f"c{j}" for j in range(4)]
    frame = pd.DataFrame(X, columns=names).assign(label=np.array(["u", "v", "w"])[y])
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    dense = SoftmaxRegression(tol=1e-13).fit(X, frame["label"])
    others = [
        SoftmaxRegression(tol=1e-13).fit(sparse.csr_array(X), frame["label"]),
        SoftmaxRegression(tol=1e-13).fit(frame, "label"),
        SoftmaxRegression(tol=1e-13).fit(path, "label"),
    ]
    for other in others:
        assert_array_equal(other.classes_, ["u", "v", "w"])
        assert_allclose(other.coef_, dense.coef_, atol=1e-8)
        assert_allclose(other.intercept_, dense.intercept_, atol=1e-8)


def test_categories_are_their_indicators():
    X, y = overlapping(8, d=2)
    colour = np.random.default_rng(0).choice(["blue", "green", "red"], len(y))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": colour})
    expanded = np.column_stack([X, colour[:, None] == ["blue", "green", "red"]])
    by_codes = SoftmaxRegression(tol=1e-13).fit(frame, y)
    assert by_codes.terms_ == ("a", "b", "colour[blue]", "colour[green]", "colour[red]")
    assert_allclose(by_codes.coef_, SoftmaxRegression(tol=1e-13).fit(expanded, y).coef_, atol=1e-8)


def test_single_precision_agrees_to_four_digits():
    X, y = load_iris(return_X_y=True)
    for solver in ("newton", "lbfgs"):
        double = SoftmaxRegression(solver=solver).fit(X, y)
        single = SoftmaxRegression(solver=solver, tol=1e-6).fit(X.astype(np.float32), y)
        assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=2e-3)


def test_an_l1_penalty_leaves_weights_at_zero():
    X, y = overlapping(9, d=8)
    model = SoftmaxRegression(l1=20.0, l2=0.0).fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    best = objective(model, X, y, l1=20.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = SoftmaxRegression().fit(X, y)
        other.coef_ = model.coef_ + 1e-3 * rng.normal(size=model.coef_.shape)
        other.intercept_ = model.intercept_
        assert objective(other, X, y, l1=20.0) >= best


def test_a_column_in_large_units_gets_the_right_answer():
    X, y = overlapping(10)
    plain = SoftmaxRegression(l2=0.0, tol=1e-12).fit(X, y)
    scaled = SoftmaxRegression(l2=0.0, tol=1e-12).fit(X * [1e8, 1, 1, 1], y)
    assert_allclose(scaled.coef_ * [1e8, 1, 1, 1], plain.coef_, atol=1e-6)


def test_separated_classes_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(Separation, match="separated along 'x2'"):
        SoftmaxRegression(l2=0.0).fit(X, y)


def test_classes_that_overlap_are_not_called_separated():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SoftmaxRegression(l2=0.0).fit(X[50:], y[50:])
    assert_allclose(model.coef_, [[-2.465, -6.681, 9.429, 18.286]], atol=1e-3)


def test_a_repeated_column_is_named():
    X, y = overlapping(11)
    with pytest.warns(RedundantColumns, match="'x4' can be computed"):
        model = SoftmaxRegression(l2=0.0).fit(np.column_stack([X, X[:, 0]]), y)
    assert_allclose(model.coef_[:, 4], 0.0, rtol=1e-12, atol=1e-12)


def test_a_search_that_stops_early_says_so():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="max_iter=7 was reached with a gap"):
        model = SoftmaxRegression(solver="lbfgs", tol=1e-14, max_iter=7).fit(X, y)
    assert model.n_iter_ == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "newtn"}, "no solver 'newtn'.*mean 'newton'"),
        ({"solver": "newton", "l1": 1.0}, "needs a smooth objective"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"l2": -1.0}, "l2=-1 is not a strength"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    X, y = overlapping()
    with pytest.raises(InvalidInput, match=message):
        SoftmaxRegression(**options).fit(X, y)


def test_a_missing_cell_is_named():
    X, y = overlapping()
    X[5, 2] = np.nan
    for solver in ("newton", "lbfgs"):
        with pytest.raises(InvalidInput, match="contains NaN: row 5, column 'x2'"):
            SoftmaxRegression(solver=solver).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        SoftmaxRegression().fit(np.ones((4, 1)), np.zeros(4, dtype=int))


def test_a_strength_of_0_by_name_needs_no_corner():
    X, y = overlapping(3)
    frame = pd.DataFrame(X).rename(columns=lambda j: f"c{j}")
    named = SoftmaxRegression(l1={"c0": 0.0}, solver="lbfgs").fit(frame, y)
    plain = SoftmaxRegression(solver="lbfgs").fit(frame, y)
    assert_allclose(named.coef_, plain.coef_)


def test_strengths_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        SoftmaxRegression(0.5)


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression(l1=1.0, l2=0.0, tol=1e-11, warm_start=True).fit(X, y)
    steps, again = len(model.solution_.trace), model.fit(X, y)
    assert len(again.solution_.trace) < steps
    cold = SoftmaxRegression(l1=1.0, l2=0.0, tol=1e-11).fit(X, y)
    assert_allclose(again.coef_, cold.coef_, atol=1e-4)


@pytest.mark.parametrize(("n_classes", "solver"), [(3, "Newton"), (60, "L-BFGS")])
def test_many_classes_on_many_rows_are_not_searched_pair_by_pair(n_classes, solver):
    rng = np.random.default_rng(0)
    y = np.arange(6000) % n_classes
    X = y[:, None] / n_classes + rng.normal(size=(6000, 1))
    assert SoftmaxRegression().fit(X, y).solution_.solver == solver
