"""Laws of every public estimator whose rows are texts."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks as checks

import likely
from likely.data.sequences import Sequences
from likely.errors import InvalidFile, InvalidInput
from tests.estimators import made, text_estimators

TEXTS = ["The cat sat on the mat.", "", "A dog — ein Hund — собака", "the cat and the dog"] * 4
LABELS = ["cat", "none", "dog", "both"] * 4
VARIANTS = {  # beside the defaults
    "TokenIds": [
        {"ngram_range": (1, 2), "min_df": 2, "unknown": "count"},
        {"n_features": 64},
    ],
    "BagOfWords": [
        {"ngram_range": (1, 2), "stop_words": ["the"], "min_df": 2},
        {"analyzer": "char_wb", "ngram_range": (2, 3), "dtype": np.float32},
        {"vocabulary": {"dog": 0, "cat": 1}, "unknown": "count", "binary": True},
        {"n_features": 32, "use_idf": True},
        {"n_features": 64, "ngram_range": (1, 2)},
        {"use_idf": True, "norm": "l2", "sublinear_tf": True, "strip_accents": "unicode"},
    ],
    "TextClassifier": [
        {"model": None},
        {"words": likely.BagOfWords(ngram_range=(1, 2), binary=True)},
        {"words": likely.BagOfWords(n_features=64, ngram_range=(1, 2))},
        {"model": likely.NaiveBayes("complement", smoothing=0.1)},
        {"model": likely.NaiveBayes("multinomial", smoothing="auto", prior="uniform")},
    ],
}
ANSWERS = ("transform", "predict", "predict_proba", "predict_log_proba", "get_feature_names_out")
CASES = [
    pytest.param(kind, options, id=f"{kind.__name__}-{number}")
    for kind in text_estimators()
    for number, options in enumerate([{}, *VARIANTS.get(kind.__name__, [])])
]
every_case = pytest.mark.parametrize(("kind", "options"), CASES)
every_kind = pytest.mark.parametrize("kind", text_estimators(), ids=lambda kind: kind.__name__)


def answers(model, texts=TEXTS, names=None):
    able = [name for name in names or ANSWERS if hasattr(model, name)]
    if "n_features" in str(model) and "get_feature_names_out" in able:
        able.remove("get_feature_names_out")
    assert able
    return {
        name: getattr(model, name)() if name.startswith("get") else getattr(model, name)(texts)
        for name in able
    }


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name in ours:
        a, b = (
            each.to_counts() if isinstance(each, Sequences) else each
            for each in (ours[name], theirs[name])
        )
        assert not isinstance(ours[name], Sequences) or ours[name] == theirs[name]
        a, b = (each.toarray() if issparse(each) else each for each in (a, b))
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@every_kind
def test_scikit_learn_checks_pass(kind):
    """Those that need no table: scikit-learn has none of documents."""
    for check in (
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_get_params_invariance,
        checks.check_no_attributes_set_in_init,
        checks.check_parameters_default_constructible,
        checks.check_set_params,
        checks.check_valid_tag_types,
    ):
        check(kind.__name__, made(kind))


@every_case
def test_a_loaded_model_answers_and_learns_as_the_saved_one(kind, options, tmp_path):
    model = made(kind, **options).fit(TEXTS, LABELS)
    likely.save(model, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    assert str(loaded.get_params()) == str(model.get_params())
    assert_same(answers(loaded), answers(model))
    likely.save(loaded, tmp_path / "again.likely")
    assert (tmp_path / "again.likely").read_bytes() == (tmp_path / "m.likely").read_bytes()
    if hasattr(model, "partial_fit") and "min_df" not in options:
        more = ["one more word", "the cat"], ["cat", "dog"]
        assert_same(answers(loaded.partial_fit(*more)), answers(model.partial_fit(*more)))


@every_kind
def test_an_unfitted_model_is_kept(kind, tmp_path):
    likely.save(made(kind), tmp_path / "m.likely")
    assert_same(
        answers(likely.load(tmp_path / "m.likely").fit(TEXTS, LABELS)),
        answers(made(kind).fit(TEXTS, LABELS)),
    )


@every_case
def test_clones_pickles_and_pipelines_answer_alike(kind, options):
    model = made(kind, **options).fit(TEXTS, LABELS)
    expected = answers(model)
    copy = clone(model)
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert_same(answers(copy.fit(TEXTS, LABELS)), expected)
    assert_same(answers(pickle.loads(pickle.dumps(model))), expected)
    pipeline = make_pipeline(made(kind, **options)).fit(TEXTS, LABELS)
    assert_same(answers(pipeline, names=list(expected)), expected)


@every_kind
@pytest.mark.parametrize("form", [pd.Series, pl.Series, pa.array, np.array, tuple])
def test_texts_of_all_libraries_are_equal(kind, form):
    expected = answers(made(kind).fit(TEXTS, LABELS))
    model = made(kind).fit(form(TEXTS), LABELS)
    assert_same(answers(model, form(TEXTS)), expected)


@every_kind
def test_rows_are_answered_one_by_one(kind):
    model = made(kind).fit(TEXTS, LABELS)
    for i, text in enumerate(TEXTS[:4]):
        for name, whole in answers(model).items():
            if not name.startswith("get"):
                one = answers(model, [text])[name]
                assert_same({name: one}, {name: whole[i : i + 1]})


@every_kind
@pytest.mark.parametrize(
    "given", ["one text", [b"bytes"], [3], ["fine", None], ["half \ud800 pair"], np.ones((2, 2))]
)
def test_what_is_no_text_is_refused(kind, given):
    labels = ["a", "b"][: len(given)] if not isinstance(given, str) else ["a"]
    with pytest.raises(InvalidInput):
        made(kind).fit(given, labels)
    with pytest.raises(InvalidInput):
        answers(made(kind).fit(TEXTS, LABELS), given)


@every_kind
def test_other_attributes_are_refused_in_a_file(kind, tmp_path):
    path = tmp_path / "m.likely"
    likely.save(made(kind).fit(TEXTS, LABELS), path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFile):
        likely.load(path)
