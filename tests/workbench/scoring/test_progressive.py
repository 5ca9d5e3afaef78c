"""Each block is predicted by what was learned from the rows before it, beside their constant."""

import json
import weakref
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

import likely as lk
from likely.errors import InvalidInput
from likely.special import LOG_FLOOR
from likely.text import text_classifier
from likely.workbench.data import dataset
from likely.workbench.scoring import progressive
from likely.workbench.scoring.progressive import progressive_losses

N = 2048


def test_losses_so_far_are_those_of_all_earlier_blocks_and_of_their_constants():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1200)
    frame = pd.DataFrame({"x": x, "y": np.where(x > rng.normal(size=1200), "a", "b")})
    found = progressive_losses(lk.NaiveBayes(), lk.dataset(frame, "y").with_task(), seed=3)
    frame = frame.iloc[np.random.default_rng(3).permutation(1200)]
    stops = [each.rows for each in found]
    assert len(found) > 2 and stops[-1] == 1200
    starts = [stops[0] // 2, *stops[:-1]]
    ours, theirs = [], []
    for start, stop in zip(starts, stops, strict=True):
        model = lk.NaiveBayes().fit(frame[["x"]][:start], frame["y"][:start])
        p = model.predict_proba(frame[["x"]][start:stop])
        ours.append(log_loss(frame["y"][start:stop], p) * (stop - start))
        share = np.mean(frame["y"][:start] == "b")
        constant = np.where(frame["y"][start:stop] == "b", share, 1 - share)
        theirs.append(-np.log(constant).sum())
    n = np.cumsum(np.subtract(stops, starts))
    assert [each.loss for each in found] == pytest.approx(np.cumsum(ours) / n, rel=1e-9)
    assert [each.baseline for each in found] == pytest.approx(np.cumsum(theirs) / n, rel=1e-9)


@pytest.mark.parametrize("by_time", [None, "day"])
def test_a_copy_of_a_row_that_was_learned_is_not_scored(by_time):
    """Of noise that is there twice, a nearest neighbour knows nothing."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(600, 3)), rng.choice(["a", "b"], 600)
    frame = pd.DataFrame(np.tile(x, (2, 1)), columns=list("uvw")).assign(y=np.tile(y, 2))
    if by_time is not None:
        frame["day"] = rng.permutation(1200)
    data = lk.dataset(frame, "y", by_time=by_time, drop=["day"] if by_time else []).with_task()
    last = progressive_losses(KNeighborsClassifier(1), data)[-1]
    assert last.loss > 0.4 * -LOG_FLOOR


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 64)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
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
    found = progressive.fit_text_stream(model(), data, "body")
    assert [each.rows for each in found.losses] == [256, 512, 1024, 2048]
    assert found.score.n_rows == 1024 and found.score.how == "progressive validation"
    assert all(each.loss < each.baseline for each in found.losses)
    sizes = np.diff([128, *(each.rows for each in found.losses)])
    mean = np.average([each.since for each in found.losses], weights=sizes)
    assert_allclose(found.losses[-1].loss, mean, rtol=1e-12)


def test_words_are_counted_as_given(data):
    found = progressive.fit_text_stream(model(), data, "body", {"ngram_range": [1, 2]})
    assert found.model.words.ngram_range == [1, 2] and found.model.words.n_features == 2**12
    with pytest.raises(InvalidInput, match=r"words\.min_df .* needs a vocabulary"):
        progressive.fit_text_stream(model(), data, "body", {"min_df": 2})


@pytest.fixture
def stream(tmp_path, monkeypatch):
    """Documents of three classes that repeat their words, in a file that is read in chunks."""
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 64)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
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
    return progressive.fit_text_stream(model, data, "text")


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
    taken, made = [], progressive._as_it_is

    def recorded(classifier):
        assert not any(earlier() for earlier in taken)
        model = made(classifier)
        taken.append(weakref.ref(model))
        return model

    monkeypatch.setattr(progressive, "_as_it_is", recorded)
    fitted(stream[0], calibrate="length")
    assert len(taken) > 1 and not any(model() for model in taken)


@pytest.mark.parametrize("n_classes", [2, 20])
def test_rows_in_the_order_of_their_classes_give_no_score(tmp_path, monkeypatch, n_classes):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 64)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**15)
    rng, path = np.random.default_rng(0), tmp_path / "a.jsonl"
    rows = [{"label": f"class {i % n_classes:02}", "text": f"a w{i % n_classes}"} for i in range(N)]
    by_class = np.argsort([row["label"] for row in rows], kind="stable")
    for order, is_sorted in ((rng.permutation(N), False), (by_class, True)):
        path.write_text("\n".join(json.dumps(rows[i]) for i in order))
        found = fitted(lk.dataset(str(path), "label", text=["text"]))
        assert found.losses[0].rows == 2 * max(progressive.FIRST_ROWS, 64 * -(-8 * n_classes // 64))
        assert found.losses and found.is_sorted == is_sorted == (found.score is None)


def test_few_rows_of_many_classes_do_not_differ_by_chance():
    rng, every = np.random.default_rng(0), np.full(20, 500.0)
    drawn = rng.multinomial(32, every / every.sum(), size=500)
    assert not any(progressive._differs(rows, every) for rows in drawn)
    assert progressive._differs(np.eye(20)[3] * 32, every)
    assert progressive._differs(np.array([31.0, 1.0]), np.array([500.0, 500.0]))
    chance = np.sqrt(0.25 / 50)  # of two halves of 50 rows
    for beyond in (-0.03, 0.03):
        share = 0.5 + progressive.FAR + chance + beyond
        rows = 50 * np.array([share, 1 - share])
        assert progressive._differs(rows, np.array([500.0, 500.0])) == (beyond > 0)
    rare = np.array([900.0, 60.0, 40.0])
    assert progressive._differs(np.array([470.0, 30.0, 0.0]), rare)  # a class is missing


def test_a_block_has_the_rows_of_each_class_that_came_since():
    block = SimpleNamespace(totals="totals", before=np.array([30.0, 10.0]))
    (found,) = progressive._ended(60, block, np.array([32.0, 28.0]))
    assert (found.stop, found.totals, found.rows.tolist()) == (60, "totals", [2.0, 18.0])


def test_the_first_block_has_rows_for_each_class():
    rng = np.random.default_rng(0)
    for n_classes, first in ((4, progressive.FIRST_ROWS), (40, 40 * progressive.ROWS_PER_CLASS)):
        y = np.arange(1400) % n_classes
        frame = pd.DataFrame({"x": rng.normal(size=1400), "y": [f"c{k:02}" for k in y]})
        found = progressive_losses(lk.NaiveBayes(), lk.dataset(frame, "y").with_task())
        assert found[0].rows == 2 * first


def test_a_row_of_weight_2_is_two_rows_of_a_stream(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    rng, texts = np.random.default_rng(0), {"a": "one two", "b": "two three"}
    weighed = [(label, 1 + i % 2) for i, label in enumerate(rng.choice(["a", "b"], 60).tolist())]
    rows = [{"label": k, "text": f"{texts[k]} w{w}", "wt": w} for k, w in weighed]
    twice = [row for row in rows for _ in range(row["wt"])]
    models = []
    for name, given, weight in (("a", rows, "wt"), ("b", twice, None)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in given))
        data = lk.dataset(str(path), "label", text=["text"], weight=weight)
        models.append(fitted(data, smoothing="auto").model)
    new = ["one", "three w2", ""]
    assert_allclose(*(model.predict_log_proba(new) for model in models), rtol=1e-9)


def test_a_long_text_is_met_again_in_later_blocks_and_not_in_its_own():
    texts = pa.array(["long " * 20, "other " * 20, "long " * 20, "x" * progressive.COPIED])
    met = np.zeros(2**progressive.PLACES, dtype=np.int64)
    assert [progressive._first_met(met, texts, block).tolist() for block in (2, 2, 3)] == [
        [0, 1, 2, 3],
        [0, 1, 2, 3],
        [3],
    ]


def test_as_many_classes_as_there_is_room_for_are_learned(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    path, rows = tmp_path / "a.jsonl", [{"text": f"w{i % 5}", "label": i % 5} for i in range(60)]
    for n_classes in (4, 5):
        kept = [json.dumps(row) for row in rows if row["label"] < n_classes]
        path.write_text("\n".join(kept))
        data = lk.dataset(str(path), "label", text=["text"], kind="classes")
        if n_classes == 4:
            assert fitted(data).model.classes_.tolist() == [0, 1, 2, 3]
            continue
        with pytest.raises(InvalidInput, match="has 5 classes; from 2 to 4"):
            fitted(data)


def test_numbers_of_a_file_with_types_are_texts_where_they_are_declared(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    table = pa.table({"text": [10, 20, None] * 20, "label": ["a", "b", "a"] * 20})
    pq.write_table(table, tmp_path / "a.parquet")
    found = fitted(lk.dataset(tmp_path / "a.parquet", "label", text=["text"]))
    assert found.model.predict(["10", "20"]).tolist() == ["a", "b"]


def test_a_long_text_that_was_learned_before_its_block_is_not_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 64)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    rng = np.random.default_rng(0)
    words = np.array([f"word{i:03d}" for i in range(500)])
    rows = [
        json.dumps({"text": " ".join(rng.choice(words, 8)), "label": str(rng.choice(["a", "b"]))})
        for _ in range(900)
    ]
    (tmp_path / "twice.jsonl").write_text("\n".join(rows + rows[:700] + rows[:400]))
    found = fitted(lk.dataset(str(tmp_path / "twice.jsonl"), "label", text=["text"]))
    assert [each.rows for each in found.losses] == [256, 512, 1024]  # no new text in the last one
    assert found.score.n_rows == 900 - 512 and found.n_rows == 2000
    assert found.score.gain.value < 0.05
