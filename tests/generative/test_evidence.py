"""Telling features: the same measure for every event model, known for two Gaussians."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import poisson

import likely
from likely import (
    DiscriminantAnalysis,
    GaussianMixture,
    HiddenMarkovModel,
    MixtureModel,
    NaiveBayes,
)
from likely.distributions import Bernoulli, DiagonalGaussian, Multinomial, Poisson, evidence
from likely.distributions.evidence import RowSums
from likely.distributions.multinomial import MultinomialStatistics
from likely.generative.class_counts import ClassCounts, fit_class_counts


def test_evidence_of_two_gaussians_is_their_divergence():
    """KL(N(2, 1) ‖ N(0, 1)) = 2; the second column says nothing."""
    member = DiagonalGaussian(np.array([[0.0, 0.0], [2.0, 0.0]]), np.ones((2, 2)))
    rng = np.random.default_rng(0)
    evidence = member.evidence(np.log([0.5, 0.5]), rng)
    assert_allclose(evidence[:, 0], 2.0, atol=0.3)  # 500 draws of a spread of 2: 3 errors
    assert_allclose(evidence[:, 1], 0.0, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("event", ["bernoulli", "multinomial", "complement", "categorical"])
def test_the_word_of_a_class_is_its_most_telling_feature(event):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 6)) < np.where(np.arange(6) == y[:, None], 0.9, 0.2)).astype(int)
    told = NaiveBayes(event).fit(X, y).informative_features(top=2)
    assert list(told) == [0, 1, 2]
    for k, features in told.items():
        assert len(features) == 2
        assert next(iter(features)) == f"x{k}"


def test_every_model_of_components_can_tell():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 50)
    X = rng.normal(size=(100, 2)) + np.c_[5.0 * (y == "b"), np.zeros(100)]
    for model in (DiscriminantAnalysis(), DiscriminantAnalysis("full")):
        assert next(iter(model.fit(X, y).informative_features()["b"])) == "x0"
    told = GaussianMixture(2, random_state=0).fit(X).informative_features()
    assert next(iter(told[0])) == "x0"


def test_a_record_batch_is_a_frame():
    table = pa.table({"x": [0.0, 0.1, 5.0, 5.1], "k": ["u", "u", "v", "v"]})
    model = NaiveBayes().fit(table, [0, 0, 1, 1])
    batch = table.to_batches()[0]
    assert_allclose(model.predict_proba(batch), model.predict_proba(table))


def test_the_evidence_of_wide_tables_is_drawn_some_rows_at_a_time(monkeypatch):
    """Contributions of all draws at once took gigabytes of a wide table."""
    rng = np.random.default_rng(0)
    member = DiagonalGaussian(rng.normal(size=(3, 40)), np.ones((3, 40)))
    log_mixing = np.log([0.2, 0.3, 0.5])
    monkeypatch.setattr(evidence, "DRAWS", 20)
    whole = member.evidence(log_mixing, np.random.default_rng(1))
    monkeypatch.setattr(evidence, "MOST_CELLS", 7 * 40 * 3)
    sizes, contributions = [], DiagonalGaussian.contributions

    def recorded(self, X):
        sizes.append(len(X))
        return contributions(self, X)

    monkeypatch.setattr(DiagonalGaussian, "contributions", recorded)
    parts = member.evidence(log_mixing, np.random.default_rng(1))
    assert_allclose(parts, whole, rtol=1e-12)
    assert sizes == [7, 7, 6] * 3


def evidence_of(model):
    """By the classes or components and the features, in their order."""
    told = model.informative_features(top=model.n_features_in_)
    return np.array([[row[f"x{j}"] for j in range(len(row))] for row in told.values()])


def three_classes_of_counts(length, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.array([rng.multinomial(length, p) for p in rng.dirichlet(np.ones(5), 3)[y]])
    return X.astype(float), y


@pytest.mark.parametrize("length", [1, 3, 40, 3000])
def test_the_evidence_of_counts_is_the_mean_over_the_rows_of_two_classes(length):
    """With two classes the log-odds are linear in the counts, so that the mean counts decide."""
    X, y = three_classes_of_counts(length)
    X, y = X[y < 2], y[y < 2]
    model = NaiveBayes("multinomial", smoothing=1e-9).fit(X, y)
    found = evidence_of(model)
    for k in (0, 1):
        ratio = model.class_coef_[k] - model.class_coef_[1 - k]
        assert_allclose(found[k], X[y == k].mean(axis=0) * ratio, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("length", [0.002, 3, 40, 3000])
def test_the_evidence_of_counts_is_the_expectation_over_counts(length):
    """Enumerated: Σ_x Poisson(x; L φ_cv) · (log-odds of c from x occurrences of v)."""
    rng = np.random.default_rng(1)
    phi, log_mixing = rng.dirichlet(np.ones(4), 3), np.log([0.2, 0.3, 0.5])
    rows = RowSums(np.array([2.0, 5.0, 3.0]), MultinomialStatistics(np.zeros((3, 4))))
    rows = rows._replace(statistics=MultinomialStatistics(rows.weight[:, None] * length * phi))
    found = Multinomial.from_probability(phi).evidence(log_mixing, rng, rows)
    x = np.arange(3 * length + 30)
    for c in range(3):
        others = [k for k in range(3) if k != c]
        share = log_mixing[others] - np.log(np.exp(log_mixing[others]).sum())
        for v in range(4):
            rest = logsumexp(share[:, None] + x * np.log(phi[others, v])[:, None], axis=0)
            odds = x * np.log(phi[c, v]) - rest
            expected = poisson.pmf(x, length * phi[c, v]) @ odds
            assert_allclose(found[c, v], expected, rtol=1e-7, atol=1e-12)


def test_the_evidence_of_poisson_counts_and_of_presences_is_enumerated():
    rng = np.random.default_rng(2)
    log_mixing, x = np.log([0.2, 0.3, 0.5]), np.arange(300)
    rate, p = rng.gamma(1.0, 20.0, (3, 4)), rng.random((3, 4))
    of_counts = poisson.logpmf(x, rate[:, :, None])
    of_presence = np.log(np.stack([1 - p, p], axis=2))
    for member, logs in ((Poisson(rate), of_counts), (Bernoulli(p), of_presence)):
        found = member.evidence(log_mixing, rng)
        for c in range(3):
            others = [k for k in range(3) if k != c]
            share = log_mixing[others] - np.log(np.exp(log_mixing[others]).sum())
            rest = logsumexp(share[:, None, None] + logs[others], axis=0)
            expected = np.sum(np.exp(logs[c]) * (logs[c] - rest), axis=1)
            assert_allclose(found[c], expected, rtol=1e-7, atol=1e-12)


def test_values_that_a_class_never_has_are_no_evidence_for_it_and_prove_the_others():
    probability = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    rng = np.random.default_rng(0)
    found = Multinomial.from_probability(probability).evidence(np.log([0.5, 0.5]), rng)
    assert_allclose(found, [[0.0, np.inf, 0.0], [0.0, 0.0, np.inf]], rtol=1e-15, atol=1e-15)
    found = Bernoulli(probability).evidence(np.log([0.5, 0.5]), rng)
    assert_allclose(found[:, 0], 0.0, rtol=1e-15, atol=1e-15)
    assert_allclose(found[:, 1:], [[np.inf, np.log(2)], [np.log(2), np.inf]], rtol=1e-14)


def test_a_class_without_rows_has_the_lengths_of_all_and_a_lone_one_some_evidence():
    rows = RowSums(np.array([4.0, 0.0]), MultinomialStatistics(np.array([[8.0, 4.0], [0.0, 0.0]])))
    assert_array_equal(rows.mean_counts(), [[2.0, 1.0], [2.0, 1.0]])
    member = Multinomial.from_probability([[2 / 3, 1 / 3], [0.5, 0.5]])
    with np.errstate(divide="ignore"):
        found = member.evidence(np.log([1.0, 0.0]), np.random.default_rng(0), rows)
    assert_allclose(found[0], [2 * np.log(4 / 3), np.log(2 / 3)], rtol=1e-9)
    assert np.isfinite(found).all()


def test_in_a_mixed_table_a_weak_word_does_not_stand_above_a_strong_number():
    rng = np.random.default_rng(3)
    y = np.arange(400) % 2
    words = np.array([rng.multinomial(3, [0.5, 0.5] if k else [0.35, 0.65]) for k in y])
    table = pd.DataFrame({"good": words[:, 0], "bad": words[:, 1], "size": rng.normal(5 * y)})
    events = {"good": "multinomial", "bad": "multinomial", "size": "gaussian"}
    model = NaiveBayes(events).fit(table, y)
    told = model.informative_features()[1]
    assert next(iter(told)) == "size"
    assert told["size"] > 10
    assert abs(told["good"]) < 1
    assert model.describe().most_important()[0] == "size"


@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_partial_fits_files_and_sums_have_the_evidence_of_the_rows(event, tmp_path):
    X, y = three_classes_of_counts(4)
    model = NaiveBayes(event).fit(X, y)
    expected = evidence_of(model)
    parts = NaiveBayes(event)
    for rows in (slice(0, 20), slice(20, 60)):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(evidence_of(parts), expected, rtol=1e-12)
    likely.save(model, tmp_path / "model.likely")
    loaded = likely.load(tmp_path / "model.likely")
    assert_allclose(evidence_of(loaded), expected, rtol=1e-12)
    summed = fit_class_counts(
        NaiveBayes(event), ClassCounts(sums_of(X, y), np.full(3, 20.0)), y[:3]
    )
    assert_allclose(evidence_of(summed), expected, rtol=1e-12)
    twice = NaiveBayes(event, smoothing=2.0).fit(X, y, sample_weight=np.full(60, 2.0))
    assert_allclose(evidence_of(twice), expected, rtol=1e-10)


def sums_of(X, y):
    return np.stack([X[y == k].sum(axis=0) for k in range(3)], axis=1)


def test_a_model_of_an_older_file_without_sums_has_the_evidence_of_one_count():
    X, y = three_classes_of_counts(4)
    model = NaiveBayes("multinomial").fit(X, y)
    del model.statistics_, model.totals_
    one = model.distribution_.parts[0].evidence(model.class_log_prior_, np.random.default_rng(0))
    assert_allclose(evidence_of(model), one, rtol=1e-12)


@pytest.mark.parametrize("estimator", [MixtureModel, HiddenMarkovModel])
def test_evidence_of_components_has_the_lengths_of_their_rows(estimator):
    X, _ = three_classes_of_counts(4)
    short = estimator(2, event="multinomial", random_state=0).fit(X)
    ratio = short.distribution_.parts[0].log_probability
    counts = short.totals_.statistics.parts[0].counts
    length = counts.sum(axis=1) / short.totals_.count
    assert_allclose(length, 4.0, rtol=1e-9)
    expected = 4.0 * np.exp(ratio) * (ratio - ratio[::-1])
    assert_allclose(evidence_of(short), expected, rtol=1e-7, atol=1e-9)
