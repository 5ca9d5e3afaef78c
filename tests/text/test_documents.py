"""Documents in any form, streamed in bounded memory, and any Unicode."""

import json
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import InvalidFile, InvalidInput
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import document_parts
from likely.text.tokens import characters
from tests.text.test_bag_of_words import OPTIONS, TEXTS, assert_same

AWKWARD = (  # emoji with joiners and skin, combining marks, right to left, digits, NUL, case
    "👩‍👩‍👧🏽🎉️⃣e\u0301\u0308ñǅǆ\u0345ΣσςİıſßẞﬁȺⱥ\u212aÅ"
    "שלום\u05b0مرحبا\u200f\u202e١٢٣日本テスト한글\u1100\u1161ไทย्हिन्दी𝔸𐐀𐐨_-'.\x00\x85\u2028 \t\n aZ9"
)


@pytest.mark.parametrize("options", [OPTIONS[i] for i in (0, 1, 2, 7, 9, 17, 18, 19)], ids=str)
@given(texts=st.lists(st.text(AWKWARD, max_size=30), min_size=1, max_size=4))
def test_counts_of_awkward_characters_are_those_of_scikit_learn(texts, options):
    assert_same([*texts, "some words"], options)


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_is_classified_as_python_does(lowercase):
    tables = characters(lowercase=lowercase)
    points = np.random.default_rng(0).integers(0, 0x110000, 5000).tolist()
    for i in [*range(0x3000), *points]:
        assert bool(tables.kind[i]) == bool(re.match(r"\w", chr(i)))
        if tables.kind[i] != 2:
            assert chr(tables.lower[i]) == (chr(i).lower() if lowercase else chr(i))


def test_a_table_of_chunks_is_read_by_column(tmp_path):
    path = tmp_path / "texts.jsonl"
    lines = [json.dumps({"text": text, "n": i}) for i, text in enumerate(TEXTS * 3)]
    path.write_text("\n".join(lines), encoding="utf-8")
    expected = BagOfWords().fit_transform(TEXTS * 3)
    found = BagOfWords().fit_transform(likely.read(path).select(["text"]))
    assert (found != expected).nnz == 0
    with pytest.raises(InvalidInput, match=r"the columns text, n.*Choose one column"):
        BagOfWords().fit(likely.read(path))


def test_words_that_look_like_missing_cells_are_words_in_a_file(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\nNA\nnone\n12\nthe cat\n", encoding="utf-8")
    words = BagOfWords().fit(likely.read(path).select(["text"]))
    assert words.get_feature_names_out().tolist() == ["12", "cat", "na", "none", "the"]


@pytest.mark.parametrize("missing", ["null", "NaN", '""'])
def test_a_missing_text_of_json_lines_is_an_empty_document(tmp_path, missing):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"text": {cell}}}\n' for cell in ['"a nan"', missing, '"the cat"']))
    words = BagOfWords()
    found = words.fit_transform(likely.read(path).select(["text"])).toarray()
    assert words.get_feature_names_out().tolist() == ["cat", "nan", "the"]
    assert found.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1]]


def test_text_files_are_read_by_their_paths(tmp_path):
    texts = [text.replace("\x00", " ") for text in TEXTS]
    for i, text in enumerate(texts):
        (tmp_path / f"{i:02}.txt").write_bytes(text.encode())
    found = BagOfWords().fit_transform(sorted(tmp_path.glob("*.txt")))
    assert (found != BagOfWords().fit_transform(texts)).nnz == 0
    (tmp_path / "03.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidFile, match=r"03.txt.*byte 3 is no valid UTF-8"):
        BagOfWords().fit(sorted(tmp_path.glob("*.txt")))
    with pytest.raises(InvalidFile, match="cannot be read"):
        BagOfWords().fit([Path("nowhere.txt")])
    with pytest.raises(InvalidInput, match=r"one path was given.*glob"):
        BagOfWords().fit(tmp_path)


def test_messages_count_documents_from_the_first(monkeypatch):
    monkeypatch.setattr("likely.text.documents.MOST_BYTES", 40)
    with pytest.raises(InvalidInput, match=r"^document 7 is 3, of type int"):
        BagOfWords().fit(iter(["ten letter"] * 7 + [3]))


@pytest.mark.parametrize(
    "form", [list, iter, pd.Series, np.array, lambda texts: (text for text in texts)]
)
def test_parts_have_all_documents_in_order(form, monkeypatch):
    monkeypatch.setattr("likely.text.documents.MOST_BYTES", 64)
    texts = [f"document number {i}" for i in range(50)]
    found = list(document_parts(form(texts)))
    assert [text for part in found for text in part.to_pylist()] == texts


def test_an_iterator_is_read_in_bounded_memory():
    """40 MB of text pass through, of which never more than some parts are held."""
    BagOfWords(n_features=16).fit(["compiled"])
    tracemalloc.start()
    document = "one of some words, " * 5000
    BagOfWords(n_features=1024, executor="serial").fit(document for _ in range(400))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6


@pytest.mark.slow
def test_one_document_of_50_mb_is_read():
    rng = np.random.default_rng(0)
    text = " ".join(f"word{i}" for i in rng.integers(0, 50_000, 5_500_000))
    assert len(text) > 50e6
    assert_same([text], {})
