"""What ``look`` says about columns of text."""

import pandas as pd
import pytest

import likely as lk
from likely.workbench.look import look_text

ENGLISH = [f"the price of the bread was too high on day {k} and it is not fresh" for k in range(40)]
GERMAN = [
    f"der Preis für das Brot ist zu hoch am Tag {k} und es ist nicht frisch" for k in range(20)
]


def table(texts):
    return pd.DataFrame({"note": texts, "y": ["a", "b"] * (len(texts) // 2)})


def test_a_text_is_described_by_its_words():
    found = lk.look(table([*ENGLISH, *ENGLISH[:2], "", "?"]), "y")
    (text,) = found.texts
    assert (text.documents, text.empty, text.duplicated, text.missing) == (44, 2, 2, 0)
    assert text.vocabulary == 14 + 30 and text.once == 30  # one digit is no word
    assert text.words == 42 * 15 + 30 and text.median_words == 16
    assert text.languages == (("English", 1.0),)
    assert "Text note: 44 documents" in str(found) and "English" in found._repr_html_()
    assert "LK108" not in found.codes
    assert found.facts()["texts"][0]["vocabulary"] == 44


def test_languages_are_named_with_their_shares():
    (text,) = lk.look(table([*ENGLISH, *GERMAN]), "y").texts
    assert dict(text.languages) == pytest.approx({"English": 2 / 3, "German": 1 / 3})


def test_a_missing_text_is_counted_and_other_scripts_have_no_language():
    texts = [f"цена хлеба была слишком высокой в день {k}" for k in range(30)]
    (text,) = lk.look(table([*texts[:-2], None, None]), "y").texts
    assert text.missing == 2 and text.languages == ()


def test_a_declared_text_without_words_has_none():
    (text,) = lk.look(table(["!", "?"] * 10), "y", text=["note"]).texts
    assert (text.words, text.vocabulary, text.empty) == (0, 0, 20)


def test_a_table_without_text_has_none():
    assert lk.look("iris").texts == ()


def test_documents_are_read_up_to_a_number_of_characters(monkeypatch):
    """Memory grows with the different words; 8 MiB of text hold fewer than two million."""
    monkeypatch.setattr(look_text, "MOST_CHARACTERS", 1000)
    (text,) = lk.look(table([f"{line} {k}{k}" for k, line in enumerate(ENGLISH)]), "y").texts
    assert 10 < text.read < 20 and text.documents == 40
    assert f"(words of {text.read} documents)" in text.sentence()
    (text,) = lk.look(
        pd.DataFrame({"note": ["word " * 900, "b"] * 9, "y": [0, 1] * 9}), "y", text=["note"]
    ).texts
    assert (text.read, text.words) == (1, 9 * 200)
