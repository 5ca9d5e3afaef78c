"""Naive Bayes with few labelled documents and many without a label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logsumexp

from likely import NaiveBayes
from likely.errors import InvalidInput


def documents(seed, n, n_classes=4, n_words=300, spread=0.1):
    """Words of a class come in topics, so that unlabelled documents show which go together."""
    rng = np.random.default_rng(seed)
    phi = np.random.default_rng(7).dirichlet(np.full(n_words, spread), n_classes)
    y = rng.integers(0, n_classes, n)
    return np.stack([rng.multinomial(30, phi[k]) for k in y]).astype(float), y


def few_labels(y, per_class):
    known = np.concatenate([np.flatnonzero(y == k)[:per_class] for k in np.unique(y)])
    out = np.full(len(y), -1)
    out[known] = y[known]
    return out


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_the_weight_is_that_of_every_unlabelled_row(event):
    X, y = documents(0, 120)
    X, labels = np.minimum(X, 1) if event == "bernoulli" else X, few_labels(y, 5)
    model = NaiveBayes(event, unlabelled=-1, unlabelled_weight=0.2).fit(X, labels)
    weight = np.where(labels < 0, 0.2, 1.0)
    reference = NaiveBayes(event, unlabelled=-1).fit(X, labels, sample_weight=weight)
    assert_allclose(model.predict_log_proba(X), reference.predict_log_proba(X), atol=1e-9)
    assert_allclose(model.class_count_, reference.class_count_, rtol=1e-9)


def test_without_weight_unlabelled_rows_are_not_used():
    X, y = documents(0, 120)
    labels = few_labels(y, 5)
    model = NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=0.0).fit(X, labels)
    known = labels >= 0
    reference = NaiveBayes("multinomial").fit(X[known], labels[known])
    assert_allclose(model.predict_log_proba(X), reference.predict_log_proba(X), atol=1e-9)


@pytest.mark.parametrize("weight", [0.03, 0.5, 1.0])
@pytest.mark.parametrize("smoothing", [1.0, "auto"])
def test_the_bound_never_falls(weight, smoothing):
    X, y = documents(1, 200)
    model = NaiveBayes(
        "multinomial", unlabelled=-1, unlabelled_weight=weight, smoothing=smoothing
    ).fit(sparse.csr_array(X), few_labels(y, 4))
    trace = -np.array(model.solution_.trace)
    assert len(trace) > 2
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[0])).all()
    assert trace[-1] > trace[0]


def test_the_bound_is_the_weighted_log_posterior():
    X, y = documents(2, 100)
    labels = few_labels(y, 4)
    model = NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=0.3).fit(X, labels)
    joint, known = model.predict_joint_log_proba(X), labels >= 0
    expected = joint[known, labels[known]].sum() + 0.3 * logsumexp(joint[~known], axis=1).sum()
    expected += model.class_coef_.sum()  # one pseudo-count of each word in each class
    assert_allclose(-model.solution_.trace[-1], expected, rtol=1e-9)


def test_unlabelled_documents_improve_the_accuracy():
    X, y = documents(3, 800, spread=1.0)
    new, truth = documents(4, 500, spread=1.0)
    labels = few_labels(y, 2)
    known = labels >= 0
    alone = NaiveBayes("multinomial", smoothing=0.1).fit(X[known], labels[known]).score(new, truth)
    more = NaiveBayes("multinomial", smoothing=0.1, unlabelled=-1).fit(X, labels)
    assert more.score(new, truth) > alone + 0.05


@pytest.mark.parametrize("weight", [-0.1, np.inf, "half"])
def test_a_weight_that_is_none_is_refused(weight):
    X, y = documents(0, 20)
    with pytest.raises(InvalidInput, match=r"unlabelled_weight must be a finite number, 0 or more"):
        NaiveBayes("multinomial", unlabelled=-1, unlabelled_weight=weight).fit(X, y)
