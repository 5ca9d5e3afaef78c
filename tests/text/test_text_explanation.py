"""Words of a document with their contributions, which add up to the log-odds of its class."""

import html
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from likely import BagOfWords, LogisticRegression, NaiveBayes, SoftmaxRegression, TextClassifier
from likely.errors import InvalidInput, UnknownName

TEXTS = [
    "Cheap pills, buy now! Buy cheap pills.",
    "Lunch at noon? I am at work.",
    "buy cheap watches now",
    "See you at lunch, then: at noon.",
    "weather: rain at noon",
    "pills pills",
    "rain, rain",
]
Y = ["spam", "ham", "spam", "ham", "weather", "spam", "weather"]
DOCUMENT = "Buy pills at NOON; unseen, buy rain!"
MODELS = [
    (NaiveBayes("multinomial"), BagOfWords()),
    (NaiveBayes("multinomial"), BagOfWords(ngram_range=(1, 3), stop_words=["at"])),
    (NaiveBayes("multinomial"), BagOfWords(unknown="count", vocabulary=["buy", "rain"])),
    (NaiveBayes("complement"), BagOfWords(analyzer="char", ngram_range=(1, 3))),
    (NaiveBayes("multinomial"), BagOfWords(analyzer="char_wb", ngram_range=(2, 4))),
    (NaiveBayes("bernoulli"), BagOfWords(binary=True)),
    (NaiveBayes("multinomial"), BagOfWords(n_features=40, ngram_range=(1, 2))),
    (NaiveBayes("multinomial"), BagOfWords(binary=True, strip_accents="unicode")),
    (SoftmaxRegression(l2=1.0), BagOfWords(use_idf=True, norm="l2")),
    (SoftmaxRegression(l2=1.0), BagOfWords(sublinear_tf=True)),
]


@pytest.fixture(scope="module")
def model():
    return TextClassifier().fit(TEXTS, Y)


@pytest.mark.parametrize(("model", "words"), MODELS, ids=lambda part: str(part)[:60])
@pytest.mark.parametrize("document", [DOCUMENT, "", "unseen", "Übung İstanbul buy"])
def test_contributions_add_up_to_the_log_odds(model, words, document):
    fitted = TextClassifier(model, words).fit(TEXTS, Y)
    found = fitted.explain(document)
    log_proba = dict(zip(fitted.classes_, fitted.predict_log_proba([document])[0], strict=True))
    odds = log_proba[found.label] - log_proba[found.against]
    assert_allclose(found.total, odds, rtol=1e-9, atol=1e-10)
    parts = dict(
        zip(found.explanation.names, found.explanation.contributions[0, :, 1], strict=True)
    )
    absent = parts.pop("terms that are absent", 0.0)
    assert_allclose(found.base + absent + found.contributions.sum(), odds, rtol=1e-9, atol=1e-10)
    assert_allclose(sum(parts.values()), found.contributions.sum(), rtol=1e-9, atol=1e-10)
    assert found.label == fitted.predict([document])[0]
    assert_allclose(found.probability, np.exp(log_proba[found.label]))
    order = sorted(log_proba, key=log_proba.get)
    assert log_proba[found.against] == log_proba[order[-2]]


def test_two_classes_of_a_logistic_regression():
    y = [label == "spam" for label in Y]
    fitted = TextClassifier(LogisticRegression(l2=1.0)).fit(TEXTS, y)
    found = fitted.explain("buy pills")
    no, yes = fitted.predict_log_proba(["buy pills"])[0]
    assert found.label and not found.against
    assert_allclose(found.total, yes - no, rtol=1e-9)


def test_words_are_where_they_are_written(model):
    found = model.explain(DOCUMENT)
    assert [word for word, *_ in found.words] == DOCUMENT.replace(";", "").replace(",", "").replace(
        "!", ""
    ).split()
    for word, start, end, _ in found.words:
        assert found.places.shown[start:end] == word
    values = {word: value for word, _, _, value in found.words}
    assert values["unseen"] == 0.0
    assert values["Buy"] == values["buy"] > 0  # the same term, in equal parts


def test_a_contribution_is_a_log_ratio(model):
    """The definition, by hand: log (N + 1) / (λ + V) of one class and of the other."""
    counts, names = model.model_.feature_count_, list(model.words_.get_feature_names_out())
    found = model.explain("rain")
    k, j = (list(model.classes_).index(each) for each in (found.label, found.against))
    p = (counts + 1) / (counts.sum(axis=1, keepdims=True) + len(names))
    v = names.index("rain")
    assert_allclose(found.contributions, [np.log(p[k, v] / p[j, v])], rtol=1e-12)
    assert_allclose(found.base, np.log(2 / 2) if found.against != "spam" else np.log(2 / 3))


def test_classes_can_be_named(model):
    found = model.explain("rain at noon", "spam", label="ham")
    assert (found.label, found.against) == ("ham", "spam")
    opposite = model.explain("rain at noon", "ham", label="spam")
    assert_allclose(found.contributions, -opposite.contributions)
    assert model.explain("rain", "weather").label != "weather"
    with pytest.raises(UnknownName, match="unheard of"):
        model.explain("rain", "unheard of")
    with pytest.raises(InvalidInput, match="compared with itself"):
        model.explain("rain", "ham", label="ham")


def test_documents_are_explained_one_by_one(model):
    found = model.explain(["rain", "buy"])
    assert [each.total for each in found] == [model.explain(d).total for d in ("rain", "buy")]


def test_a_model_without_weights_of_words_is_refused():
    from sklearn.neighbors import KNeighborsClassifier

    fitted = TextClassifier(KNeighborsClassifier(1)).fit(TEXTS, Y)
    with pytest.raises(InvalidInput, match="KNeighborsClassifier has no weights of words"):
        fitted.explain("rain")


def test_it_prints_words_and_a_table(model):
    text = model.explain("buy pills\nat noon").text()
    assert "\x1b" not in text  # no terminal here
    assert text.startswith("spam (probability 0.")
    assert "buy pills\nat noon" in text
    assert re.search(r"^prior +\+0\.\d+$", text, re.M) and re.search(r"^total +\+", text, re.M)


def test_words_are_coloured_on_request(model, monkeypatch):
    found = model.explain("buy lunch unseen")
    coloured = found.text(color=True)
    assert re.search("\x1b\\[32mbuy\x1b\\[0m", coloured)
    assert re.search("\x1b\\[31mlunch\x1b\\[0m", coloured)
    assert re.sub("\x1b\\[[0-9]+m", "", coloured) == found.text(color=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert str(found) == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(found) == found.text(color=False)


def test_lines_fit_the_screen_without_counting_colours(model):
    found = model.explain("buy pills now " * 60)
    for color in (True, False):
        lines = [
            re.sub("\x1b\\[[0-9]+m", "", line)
            for line in found.text(color=color, width=50).splitlines()
        ]
        assert 40 < max(map(len, lines[2:])) <= 50


def test_the_end_of_a_long_document_is_counted(model):
    found = model.explain("buy pills " * 300)
    assert "(200 more words)" in found.text()
    assert "more word" not in found.to_html()


HOSTILE = "<script>alert(1)</script> buy' onmouseover='x \x1b[31mred \x9b2J &amp; pills\x07"


def test_text_cannot_write_html_nor_control_a_terminal():
    y = [label if label != "spam" else "<img src=x onerror=alert(1)>" for label in Y]
    hostile = TextClassifier().fit([*TEXTS, "script alert onmouseover"], [*y, "weather"])
    found = hostile.explain(HOSTILE)
    for page in (found.to_html(), found._repr_html_()):
        assert "<script" not in page and "<img" not in page and "\x1b" not in page
        shown = html.unescape(re.sub(r"<[^>]*>", "", page))
        assert "<script>alert(1)</script>" in shown and "<img src=x" in shown
        assert set(re.findall(r"<(\w+)", page)) <= {
            *("html", "head", "meta", "title", "body", "div", "p", "span", "table", "tr", "td"),
            *("th", "thead", "tbody"),
        }
    for color in (True, False):
        text = found.text(color=color)
        assert "\x9b" not in text and "\x07" not in text
        assert set(re.findall("\x1b\\[[0-9]+m", text)) <= {
            "\x1b[0m",
            "\x1b[1m",
            "\x1b[32m",
            "\x1b[31m",
        }
        if not color:
            assert "\x1b" not in text


def test_it_is_given_as_json_and_as_a_frame(model):
    found = model.explain(DOCUMENT)
    facts = found.to_json()
    assert facts["class"] == found.label and facts["text"] == DOCUMENT
    assert_allclose([word["contribution"] for word in facts["words"]], found.contributions)
    assert_allclose(facts["base"] + sum(facts["terms"].values()), facts["total"])
    frame = found.to_frame("pandas")
    assert_allclose(frame["contribution"].sum(), found.total)


@pytest.mark.filterwarnings("error")
def test_words_that_no_class_can_have_together_leave_no_total():
    """−∞ of one class and of the other: their difference has no value, and says so."""
    never = TextClassifier(NaiveBayes("multinomial", smoothing=0))
    found = never.fit(["cat dog dog", "cat bird"], ["a", "b"]).explain("bird dog cat")
    assert np.isnan(found.total)
    assert "log-odds not defined against" in found.title()
    assert re.search(r"total +not defined\n\nNote: A total is not defined where", str(found))
    assert "nan" not in str(found) + found.to_html()
    assert "not defined" in found.text(top=1)
    json.dumps(found.to_json(), allow_nan=False)
    assert "not defined" not in str(never.explain("bird cat"))  # one class is impossible: +inf


@pytest.mark.filterwarnings("error")
def test_rows_that_no_class_can_have_leave_no_total():
    model = NaiveBayes("multinomial", smoothing=0).fit([[1, 2, 0], [1, 0, 1]], ["a", "b"])
    found = model.explain([[1, 1, 1], [1, 0, 1]])
    assert np.isnan(found.total[0, 1]) and found.total[1, 1] == np.inf
    assert str(found).count("not defined") == 2  # the total of one row, and the note


@pytest.mark.parametrize(
    ("form", "kind"), [(pd.Series, pd.DataFrame), (pl.Series, pl.DataFrame), (list, pa.Table)]
)
def test_frames_are_of_the_library_of_the_documents(form, kind):
    texts = ["good film", "bad film", "good play", "bad play"]
    model = TextClassifier().fit(texts, ["y", "n", "y", "n"])
    found = model.explain(form(texts[:2]))
    assert [type(each.to_frame()) for each in found] == [kind, kind]
    assert isinstance(found[0].to_frame("pyarrow"), pa.Table)
