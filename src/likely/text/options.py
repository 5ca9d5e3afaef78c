"""The arguments that all readers of documents share, checked."""

import re
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Protocol

from likely.errors import InvalidInput, UnknownName
from likely.formatting import listed
from likely.text.analysis import WORDS, Analysis, Analyzer
from likely.text.stop_words import stop_words

ANALYZERS = ("word", "char", "char_wb")
ACCENTS = (None, "ascii", "unicode")
UNKNOWN = ("ignore", "count")
MOST_COLUMNS = 2**31 - 1


class WordOptions(Protocol):
    """The arguments of ``BagOfWords`` and ``TokenIds`` about terms."""

    lowercase: bool
    strip_accents: Literal["ascii", "unicode"] | None
    stop_words: str | Sequence[str] | None
    token_pattern: str
    ngram_range: tuple[int, int]
    analyzer: Analyzer
    max_df: float
    min_df: float
    max_features: int | None
    vocabulary: Sequence[str] | Mapping[str, int] | None
    unknown: Literal["ignore", "count"]


def analysis_of(options: WordOptions) -> Analysis:
    """How documents become terms, once the arguments are checked."""
    one_of("analyzer", options.analyzer, ANALYZERS)
    one_of("strip_accents", options.strip_accents, ACCENTS)
    one_of("unknown", options.unknown, UNKNOWN)
    low, high = options.ngram_range
    if not 1 <= low <= high:
        raise InvalidInput(
            f"ngram_range={options.ngram_range!r}; two numbers from 1 up were expected, the "
            "smaller first, as (1, 2)."
        )
    _check_pattern(options.token_pattern)
    of_words = options.analyzer == "word"
    return Analysis(
        options.analyzer,
        bool(options.lowercase),
        options.strip_accents,
        options.token_pattern,
        (int(low), int(high)),
        stop_words(options.stop_words) if of_words else frozenset(),
    )


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    if callable(value) or value not in allowed:
        raise UnknownName(name, str(value), [str(each) for each in allowed])


def has_limits(options: WordOptions) -> bool:
    """Whether terms are left out that are rare or frequent."""
    limits = (options.max_df, options.min_df, options.max_features)
    return limits != (1.0, 1, None) or isinstance(options.max_df, Integral)


def check_hashed(options: WordOptions, n_features: Any) -> None:
    """Refuse a number of hashed columns that is none, and what needs terms."""
    if not isinstance(n_features, Integral) or not 1 <= int(n_features) <= MOST_COLUMNS:
        raise InvalidInput(
            f"n_features={n_features!r}; expected a number of columns from 1 to 2³¹ − 1, or None "
            "to keep a vocabulary. 2**20 suits most texts."
        )
    given = [
        f"{name}={value!r:.40}"
        for name, value in (("vocabulary", options.vocabulary), ("unknown", options.unknown))
        if value not in (None, "ignore")
    ]
    given += ["max_df, min_df or max_features"] if has_limits(options) else []
    if given:
        raise InvalidInput(
            f"n_features={n_features} hashes every term to a column and keeps no vocabulary; "
            f"{listed(given)} needs one. Leave out one of the two."
        )


def given_terms(vocabulary: Any) -> list[str]:
    """The terms of a given vocabulary, by column."""
    if not isinstance(vocabulary, Mapping):
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        if len(set(terms)) < len(terms):
            seen: set[str] = set()
            twice = [term for term in terms if term in seen or seen.add(term)]  # type: ignore[func-returns-value]  # remembers it
            raise InvalidInput(f"the vocabulary repeats {listed(twice, 3)}. Give each term once.")
    else:
        terms = sorted(vocabulary, key=lambda term: vocabulary[term])
        if [vocabulary[term] for term in terms] != list(range(len(terms))):
            raise InvalidInput(
                "the columns of the vocabulary must be 0, 1, 2, …, each once. Number the terms "
                "anew."
            )
    if not terms:
        raise InvalidInput("the vocabulary is empty. Give terms, or None to learn them.")
    return terms


def _check_pattern(pattern: Any) -> None:
    """Refuse what is no regular expression, or has several groups, as scikit-learn does."""
    try:
        n_groups = re.compile(pattern).groups
    except (re.error, TypeError) as problem:
        raise InvalidInput(
            f"token_pattern={pattern!r} is no regular expression ({problem}). Give one that a word "
            f"matches, as {WORDS!r}."
        ) from None
    if n_groups > 1:
        raise InvalidInput(
            f"token_pattern={pattern!r} has {n_groups} groups; one at most was expected: the word. "
            "Write (?:…) for the others."
        )
