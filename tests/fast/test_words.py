"""Compiled reading of words: windows of ASCII, and what crosses their edges."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely import BagOfWords
from likely.fast.letters import MULTIPLIER, SEED, WINDOW
from likely.text.term_counts import column_of, hash_of
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


def test_long_words_of_other_scripts_between_short_ones_fill_the_room_for_letters():
    text = " ".join(f"abc {'é' * (100 + n)} Def" for n in range(300))
    assert words_read([text]) == [WORD.findall(text.lower())]


def terms_with_one_hash():
    """Two terms of 16 characters whose hashes are equal: what the first eight change, the last do.

    h = mixed(mixed(SEED ^ a) ^ b) is the same for (a, b) and (c, d) if d = b ^ mixed(SEED ^ a) ^
    mixed(SEED ^ c); of many c, some give a d of plain ASCII.
    """
    rng = np.random.default_rng(0)
    a, b = np.split(np.frombuffer(b"firsthalsecondha", "<u8"), 2)
    c = rng.integers(ord("a"), ord("z"), (4000, 8), dtype=np.uint8).view("<u8").ravel()
    d = b ^ mixed_once(a) ^ mixed_once(c)
    plain = ((d.view(np.uint8) > 0x20) & (d.view(np.uint8) < 0x7F)).reshape(-1, 8).all(axis=1)
    found = plain.argmax()
    assert plain[found]
    other = np.array([c[found], d[found]], "<u8").tobytes().decode()
    return "firsthalsecondha", other


def mixed_once(chunk):
    h = (SEED ^ chunk) * MULTIPLIER
    return h ^ (h >> np.uint64(32))


def test_terms_with_the_same_hash_have_columns_of_their_own():
    first, second = terms_with_one_hash()
    assert first != second
    assert hash_of(first) == hash_of(second)
    words = BagOfWords(analyzer="char", ngram_range=(16, 16), lowercase=False)
    assert_array_equal(words.fit_transform([first, second, first]).toarray().sum(axis=0), [2, 1])
    assert list(words.vocabulary_) == sorted([first, second])
