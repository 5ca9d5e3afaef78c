"""What a column of text holds: documents, words, the vocabulary and the languages.

The language of a document is the one whose most common words make up the largest share of it; short
documents, and documents without such words, have none.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.formatting import count, percent
from likely.text.bag_of_words import BagOfWords
from likely.workbench.look.profile import Column

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


def text_facts(column: Column) -> TextFacts:
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


def _some_documents(documents: Any) -> Any:
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
