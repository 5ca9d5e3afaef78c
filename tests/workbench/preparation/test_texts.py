"""Free text in a prepared table: words beside numbers and categories."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.naive_bayes import MultinomialNB

import likely as lk
from likely.data.source import as_texts
from likely.data.word_table import WordTable
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.preparation.texts import TextColumn

N = 120
GOOD = ["the bread was fresh and warm", "lovely cheese, kind people", "good coffee in the garden"]
BAD = [
    "the soup was cold and late",
    "rude waiter, never again here",
    "bad coffee and a dirty table",
]


def reviews(n=N, seed=0):
    """Reviews with a text, a number with gaps, a category and a label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    kind = rng.random((n, 2)) < np.where(y, 0.7, 0.3)[:, None]  # of its two sentences
    which = rng.integers(0, 3, (n, 2))
    text = [
        " ".join((GOOD if kind[i, j] else BAD)[which[i, j]] for j in range(2)) + f" visit {i}"
        for i in range(n)
    ]
    price = rng.normal(20 + 3 * y, 4)
    price[::17] = np.nan
    town = np.where(rng.random(n) < 0.3 + 0.4 * y, "Ghent", "Mons")
    return pd.DataFrame({"text": text, "price": price, "town": town}), np.where(y, "yes", "no")


def test_words_are_counted_beside_numbers_and_categories():
    X, y = reviews()
    model = Prepared(lk.NaiveBayes()).fit(X, y)
    rows = model.prepare(X)
    assert isinstance(rows, WordTable) and rows.names[:2] == ("price", "town")
    assert rows.names[2:4] == ("text: 10", "text: 100")
    counts = CountVectorizer().fit_transform(X["text"])
    np.testing.assert_array_equal(rows.words.toarray(), counts.toarray())
    assert dict(model.steps_)["text"] == f"text: {counts.shape[1]} words, counted"


def test_naive_bayes_equals_that_of_dense_columns():
    X, y = reviews()
    model = Prepared(lk.NaiveBayes(smoothing=0.5)).fit(X, y)
    rows = model.prepare(X)
    words = dict(zip(rows.word_names, rows.words.toarray().T, strict=True))
    dense = pd.DataFrame({"price": X["price"], "town": X["town"], **words})
    events = dict.fromkeys(rows.word_names, "multinomial")
    expected = lk.NaiveBayes(events, smoothing=0.5).fit(dense, y)
    np.testing.assert_allclose(
        model.predict_proba(X), expected.predict_proba(dense), rtol=1e-12, atol=1e-15
    )


def test_a_text_alone_equals_scikit_learn():
    X, y = reviews()
    model = Prepared(lk.NaiveBayes()).fit(X[["text"]], y)
    words = CountVectorizer().fit(X["text"])
    other = MultinomialNB().fit(words.transform(X["text"]), y)
    new = reviews(seed=1)[0]
    np.testing.assert_allclose(
        model.predict_proba(new), other.predict_proba(words.transform(new["text"])), rtol=1e-9
    )


def test_a_penalised_model_reads_weights_of_a_common_length():
    X, y = reviews()
    model = Prepared(lk.LogisticRegression()).fit(X, y)
    rows = model.prepare(X)
    length = np.sqrt(np.asarray(rows.words.multiply(rows.words).sum(axis=1)).ravel())
    distinct = (rows.words > 0).sum() / N
    np.testing.assert_allclose(length, np.sqrt(distinct))
    assert "town[Mons]" in rows.names and "price missing" in rows.names
    assert set(model.model_.terms_) == set(rows.names)
    assert "tf-idf" in dict(model.steps_)["text"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_gives_the_same_probabilities(library):
    X, y = reviews()
    given = {"pandas": X, "polars": pl.from_pandas(X), "pyarrow": pa.Table.from_pandas(X)}[library]
    model = Prepared(lk.LogisticRegression(l2=0.5)).fit(given, y)
    expected = Prepared(lk.LogisticRegression(l2=0.5)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(given), expected.predict_proba(X), rtol=1e-9)


def test_a_missing_text_is_an_empty_document():
    X, y = reviews()
    X.loc[::10, "text"] = None
    empty = X.assign(text=X["text"].fillna(""))
    model = Prepared(lk.NaiveBayes()).fit(X, y)
    assert dict(model.steps_)["text"].endswith("10.0 % missing, read as empty documents")
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(empty))
    assert not model.prepare(X).words[::10].nnz


def test_a_word_that_the_fit_did_not_see_is_ignored():
    X, y = reviews()
    model = Prepared(lk.NaiveBayes()).fit(X[["text"]], y)
    one = pd.DataFrame({"text": ["fresh bread"]})
    np.testing.assert_array_equal(
        model.predict_proba(one), model.predict_proba(pd.DataFrame({"text": ["fresh zzz bread"]}))
    )


def test_a_model_of_dense_columns_does_not_see_the_text():
    X, y = reviews()
    X["price"] = X["price"].fillna(20.0)
    model = Prepared(lk.DiscriminantAnalysis()).fit(X, y)
    assert model.dropped_ == ("text",)
    assert "does not read" in dict(model.steps_)["text"]
    with pytest.raises(lk.errors.InvalidInput, match="No column of X is left"):
        Prepared(lk.DiscriminantAnalysis()).fit(X[["text"]], y)


def test_a_model_of_another_library_reads_sparse_rows():
    X, y = reviews()
    model = Prepared(SklearnLogistic(tol=1e-8, max_iter=1000)).fit(X, y)
    own = Prepared(lk.LogisticRegression()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("empty", [["", "", ""], ["a", "!", "?"]])
def test_a_declared_text_without_words_is_dropped(empty):
    table = as_texts(pa.table({"note": empty * 10, "x": np.arange(30) % 7}), ["note"])
    model = Prepared(lk.NaiveBayes()).fit(table, np.arange(30) % 2)
    assert model.dropped_ == ("note",) and "without any word" in dict(model.steps_)["note"]


def test_short_texts_are_read_where_they_are_declared():
    titles = ["cheap pills", "team meeting", "cheap watch", "project plan"] * 10
    table = pa.table({"title": titles})
    y = ["spam", "ham"] * 20
    model = Prepared(lk.NaiveBayes()).fit(as_texts(table, ["title"]), y)
    assert model.prepare(table).word_names[0] == "title: cheap"
    assert model.predict(pa.table({"title": ["cheap plan cheap"]})).tolist() == ["spam"]
    undeclared = Prepared(lk.NaiveBayes()).fit(table, y)
    assert "categories" in dict(undeclared.steps_)["title"]


def test_two_texts_have_their_own_words():
    X, y = reviews()
    X["answer"] = [f"thank you for the kind words {i} and come again" for i in range(N)]
    model = Prepared(lk.NaiveBayes()).fit(X, y)
    rows = model.prepare(X)
    assert {"text: coffee", "answer: kind", "text: kind"} <= set(rows.names)
    assert len(set(rows.names)) == len(rows.names) == model.model_.n_features_in_


def test_words_may_be_counted_otherwise():
    X, y = reviews()
    words = lk.BagOfWords(ngram_range=(1, 2), stop_words="english", binary=True)
    model = Prepared(lk.NaiveBayes(), words=words).fit(X, y)
    names = model.prepare(X).word_names
    assert "text: good coffee" in names and "text: the" not in names


@pytest.mark.parametrize(
    "estimator", [lk.NaiveBayes(calibrate="temperature"), lk.SoftmaxRegression()]
)
def test_a_saved_model_gives_the_same_probabilities(estimator, tmp_path):
    X, y = reviews()
    model = Prepared(estimator).fit(X, y)
    lk.save(model, tmp_path / "model.likely")
    again = lk.load(tmp_path / "model.likely")
    new = reviews(seed=1)[0]
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert isinstance(again.preparation_.steps[0], TextColumn) and again.steps_ == model.steps_


@pytest.mark.parametrize(
    "estimator", [lk.NaiveBayes(calibrate="temperature"), lk.LogisticRegression()]
)
def test_explanations_by_words_add_up_to_the_log_odds(estimator):
    X, y = reviews()
    model = Prepared(estimator).fit(X, y)
    found = model.explain(X[:3])
    log_proba = model.predict_log_proba(X[:3])
    np.testing.assert_allclose(
        found.total[:, -1], log_proba[:, 1] - log_proba[:, 0], rtol=1e-9, atol=1e-9
    )
    assert {"price", "town", "text: visit"} <= set(found.names) and "text" not in found.names
    assert "text: 100" not in found.names  # it is in none of the rows


def test_a_row_of_weight_two_counts_twice():
    X, y = reviews(60)
    weight = np.random.default_rng(2).integers(1, 3, 60)
    twice = np.repeat(np.arange(60), weight)
    model = Prepared(lk.NaiveBayes(smoothing=0.3)).fit(X, y, sample_weight=weight)
    other = Prepared(lk.NaiveBayes(smoothing=0.3)).fit(X.iloc[twice], y[twice])
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-9)


def test_a_number_given_for_a_text_is_read_as_text():
    X, y = reviews()
    model = Prepared(lk.NaiveBayes()).fit(X[["text"]], y)
    rows = model.prepare(pd.DataFrame({"text": [10.0, 100.0]}))
    assert rows.words.nnz == 2


@pytest.mark.long
def test_words_in_a_plan_of_folds_are_learned_in_each_fit():
    X, y = reviews()
    found = lk.compare(X.assign(y=y), "y", ["naive-bayes", "logistic"], folds=3, repeats=1)
    assert not found.failed and found.best.name != "constant"
    assert found.rows.settled.text == "beside"
    assert any("text" in note for note in found.rows.notes)
