"""Terms with their numbers: a table of hashes that grows, and the three ways to read text with it.

Terms are numbered in the order of their first appearance.  Words and runs of characters are kept as
letters; a run of n words is kept as the pair of the run of n − 1 words before its last word, and
that word, so that no text is written twice.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.text.characters import Characters
from likely.text.documents import Documents, bytes_of

FIRST_SIZE = 1 << 12  # places of a table; a power of two
FIRST_LETTERS = 1 << 16


@final
class Terms:
    """Words, or runs of characters, with their numbers."""

    def __init__(self) -> None:
        self.hashes = np.zeros(FIRST_SIZE, np.uint64)
        self.ids = np.zeros(FIRST_SIZE, np.int32)
        self.ends = np.zeros(FIRST_SIZE // 2, np.int64)
        self.letters = np.zeros(FIRST_LETTERS, np.uint8)
        self.state = np.zeros(2, np.int64)  # terms, letters

    @classmethod
    def of(cls, names: Sequence[str]) -> "Terms":
        """The terms in this order."""
        import pyarrow as pa

        terms = cls()
        terms.whole(bytes_of(pa.array(names, type=pa.large_string())), grow=True)
        return terms

    def __len__(self) -> int:
        return int(self.state[0])

    def names(self) -> list[str]:
        """The terms, by number."""
        import pyarrow as pa

        starts = np.concatenate([[0], self.ends[: len(self)]]).astype(np.int64)
        size = [len(self), pa.py_buffer(starts), pa.py_buffer(self.letters[: starts[-1]].copy())]
        found = pa.LargeStringArray.from_buffers(size[0], size[1], size[2])
        return list(found.to_pylist())

    def words(
        self, given: Documents, characters: Characters, shortest: int, *, grow: bool
    ) -> tuple[Array, Array]:
        """The number of each word of each document, and where each document stops."""
        from likely.fast.words import read_words

        loop: Any = read_words

        def read(first: int, out: Array, stops: Array) -> Any:
            return loop(
                given.text,
                given.starts,
                first,
                characters.kind,
                characters.lower,
                shortest,
                grow,
                *self._arrays(),
                out,
                stops,
            )

        room = int(given.starts[-1] - given.starts[0]) // (shortest + 1) + 2 * len(given)
        return self._read(read, given, room)

    def runs(
        self, given: Documents, sizes: tuple[int, int], *, inside: bool, grow: bool
    ) -> tuple[Array, Array]:
        """The number of each run of characters of each document, and where each stops."""
        from likely.fast.words import read_runs

        loop: Any = read_runs

        def read(first: int, out: Array, stops: Array) -> Any:
            return loop(
                given.text, given.starts, first, *sizes, inside, grow, *self._arrays(), out, stops
            )

        n_bytes = int(given.starts[-1] - given.starts[0])
        return self._read(read, given, (sizes[1] - sizes[0] + 1) * (n_bytes + len(given)))

    def whole(self, given: Documents, *, grow: bool) -> Array:
        """The number of each document as one term."""
        from likely.fast.words import read_whole

        loop: Any = read_whole

        def read(first: int, out: Array, stops: Array) -> Any:
            return loop(given.text, given.starts, first, grow, *self._arrays(), out, stops)

        return self._read(read, given, len(given))[0]

    def _read(
        self, read: Callable[[int, Array, Array], Any], given: Documents, room: int
    ) -> tuple[Array, Array]:
        """Read document after document, with larger arrays when they are full."""
        out, stops = np.empty(room, np.int32), np.zeros(len(given), np.int64)
        first = 0
        while first < len(given):
            first, full = read(first, out, stops)
            if full:
                length = int(given.starts[first + 1] - given.starts[first])
                self._resize(2 * len(self) + 1, 2 * int(self.state[1]) + 2 * length + 16)
        return out[: stops[-1] if stops.size else 0], stops

    def _arrays(self) -> tuple[Array, ...]:
        return self.hashes, self.ids, self.ends, self.letters, self.state

    def _resize(self, n_terms: int, n_letters: int) -> None:
        """Room for so many terms and letters; what is there stays."""
        size = self.hashes.size
        while size < 4 * n_terms:
            size *= 2
        if size > self.hashes.size:
            taken = np.flatnonzero(self.hashes)
            hashes, ids = self.hashes[taken], self.ids[taken]
            self.hashes, self.ids = np.zeros(size, np.uint64), np.zeros(size, np.int32)
            self.ends = np.resize(self.ends, size // 2)
            from likely.fast.words import move

            move(hashes, ids, self.hashes, self.ids)
        if n_letters > self.letters.size:
            self.letters = np.resize(self.letters, n_letters)


@final
class Runs:
    """Runs of two or more words, as pairs of the run before the last word, and that word."""

    def __init__(self) -> None:
        self.keys = np.zeros(FIRST_SIZE, np.int64)
        self.ids = np.zeros(FIRST_SIZE, np.int32)
        self.ends = np.zeros(FIRST_SIZE // 2, np.int64)
        self.state = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self.state[0])

    def join(self, words: Array, stops: Array, previous: Array, *, grow: bool) -> Array:
        """The number of the run that ends at each word; −1 where there is none."""
        from likely.fast.words import join_words, move_pairs

        out, first = np.empty(words.size, np.int32), 0
        while first < stops.size:
            first, full = join_words(
                words, stops, previous, first, grow, self.keys, self.ids, self.ends, self.state, out
            )
            if full:
                keys = self.ends[: len(self)].copy()
                size = 2 * self.keys.size
                self.keys, self.ids = np.zeros(size, np.int64), np.zeros(size, np.int32)
                self.ends = np.resize(self.ends, size // 2)
                move_pairs(keys, self.keys, self.ids)
        return out

    def names(self, before: Sequence[str], words: Sequence[str]) -> list[str]:
        """The runs as text, by number."""
        keys = self.ends[: len(self)] - 1
        pairs = zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True)
        return [f"{before[run]} {words[word]}" for run, word in pairs]


def counted(ids: Array, stops: Array, n_columns: int) -> Any:
    """The counts of each document as a CSR matrix with sorted columns."""
    from scipy.sparse import csr_matrix

    from likely.fast.words import count_terms

    known = int((ids >= 0).sum())
    columns, counts = np.empty(known, np.int32), np.empty(known, np.int64)
    starts = np.zeros(stops.size + 1, np.int64)
    last, place = np.full(n_columns, -1, np.int64), np.zeros(n_columns, np.int64)
    n = count_terms(ids, stops, last, place, columns, counts, starts)
    matrix = csr_matrix((counts[:n], columns[:n], starts), shape=(stops.size, n_columns))
    matrix.sort_indices()
    return matrix
