"""How words of texts are counted, by ``--set words.NAME=VALUE`` and ``--space words.NAME=…``."""

import re
from collections.abc import Mapping
from typing import Any

from likely.errors import InvalidInput
from likely.names import known_name
from likely.tasks.request import separated, value_like, value_of
from likely.workbench.models.model_entry import (
    PREFIX,
    WORD_SETTINGS,
    bag_of,
    split_settings,
    word_defaults,
)

PART = PREFIX.removesuffix("__")  # of settings, as typed
LISTS = ("stop_words", "vocabulary")  # words with commas between them
NAMED = ("english",)  # lists of stop words that have a name


def setting_name(typed: str) -> str:
    """The name of a setting: ``words__min_df`` where ``words.min_df`` was typed.

    >>> setting_name("words.min-df"), setting_name("smoothing")
    ('words__min_df', 'smoothing')
    """
    typed = typed.strip()
    if typed != PART and not typed.startswith((f"{PART}.", PREFIX)):
        return typed
    name = typed.removeprefix(PART).removeprefix(".").removeprefix("__")
    if not name:
        raise InvalidInput(
            f"The setting 'words' was given without a name; one of {', '.join(WORD_SETTINGS)} was "
            "expected. Write words.ngram_range=1,2, for instance."
        )
    return PREFIX + known_name("setting of words", name.replace("-", "_"), WORD_SETTINGS)


def word_setting(name: str, text: str) -> Any:
    """The value of a setting of words, whose name has its prefix; refused if it has no meaning."""
    bare = name.removeprefix(PREFIX)
    value = _words(text) if bare in LISTS else value_like(word_defaults()[bare], text)
    bag_of({bare: value})
    return value


def _words(text: str) -> Any:
    """Words with commas between them, also as Python or JSON writes a list; one is a list, too.

    >>> _words("['cat', 'dog']"), _words("cat,"), _words("english"), _words("none")
    (['cat', 'dog'], ['cat'], 'english', None)
    """
    value = value_of(text)
    if value is None or value in NAMED or isinstance(value, dict):
        return value
    inside = re.fullmatch(r"\s*[\[(](.*)[\])]\s*", text, re.S)
    parts = (inside[1] if inside else text).split(",")
    words = (part.strip().strip("'\"").strip() for part in parts)
    return [word for word in words if word]


def word_choices(name: str, text: str) -> list[Any]:
    """The values of a setting of words, with commas between them, or between brackets."""
    parts = [part.strip() for part in separated(text)]
    if name == f"{PREFIX}ngram_range" and all(isinstance(value_of(part), int) for part in parts):
        parts = [text]  # 1,2 is one range
    return [word_setting(name, part) for part in parts]


def check_together(settings: Mapping[str, Any]) -> None:
    """Refuse settings of words that exclude each other."""
    if words := split_settings(settings)[1]:
        bag_of(words)
