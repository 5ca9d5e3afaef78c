"""Calibration: the targets, the optimum, references, unseen rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from likely import GLM, NaiveBayes
from likely.calibrate.isotonic import IsotonicScaling
from likely.calibrate.platt import PlattObjective, PlattScaling, platt_targets
from likely.calibrate.scaling import scores_of
from likely.calibrate.temperature import TemperatureScaling
from likely.differences import check_gradient, check_hessian
from likely.inputs.estimators import folds_of
from likely.special import LOG_FLOOR
from tests.scalings import CANCER, SCALINGS, every_scaling, halves, noisy, score_alone


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@every_scaling
def test_passes_the_checks_of_scikit_learn(scaling):
    results = check_estimator(scaling(NaiveBayes()), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 61


def test_targets_are_those_of_platt_and_count_rows_by_weight():
    positive = np.array([True, True, True, False])[:, None]
    assert_allclose(platt_targets(positive, np.ones(4)).ravel(), [4 / 5] * 3 + [1 / 3])
    weight = np.array([1.0, 0.5, 0.5, 3.0])
    assert_allclose(platt_targets(positive, weight).ravel(), [3 / 4] * 3 + [1 / 5])


def soft_loss(parameters, f, targets, weight):
    a, b = parameters
    p = expit(-(a * f + b))
    return -np.sum(weight * (targets * np.log(p) + (1 - targets) * np.log1p(-p)))


@given(seed=st.integers(0, 999))
def test_platt_is_logistic_regression_on_soft_targets(seed):
    """KER-5: (A, B) are those of LR-1 on f with the targets of Platt; (−1, 0) has no less loss."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    f = rng.normal(size=60) + y + 3.0
    weight = rng.uniform(0.5, 2.0, 60)
    model, X = score_alone(f)
    platt = PlattScaling(model, "prefit").fit(X, y, weight)
    above, below = weight[y == 1].sum(), weight[y == 0].sum()
    targets = np.where(y == 1, (above + 1) / (above + 2), 1 / (below + 2))
    logistic = GLM("bernoulli", tol=1e-14).fit(X, targets, weight)
    assert_allclose(platt.a_, -logistic.coef_, rtol=1e-6, atol=1e-7)
    assert_allclose(platt.b_, -logistic.intercept_, rtol=1e-6, atol=1e-6)
    best = minimize(soft_loss, [-1.0, 0.0], (f, targets, weight), method="BFGS").fun
    reached = soft_loss((platt.a_[0], platt.b_[0]), f, targets, weight)
    assert platt.solution_.converged
    assert_allclose(platt.solution_.trace[-1], reached)
    assert reached <= best + 1e-9
    assert reached <= soft_loss((-1.0, 0.0), f, targets, weight)
    assert_allclose(platt.predict_proba(X)[:, 1], logistic.predict(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@every_scaling
def test_a_scaling_has_the_log_likelihood_of_its_probabilities(scaling, n_classes):
    """EST-1: of each row and in total, by weight; a row of weight 0 is absent, even if at −∞."""
    X, y, new, truth = halves(n_classes)
    model = scaling(GaussianNB()).fit(X, y)
    each = model.log_likelihoods(new, truth)
    p = model.predict_proba(new)
    assert_allclose(np.exp(each), p[np.arange(len(new)), truth], rtol=1e-12)
    finite = np.isfinite(each)
    weight = np.where(finite, np.random.default_rng(0).uniform(0.5, 2, len(new)), 0.0)
    total = model.log_likelihood(new, truth, weight)
    expected = -log_loss(truth[finite], p[finite], sample_weight=weight[finite], normalize=False)
    assert_allclose(total, expected, rtol=1e-9)
    assert_allclose(model.log_likelihood(new, truth), each.sum())


def test_the_derivatives_of_the_platt_objective_are_its_differences():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=(20, 3)), rng.uniform(0.5, 2, 20)
    positive = np.arange(3) == rng.integers(0, 3, 20)[:, None]
    objective = PlattObjective(scores, platt_targets(positive, weight), weight)
    theta = rng.normal(size=6)

    def slope(at):
        return objective.second_order(at).gradient

    assert check_gradient(lambda at: objective.second_order(at).value, slope, theta) < 1e-7
    assert check_hessian(slope, lambda at: objective.second_order(at).hessian, theta) < 1e-7


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_separated_scores_keep_a_finite_slope_wherever_they_are(shift):
    f = np.r_[-2.0, -1.0, 1.0, 2.0]
    model, X = score_alone(f + shift)
    platt = PlattScaling(model, "prefit").fit(X, [0, 0, 1, 1])
    assert -10 < platt.a_[0] < 0
    assert_allclose(platt.decision_function(X), -(platt.a_[0] * X[:, 0] + platt.b_[0]), rtol=1e-6)
    assert_allclose(platt.decision_function(X).sum(), 0, atol=1e-6)


def test_informative_scores_have_a_negative_slope_and_reversed_ones_a_positive():
    X, y = CANCER
    f = RidgeClassifier().fit(X, y).decision_function(X)
    for sign in (1, -1):
        model, F = score_alone(sign * f)
        assert np.sign(PlattScaling(model, "prefit").fit(F, y).a_[0]) == -sign


def test_a_constant_score_gives_the_share_of_the_classes():
    model, X = score_alone(np.full(8, 0.1))
    platt = PlattScaling(model, "prefit").fit(X, np.r_[np.zeros(6), np.ones(2)])
    targets = np.r_[np.full(6, 1 / 8), np.full(2, 3 / 4)]
    assert platt.a_[0] == 0
    assert_allclose(platt.predict_proba(X)[:, 1], targets.mean())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("scaling", "method"), [(PlattScaling, "sigmoid"), (IsotonicScaling, "isotonic")]
)
def test_agrees_with_scikit_learn_on_a_fitted_classifier(scaling, method, n_classes):
    """Their sigmoid is found by L-BFGS, to about 1e-4."""
    X, y, X_new, y_new = halves(n_classes)
    fitted = LinearSVC(random_state=0).fit(X, y)
    theirs = CalibratedClassifierCV(FrozenEstimator(fitted), method=method, ensemble=False)
    theirs = theirs.fit(X_new, y_new).predict_proba(X)
    ours = scaling(fitted, "prefit").fit(X_new, y_new).predict_proba(X)
    assert_allclose(ours, theirs, atol=1e-12 if method == "isotonic" else 2e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_temperature_agrees_with_scikit_learn(n_classes):
    """Of two classes, they take −f and f for the scores, so their temperature is twice ours."""
    X, y, X_new, y_new = halves(n_classes)
    fitted = LinearSVC(random_state=0).fit(X, y)
    theirs = CalibratedClassifierCV(FrozenEstimator(fitted), method="temperature", ensemble=False)
    ours = TemperatureScaling(fitted, "prefit").fit(X_new, y_new)
    assert_allclose(ours.predict_proba(X), theirs.fit(X_new, y_new).predict_proba(X), atol=1e-6)
    beta = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    assert_allclose((2 if n_classes == 2 else 1) * ours.temperature_, 1 / beta, rtol=1e-5)


def test_folds_of_a_splitter_pool_as_in_scikit_learn():
    X, y = noisy()
    cv = StratifiedKFold(4)
    theirs = CalibratedClassifierCV(LinearSVC(random_state=0), ensemble=False, cv=cv).fit(X, y)
    ours = PlattScaling(LinearSVC(random_state=0), cv).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    pairs = PlattScaling(LinearSVC(random_state=0), list(cv.split(X, y))).fit(X, y)
    assert_allclose(pairs.a_, ours.a_)


def test_rows_that_a_splitter_repeats_are_learned_from_twice():
    X, y = noisy()
    drawn = np.random.default_rng(0).integers(0, len(y), len(y))
    left = np.setdiff1d(np.arange(len(y)), drawn)
    by_splitter = TemperatureScaling(GaussianNB(), [(drawn, left)]).fit(X, y)
    by_hand = TemperatureScaling(GaussianNB().fit(X[drawn], y[drawn]), "prefit")
    assert by_splitter.temperature_ == by_hand.fit(X[left], y[left]).temperature_


@every_scaling
def test_folds_leave_the_estimator_as_if_fitted_to_all_rows(scaling):
    X, y = noisy()
    model = scaling(LogisticRegression(), cv=3).fit(X, y)
    assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


@given(seed=st.integers(0, 99), n_folds=st.integers(2, 8))
def test_numbered_folds_score_each_present_row_once_and_learn_every_class(seed, n_folds):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.r_[np.repeat([0, 1, 2], 2), rng.integers(-1, 3, 30)])
    folds = folds_of(n_folds, None, codes, codes=codes)
    assert (
        sorted(np.concatenate([fold for _, fold in folds])) == np.flatnonzero(codes >= 0).tolist()
    )
    for others, fold in folds:
        assert not set(others) & set(fold)
        assert set(codes[others]) == {0, 1, 2}


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianNB()], ids=["ours", "theirs"])
def test_probabilities_of_unseen_rows_lose_less(scaling, estimator):
    """By a tenth: naive Bayes is far too sure of measurements that repeat one another."""
    X, y = CANCER
    train = np.arange(len(y)) % 3 > 0
    plain = estimator.fit(X[train], y[train])
    model = scaling(estimator).fit(X[train], y[train])
    before = brier_score_loss(y[~train], plain.predict_proba(X[~train])[:, 1])
    assert brier_score_loss(y[~train], model.predict_proba(X[~train])[:, 1]) < 0.9 * before


def test_temperature_keeps_the_most_probable_class():
    X, y = noisy(n_classes=3)
    model = TemperatureScaling(SVC(decision_function_shape="ovr")).fit(X, y)
    assert_array_equal(model.predict(X), model.estimator_.decision_function(X).argmax(axis=1))
    assert model.temperature_ != 1
    assert model.solution_.converged


def test_logistic_regression_is_calibrated_already():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = rng.random(20_000) < expit(X @ [1.0, -2.0])
    assert abs(TemperatureScaling(LogisticRegression()).fit(X, y).temperature_ - 1) < 0.05
    platt = PlattScaling(LogisticRegression()).fit(X, y)
    assert_allclose([platt.a_[0], platt.b_[0]], [-1, 0], atol=0.05)


@every_scaling
@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(3), RandomForestClassifier(10)],
    ids=lambda e: type(e).__name__,
)
def test_probabilities_of_zero_and_one_are_believed_less(scaling, estimator):
    X, y, X_new, y_new = halves(3)
    model = scaling(estimator, cv=3).fit(X, y)
    proba = model.predict_proba(X_new)
    assert_allclose(proba.sum(axis=1), 1)
    plain = np.clip(model.estimator_.predict_proba(X_new), 1e-15, 1)
    rows = np.arange(len(y_new))
    assert (
        -np.log(np.clip(proba, 1e-15, 1))[rows, y_new].mean() < -np.log(plain)[rows, y_new].mean()
    )


def test_an_impossible_class_stays_the_least_probable_of_its_row():
    class Sure(GaussianNB):
        def predict_log_proba(self, X):
            return np.array([[0.0, -np.inf, -100.0], [np.log(0.5), np.log(0.5), -np.inf]])

    X, y = load_iris(return_X_y=True)
    values = scores_of(Sure().fit(X, y), X[:2]).values
    assert_allclose(values[0], [0, -100, -100])
    assert_allclose(values[1, 2], LOG_FLOOR)


def test_one_against_the_rest_is_the_log_odds_of_a_probability():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    p = model.predict_proba(X)
    odds = scores_of(model, X).against_rest()
    middling = (p > 1e-3) & (p < 1 - 1e-3)  # where 1 − p does not cancel
    assert middling.sum() > 10
    assert_allclose(odds[middling], logit(p[middling]))


def test_isotonic_levels_never_fall_and_are_weighted_shares():
    model, X = score_alone([1.0, 2.0, 3.0, 4.0])
    weight = [1.0, 3.0, 1.0, 1.0]
    fitted = IsotonicScaling(model, "prefit").fit(X, [0, 1, 0, 1], sample_weight=weight)
    assert_allclose(fitted.predict_proba(X)[:, 1], [0, 3 / 4, 3 / 4, 1])
    assert (np.diff(fitted.levels_[0]) >= 0).all()
    assert_allclose(fitted.predict_proba([[1.5], [-9.0], [9.0]])[:, 1], [3 / 8, 0, 1])


def test_a_row_that_every_isotonic_curve_denies_has_equal_probabilities():
    model, X = score_alone(np.eye(3)[[0, 1, 2] * 4] * 2, classes=(0, 1, 2))
    fitted = IsotonicScaling(model, "prefit").fit(X, [0, 1, 2] * 4)
    assert_allclose(fitted.predict_proba([[-1.0, -1.0, -1.0]]), 1 / 3)
    assert_array_equal(fitted.predict(X), [0, 1, 2] * 4)
