"""A table with columns of words: those of a frame, and after them a sparse column for each word.

    [ x_1 … x_p | n_1 … n_V ]        the last V are stored as CSR: most words are not in a document

Models read it as a table whose last columns have the kind ``word``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.categories import CodedValues
from likely.data.frames import InMemoryTable
from likely.errors import InvalidInput
from likely.kinds import ColumnKind


@final
@dataclass(frozen=True, eq=False)
class WordTable(InMemoryTable):
    """Columns of a frame, if there are any, beside counts or weights of words."""

    beside: InMemoryTable | None  # of a frame, with names
    words: Matrix  # CSR, (n, V)
    word_names: tuple[str, ...]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_rows(self) -> int:  # type: ignore[override]  # read-only here
        return int(self.words.shape[0])

    @property
    def native(self) -> "WordTable":
        return self

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        own = int(self.words.data.nbytes + self.words.indices.nbytes)
        return own + (0 if self.beside is None else self.beside.nbytes)

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        beside = None if self.beside is None else self.beside.names
        return (*(beside or ()), *self.word_names)

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        word: ColumnKind = "word"
        return (*(() if self.beside is None else self.beside.kinds), *([word] * self._n_words))

    def numbers(self, j: int) -> Array:
        if j < self._n_beside:
            assert self.beside is not None
            return self.beside.numbers(j)
        return np.asarray(self.words[:, [j - self._n_beside]].toarray(), dtype=float).ravel()

    def factor(self, j: int) -> CodedValues:
        if j < self._n_beside:
            assert self.beside is not None
            return self.beside.factor(j)
        raise InvalidInput(
            f"{self.names[j]!r} counts a word, and was declared categorical; a column of "
            "categories was expected. Leave it to the multinomial event model."
        )

    def matrix(self, columns: Sequence[int]) -> Matrix:
        """These columns as CSR rows."""
        from scipy.sparse import csr_array, hstack

        first = [j for j in columns if j < self._n_beside]
        last = [j - self._n_beside for j in columns if j >= self._n_beside]
        words = self.words if last == list(range(self._n_words)) else self.words[:, last]
        if not first:
            return csr_array(words)
        assert self.beside is not None
        numbers = np.asarray(self.beside.matrix(first), dtype=np.float64)
        return csr_array(hstack([csr_array(numbers), words], format="csr"))

    def __getitem__(self, rows: Array) -> Self:
        return self.take(np.arange(self.n_rows)[rows])

    def take(self, rows: Array) -> Self:
        beside = None if self.beside is None else self.beside.take(rows)
        return type(self)(beside, self.words[rows], self.word_names)

    @property
    def _n_beside(self) -> int:
        return 0 if self.beside is None else len(self.beside.kinds)

    @property
    def _n_words(self) -> int:
        return int(self.words.shape[1])


def joined_columns(parts: Sequence[Matrix]) -> Matrix:
    """Sparse columns side by side."""
    from scipy.sparse import csr_array, hstack

    return csr_array(parts[0] if len(parts) == 1 else hstack(list(parts), format="csr"))
