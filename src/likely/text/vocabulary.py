"""The terms of a fitted reader of documents: UTF-8 bytes in one row, and where each term starts.

A million terms are two arrays, which a model file holds as they are; Python strings are made when
they are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.formatting import listed
from likely.text.documents import Documents, bytes_of


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
