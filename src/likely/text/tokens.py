"""What the terms of a document are: words, runs of words, runs of characters.

The definition, in plain Python, is ``tokens``: what scikit-learn's ``CountVectorizer`` finds with
the same options.  ``Analysis`` says which part of it the compiled loops can do; the rest (accents,
a pattern of one's own) is done here, text by text.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral
from typing import Any, Literal, NamedTuple, Protocol, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName, warn_user
from likely.output.formatting import listed

Analyzer = Literal["word", "char", "char_wb"]
WORDS = r"(?u)\b\w\w+\b"  # scikit-learn's: two characters or more
LONGER = re.compile(r"^\(\?u\)\\b(?:\\w)+\+\\b$")
SPACES = re.compile(r"\s\s+")
ANALYZERS = ("word", "char", "char_wb")
ACCENTS = (None, "ascii", "unicode")
UNKNOWN = ("ignore", "count")
NORMS = (None, "l1", "l2")
MOST_COLUMNS = 2**22  # hashed; a model of two classes needs up to 0.7 GB to be fitted


@final
@dataclass(frozen=True)
class Analysis:
    """How documents become terms."""

    analyzer: Analyzer = "word"
    lowercase: bool = True
    strip_accents: str | None = None
    token_pattern: str = WORDS
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] = frozenset()

    @cached_property
    def shortest(self) -> int | None:
        """The fewest characters of a word; None if the pattern is not one of runs of ``\\w``."""
        found = LONGER.match(self.token_pattern)
        return self.token_pattern.count(r"\w") if found else None

    @property
    def is_compiled(self) -> bool:
        """Whether words are found by the compiled loop."""
        return self.analyzer == "word" and self.shortest is not None and self.strip_accents is None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.token_pattern)

    def cleaned(self, text: str) -> str:
        """In lower case and without accents, as far as asked for."""
        if self.lowercase:
            text = text.lower()
        if self.strip_accents == "unicode" and not text.isascii():
            decomposed = unicodedata.normalize("NFKD", text)
            text = "".join(each for each in decomposed if not unicodedata.combining(each))
        elif self.strip_accents == "ascii":
            text = unicodedata.normalize("NFKD", text).encode("ASCII", "ignore").decode("ASCII")
        return text

    def words(self, text: str) -> list[str]:
        """The words of a document, without stop words."""
        found = self.pattern.findall(self.cleaned(text))
        return [word for word in found if word not in self.stop_words]

    def pieces(self, text: str) -> list[str]:
        """What runs of characters are taken from: the document, or words between spaces."""
        text = self.cleaned(text)
        if self.analyzer == "char":
            return [SPACES.sub(" ", text)]
        return [f" {word} " for word in text.split()]

    def tokens(self, text: str) -> Iterator[str]:
        """The terms of a document, one after the other."""
        low, high = self.ngram_range
        if self.analyzer == "word":
            words = self.words(text)
            for n in range(low, high + 1):
                yield from (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
            return
        for piece in self.pieces(text):
            for n in range(low, high + 1):
                if n >= len(piece) and self.analyzer == "char_wb":
                    yield piece
                    break
                yield from (piece[i : i + n] for i in range(len(piece) - n + 1))

    def in_lower_case(self, array: Any) -> Any:
        """An Arrow array of documents in which no lower case depends on neighbours.

        The compiled loop puts characters into lower case one by one; documents in which that is
        not enough are put into lower case here.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = pc.match_substring_regex(array, f"[{WHOLE}]")
        texts = [
            text.lower() if chosen else text
            for text, chosen in zip(array.to_pylist(), whole.to_pylist(), strict=True)
        ]
        return pa.array(texts, type=pa.large_string())


# ── Characters by code point: which are inside words, and their lower case ────────────────────────
# Inside words are the characters of ``\w`` of Python's regular expressions: letters, digits and the
# underscore, of every script.  Lower case is that of ``str.lower``, character by character, but for
# two: Σ is ς at the end of a word, and İ becomes two characters.  Documents with these are put into
# lower case as a whole before they are read.

N_POINTS = sys.maxunicode + 1
WHOLE = "\u0130\u03a3"  # İ and Σ: their lower case depends on the document
N_ASCII = 0x80


class Characters(NamedTuple):
    """Tables over all bytes and all code points."""

    fold: Array  # uint8, (256,): a byte of ASCII in lower case; 0 outside words and beyond ASCII
    kind: Array  # uint8: 0 outside words, 1 inside, 2 for those whose lower case depends on others
    lower: Array  # int32


@cache
def characters(*, lowercase: bool) -> Characters:
    """The tables of the running Python's Unicode."""
    points = np.arange(N_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    kind = np.zeros(N_POINTS, np.uint8)
    for run in re.finditer(r"\w+", points):
        kind[run.start() : run.end()] = 1
    lower = np.arange(N_POINTS, dtype=np.int32)
    if lowercase:
        whole = [ord(each) for each in WHOLE]
        small = points.replace(WHOLE[0], " ").replace(WHOLE[1], " ").lower()
        lower = np.frombuffer(small.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
        lower[whole], kind[whole] = whole, 2
    fold = np.zeros(256, np.uint8)
    fold[:N_ASCII] = np.where(kind[:N_ASCII], lower[:N_ASCII], 0)
    return Characters(fold, kind, lower)


# ── Stop words: those that are left out of documents ──────────────────────────────────────────────
# The English list is that of scikit-learn, word for word, which goes back to the Glasgow
# Information Retrieval Group; it is here so that a saved model can be read without scikit-learn.

LINES = (
    "a about above across after afterwards again against all almost alone along already also",
    "although always am among amongst amoungst amount an and another any anyhow anyone anything",
    "anyway anywhere are around as at back be became because become becomes becoming been before",
    "beforehand behind being below beside besides between beyond bill both bottom but by call can",
    "cannot cant co con could couldnt cry de describe detail do done down due during each eg",
    "eight either eleven else elsewhere empty enough etc even ever every everyone everything",
    "everywhere except few fifteen fifty fill find fire first five for former formerly forty",
    "found four from front full further get give go had has hasnt have he hence her here",
    "hereafter hereby herein hereupon hers herself him himself his how however hundred i ie if in",
    "inc indeed interest into is it its itself keep last latter latterly least less ltd made many",
    "may me meanwhile might mill mine more moreover most mostly move much must my myself name",
    "namely neither never nevertheless next nine no nobody none noone nor not nothing now nowhere",
    "of off often on once one only onto or other others otherwise our ours ourselves out over own",
    "part per perhaps please put rather re same see seem seemed seeming seems serious several she",
    "should show side since sincere six sixty so some somehow someone something sometime",
    "sometimes somewhere still such system take ten than that the their them themselves then",
    "thence there thereafter thereby therefore therein thereupon these they thick thin third this",
    "those though three through throughout thru thus to together too top toward towards twelve",
    "twenty two un under until up upon us very via was we well were what whatever when whence",
    "whenever where whereafter whereas whereby wherein whereupon wherever whether which while",
    "whither who whoever whole whom whose why will with within without would yet you your yours",
    "yourself yourselves",
)
ENGLISH = frozenset(word for line in LINES for word in line.split())


def stop_words(given: Any) -> frozenset[str]:
    """The words of an argument: None, "english", or words."""
    if given is None:
        return frozenset()
    if isinstance(given, str):
        if given != "english":
            raise UnknownName("list of stop words", given, ["english"])
        return ENGLISH
    words = list(given) if isinstance(given, Iterable) else [given]
    for word in words:
        if not isinstance(word, str):
            raise InvalidInput(
                f"stop_words has {word!r:.60}, of type {type(word).__name__}; words were expected. "
                "Give a list of words, 'english' or None."
            )
    return frozenset(words)


# ── The arguments that all readers of documents share, checked ────────────────────────────────────


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
            f"n_features={n_features!r}; expected a number of columns from 1 to 2²², or None "
            "to keep a vocabulary. 2**20 suits most texts; models of more columns would fill the "
            "memory."
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
