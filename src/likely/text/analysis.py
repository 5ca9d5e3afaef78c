"""What the terms of a document are: words, runs of words, runs of characters.

The definition, in plain Python, is ``tokens``: what scikit-learn's ``CountVectorizer`` finds with
the same options.  ``Analysis`` says which part of it the compiled loops can do; the rest (accents,
a pattern of one's own) is done here, text by text.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName

Analyzer = Literal["word", "char", "char_wb"]
WORDS = r"(?u)\b\w\w+\b"  # scikit-learn's: two characters or more
LONGER = re.compile(r"^\(\?u\)\\b(?:\\w)+\+\\b$")
SPACES = re.compile(r"\s\s+")


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
