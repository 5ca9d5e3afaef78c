"""Compiled reading of words: windows of ASCII, and what crosses their edges."""

import re

import numpy as np
import pytest

from likely import BagOfWords
from likely.fast.letters import WINDOW
from likely.text.hashing import column_of, hash_of
from likely.text.token_ids import TokenIds

WORD = re.compile(r"(?u)\b\w\w+\b")


def words_read(texts, **options):
    tokens = TokenIds(**options).fit(texts)
    return [list(each) for each in tokens.inverse_transform(tokens.transform(texts))]


@pytest.mark.parametrize("piece", ["Ab_9", "x", "naïve", "é", "ΣΑΣ", "…", "w" * 63, "Z" * 64])
def test_words_are_read_at_every_place_of_a_window(piece):
    texts = [
        " " * before + piece + after
        for before in range(WINDOW + 9)
        for after in ("", " ", "é", "a", " " * WINDOW, "b" * WINDOW)
    ]
    assert words_read(texts) == [WORD.findall(text.lower()) for text in texts]


@pytest.mark.parametrize("seed", range(4))
def test_random_mixtures_of_scripts_are_read_as_by_the_pattern(seed):
    rng = np.random.default_rng(seed)
    letters = list("aZ_9  .\n\0") + ["é", "Я", "漢", "😀", "\u0301", "\u00a0", "\u212a"][: 7 * seed]
    texts = ["".join(rng.choice(letters, n)) for n in rng.integers(0, 400, 300)]
    assert words_read(texts) == [WORD.findall(text.lower()) for text in texts]
    kept = [WORD.findall(text) for text in texts]
    assert words_read(texts, lowercase=False) == kept


@pytest.mark.parametrize("n", [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200, 40_000])
def test_the_hash_of_a_word_does_not_depend_on_how_it_was_read(n):
    word = "q" * (n - 1) + "x"
    words = BagOfWords(n_features=2**20, token_pattern=r"(?u)\b\w+\b")
    texts = [word, word + " " * 2 * WINDOW, " " * 61 + word + " " * WINDOW, "é " + word.upper()]
    column = column_of(hash_of(word), 2**20)
    for row in words.transform(texts):
        assert column in row.indices


def test_stop_words_are_left_out_of_and_after_windows():
    text = "The cat " * 40 + "thé the " + "the" * 30
    found = words_read([text], stop_words=["the"])
    assert found == [["cat"] * 40 + ["thé", "the" * 30]]
