"""``--set words.NAME=VALUE``: how words of texts are counted, in every verb that takes settings."""

import json
import shutil

import pytest

import likely as lk
from likely.cli.models import word_choices, word_setting
from likely.tasks.request import value_of
from likely.workbench.models.model_entry import WORD_SETTINGS, word_defaults

GOOD = ["a good day", "very good bread", "good and warm", "not bad at all"]
BAD = ["a bad day", "very bad soup", "bad and cold", "not good at all"]
OPTIONS = ("--text", "body", "--target", "label")


@pytest.fixture
def reviews(tmp_path):
    lines = ["label,body"]
    for i in range(20):
        lines += [f"good,{GOOD[i % 4]} n{i % 5}", f"bad,{BAD[i % 4]} n{i % 5}"]
    (tmp_path / "reviews.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def trained(likely, folder, *words, model="naive-bayes"):
    given = [part for word in words for part in ("--set", word)]
    shutil.rmtree(folder / "r", ignore_errors=True)
    outcome = likely("train", "reviews.csv", model, *OPTIONS, *given, "-o", "r")
    assert outcome.exit == 0, outcome.err
    facts = json.loads((folder / "r" / "run.json").read_text())
    return lk.load(folder / "r" / "model.likely"), facts["parameters"]


def words_of(model):
    return [name.removeprefix("body: ") for name in model.preparation_.word_names]


@pytest.mark.long
def test_runs_of_words_are_counted_and_recorded(likely, reviews):
    model, parameters = trained(likely, reviews, "words.ngram_range=1,2", "words.min-df=2")
    assert "not good" in words_of(model) and "good" in words_of(model)
    assert parameters["words__ngram_range"] == [1, 2] and parameters["words__min_df"] == 2
    assert parameters["smoothing"] == "auto" and parameters["calibrate"] == "length"
    assert "words__binary" not in parameters  # only what was given
    plain, parameters = trained(likely, reviews)
    assert "not good" not in words_of(plain)
    assert not any(name.startswith("words") for name in parameters)


@pytest.mark.long
def test_words_that_are_left_out_are_given_with_commas(likely, reviews):
    model, parameters = trained(likely, reviews, "words.stop_words=good,bad")
    assert "warm" in words_of(model) and not {"good", "bad"} & {*words_of(model)}
    assert parameters["words__stop_words"] == ["good", "bad"]
    english, _ = trained(likely, reviews, "words__stop_words=english")
    assert "very" not in words_of(english) and "good" in words_of(english)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("['cat', 'dog']", ["cat", "dog"]),
        ('["cat","dog"]', ["cat", "dog"]),
        ("(cat,dog)", ["cat", "dog"]),
        ("cat,", ["cat"]),
        ("cat", ["cat"]),
        ("2024", ["2024"]),
        ("none", None),
    ],
)
def test_words_are_a_list_however_they_are_written(text, words):
    assert word_setting("words__vocabulary", text) == words
    assert word_setting("words__stop_words", text) == words


def test_stop_words_in_english_are_a_name_and_patterns_are_not_split():
    assert word_setting("words__stop_words", "english") == "english"
    assert word_choices("words__stop_words", "english,none,the") == ["english", None, ["the"]]
    patterns = [r"\w{2,}", r"\w+", r"[a-z,]+", r"\(\w+"]
    assert word_choices("words__token_pattern", ",".join(patterns)) == patterns


def test_presence_of_words_says_which_option_is_missing(likely, reviews, monkeypatch):
    from likely.workbench.data import dataset
    from likely.workbench.scoring import progressive

    asked = ("train", "reviews.csv", "naive-bayes", *OPTIONS, "--set", "event=bernoulli")
    for run in ("small", "large"):
        outcome = likely(*asked)
        assert outcome.exit == 1
        assert "Add --set words.binary=yes" in " ".join(outcome.err.split())
        outcome = likely(*asked, "--set", "words.binary=yes", "-o", run)
        assert outcome.exit == 0, outcome.err
        monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
        monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)


def test_words_are_hashed_and_still_explained(likely, reviews):
    model, _ = trained(likely, reviews, "words.n_features=2**10", "words.binary=yes")
    assert len(words_of(model)) == 1024 and model.preparation_.steps[0].words.binary is True
    outcome = likely("explain", "r", "--text", "very good soup")
    assert outcome.exit == 0 and "good" in outcome.out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("words.ngrams=2", "There is no setting of words 'ngrams'; choose one of analyzer, binary"),
        ("words.analyzer=chars", "There is no analyzer 'chars'; choose one of char, char_wb, word"),
        ("words.ngram_range=2,1", "the smaller first"),
        ("words.binary=3", "True or False was expected"),
        ("words=english", "without a name; one of lowercase"),
    ],
)
def test_unknown_names_and_bad_values_are_refused(likely, reviews, given, message):
    for verb in ("train", "compare", "tune"):
        outcome = likely(verb, "reviews.csv", "naive-bayes", *OPTIONS, "--set", given)
        assert outcome.exit == 1 and message in " ".join(outcome.err.split())
        assert "likely models naive-bayes" in outcome.err


def test_settings_that_exclude_each_other_are_refused(likely, reviews):
    both = ("--set", "words.n_features=64", "--set", "words.min_df=2")
    outcome = likely("train", "reviews.csv", "naive-bayes", *OPTIONS, *both)
    assert outcome.exit == 1 and "keeps no vocabulary" in " ".join(outcome.err.split())


def test_settings_of_words_need_a_column_of_text(likely):
    for verb in ("train", "compare"):
        outcome = likely(verb, "iris", "naive-bayes", "--set", "words.min_df=2")
        assert outcome.exit == 2
        assert "no column of the data is read as text" in " ".join(outcome.err.split())


def test_compare_counts_the_words_of_every_model(likely, reviews):
    folds = ("--folds", "3", "--repeats", "1", "--json")
    asked = ("compare", "reviews.csv", "naive-bayes", "logistic", *OPTIONS, *folds)
    plain, pairs = (likely(*asked, *more).json for more in ((), ("--set", "words.ngram_range=1,2")))
    scores = [
        {each["model"]: each["value"] for each in found["result"]["models"]}
        for found in (plain, pairs)
    ]
    for name in ("naive-bayes", "logistic"):  # "not bad" is good
        assert scores[1][name] < scores[0][name]
    assert "--set words.ngram_range=1,2" in pairs["next"]


def test_tune_searches_how_words_are_counted(likely, reviews):
    space = ("--space", "words.ngram_range=(1,1),(1,2)", "--set", "words.lowercase=no")
    folds = ("--folds", "3", "--repeats", "1", "--trials", "3", "-o", "t")
    outcome = likely("tune", "reviews.csv", "naive-bayes", *OPTIONS, *space, *folds, "--json")
    assert outcome.exit == 0, outcome.err
    trials = outcome.json["result"]["study"]["trials"]
    assert {tuple(each["parameters"]["words__ngram_range"]) for each in trials} == {(1, 1), (1, 2)}
    facts = json.loads((reviews / "t" / "run.json").read_text())["parameters"]
    assert facts["words__ngram_range"] == [1, 2] and facts["words__lowercase"] is False
    assert "not good" in words_of(lk.load(reviews / "t" / "model.likely"))
    wrong = likely("tune", "reviews.csv", "naive-bayes", *OPTIONS, "--space", "words.x=1,2")
    assert wrong.exit == 1 and "There is no setting of words 'x'" in " ".join(wrong.err.split())


def test_a_curve_over_runs_of_words(likely, reviews):
    axis = ("--of", "words.ngram_range", "--values", "(1,1),(1,2)", "--folds", "3", "--json")
    outcome = likely("curve", "reviews.csv", "naive-bayes", *OPTIONS, *axis)
    assert outcome.exit == 0, outcome.err
    assert [point["x"] for point in outcome.json["result"]["points"]] == [[1, 1], [1, 2]]


def test_models_lists_what_differs_on_texts(likely):
    said = likely("models", "naive-bayes").out
    text = " ".join(said.split())
    assert "read as the counts of its words" in text
    assert "The defaults are then smoothing=auto, calibrate=length." in text
    assert all(f"words.{name}" in said for name in WORD_SETTINGS)
    found = likely("models", "naive-bayes", "--json").json["result"]
    assert found["on_texts"] == {"smoothing": "auto", "calibrate": "length"}
    names = [each["name"] for each in found["parameters"]]
    assert names[-len(WORD_SETTINGS) :] == [f"words.{name}" for name in WORD_SETTINGS]
    assert "tf-idf weights" in " ".join(likely("models", "logistic").out.split())
    for name in ("discriminant", "mixture"):
        assert "words.ngram_range" not in likely("models", name).out
    assert "discriminant reads no text" in likely("models", "discriminant").out


def test_every_setting_of_words_is_an_argument_with_a_default():
    assert list(word_defaults()) == list(WORD_SETTINGS)


def test_a_power_is_a_number():
    assert value_of("2**20") == 2**20 and value_of("2**999") == "2**999"
