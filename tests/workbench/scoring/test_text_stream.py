"""Texts that are read once: losses of doubling blocks, their memory, and how words are counted."""

import gc
import json
import weakref

import numpy as np
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.workbench.data import dataset as datasets
from likely.workbench.scoring import text_stream

N = 2048


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(text_stream, "AT_ONCE", 64)
    monkeypatch.setattr(text_stream, "N_COLUMNS", 2**12)
    rng, words = np.random.default_rng(0), {"a": "one two three", "b": "three four five"}
    lines = []
    for label in rng.choice(["a", "b"], size=N).tolist():
        body = " ".join(rng.choice(words[label].split(), size=5))
        lines.append(json.dumps({"label": label, "body": body}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    return lk.dataset(tmp_path / "a.jsonl", "label", text=["body"])


def model():
    return lk.NaiveBayes("multinomial", smoothing="auto")


def test_losses_are_of_blocks_that_double_and_the_score_is_of_the_last(data):
    found = text_stream.fit_text_stream(model(), data, "body")
    assert [each.rows for each in found.losses] == [256, 512, 1024, 2048]
    assert found.score.n_rows == 1024 and found.score.how == "progressive validation"
    assert all(each.loss < each.baseline for each in found.losses)
    sizes = np.diff([128, *(each.rows for each in found.losses)])
    mean = np.average([each.since for each in found.losses], weights=sizes)
    np.testing.assert_allclose(found.losses[-1].loss, mean, rtol=1e-12)


def test_the_models_of_earlier_blocks_are_not_kept(data, monkeypatch):
    made, alive, as_it_is = [], [], text_stream._as_it_is

    def counted(classifier):
        gc.collect()
        alive.append(sum(each() is not None for each in made))
        found = as_it_is(classifier)
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr(text_stream, "_as_it_is", counted)
    text_stream.fit_text_stream(model(), data, "body")
    assert alive == [0, 0, 0, 0]


def test_words_are_counted_as_given(data):
    found = text_stream.fit_text_stream(model(), data, "body", {"ngram_range": [1, 2]})
    assert found.model.words.ngram_range == [1, 2] and found.model.words.n_features == 2**12
    with pytest.raises(InvalidInput, match=r"words\.min_df .* needs a vocabulary"):
        text_stream.fit_text_stream(model(), data, "body", {"min_df": 2})
