"""A reader of documents: its terms, and the ids or hashed columns of those that it finds.

Terms are numbered in the order of their first appearance.  Words and runs of characters are kept as
letters; a run of words is kept as the pair of the run before its last word, and that word, so that
no text is written twice.  ``fast/words.py`` has the layout of the arrays.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, Serial
from likely.data.sequences import TermIds
from likely.errors import InvalidInput
from likely.text.documents import Documents, Vocabulary, bytes_of, executor_and_parts
from likely.text.tokens import Analysis, Characters, characters

USUAL_RUN = 16  # words or characters; longer runs are hardly repeated
MOST_RUNS = 1 << 22  # of words, of texts that are read together: each may be a term of its own
MOST_CHARACTER_RUNS = 1 << 24  # they have letters of their own
MOST_HASHED = 1 << 25  # which have no terms
MOST_LEARNED = 1 << 21  # terms that are hardly repeated, so far: they fill half a gigabyte
SHARE = 0.5  # of all words: each is there twice or less
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


@final
class Reader:
    """Reads documents as ids of terms, in the order of their first appearance.

    With ``n_features``, ids are columns given by hashes, and no term is kept.  Any number of
    threads may read with one reader that does not grow.  New terms that are hardly repeated are
    refused before they fill the memory, unless rare ones are left out later (``keeps_rare``).
    """

    def __init__(
        self, analysis: Analysis, n_features: int | None = None, *, keeps_rare: bool = True
    ) -> None:
        self.analysis = analysis
        self.n_features = n_features
        self.keeps_rare = keeps_rare
        self.n_given = self.n_read = 0  # terms that were given, and occurrences of learned ones
        self.of_words = analysis.analyzer == "word"
        self.joins = self.of_words and (analysis.is_compiled or n_features is not None)
        self.terms = TermTable()
        stop_words = sorted(analysis.stop_words) if analysis.is_compiled else []
        self.stop_words = TermTable.of(Vocabulary.of(stop_words).documents)

    @classmethod
    def of(cls, analysis: Analysis, vocabulary: Vocabulary) -> tuple["Reader", Array | None]:
        """A reader of given terms, and the column of each id: −1 for parts of runs that are no
        terms themselves.  None if columns and ids are the same.
        """
        reader = cls(analysis)
        high = analysis.ngram_range[1]
        if not reader.joins or high == 1:
            reader.terms = TermTable.of(vocabulary.documents)
            reader.n_given = len(reader.terms)
            return reader, None
        import pyarrow.compute as pc

        split = pc.split_pattern(vocabulary.to_arrow(), " ")
        stops = split.offsets.to_numpy()[1:].astype(np.int64)
        ids = reader.terms.whole(bytes_of(split.values), GROW)
        runs = reader.terms.join(TermIds(ids, stops), (1, high), grow=True)
        columns = np.full(len(reader.terms), -1, np.int32)
        known = np.flatnonzero(np.diff(stops, prepend=0) <= high)
        columns[runs.ids[runs.stops[known] - 1]] = known
        reader.n_given = len(reader.terms)
        return reader, columns

    @property
    def n_ids(self) -> int:
        """The number of ids so far."""
        return len(self.terms) if self.n_features is None else self.n_features

    def names(self) -> Any:
        """The terms by id, as an Arrow array of text."""
        return self.terms.names()

    def read(self, parts: Iterable[Any], *, grow: bool) -> Iterator[TermIds]:
        """For each Arrow array of documents, the ids of their terms; new terms if ``grow``."""
        for part in parts:
            yield self.ids(part, grow=grow)

    def learn(self, documents: Any, executor: str | Executor = "serial") -> Iterator[TermIds]:
        """The ids of the terms of all documents in parts; new terms are learned.

        Threads give the same ids as one thread.
        """
        chosen, parts = executor_and_parts(executor, documents)
        if isinstance(chosen, Serial) or self.n_features is not None:
            with chosen.mapping(partial(self.ids, grow=True), parts) as results:
                yield from results
            return
        read = partial(self._found, mode=GROW)
        for found in learned_ids(self.terms, read, parts, chosen):
            yield self._joined(found, grow=True)

    def ids(self, part: Any, *, grow: bool) -> TermIds:
        """The ids of the terms of some documents."""
        mode: Mode = HASH if self.n_features is not None else GROW if grow else LOOK_UP
        found, stops = self._found(self.terms, part, mode)
        if self.n_features is not None:
            return _columns(found, stops, self._sizes, self.n_features)
        return self._joined(TermIds(found, stops), grow=grow)

    @property
    def _sizes(self) -> tuple[int, int]:
        """The number of words of the runs that are terms."""
        return self.analysis.ngram_range if self.joins else (1, 1)

    def _joined(self, found: TermIds, *, grow: bool) -> TermIds:
        sizes = _possible(self._sizes, np.diff(found.stops, prepend=0))
        learns = grow and self.keeps_rare
        if learns:
            self.n_read += found.ids.size * sizes[1]
        if self._sizes != (1, 1):
            _refuse_many_runs(found.ids.size, sizes, MOST_RUNS)
            if learns and found.ids.size * sizes[1] > MOST_LEARNED:
                self._refuse_rare_runs(found, sizes[1])
            found = self.terms.join(found, sizes, grow=grow)
        if learns:
            refuse_rare_terms(len(self.terms) - self.n_given, self.n_read, MOST_LEARNED)
        return found

    def _refuse_rare_runs(self, words: TermIds, longest: int) -> None:
        """Refuse the runs of a large text as soon as the shorter ones show that there are too many.

        A run that is new makes that of one more word new, too, unless the document ends with it.
        """
        for size in range(2, longest):
            before = len(self.terms)
            self.terms.join(words, (1, size), grow=True)
            new, more = len(self.terms) - before, longest - size
            longer = more * new - words.stops.size * more * (more + 1) // 2  # at least
            n_terms = len(self.terms) - self.n_given + max(longer, 0)
            refuse_rare_terms(n_terms, self.n_read, MOST_LEARNED)

    def _found(self, terms: TermTable, part: Any, mode: Mode) -> tuple[Array, Array]:
        """Words or runs of characters, by a table of terms."""
        read = self._words if self.of_words else self._runs
        return read(terms, part, mode)

    def _words(self, table: TermTable, part: Any, mode: Mode) -> tuple[Array, Array]:
        analysis = self.analysis
        if not analysis.is_compiled:
            terms = analysis.words if self.joins else analysis.tokens
            found = [list(terms(text)) for text in part.to_pylist()]
            ids = table.whole(_bytes_of(chain.from_iterable(found)), mode)
            return ids, np.cumsum([len(words) for words in found], dtype=np.int64)
        tables = characters(lowercase=analysis.lowercase)
        return table.words(
            bytes_of(part),
            tables,
            analysis.shortest or 1,
            self.stop_words,
            mode,
            lambda: bytes_of(analysis.in_lower_case(part)),
        )

    def _runs(self, table: TermTable, part: Any, mode: Mode) -> tuple[Array, Array]:
        """Runs of characters of each piece of each document."""
        pieces = [self.analysis.pieces(text) for text in part.to_pylist()]
        given = _bytes_of(chain.from_iterable(pieces))
        inside = self.analysis.analyzer == "char_wb"
        sizes = _possible(self.analysis.ngram_range, np.diff(given.starts))
        _refuse_many_runs(int(given.starts[-1] - given.starts[0]), sizes, MOST_CHARACTER_RUNS)
        ids, stops = table.runs(given, sizes, inside=inside, mode=mode)
        ends = np.cumsum([len(each) for each in pieces], dtype=np.int64)
        return ids, np.concatenate([[0], stops])[ends]


def _columns(codes: Array, stops: Array, sizes: tuple[int, int], n_features: int) -> TermIds:
    """The columns of runs of terms, by the hashes of the terms."""
    from likely.fast.word_runs import join_hashes

    low, high = sizes = _possible(sizes, np.diff(stops, prepend=0))
    _refuse_many_runs(codes.size, sizes, MOST_HASHED)
    out, out_stops = np.empty(codes.size * (high - low + 1), np.int32), np.empty_like(stops)
    previous = np.empty_like(codes)
    join_hashes(codes, stops, low, high, n_features, previous, out, out_stops)
    return TermIds(out[: out_stops[-1] if stops.size else 0], out_stops)


def _possible(sizes: tuple[int, int], lengths: Array) -> tuple[int, int]:
    """The lengths of runs, none longer than the longest of the given texts."""
    low, high = sizes
    return low, max(low, min(high, int(lengths.max(initial=0))))


def _refuse_many_runs(n_parts: int, sizes: tuple[int, int], most: int) -> None:
    """Refuse long runs of words, characters or bytes of large texts before they fill the memory."""
    low, high = sizes
    n_runs = n_parts * (high - low + 1)
    if high > USUAL_RUN and n_runs > most:
        raise InvalidInput(
            f"runs of {low} to {high:,} words or characters were asked for, and texts that are "
            f"read together have up to {n_runs:,} of them; at most {most:,} were expected, because "
            "more would fill the memory. Use a shorter ngram_range, such as (1, 5)."
        )


def refuse_rare_terms(n_terms: int, n_read: int, most: int) -> None:
    """Refuse terms that are hardly repeated, if there are so many of them."""
    if most < n_terms > SHARE * n_read:
        raise InvalidInput(
            f"the texts have {n_terms:,} different terms among {n_read:,}; words of a language are "
            f"repeated, and keys, codes, random letters or long runs of words are not. More than "
            f"{most:,} such terms would fill the memory: leave the column out, use a shorter "
            "ngram_range, or set min_df=2, max_features, or n_features=2**20."
        )


def _bytes_of(texts: Iterable[str]) -> Any:
    import pyarrow as pa

    return bytes_of(pa.array(list(texts), type=pa.large_string()))


# ── Learn terms on several threads, with the ids that one thread would give ───────────────────────
# Each thread reads parts of the documents with a table of its own.  The terms that are new to its
# table go to the common one part by part, in the order of the documents.  A term that is new to all
# is new to the thread that meets it first, so that common ids are in the order of first appearance,
# whichever thread read which part.


@final
class _ThreadTerms:
    """The table of one thread, and the common id of each of its ids."""

    def __init__(self) -> None:
        self.terms = TermTable()
        self.common = np.zeros(0, np.int32)


class _PartTerms(NamedTuple):
    """What a thread found in a part of the documents."""

    learner: _ThreadTerms
    found: tuple[Array, Array]  # its own ids, and where each document stops
    new: Documents  # terms that it had not met before


def learned_ids(
    common: TermTable,
    read: Callable[[TermTable, Any], tuple[Array, Array]],
    parts: Iterator[Any],
    executor: Executor,
) -> Iterator[TermIds]:
    """The ids of the terms of each part of the documents; new terms enter the common table.

    ``read`` gives the ids of a part by a table that grows.
    """
    free: SimpleQueue[_ThreadTerms] = SimpleQueue()

    def of_part(part: Any) -> _PartTerms:
        try:
            learner = free.get_nowait()
        except Empty:
            learner = _ThreadTerms()
        before = len(learner.terms)
        found = read(learner.terms, part)
        new = learner.terms.documents(before)
        free.put(learner)
        return _PartTerms(learner, found, new)

    with executor.mapping(of_part, parts) as results:
        for learner, (ids, stops), new in results:
            learner.common = np.append(learner.common, common.whole(new, GROW))
            yield TermIds(learner.common[ids], stops)
