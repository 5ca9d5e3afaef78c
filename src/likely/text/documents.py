"""Documents from anywhere, as UTF-8 bytes: lists, arrays, columns of frames, Arrow, files.

An iterable of texts, or of paths of text files, and a column of a file that ``likely.read`` opens
are read once, some megabytes at a time.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.compute.executor import Executor, executor_for
from likely.data.source import Source
from likely.errors import InvalidFile, InvalidInput
from likely.output.formatting import listed
from likely.storage.values import same_count

MOST_BYTES = 1 << 20  # of text that is read at a time
TOGETHER = 64  # documents of a list that are counted together


class Documents(NamedTuple):
    """Documents one after the other: ``text[starts[i] : starts[i + 1]]`` is the i-th, in UTF-8."""

    text: Array  # uint8
    starts: Array  # int64, (n + 1,)

    @classmethod
    def of(cls, text: Array, starts: Array) -> "Documents":
        """Both arrays as read-only views: loops are compiled for these, and once."""
        text, starts = text[:], starts[:]
        text.flags.writeable = starts.flags.writeable = False
        return cls(text, starts)

    def __len__(self) -> int:
        return self.starts.size - 1


def documents(raw: Any) -> Any:
    """Documents as an Arrow array of text; anything else is refused, with its row."""
    import pyarrow as pa

    if isinstance(raw, str | bytes):
        raise InvalidInput(
            f"{raw!r:.60} was given where documents were expected: one text, or a path that is not "
            "read here. Pass a list, [text], or likely.read(path).select([column])."
        )
    if isinstance(raw, os.PathLike):
        raise InvalidInput(
            f"one path was given ({os.fspath(raw)!r:.80}) where documents were expected. Pass the "
            "files, as Path(folder).glob('*.txt'), or one column of a table, as "
            "likely.read(path).select(['text'])."
        )
    if isinstance(raw, Source):
        import pyarrow as pa

        chunks = [_arrow(chunk) for chunk in _only_column(raw)]
        return pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())
    if isinstance(raw, pa.ChunkedArray | pa.Array):
        return _arrow(raw)
    if not isinstance(raw, list | tuple | np.ndarray):
        raw = _column(raw)
        if isinstance(raw, pa.ChunkedArray | pa.Array):
            return _arrow(raw)
    if isinstance(raw, np.ndarray):
        if raw.ndim == 2 and raw.shape[1] == 1:
            raw = raw[:, 0]
        if raw.ndim != 1:
            raise InvalidInput(
                f"the documents have the shape {raw.shape}; one text per row was expected. Pass "
                "one column."
            )
        raw = raw.tolist()
    return _from_python([text for batch in _batches(raw) for text in batch])


def _column(raw: Any) -> Any:
    """A series, or the only column of a frame, of any library; else a list."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(raw) and raw.shape[1] != 1:
        raise InvalidInput(
            f"a frame of {raw.shape[1]} columns was given where documents were expected. "
            "Pass one column, as frame['text']."
        )
    native = nw.from_native(raw, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        native = native.get_column(native.columns[0])
    if not isinstance(native, nw.Series):
        if isinstance(raw, Mapping | Set) or not isinstance(raw, Iterable):
            raise InvalidInput(
                f"documents were expected; found {raw!r:.60}, of type {type(raw).__name__}. Pass a "
                "list of texts, or one column of a table."
            )
        return list(raw)
    values = native.to_list() if native.dtype == nw.Object else native.to_arrow()
    return values


def _from_python(values: list[Any]) -> Any:
    import pyarrow as pa

    if bytes in set(map(type, values)):  # Arrow would take them for text
        raise _refusal(values)
    try:
        found = pa.array(values, type=pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as problem:
        raise _refusal(values) from problem
    return _without_nulls(found)


def _refusal(values: list[Any]) -> InvalidInput:
    """Which document is no text, or no valid Unicode."""
    for row, value in enumerate(values):
        if isinstance(value, float) and np.isnan(value):
            return InvalidInput(
                f"document {row} is missing (NaN). Drop such rows, or replace them by ''."
            )
        if not isinstance(value, str):
            return InvalidInput(
                f"document {row} is {value!r:.60}, of type {type(value).__name__}; text was "
                "expected. Convert it with str, or decode bytes."
            )
        try:
            value.encode()
        except UnicodeEncodeError as problem:
            return InvalidInput(
                f"document {row} has half of a surrogate pair at character {problem.start} "
                f"({value[problem.start]!a}), which is no character. Read the file with "
                "errors='replace', or remove it."
            )
    return InvalidInput("the documents could not be read as text.")


def _arrow(array: Any) -> Any:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    if pa.types.is_null(kind) or not (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        raise InvalidInput(
            f"the documents are an Arrow array of type {kind}; text was expected. Cast it to "
            "string."
        )
    array = array.cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    try:
        array.validate(full=True)  # loops trust that bytes are UTF-8
    except pa.ArrowInvalid as problem:
        raise InvalidInput(f"the documents are no valid UTF-8: {problem}.") from problem
    return _without_nulls(array)


def _without_nulls(array: Any) -> Any:
    if array.null_count:
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidInput(
            f"document {row} is missing ({array.null_count:,} are). Drop these rows, or replace "
            "them by an empty text."
        )
    return array


def bytes_of(array: Any) -> Documents:
    """An Arrow array of text as bytes and starts, without a copy."""
    buffers = array.buffers()
    starts = np.frombuffer(buffers[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    if not len(array):
        return Documents.of(np.empty(0, np.uint8), np.zeros(1, np.int64))
    text = np.frombuffer(buffers[2], dtype=np.uint8) if buffers[2] else np.empty(0, np.uint8)
    return Documents.of(text, starts)


def parts(array: Any, most: int = MOST_BYTES) -> Iterable[Any]:
    """Slices of an Arrow array of at most so many bytes, or of one document."""
    starts = bytes_of(array).starts
    first = 0
    while first < len(array):
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = min(max(last, first + 1), len(array))
        yield array.slice(first, last - first)
        first = last


def document_parts(raw: Any) -> Iterator[Any]:
    """Documents as Arrow arrays of text of a few megabytes; an iterable is read once, in parts."""
    import pyarrow as pa

    if isinstance(raw, pa.ChunkedArray | Source):
        row = 0
        for chunk in raw.chunks if isinstance(raw, pa.ChunkedArray) else _only_column(raw):
            yield from parts(_in_row(row, partial(_arrow, chunk)))
            row += len(chunk)
        return
    if isinstance(raw, str | bytes | os.PathLike | np.ndarray | pa.Array) or not _is_plain_iterable(
        raw
    ):
        yield from parts(documents(raw))
        return
    row = 0
    for taken in _batches(raw):
        yield from parts(_in_row(row, partial(_from_python, taken)))
        row += len(taken)


def _batches(values: Iterable[Any]) -> Iterator[list[Any]]:
    """Lists of some megabytes of documents; the text of files takes the place of their paths."""
    taken: list[Any] = []
    size = 0
    for some, n_characters in _sized(values):
        if taken and size + n_characters > MOST_BYTES:
            yield taken
            taken, size = [], 0
        taken += some
        size += n_characters
    if taken:
        yield taken


def _sized(values: Iterable[Any]) -> Iterator[tuple[list[Any], int]]:
    """One or a few documents at a time, with their length; those of lists are counted together."""
    if isinstance(values, list | tuple):
        for first in range(0, len(values), TOGETHER):
            some = list(values[first : first + TOGETHER])
            size = sum(map(len, some)) if set(map(type, some)) == {str} else MOST_BYTES
            if size < MOST_BYTES:
                yield some, size
            else:
                yield from map(_one, some)
    else:
        yield from map(_one, values)


def _one(value: Any) -> tuple[list[Any], int]:
    text = _content(value) if isinstance(value, os.PathLike) else value
    return [text], len(text) if isinstance(text, str) else 0


def _content(path: os.PathLike[str]) -> str:
    """The text of a file in UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidFile(
            path, f"byte {problem.start:,} is no valid UTF-8. Convert it, for instance with iconv."
        ) from None
    except OSError as problem:
        raise InvalidFile(path, f"it cannot be read: {problem.strerror}.") from None


def _only_column(source: Source) -> Iterator[Any]:
    """The texts of a table that is read in chunks; a missing cell is an empty text."""
    if len(source.names) != 1:
        raise InvalidInput(
            f"a table with the columns {listed(source.names)} was given where documents were "
            "expected. Choose one column, as likely.read(path).select(['text'])."
        )
    return (empty_where_missing(batch.column(0)) for batch in source.with_text(source.names))


def empty_where_missing(texts: Any) -> Any:
    """The Arrow texts of a column of a file; a missing cell is an empty text, as in CSV."""
    import pyarrow as pa

    if texts.null_count == len(texts):  # a column without a value has no type
        texts = pa.nulls(len(texts), pa.string())
    return texts.fill_null("")


def _is_plain_iterable(raw: Any) -> bool:
    """Whether documents come one by one: lists, generators, files; no series or frame."""
    if isinstance(raw, Mapping | Set):
        return False
    return isinstance(raw, list | tuple | Iterator) or (
        isinstance(raw, Iterable) and type(raw).__module__.startswith(("builtins", "likely."))
    )


def _in_row(row: int, read: Callable[[], Any]) -> Any:
    """What ``read`` gives; in its messages, documents are counted from this row."""
    try:
        return read()
    except InvalidInput as problem:
        if not row:
            raise
        message = re.sub(
            r"^document (\d+)", lambda found: f"document {row + int(found[1])}", str(problem)
        )
        raise InvalidInput(message) from problem


# ── Documents in parts of a few megabytes, on threads where there are several ─────────────────────

R = TypeVar("R")


def over_parts(executor: str | Executor, term: Callable[[Any], R], documents: Any) -> Iterator[R]:
    """``term`` of each part of the documents, an Arrow array of text, in their order."""
    chosen, parts = executor_and_parts(executor, documents)
    with chosen.mapping(term, parts) as found:
        yield from found


def executor_and_parts(executor: str | Executor, documents: Any) -> tuple[Executor, Iterator[Any]]:
    """The parts of the documents, and where they are read: "auto" needs two parts for threads."""
    parts = document_parts(documents)
    first = list(islice(parts, 2))
    return executor_for(executor, 0 if len(first) < 2 else None), chain(first, parts)


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
        letters, starts = self.letters, self.starts
        if letters.dtype != np.uint8 or letters.ndim != 1 or starts.dtype != np.int64:
            raise _invalid("bytes, and the place where each term starts")
        if starts.ndim != 1 or not starts.size or starts[0] != 0 or starts[-1] != letters.size:
            raise _invalid(f"terms that start at 0 and end at {letters.size}")
        if (np.diff(starts) < 0).any():
            raise _invalid("terms one after the other")
        text = letters.tobytes()
        try:
            names = [text[start:stop].decode() for start, stop in pairwise(starts.tolist())]
        except UnicodeDecodeError:
            raise _invalid("valid UTF-8") from None
        if len({*names}) < len(names):
            twice = [name for name, times in Counter(names).items() if times > 1]
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
