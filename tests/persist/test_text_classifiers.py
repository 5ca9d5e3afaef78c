"""Files of text classifiers whose words and model do not belong together are refused."""

import numpy as np
import pytest

import likely
from likely import BagOfWords, NaiveBayes, TextClassifier
from likely.errors import InvalidFile

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
