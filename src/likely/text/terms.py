"""Terms with their ids: tables of hashes that grow, and the ways to read text with them.

Terms are numbered in the order of their first appearance.  Words and runs of characters are kept as
letters; a run of words is kept as the pair of the run before its last word, and that word, so that
no text is written twice.  ``fast/words.py`` has the layout of the arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.sequences import TermIds
from likely.errors import InvalidInput
from likely.output.formatting import listed
from likely.storage.values import same_count
from likely.text.analysis import Characters
from likely.text.documents import Documents, bytes_of

FIRST_SIZE = 1 << 12  # places of a table; a power of two
FIRST_LETTERS = 1 << 16  # bytes
LONGEST_WORD = 1 << 15  # bytes, until a longer one is met

Mode = Literal[0, 1, 2]
LOOK_UP: Mode = 0
GROW: Mode = 1
HASH: Mode = 2


@final
class TermTable:
    """Terms with their ids; two tables, of terms by their letters and of runs by their words."""

    def __init__(self) -> None:
        self.table = np.zeros(2 * FIRST_SIZE, np.uint64)  # hash; length and id
        self.pairs = np.zeros(2 * FIRST_SIZE, np.uint64)  # run and word; id
        self.start = np.zeros(FIRST_SIZE // 2, np.int64)  # in letters
        self.last = np.zeros(FIRST_SIZE // 2, np.int32)  # length, or the last word of a run
        self.parent = np.zeros(FIRST_SIZE // 2, np.int32)  # −1, or the run without that word
        self.letters = np.zeros(FIRST_LETTERS, np.uint8)
        self.state = np.zeros(3, np.int64)  # terms, letters, runs

    def __len__(self) -> int:
        return int(self.state[0])

    def names(self) -> Any:
        """The terms by id, as an Arrow array of text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        n = len(self)
        parent, last = self.parent[:n], self.last[:n]
        words = np.flatnonzero(parent < 0)
        ends = np.concatenate([[0], self.start[words] + last[words]])  # in order of ids
        text = self.letters[: self.state[1]].copy()
        known = pa.LargeStringArray.from_buffers(words.size, pa.py_buffer(ends), pa.py_buffer(text))
        place, space = np.full(n, -1), pa.scalar(" ", pa.large_string())
        place[words] = np.arange(words.size)
        while (place < 0).any():  # runs of one more word
            runs = np.flatnonzero((place < 0) & (place[parent] >= 0))
            joined = pc.binary_join_element_wise(
                known.take(place[parent[runs]]), known.take(place[last[runs]]), space
            )
            place[runs] = len(known) + np.arange(runs.size)
            known = pa.concat_arrays([known, joined])
        return known.take(place)

    @classmethod
    def of(cls, terms: Documents) -> "TermTable":
        """The terms, each given once, with their places as ids."""
        table = cls()
        table.whole(terms, GROW)
        return table

    def documents(self, first: int) -> Documents:
        """The terms from this id on, copied, as documents; there may be no runs of words."""
        n, n_letters = int(self.state[0]), int(self.state[1])
        starts = np.append(self.start[first:n], n_letters)
        return Documents.of(self.letters[starts[0] : n_letters].copy(), starts - starts[0])

    def whole(self, given: Documents, mode: Mode) -> Array:
        """The id or hash of each document as one term."""
        from likely.fast.words import read_whole

        loop: Any = read_whole
        out = np.empty(0 if mode == HASH else len(given), np.int32)
        codes, first = np.empty(len(given) - out.size, np.uint64), 0
        while first < len(given):
            first, full = loop(given.text, given.starts, first, mode, self._arrays(), codes, out)
            if full:
                self._enlarge(_length(given, first))
        return codes if mode == HASH else out

    def words(
        self,
        given: Documents,
        characters: Characters,
        shortest: int,
        stop: "TermTable",
        mode: Mode,
        whole: Callable[[], Documents],
    ) -> tuple[Array, Array]:
        """The id or hash of each word of each document, and where each document stops.

        ``whole`` gives the documents in a form without characters whose lower case depends on
        their neighbours.
        """
        from likely.fast.words import LONG, WHOLE, read_words

        loop: Any = read_words
        stops = np.zeros(len(given), np.int64)
        first, scratch = 0, np.empty(LONGEST_WORD, np.uint8)
        out, codes = _room(given, shortest + 1, mode)
        known = (stop.table, stop.start[: len(stop)], stop.letters)
        while first < len(given):
            first, ended = loop(
                *(given.text, given.starts, first, tuple(characters), shortest, mode),
                *(known, self._arrays(), scratch, codes, out, stops),
            )
            if ended == WHOLE:
                given = whole()
                larger = _room(given, shortest + 1, mode)
                n = int(stops[first - 1]) if first else 0
                larger[0][:n], larger[1][:n] = out[:n], codes[:n]
                out, codes = larger
            elif ended == LONG:
                scratch = np.empty(2 * _length(given, first) + 64, np.uint8)
            elif ended:
                self._enlarge(_length(given, first))
        found = codes if mode == HASH else out
        return found[: stops[-1] if stops.size else 0], stops

    def runs(
        self, given: Documents, sizes: tuple[int, int], *, inside: bool, mode: Mode
    ) -> tuple[Array, Array]:
        """The id or hash of each run of characters of each document, and where each stops."""
        from likely.fast.words import read_runs

        loop: Any = read_runs
        stops, first = np.zeros(len(given), np.int64), 0
        out, codes = _room(given, 1, mode, sizes[1] - sizes[0] + 1)
        while first < len(given):
            first, full = loop(
                *(given.text, given.starts, first, *sizes, inside, mode),
                *(self._arrays(), codes, out, stops),
            )
            if full:
                self._enlarge(_length(given, first))
        found = codes if mode == HASH else out
        return found[: stops[-1] if stops.size else 0], stops

    def join(self, words: TermIds, sizes: tuple[int, int], *, grow: bool) -> TermIds:
        """The ids of the runs of so many words of each document."""
        from likely.fast.word_runs import join_words
        from likely.fast.words import move

        loop: Any = join_words
        ids, stops = words
        out = np.empty(ids.size * (sizes[1] - sizes[0] + 1), np.int32)
        out_stops, first = np.zeros(stops.size, np.int64), 0
        previous = np.empty_like(ids)
        while first < stops.size:
            first, full = loop(
                *(ids, stops, first, *sizes, grow, self.pairs, self._arrays()),
                *(previous, out, out_stops),
            )
            if full:
                if 4 * (self.state[2] + 1) > self.pairs.size:
                    larger = np.zeros(2 * self.pairs.size, np.uint64)
                    move(self.pairs, False, larger)
                    self.pairs = larger
                self._enlarge(0)
        return TermIds(out[: out_stops[-1] if stops.size else 0], out_stops)

    def _arrays(self) -> tuple[Array, ...]:
        """The terms as compiled loops take them."""
        return self.table, self.start, self.last, self.parent, self.letters, self.state

    def _enlarge(self, length: int) -> None:
        """Room for more terms, with so many letters; what is there stays."""
        from likely.fast.words import move

        n_terms, n_letters, n_runs = self.state
        if 4 * (n_terms - n_runs + 1) > self.table.size:
            larger = np.zeros(2 * self.table.size, np.uint64)
            move(self.table, True, larger)
            self.table = larger
        if n_terms + 1 > self.start.size:
            more = 2 * self.start.size
            self.start, self.last = np.resize(self.start, more), np.resize(self.last, more)
            self.parent = np.resize(self.parent, more)
        if n_letters + length + 64 > self.letters.size:
            self.letters = np.resize(self.letters, 2 * self.letters.size + 2 * length)


def _length(given: Documents, i: int) -> int:
    return int(given.starts[i + 1] - given.starts[i])


def _room(given: Documents, fewest: int, mode: Mode, times: int = 1) -> tuple[Array, Array]:
    """Arrays for the terms of documents that have so many bytes at least."""
    n_bytes = int(given.starts[-1] - given.starts[0])
    room = times * (n_bytes // fewest + 2 * len(given))
    return (
        np.empty(0 if mode == HASH else room, np.int32),
        np.empty(room if mode == HASH else 0, np.uint64),
    )


# ── The terms of a fitted reader: UTF-8 bytes in one row, and where each term starts ──────────────
# A million terms are two arrays, which a model file holds as they are; Python strings are made when
# they are asked for.


@final
@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms by column: ``letters[starts[j] : starts[j + 1]]`` is the j-th."""

    letters: Array  # uint8
    starts: Codes  # int64, (n + 1,)

    @classmethod
    def of(cls, terms: Sequence[str]) -> "Vocabulary":
        """The terms in this order."""
        import pyarrow as pa

        return cls.of_arrow(pa.array(terms, type=pa.large_string()))

    @classmethod
    def of_arrow(cls, terms: Any) -> "Vocabulary":
        """The terms of an Arrow array, copied."""
        text, starts = bytes_of(terms)
        return cls(text[starts[0] : starts[-1]].copy(), starts - starts[0])

    def __len__(self) -> int:
        return self.starts.size - 1

    def __add__(self, other: "Vocabulary") -> "Vocabulary":
        """These terms, then the others."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return Vocabulary(np.concatenate([self.letters, other.letters]), starts)

    def joined(self, other: "Vocabulary") -> tuple["Vocabulary", Codes]:
        """These terms, then the new ones of the other; and the column of each of its terms."""
        import pyarrow.compute as pc

        theirs = other.to_arrow()
        columns = pc.index_in(theirs, self.to_arrow()).fill_null(-1).to_numpy().astype(np.int64)
        new = np.flatnonzero(columns < 0)
        columns[new] = len(self) + np.arange(new.size)
        return self + Vocabulary.of_arrow(theirs.take(new)), columns

    def to_arrow(self) -> Any:
        import pyarrow as pa

        return pa.LargeStringArray.from_buffers(
            len(self), pa.py_buffer(self.starts), pa.py_buffer(self.letters)
        )

    @property
    def documents(self) -> Documents:
        """Each term as a document."""
        return Documents.of(self.letters, self.starts)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.to_arrow().to_pylist())

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each term."""
        return {name: j for j, name in enumerate(self.names)}

    def check(self) -> None:
        """Refuse arrays that are no terms: compiled loops trust them."""
        import pyarrow as pa

        letters, starts = self.letters, self.starts
        if letters.dtype != np.uint8 or letters.ndim != 1 or starts.dtype != np.int64:
            raise _invalid("bytes, and the place where each term starts")
        if starts.ndim != 1 or not starts.size or starts[0] != 0 or starts[-1] != letters.size:
            raise _invalid(f"terms that start at 0 and end at {letters.size}")
        if (np.diff(starts) < 0).any():
            raise _invalid("terms one after the other")
        array = self.to_arrow()
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            raise _invalid("valid UTF-8") from None
        counts = array.value_counts()
        if len(counts) < len(self):
            twice = [each["values"].as_py() for each in counts if each["counts"].as_py() > 1]
            raise InvalidInput(
                f"the vocabulary repeats {listed(twice[:3], 3)}; expected each once."
            )


def _invalid(expected: str) -> InvalidInput:
    return InvalidInput(
        f"the vocabulary was expected to be {expected}, which it is not. Save the model again."
    )


def check_frequencies(options: Any, terms: Vocabulary, frequency: Codes, n_documents: int) -> None:
    """Refuse terms of a file that occur twice, or in more documents than there are."""
    terms.check()
    if options.n_features is None:
        n_columns = len(terms) + (options.unknown == "count")
    else:
        n_columns = int(options.n_features) if options.use_idf else 0
    same_count("document_frequency_", frequency.shape, (n_columns,))
    if ((frequency < 0) | (frequency > n_documents)).any():
        raise InvalidInput(
            f"document_frequency_ must be from 0 to n_documents_, {n_documents}. Save the model "
            "again."
        )
