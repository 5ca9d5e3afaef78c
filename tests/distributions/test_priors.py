"""Mixtures with priors: EM finds the mode of likelihood times prior."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import bernoulli, dirichlet, multivariate_normal, norm
from sklearn.exceptions import ConvergenceWarning

from likely import (
    BagOfWords,
    BayesianNetwork,
    BayesianNetworkClassifier,
    GaussianMixture,
    HiddenMarkovModel,
    MixtureModel,
    NaiveBayes,
    TextClassifier,
    load,
    save,
)
from likely.distributions import DiagonalFamily, Dirichlet, GaussianPrior
from likely.errors import InvalidInput

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0.0, 1.0, 14), RNG.normal(4.0, 0.5, 7)])[:, None]
FEW = {"regularisation": 0.0, "tol": 1e-13, "random_state": 0}
PRIOR = GaussianPrior(mean=2.0, variance=3.0)
ALPHA = 4.0


def log_gaussian_prior(mean, variance, x):
    """κ pseudo-rows at the mean of the column, and ν with its variance."""
    at_mean = norm.logpdf(x.mean(), mean, np.sqrt(variance))
    spread = -0.5 * (np.log(variance) + x.var() / variance)
    return np.sum(PRIOR.mean * at_mean + PRIOR.variance * spread)


def best_of(log_posterior, starts):
    """The highest value that a search without gradients or knowledge of EM finds."""
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 40_000, "maxfev": 40_000}
    ends = []
    for start in starts:
        for _ in range(4):  # begun again, a simplex leaves a false corner
            end = minimize(
                lambda theta: -log_posterior(theta), start, method="Nelder-Mead", options=options
            )
            start = end.x
        ends.append(end)
    return min(ends, key=lambda end: end.fun)


@pytest.mark.slow
def test_the_mode_of_two_gaussians_is_that_of_an_independent_search():
    """EST-7 for mixtures: proportions, means and variances."""

    def log_posterior(theta):
        share = softmax([0.0, theta[0]])
        mean, variance = theta[1:3], np.exp(theta[3:5])
        each = np.log(share) + norm.logpdf(X, mean, np.sqrt(variance))
        prior = (ALPHA - 1) * np.log(share).sum() + log_gaussian_prior(mean, variance, X)
        return logsumexp(each, axis=1).sum() + prior

    found = best_of(log_posterior, [[0, 0, 4, 0, -1], [1, 4, 0, 0, 0], [0, 1, 2, 0, 0]])
    model = GaussianMixture(2, prior=Dirichlet(ALPHA), gaussian_prior=PRIOR, **FEW).fit(X)
    assert_allclose(-model.solution_.trace[-1], -found.fun, rtol=1e-9)
    order = np.argsort(model.means_[:, 0])
    theirs = np.argsort(found.x[1:3])
    assert_allclose(model.means_[order, 0], found.x[1:3][theirs], atol=1e-5)
    assert_allclose(model.covariances_[order, 0, 0], np.exp(found.x[3:5])[theirs], rtol=1e-5)
    assert_allclose(model.weights_[order], softmax([0.0, found.x[0]])[theirs], rtol=1e-5)
    plain = GaussianMixture(2, **FEW).fit(X)
    assert np.ptp(model.weights_) < np.ptp(plain.weights_)  # drawn together
    assert np.ptp(model.means_) < np.ptp(plain.means_)


@pytest.mark.slow
def test_the_mode_of_numbers_and_bits_is_that_of_an_independent_search():
    """EST-7: Dirichlet, Gaussian prior and smoothing in one model."""
    bit = np.r_[np.ones(9), np.zeros(9), np.ones(3)]
    alpha = 0.5

    def log_posterior(theta):
        share = softmax([0.0, theta[0]])
        mean, variance, p = theta[1:3], np.exp(theta[3:5]), 1 / (1 + np.exp(-theta[5:7]))
        each = np.log(share) + norm.logpdf(X, mean, np.sqrt(variance))
        each = each + bernoulli.logpmf(bit[:, None], p)
        prior = (ALPHA - 1) * np.log(share).sum() + log_gaussian_prior(mean, variance, X)
        return logsumexp(each, axis=1).sum() + prior + alpha * np.sum(np.log(p * (1 - p)))

    found = best_of(log_posterior, [[0, 0, 4, 0, -1, 0, 0], [0, 3, 1, 0, 0, 1, -1]])
    frame = pd.DataFrame({"number": X[:, 0], "bit": bit == 1})
    model = MixtureModel(
        2, smoothing=alpha, prior=Dirichlet(ALPHA), gaussian_prior=PRIOR, **FEW
    ).fit(frame)
    assert_allclose(-model.solution_.trace[-1], -found.fun, rtol=1e-9)
    assert_allclose(
        np.sort(model.parameters("bit")["probability"]),
        np.sort(1 / (1 + np.exp(-found.x[5:7]))),
        rtol=1e-4,
    )


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_one_component_has_the_mode_in_closed_form(covariance):
    rows = np.random.default_rng(1).normal(size=(30, 2)) @ [[1.0, 0.6], [0.0, 2.0]] + [3.0, -1.0]
    model = GaussianMixture(1, covariance, gaussian_prior=PRIOR, regularisation=0.0).fit(rows)
    assert_allclose(model.means_[0], rows.mean(axis=0))  # pseudo-rows are there, too
    scatter = 30 * np.cov(rows.T, ddof=0) + 3 * np.diag(rows.var(axis=0))
    matrix = scatter / (30 + 2 + 3)
    expected = {
        "full": matrix[None],
        "tied": matrix,
        "diagonal": np.diag(matrix)[None],
        "spherical": np.diag(matrix).mean(keepdims=True),
    }[covariance]
    assert_allclose(model.covariances_, expected)


def test_a_shared_covariance_has_its_pseudo_rows_once():
    rows = np.random.default_rng(1).normal(size=(40, 2)) + 3.0 * (np.arange(40) % 2)[:, None]
    model = GaussianMixture(2, "tied", gaussian_prior=PRIOR, start=np.arange(40) % 2, **FEW)
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model.set_params(max_iter=0).fit(rows)  # an M step from the labels
    scatter = 3 * np.diag(rows.var(axis=0))
    for k in range(2):
        own = np.concatenate([rows[k::2], [rows.mean(axis=0)] * 2])
        assert_allclose(model.means_[k], own.mean(axis=0))
        scatter = scatter + len(own) * np.cov(own.T, ddof=0)
    assert_allclose(model.covariances_, scatter / (40 + 2 * 2 + 3))
    density = multivariate_normal(model.means_[0], model.covariances_)
    assert_allclose(model.predict_joint_log_proba(rows)[:, 0], np.log(0.5) + density.logpdf(rows))


def test_flat_priors_are_maximum_likelihood():
    plain = GaussianMixture(2, random_state=0).fit(X)
    flat = GaussianMixture(
        2, random_state=0, prior=Dirichlet(1.0), gaussian_prior=GaussianPrior()
    ).fit(X)
    assert_allclose(flat.means_, plain.means_)
    assert_allclose(flat.weights_, plain.weights_)


def test_a_prior_of_the_event_family_is_that_of_the_argument():
    by_event = MixtureModel(2, event=DiagonalFamily(prior=PRIOR), random_state=0).fit(X)
    by_argument = MixtureModel(2, gaussian_prior=PRIOR, random_state=0).fit(X)
    assert_allclose(by_event.weights_, by_argument.weights_)
    assert_allclose(by_event.parameters(0)["mean"], by_argument.parameters(0)["mean"])


def test_batches_have_the_prior_of_all_rows():
    model = GaussianMixture(2, prior=Dirichlet(1e9), gaussian_prior=PRIOR, random_state=0)
    model.partial_fit(X).partial_fit(X[:10])
    assert_allclose(model.weights_, 0.5, atol=1e-6)


def test_priors_are_saved(tmp_path):
    model = GaussianMixture(2, prior=Dirichlet(2.0), gaussian_prior=PRIOR, random_state=0).fit(X)
    save(model, tmp_path / "model.likely")
    again = load(tmp_path / "model.likely")
    assert (again.prior, again.gaussian_prior) == (Dirichlet(2.0), PRIOR)
    assert_allclose(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianMixture(2, prior=[0.5, 0.5]), "'estimate' or a Dirichlet was expected. Use"),
        (MixtureModel(2, prior="uniform"), "prior is 'uniform'; 'estimate' or a Dirichlet"),
        (GaussianMixture(2, prior=Dirichlet((2.0, 2.0, 2.0))), "3 concentrations.* 2 classes or"),
        (GaussianMixture(2, gaussian_prior=2.0), "is 2.0; a GaussianPrior or None was expected"),
        (MixtureModel(2, gaussian_prior=Dirichlet()), "a GaussianPrior or None was expected"),
    ],
)
def test_what_is_no_prior_is_refused(model, message):
    with pytest.raises(InvalidInput, match=message):
        model.fit(X)


@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli", "categorical"])
def test_a_dirichlet_smooths_by_its_concentration_less_one(event):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 3)).astype(float), np.arange(30) % 3
    given = NaiveBayes(event, smoothing=Dirichlet(2.5)).fit(X, y)
    expected = NaiveBayes(event, smoothing=1.5).fit(X, y)
    assert_allclose(given.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-12)
    each = NaiveBayes(event, smoothing=Dirichlet((1.0, 2.0, 4.0))).fit(X, y)
    expected = NaiveBayes(event, smoothing=[0.0, 1.0, 3.0]).fit(X, y)
    assert_allclose(each.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-12)


def test_a_dirichlet_makes_the_fit_the_mode_of_the_posterior():
    """log p(X | φ) + log Dirichlet(φ; α) of each class, maximised by a general optimiser."""
    rng = np.random.default_rng(1)
    X, alpha = rng.integers(0, 4, (8, 3)).astype(float), np.array([2.0, 1.5, 4.0])
    model = NaiveBayes("multinomial", smoothing=Dirichlet(tuple(alpha))).fit(X, np.zeros(8))

    def loss(eta):
        phi = softmax(eta)
        return -X.sum(axis=0) @ np.log(phi) - dirichlet.logpdf(phi / phi.sum(), alpha)

    found = minimize(loss, np.zeros(3), tol=1e-12)
    assert_allclose(model.distribution_.parts[0].probability[0], softmax(found.x), atol=1e-5)


def test_text_classifiers_mixtures_and_files_take_a_dirichlet(tmp_path):
    texts, y = ["a b b", "b c", "a a", "c c b"], [0, 1, 0, 1]
    words = BagOfWords(token_pattern=r"(?u)\b\w+\b")
    ours = TextClassifier(NaiveBayes("multinomial", smoothing=Dirichlet(3.0)), words).fit(texts, y)
    plain = TextClassifier(NaiveBayes("multinomial", smoothing=2.0), words).fit(texts, y)
    assert_allclose(ours.predict_proba(texts), plain.predict_proba(texts), rtol=1e-12)
    save(ours.model_, tmp_path / "model.likely")
    assert load(tmp_path / "model.likely").smoothing == Dirichlet(3.0)
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    prior = MixtureModel(2, "bernoulli", smoothing=Dirichlet(3.0), random_state=0).fit(X)
    count = MixtureModel(2, "bernoulli", smoothing=2.0, random_state=0).fit(X)
    assert_allclose(prior.score(X), count.score(X), rtol=1e-12)


def test_concentrations_of_other_columns_and_negative_class_priors_are_refused():
    X, y = np.eye(3), [0, 1, 1]
    with pytest.raises(InvalidInput, match=r"shape \(2,\); one number or 3 were expected"):
        NaiveBayes("bernoulli", smoothing=Dirichlet((2.0, 2.0))).fit(X, y)
    with pytest.raises(InvalidInput, match=r"prior has -1 for class 0; .* not negative") as refused:
        NaiveBayes(prior=[-1, 2]).fit(X, y)
    assert "Divide" not in str(refused.value)
    with pytest.raises(InvalidInput, match=r"it sums to 3\. Divide it by its sum"):
        NaiveBayes(prior=[1, 2]).fit(X, y)
    with pytest.raises(InvalidInput, match=r"prior has nan for class 1"):
        NaiveBayes(prior=[1, np.nan]).fit(X, y)


def test_a_hidden_markov_model_of_one_state_has_the_mode_in_closed_form(tmp_path):
    rows = np.random.default_rng(1).normal([3.0, -1.0], size=(30, 2))
    model = HiddenMarkovModel(1, gaussian_prior=PRIOR, regularisation=0.0).fit(rows)
    mixture = GaussianMixture(1, gaussian_prior=PRIOR, regularisation=0.0).fit(rows)
    assert_allclose(model.parameters("x0")["mean"], mixture.means_[:, 0], rtol=1e-12)
    assert_allclose(
        model.distribution_.parts[0].covariance[0], mixture.covariances_[0], rtol=1e-12, atol=1e-14
    )
    plain = HiddenMarkovModel(1, regularisation=0.0).fit(rows)
    assert abs(plain.distribution_.parts[0].covariance[0, 0, 1]) > abs(
        mixture.covariances_[0, 0, 1]
    )
    save(model, tmp_path / "m.likely")
    assert load(tmp_path / "m.likely").gaussian_prior == PRIOR


def test_a_dirichlet_smooths_starts_and_transitions_by_its_concentration_less_one():
    states = np.array([0, 0, 1, 0, 1, 1, 0, 0, 0, 1])
    rows, lengths = np.random.default_rng(2).normal(size=(10, 1)) + 5 * states[:, None], [4, 6]
    one, other = (
        HiddenMarkovModel(2, start_smoothing=start, transition_smoothing=moves).fit(
            rows, lengths=lengths, states=states
        )
        for start, moves in ((Dirichlet(3.0), Dirichlet(1.5)), (2.0, 0.5))
    )
    assert_allclose(one.start_probability_, other.start_probability_, rtol=0)
    assert_allclose(
        one.transition_probability_, [[3.5 / 6, 2.5 / 6], [2.5 / 4, 1.5 / 4]], rtol=1e-12
    )
    assert_allclose(other.transition_probability_, one.transition_probability_, rtol=0)
    with pytest.raises(InvalidInput, match="one concentration for all of their cells"):
        HiddenMarkovModel(2, start_smoothing=Dirichlet((2.0, 3.0))).fit(rows)


def test_a_dirichlet_is_the_prior_of_the_tables_of_a_network():
    data = pd.DataFrame({"a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 0]})
    edges = [("a", "b")]
    network = BayesianNetwork.from_data(data, edges, smoothing=Dirichlet(3.0))
    assert_allclose(network.tables["a"].table, [4 / 9, 5 / 9], rtol=1e-12)
    assert_allclose(network.tables["b"].table, [[0.5, 0.5], [3 / 7, 4 / 7]], rtol=1e-12)
    classifiers = [
        BayesianNetworkClassifier(smoothing=each).fit(data[["a"]], data["b"])
        for each in (Dirichlet(3.0), 2.0)
    ]
    probabilities = [each.predict_proba(data[["a"]]) for each in classifiers]
    assert_allclose(*probabilities, rtol=1e-12)
    assert classifiers[0].plate().text == classifiers[1].plate().text
    with pytest.raises(InvalidInput, match="one concentration for all of their cells"):
        BayesianNetwork.from_data(data, edges, smoothing=Dirichlet((2.0, 3.0)))
