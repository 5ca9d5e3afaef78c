"""The arguments that all readers of documents share, checked."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Protocol

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName, warn_user
from likely.output.formatting import listed
from likely.text.analysis import WORDS, Analysis, Analyzer, stop_words

ANALYZERS = ("word", "char", "char_wb")
ACCENTS = (None, "ascii", "unicode")
UNKNOWN = ("ignore", "count")
NORMS = (None, "l1", "l2")
MOST_COLUMNS = 2**26  # hashed; a number for each fills 0.5 GB


class WordOptions(Protocol):
    """The arguments of ``BagOfWords`` and ``TokenIds`` about terms."""

    lowercase: bool
    strip_accents: Literal["ascii", "unicode"] | None
    stop_words: str | Sequence[str] | None
    token_pattern: str | None
    ngram_range: Sequence[int]
    analyzer: Analyzer
    max_df: float
    min_df: float
    max_features: int | None
    vocabulary: Sequence[str] | Mapping[str, int] | None
    unknown: Literal["ignore", "count"]


class CountOptions(WordOptions, Protocol):
    """The arguments of ``BagOfWords``, with those about columns and counts."""

    n_features: int | None
    binary: bool
    use_idf: bool
    smooth_idf: bool
    sublinear_tf: bool
    norm: Literal["l1", "l2"] | None
    dtype: Any


def analysis_of(options: WordOptions) -> Analysis:
    """How documents become terms, once the arguments are checked."""
    one_of("analyzer", options.analyzer, ANALYZERS)
    one_of("strip_accents", options.strip_accents, ACCENTS)
    one_of("unknown", options.unknown, UNKNOWN)
    of_words = options.analyzer == "word"
    if of_words or options.token_pattern is not None:
        _check_pattern(options.token_pattern)
    return Analysis(
        options.analyzer,
        bool(options.lowercase),
        options.strip_accents,
        WORDS if options.token_pattern is None else options.token_pattern,
        _lengths_of_runs(options.ngram_range),
        stop_words(options.stop_words) if of_words else frozenset(),
    )


def check_options(options: CountOptions) -> None:
    """Refuse arguments whose values have no meaning; ``analysis_of`` checks those about terms."""
    from likely.inputs.estimators import refuse_unless_bool, refuse_unless_whole

    for name in ("lowercase", "binary", "use_idf", "smooth_idf", "sublinear_tf"):
        refuse_unless_bool(name, getattr(options, name))
    one_of("norm", options.norm, NORMS)
    _check_limit("min_df", options.min_df)
    _check_limit("max_df", options.max_df)
    if options.max_features is not None:
        advice = "Give the number of terms to keep, or None for all."
        refuse_unless_whole("max_features", options.max_features, lowest=1, advice=advice)
    if options.n_features is not None:
        check_hashed(options, options.n_features)
    _check_dtype(options.dtype, binary=bool(options.binary))


def warn_of_options(options: WordOptions, analysis: Analysis) -> None:
    """Warn of arguments that are allowed and have no effect, or another than was meant.

    These are a vocabulary that lower case never matches, stop words that no word of a document can
    be, and options of words where runs of characters are counted.
    """
    if options.vocabulary is not None and options.lowercase:
        upper = [term for term in given_terms(options.vocabulary) if term != term.lower()]
        if upper:
            warn_user(
                f"the vocabulary has terms with upper case ({listed(upper, 3)}), and documents are "
                "put into lower case: such terms are never found. Use lowercase=False, or give the "
                "terms in lower case.",
                UserWarning,
            )
    if options.analyzer != "word":
        unused = ["stop_words"] if options.stop_words is not None else []
        unused += ["token_pattern"] if options.token_pattern not in (None, WORDS) else []
        if unused:
            warn_user(
                f"{' and '.join(unused)} was given with analyzer={options.analyzer!r}, which "
                "counts runs of characters and does not use it. Leave it out, or use "
                "analyzer='word'.",
                UserWarning,
            )
        return
    whole = replace(analysis, stop_words=frozenset())
    found = {word for each in analysis.stop_words for word in whole.words(each)}
    beside = sorted(found - analysis.stop_words)
    if beside:
        warn_user(
            f"the stop words do not fit how documents are read: read as documents they contain "
            f"{listed(beside, 3)}, which are not among them and are kept. Add these, or give the "
            "stop words as they are after lower case, accents and token_pattern.",
            UserWarning,
        )


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    if callable(value) or value not in allowed:
        raise UnknownName(name, str(value), [str(each) for each in allowed])


def has_limits(options: WordOptions) -> bool:
    """Whether terms are left out that are rare or frequent."""
    limits = (options.max_df, options.min_df, options.max_features)
    return limits != (1.0, 1, None) or isinstance(options.max_df, Integral)


def refuse_limits(options: WordOptions) -> None:
    """Refuse limits on frequencies where not all documents are known."""
    if has_limits(options):
        raise InvalidInput(
            "max_df, min_df and max_features need all documents at once. Call fit, or leave "
            "them out and choose columns afterwards."
        )


def check_hashed(options: WordOptions, n_features: Any) -> None:
    """Refuse a number of hashed columns that is none, and what needs terms."""
    if not _is_whole(n_features) or not 1 <= int(n_features) <= MOST_COLUMNS:
        raise InvalidInput(
            f"n_features={n_features!r}; expected a number of columns from 1 to 2²⁶, or None "
            "to keep a vocabulary. 2**20 suits most texts."
        )
    given = [] if options.vocabulary is None else [f"vocabulary={options.vocabulary!r:.40}"]
    given += [] if options.unknown == "ignore" else [f"unknown={options.unknown!r}"]
    given += ["max_df, min_df or max_features"] if has_limits(options) else []
    if given:
        raise InvalidInput(
            f"n_features={n_features} hashes every term to a column and keeps no vocabulary; "
            f"{listed(given)} needs one. Leave out one of the two."
        )


def given_terms(vocabulary: Any) -> list[str]:
    """The terms of a given vocabulary, by column."""
    if isinstance(vocabulary, str | bytes) or not isinstance(vocabulary, Iterable):
        raise InvalidInput(
            f"vocabulary={vocabulary!r:.60} was given; a list of terms was expected, or a mapping "
            "of terms to columns. Put the terms into a list, as ['cat', 'dog']."
        )
    for term in vocabulary:
        if not isinstance(term, str):
            raise InvalidInput(
                f"the vocabulary has {term!r:.60}, of type {type(term).__name__}; terms must be "
                "text. Convert it with str."
            )
    if isinstance(vocabulary, Mapping):
        terms = _by_column(vocabulary)
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        twice = [term for term, n in Counter(terms).items() if n > 1]
        if twice:
            raise InvalidInput(f"the vocabulary repeats {listed(twice, 3)}. Give each term once.")
    if not terms:
        raise InvalidInput("the vocabulary is empty. Give terms, or None to learn them.")
    return terms


def check_counts(counts: Array, dtype: Any) -> None:
    """Refuse a count that a type of numbers cannot hold exactly."""
    kind = np.dtype(dtype)
    if not counts.size or kind in (np.int64, np.float64, np.bool_):
        return
    most = np.iinfo(kind).max if kind.kind in "iu" else 2 ** (np.finfo(kind).nmant + 1)
    if counts.max() > most:
        raise InvalidInput(
            f"a term occurs {counts.max():,} times in a document, and dtype={kind.name} holds "
            f"counts up to {most:,}. Use dtype=np.int64."
        )


def _by_column(vocabulary: Mapping[str, Any]) -> list[str]:
    """The terms of a mapping to columns, in the order of the columns."""
    if set(vocabulary.values()) != set(range(len(vocabulary))):
        raise InvalidInput(
            "the columns of the vocabulary must be 0, 1, 2, …, each once. Give each term its "
            "place in this order, or pass a list of terms."
        )
    return sorted(vocabulary, key=lambda term: vocabulary[term])


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _lengths_of_runs(ngram_range: Any) -> tuple[int, int]:
    """The shortest and the longest run of words or characters that is a term."""
    given = tuple(ngram_range) if isinstance(ngram_range, Iterable) else ()
    if len(given) != 2 or not all(map(_is_whole, given)) or not 1 <= given[0] <= given[1]:
        raise InvalidInput(
            f"ngram_range={ngram_range!r} was given; two whole numbers from 1 up were expected, "
            "the smaller first. Use (1, 1) for single words, (1, 2) for words and pairs."
        )
    return int(given[0]), int(given[1])


def _check_limit(name: str, value: Any) -> None:
    """Refuse a limit on documents that is neither a number of them nor a share."""
    share = isinstance(value, float | np.floating) and 0 <= value <= 1
    if not share and not (_is_whole(value) and value >= 1):
        raise InvalidInput(
            f"{name}={value!r} was given; a whole number of documents from 1 up was expected, or "
            f"a share of them as a float from 0.0 to 1.0. Use {name}=2 for two documents, "
            f"{name}=0.5 for half of them."
        )


def _check_dtype(dtype: Any, *, binary: bool) -> None:
    """Refuse a type that is none of numbers, or in which counts of long documents overflow."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    enough = kind.kind in "iuf" and kind.itemsize in (4, 8)
    if not enough and not (binary and kind.kind in "biu"):
        raise InvalidInput(
            f"dtype={dtype!r} was given; a type of numbers that holds large counts was expected: "
            "an integer or float of 32 or 64 bits, or any integer with binary=True. Use np.int64."
        )


def _check_pattern(pattern: Any) -> None:
    """Refuse what is no regular expression, or has several groups, as scikit-learn does."""
    try:
        if not isinstance(pattern, str):
            raise TypeError(f"it is of type {type(pattern).__name__}, not str")
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
