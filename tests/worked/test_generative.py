"""Worked examples of generative models; the ids are those of the specification's examples."""

import warnings
from math import log10

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit

from likely import (
    DiscriminantAnalysis,
    GaussianMixture,
    LogisticRegression,
    MixtureModel,
    NaiveBayes,
)
from likely.distributions import FullGaussian, Multinomial
from likely.objectives.components import Components

BINARY = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 1, 0]])
TOKENS = np.array([[2, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 0, 1, 2, 0], [0, 1, 0, 1, 0]])
LABELS = np.array([1, 1, 0, 0])


def test_bernoulli_event_model():
    """bernoulli_event_model: shares of documents, smoothed by one, and the posterior."""
    counted = NaiveBayes("bernoulli", smoothing=0.0).fit(BINARY, LABELS)
    shares = [[0, 1 / 2, 1 / 2, 1, 0], [1, 1 / 2, 1 / 2, 0, 1 / 2]]
    assert_allclose(counted.distribution_.parts[0].probability, shares, rtol=1e-12, atol=1e-12)
    smoothed = NaiveBayes("bernoulli").fit(BINARY, LABELS)
    expected = [[1 / 4, 1 / 2, 1 / 2, 3 / 4, 1 / 4], [3 / 4, 1 / 2, 1 / 2, 1 / 4, 1 / 2]]
    assert_allclose(smoothed.distribution_.parts[0].probability, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(
        smoothed.predict_proba([[1, 0, 0, 1, 0]]), [[3 / 5, 2 / 5]], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_multinomial_event_model_tokens(layout):
    """multinomial_event_model_tokens: (count + 1) / (total + 5), the posterior, the line."""
    model = NaiveBayes("multinomial").fit(layout(TOKENS), LABELS)
    phi = np.array([[1, 2, 2, 4, 1], [40 / 11, 20 / 11, 20 / 11, 10 / 11, 20 / 11]]) / 10
    assert_allclose(model.distribution_.parts[0].probability, phi, rtol=1e-12, atol=1e-12)
    assert_allclose(np.exp(model.class_log_prior_), [1 / 2, 1 / 2], rtol=1e-12, atol=1e-12)
    document = layout(np.array([[2, 0, 0, 1, 0]]))
    posterior = [[0.24967173138247994, 0.7503282686175201]]
    assert_allclose(model.predict_proba(document), posterior, rtol=1e-12, atol=1e-12)
    scores = np.array([[-6.214608098422191, -5.114244276715276]])
    orders = np.log(3)  # the tokens in this order, and in the three that have these counts
    assert_allclose(
        model.predict_joint_log_proba(document), scores + orders, rtol=1e-12, atol=1e-12
    )
    assert_allclose(
        document @ model.class_coef_.T + model.class_intercept_, scores, rtol=1e-12, atol=1e-12
    )
    weights = [
        1.2909841813155656,
        -0.09531017980432499,
        -0.09531017980432499,
        -1.4816045409242156,
        0.5978370007556202,
    ]
    assert_allclose(model.class_coef_[1] - model.class_coef_[0], weights, rtol=1e-12, atol=1e-12)
    assert_allclose(
        model.class_intercept_[1] - model.class_intercept_[0], 0.0, rtol=1e-12, atol=1e-12
    )
    counted = NaiveBayes("multinomial", smoothing=0.0).fit(layout(TOKENS), LABELS)
    mle = [1 / 2, 1 / 6, 1 / 6, 0, 1 / 6]
    assert_allclose(counted.distribution_.parts[0].probability[1], mle, rtol=1e-12, atol=1e-12)


def test_discriminative_vs_generative_same_posterior():
    """discriminative_vs_generative_same_posterior: x · log φ + log π."""
    phi = Multinomial.from_probability([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    model = Components(np.log([0.4, 0.6]), phi)
    scores = model.log_mixing + phi.log_score(np.array([[2.0, 0.0, 1.0]]))
    assert_allclose(scores, [[-3.912023005428146, -4.240527072400182]], rtol=1e-12, atol=1e-12)
    posterior = np.exp(scores) / np.exp(scores).sum()
    assert_allclose(posterior, [[0.5813953488372093, 0.41860465116279066]], rtol=1e-12, atol=1e-12)
    assert scores.argmax() == 0


@pytest.mark.parametrize(
    ("n_classes", "n_features", "without", "with_"),
    [(2, 1, 3, 3), (2, 3, 15, 7), (2, 10, 2047, 21), (3, 4, 47, 14), (20, 15, 655359, 319)],
)
def test_naive_bayes_parameter_counts(n_classes, n_features, without, with_):
    """naive_bayes_parameter_counts: K(2^D − 1) and KD, and K − 1 for the prior."""
    y = np.arange(n_classes)
    model = NaiveBayes("bernoulli").fit(np.zeros((n_classes, n_features)), y)
    assert model.n_parameters() == with_
    assert model.n_parameters(naive=False) == without
    free = model.distribution_.parts[0].probability.size + len(model.class_log_prior_) - 1
    assert model.n_parameters() == free


def test_naive_bayes_parameter_counts_of_fifty_thousand_words():
    """naive_bayes_parameter_counts, large: the full table has 10^15051.8 parameters."""
    model = NaiveBayes("bernoulli").fit(sparse.csr_array((2, 50_000)), [0, 1])
    assert model.n_parameters() - 1 == 100_000
    full = model.n_parameters(naive=False) - 1
    assert full == 2 * (2**50_000 - 1)
    assert_allclose(log10(full), 15051.800813194724, atol=1e-6)


@pytest.mark.parametrize(
    ("n", "naive", "with_bias"), [(1, 3, 2), (2, 5, 3), (5, 11, 6), (10, 21, 11), (20, 41, 21)]
)
def test_factor_graph_parameter_counts(n, naive, with_bias):
    """factor_graph_parameter_counts, of naive Bayes and of the logistic model it is one of."""
    X = np.random.default_rng(n).integers(0, 2, (200, n))
    X[:2] = [[0] * n, [1] * n]
    y = np.arange(200) % 2
    model = NaiveBayes("bernoulli").fit(X, y)
    assert model.n_parameters() == naive
    form = model.logistic_form()
    weights, bias = form.coef[1] - form.coef[0], form.intercept[1] - form.intercept[0]
    assert weights.size + 1 == with_bias
    assert_allclose(model.predict_proba(X)[:, 1], expit(X @ weights + bias), rtol=1e-9)
    for fit_intercept, expected in ((True, with_bias), (False, with_bias - 1)):
        logistic = LogisticRegression(fit_intercept=fit_intercept).fit(X, y)
        assert logistic.coef_.size + np.count_nonzero(logistic.intercept_) == expected


def rows_with_moments(mean, covariance, n):
    """n rows whose mean and covariance (divided by n) are exactly these."""
    rng = np.random.default_rng(n)
    raw = rng.normal(size=(n, len(mean)))
    raw -= raw.mean(axis=0)
    whiten = np.linalg.cholesky(np.linalg.inv(raw.T @ raw / n))
    return raw @ whiten @ np.linalg.cholesky(covariance).T + mean


def test_shared_covariance_gaussian_to_logistic():
    """shared_covariance_gaussian_to_logistic: w and b of the posterior, from moments."""
    covariance = np.array([[2.0, 0.3], [0.3, 1.0]])
    first = rows_with_moments([1.0, 2.0], covariance, 30)
    second = rows_with_moments([-1.0, 0.5], covariance, 20)
    X = np.vstack([second, first])
    y = np.repeat([0, 1], [20, 30])
    model = DiscriminantAnalysis().fit(X, y)
    assert_allclose(model.covariances_, covariance, rtol=1e-12, atol=1e-12)
    assert_allclose(model.coef_, [[0.8115183246073299, 1.256544502617801]], rtol=1e-10, atol=1e-10)
    assert_allclose(model.intercept_, [-1.165215520164087], rtol=1e-10, atol=1e-10)
    posterior = model.predict_proba([[0.2, 1.1]])[0, 1]
    assert_allclose(posterior, 0.5937011480523381, rtol=1e-10, atol=1e-10)


def test_shared_covariance_gaussian_to_logistic_from_given_parameters():
    """shared_covariance_gaussian_to_logistic, to 1e-12."""
    tied = FullGaussian(np.array([[-1.0, 0.5], [1.0, 2.0]]), np.array([[[2.0, 0.3], [0.3, 1.0]]]))
    form = tied.linear_form()
    w = form.coef[1] - form.coef[0]
    b = form.intercept[1] - form.intercept[0] + np.log(30 / 20)
    assert_allclose(w, [0.8115183246073299, 1.256544502617801], rtol=1e-12, atol=1e-12)
    assert_allclose(b, -1.165215520164087, rtol=1e-12, atol=1e-12)
    assert_allclose(
        1 / (1 + np.exp(-(w @ [0.2, 1.1] + b))), 0.5937011480523381, rtol=1e-12, atol=1e-12
    )


X_EM = np.array([-2.1, -1.7, -1.3, -0.9, -0.4, 0.2, 2.6, 3.1, 3.4, 3.9, 4.3, 5.0])[:, None]
START = {"mixing": [0.5, 0.5], "mean": [[-1.0], [3.0]], "covariance": [[[1.0]], [[1.0]]]}
TRACE = [
    -24.513794434080637,
    -22.42293572022757,
    -22.395426531686248,
    -22.39542261378304,
    -22.39542261363399,
    -22.395422613633983,
]


def test_gmm_two_component_em_with_known_labels():
    """gmm_two_component_em, known_label_estimates: both divisors."""
    y = np.repeat(["A", "B"], 6)
    mle = DiscriminantAnalysis("full").fit(X_EM, y)
    assert_allclose(
        mle.means_.ravel(), [-1.0333333333333334, 3.716666666666667], rtol=1e-12, atol=1e-12
    )
    variances = [0.5988888888888889, 0.6247222222222222]
    assert_allclose(mle.covariances_.ravel(), variances, rtol=1e-12, atol=1e-12)
    assert_allclose(np.exp(mle.class_log_prior_), [0.5, 0.5])
    unbiased = DiscriminantAnalysis("full", ddof=1).fit(X_EM, y)
    variances = [0.7186666666666667, 0.7496666666666666]
    assert_allclose(unbiased.covariances_.ravel(), variances, rtol=1e-12, atol=1e-12)


def after(steps):
    model = GaussianMixture(2, start=START, regularisation=0.0, tol=-1.0, max_iter=steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so many steps and no more
        return model.fit(X_EM)


def test_gmm_two_component_em_first_e_step():
    """gmm_two_component_em, responsibilities_first_e_step."""
    expected = [
        0.9999958814282551,
        0.9999796009127201,
        0.9998989708060922,
        0.9994997988929205,
        0.9963157601005639,
        0.9608342772032357,
        0.0016588010801744208,
        0.00022481677023329552,
        6.772414961977011e-05,
        9.166003719853301e-06,
        1.8505977728634517e-06,
        1.1253516205509497e-07,
    ]
    assert_allclose(after(0).predict_proba(X_EM)[:, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize(
    ("steps", "mean", "deviation", "share"),
    [
        (
            1,
            [-1.0406082126020335, 3.691202745656811],
            [0.7728823270335209, 0.8439416741261441],
            0.49654056337337243,
        ),
        (
            5,
            [-1.033341628720775, 3.7165706482587577],
            [0.7739249153714729, 0.7906120724240379],
            0.49998901939769946,
        ),
        (
            100,
            [-1.0333416286934702, 3.71657064832474],
            [0.7739249153931884, 0.7906120722869159],
            0.49998901940751955,
        ),
    ],
    ids=["one", "five", "converged"],
)
def test_gmm_two_component_em_steps(covariance, steps, mean, deviation, share):
    """gmm_two_component_em, after_1_iteration, after_5_iterations and converged."""
    in_shape = {"full": [[[1.0]], [[1.0]]], "diagonal": [[1.0], [1.0]], "spherical": [1.0, 1.0]}
    model = GaussianMixture(
        2,
        covariance,
        start={**START, "covariance": in_shape[covariance]},
        regularisation=0.0,
        tol=-1.0,
        max_iter=steps,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X_EM)
    assert_allclose(model.means_.ravel(), mean, rtol=1e-9, atol=1e-9)
    assert_allclose(np.sqrt(model.covariances_.ravel()), deviation, rtol=1e-9, atol=1e-9)
    assert_allclose(model.weights_, [share, 1 - share], rtol=1e-9, atol=1e-9)


def test_gmm_two_component_em_trace():
    """gmm_two_component_em, log_marginal_likelihood_iter_0_to_5."""
    model = after(5)
    assert_allclose(model.log_likelihood_traces_[0], TRACE, rtol=1e-9, atol=1e-9)
    assert (np.diff(model.log_likelihood_traces_[0]) >= 0).all()
    assert_allclose(model.log_likelihood(X_EM), -22.395422613633983, rtol=1e-9, atol=1e-9)
    by_event = MixtureModel(2, start=np.repeat([0, 1], 6), regularisation=0.0, tol=1e-14)
    assert_allclose(
        by_event.fit(X_EM).log_likelihood(X_EM), -22.395422613633983, rtol=1e-9, atol=1e-9
    )


def test_hard_responsibilities_are_the_estimates_with_known_labels():
    """gmm_two_component_em and EST-6: a start from labels is the maximum-likelihood estimate."""
    model = GaussianMixture(2, start=np.repeat([0, 1], 6), regularisation=0.0, tol=-1.0, max_iter=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X_EM)
    assert_allclose(
        model.means_.ravel(), [-1.0333333333333334, 3.716666666666667], rtol=1e-12, atol=1e-12
    )
    assert_allclose(
        model.covariances_.ravel(), [0.5988888888888889, 0.6247222222222222], rtol=1e-12, atol=1e-12
    )


def test_gmm_parameter_count():
    """gmm_parameter_count: 5 for two in one dimension, 17 for three in two."""
    assert after(1).n_parameters() == 5
    rng = np.random.default_rng(0)
    three = GaussianMixture(3, random_state=0).fit(rng.normal(size=(60, 2)))
    assert three.n_parameters() == 17 == 3 - 1 + 3 * 2 + 3 * 2 * 3 // 2


def test_far_points_have_finite_responsibilities():
    """MIX-3: finite for x = 10⁶."""
    far = [[1e6], [-1e6]]
    assert np.isfinite(after(5).predict_log_proba(far)).all()
    assert_allclose(after(5).predict_proba(far).sum(axis=1), 1.0)
