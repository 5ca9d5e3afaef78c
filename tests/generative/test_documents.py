"""Naive Bayes on sequences of word ids: NB-10."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.text.sequences import Sequences


def documents(seed=0, n=40, n_words=50_000):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    ids = [rng.integers(0, n_words, rng.integers(0, 30)) // (1 + 7 * k) for k in y]
    return ids, y


def test_estimates_and_posterior_are_those_of_the_counts():
    ids, y = documents()
    sequences = Sequences.of(ids, 50_000)
    model = NaiveBayes("multinomial").fit(sequences, y)
    counts = sequences.to_counts()
    reference = NaiveBayes("multinomial").fit(counts, y)
    assert model.n_features_in_ == 50_000
    assert_allclose(model.class_coef_, reference.class_coef_, rtol=1e-14)
    assert_allclose(model.predict_log_proba(ids), reference.predict_log_proba(counts), atol=1e-12)
    assert (model.predict(sequences) == reference.predict(counts)).all()
    arrow = pa.array([list(map(int, row)) for row in ids])
    assert_allclose(model.predict_proba(arrow), reference.predict_proba(counts), atol=1e-12)
    assert_allclose(model.explain(sequences[:2]).total, reference.explain(counts[:2]).total)


def test_the_estimate_by_hand():
    """(count + 1) / (total + V), as NB-10 has it."""
    ids, y = [[0, 1, 1], [2], [2, 2, 3, 0, 0]], [0, 0, 1]
    model = NaiveBayes("multinomial").fit(Sequences.of(ids, 5), y)
    phi = np.array([[2, 3, 2, 1, 1], [3, 1, 3, 2, 1]]) / np.array([[9], [10]])
    assert_allclose(np.exp(model.class_coef_), phi, rtol=1e-12)


def test_log_joints_of_sequences_and_counts_differ_by_the_number_of_orders():
    ids, y = documents(n_words=60)
    sequences = Sequences.of(ids, 60)
    model = NaiveBayes("multinomial").fit(sequences, y)
    of_counts = model.predict_joint_log_proba(sequences.to_counts())
    joint = model.predict_joint_log_proba(sequences)
    assert_allclose(of_counts - joint, np.tile(sequences.log_orders()[:, None], 3), atol=1e-9)
    by_hand = [model.class_intercept_ + model.class_coef_[:, row].sum(axis=1) for row in ids]
    assert_allclose(joint, by_hand, rtol=1e-10)
    assert_allclose(model.score_samples(sequences), logsumexp(by_hand, axis=1), rtol=1e-10)


def test_the_order_of_words_does_not_change_the_score():
    ids, y = documents()
    sequences = Sequences.of(ids, 50_000)
    model = NaiveBayes("multinomial").fit(sequences, y)
    other = Sequences.of([row[::-1] for row in ids], 50_000)
    assert_allclose(
        model.predict_joint_log_proba(other), model.predict_joint_log_proba(sequences), rtol=1e-14
    )


def test_other_event_models_read_sequences_too():
    ids, y = documents(n_words=60)
    sequences = Sequences.of(ids, 60)
    presence, counts = sequences.to_presence(), sequences.to_counts()
    bernoulli = NaiveBayes("bernoulli").fit(sequences, y)
    assert_allclose(
        bernoulli.predict_joint_log_proba(sequences),
        NaiveBayes("bernoulli").fit(presence, y).predict_joint_log_proba(presence),
    )
    complement = NaiveBayes("complement", calibrate="length").fit(sequences, y)
    reference = NaiveBayes("complement", calibrate="length").fit(counts, y)
    assert_allclose(complement.predict_proba(sequences), reference.predict_proba(counts))


def test_batches_of_sequences_add_up():
    ids, y = documents(n_words=60)
    sequences = Sequences.of(ids, 60)
    model = NaiveBayes("multinomial").partial_fit(sequences[:20], y[:20], [0, 1, 2])
    model.partial_fit(ids[20:], y[20:])
    whole = NaiveBayes("multinomial").fit(sequences, y)
    assert_allclose(model.class_coef_, whole.class_coef_, rtol=1e-12)


def test_a_word_outside_the_vocabulary_is_refused():
    ids, y = documents(n_words=60)
    model = NaiveBayes("multinomial").fit(Sequences.of(ids, 60), y)
    with pytest.raises(InvalidInput, match=r"an id of a word is 60; the vocabulary has 60 words"):
        model.predict([[1, 2], [60]])
