"""A vocabulary in a file is refused where it is none: loops trust its bytes."""

import numpy as np
import pytest

import likely
from likely.errors import InvalidFile
from likely.text.documents import Vocabulary

LETTERS = np.frombuffer(b"catdog", np.uint8)
ENDS = np.array([0, 3, 6])


def changed(**attributes):
    words = likely.BagOfWords().fit(["cat dog", "dog"])
    vars(words).update(attributes)
    return words


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"terms_": Vocabulary(LETTERS, np.array([0, 4, 3, 6]))}, "one after the other"),
        ({"terms_": Vocabulary(LETTERS, np.array([0, 3, 7]))}, "end at 6"),
        ({"terms_": Vocabulary(LETTERS, np.array([1, 3, 6]))}, "start at 0"),
        ({"terms_": Vocabulary(LETTERS, np.zeros(0, np.int64))}, "start at 0"),
        ({"terms_": Vocabulary(LETTERS, ENDS.astype(np.int32))}, "bytes"),
        ({"terms_": Vocabulary(LETTERS.astype(np.int64), ENDS)}, "bytes"),
        ({"terms_": Vocabulary(np.frombuffer(b"catcat", np.uint8), ENDS)}, "repeats cat"),
        ({"terms_": Vocabulary(np.frombuffer(b"ca\xff\xfe\xfd\xfc", np.uint8), ENDS)}, "UTF-8"),
        ({"terms_": ("cat", "dog")}, "terms_"),
        ({"document_frequency_": np.array([1, 2, 3, 4])}, "document_frequency_"),
        ({"document_frequency_": np.array([-1, 2])}, "document_frequency_"),
        ({"document_frequency_": np.array([1, 3])}, "from 0 to n_documents_, 2"),
        ({"document_frequency_": np.array([1.0, 2.0])}, "document_frequency_"),
        ({"n_features": 4}, "document_frequency_"),
        ({"n_features": 8, "use_idf": True}, "document_frequency_"),
        ({"n_documents_": "many"}, "n_documents_"),
    ],
)
def test_what_no_fit_gives_is_refused(attributes, said, tmp_path):
    likely.save(changed(**attributes), tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match=said):
        likely.load(tmp_path / "m.likely")


def test_a_vocabulary_comes_back_from_a_file(tmp_path):
    terms = ["zebra", "été", "日本", "👩‍👩‍👧", "a b"]
    words = likely.BagOfWords(vocabulary=terms).fit(["a zebra"])
    likely.save(words, tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").terms_.names == tuple(terms)


def test_a_learned_vocabulary_comes_back_from_a_file(tmp_path):
    texts = ["a zebra, été", "日本 été zebra", "zebra once"]
    words = likely.BagOfWords(min_df=2, use_idf=True).fit(texts)
    likely.save(words, tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.get_feature_names_out().tolist() == ["zebra", "été"]
    new = [*texts, "zebra zebra once", ""]
    assert (again.transform(new) != words.transform(new)).nnz == 0


def test_types_of_numbers_are_kept_and_no_others(tmp_path):
    path = tmp_path / "m.likely"
    likely.save(likely.BagOfWords(dtype=np.float32), path)
    assert likely.load(path).dtype is np.float32
    with pytest.raises(likely.errors.InvalidInput, match="the class complex128"):
        likely.save(likely.BagOfWords(dtype=np.complex128), path)
