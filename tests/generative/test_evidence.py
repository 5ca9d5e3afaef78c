"""Telling features: the same measure for every event model, known for two Gaussians."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from likely import DiscriminantAnalysis, GaussianMixture, NaiveBayes
from likely.distributions import DiagonalGaussian, Multinomial, base


def test_evidence_of_two_gaussians_is_their_divergence():
    """KL(N(2, 1) ‖ N(0, 1)) = 2; the second column says nothing."""
    member = DiagonalGaussian(np.array([[0.0, 0.0], [2.0, 0.0]]), np.ones((2, 2)))
    rng = np.random.default_rng(0)
    evidence = member.evidence(np.log([0.5, 0.5]), rng)
    assert_allclose(evidence[:, 0], 2.0, atol=0.3)  # 500 draws of a spread of 2: 3 errors
    assert_allclose(evidence[:, 1], 0.0, atol=1e-12)


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


def test_the_evidence_of_many_words_is_drawn_some_rows_at_a_time(monkeypatch):
    """Contributions of all draws at once took gigabytes of a table of texts."""
    rng = np.random.default_rng(0)
    member = Multinomial(np.log(rng.dirichlet(np.ones(40), 3)))
    log_mixing = np.log([0.2, 0.3, 0.5])
    monkeypatch.setattr(base, "DRAWS", 20)
    whole = member.evidence(log_mixing, np.random.default_rng(1))
    monkeypatch.setattr(base, "MOST_CELLS", 7 * 40 * 3)
    sizes, contributions = [], Multinomial.contributions

    def recorded(self, X):
        sizes.append(len(X))
        return contributions(self, X)

    monkeypatch.setattr(Multinomial, "contributions", recorded)
    parts = member.evidence(log_mixing, np.random.default_rng(1))
    assert_allclose(parts, whole, rtol=1e-12)
    assert sizes == [7, 7, 6] * 3
