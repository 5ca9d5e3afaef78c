"""Why a document is classified as it is: what each of its words adds to the log-odds.

    log p(k | d) / p(j | d) = b + Σ_words c_w        k the predicted class, j the one after it

The words are shown where they are in the document, coloured by c, in a terminal or as HTML, and
below them the largest sums by term.  Everything that comes from the document is escaped.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.explanations.explanation import Explanation, finite_or_none, signed
from likely.output.control_characters import printable, without_controls
from likely.output.formatting import (
    WIDEST,
    count,
    html_block,
    html_paragraph,
    html_table,
    paragraph,
    text_table,
)
from likely.text.tokens import SPACES, Analysis

MOST_WORDS = 400  # of the document, in a terminal
MOST_WORDS_HTML = 5000
MOST_TERMS = 10  # of the table
STRONG, WEAK = 0.5, 0.1  # of the largest contribution: bold, and plain
GREEN, RED, BOLD, RESET = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"
BLUE, ORANGE = "47,111,208", "217,119,6"  # light and dark pages; apart for all eyes


# ── Where the terms of a document are: its words with positions, and the words of each term ───────
# Positions are those of characters of the document.  Where lower case or accents change its length,
# they are positions in the text after that, which is then the text that is shown.

NOT_SPACE = re.compile(r"\S+")


class DocumentTerm(NamedTuple):
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
    terms: tuple[DocumentTerm, ...]

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
        DocumentTerm(" ".join(words[i : i + n]), tuple(range(i, i + n)), (1 / n,) * n)
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
            terms.append(DocumentTerm(cleaned[i : i + n], tuple(words.tolist()), shares))
    return _places(shown, spans, terms)


def _inside_words(analysis: Analysis, shown: str, cleaned: str) -> TermPlaces:
    """Runs of characters of words between spaces, each of one word."""
    spans = [match.span() for match in NOT_SPACE.finditer(cleaned)]
    terms = [
        DocumentTerm(name, (i,), (1.0,))
        for i, (a, b) in enumerate(spans)
        for name in analysis.tokens(cleaned[a:b])
    ]
    return _places(shown, spans, terms)


def _places(shown: str, spans: list[tuple[int, int]], terms: list[DocumentTerm]) -> TermPlaces:
    starts, ends = tuple(a for a, _ in spans), tuple(b for _, b in spans)
    return TermPlaces(shown, starts, ends, tuple(terms))


# ── What each word adds ───────────────────────────────────────────────────────────────────────────


@final
@dataclass(frozen=True, eq=False)
class TextExplanation:
    """What each word of a document adds to the log-odds of a class against another.

    Attributes
    ----------
    explanation : Explanation
        The same contributions by term (word, run of words or of characters), with its base value.
    places : TermPlaces
        The words of the document with their positions, and its terms.
    contributions : array of shape (n_words,)
        What each word adds to the log-odds, in the order of the document.
    probability : float
        Of the explained class.
    """

    explanation: Explanation
    places: TermPlaces
    contributions: Array
    probability: float

    @property
    def label(self) -> Any:
        """The explained class: the most probable, unless another was asked for."""
        return self.explanation.groups[1]

    @property
    def against(self) -> Any:
        """The class it is compared with: the most probable of the others, unless one was named."""
        return self.explanation.groups[0]

    @property
    def base(self) -> float:
        """The log-odds before any word is read."""
        return float(np.ravel(self.explanation.base)[1])

    @property
    def total(self) -> float:
        """The log-odds of the class: base and contributions."""
        return float(self.explanation.total[0, 1])

    @property
    def words(self) -> list[tuple[str, int, int, float]]:
        """Each word, where it starts and ends in ``places.shown``, and its contribution."""
        places = self.places
        values = self.contributions.tolist()
        return [
            (places.word(i), places.starts[i], places.ends[i], value)
            for i, value in enumerate(values)
        ]

    def with_library(self, library: str | None) -> "TextExplanation":
        """The same, with frames of that library."""
        return replace(self, explanation=replace(self.explanation, library=library))

    def to_frame(self, library: str | None = None) -> Any:
        """The base value and each term with its contribution, as ``Explanation.to_frame``."""
        return self.explanation.to_frame(library)

    def to_json(self) -> dict[str, Any]:
        """Everything that is shown, in the types that JSON has."""
        named = ("word", "start", "end", "contribution")
        (row,) = self.explanation.to_json()["rows"]
        (group,) = row["groups"]
        return {
            "class": group["group"],
            "against": self.explanation.to_json()["against"],
            "probability": self.probability,
            "base": group["base"],
            "total": group["total"],
            "text": self.places.shown,
            "words": [
                dict(zip(named, (*word[:3], finite_or_none(word[3])), strict=True))
                for word in self.words
            ],
            "terms": group["contributions"],
            "notes": list(self.explanation.notes),
        }

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def text(
        self,
        *,
        color: bool | None = None,
        top: int = MOST_TERMS,
        width: int = WIDEST,
        most: int = MOST_WORDS,
    ) -> str:
        """The document with coloured words, and the largest contributions as a table.

        ``color=None`` uses colours on a terminal, unless NO_COLOR is set.
        """
        if color is None:
            color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        draw = _in_terminal if color else lambda word, share: word
        body = self._drawn(draw, without_controls, most)
        table = text_table((), self._rows(top), indent=0, width=width)
        notes = [line for note in self.explanation.notes for line in paragraph(f"Note: {note}")]
        parts = [printable(self.title()), "\n".join(_wrapped(body, width)), "\n".join(table)]
        return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])

    def to_html(self) -> str:
        """A page with the document, its words on a ground of colour, and the table."""
        return page_of([self])

    def _repr_html_(self) -> str:
        body = self._drawn(_in_html, lambda text: escape(printable(text)), MOST_WORDS_HTML)
        key = " ".join(
            _in_html(escape(f"for {without_controls(str(label))}"), size)
            for label, size in ((self.label, 0.6), (self.against, -0.6))
        )
        style = "margin:.6em .7em;max-width:50em;line-height:1.7;white-space:pre-wrap"
        return html_block(
            html_paragraph(self.title(), bold=True),
            f"<p style='margin:.3em .7em'>{key}</p>",
            f"<p style='{style};overflow-wrap:anywhere'>{body}</p>",
            html_table((), self._rows(MOST_TERMS)),
            *(html_paragraph(f"Note: {note}") for note in self.explanation.notes),
        )

    def title(self) -> str:
        """``spam (probability 0.883): log-odds +2.02 against ham``."""
        return (
            f"{self.label} (probability {self.probability:.3f}): log-odds {signed(self.total)} "
            f"against {self.against}"
        )

    def _rows(self, top: int) -> list[list[str]]:
        """The table of the explanation; what it leaves out is named terms."""
        rows = self.explanation.parts(0, top)
        words = {"other columns": "other terms", "other column": "other term"}
        named = [(_renamed(name, words), values) for name, values in rows]
        return [[name, signed(values[0])] for name, values in named]

    def _drawn(
        self, draw: Callable[[str, float], str], escaped: Callable[[str], str], most: int
    ) -> str:
        """The document with its words drawn by size of contribution, between −1 and 1."""
        size = np.abs(self.contributions)
        finite = size[np.isfinite(size)]
        largest = float(finite.max(initial=0.0)) or 1.0
        share = np.clip(np.nan_to_num(self.contributions / largest), -1, 1).tolist()
        places, pieces, place = self.places, [], 0
        for i, value in enumerate(share[:most]):
            pieces.append(escaped(places.shown[place : places.starts[i]]))
            pieces.append(draw(escaped(places.word(i)), value))
            place = places.ends[i]
        rest = len(share) - most
        pieces.append(
            escaped(f" … ({count(rest, 'more word')})" if rest > 0 else places.shown[place:])
        )
        return "".join(pieces)


def page_of(explanations: Sequence[TextExplanation]) -> str:
    """A page with the explanations of one or more documents, one below the other."""
    title = without_controls(explanations[0].title())
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>"
        f"{escape(title)}</title></head>"
        "<body style='font-family:system-ui,sans-serif;max-width:55em;margin:2em auto'>"
        f"{'<hr>'.join(each._repr_html_() for each in explanations)}</body></html>"
    )


def _in_terminal(word: str, share: float) -> str:
    if abs(share) < WEAK:
        return word
    strong = BOLD if abs(share) >= STRONG else ""
    return f"{strong}{GREEN if share > 0 else RED}{word}{RESET}"


def _in_html(word: str, share: float) -> str:
    if round(abs(share), 2) == 0:
        return word
    ground = f"rgba({BLUE if share > 0 else ORANGE},{0.75 * abs(share):.2f})"
    return f"<span style='background:{ground};border-radius:.2em;padding:0 .1em'>{word}</span>"


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` characters, of which those of colours are not counted."""
    lines = []
    for part in text.splitlines():
        line: list[str] = []
        used = 0
        for word in part.split():
            size = len(_without_styles(word))
            if line and used + 1 + size > width:
                lines.append(" ".join(line))
                line, used = [], 0
            line.append(word)
            used += size + (1 if used else 0)
        lines.append(" ".join(line))
    return lines


def _without_styles(text: str) -> str:
    for style in (GREEN, RED, BOLD, RESET):
        text = text.replace(style, "")
    return text


def _renamed(name: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
