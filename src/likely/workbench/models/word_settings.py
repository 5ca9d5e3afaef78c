"""How words of texts are counted, as settings beside those of a model: ``words__min_df=2``.

The names are those of ``BagOfWords`` without its weights, which follow from the model: counts for
models of counts, tf-idf where a penalty compares columns.
"""

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likely.text.bag_of_words import BagOfWords

PREFIX = "words__"
WORD_SETTINGS: Mapping[str, str] = {  # each with its help
    "lowercase": "Whether letters are lower-cased before words are counted.",
    "strip_accents": "Accents are removed: ascii, unicode or none.",
    "stop_words": "Words that are left out: english, or words with commas between them.",
    "token_pattern": "A word, as a regular expression.",
    "ngram_range": "The shortest and the longest run of words or characters that is counted: 1,2 "
    "counts words and pairs.",
    "analyzer": "What is counted: word, char (runs of characters) or char_wb (inside words).",
    "max_df": "Words in more documents are left out: a number, or a share such as 0.5.",
    "min_df": "Words in fewer documents are left out: a number, or a share such as 0.01.",
    "max_features": "The number of words to keep, the most frequent.",
    "vocabulary": "The words that are counted, with commas between them.",
    "n_features": "Words are hashed to so many columns, such as 2**20, and no vocabulary is kept.",
    "binary": "Whether presence is recorded in place of counts.",
    "unknown": "Words that the fit did not have: ignore, or count them in a column of their own.",
}


def word_defaults() -> dict[str, Any]:
    """Each setting of words, without its prefix, with its default value."""
    from likely.text.bag_of_words import BagOfWords  # needs NumPy, and models are listed without

    found = signature(BagOfWords).parameters
    return {name: found[name].default for name in WORD_SETTINGS}


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a model, and those of words without their prefix.

    >>> split_settings({"smoothing": "auto", "words__min_df": 2})
    ({'smoothing': 'auto'}, {'min_df': 2})
    """
    own = {name: value for name, value in settings.items() if not name.startswith(PREFIX)}
    words = {name: settings[name] for name in settings if name not in own}
    return own, {name.removeprefix(PREFIX): value for name, value in words.items()}


def with_prefix(words: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of words by their names among the settings of a model."""
    return {f"{PREFIX}{name}": value for name, value in words.items()}


def settings_of_words(words: "BagOfWords | None") -> dict[str, Any]:
    """The settings of words, without their prefix, as JSON has them; None has the default ones."""
    found = word_defaults() if words is None else words.get_params(deep=False)
    plain = {name: found[name] for name in WORD_SETTINGS}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}


def bag_of(settings: Mapping[str, Any], words: "BagOfWords | None" = None) -> "BagOfWords":
    """A bag of words with these settings, checked; the others are those of ``words``."""
    from sklearn.base import clone

    from likely.text.analysis import analysis_of, check_options
    from likely.text.bag_of_words import BagOfWords

    bag: BagOfWords = BagOfWords() if words is None else clone(words)
    bag.set_params(**settings)
    analysis_of(bag)
    check_options(bag)
    return bag
