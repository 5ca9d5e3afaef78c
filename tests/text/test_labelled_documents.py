"""Calibration from kept ids gives the numbers of the matrix, in tables of the words of a fold."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from likely import BagOfWords, NaiveBayes, TextClassifier
from likely.calibrate.evidence import N_FOLDS
from likely.calibrate.length_evidence import folds_by_words, of_words, word_keys
from likely.calibrate.length_temperature import best_cooling, documents_scored, joined_documents
from likely.data.hashed_splits import fold_of, hashed_uniforms
from likely.data.sequences import TermIds
from likely.errors import InvalidInput, NothingToCalibrate
from likely.generative.class_counts import ClassSums
from likely.objectives.components import Components
from likely.objectives.cooled_evidence import Absence
from likely.text import labelled_documents, text_classifier
from likely.text.labelled_documents import (
    KEEP_SEED,
    MOST_PARTS,
    PER_DOCUMENT,
    HeldOutDocuments,
    KeptDocuments,
    LabelledBatch,
    keys_of,
)
from likely.text.text_classifier import FEWEST


def bursty(n, seed=0, n_classes=4):
    """Documents that repeat their own words; some are empty, and one class has one document."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(80)])
    centre = rng.dirichlet(np.full(len(words), 0.3), n_classes)
    y = rng.integers(0, n_classes, n)
    texts = []
    for k in y:
        own = rng.gamma(8 * centre[k] + 1e-3)
        texts.append(" ".join(rng.choice(words, rng.integers(0, 40), p=own / own.sum())))
    texts += ["alone w1 w2", "rarest alone"]
    return texts, [f"class {k}" for k in y] + ["rare", "rare too"]


TEXTS, Y = bursty(150)
BY_LENGTH = {"event": "multinomial", "calibrate": "length"}
WEIGHT = np.random.default_rng(1).choice([0.0, 0.4, 1.0, 2.5], len(Y))


def assert_equals_pipeline(model, words, weight=None, texts=TEXTS, y=Y):
    beside = {} if weight is None else {"naivebayes__sample_weight": weight}
    with warnings.catch_warnings(record=True) as theirs_said:
        warnings.simplefilter("always")
        theirs = make_pipeline(clone(words), clone(model)).fit(texts, y, **beside)
    with warnings.catch_warnings(record=True) as ours_said:
        warnings.simplefilter("always")
        ours = TextClassifier(model, words).fit(texts, y, weight)
    assert [str(each.message) for each in ours_said] == [str(each.message) for each in theirs_said]
    for name in ("temperature_", "length_rate_", "outlier_share_", "smoothing_"):
        found, expected = getattr(ours.model_, name), getattr(theirs[1], name)
        assert (found is None) == (expected is None)
        if found is not None:
            assert_allclose(found, expected, rtol=1e-6, err_msg=name)  # of a search
    assert_allclose(
        ours.predict_log_proba(texts), theirs.predict_log_proba(texts), rtol=1e-6, atol=1e-9
    )
    return ours


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("calibrate", ["length", "temperature"])
@pytest.mark.parametrize("smoothing", [1.0, "auto", 0.05, 0.0])
@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli", "auto"])
@pytest.mark.parametrize(
    "options", [{}, {"n_features": 4096}, {"min_df": 3, "binary": True}], ids=str
)
def test_the_numbers_are_those_of_the_pipeline(options, event, smoothing, calibrate, weight):
    options = {**options, "binary": options.get("binary", False) or event == "bernoulli"}
    model = NaiveBayes(event, smoothing=smoothing, calibrate=calibrate)
    assert_equals_pipeline(model, BagOfWords(**options), weight)


@pytest.mark.parametrize("calibrate", ["length", "temperature"])
@pytest.mark.parametrize(
    "options",
    [
        {"vocabulary": ["w1", "w2", "w3", "w70", "absent"], "unknown": "count"},
        {"ngram_range": (1, 2), "max_features": 60},
        {"stop_words": ["w1"], "max_df": 0.5},
        {"n_features": 16, "ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
    ],
    ids=str,
)
def test_other_words_have_the_numbers_of_the_pipeline(options, calibrate):
    model = NaiveBayes("multinomial", smoothing="auto", calibrate=calibrate)
    assert_equals_pipeline(model, BagOfWords(**options))


def test_pseudo_counts_of_each_column_are_merged():
    n = len(BagOfWords().fit(TEXTS).vocabulary_)
    model = NaiveBayes("multinomial", smoothing=np.linspace(0.1, 2, n), calibrate="length")
    assert_equals_pipeline(model, BagOfWords())


def test_a_large_table_chooses_its_smoothing_on_one_fold_as_the_matrix_does():
    model = NaiveBayes("multinomial", smoothing="auto", calibrate="length")
    assert_equals_pipeline(model, BagOfWords(n_features=2**18))


@pytest.mark.parametrize("calibrate", ["length", "temperature"])
@pytest.mark.parametrize(
    ("texts", "y", "weight"),
    [
        (["a1 b1", "b1 c1"], ["x", "y"], None),
        (["a1 b1"] * 30, ["x"] * 30, None),
        (["a1 b1", "", "c1"] * 10, ["x", "empty", "y"] * 10, None),
        (["", "a1", ""] * 10, ["x", "y", "z"] * 10, None),
        (["a1 b1", "b1 c1"] * 20, ["x", "y"] * 20, None),
        (["a1 b1", "b1 c1"] * 20, ["x", "y"] * 20, [0.0] * 39 + [1.0]),
        ([f"a{i} b{i}" for i in range(30)], list(range(30)), None),
        (["a1 b1 a1"] * 25 + ["c1"] * 25, ["x"] * 25 + ["y"] * 25, None),
        (["a1 b1"] * 40, ["x", "y"] * 20, None),
    ],
    ids=[
        *("two documents", "one class", "a class of empty documents", "one class has words"),
        *("duplicates", "one weight", "classes of one document", "separable", "no information"),
    ],
)
@pytest.mark.parametrize("smoothing", [1.0, "auto", 0.0])
def test_documents_that_tell_little_end_as_in_the_pipeline(texts, y, weight, calibrate, smoothing):
    model = NaiveBayes("multinomial", smoothing=smoothing, calibrate=calibrate)
    assert_equals_pipeline(model, BagOfWords(), weight, texts, y)


def test_a_table_of_a_fold_has_its_words_only(monkeypatch):
    widths = []
    left_out = HeldOutDocuments._sums_without

    def spied(self, fold):
        found = left_out(self, fold)
        widths.append(found.n_columns)
        return found

    monkeypatch.setattr(HeldOutDocuments, "_sums_without", spied)
    words = BagOfWords(n_features=2**20)
    TextClassifier(NaiveBayes("multinomial", calibrate="length"), words).fit(TEXTS, Y)
    assert len(widths) == 5 and max(widths) <= 84


def test_the_default_is_calibrated_by_length():
    ours = TextClassifier().fit(TEXTS, Y)
    model = NaiveBayes("multinomial", smoothing="auto", calibrate="length")
    theirs = TextClassifier(model).fit(TEXTS, Y)
    assert ours.model_.temperature_ == theirs.model_.temperature_ != 1
    assert_array_equal(ours.predict_proba(TEXTS), theirs.predict_proba(TEXTS))


@pytest.mark.parametrize("n", [2, FEWEST - 1])
def test_by_default_few_documents_are_not_calibrated(n):
    """One pseudo-count for each word: nothing can be chosen, and nothing is said about it."""
    texts, y = (["cheap pills", "lunch at noon"] * n)[:n], (["spam", "ham"] * n)[:n]
    model = TextClassifier().fit(texts, y)
    assert model.model_.calibrate is None and model.model_.temperature_ == 1
    plain = TextClassifier(NaiveBayes("multinomial")).fit(texts, y)
    assert_array_equal(model.predict_proba(texts), plain.predict_proba(texts))
    assert model.predict(["pills", "lunch"]).tolist() == ["spam", "ham"]


def test_by_default_one_class_is_certain_without_a_warning():
    model = TextClassifier().fit(["a1 b1"] * 30, ["x"] * 30)
    assert_array_equal(model.predict_proba(["a1", "new"]), [[1.0], [1.0]])


def test_by_default_batches_are_fitted_without_calibration():
    model = TextClassifier()
    for start, stop in pairwise([0, 10, 60, len(TEXTS)]):
        model.partial_fit(TEXTS[start:stop], Y[start:stop], classes=sorted(set(Y)))
    whole = TextClassifier(NaiveBayes("multinomial", smoothing="auto")).fit(TEXTS, Y)
    assert_allclose(model.predict_log_proba(TEXTS), whole.predict_log_proba(TEXTS), rtol=1e-8)
    assert model.model_.temperature_ == 1


def test_batches_after_a_calibrated_fit_are_refused():
    model = TextClassifier().fit(TEXTS, Y)
    before = model.predict_proba(TEXTS)
    with pytest.raises(InvalidInput, match=r"fit has calibrated the model.*Call fit on all"):
        model.partial_fit(TEXTS, Y)
    assert_array_equal(model.predict_proba(TEXTS), before)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"calibrate": "lenght"}, "no calibration 'lenght'"),
        ({"smoothing": -1.0}, "smoothing must be finite and 0 or more"),
        ({"executor": "thread"}, "no executor 'thread'"),
    ],
)
def test_a_fit_that_is_refused_changes_nothing(settings, said):
    model = TextClassifier(NaiveBayes("multinomial", calibrate="length")).fit(TEXTS, Y)
    before = model.predict_proba(TEXTS)
    with pytest.raises(InvalidInput, match=said):
        model.set_params(model=NaiveBayes(**{**BY_LENGTH, **settings})).fit(TEXTS[:50], Y[:50])
    assert_array_equal(model.predict_proba(TEXTS), before)


def test_documents_without_information_leave_the_prior_and_say_so():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["a1", "b1", "c1"], 8)) for _ in range(400)]
    y = np.where(rng.random(400) < 0.25, "few", "many")
    with pytest.warns(NothingToCalibrate, match="no information about the classes"):
        model = TextClassifier().fit(texts, y)
    share = np.mean(y == "few")
    assert_allclose(model.predict_proba(["a1 b1", "c1"])[:, 0], share, rtol=1e-6)


def json_lines(path, texts, y, weight):
    rows = zip(texts, y, weight, strict=True)
    lines = (json.dumps({"text": t, "y": k, "w": float(w)}) for t, k, w in rows)
    path.write_text("\n".join(lines), encoding="utf8")
    return path


@pytest.mark.parametrize("calibrate", ["length", "temperature"])
@pytest.mark.parametrize("words", [BagOfWords(n_features=512), BagOfWords(min_df=2)], ids=str)
def test_a_file_is_calibrated_as_documents_in_memory(tmp_path, words, calibrate):
    model = NaiveBayes("multinomial", smoothing="auto", calibrate=calibrate)
    path = json_lines(tmp_path / "texts.jsonl", TEXTS, Y, WEIGHT)
    ours = TextClassifier(model, words).fit(path, "y", "w")
    theirs = TextClassifier(model, words).fit(TEXTS, Y, WEIGHT)
    assert ours.model_.temperature_ == theirs.model_.temperature_ != 1
    assert_array_equal(ours.predict_log_proba(TEXTS), theirs.predict_log_proba(TEXTS))


def scored_by_refits(kept, texts, y, weight, words, model):
    """Kept documents of each fold, scored by a fit to all documents but these."""
    rows, parts = np.flatnonzero(weight > 0), []
    by_index, otherwise = (
        fold_of(0, len(rows), 0, N_FOLDS),
        hashed_uniforms(0, len(rows), KEEP_SEED),
    )
    texts, y, weight = np.array(texts, object)[rows], np.array(y)[rows], weight[rows]
    counts, classes = words.fit_transform(texts), np.unique(y)
    (found,) = words.read(texts)
    key = keys_of(found, otherwise)
    keys, distinct = word_keys(counts.shape[1]), np.diff(counts.indptr)
    fold = folds_by_words(counts @ keys, distinct, by_index)
    mean_length = weight @ (counts @ np.ones(len(keys))) / weight.sum()
    for f in range(N_FOLDS):
        held = (fold == f) & (key < kept.share)
        fitted = model.fit(counts[~held], y[~held], weight[~held])
        codes = np.searchsorted(classes, fitted.classes_)
        table = np.full((held.sum(), len(classes)), -np.inf)
        table[:, codes] = fitted.distribution_.log_score(counts[held])
        prior = np.full(len(classes), -np.inf)
        prior[codes] = fitted.class_log_prior_
        length, absence = np.asarray(counts[held].sum(axis=1), dtype=float).ravel(), None
        if model.event == "bernoulli":
            empty = np.zeros(len(classes))
            empty[codes] = fitted.distribution_.log_score(np.zeros((1, counts.shape[1])))[0]
            absence = Absence(float(mean_length), empty)
        k = np.searchsorted(classes, y[held])
        scores, components = of_words(table), Components(prior, None)
        parts.append(documents_scored(components, scores, k, weight[held], length, absence))
    return joined_documents(parts)


@pytest.mark.parametrize("weight", [np.ones(len(Y)), WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
def test_of_a_large_file_a_sample_is_held_out(tmp_path, monkeypatch, event, weight):
    """Each kept document is scored by the counts of all documents but the kept ones of its fold."""
    seen = []
    found = HeldOutDocuments.cooled_by_length

    def spied(self, learn):
        seen.append(self.kept)
        return found(self, learn)

    monkeypatch.setattr(HeldOutDocuments, "cooled_by_length", spied)
    monkeypatch.setattr(text_classifier, "MOST_IDS", 1600)
    path = json_lines(tmp_path / "texts.jsonl", TEXTS, Y, weight)
    words = BagOfWords(n_features=512, binary=event == "bernoulli")
    model = NaiveBayes(event, smoothing=0.3, calibrate="length")
    ours = TextClassifier(model, words).fit(path, "y", "w")
    (kept,) = seen
    assert 0 < kept.n_ids <= 1600 and 10 < kept.n_kept < 100 < kept.n_rows
    rows = scored_by_refits(kept, TEXTS, Y, weight, words, NaiveBayes(event, smoothing=0.3))
    expected = best_cooling(rows)
    assert_allclose(ours.model_.temperature_, expected.temperature, rtol=1e-6)
    assert_allclose(ours.model_.length_rate_, expected.length_rate, rtol=1e-6)
    whole = TextClassifier(NaiveBayes(event, smoothing=0.3), words).fit(TEXTS, Y, weight)
    assert_allclose(ours.model_.class_coef_, whole.model_.class_coef_, rtol=1e-12)


def test_of_equal_documents_all_are_kept_or_none_and_in_one_fold():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([f"w{i}" for i in range(99)], 20)) for _ in range(200)] * 3
    words = BagOfWords(n_features=512)
    kept, whole = KeptDocuments(most_ids=5000), ClassSums.of_classes(2, 512, once=False)
    codes, weight = np.arange(len(texts)) % 2, np.ones(len(texts))
    (found,) = words.read(texts)
    kept.add(LabelledBatch(texts, codes, weight), found, 0)
    whole.count(found, codes, weight)
    held = HeldOutDocuments(kept, np.arange(512), whole, "multinomial", lumps=True)
    held._keep_equal_together()
    assert 0 < kept.n_kept < 300 and kept.n_kept % 3 == 0
    folds = {}
    for part in kept.parts:
        for ids, fold in zip(
            np.split(part.found.ids, part.found.stops[:-1]), part.fold, strict=True
        ):
            folds.setdefault(tuple(sorted(ids.tolist())), []).append(int(fold))
    assert all(len(found) == 3 and len({*found}) == 1 for found in folds.values())
    assert len({fold for found in folds.values() for fold in found}) == N_FOLDS


@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_a_class_of_empty_documents_is_as_in_a_table(event):
    texts, y = ["a1 b1 c1", "d1 e1 f1", "a1 d1 a1 g1", ""] * 30, ["x", "y", "x", "z"] * 30
    model = NaiveBayes(event, smoothing="auto", calibrate="length")
    whole = make_pipeline(BagOfWords(), clone(model)).fit(texts, y)
    new = ["a1 d1", "a1", "g1 f1", ""]
    assert_allclose(
        TextClassifier(model).fit(texts, y).predict_log_proba(new),
        whole.predict_log_proba(new),
        rtol=1e-9,
        atol=1e-9,
    )


# ── Documents that are kept: which they are, and how many ─────────────────────────────────────────


def test_what_is_kept_does_not_depend_on_batches():
    codes, weight = np.zeros(300, np.int64), np.ones(300)
    codes[::7] = -1
    ids, found = np.arange(900, dtype=np.int32), []
    for size in (300, 100, 13, 2):
        kept = KeptDocuments(most_ids=800)
        for start in range(0, 300, size):
            here = slice(start, start + size)
            n = len(codes[here])
            part = TermIds(ids[3 * start : 3 * (start + n)], 3 * np.arange(1, n + 1))
            kept.add(LabelledBatch(None, codes[here], weight[here]), part, 0)
        assert kept.n_rows == (codes >= 0).sum() and not kept.is_complete
        found.append(np.concatenate([part.found.ids for part in kept.parts]))
    assert 50 < found[0].size <= 200
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    assert_array_equal(found[0], found[3])
    assert len(kept.parts) <= MOST_PARTS < 300 / 2
    stops = [part.found.stops for part in kept.parts]
    assert all((np.diff(each, prepend=0) == 3).all() for each in stops)


def test_a_document_with_too_many_words_is_not_kept():
    kept, n = KeptDocuments(most_ids=100), 20
    for i in range(n):
        size = 1000 if i == 7 else 2
        ids = TermIds(np.zeros(size, np.int32), np.array([size]))
        kept.add(LabelledBatch(None, np.zeros(1, np.int64), np.ones(1)), ids, 0)
    key = hashed_uniforms(0, n, KEEP_SEED)  # of few words
    long = TermIds(np.zeros(1000, np.int32), np.array([1000]))
    key[7] = keys_of(long, key[7:8])[0]
    assert kept.share <= key[7] != hashed_uniforms(0, n, KEEP_SEED)[7] and kept.n_rows == n
    assert kept.n_kept == (key < kept.share).sum()
    assert kept.n_ids == (2 + PER_DOCUMENT) * kept.n_kept <= 100


def test_documents_without_words_take_room_too():
    kept, nothing = KeptDocuments(most_ids=10_000), np.zeros(0, np.int32)
    for _ in range(20):
        batch = LabelledBatch(None, np.zeros(1000, np.int64), np.ones(1000))
        kept.add(batch, TermIds(nothing, np.zeros(1000, np.int64)), 0)
    assert 0 < kept.n_kept <= 10_000 // PER_DOCUMENT and kept.n_rows == 20_000


@pytest.mark.parametrize("n_words", [2, 12])
@pytest.mark.parametrize(("most", "share"), [(10_000, 1.0), (500, 0.5)])
def test_of_many_kept_documents_some_are_scored_and_of_few_all(monkeypatch, n_words, most, share):
    """However many documents there were: the share of those that are kept does not matter."""
    monkeypatch.setattr(labelled_documents, "MOST_SCORED", most)
    rng, n = np.random.default_rng(0), 16_000
    kept = KeptDocuments(most_ids=1000 * (n_words + PER_DOCUMENT))
    ids = rng.integers(0, 999, n * n_words).astype(np.int32)
    found = TermIds(ids, n_words * np.arange(1, n + 1))
    kept.add(LabelledBatch(None, np.zeros(n, np.int64), np.ones(n)), found, 0)
    assert 400 < kept.n_kept <= 1000
    expected = kept.n_kept if share == 1.0 else most * kept.n_kept / (n * kept.share)
    assert abs(kept.n_scored - expected) <= (0 if share == 1.0 else 90)


def test_the_room_of_a_part_is_not_kept():
    room = np.zeros(10_000, np.int32)
    kept = KeptDocuments()
    found = TermIds(room[:5], np.array([5]))
    kept.add(LabelledBatch(None, np.zeros(1, np.int64), np.ones(1)), found, 0)
    assert kept.parts[0].found.ids.base is None and kept.is_complete
