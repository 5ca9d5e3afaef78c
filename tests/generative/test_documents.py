"""Naive Bayes on sequences of word ids: NB-10."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

import likely
import likely.runtime
from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.generative.class_counts import merges_columns
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
    assert_allclose(
        model.predict_log_proba(ids), reference.predict_log_proba(counts), rtol=1e-12, atol=1e-12
    )
    assert (model.predict(sequences) == reference.predict(counts)).all()
    arrow = pa.array([list(map(int, row)) for row in ids])
    assert_allclose(
        model.predict_proba(arrow), reference.predict_proba(counts), rtol=1e-12, atol=1e-12
    )
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
    assert_allclose(
        of_counts - joint, np.tile(sequences.log_orders()[:, None], 3), rtol=1e-9, atol=1e-9
    )
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


def by_ids():
    return NaiveBayes("multinomial").fit([[0, 1], [2]], ["a", "b"])


@pytest.mark.parametrize("lists", [list, tuple, np.array])
def test_a_document_alone_is_read_as_among_others(lists):
    """Three ids, and three words: as counts they would fit the columns."""
    model, document = by_ids(), lists([2, 2, 2])
    assert model.reads_ids_
    assert model.predict([document]).tolist() == ["b"]
    together = model.predict_joint_log_proba([document, lists([2])])
    assert_allclose(model.predict_joint_log_proba([document]), together[:1], rtol=1e-14)
    assert_allclose(model.predict_log_proba([[]])[0], model.class_log_prior_)
    assert model.explain([document]).total[0, 1] > 0


def test_batches_of_equal_length_are_read_as_the_first():
    model = NaiveBayes("multinomial").partial_fit([[0, 1], [2]], ["a", "b"], ["a", "b"])
    model.partial_fit([[2, 2, 2], [2, 1, 0]], ["b", "a"])
    whole = NaiveBayes("multinomial").fit([[0, 1], [2], [2, 2, 2], [2, 1, 0]], ["a", "b", "b", "a"])
    assert_allclose(model.class_coef_, whole.class_coef_, rtol=1e-14)


def test_ids_of_equal_length_are_given_as_sequences():
    ids, y = [[0, 1], [2, 2]], ["a", "b"]
    model = NaiveBayes("multinomial").fit(Sequences.of(ids), y)
    assert model.n_features_in_ == 3
    assert model.predict([[2, 2, 2]]).tolist() == ["b"]
    counts = NaiveBayes("multinomial").fit(ids, y)  # a matrix, as in scikit-learn
    assert counts.n_features_in_ == 2
    assert not counts.reads_ids_


@pytest.mark.parametrize("call", ["predict", "predict_joint_log_proba", "explain"])
def test_a_model_of_counts_refuses_lists_of_unequal_length(call):
    model = NaiveBayes("multinomial").fit([[1, 0, 2], [0, 3, 1]], ["a", "b"])
    with pytest.raises(InvalidInput, match=r"rows of 3 values were expected.*Sequences\.of"):
        getattr(model, call)([[2, 2], [0]])
    with pytest.raises(InvalidInput, match="unequal length, and the model was fitted to columns"):
        model.partial_fit([[2, 2], [0]], ["a", "b"])
    assert model.predict(Sequences.of([[1, 1]], 3)).tolist() == ["b"]


def test_a_matrix_is_counts_for_every_model():
    assert by_ids().predict(np.array([[3, 0, 0]])).tolist() == ["a"]


def test_a_fit_to_other_rows_forgets_the_ids():
    model = by_ids().fit([[1, 0, 2], [0, 3, 1]], ["a", "b"])
    assert not model.reads_ids_


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_saved_model_reads_ids_as_before(tmp_path, event):
    model = NaiveBayes(event).fit([[0, 1], [2]], ["a", "b"])
    likely.save(model, tmp_path / "m.likely")
    for document in ([[2, 2, 2]], [[0, 1, 2], [2]], [[]]):
        expected = model.predict_proba(document)
        assert_allclose(likely.load(tmp_path / "m.likely").predict_proba(document), expected)
        alone = likely.runtime.load(tmp_path / "m.likely")
        assert_allclose(alone.predict_proba(document), expected, rtol=1e-12)


def test_a_refused_fit_does_not_look_fitted():
    model = NaiveBayes("multinomial")
    with pytest.raises(InvalidInput):
        model.fit([[0, 1], [2]], ["a", "b", "c"])
    assert "reads_ids_" not in vars(model)


def test_columns_merge_where_a_missing_word_has_the_same_probability_in_each_class():
    """Not where absence is evidence, nor where pseudo-counts are 0."""
    assert merges_columns(NaiveBayes("multinomial"))
    assert merges_columns(NaiveBayes("multinomial", smoothing="auto"))
    assert not merges_columns(NaiveBayes("multinomial", smoothing=0.0))
    assert not merges_columns(NaiveBayes("bernoulli"))
