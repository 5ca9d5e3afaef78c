"""The text classifier gives the numbers of words and model in a pipeline, without their matrix."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import likely
from likely import (
    BagOfWords,
    GaussianMixture,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    SoftmaxRegression,
    TextClassifier,
    TokenIds,
)
from likely.errors import InvalidInput

TEXTS = [
    "Cheap pills, buy now! Buy cheap pills.",
    "Lunch at noon? I am at work.",
    "buy cheap watches now",
    "See you at lunch, then: at noon.",
    "",
    "pills pills",
    "the the the",
    "Übung macht den Meister, buy ÜBUNG",
]
Y = ["spam", "ham", "spam", "ham", "ham", "spam", "other", "other"]
NEW = [*TEXTS, "unseen words only", "buy lunch at noon buy the", "", "the ÜBUNG übung"]
WEIGHT = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0, 0.25])


def assert_equals_pipeline(model, words, y=Y, weight=None):
    """Fitted and applied, to rounding; the vocabulary, too."""
    step = type(model).__name__.lower()
    beside = {} if weight is None else {f"{step}__sample_weight": weight}
    theirs = make_pipeline(clone(words), clone(model)).fit(TEXTS, y, **beside)
    ours = TextClassifier(model, words).fit(TEXTS, y, weight)
    assert_allclose(
        ours.predict_log_proba(NEW), theirs.predict_log_proba(NEW), rtol=1e-10, atol=1e-12
    )
    assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    assert_array_equal(ours.classes_, theirs.classes_)
    if words.n_features is None:
        assert_array_equal(ours.words_.get_feature_names_out(), theirs[0].get_feature_names_out())
    assert_array_equal(ours.words_.document_frequency_, theirs[0].document_frequency_)
    assert ours.n_documents_ == ours.words_.n_documents_ == len(TEXTS)
    return ours, theirs


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli", "auto"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"binary": True},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "binary": True},
        {"min_df": 2},
        {"max_df": 2, "max_features": 3},
        {"stop_words": "english", "ngram_range": (1, 2)},
        {"stop_words": ["at", "the"], "unknown": "count", "min_df": 2},
        {"n_features": 30},
        {"n_features": 30, "ngram_range": (1, 2), "binary": True, "stop_words": ["the"]},
        {"n_features": 64, "analyzer": "char_wb", "ngram_range": (2, 3)},
        {"lowercase": False, "strip_accents": "unicode"},
        {"token_pattern": r"(?u)\b\w+\b"},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "binary": True},
        {"vocabulary": ["noon", "lunch", "absent", "buy"]},
        {"vocabulary": {"noon": 0, "buy": 1}, "unknown": "count", "binary": True},
        {"use_idf": True, "norm": "l2"},
        {"sublinear_tf": True},
    ],
    ids=str,
)
def test_naive_bayes_equals_the_pipeline(event, options, weight):
    if event == "bernoulli" and not options.get("binary"):
        options = {**options, "binary": True}
    if event == "bernoulli" and ("use_idf" in options or "sublinear_tf" in options):
        options = {"binary": True}
    ours, theirs = assert_equals_pipeline(NaiveBayes(event), BagOfWords(**options), weight=weight)
    assert_allclose(ours.model_.feature_count_, theirs[1].feature_count_, rtol=1e-12)
    assert_allclose(ours.model_.class_count_, theirs[1].class_count_)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes("multinomial", smoothing=0.0),
        NaiveBayes("multinomial", smoothing="auto"),
        NaiveBayes("multinomial", prior=[0.2, 0.5, 0.3]),
        NaiveBayes("bernoulli", smoothing=0.0),
        NaiveBayes("poisson"),
        SoftmaxRegression(l2=1.0),
    ],
    ids=str,
)
def test_other_models_equal_the_pipeline(model):
    binary = getattr(model, "event", "") == "bernoulli"
    assert_equals_pipeline(model, BagOfWords(binary=binary))


@pytest.mark.parametrize("model", [LogisticRegression(l2=1.0), SoftmaxRegression(l2=1.0)], ids=str)
def test_two_classes_equal_the_pipeline(model):
    assert_equals_pipeline(model, BagOfWords(use_idf=True), y=[label == "spam" for label in Y])


@pytest.mark.filterwarnings("ignore::likely.errors.LikelyWarning")
@pytest.mark.parametrize("calibrate", ["temperature", "length"])
def test_calibrated_naive_bayes_equals_the_pipeline(calibrate):
    rng = np.random.default_rng(0)
    words = np.array(["one", "two", "three", "four", "five"])
    y = rng.integers(0, 2, 200)
    texts = []
    for k in y:
        drawn = rng.choice(
            words, rng.integers(1, 6), p=[0.3, 0.25, 0.15, 0.15, 0.15] if k else None
        )
        texts.append(" ".join(np.repeat(drawn, 3)))  # the same evidence three times
    model = NaiveBayes("multinomial", calibrate=calibrate)
    theirs = make_pipeline(BagOfWords(), model).fit(texts, y)
    ours = TextClassifier(model).fit(texts, y)
    assert ours.model_.temperature_ > 1
    assert_allclose(ours.predict_proba(texts), theirs.predict_proba(texts), rtol=1e-9)
    found = ours.explain(texts[0])
    log_proba = np.sort(ours.predict_log_proba(texts[:1])[0])
    assert_allclose(found.total, log_proba[1] - log_proba[0], rtol=1e-9)
    assert_allclose(found.base + found.contributions.sum(), found.total, rtol=1e-9)


def test_documents_of_one_class_are_treated_as_the_model_treats_rows_of_one():
    found = TextClassifier().fit(["a cat", "the dog"], ["pet", "pet"])
    assert found.predict_proba(["a fish"]).tolist() == [[1.0]]
    assert found.predict(["", "a fish"]).tolist() == ["pet", "pet"]
    with pytest.raises(InvalidInput, match=r"at least 2 classes.*only one class, 'pet'"):
        TextClassifier(LogisticRegression()).fit(["a cat", "the dog"], ["pet", "pet"])


def test_ties_go_to_the_first_class_as_in_the_pipeline():
    texts, y = ["a1 b1", "b1 a1"], ["second", "first"]
    ours = TextClassifier().fit(texts, y)
    assert ours.predict(["a1", "unseen", ""]).tolist() == ["first"] * 3
    assert_array_equal(ours.predict_proba([""]), [[0.5, 0.5]])


def test_one_class_is_certain():
    model = TextClassifier().fit(["one", "two"], ["only", "only"])
    assert_array_equal(model.predict_proba(["one", "unseen"]), [[1.0], [1.0]])
    with pytest.raises(InvalidInput, match="one class, 'only'"):
        model.explain("one")


def test_documents_of_weight_0_name_terms_but_no_class():
    model = TextClassifier().fit(["one two", "three", "four"], ["a", "b", "c"], [1.0, 1.0, 0.0])
    assert model.classes_.tolist() == ["a", "b"]
    assert list(model.words_.get_feature_names_out()) == ["four", "one", "three", "two"]


def test_a_weight_of_two_counts_a_document_twice():
    weight = np.array([1, 2, 0, 1, 3, 1, 2, 1])
    again = np.repeat(np.arange(len(TEXTS)), weight)
    texts, y = [TEXTS[i] for i in again], [Y[i] for i in again]
    words = BagOfWords(vocabulary=sorted(BagOfWords().fit(TEXTS).vocabulary_))
    ours = TextClassifier(words=words).fit(TEXTS, Y, weight)
    assert_allclose(
        ours.predict_proba(NEW),
        TextClassifier(words=words).fit(texts, y).predict_proba(NEW),
        rtol=1e-12,
    )


@pytest.mark.parametrize("executor", ["serial", "threads"])
@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"binary": True},
        {"n_features": 64},
        {"n_features": 64, "binary": True},
    ],
    ids=str,
)
def test_parts_of_the_text_do_not_matter(monkeypatch, executor, options):
    from likely.text import documents

    whole = TextClassifier(words=BagOfWords(**options)).fit(TEXTS * 3, Y * 3)
    expected = whole.predict_log_proba(NEW)
    monkeypatch.setattr(documents, "MOST_BYTES", 100)
    words = BagOfWords(**options, executor=executor)
    parts = TextClassifier(words=words).fit(TEXTS * 3, Y * 3)
    assert_allclose(parts.predict_log_proba(NEW), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "words",
    [
        BagOfWords(),
        BagOfWords(ngram_range=(1, 2), binary=True),
        BagOfWords(n_features=50),
        BagOfWords(n_features=2**20, ngram_range=(1, 2), binary=True),
        BagOfWords(vocabulary=["buy", "noon", "the"], unknown="count"),
    ],
    ids=str,
)
@pytest.mark.long
def test_batches_add_up_to_one_fit(words):
    whole = TextClassifier(words=words).fit(TEXTS, Y, WEIGHT + 0.5)
    batches = TextClassifier(words=words)
    for here in (slice(0, 3), slice(3, 4), slice(4, 8)):
        batches.partial_fit(
            TEXTS[here], Y[here], classes=sorted(set(Y)), sample_weight=WEIGHT[here] + 0.5
        )
        batches.predict(TEXTS)  # in between: what is kept for predictions must not stay
    if words.n_features is None:
        assert set(batches.words_.vocabulary_) == set(whole.words_.vocabulary_)
    assert_allclose(batches.predict_log_proba(NEW), whole.predict_log_proba(NEW), rtol=1e-11)
    assert batches.n_documents_ == len(TEXTS)


def test_a_stream_adds_to_the_columns_that_occur():
    """Nothing is copied or computed for all columns until a prediction needs it."""
    model = TextClassifier(words=BagOfWords(n_features=2**20))
    model.partial_fit(TEXTS[:4], Y[:4], classes=sorted(set(Y)))
    sums = model._sums.sums
    model.partial_fit(TEXTS[4:], Y[4:])
    assert model._sums.sums is sums and sums.shape == (2**20, 3)
    assert "model_" not in vars(model)
    whole = TextClassifier(words=BagOfWords(n_features=2**20)).fit(TEXTS, Y)
    assert_array_equal(model.predict_log_proba(NEW), whole.predict_log_proba(NEW))
    assert model.words_.n_documents_ == model.n_documents_ == len(TEXTS)


def test_a_batch_that_is_refused_changes_nothing():
    model = TextClassifier().partial_fit(TEXTS, Y, classes=["ham", "other", "spam"])
    before = model.predict_proba(NEW)
    for texts, y in [(["new word"], ["unheard of"]), ([3], ["ham"]), (["a", "b"], ["ham"])]:
        with pytest.raises(InvalidInput):
            model.partial_fit(texts, y)
    assert_array_equal(model.predict_proba(NEW), before)
    assert "word" not in model.words_.vocabulary_


def test_a_frame_names_its_label():
    frame = pd.DataFrame({"text": TEXTS, "label": Y, "w": WEIGHT})
    ours = TextClassifier().fit(frame, "label", "w")
    expected = TextClassifier().fit(TEXTS, Y, WEIGHT).predict_proba(NEW)
    assert_array_equal(ours.predict_proba(pd.DataFrame({"text": NEW})), expected)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_file_is_read_in_pieces(tmp_path, suffix):
    path = tmp_path / f"texts{suffix}"
    rows = [text or "empty" for text in TEXTS]
    frame = pd.DataFrame({"label": Y, "text": rows, "w": WEIGHT + 0.5, "id": range(len(Y))})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in frame.to_dict("records")), encoding="utf8"
        )
    expected = TextClassifier().fit(rows, Y, WEIGHT + 0.5).predict_proba(NEW)
    source = likely.read(path).select(["text", "label", "w"])
    assert_allclose(TextClassifier().fit(source, "label", "w").predict_proba(NEW), expected)
    with pytest.raises(InvalidInput, match="one column of text was expected"):
        TextClassifier().fit(path, "label", "w")
    with pytest.raises(InvalidInput, match="all documents in memory"):
        TextClassifier(LogisticRegression()).fit(source, "label")
    with pytest.raises(InvalidInput, match="Call fit"):
        TextClassifier().partial_fit(source, "label", classes=Y)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_missing_text_of_a_file_is_an_empty_document(tmp_path, suffix):
    path, texts, y = tmp_path / f"texts{suffix}", ["buy now", None, "see you"], ["a", "b", "b"]
    frame = pd.DataFrame({"text": texts, "label": y})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".jsonl":
        rows = [{"text": text, "label": label} for text, label in zip(texts, y, strict=True)]
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        frame.to_parquet(path)
    empty, source = [text or "" for text in texts], likely.read(path).select(["text"])
    expected = TextClassifier().fit(empty, y)
    ours = TextClassifier().fit(path, "label")
    assert ours.n_documents_ == 3
    assert_array_equal(ours.predict_proba(empty), expected.predict_proba(empty))
    assert_array_equal(ours.predict_proba(source), expected.predict_proba(empty))
    found = BagOfWords().fit_transform(source)
    assert_array_equal(found.toarray(), BagOfWords().fit_transform(empty).toarray())


@pytest.mark.parametrize(
    "form", [list, pd.Series, pl.Series, pa.array, lambda texts: pd.DataFrame({"text": texts})]
)
def test_a_missing_text_in_memory_is_refused_with_its_place(form):
    texts = form(["buy now", None, "see you"])
    for read in (BagOfWords().fit, lambda X: TextClassifier().fit(X, ["a", "b", "b"])):
        with pytest.raises(InvalidInput, match=r"document 1 is (missing|None|nan)"):
            read(texts)


def test_a_file_without_a_label_is_refused_with_its_row(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a b", "y": "x"}\n{"text": "b c", "y": null}\n', encoding="utf8")
    with pytest.raises(InvalidInput, match="Row 1 has no label in column 'y'"):
        TextClassifier().fit(path, "y")


@pytest.mark.parametrize(
    ("texts", "y", "said"),
    [
        (["a", "b"], ["x", None], "row 1 is missing"),
        (["a", "b"], ["x"], "X has 2 rows and y has 1"),
        (["a", "b"], None, "requires y"),
        ([], [], "no documents"),
        (["!", "?"], ["x", "y"], "no term is left"),
    ],
)
def test_what_cannot_be_learned_is_refused(texts, y, said):
    with pytest.raises(InvalidInput, match=said):
        TextClassifier().fit(texts, y)


def test_weights_that_a_model_does_not_take_are_refused():
    with pytest.raises(InvalidInput, match="fit does not take it"):
        TextClassifier(KNeighborsClassifier()).fit(TEXTS, Y, WEIGHT)


def test_nested_arguments_are_searched():
    model = TextClassifier(NaiveBayes("multinomial"), BagOfWords())
    grid = {"model__smoothing": [0.01, 10.0], "words__ngram_range": [(1, 1), (1, 2)]}
    search = GridSearchCV(model, grid, cv=2).fit(TEXTS * 2, Y * 2)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.words_.ngram_range == search.best_params_["words__ngram_range"]


def test_models_of_other_libraries_are_fitted_to_counts():
    theirs = make_pipeline(BagOfWords(), SGDClassifier(loss="log_loss", random_state=0))
    ours = TextClassifier(SGDClassifier(loss="log_loss", random_state=0)).fit(TEXTS, Y)
    assert_array_equal(ours.predict(NEW), theirs.fit(TEXTS, Y).predict(NEW))
    assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW))
    with pytest.raises(InvalidInput, match="columns grow"):
        ours.partial_fit(TEXTS, Y)


def test_words_and_model_of_different_fits_are_refused():
    model = TextClassifier().fit(TEXTS, Y)
    model.words_ = BagOfWords().fit(["other words"])
    with pytest.raises(InvalidInput, match="fitted together"):
        model.predict(NEW)


def linear():
    return SGDClassifier(loss="log_loss", random_state=0)


@pytest.mark.parametrize(
    "words", [BagOfWords(n_features=64), BagOfWords(vocabulary=["buy", "lunch", "at", "pills"])]
)
@pytest.mark.parametrize("use_idf", [False, True])
def test_batches_of_any_model_are_all_remembered(words, use_idf):
    words = clone(words).set_params(use_idf=use_idf)
    model, by_hand, seen = TextClassifier(linear(), words), linear(), clone(words)
    frame = pd.DataFrame({"text": TEXTS, "label": Y})
    for here in (slice(0, 2), slice(2, 8)):
        model.partial_fit(frame[here], "label", classes=sorted(set(Y)))
        rows = seen.partial_fit(TEXTS[here]).transform(TEXTS[here])
        by_hand.partial_fit(rows, Y[here], classes=sorted(set(Y)))
    assert model.n_documents_ == model.words_.n_documents_ == len(TEXTS)
    assert_array_equal(model.model_.coef_, by_hand.coef_)
    if use_idf:
        assert_array_equal(model.words_.idf_, clone(words).fit(TEXTS).idf_)


def test_a_refused_batch_of_any_model_is_not_remembered():
    model = TextClassifier(linear(), BagOfWords(n_features=64, use_idf=True))
    model.partial_fit(TEXTS, Y, classes=sorted(set(Y)))
    with pytest.raises(ValueError, match="inconsistent"):
        model.partial_fit(["a", "b"], ["ham"])
    assert model.n_documents_ == model.words_.n_documents_ == len(TEXTS)
    assert_array_equal(model.words_.idf_, BagOfWords(n_features=64, use_idf=True).fit(TEXTS).idf_)


def test_a_stream_of_documents_given_once_is_read_once():
    model = TextClassifier(linear(), BagOfWords(n_features=64, use_idf=True))
    model.partial_fit(iter(TEXTS), Y, classes=sorted(set(Y)))
    assert model.n_documents_ == len(TEXTS)


@pytest.mark.parametrize("words", [None, BagOfWords(n_features=64)])
def test_a_calibrated_model_is_not_fitted_in_a_stream(words):
    model = TextClassifier(NaiveBayes("multinomial", calibrate="length"), words)
    with pytest.raises(InvalidInput, match="set calibrate=None, or call fit on all rows"):
        model.partial_fit(TEXTS, Y, classes=sorted(set(Y)))


def test_a_model_without_partial_fit_is_refused_by_name():
    model = TextClassifier(KNeighborsClassifier(), BagOfWords(n_features=64))
    with pytest.raises(InvalidInput, match="KNeighborsClassifier has no partial_fit"):
        model.partial_fit(TEXTS, Y, classes=sorted(set(Y)))


@pytest.mark.parametrize(
    "given", [None, 5, {"a": TEXTS}, set(TEXTS)], ids=["none", "number", "dict", "set"]
)
def test_what_is_no_sequence_of_documents_is_refused(given):
    for model in (TextClassifier(), BagOfWords()):
        with pytest.raises(InvalidInput, match=r"documents were expected; found .* Pass a list"):
            model.fit(given, Y)


def test_parts_of_the_classifier_are_named_if_they_are_none():
    with pytest.raises(InvalidInput, match=r"model='naive-bayes'.*a classifier was expected"):
        TextClassifier("naive-bayes").fit(TEXTS, Y)
    with pytest.raises(InvalidInput, match=r"words='english'.*a BagOfWords was expected"):
        TextClassifier(words="english").fit(TEXTS, Y)
    with pytest.raises(InvalidInput, match=r"document 1 is missing \(NaN\). Drop"):
        BagOfWords().fit(["buy", float("nan")])


def test_a_model_that_was_asked_for_does_not_change_with_later_batches():
    classifier = TextClassifier(NaiveBayes("multinomial"))
    classifier.partial_fit(["cat sat"], ["a"], classes=["a", "b"])
    earlier = classifier.model_
    before = earlier.feature_count_.copy()
    classifier.partial_fit(["cat cat dog"], ["b"])
    assert_array_equal(earlier.feature_count_, before)
    assert classifier.model_.feature_count_.sum() == 5


def test_settings_of_words_and_model_are_set_where_none_were_given():
    found = TextClassifier().set_params(words__ngram_range=(1, 2), model__smoothing=0.5)
    assert found.words.ngram_range == (1, 2)
    assert found.model.smoothing == 0.5 and found.model.calibrate == "length"
    given = BagOfWords(min_df=2)
    assert TextClassifier().set_params(words=given, words__binary=True).words.min_df == 2


def test_settings_of_the_model_are_checked_by_fit():
    with pytest.raises(InvalidInput, match="smoothing"):
        TextClassifier(NaiveBayes("multinomial", smoothing=-1)).fit(["a cat", "dog"], ["a", "b"])


def test_a_pipeline_of_words_and_a_model_names_the_words():
    pipeline = make_pipeline(BagOfWords(), NaiveBayes("multinomial")).fit(TEXTS, Y)
    told = pipeline[-1].informative_features(2)
    assert next(iter(told["spam"])) == "pills"
    assert next(iter(told["ham"])) == "at"
    assert "pills" in str(pipeline[-1].describe())
    assert "pills" in str(pipeline[-1].explain(pipeline[0].transform(["cheap pills"])))
    linear = make_pipeline(BagOfWords(), SoftmaxRegression(l2=1.0)).fit(TEXTS, Y)
    assert "pills" in str(linear[-1].explain(linear[0].transform(["cheap pills"])))


def test_names_of_words_are_those_of_the_last_fit_and_ask_nothing_of_new_rows(tmp_path):
    words = BagOfWords(unknown="count")
    counts = words.fit_transform(TEXTS)
    model = NaiveBayes("multinomial").fit(counts, Y)
    assert_array_equal(model.column_names_, words.get_feature_names_out())
    assert not hasattr(model, "feature_names_in_")
    model.predict(counts.toarray())  # rows without names are not warned about
    likely.save(model, tmp_path / "model.likely")
    loaded = likely.load(tmp_path / "model.likely")
    assert loaded.informative_features(3) == model.informative_features(3)
    model.fit(counts.toarray(), Y)
    assert list(model.informative_features(1)["spam"]) != ["pills"]
    model.fit(counts, Y)
    model.fit(pd.DataFrame(counts.toarray(), columns=[f"c{j}" for j in range(counts.shape[1])]), Y)
    assert next(iter(model.informative_features(1)["spam"])).startswith("c")
    assert "column_names_" not in vars(model)
    assert "column_names" not in vars(BagOfWords(n_features=8).fit_transform(TEXTS))


@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_a_text_classifier_has_the_words_and_the_evidence_of_the_pipeline(event, tmp_path):
    pipeline = make_pipeline(BagOfWords(), NaiveBayes(event)).fit(TEXTS, Y)
    expected = pipeline[-1].informative_features(4)
    model = TextClassifier(NaiveBayes(event)).fit(TEXTS, Y)
    assert_same_evidence(model.informative_features(4), expected)
    likely.save(model, tmp_path / "model.likely")
    assert_same_evidence(likely.load(tmp_path / "model.likely").informative_features(4), expected)
    batches = TextClassifier(NaiveBayes(event))
    for part in (slice(0, 3), slice(3, 8)):
        batches.partial_fit(TEXTS[part], Y[part], classes=["ham", "other", "spam"])
    assert_same_evidence(batches.informative_features(4), expected)


def assert_same_evidence(found, expected):
    assert list(found) == list(expected)
    for label, words in expected.items():
        assert sorted(found[label].values()) == pytest.approx(sorted(words.values()), rel=1e-10)
        assert next(iter(found[label])) == next(iter(words))


def test_three_words_have_the_evidence_of_three_words():
    """Drawn documents of 100 words gave hundreds of nats."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["cheap", "buy", "now"], 3)) for _ in range(30)]
    texts += [" ".join(rng.choice(["lunch", "noon", "work"], 3)) for _ in range(30)]
    model = TextClassifier(NaiveBayes("multinomial")).fit(texts, ["spam"] * 30 + ["ham"] * 30)
    total = sum(model.informative_features(10)["spam"].values())
    assert 8 < total < 16  # three words, each about log 30 nats


def test_the_description_of_a_text_classifier_shows_words():
    model = TextClassifier().fit(TEXTS, Y)
    description = model.describe()
    assert description.title == "TextClassifier: 3 classes, 18 columns of words, 8 documents"
    rows = [row for row in description.tables[0].rows if row[0] == "spam"]
    assert rows[0][1] == "pills"
    assert rows[0][2] == model.informative_features(1)["spam"]["pills"]
    assert all(row[2] > 0 for row in description.tables[0].rows)
    linear = TextClassifier(SoftmaxRegression(l2=1.0)).fit(TEXTS, Y)
    weights = linear.model_.coef_
    column = linear.words_.columns_of(["pills"])[0]
    expected = weights[2, column] - weights[:2, column].mean()
    shown = {row[1]: row[2] for row in linear.describe().tables[0].rows if row[0] == "spam"}
    assert shown["pills"] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InvalidInput, match=r"no evidence of words; .* Use describe\(\)"):
        linear.informative_features()
    assert "hashes" in str(TextClassifier(words=BagOfWords(n_features=64)).fit(TEXTS, Y).describe())
    other = TextClassifier(KNeighborsClassifier(2)).fit(TEXTS, Y).describe()
    assert "n_neighbors" in str(other)


def test_words_given_as_the_model_are_told_their_place():
    with pytest.raises(InvalidInput, match=r"Write TextClassifier\(words=BagOfWords\(\.\.\.\)\)"):
        TextClassifier(BagOfWords()).fit(TEXTS, Y)
    with pytest.raises(InvalidInput, match=r"words are the second argument"):
        TextClassifier(BagOfWords()).partial_fit(TEXTS, Y, classes=["ham", "other", "spam"])


@pytest.mark.parametrize("model", [GaussianMixture(2), LinearRegression(), TokenIds()])
def test_a_model_that_is_no_classifier_is_refused(model):
    with pytest.raises(InvalidInput, match=r"model=.* was given.*; a classifier was expected"):
        TextClassifier(model).fit(["a cat", "the dog"] * 3, ["pet", "dog"] * 3)
