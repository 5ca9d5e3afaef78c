"""Agreement with scikit-learn: naive Bayes, discriminants and Gaussian mixtures, to 1e-9."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import mixture
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from likely import DiscriminantAnalysis, GaussianMixture, NaiveBayes
from likely.distributions import CategoricalFamily
from tests.fits import binary, codes, counts, numbers

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


DISCRETE = {  # name: (ours, theirs, data)
    "bernoulli": (NaiveBayes("bernoulli"), BernoulliNB(), binary),
    "bernoulli-0.3": (NaiveBayes("bernoulli", smoothing=0.3), BernoulliNB(alpha=0.3), binary),
    "multinomial": (NaiveBayes("multinomial"), MultinomialNB(), counts),
    "multinomial-0.1": (
        NaiveBayes("multinomial", smoothing=0.1, prior="uniform"),
        MultinomialNB(alpha=0.1, fit_prior=False),
        counts,
    ),
    "multinomial-columns": (
        NaiveBayes("multinomial", smoothing=np.array([0.1, 2.0, 1.0, 0.5])),
        MultinomialNB(alpha=np.array([0.1, 2.0, 1.0, 0.5])),
        counts,
    ),
    "multinomial-prior": (
        NaiveBayes("multinomial", prior=[0.2, 0.3, 0.5]),
        MultinomialNB(class_prior=[0.2, 0.3, 0.5]),
        counts,
    ),
    # scikit-learn leaves the prior out of the complement's score when there are classes to choose
    "complement": (NaiveBayes("complement", prior="uniform"), ComplementNB(), counts),
}
DENSE = {
    "gaussian": (NaiveBayes(variance_floor=0.0), GaussianNB(var_smoothing=0.0), numbers),
    "gaussian-prior": (
        NaiveBayes(variance_floor=0.0, prior=[0.5, 0.2, 0.3]),
        GaussianNB(var_smoothing=0.0, priors=[0.5, 0.2, 0.3]),
        numbers,
    ),
    "categorical": (NaiveBayes("categorical"), CategoricalNB(), codes),
    "categorical-declared": (
        NaiveBayes(CategoricalFamily((6,)), smoothing=0.5),
        CategoricalNB(alpha=0.5, min_categories=6),
        codes,
    ),
}
NAIVE = {**DISCRETE, **DENSE}


def rows(name, seed=0, n=120):
    return NAIVE[name][2](np.random.default_rng(seed), n)


def assert_agree(ours, theirs, X):
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), **TIGHT)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_naive_bayes(name, weighted):
    ours, theirs, _ = NAIVE[name]
    X, y = rows(name)
    weight = np.random.default_rng(2).uniform(0.1, 3.0, len(y)) if weighted else None
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    assert_agree(ours, theirs, rows(name, seed=1)[0])
    assert_allclose(ours.class_count_, theirs.class_count_)


@pytest.mark.parametrize("name", DISCRETE)
def test_naive_bayes_on_sparse_rows(name):
    ours, theirs, _ = NAIVE[name]
    X, y = rows(name)
    ours.fit(sparse.csr_array(X), y)
    theirs.fit(sparse.csr_matrix(X), y)
    new = rows(name, seed=1)[0]
    assert_agree(ours, theirs, sparse.csr_matrix(new))
    assert_allclose(ours.predict_proba(new), theirs.predict_proba(sparse.csr_matrix(new)), **TIGHT)


@pytest.mark.parametrize("name", NAIVE)
def test_naive_bayes_in_batches(name):
    ours, theirs, _ = NAIVE[name]
    X, y = rows(name)
    X[-3:] = X[:3]  # CategoricalNB must have seen every code it meets later
    ours, theirs = clone(ours), clone(theirs)
    for batch in np.split(np.arange(len(y)), [50, 70]):
        ours.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
        theirs.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    assert_agree(ours, theirs, X)


@pytest.mark.parametrize(
    ("event", "theirs"), [("bernoulli", BernoulliNB()), ("multinomial", MultinomialNB())]
)
def test_the_parameters_have_the_same_logs(event, theirs):
    X, y = rows(event)
    model = NaiveBayes(event).fit(X, y)
    theirs.fit(X, y)
    probability = model.distribution_.parts[0].probability
    assert_allclose(np.log(probability), theirs.feature_log_prob_, **TIGHT)
    scores = X @ model.class_coef_.T + model.class_intercept_  # theirs: no multinomial coefficient
    assert_allclose(scores, theirs.predict_joint_log_proba(X), **TIGHT)


def test_gaussian_means_and_variances():
    X, y = rows("gaussian")
    ours = NaiveBayes(variance_floor=0.0).fit(X, y).distribution_.parts[0]
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert_allclose(ours.mean, theirs.theta_, **TIGHT)
    assert_allclose(ours.variance, theirs.var_, **TIGHT)


def test_two_categories_are_a_bernoulli():
    """NB-8: a categorical column with two values is NB-3."""
    X, y = rows("bernoulli")
    one = NaiveBayes("categorical").fit(X, y)
    assert_agree(one, BernoulliNB().fit(X, y), X)


@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.2, 1.0, "auto"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_discriminant(shrinkage, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    X = X[5:]  # classes of different sizes
    y = y[5:]
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    ours = DiscriminantAnalysis(shrinkage=shrinkage or 0.0).fit(X, y)
    assert_allclose(ours.means_, theirs.means_, **TIGHT)
    assert_allclose(ours.covariances_, theirs.covariance_, **TIGHT)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_quadratic_discriminant(shrinkage):
    X, y = load_iris(return_X_y=True)
    X, y = X[7:], y[7:]
    theirs = QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage=shrinkage, store_covariance=True
    ).fit(X, y)
    ours = DiscriminantAnalysis("full", shrinkage=shrinkage or 0.0).fit(X, y)
    assert_allclose(ours.means_, theirs.means_, **TIGHT)
    assert_allclose(ours.covariances_, np.array(theirs.covariance_), **TIGHT)
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-9)


COVARIANCE_TYPE = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def shape_of(covariance, matrices):
    if covariance == "full":
        return matrices
    if covariance == "tied":
        return matrices.mean(axis=0)
    variance = np.diagonal(matrices, axis1=1, axis2=2)
    return variance if covariance == "diagonal" else variance.mean(axis=1)


def precisions(covariance, given):
    return np.linalg.inv(given) if covariance in ("full", "tied") else 1 / given


def same_start(covariance, steps, n_components=3):
    """scikit-learn's mixture and ours after the same number of steps from the same parameters."""
    X, _ = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    mean = X[rng.choice(len(X), n_components, replace=False)]
    share = rng.dirichlet(5 * np.ones(n_components))
    given = shape_of(covariance, np.stack([np.cov(X.T) * s for s in (0.5, 1.0, 0.8)]))
    start = {"mixing": share, "mean": mean, "covariance": given}
    theirs = mixture.GaussianMixture(
        n_components,
        covariance_type=COVARIANCE_TYPE[covariance],
        reg_covar=0.0,
        tol=0.0,
        max_iter=steps,
        weights_init=share,
        means_init=mean,
        precisions_init=precisions(covariance, given),
    )
    ours = GaussianMixture(
        n_components, covariance, start=start, regularisation=0.0, tol=-1.0, max_iter=steps
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # neither converges within the steps, on purpose
        return ours.fit(X), theirs.fit(X), X


@pytest.mark.parametrize("covariance", COVARIANCE_TYPE)
@pytest.mark.parametrize("steps", [1, 2, 20])
def test_mixtures_from_the_same_start(covariance, steps):
    ours, theirs, X = same_start(covariance, steps)
    assert ours.n_iter_ == theirs.n_iter_ == steps
    assert_allclose(ours.weights_, theirs.weights_, **TIGHT)
    assert_allclose(ours.means_, theirs.means_, **TIGHT)
    assert_allclose(ours.covariances_, theirs.covariances_, **TIGHT)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), **TIGHT)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.bic(X), theirs.bic(X))
    assert_allclose(ours.aic(X), theirs.aic(X))
