"""Agreement with hmmlearn at fixed parameters, and step by step from the same start."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.distributions import (
    Categorical,
    CategoricalFamily,
    DiagonalGaussian,
    FullGaussian,
    Poisson,
)
from likely.generative.hidden_markov import HiddenMarkovModel

hmm = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed")

LENGTHS = [40, 1, 100, 60]
START = np.array([0.5, 0.3, 0.2])
TRANSITION = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])


def gaussian(covariance):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(3, 2)) * 2
    root = rng.normal(size=(3, 2, 2))
    matrices = root @ root.transpose(0, 2, 1) + np.eye(2)
    theirs = hmm.GaussianHMM(3, covariance, init_params="", min_covar=0.0, covars_prior=0.0)
    theirs.means_ = mean
    if covariance == "full":
        theirs.covars_ = matrices
        return theirs, FullGaussian(mean, matrices)
    theirs.covars_ = np.diagonal(matrices, axis1=1, axis2=2)
    return theirs, DiagonalGaussian(mean, np.diagonal(matrices, axis1=1, axis2=2).copy())


def categorical():
    table = np.random.default_rng(1).dirichlet(np.ones(4), 3)
    theirs = hmm.CategoricalHMM(3, init_params="")
    theirs.emissionprob_ = table
    return theirs, Categorical.from_probability(table)


def poisson():
    rate = np.array([[1.0, 5.0], [4.0, 0.5], [9.0, 9.0]])
    theirs = hmm.PoissonHMM(3, init_params="")
    theirs.lambdas_ = rate
    return theirs, Poisson(rate)


MODELS = {
    "full": lambda: gaussian("full"),
    "diagonal": lambda: gaussian("diag"),
    "categorical": categorical,
    "poisson": poisson,
}


def both(name):
    theirs, emission = MODELS[name]()
    theirs.startprob_, theirs.transmat_ = START, TRANSITION
    ours = HiddenMarkovModel.from_parameters(START, TRANSITION, emission)
    X, _ = ours.sample(LENGTHS, random_state=5)
    return ours, theirs, np.asarray(X).astype(int) if name in ("categorical", "poisson") else X


@pytest.mark.parametrize("name", MODELS)
def test_likelihoods_posteriors_and_paths_agree(name):
    ours, theirs, X = both(name)
    log_likelihood, posterior = theirs.score_samples(X, LENGTHS)
    assert_allclose(ours.log_likelihood(X, lengths=LENGTHS), log_likelihood, rtol=1e-10)
    assert_allclose(ours.predict_proba(X, LENGTHS), posterior, rtol=1e-10, atol=1e-10)
    score, path = theirs.decode(X, LENGTHS, algorithm="viterbi")
    assert_array_equal(ours.predict(X, LENGTHS), path)
    assert_allclose(ours.most_probable(X, LENGTHS).log_score, score, rtol=1e-10)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [1, 2, 10])
def test_steps_of_em_agree(name, steps):
    """Without priors; hmmlearn measures convergence in another way, so that steps are counted."""
    ours, theirs, X = both(name)
    model = HiddenMarkovModel(
        3,
        CategoricalFamily((4,)) if name == "categorical" else ours.event,
        smoothing=0.0,
        start_smoothing=0.0,
        transition_smoothing=0.0,
        regularisation=0.0,
        start=ours,
        tol=-1.0,
        max_iter=steps,
    )
    theirs.n_iter = theirs.monitor_.n_iter = steps
    theirs.monitor_.tol = -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they stop before they converge, as they were asked to
        model.fit(X, lengths=LENGTHS)
        theirs.fit(X, LENGTHS)
    assert_allclose(model.start_probability_, theirs.startprob_, atol=1e-8)
    assert_allclose(model.transition_probability_, theirs.transmat_, atol=1e-8)
    assert_allclose(model.log_likelihood(X, lengths=LENGTHS), theirs.score(X, LENGTHS), rtol=1e-8)
