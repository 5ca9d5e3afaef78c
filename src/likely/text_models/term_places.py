"""Where the terms of a document are: its words with their positions, and the words of each term.

Positions are those of characters of the document.  Where lower case or accents change its length,
they are positions in the text after that, which is then the text that is shown.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.text.analysis import SPACES, Analysis

NOT_SPACE = re.compile(r"\S+")


class Term(NamedTuple):
    """A term, and how much of it each word has; the shares add up to 1."""

    name: str
    words: tuple[int, ...]  # positions among the words
    shares: tuple[float, ...]


@final
@dataclass(frozen=True)
class TermPlaces:
    """A document as it is shown, the places of its words, and its terms."""

    shown: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    terms: tuple[Term, ...]

    def word(self, i: int) -> str:
        """A word as it is written."""
        return self.shown[self.starts[i] : self.ends[i]]

    def by_word(self, of_term: Array) -> Array:
        """Values of the terms, divided among their words."""
        out = np.zeros(len(self.starts))
        for term, value in zip(self.terms, of_term.tolist(), strict=True):
            for word, share in zip(term.words, term.shares, strict=True):
                out[word] += share * value
        return out


def term_places(analysis: Analysis, document: str) -> TermPlaces:
    """The words and the terms of a document; the terms are those of ``Analysis.tokens``."""
    cleaned = analysis.cleaned(document)
    same = len(cleaned) == len(document) and analysis.strip_accents is None
    shown = document if same else cleaned
    if analysis.analyzer == "word":
        return _of_words(analysis, shown, cleaned)
    if analysis.analyzer == "char":
        shown, cleaned = (SPACES.sub(" ", text) for text in (shown, cleaned))
        return _of_characters(analysis, shown, cleaned)
    return _inside_words(analysis, shown, cleaned)


def _of_words(analysis: Analysis, shown: str, cleaned: str) -> TermPlaces:
    """Runs of n words; each of them has an equal share."""
    low, high = analysis.ngram_range
    group = min(analysis.pattern.groups, 1)
    found = [match.span(group) for match in analysis.pattern.finditer(cleaned)]
    spans = [(a, b) for a, b in found if cleaned[a:b] not in analysis.stop_words]
    words = [cleaned[a:b] for a, b in spans]
    terms = [
        Term(" ".join(words[i : i + n]), tuple(range(i, i + n)), (1 / n,) * n)
        for n in range(low, high + 1)
        for i in range(len(words) - n + 1)
    ]
    return _places(shown, spans, terms)


def _of_characters(analysis: Analysis, shown: str, cleaned: str) -> TermPlaces:
    """Runs of n characters; each word has a share for each of its characters among them.

    A space belongs to the word before it.
    """
    low, high = analysis.ngram_range
    spans = [match.span() for match in NOT_SPACE.finditer(cleaned)] or [(0, len(cleaned))]
    owner = np.searchsorted([a for a, _ in spans], np.arange(len(cleaned)), side="right") - 1
    owner = np.maximum(owner, 0)
    terms = []
    for n in range(low, high + 1):
        for i in range(len(cleaned) - n + 1):
            words, count = np.unique(owner[i : i + n], return_counts=True)
            shares = tuple((count / n).tolist())
            terms.append(Term(cleaned[i : i + n], tuple(words.tolist()), shares))
    return _places(shown, spans, terms)


def _inside_words(analysis: Analysis, shown: str, cleaned: str) -> TermPlaces:
    """Runs of characters of words between spaces, each of one word."""
    spans = [match.span() for match in NOT_SPACE.finditer(cleaned)]
    terms = [
        Term(name, (i,), (1.0,))
        for i, (a, b) in enumerate(spans)
        for name in analysis.tokens(cleaned[a:b])
    ]
    return _places(shown, spans, terms)


def _places(shown: str, spans: list[tuple[int, int]], terms: list[Term]) -> TermPlaces:
    starts, ends = tuple(a for a, _ in spans), tuple(b for _, b in spans)
    return TermPlaces(shown, starts, ends, tuple(terms))
