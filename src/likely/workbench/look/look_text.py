"""A look as text and as HTML: the columns, the target, and the findings in words.

What a column of text holds: documents, words, the vocabulary and the languages.

The language of a document is the one whose most common words make up the largest share of it; short
documents, and documents without such words, have none.
"""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array
from likely.data.readings.written_values import shown
from likely.errors import InvalidInput
from likely.kinds import target_in_words
from likely.output.control_characters import printable
from likely.output.formatting import (
    WIDEST,
    count,
    html_block,
    html_paragraph,
    html_table,
    listed,
    paragraph,
    percent,
    short_number,
    shortened,
    text_table,
)
from likely.text.bag_of_words import BagOfWords
from likely.workbench.look.profile import ProfiledColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.look.look import ColumnFacts, Look

MOST_WORDS = 10**9  # all: any number is described
MOST_DOCUMENTS = 20_000  # that are read; more would say the same
MOST_CHARACTERS = 2**23  # of the documents that are read: different words are all kept
FEWEST_WORDS = 5  # of a document whose language is guessed
FEWEST_COMMON = 0.08  # of its words are common ones
LEAST_SHARE = 0.03  # of the documents, of a language that is named
COMMON_WORDS = {
    "English": "the of and to is in that it for was with are this be on not you have at from",
    "German": "der die und das ist nicht ein eine zu den mit von auf dem für ich sie auch es im",
    "French": "le la les et des est une du que dans pour pas qui sur au avec il ce plus nous",
    "Spanish": "el los las una que en por con para del está es como más pero su al lo se muy",
    "Italian": "il di che è la per una non con del sono della gli ma come più anche si questo nel",
    "Portuguese": "os uma não que com para por mais da em na um é se ao foi são pelo muito dos",
    "Dutch": "het een van en dat niet zijn op voor met aan ook maar er bij naar uit wordt deze ik",
}
MOST_COLUMNS = 60  # shown when printed; the frame has them all
MOST_CLASSES_SHOWN = 12  # shown of a target
LONGEST_NAME = 24
LONGEST_VALUE = 18
MOST_VALUES = 3
HEAD = ("column", "type", "missing", "distinct", "values")
WORDS = (0, 1, 4)  # columns of the table that hold words
COLOURS = {"stop": "#c0392b", "warn": "#b9770e", "note": "#5d6d7e"}


def text_of(look: "Look", width: int = WIDEST, more: str = "to_frame() has them all") -> str:
    """The columns, the target, the findings; ``more`` says how to see all columns."""
    rows = [_cells(look, column) for column in _shown_columns(look)]
    lines = [title(look), "", *text_table(HEAD, rows, words=WORDS, width=width)]
    if len(look.columns) > len(rows):
        lines.append(f"  (+{len(look.columns) - len(rows)} more; {more})")
    about = [*look.readings, *(each.sentence() for each in look.texts)]
    about += [balance_of(look)] if look.balance else []
    about += [look.doubt] if look.doubt else []
    about += [order_of(look)] if look.time is not None else []
    if about:
        lines += ["", *(line for each in about for line in paragraph(each, width))]
    return "\n".join([*lines, "", *findings_of(look, width)])


def title(look: "Look") -> str:
    """``churn.csv: 7,000 rows, 20 columns, target churn (2 classes).``"""
    text = f"{look.label}: {count(look.n_rows, 'row')}, {count(len(look.columns), 'column')}"
    if look.target is not None:
        what = target_in_words(look.kind, look.n_classes)
        if look.n_classes is None and any(f.code == "LK306" for f in look.findings):
            what = "neither classes nor a number"
        text += f", target {look.target} ({what})"
    if look.n_looked_at < look.n_rows:
        text += f"; a sample of {look.n_looked_at:,} of the rows was examined"
    return text + "."


def balance_of(look: "Look") -> str:
    """``Target churn: no 73 %, yes 27 %.``"""
    (target,) = (column for column in look.columns if column.name == look.target)
    known = look.n_looked_at - target.missing
    words = [f"{_value(v)} {percent(rows / known)}" for v, rows in look.balance.items()]
    n_others = target.distinct - len(words)  # the balance has the most frequent ones
    return f"Target {look.target}: {listed(words + [''] * n_others, MOST_CLASSES_SHOWN)}."


def order_of(look: "Look") -> str:
    """A sentence about rows that are in the order of their dates."""
    assert look.time is not None  # else there is no such order
    return (
        f"Rows are in the order of {look.time}. If later rows are to be predicted from earlier "
        f"ones, seal by time instead: --by-time {shlex.quote(look.time)} (by_time={look.time!r})."
    )


def findings_of(look: "Look", width: int = WIDEST) -> list[str]:
    """The findings in words, the most severe first."""
    muted = f" (muted: {', '.join(look.muted)})" if look.muted else ""
    if not look.findings:
        return [f"No findings{muted}."]
    lines = [f"{count(len(look.findings), 'finding')}{muted}:"]
    for each in look.findings:
        first, *others = paragraph(each.sentence, width - 14)
        lines += [f"  {each.code} {each.severity}  {first}"]
        lines += [f"{'':14}{line}" for line in others]
    return lines


def html_of(look: "Look") -> str:
    rows = [_cells(look, column) for column in _shown_columns(look)]
    parts = [html_paragraph(title(look), bold=True), html_table(HEAD, rows, words=WORDS)]
    if len(look.columns) > len(rows):
        n_more = len(look.columns) - len(rows)
        parts.append(html_paragraph(f"(+{n_more} more; to_frame() has them all)"))
    parts += [html_paragraph(each) for each in look.readings]
    parts += [html_paragraph(each.sentence()) for each in look.texts]
    if look.balance:
        parts.append(html_paragraph(balance_of(look)))
    if look.doubt:
        parts.append(html_paragraph(look.doubt))
    parts += [
        f"<p style='margin:.3em .7em;max-width:50em'><b style='color:{COLOURS[each.severity]}'>"
        f"{each.code} {each.severity}</b> {escape(printable(each.sentence))}</p>"
        for each in look.findings
    ]
    if not look.findings:
        parts.append(html_paragraph(findings_of(look)[0]))
    return html_block(*parts)


def _shown_columns(look: "Look") -> list["ColumnFacts"]:
    """All columns of a narrow table; of a wide one some, those with findings, and the target."""
    if len(look.columns) <= MOST_COLUMNS:
        return list(look.columns)
    named = {name for each in look.findings for name in each.columns} | {look.target}
    chosen = [column for column in look.columns if column.name in named][:MOST_COLUMNS]
    room = MOST_COLUMNS - len(chosen)
    taken = {id(column) for column in chosen}
    first = [column for column in look.columns if id(column) not in taken][:room]
    taken |= {id(column) for column in first}
    return [column for column in look.columns if id(column) in taken]


def _cells(look: "Look", column: "ColumnFacts") -> tuple[str, ...]:
    missing = percent(column.missing / look.n_looked_at) if column.missing else ""
    name = shortened(column.name or "(no name)", LONGEST_NAME) + (
        " *" if column.name == look.target else ""
    )
    return (name, column.type, missing, f"{column.distinct:,}", _values(look, column))


def _values(look: "Look", column: "ColumnFacts") -> str:
    """The minimum, the median and the maximum; or the most frequent values."""
    if column.low is not None:
        return " … ".join(map(short_number, (column.low, column.median, column.high)))
    known = look.n_looked_at - column.missing
    words = [
        _value(value) + (f" {percent(rows / known)}" if rows >= known / 100 else "")
        for value, rows in column.top[:MOST_VALUES]
    ]
    return ", ".join(words) + (", …" if column.distinct > MOST_VALUES else "")


def _value(value: Any) -> str:
    """A value in a cell of the table; a date without a time of day as a date."""
    return shortened(shown(value) if isinstance(value, datetime) else value, LONGEST_VALUE)


@final
@dataclass(frozen=True)
class TextFacts:
    """A column of text in numbers."""

    column: str
    documents: int  # that are not missing
    missing: int
    empty: int  # without any word
    duplicated: int  # equal to an earlier one
    words: int  # in all documents that were read
    median_words: float  # of a document
    vocabulary: int  # different words
    once: int  # words of the vocabulary that occur once
    languages: tuple[tuple[str, float], ...]  # with the share of the documents
    read: int  # different documents that were read for the numbers of words

    def facts(self) -> dict[str, Any]:
        """The column in types of JSON."""
        return {**asdict(self), "languages": dict(self.languages)}

    def sentence(self) -> str:
        """The column in words."""
        parts = [
            f"Text {self.column}: {count(self.documents, 'document')}, {count(self.words, 'word')} "
            f"(median {self.median_words:g} a document)",
            f"a vocabulary of {count(self.vocabulary, 'word')}, {self.once:,} of them once",
        ]
        if self.languages:
            parts.append(", ".join(f"{name} {percent(share)}" for name, share in self.languages))
        gaps = {"missing": self.missing, "empty": self.empty, "duplicated": self.duplicated}
        parts.append(", ".join(f"{n:,} {what}" for what, n in gaps.items()))
        some = f" (words of {self.read:,} documents)" if self.read < self._different else ""
        return f"{'; '.join(parts)}{some}."

    @property
    def _different(self) -> int:
        return self.documents - self.duplicated


def text_facts(column: ProfiledColumn) -> TextFacts:
    """The numbers of a column of text."""
    import pyarrow as pa

    values, counts = column.values, column.counts
    documents = _some_documents(values.slice(0, MOST_DOCUMENTS).cast(pa.large_string()))
    read = len(documents)
    try:
        words = BagOfWords(max_features=MOST_WORDS)
        found = words.fit_transform(documents)
        places = [words.columns_of(each.split()) for each in COMMON_WORDS.values()]
    except InvalidInput:  # there is no word
        from scipy.sparse import csr_array

        found = csr_array((read, 0), dtype=np.int64)
        places = [np.empty(0, dtype=np.int32)] * len(COMMON_WORDS)
    times = counts[:read]
    per_document = np.asarray(found.sum(axis=1)).ravel()
    per_word = np.asarray(found.T @ times).ravel()
    return TextFacts(
        column=column.name,
        documents=int(column.n_known),
        missing=int(column.n_missing),
        empty=int(times[per_document == 0].sum()),
        duplicated=int(column.n_known - len(values)),
        words=int(per_word.sum()),
        median_words=float(np.median(np.repeat(per_document, times))) if read else 0.0,
        vocabulary=found.shape[1],
        once=int((per_word == 1).sum()),
        languages=_languages(found, places, per_document, times),
        read=read,
    )


def _some_documents(documents: "pa.Array") -> "pa.Array":
    """The first documents, of so many characters; the first one may be cut."""
    import pyarrow.compute as pc

    so_far = np.cumsum(pc.utf8_length(documents).to_numpy(zero_copy_only=False))
    n = int(np.searchsorted(so_far, MOST_CHARACTERS, side="right"))
    if n or not len(documents):
        return documents.slice(0, n)
    return pc.utf8_slice_codeunits(documents.slice(0, 1), 0, MOST_CHARACTERS)


def _languages(
    found: Any, places: Sequence[Array], n_words: Array, times: Array
) -> tuple[tuple[str, float], ...]:
    """The languages with their shares of the documents, the most frequent first.

    ``places`` are the columns of the common words of each, −1 where a word does not occur.
    """
    shares = np.zeros((len(n_words), len(COMMON_WORDS)))
    for k, place in enumerate(places):
        columns = place[place >= 0]
        if columns.size:
            shares[:, k] = np.asarray(found[:, columns].sum(axis=1)).ravel()
    shares /= np.maximum(n_words, 1)[:, None]
    known = (n_words >= FEWEST_WORDS) & (shares.max(axis=1, initial=0.0) >= FEWEST_COMMON)
    if not known.any():
        return ()
    total = np.bincount(shares.argmax(axis=1)[known], times[known], minlength=len(COMMON_WORDS))
    part = total / total.sum()
    order = np.argsort(-part, kind="stable")
    names = list(COMMON_WORDS)
    return tuple((names[k], float(part[k])) for k in order if part[k] >= LEAST_SHARE)
