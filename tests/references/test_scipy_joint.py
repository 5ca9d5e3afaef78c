"""log p(x, k) of every event model equals log π_k + SciPy's log p(x | k), with every constant."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from scipy.special import logsumexp

from likely import MixtureModel, NaiveBayes
from likely.distributions import (
    EXPONENTIAL_FAMILIES,
    FullFamily,
    JointTableFamily,
    categorical_family,
)
from likely.generative.events import EVENTS
from tests.event_models import binary, counts, numbers, times

K, N = 3, 60
Y = np.arange(N) % K
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def codes(rng, n):
    return np.column_stack([rng.integers(0, size, n) for size in (3, 2, 4)])


def by_feature(log_prob):
    """From log p(x_j | k) of shape (n, K, d)."""
    return lambda part, X: log_prob(part, np.asarray(X)[:, None, :]).sum(axis=2)


def by_component(log_prob):
    return lambda part, X: np.stack([log_prob(part, k, np.asarray(X)) for k in range(K)], axis=1)


def bernoulli(part, x):
    return stats.bernoulli(part.probability).logpmf(x)


def poisson(part, x):
    return stats.poisson(part.rate).logpmf(x)


def exponential(part, x):
    return stats.expon(scale=part.mean).logpdf(x)


def gaussian(part, x):
    return stats.norm(part.mean, np.sqrt(part.variance)).logpdf(x)


def laplace(part, x):
    return stats.laplace(part.median, part.scale).logpdf(x)


def multinomial(part, k, X):
    return stats.multinomial(X.sum(axis=1), np.exp(part.log_probability[k])).logpmf(X)


def full(part, k, X):
    matrix = part.covariance[k % len(part.covariance)]
    return stats.multivariate_normal(part.mean[k], matrix).logpdf(X)


def categorical(part, k, X):
    return sum(
        stats.rv_discrete(values=(range(v), part.table(j)[k])).logpmf(X[:, j])
        for j, v in enumerate(part.sizes)
    )


def joint_table(part, k, X):
    cells = np.ravel_multi_index(tuple(X.astype(int).T), part.sizes)
    values = range(int(np.prod(part.sizes)))
    return stats.rv_discrete(values=(values, part.combination.table(0)[k])).logpmf(cells)


def family_bernoulli(part, x):
    return stats.bernoulli(part.mean_statistic[..., 0]).logpmf(x)


def family_poisson(part, x):
    return stats.poisson(part.mean_statistic[..., 0]).logpmf(x)


def family_exponential(part, x):
    return stats.expon(scale=part.mean_statistic[..., 0]).logpdf(x)


def family_gaussian(part, x):
    mean, square = np.moveaxis(part.mean_statistic, -1, 0)
    return stats.norm(mean, np.sqrt(square - mean**2)).logpdf(x)


def family_categorical(part, k, X):
    shares = np.c_[part.mean_statistic[k], 1 - part.mean_statistic[k].sum(axis=1)]
    pairs = zip(shares, X.T, strict=True)
    return sum(stats.rv_discrete(values=(range(3), p)).logpmf(x) for p, x in pairs)


def three_values(rng, n):
    return np.stack([np.arange(n) // 3 % 3, rng.integers(0, 3, n)], axis=1).astype(float)


OF_NAME = {  # event: (argument, rows, SciPy's log p(x | k) of the fitted part)
    "bernoulli": ("bernoulli", binary, by_feature(bernoulli)),
    "categorical": ("categorical", codes, by_component(categorical)),
    "multinomial": ("multinomial", counts, by_component(multinomial)),
    "poisson": ("poisson", counts, by_feature(poisson)),
    "exponential": ("exponential", times, by_feature(exponential)),
    "gaussian": ("gaussian", numbers, by_feature(gaussian)),
    "laplace": ("laplace", numbers, by_feature(laplace)),
}
MODELS = OF_NAME | {
    "full": (FullFamily(), numbers, by_component(full)),
    "tied": (FullFamily(tied=True), numbers, by_component(full)),
    "joint-table": (JointTableFamily((3, 2, 4)), codes, by_component(joint_table)),
    "family-bernoulli": (EXPONENTIAL_FAMILIES["bernoulli"], binary, by_feature(family_bernoulli)),
    "family-poisson": (EXPONENTIAL_FAMILIES["poisson"], counts, by_feature(family_poisson)),
    "family-exponential": (
        EXPONENTIAL_FAMILIES["exponential"],
        times,
        by_feature(family_exponential),
    ),
    "family-gaussian": (EXPONENTIAL_FAMILIES["gaussian"], numbers, by_feature(family_gaussian)),
    "family-categorical": (
        categorical_family(3),
        three_values,
        by_component(family_categorical),
    ),
}


def rows(draw, n=N, seed=0):
    return draw(np.random.default_rng(seed), n)


def assert_evidence(model, X):
    """NB-1: p(x) is the sum of the joint, and p(k | x) its share of it."""
    joint = model.predict_joint_log_proba(X)
    evidence = logsumexp(joint, axis=1)
    assert_allclose(model.score_samples(X), evidence, **CLOSE)
    assert_allclose(model.predict_log_proba(X), joint - evidence[:, None], **CLOSE)
    assert_allclose(model.log_likelihood(X), evidence.sum(), **CLOSE)


def test_every_event_model_by_name_has_its_reference():
    """The complement scores classes and is no density."""
    assert set(OF_NAME) == set(EVENTS) - {"complement"}


@pytest.mark.parametrize("name", MODELS)
def test_the_joint_of_naive_bayes(name):
    event, draw, log_prob = MODELS[name]
    X = rows(draw)
    model = NaiveBayes(event).fit(X, Y)
    expected = model.class_log_prior_ + log_prob(model.distribution_.parts[0], X)
    assert_allclose(model.predict_joint_log_proba(X), expected, **CLOSE)
    assert_allclose(model.log_likelihoods(X, Y), expected[np.arange(N), Y], **CLOSE)
    assert_evidence(model, X)


@pytest.mark.parametrize("name", OF_NAME)
def test_the_joint_of_a_mixture(name):
    event, draw, log_prob = OF_NAME[name]
    X = rows(draw)
    model = MixtureModel(K, event, start=Y, max_iter=3, tol=-1.0)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(X)
    expected = np.log(model.weights_) + log_prob(model.distribution_.parts[0], X)
    assert_allclose(model.predict_joint_log_proba(X), expected, **CLOSE)
    assert_evidence(model, X)


@pytest.mark.parametrize("name", ["poisson", "multinomial"])
def test_the_joint_of_sparse_counts(name):
    X = rows(counts)
    dense, thin = (NaiveBayes(name).fit(each, Y) for each in (X, sparse.csr_array(X)))
    found = thin.predict_joint_log_proba(sparse.csr_array(X))
    assert_allclose(found, dense.predict_joint_log_proba(X), **CLOSE)


def test_the_joint_of_counts_with_missing_cells():
    """ln x! of a cell that is missing is not there either."""
    X = rows(counts)
    model = NaiveBayes("poisson").fit(X, Y)
    X[:, 1] = np.nan
    seen = stats.poisson(model.distribution_.parts[0].rate[:, [0, 2, 3]])
    expected = model.class_log_prior_ + seen.logpmf(X[:, None, [0, 2, 3]]).sum(axis=2)
    assert_allclose(model.predict_joint_log_proba(X), expected, **CLOSE)


def test_the_joint_of_several_event_models():
    number, count, code = rows(numbers)[:, 0], rows(counts)[:, :2], rows(codes)[:, 0]
    frame = pd.DataFrame({"a": number, "b": count[:, 0], "c": count[:, 1], "d": code})
    event = {"a": "gaussian", "b": "poisson", "c": "poisson", "d": "categorical"}
    model = NaiveBayes(event).fit(frame, Y)
    g, p, c = model.distribution_.parts
    expected = model.class_log_prior_ + OF_NAME["gaussian"][2](g, number[:, None])
    expected += OF_NAME["poisson"][2](p, count) + OF_NAME["categorical"][2](c, code[:, None])
    assert_allclose(model.predict_joint_log_proba(frame), expected, **CLOSE)
    assert_evidence(model, frame)
