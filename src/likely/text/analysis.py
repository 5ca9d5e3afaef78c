"""What the terms of a document are: words, runs of words, runs of characters.

The definition, in plain Python, is ``tokens``: what scikit-learn's ``CountVectorizer`` finds with
the same options.  ``Analysis`` says which part of it the compiled loops can do; the rest (accents,
a pattern of one's own) is done here, text by text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

from likely.caching import cached_property
from likely.text.characters import WHOLE

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
