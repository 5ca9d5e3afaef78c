"""Text classifiers in the runtime: the probabilities of the library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely as lk
import likely.runtime
from likely.errors import InvalidFile, InvalidInput
from tests.runtime.text_models import NEW, TEXTS, Y, text_models
from tests.storage.older_format import save_in_format_1
from tests.storage.test_model_file import forge

ORDER = ["ham", "work", "spam"]


@pytest.fixture(scope="module", params=text_models())
def pair(request, tmp_path_factory):
    """A classifier, and its predictor."""
    model = text_models()[request.param].fit(TEXTS, Y)
    path = tmp_path_factory.mktemp("text") / "model.likely"
    lk.save(model, path)
    return model, likely.runtime.load(path)


def test_probabilities_and_classes_are_those_of_the_library(pair):
    model, predictor = pair
    expected = model.predict_proba(NEW)
    assert_allclose(predictor.predict_proba(NEW), expected, rtol=1e-12, atol=1e-13)
    assert_array_equal(predictor.predict(NEW), model.predict(NEW))
    assert_array_equal(predictor.classes, model.classes_)


@pytest.mark.parametrize("save", [lk.save, save_in_format_1], ids=["new", "old"])
def test_hashed_columns_are_read_from_files_of_this_and_of_older_versions(save, tmp_path):
    model = lk.TextClassifier(words=lk.BagOfWords(n_features=2**12)).fit(TEXTS, Y)
    save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    expected = model.predict_proba(NEW)
    assert_allclose(predictor.predict_proba(NEW), expected, rtol=1e-12, atol=1e-13)


def test_more_columns_than_the_arrays_have_are_refused_before_they_are_made(tmp_path):
    model = lk.TextClassifier(words=lk.BagOfWords(n_features=2**12)).fit(TEXTS, Y)
    lk.save(model, tmp_path / "model.likely")

    def edit(header):
        (part,) = header["fitted"]["model_"]["model"]["fitted"]["family_"]["part"][1]["parts"][
            "tuple"
        ]
        part["part"][1]["selection"]["part"][1]["columns"] = {
            "repeats": ["tuple", [[0, 10**12]]],
        }

    forge(tmp_path / "model.likely", edit)
    with pytest.raises(InvalidFile, match="repeats values 1,000,000,0"):
        likely.runtime.load(tmp_path / "model.likely")


def test_one_text_has_the_probabilities_that_it_has_among_others(pair):
    _, predictor = pair
    together = predictor.predict_proba(NEW)
    assert_allclose(predictor.predict_proba(NEW[3:4]), together[3:4], rtol=1e-13, atol=1e-15)


def test_no_documents_have_no_probabilities(pair):
    _, predictor = pair
    assert predictor.predict_proba([]).shape == (0, len(predictor.classes))
    assert predictor.predict([]).shape == (0,)


def test_many_documents_are_counted_in_pieces(tmp_path, monkeypatch):
    model = lk.TextClassifier().fit(TEXTS, Y)
    lk.save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    expected = predictor.predict_proba(NEW)
    monkeypatch.setattr("likely.runtime.words.MOST_DOCUMENTS", 7)
    assert_allclose(predictor.predict_proba(NEW), expected, rtol=1e-14)


def test_what_a_text_classifier_does_not_take_is_refused(tmp_path):
    model = lk.TextClassifier().fit(TEXTS, Y)
    lk.save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    for rows, message in (
        ("one text", "a list of texts"),
        ([{"body": "one"}], "Document 0 is a dict"),
        ([1.0], "Document 0 is a float"),
    ):
        with pytest.raises(InvalidInput, match=message):
            predictor.predict(rows)
    with pytest.raises(InvalidInput, match="neither offset nor exposure"):
        predictor.predict_proba(["one"], offset=1.0)


def test_a_text_classifier_around_another_model_is_refused(tmp_path):
    model = lk.TextClassifier(lk.FrankHall(lk.LogisticRegression(), order=ORDER)).fit(TEXTS, Y)
    lk.save(model, tmp_path / "model.likely")
    with pytest.raises(InvalidFile, match="it holds a FrankHall"):
        likely.runtime.load(tmp_path / "model.likely")


def test_words_and_weights_that_do_not_belong_together_are_refused(tmp_path):
    path = tmp_path / "model.likely"
    lk.save(lk.TextClassifier().fit(TEXTS, Y), path)

    def edit(header):
        header["fitted"]["model_"]["model"]["fitted"]["n_features_in_"] = 3

    forge(path, edit)
    with pytest.raises(InvalidFile, match=r"kinds has .* where 3"):
        likely.runtime.load(path)


def test_an_empty_text_has_the_class_prior(tmp_path):
    model = lk.TextClassifier().fit(TEXTS, Y)
    lk.save(model, tmp_path / "model.likely")
    shares = np.array([np.mean(label == Y) for label in model.classes_])
    found = likely.runtime.load(tmp_path / "model.likely").predict_proba(["", "zzzz unknown"])
    assert_allclose(found, [shares, shares], rtol=1e-12)
