"""Texts that are read once: what they are fitted to, and what is kept of them."""

import json
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.text_models import text_classifier
from likely.workbench.data import dataset
from likely.workbench.scoring import text_stream


@pytest.fixture
def stream(tmp_path, monkeypatch):
    """Documents of three classes that repeat their words, in a file that is read in chunks."""
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(text_stream, "AT_ONCE", 64)
    monkeypatch.setattr(text_stream, "N_COLUMNS", 2**12)
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(60)])
    centre = rng.dirichlet(np.full(60, 0.5), 3)
    rows = []
    for _ in range(700):
        k = int(rng.integers(3))
        own = rng.gamma(6 * centre[k] + 1e-3)
        drawn = rng.choice(words, rng.integers(4, 40), p=own / own.sum())
        rows.append({"text": " ".join(drawn), "label": f"class {k}"})
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return lk.dataset(str(path), "label", text=["text"]), rows


def fitted(data, **settings):
    model = lk.NaiveBayes("multinomial", **settings)
    return text_stream.fit_text_stream(model, data, "text")


@pytest.mark.parametrize("calibrate", ["length", "temperature"])
def test_a_stream_is_calibrated_as_documents_in_memory(stream, calibrate):
    data, rows = stream
    model = lk.NaiveBayes("multinomial", smoothing="auto", calibrate=calibrate)
    texts, y = [row["text"] for row in rows], [row["label"] for row in rows]
    expected = lk.TextClassifier(model, lk.BagOfWords(n_features=2**12)).fit(texts, y)
    found = fitted(data, smoothing="auto", calibrate=calibrate)
    assert found.n_held_out == found.n_rows == 700
    assert found.model.model_.temperature_ == expected.model_.temperature_ != 1
    assert_allclose(found.model.predict_log_proba(texts), expected.predict_log_proba(texts))


def test_progressive_validation_is_of_calibrated_models(stream):
    data, _ = stream
    plain, calibrated = fitted(data, smoothing="auto"), fitted(data, calibrate="length")
    assert plain.n_held_out is None
    assert len(plain.losses) == len(calibrated.losses) > 1
    assert calibrated.score.main.value < plain.score.main.value


def test_of_a_long_stream_a_sample_is_held_out(stream, monkeypatch):
    monkeypatch.setattr(text_classifier, "MOST_IDS", 2000)
    found = fitted(stream[0], calibrate="length")
    assert 0 < found.n_held_out < 200
    whole = fitted(stream[0])
    assert found.model.model_.temperature_ != 1
    assert_allclose(found.model.model_.class_coef_, whole.model.model_.class_coef_)


def test_only_the_last_model_is_kept(stream, monkeypatch):
    """A model of each line of the progressive validation would cost a table of all words."""
    taken, made = [], text_stream._as_it_is

    def recorded(classifier):
        assert not any(earlier() for earlier in taken)
        model = made(classifier)
        taken.append(weakref.ref(model))
        return model

    monkeypatch.setattr(text_stream, "_as_it_is", recorded)
    fitted(stream[0], calibrate="length")
    assert len(taken) > 1 and not any(model() for model in taken)
