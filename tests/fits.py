"""Every estimator in the forms that differ, each with data that suit it: what the laws run over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

import likely
from likely import likelihoods, links
from likely.distributions import Dirichlet, GaussianPrior
from tests.event_models import flat


def classes(rng, n):
    return rng.permutation(np.arange(n) % 3)


def numbers(rng, n):
    y = classes(rng, n)
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 2.0, 0.7], [0.0, 0.0, 0.5]])
    return rng.normal(size=(n, 3)) @ mixing + 4.0 * np.eye(3)[y] + [5.0, -1.0, 100.0], y


def gappy_numbers(rng, n):
    X, y = numbers(rng, n)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def binary(rng, n):
    y = classes(rng, n)
    return (rng.random((n, 4)) < 0.2 + 0.25 * y[:, None]).astype(float), y


def counts(rng, n):
    y = classes(rng, n)
    return rng.poisson(1.0 + 5.0 * np.eye(4)[y]).astype(float), y


def sparse_counts(rng, n):
    X, y = counts(rng, n)
    return sparse.csr_array(X), y


def times(rng, n):
    y = classes(rng, n)
    return rng.exponential(1.0 + 3.0 * y[:, None], (n, 3)), y


def codes(rng, n):
    y = classes(rng, n)
    return np.column_stack([(y + (rng.random(n) < 0.4)) % 3, rng.integers(0, 4, n)]), y


def mixed(rng, n):
    X, y = gappy_numbers(rng, n)
    words = np.array(["red", "green", "blue", None], dtype=object)
    frame = pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": words[(y + rng.integers(0, 2, n)) % 4],
            "sold": rng.random(n) < 0.2 + 0.3 * y,
            "rooms": rng.poisson(1.0 + 2.0 * y),
        }
    )
    return frame, y


def half_labelled(rng, n):
    X, y = numbers(rng, n)
    return X, np.where(rng.random(n) < 0.5, -1, y)


def measured(rng, n):
    """Columns of several scales, far from 0, and a linear predictor of moderate size."""
    X = rng.normal(size=(n, 3)) * [1.0, 0.1, 20.0] + [5.0, -1.0, 100.0]
    return X, 0.4 * (X[:, 0] - 5) - 3 * (X[:, 1] + 1) + 0.02 * (X[:, 2] - 100)


def amounts(rng, n):
    X, eta = measured(rng, n)
    return X, 3 + 2 * eta + rng.normal(size=n)


def events(rng, n):
    X, eta = measured(rng, n)
    return X, rng.poisson(np.exp(0.5 + eta))


def waits(rng, n):
    X, eta = measured(rng, n)
    return X, rng.gamma(2.0, np.exp(eta))


def sides(rng, n):
    X, eta = measured(rng, n)
    return X, (eta + 0.8 * rng.logistic(size=n) > 0).astype(int)


def ratings(rng, n):
    X, eta = measured(rng, n)
    return X, np.digitize(eta + 0.8 * rng.logistic(size=n), [-0.8, 0.8])


def described(rng, n):
    """A frame of numbers, words and Booleans without a gap, and its linear predictor."""
    X, eta = measured(rng, n)
    words = np.array(["red", "green", "blue"], dtype=object)
    colour, sold = rng.integers(0, 3, n), rng.random(n) < 0.4
    frame = pd.DataFrame(
        {"size": X[:, 0], "colour": words[colour], "sold": sold, "weight of it": X[:, 2]}
    )
    return frame, eta + 0.5 * (colour == 1) - 0.7 * sold


def described_events(rng, n):
    X, eta = described(rng, n)
    return X, rng.poisson(np.exp(0.5 + eta))


def described_sides(rng, n):
    X, eta = described(rng, n)
    return X, (eta + 0.8 * rng.logistic(size=n) > 0).astype(int)


def described_ratings(rng, n):
    X, eta = described(rng, n)
    return X, np.digitize(eta + 0.8 * rng.logistic(size=n), [-0.8, 0.8])


def sparse_sides(rng, n):
    X = rng.poisson(0.7, (n, 5)).astype(float)
    eta = 0.8 * X[:, 0] - 0.6 * X[:, 1]
    return sparse.csr_array(X), (eta + rng.logistic(size=n) > 0.3).astype(int)


def sparse_events(rng, n):
    X = rng.poisson(0.7, (n, 5)).astype(float)
    return sparse.csr_array(X), rng.poisson(np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1]))


@dataclass(frozen=True)
class Fit:
    """An estimator, and how to draw rows and labels for it."""

    estimator: Any
    draw: Callable[[np.random.Generator, int], tuple[Any, Any]]

    def data(self, seed=0, n=90):
        return self.draw(np.random.default_rng(seed), n)


def naive_bayes(event="auto", **options):
    return likely.NaiveBayes(event, **options)


def discriminant(covariance="tied", **options):
    return likely.DiscriminantAnalysis(covariance, **options)


def gaussians(covariance="full", n_components=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return likely.GaussianMixture(n_components, covariance, **chosen)


def mixture(event="auto", n_components=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return likely.MixtureModel(n_components, event, **chosen)


def hidden_markov(event="auto", n_states=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return likely.HiddenMarkovModel(n_states, event, **chosen)


ROOMS = {"rooms": "poisson"}
TIGHT = {"tol": 1e-14}  # so that two searches agree in θ, not only in the objective, to 1e-9


def logistic(link="logit", **options):
    return likely.LogisticRegression(link, **{**TIGHT, **options})


def glm(response, link=None, **options):
    return likely.GLM(response, link, **{**TIGHT, **options})


def softmax(**options):
    return likely.SoftmaxRegression(**{**TIGHT, **options})


def bayesian_network(structure="tan", **options):
    return likely.BayesianNetworkClassifier(structure=structure, **options)


def ordinal(link="logit", **options):
    return likely.OrdinalRegression(link, **{**TIGHT, **options})


def network(kind, **options):
    chosen = {"max_epochs": 12, "tol": None, "learning_rate": 0.02, "random_state": 0}
    chosen["n_networks"] = 1  # the answers of several are averages of those of one
    return kind((4,), **{**chosen, **options})


FITS = {
    "prepared-nb": Fit(likely.Prepared(naive_bayes()), mixed),
    "prepared-softmax": Fit(likely.Prepared(softmax()), mixed),
    "prepared-linear": Fit(likely.Prepared(likely.LinearRegression()), amounts),
    "prepared-sides": Fit(likely.Prepared(logistic(l2=0.5)), described_sides),
    "prepared-lda": Fit(likely.Prepared(discriminant()), mixed),
    "nb-gaussian": Fit(naive_bayes(), numbers),
    "nb-gaps": Fit(naive_bayes(), gappy_numbers),
    "nb-bernoulli": Fit(naive_bayes("bernoulli"), binary),
    "nb-multinomial": Fit(naive_bayes("multinomial"), counts),
    "nb-sparse": Fit(naive_bayes(), sparse_counts),
    "nb-complement": Fit(naive_bayes("complement"), sparse_counts),
    "nb-poisson": Fit(naive_bayes("poisson"), counts),
    "nb-exponential": Fit(naive_bayes("exponential"), times),
    "nb-laplace": Fit(naive_bayes("laplace"), numbers),
    "nb-categorical": Fit(naive_bayes("categorical"), codes),
    "nb-mixed": Fit(naive_bayes(ROOMS, smoothing="auto"), mixed),
    "nb-unlabelled": Fit(naive_bayes(unlabelled=-1), half_labelled),
    "nb-bins": Fit(naive_bayes(discretize="quantile"), gappy_numbers),
    "bn-tan": Fit(bayesian_network(), gappy_numbers),
    "bn-naive": Fit(bayesian_network("naive-bayes", discretize="quantile"), numbers),
    "bn-tree": Fit(bayesian_network("chow-liu", discretize=None, smoothing=0.5), codes),
    "bn-hill": Fit(bayesian_network("hill-climbing"), numbers),
    "bn-mixed": Fit(bayesian_network(), mixed),
    "da-tied": Fit(discriminant("tied"), numbers),
    "da-full": Fit(discriminant("full"), numbers),
    "da-diagonal": Fit(discriminant("diagonal"), gappy_numbers),
    "da-spherical": Fit(discriminant("spherical"), gappy_numbers),
    "da-auto": Fit(discriminant("full", shrinkage="auto"), numbers),
    "da-shrunk": Fit(discriminant("tied", shrinkage=0.3), numbers),
    "da-tied-gaps": Fit(discriminant("tied"), gappy_numbers),
    "da-full-gaps": Fit(discriminant("full"), gappy_numbers),
    "gm-one": Fit(gaussians(n_components=1), numbers),
    "gm-full": Fit(gaussians("full"), numbers),
    "gm-tied": Fit(gaussians("tied"), numbers),
    "gm-diagonal": Fit(gaussians("diagonal"), gappy_numbers),
    "gm-spherical": Fit(gaussians("spherical"), gappy_numbers),
    "gm-full-gaps": Fit(gaussians("full"), gappy_numbers),
    "gm-prior": Fit(
        gaussians("full", prior=Dirichlet(3.0), gaussian_prior=GaussianPrior(2, 3)), numbers
    ),
    "gm-tied-prior": Fit(gaussians("tied", gaussian_prior=GaussianPrior(1, 2)), gappy_numbers),
    "mm-gaussian": Fit(mixture(), numbers),
    "mm-prior": Fit(
        mixture(ROOMS, prior=Dirichlet(2.0), gaussian_prior=GaussianPrior(1, 4)), mixed
    ),
    "mm-mixed": Fit(mixture(ROOMS), mixed),
    "mm-sparse": Fit(mixture(n_components=3), sparse_counts),
    "mm-poisson": Fit(mixture("poisson"), counts),
    "hmm-gaussian": Fit(hidden_markov(), numbers),
    "hmm-mixed": Fit(hidden_markov(ROOMS), mixed),
    "add-numbers": Fit(likely.AdditiveModel(), amounts),
    "add-events": Fit(likely.AdditiveModel("negative-binomial", interactions=2), described_events),
    "add-waits": Fit(likely.AdditiveModel("gamma"), waits),
    "add-sides": Fit(likely.AdditiveClassifier(interactions=1), described_sides),
    "add-gaps": Fit(likely.AdditiveClassifier(), mixed),
    "add-ordered": Fit(likely.AdditiveClassifier("ordinal"), ratings),
    "lin-plain": Fit(likely.LinearRegression(), amounts),
    "lin-ridge": Fit(likely.LinearRegression(l2=2.0), amounts),
    "lin-lasso": Fit(likely.LinearRegression(l1=5.0, **TIGHT), amounts),
    "lin-robust": Fit(likely.LinearRegression(standard_errors="HC3", solver="qr"), amounts),
    "lin-sparse": Fit(likely.LinearRegression(), sparse_events),
    "lin-mixed": Fit(likely.LinearRegression(), described_events),
    "glm-gaussian": Fit(glm("gaussian"), amounts),
    "glm-poisson": Fit(glm("poisson"), events),
    "glm-gamma": Fit(glm("gamma", "log", l2=0.5), waits),
    "glm-log-normal": Fit(glm("log-normal", l2=0.5), waits),
    "glm-elastic": Fit(glm("poisson", l1=2.0, l2=1.0), events),
    "glm-sparse": Fit(glm("poisson", l2=1.0), sparse_events),
    "glm-mixed": Fit(glm(likelihoods.NegativeBinomial(0.5), links.Log()), described_events),
    "log-logit": Fit(logistic(), sides),
    "log-plain": Fit(logistic(l2=0.0, standard_errors="HC1"), sides),
    "log-probit": Fit(logistic("probit"), sides),
    "log-cloglog": Fit(logistic("cloglog", l2=0.1), sides),
    "log-lasso": Fit(logistic(l1=1.0, l2=0.0), sides),
    "log-firth": Fit(logistic(firth=True), sides),
    "log-sparse": Fit(logistic(), sparse_sides),
    "log-mixed": Fit(logistic(l2={"size": 1.0, "colour": 2.0}), described_sides),
    "soft-ridge": Fit(softmax(), numbers),
    "soft-two": Fit(softmax(l2=2.0), sides),
    "soft-lasso": Fit(softmax(l1=1.0, l2=0.5), ratings),
    "soft-sparse": Fit(softmax(l2=5.0), sparse_counts),
    "soft-mixed": Fit(softmax(), described_ratings),
    "soft-auto": Fit(softmax(l2="auto"), ratings),
    "ord-logit": Fit(ordinal(), ratings),
    "ord-plain": Fit(ordinal("probit", l2=0.0), ratings),
    "ord-mixed": Fit(ordinal("cloglog"), described_ratings),
    "max-indicators": Fit(likely.MaxEntropy(**TIGHT), ratings),
    "hall-logistic": Fit(likely.FrankHall(logistic()), ratings),
    "cal-platt": Fit(likely.PlattScaling(naive_bayes()), sides),
    "cal-temperature": Fit(likely.TemperatureScaling(softmax()), ratings),
    "cal-isotonic": Fit(likely.IsotonicScaling(logistic()), sides),
    "path-lasso": Fit(likely.PenaltyPath(likely.LinearRegression(), n_penalties=6), amounts),
    "net-classes": Fit(
        network(likely.NeuralNetworkClassifier, early_stopping=True), described_ratings
    ),
    "net-two": Fit(network(likely.NeuralNetworkClassifier, solver="lbfgs", l2=1.0), sides),
    "net-sparse": Fit(network(likely.NeuralNetworkClassifier), sparse_sides),
    "net-numbers": Fit(network(likely.NeuralNetworkRegressor), amounts),
    "net-events": Fit(network(likely.NeuralNetworkRegressor, response="poisson"), events),
    "map-polynomial": Fit(likely.PolynomialFeatures(2), amounts),
    "map-ratios": Fit(likely.LogCountRatios(), counts),
    "map-radial": Fit(likely.BasisFunctions("radial", centres=4, random_state=0), amounts),
    "map-spline": Fit(likely.BasisFunctions("spline", centres=4), amounts),
    "bins-quantile": Fit(likely.Discretizer("quantile"), gappy_numbers),
    "bins-uniform": Fit(likely.Discretizer("uniform"), gappy_numbers),
    "bins-entropy": Fit(likely.Discretizer("entropy"), gappy_numbers),
}
CLASSIFIERS = [name for name in FITS if is_classifier(FITS[name].estimator)]
REGRESSORS = [name for name in FITS if is_regressor(FITS[name].estimator)]
FOLDED = [
    name for name in FITS if name.startswith(("cal-", "path-", "net-"))
]  # rows are put in folds, or in batches, by their index
MIXTURES = [name for name in FITS if name.startswith(("gm", "mm"))]
SEQUENCES = [name for name in FITS if name.startswith("hmm")]  # one sequence: rows have an order


def rows(X, index):
    return X.iloc[index].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[index]


LEARNED = (
    "components_",
    "chain_",
    "edges_",
    "coef_",
    "coefs_",
    "intercept_",
    "parameters_",
    "thresholds_",
    "levels_",
    "a_",
    "b_",
    "temperature_",
    "powers_",
    "ratios_",
    "centres_",
    "width_",
    "strength_",
)


def learned(model):
    """All numbers that the fit found, also those of the models inside."""
    found = [getattr(model, name) for name in LEARNED if getattr(model, name, None) is not None]
    parts = [tuple(value) if isinstance(value, list) else value for value in found]
    own = [np.asarray(number, dtype=float) for number in flat(tuple(parts))]
    own += (
        [table.table for table in vars(model)["network_"].factors]
        if "network_" in vars(model)
        else []
    )
    inside = [vars(model).get(name) for name in ("estimator_", "model_", "linear_")]
    inner = [*getattr(model, "estimators_", ()), *filter(None, inside)]
    return [*own, *(number for each in inner for number in learned(each))]


def answers(model, X):
    """What a fitted model says about rows, as one array."""
    method = next(m for m in ("transform", "predict_proba", "predict") if hasattr(model, m))
    return np.asarray(getattr(model, method)(X))


def assert_same_fit(one, other, rtol=1e-9, atol=1e-9):
    pairs = list(zip(learned(one), learned(other), strict=True))
    assert any(a.size for a, _ in pairs)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
