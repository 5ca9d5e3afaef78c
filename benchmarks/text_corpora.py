"""Labelled documents for the benchmarks of text: two corpora, and one of any size made of them.

The large corpus resamples 20 Newsgroups with a seed: documents with replacement, one word in ten
replaced by another of its class, and two digits added to one word in two hundred, so that new
words go on appearing as they do in text.  Data is read from ``LIKELY_BENCH_DATA``; without it,
documents of made-up words are drawn by Zipf's law.
"""

import lzma
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.linear_problems import DATA

DEBIAN, NEWSGROUPS, RESAMPLED = "Debian descriptions", "20 Newsgroups", "resampled newsgroups"
NAMES = (DEBIAN, NEWSGROUPS, RESAMPLED)
FILES = {
    DEBIAN: ("debian-descriptions.tsv.xz", 0),
    NEWSGROUPS: ("20news-bydate.tsv.xz", 1),
}  # and the column of the class; the text is the third
OTHER_WORD, NEW_WORD = 0.1, 0.005  # shares of the words that are replaced, and that are new
MADE_CLASSES, MADE_WORDS, MADE_LENGTH = 20, 100_000, 200


class Corpus(NamedTuple):
    """Documents, the name of the class of each, and their size."""

    texts: list[str]
    labels: Any  # an array of text
    nbytes: int  # of UTF-8

    @property
    def megabytes(self) -> float:
        return self.nbytes / 1e6


def corpus(name: str, nbytes: int) -> Corpus:
    """The first documents of a corpus, shuffled with a seed, up to a size; all for a size of 0."""
    if name == RESAMPLED:
        texts, labels, total = [], [], 0
        for text, label in resampled():
            texts.append(text)
            labels.append(label)
            total += len(text.encode())
            if total >= nbytes:
                return Corpus(texts, np.array(labels), total)
    texts, labels = _documents(name)
    sizes = np.cumsum([len(text.encode()) for text in texts])
    n = len(texts) if not nbytes else int(np.searchsorted(sizes, nbytes)) + 1
    return Corpus(texts[:n], np.array(labels[:n]), int(sizes[:n][-1]))


def resampled(seed: int = 0) -> Iterator[tuple[str, str]]:
    """Documents and labels without end."""
    texts, labels = _documents(NEWSGROUPS)
    words = [text.split(" ") for text in texts]
    names, codes = np.unique(labels, return_inverse=True)
    pool = [
        np.array(
            [word for i in np.flatnonzero(codes == k)[:200] for word in words[i]], dtype=object
        )
        for k in range(len(names))
    ]
    rng = np.random.default_rng(seed)
    while True:
        i = int(rng.integers(len(words)))
        found = np.array(words[i], dtype=object)
        chance = rng.random(found.size)
        other = chance < OTHER_WORD
        found[other] = rng.choice(pool[codes[i]], int(other.sum()))
        new = np.flatnonzero(chance > 1 - NEW_WORD)
        found[new] = [
            f"{word}{number}"
            for word, number in zip(found[new], rng.integers(10, 100, new.size), strict=True)
        ]
        yield " ".join(found), labels[i]


@cache
def _documents(name: str) -> tuple[list[str], list[str]]:
    """All documents, shuffled, and their labels."""
    file, column = FILES[name]
    path = DATA / "text" / file
    if not path.exists():
        return _made()
    with lzma.open(path, "rt", encoding="utf8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    texts = [rows[i][2].replace("\\n", "\n").replace("\\\\", "\\") for i in order]
    return texts, [rows[i][column] for i in order]


def _made() -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(0)
    y = rng.integers(MADE_CLASSES, size=20_000)
    drawn = (rng.zipf(1.3, size=(y.size, MADE_LENGTH)) + 7 * y[:, None]) % MADE_WORDS
    texts = [" ".join(f"w{word}" for word in row) for row in drawn.tolist()]
    return texts, [f"class {k}" for k in y.tolist()]
