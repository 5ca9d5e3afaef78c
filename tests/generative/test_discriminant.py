"""Discriminant analysis: its shapes, the logistic form, shrinkage, gaps and singular data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from likely import (
    DiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    SoftmaxRegression,
    load,
    save,
)
from likely.distributions import Dirichlet, GaussianPrior
from likely.errors import InvalidInput, RedundantColumns, SingularCovariance, UnknownName
from tests.fits import gappy_numbers, numbers

COVARIANCES = ("tied", "full", "diagonal", "spherical")


def data(n=90, seed=0):
    return numbers(np.random.default_rng(seed), n)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_densities_are_gaussians(covariance):
    X, y = data()
    model = DiscriminantAnalysis(covariance).fit(X, y)
    given = model.covariances_
    for k in range(3):
        matrix = {
            "tied": lambda k: given,
            "full": lambda k: given[k],
            "diagonal": lambda k: np.diag(given[k]),
            "spherical": lambda k: given[k] * np.eye(3),
        }[covariance](k)
        expected = multivariate_normal(X[y == k].mean(axis=0), matrix).logpdf(X)
        joint = model.predict_joint_log_proba(X)[:, k]
        assert_allclose(joint, expected + np.log(np.mean(y == k)), rtol=1e-9)
    assert_allclose(model.log_likelihood(X, y), model.log_likelihoods(X, y).sum())


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_covariances_are_the_maximum_likelihood_estimates(covariance):
    X, y = data()
    own = np.stack([np.cov(X[y == k].T, ddof=0) for k in range(3)])
    variances = np.diagonal(own, axis1=1, axis2=2)
    expected = {
        "tied": np.average(own, axis=0, weights=np.bincount(y)),
        "full": own,
        "diagonal": variances,
        "spherical": variances.mean(axis=1),
    }[covariance]
    assert_allclose(DiscriminantAnalysis(covariance).fit(X, y).covariances_, expected)


@pytest.mark.parametrize(("covariance", "lost"), [("tied", 3), ("full", 1)])
def test_the_other_divisor(covariance, lost):
    X, y = data()
    n = 90 if covariance == "tied" else 30
    one, other = (DiscriminantAnalysis(covariance, ddof=d).fit(X, y) for d in (0, 1))
    assert_allclose(other.covariances_, one.covariances_ * n / (n - lost))


def test_a_tied_model_of_two_classes_is_logistic():
    """NB-16: p = σ(w · x + b)."""
    X, y = data()
    X, y = X[y < 2], y[y < 2]
    model = DiscriminantAnalysis().fit(X, y)
    assert model.coef_.shape == (1, 3)
    eta = X @ model.coef_[0] + model.intercept_[0]
    assert_allclose(model.predict_proba(X)[:, 1], expit(eta), rtol=1e-9)
    assert_allclose(model.decision_function(X), eta, rtol=1e-7)
    assert not hasattr(DiscriminantAnalysis("full").fit(X, y), "coef_")
    with pytest.raises(AttributeError, match=r"covariance is 'diagonal'; .* Set covariance='tied'"):
        _ = DiscriminantAnalysis("diagonal").fit(X, y).coef_


def test_diagonal_is_gaussian_naive_bayes():
    X, y = gappy_numbers(np.random.default_rng(0), 80)
    ours = DiscriminantAnalysis("diagonal").fit(X, y)
    assert_allclose(
        ours.predict_proba(X), NaiveBayes(variance_floor=0.0).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_full_shrinkage_is_a_multiple_of_the_identity(covariance):
    X, y = data()
    model = DiscriminantAnalysis(covariance, shrinkage=1.0).fit(X, y)
    given = model.covariances_
    if covariance == "spherical":
        given = given[:, None] * np.ones(3)
    matrices = given if covariance in ("tied", "full") else np.stack([np.diag(v) for v in given])
    for matrix in np.atleast_3d(matrices).reshape(-1, 3, 3):
        assert_allclose(matrix, matrix[0, 0] * np.eye(3), rtol=1e-12, atol=1e-12)
    assert_allclose(model.shrinkage_, 1.0)


def test_automatic_shrinkage_lies_between_and_helps_when_columns_outnumber_rows():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 60)) + 0.5 * y[:, None]
    new = rng.normal(size=(400, 60)) + 0.5 * (np.arange(400) % 2)[:, None]
    shrunk = DiscriminantAnalysis(shrinkage="auto").fit(X, y)
    assert ((shrunk.shrinkage_ > 0) & (shrunk.shrinkage_ < 1)).all()
    with pytest.warns(SingularCovariance, match=r"rank 38 for 60 features.*shrinkage='auto'"):
        plain = DiscriminantAnalysis().fit(X, y)
    assert shrunk.score(new, np.arange(400) % 2) > plain.score(new, np.arange(400) % 2)


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_missing_cells_are_summed_out(covariance):
    X, y = load_iris(return_X_y=True)
    whole = DiscriminantAnalysis(covariance).fit(X, y)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    model = DiscriminantAnalysis(covariance).fit(holes, y)
    assert model.solution_.converged
    assert_allclose(model.means_, whole.means_, atol=0.05)
    assert_allclose(model.covariances_, whole.covariances_, atol=0.04)
    assert model.score(holes, y) > 0.9
    marginal = whole.predict_joint_log_proba(np.where([True, False, True, False], X, np.nan))
    matrices = np.broadcast_to(whole.covariances_, (3, 4, 4))
    for k in range(3):
        part = multivariate_normal(whole.means_[k, [0, 2]], matrices[k][np.ix_([0, 2], [0, 2])])
        assert_allclose(marginal[:, k], part.logpdf(X[:, [0, 2]]) + np.log(1 / 3))


def test_too_few_steps_for_the_gaps_are_reported():
    X, y = gappy_numbers(np.random.default_rng(0), 60)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 was reached.*Raise max_iter"):
        DiscriminantAnalysis(max_iter=2).fit(X, y)


def test_constant_and_repeated_columns_are_reported_and_used_on_their_range():
    X, y = data()
    wide = np.column_stack([X, np.ones(90), X[:, 0]])
    with (
        pytest.warns(SingularCovariance, match=r"rank 3 for 4 features that vary"),
        pytest.warns(RedundantColumns, match=r"Column 'x3' is constant"),
    ):
        model = DiscriminantAnalysis().fit(wide, y)
    assert_allclose(model.predict_proba(wide), DiscriminantAnalysis().fit(X, y).predict_proba(X))


def test_diagonal_variances_do_not_depend_on_the_units_of_other_columns():
    X, y = data()
    X[y == 0, 1] *= 1e-3  # a narrow class: a floor relative to another column would widen it
    units = np.array([1e9, 1.0, 1.0])
    here = DiscriminantAnalysis("diagonal").fit(X, y)
    there = DiscriminantAnalysis("diagonal").fit(X * units, y)
    assert_allclose(there.covariances_, here.covariances_ * units**2, rtol=1e-9)
    assert_allclose(there.predict_proba(X * units), here.predict_proba(X), rtol=1e-9, atol=1e-9)


def test_a_class_without_variance_in_a_column_is_reported():
    X, y = data()
    X[y == 1, 2] = 4.0
    with pytest.warns(SingularCovariance, match=r"Class 1 has no variance in column 'x2'.*Drop"):
        model = DiscriminantAnalysis("diagonal").fit(X, y)
    assert_allclose(model.covariances_[1, 2], 1e-9 * X[:, 2].var(), rtol=1e-6)
    DiscriminantAnalysis("diagonal", shrinkage=0.1).fit(X, y)  # open again: no warning


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("constant", [0.3, -1 / 3, 1e8 / 3])
@pytest.mark.parametrize("n", [60, 5001])
def test_constants_that_are_no_binary_fraction_are_constants(covariance, constant, n):
    """0.3 gives the posteriors and the warnings of 0.5: its variance is 0, not 1e-31."""
    X, y = data(n)
    weight = np.random.default_rng(n).uniform(0.1, 1.0, n)
    full = covariance in ("tied", "full")
    posteriors = []
    for value in (constant, 0.5):
        Z = np.column_stack([X, np.full(n, value)])
        with pytest.warns(RedundantColumns):
            model = DiscriminantAnalysis(covariance).fit(Z, y, sample_weight=weight)
        if full:
            assert np.all(np.atleast_3d(model.covariances_.T)[3] == 0)
        posteriors.append(model.predict_proba(Z))
    assert_allclose(posteriors[0], posteriors[1], rtol=1e-9, atol=1e-9)


def test_a_constant_within_one_class_has_no_variance_there():
    X, y = data()
    X[y == 1, 0] = 0.3
    with pytest.warns(SingularCovariance):
        model = DiscriminantAnalysis("full").fit(X, y)
    assert_array_equal(model.covariances_[1][0], 0.0)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("shrinkage", [0.0, 0.2, "auto", "pooled"])
def test_a_constant_column_is_left_out_of_the_density(covariance, shrinkage):
    if isinstance(shrinkage, str) and covariance not in ("tied", "full")[shrinkage == "pooled" :]:
        pytest.skip("not for this covariance")
    X, y = data()
    wide = np.column_stack([X[:, 0], np.full(90, 0.1), X[:, 1:]])
    with pytest.warns(RedundantColumns, match="'x1' is constant"):
        model = DiscriminantAnalysis(covariance, shrinkage=shrinkage).fit(wide, y)
    plain = DiscriminantAnalysis(covariance, shrinkage=shrinkage).fit(X, y)
    moved = wide + np.array([0, 1e3, 0, 0])
    if shrinkage != "pooled":  # its imagined rows are as many as there are columns
        assert_allclose(
            model.predict_joint_log_proba(moved), plain.predict_joint_log_proba(X), rtol=1e-9
        )
    assert_allclose(model.predict_proba(moved), model.predict_proba(wide), rtol=1e-12, atol=1e-12)
    assert model.n_parameters() == plain.n_parameters()


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_a_class_of_one_row_is_refused(covariance, ddof):
    X, y = data()
    y = np.where(np.arange(90) == 7, 9, y)
    with pytest.raises(InvalidInput, match=r"class 9 are equal \(or it has only 1 row\).*'tied'"):
        DiscriminantAnalysis(covariance, ddof=ddof).fit(X, y)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_sampling_and_refitting_recovers_the_means(covariance):
    truth = DiscriminantAnalysis(covariance).fit(*data())
    X, y = truth.sample(30_000, random_state=0)
    refit = DiscriminantAnalysis(covariance).fit(X, y)
    deviation = np.sqrt(np.stack([X[y == k].var(axis=0) for k in range(3)]))
    error = deviation / np.sqrt(np.bincount(y))[:, None]
    assert (np.abs(refit.means_ - truth.means_) < 4 * error).all()
    assert_allclose(refit.covariances_, truth.covariances_, rtol=0.1, atol=0.05)
    assert_array_equal(truth.sample(5, random_state=3)[0], truth.sample(5, random_state=3)[0])


@pytest.mark.parametrize(
    ("covariance", "expected"),
    [("tied", 2 + 9 + 6), ("full", 2 + 9 + 18), ("diagonal", 2 + 18), ("spherical", 2 + 9 + 3)],
)
def test_parameters_are_counted(covariance, expected):
    assert DiscriminantAnalysis(covariance).fit(*data()).n_parameters() == expected


def test_explanations_add_up_for_every_covariance():
    X, y = data()
    for covariance in ("tied", "full", "diagonal", "spherical"):
        model = DiscriminantAnalysis(covariance).fit(X, y)
        log_proba = model.predict_log_proba(X)
        assert_allclose(model.explain(X, against=1).total, log_proba - log_proba[:, [1]])
    gappy = X.copy()
    gappy[::4, 1] = np.nan
    model = DiscriminantAnalysis("full").fit(X, y)
    log_proba = model.predict_log_proba(gappy)
    found = model.explain(gappy)
    assert_allclose(found.total, log_proba - log_proba[:, [0]], rtol=1e-10, atol=1e-10)
    assert not found.contributions[::4, 1].any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"covariance": "tide"}, UnknownName, r"covariance 'tide'.*Did you mean 'tied'"),
        ({"shrinkage": "automatic"}, UnknownName, r"no shrinkage 'automatic'"),
        ({"shrinkage": 1.5}, InvalidInput, r"between 0 and 1; found 1.5"),
        ({"shrinkage": None}, InvalidInput, r"between 0 and 1; found None"),
        ({"ddof": 2}, InvalidInput, r"ddof must be 0 or 1; found 2"),
        ({"tol": "x"}, InvalidInput, r"tol must be a finite number; found 'x'"),
        ({"covariance": "diagonal", "shrinkage": "auto"}, InvalidInput, r"tied and full"),
        ({"shrinkage": "pooled"}, InvalidInput, r"'pooled' is for full covariances, not 'tied'"),
        ({"calibrate": "heat"}, UnknownName, r"no calibration 'heat'; choose one of temperature"),
        ({"prior": "flat"}, UnknownName, r"no prior 'flat'; choose one of estimate, uniform"),
        ({"prior": [0.5, 0.5]}, InvalidInput, r"shape \(2,\); there are 3 classes"),
        ({"prior": [0.5, 0.5, 0.5]}, InvalidInput, r"it sums to 1.5"),
    ],
)
def test_wrong_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        DiscriminantAnalysis(**options).fit(*data())


@pytest.mark.parametrize(
    ("estimator", "classes"),
    [(LogisticRegression(), 2), (SoftmaxRegression(), 2), (SoftmaxRegression(l2=0.0), 3)],
)
def test_a_tied_model_is_exported_to_a_linear_one(estimator, classes, tmp_path):
    """NB-16: the same posterior, by an object of discriminative models; also from a file."""
    X, y = data()
    X, names = X[y < classes], np.array(["a", "b", "c"])[y[y < classes]]
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = DiscriminantAnalysis().fit(frame, names)
    linear = model.export_to(estimator)
    with pytest.raises(InvalidInput, match=r"in closed form\. Standard errors need a fit"):
        linear.summary()
    assert type(linear) is type(estimator)
    assert linear is not estimator
    assert linear.feature_names_in_.tolist() == ["u", "v", "w"]
    assert_allclose(linear.predict_proba(frame), model.predict_proba(frame), rtol=1e-9, atol=1e-9)
    assert_array_equal(linear.predict(frame), model.predict(frame))
    save(linear, tmp_path / "linear.likely")
    again = load(tmp_path / "linear.likely")
    assert_allclose(again.predict_proba(frame), linear.predict_proba(frame), rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_only_a_tied_model_is_exported(covariance):
    model = DiscriminantAnalysis(covariance).fit(*data())
    message = f"covariance is '{covariance}', and its posterior is not linear.*Fit one with covar"
    with pytest.raises(InvalidInput, match=message):
        model.export_to(SoftmaxRegression())


def test_class_shares_may_have_a_dirichlet_prior():
    """EST-7: π_k ∝ N_k + α_k − 1; a flat one is maximum likelihood."""
    X, y = data()
    X, y = X[5:], y[5:]
    counts = np.bincount(y)
    flat = DiscriminantAnalysis(prior=Dirichlet(1.0)).fit(X, y)
    assert_allclose(np.exp(flat.class_log_prior_), counts / counts.sum(), rtol=1e-12)
    model = DiscriminantAnalysis(prior=Dirichlet((3.0, 1.0, 11.0))).fit(X, y)
    expected = counts + np.array([2.0, 0.0, 10.0])
    assert_allclose(np.exp(model.class_log_prior_), expected / expected.sum(), rtol=1e-12)


def test_pooled_shrinkage_imagines_rows_with_the_covariance_of_all_classes():
    X, y = data()
    X, y = np.vstack([X, X[:1]]), np.append(y, 3)  # a class of one row
    model = DiscriminantAnalysis("full", shrinkage="pooled").fit(X, y)
    own = [np.cov(X[y == k].T, ddof=0) if k < 3 else np.zeros((3, 3)) for k in range(4)]
    count = np.bincount(y)
    pooled = np.average(own, axis=0, weights=count)
    for k in range(4):
        expected = (count[k] * own[k] + 5 * pooled) / (count[k] + 5)
        assert_allclose(model.covariances_[k], expected, rtol=1e-9)
    assert_allclose(model.shrinkage_, 5 / (count + 5))


def skewed(n, informative, seed=0):
    """Three classes, one of them rare, and columns that are not Gaussian."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=[0.8, 0.17, 0.03])
    X = rng.lognormal(0, 1.2, size=(n, 6)) + np.outer(y * informative, np.ones(6))
    return X, y


@pytest.mark.parametrize(("covariance", "shrinkage"), [("tied", 0.0), ("full", "pooled")])
@pytest.mark.parametrize("informative", [0.0, 1.0])
def test_calibrated_probabilities_are_hardly_ever_worse_than_the_class_shares(
    covariance, shrinkage, informative
):
    X, y = skewed(300, informative)
    new, truth = skewed(3000, informative, seed=1)
    each = np.arange(len(truth)), truth
    model = DiscriminantAnalysis(covariance, shrinkage=shrinkage, calibrate="temperature")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the columns have no information
        model.fit(X, y)
    log_share = np.log(np.bincount(y) / len(y))[truth]
    gain = (model.predict_log_proba(new)[each] - log_share).mean()
    assert gain > -0.02  # what 300 rows may leave
    raw = DiscriminantAnalysis(covariance, shrinkage=shrinkage).fit(X, y)
    if covariance == "full":
        assert (raw.predict_log_proba(new)[each] - log_share).mean() < min(gain, -0.1)


def test_the_calibrated_posterior_is_the_formula_and_its_explanation_adds_up():
    X, y = data()
    X = np.exp(X)
    for covariance in COVARIANCES:
        model = DiscriminantAnalysis(covariance, calibrate="temperature").fit(X, y)
        assert model.temperature_ != 1
        score = model.predict_joint_log_proba(X) - model.class_log_prior_
        behind = np.exp((score - score.max(axis=1, keepdims=True)) / model.temperature_)
        share = model.outlier_share_
        p = np.exp(model.class_log_prior_) * ((1 - share) * behind + share)
        p /= p.sum(axis=1, keepdims=True)
        assert_allclose(model.predict_proba(X), p, rtol=1e-9)
        odds = np.log(p) - np.log(p[:, :1])
        assert_allclose(model.explain(X).total, odds, rtol=1e-9, atol=1e-9)


def test_missing_cells_are_calibrated_by_their_expectations():
    X, y = load_iris(return_X_y=True)
    X = np.exp(X / 2)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.03, np.nan, X)
    whole, gappy = (
        DiscriminantAnalysis(calibrate="temperature").fit(each, y) for each in (X, gaps)
    )
    assert_allclose(np.log(gappy.temperature_), np.log(whole.temperature_), atol=0.3)
    assert gappy.score(gaps, y) > 0.9


def test_a_calibrated_model_is_neither_exported_nor_taught_by_soft_labels(tmp_path):
    X, y = data()
    X = np.exp(X)
    model = DiscriminantAnalysis(calibrate="temperature").fit(X, y)
    with pytest.raises(InvalidInput, match=r"calibrated posterior is not linear.*calibrate=None"):
        model.export_to(SoftmaxRegression())
    with pytest.raises(InvalidInput, match=r"held-out rows need one class for each row"):
        model.fit(X, np.full((len(X), 3), 1 / 3))
    model.fit(X, np.eye(3)[y])
    save(model, tmp_path / "model.likely")
    again = load(tmp_path / "model.likely")
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def with_rare_indicators(n=600, gaps=False):
    """Two shifted columns, and indicators that are often constant in a class."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    shifted = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    if gaps:
        shifted[::17, 1] = np.nan
    return np.column_stack([shifted, rng.random((n, 12)) < 0.004]), y


def log_loss(model, X, y):
    return -model.predict_log_proba(X)[np.arange(len(y)), y].mean()


@pytest.mark.filterwarnings("ignore::likely.errors.SingularCovariance")
@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")
@pytest.mark.parametrize(
    ("shrinkage", "gaps"),
    [(0.0, False), (0.001, False), ("auto", False), ("pooled", False), (0.0, True), (0.001, True)],
)
def test_indicators_that_are_constant_in_a_class_do_not_decide(shrinkage, gaps):
    """Full covariances: 4 to 9 nats per row without the unit of the columns."""
    X, y = with_rare_indicators(gaps=gaps)
    model = DiscriminantAnalysis("full", shrinkage=shrinkage).fit(X[:300], y[:300])
    without = DiscriminantAnalysis("full").fit(X[:300, :2], y[:300])
    assert log_loss(model, X[300:], y[300:]) < log_loss(without, X[300:, :2], y[300:]) + 0.05


@pytest.mark.filterwarnings("ignore::likely.errors.SingularCovariance")
@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")
@pytest.mark.parametrize("shrinkage", [0.0, "auto", "pooled"])
def test_the_unit_of_a_column_does_not_change_the_posterior_of_full_covariances(shrinkage):
    X, y = with_rare_indicators()
    other = X * np.geomspace(1e-3, 1e5, X.shape[1]) + 7
    ours, theirs = (
        DiscriminantAnalysis("full", shrinkage=shrinkage).fit(Z, y).predict_log_proba(Z)
        for Z in (X, other)
    )
    assert_allclose(theirs, ours, rtol=1e-6, atol=1e-8)


def test_a_covariance_that_its_unit_makes_invertible_is_warned_of():
    X = np.array([[0, 1, 0], [1, 3, 0], [2, 2, 0], [5, 5, 1], [6, 5, 0], [7, 9, 0], [5, 8, 1]])
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    with pytest.warns(SingularCovariance, match=r"rank 2 for 3 features.*variance of rounding"):
        model = DiscriminantAnalysis("full").fit(X, y)
    assert_allclose(np.linalg.eigvalsh(model.covariances_[0])[0], 1 / 12, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiscriminantAnalysis("full", shrinkage=0.1).fit(X, y)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_gaussian_prior_is_imagined_rows_of_every_class(covariance):
    """κ rows at the mean of all rows and ν with their variances, by hand."""
    X, y = data()
    kappa, nu = 2.0, 5.0
    prior = GaussianPrior(mean=kappa, variance=nu)
    model = DiscriminantAnalysis(covariance, gaussian_prior=prior).fit(X, y)
    centre, variance = X.mean(axis=0), X.var(axis=0)
    scatters, counts = [], np.bincount(y)
    for k, n in enumerate(counts):
        own = X[y == k].mean(axis=0)
        assert_allclose(model.means_[k], (n * own + kappa * centre) / (n + kappa), rtol=1e-12)
        between = n * kappa / (n + kappa) * np.outer(own - centre, own - centre)
        scatters.append(n * np.cov(X[y == k].T, bias=True) + between)
    if covariance == "tied":
        total = sum(scatters) + nu * np.diag(variance)
        expected = total / (len(y) + len(counts) * kappa + nu)
    else:
        each = zip(scatters, counts, strict=True)
        full = np.stack([(S + nu * np.diag(variance)) / (n + kappa + nu) for S, n in each])
        diagonal = np.einsum("kjj->kj", full)
        expected = {"full": full, "diagonal": diagonal, "spherical": diagonal.mean(axis=1)}
        expected = expected[covariance]
    assert_allclose(model.covariances_, expected, rtol=1e-10)


def test_a_gaussian_prior_gives_a_class_of_one_row_a_covariance_and_fits_gaps():
    X, y = data()
    few = np.flatnonzero((y != 2) | (np.arange(len(y)) == np.flatnonzero(y == 2)[0]))
    prior = GaussianPrior(mean=1.0, variance=3.0)
    with pytest.raises(InvalidInput, match="no covariance of its own"):
        DiscriminantAnalysis("full").fit(X[few], y[few])
    model = DiscriminantAnalysis("full", gaussian_prior=prior).fit(X[few], y[few])
    assert_allclose(np.diag(model.covariances_[2]) > 0, True)
    gappy = X.copy()
    gappy[3, 1] = np.nan
    near = DiscriminantAnalysis("full", gaussian_prior=prior).fit(gappy, y)
    whole = DiscriminantAnalysis("full", gaussian_prior=prior).fit(X, y)
    assert_allclose(near.means_, whole.means_, rtol=0.05, atol=0.05)
    with pytest.raises(InvalidInput, match="gaussian_prior is another"):
        DiscriminantAnalysis("full", shrinkage="auto", gaussian_prior=prior).fit(X, y)
    with pytest.raises(InvalidInput, match="a GaussianPrior or None was expected"):
        DiscriminantAnalysis(gaussian_prior=1.0).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_canonical_axes_are_those_of_scikit_learn(n_classes):
    """Up to the signs of the axes; scikit-learn's "eigen" solver does not centre."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    model = DiscriminantAnalysis().fit(X, y)
    expected = theirs.transform(X)
    expected -= expected.mean(axis=0)
    ours = model.transform(X)
    assert ours.shape == (len(X), n_classes - 1)
    sign = np.sign((ours * expected).sum(axis=0))
    assert_allclose(ours * sign, expected, rtol=1e-8, atol=1e-9)
    assert_allclose(model.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)
    covariance = model.scalings_.T @ model.covariances_ @ model.scalings_
    assert_allclose(covariance, np.eye(n_classes - 1), rtol=0, atol=1e-10)
    assert (model.scalings_[np.abs(model.scalings_).argmax(axis=0), range(n_classes - 1)] > 0).all()
    names = [f"discriminantanalysis{j}" for j in range(n_classes - 1)]
    assert model.get_feature_names_out().tolist() == names


def test_missing_cells_have_their_expectation_on_the_canonical_axes():
    """E[x | observed], class by class and by the probabilities of the classes given the rest."""
    model = DiscriminantAnalysis().fit(*load_iris(return_X_y=True))
    X = np.array([[5.9, 3.0, np.nan, 1.5], [np.nan] * 4])
    mean, covariance = model.means_, model.covariances_
    seen = [0, 1, 3]
    observed = [multivariate_normal(m[seen], covariance[np.ix_(seen, seen)]) for m in mean]
    share = np.exp(model.class_log_prior_) * [p.pdf(X[0, seen]) for p in observed]
    solved = np.linalg.solve(covariance[np.ix_(seen, seen)], (X[0, seen] - mean[:, seen]).T)
    filled = X.copy()
    filled[0, 2] = share @ (mean[:, 2] + covariance[2, seen] @ solved) / share.sum()
    filled[1] = np.exp(model.class_log_prior_) @ mean
    assert_allclose(model.transform(X), model.transform(filled), rtol=0, atol=1e-10)
    with pytest.raises(InvalidInput, match="Row 0, column 'x2': found inf"):
        model.transform(np.where(np.isnan(X), np.inf, X))


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_classes_with_covariances_of_their_own_have_no_common_axes(covariance):
    X, y = data()
    model = DiscriminantAnalysis(covariance).fit(X, y)
    assert not hasattr(model, "transform")
    with pytest.raises(
        AttributeError, match=r"only the classes of a tied model.*covariance='tied'"
    ):
        _ = model.scalings_


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_classes_of_one_row_each_have_no_covariance(covariance):
    X, y = np.array([[0.0, 1.0], [2.0, 5.0], [3.0, 3.0]]), ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="no covariance within the classes"):
        DiscriminantAnalysis(covariance).fit(X, y)
    prior = GaussianPrior(variance=1.0)
    model = DiscriminantAnalysis(covariance, gaussian_prior=prior).fit(X, y)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_only_a_prior_of_variances_gives_points_a_covariance(covariance):
    X, y = np.array([[0.0, 1.0], [2.0, 5.0], [3.0, 3.0]]), ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="no covariance within the classes"):
        DiscriminantAnalysis(covariance, gaussian_prior=GaussianPrior(mean=1.0)).fit(X, y)


def test_columns_that_are_all_constant_leave_the_class_shares():
    with pytest.warns(RedundantColumns, match="no column is left"):
        model = DiscriminantAnalysis().fit(np.ones((4, 2)), ["a", "a", "a", "b"])
    assert_allclose(model.predict_proba(np.zeros((1, 2))), [[0.75, 0.25]], rtol=1e-12)


def test_automatic_shrinkage_of_a_tied_model_is_that_of_the_covariances_it_pools():
    """Rare indicators: only covariances of each class are bounded by the unit of their columns."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=(200, 2)), (rng.random(200) < 0.05) & (y == 1)])
    ours = DiscriminantAnalysis("tied", shrinkage="auto").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_one_missing_cell_hardly_changes_the_temperature_out_of_fold(covariance):
    """With as many columns scores are too sure of new rows, which rows of the fit do not show."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = X[:, 0] + rng.normal(size=80) > 0
    model = DiscriminantAnalysis(covariance, calibrate="temperature")
    whole = clone(model).fit(X, y).temperature_
    X[5, 3] = np.nan
    assert whole > 2
    assert clone(model).fit(X, y).temperature_ == pytest.approx(whole, rel=0.2)
