"""Files of text classifiers: many columns that are alike; words and models that do not fit."""

import tracemalloc

import numpy as np
import pytest

import likely
from likely import (
    BagOfWords,
    NaiveBayes,
    SoftmaxRegression,
    TextClassifier,
)
from likely.errors import InvalidFile
from likely.storage import checks, tensors, values
from tests.storage.older_format import save_in_format_1
from tests.storage.test_model_file import forge

TEXTS, Y = ["cat dog", "dog bird", "cat", "bird bird"], ["a", "b", "a", "b"]


def changed(words=None, **attributes):
    model = TextClassifier(words=words).fit(TEXTS, Y)
    model.complete_fit()
    vars(model).update(attributes)
    return model


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (changed(words_=BagOfWords().fit(["more words than the model has"])), "columns"),
        (changed(BagOfWords(n_features=8), words_=BagOfWords(n_features=9).fit(TEXTS)), "columns"),
        (changed(words_=BagOfWords()), "fitted"),
        (changed(model_=NaiveBayes("multinomial")), "fitted"),
        (changed(model_=BagOfWords().fit(TEXTS)), "fitted"),
        (changed(classes_=np.array(["a", "c"])), "classes"),
        (changed(classes_=np.array(["a"])), "classes"),
        (changed(n_documents_=-1), "n_documents_"),
        (changed(n_documents_="four"), "n_documents_"),
        (changed(words_="words"), "words_"),
        (changed(words_=NaiveBayes("multinomial").fit([[1, 2]], [0])), "words_"),
    ],
)
def test_what_no_fit_gives_is_refused(model, said, tmp_path):
    likely.save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match=said):
        likely.load(tmp_path / "m.likely")


def test_documents_that_were_only_counted_are_saved(tmp_path):
    """The model of a stream is computed when it is first needed: here, by save."""
    model = TextClassifier(words=BagOfWords(n_features=2**10))
    model.partial_fit(TEXTS, Y, classes=["a", "b"])
    assert "model_" not in vars(model)
    likely.save(model, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    assert type(loaded.model_) is NaiveBayes
    expected = model.partial_fit(["cat bird"], ["a"]).predict_proba(TEXTS)
    np.testing.assert_array_equal(
        loaded.partial_fit(["cat bird"], ["a"]).predict_proba(TEXTS), expected
    )


LABELLED = [f"{'cat' if i % 2 else 'dog'} number {i}" for i in range(60)], ["a", "b"] * 30
MODELS = {
    "calibrated": None,
    "presence": NaiveBayes("bernoulli"),
    "smoothed": NaiveBayes("multinomial", smoothing="auto"),
    "complement": NaiveBayes("complement"),
    "linear": SoftmaxRegression(l2=1.0),
}


def hashed(name, n_features=2**13):
    words = BagOfWords(n_features=n_features, binary=name == "presence")
    return TextClassifier(MODELS[name], words).fit(*LABELLED)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("save", [likely.save, save_in_format_1], ids=["new", "old"])
def test_files_of_this_and_of_older_versions_give_the_same_model(name, save, tmp_path):
    model = hashed(name)
    save(model, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    expected = model.predict_log_proba(LABELLED[0])
    np.testing.assert_array_equal(loaded.predict_log_proba(LABELLED[0]), expected)
    likely.save(model, tmp_path / "first.likely")
    likely.save(loaded, tmp_path / "again.likely")
    assert (tmp_path / "again.likely").read_bytes() == (tmp_path / "first.likely").read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_what_is_said_about_columns_does_not_grow_with_their_number(name, tmp_path):
    lengths = []
    for n_features in (2**11, 2**16):
        likely.save(hashed(name, n_features), tmp_path / "m.likely")
        with open(tmp_path / "m.likely", "rb") as file:
            lengths.append(int.from_bytes(file.read(8), "little"))
    assert lengths[1] - lengths[0] < 100  # of some digits


def test_columns_that_are_alike_are_not_checked_one_by_one(tmp_path, monkeypatch):
    checked, fits = [], checks.fits
    monkeypatch.setattr(checks, "fits", lambda *given: checked.append(1) or fits(*given))
    likely.save(hashed("calibrated", 2**16), tmp_path / "m.likely")
    likely.load(tmp_path / "m.likely")
    assert 0 < len(checked) < 2000


def test_saving_makes_no_copy_of_a_large_array(tmp_path, monkeypatch):
    model = hashed("calibrated", 2**18)
    table = model.model_.components_.distribution.parts[0].log_probability
    monkeypatch.setattr(tensors, "PIECE", 2**16)
    tracemalloc.start()
    likely.save(model, tmp_path / "m.likely")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < table.nbytes / 4


def test_a_model_with_more_columns_than_its_arrays_allow_is_written_item_by_item(
    tmp_path, monkeypatch
):
    model = hashed("calibrated")
    monkeypatch.setattr(values, "FREE_REPEATS", 0)
    monkeypatch.setattr(values, "REPEATS_PER_NUMBER", 0)
    likely.save(model, tmp_path / "m.likely")
    assert b"repeats" not in (tmp_path / "m.likely").read_bytes()
    loaded = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(
        loaded.predict_proba(LABELLED[0]), model.predict_proba(LABELLED[0])
    )


@pytest.mark.parametrize("count", [2**13 - 1, 2**13 + 1, 0, 10**5])
def test_runs_of_another_length_are_refused(count, tmp_path):
    path = tmp_path / "m.likely"
    likely.save(hashed("calibrated"), path)
    for attribute, field in [("schema_", "kinds"), ("schema_", "categories"), ("plan_", "events")]:

        def edit(header, attribute=attribute, field=field):
            part_of(header, attribute)[field]["repeats"][1][0][1] = count

        forge(path, edit)
        with pytest.raises(InvalidFile, match="entries where"):
            likely.load(path)
        likely.save(hashed("calibrated"), path)


def part_of(header, attribute):
    return header["fitted"]["model_"]["model"]["fitted"][attribute]["part"][1]


@pytest.mark.parametrize(
    "limits", [[0, 2**13 + 1, 1], [1, 2**13 + 1, 1], [0, 2**14, 2], [2**13, 0, -1], [0, 0, 1]]
)
def test_a_distribution_that_reads_other_columns_is_refused(limits, tmp_path):
    path = tmp_path / "m.likely"
    likely.save(hashed("calibrated"), path)

    def edit(header):
        (chosen,) = part_of(header, "family_")["parts"]["tuple"]
        chosen["part"][1]["selection"]["part"][1]["features"] = {"range": limits}

    forge(path, edit)
    with pytest.raises(InvalidFile, match="columns"):
        likely.load(path)
