"""A table as codes of distinct values: the input of every check of ``look``.

Each column is encoded once, in the order in which values appear; after that, counting, comparing
rows and conditioning on the target work on small integers, for every type of column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.arrow import decoded
from likely.data.arrow_columns import kind_of_arrow
from likely.data.copies import copies_in_table
from likely.data.labels import (
    ISO_DATE,
    are_names,
    are_written_numbers,
    has_many_values,
)
from likely.data.near_copies import NearCopies, near_copies_in_table
from likely.data.source import column_index
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_IN_ORDER = 20  # dates of fewer rows may be in order by chance


@final
@dataclass(frozen=True, eq=False)
class ProfiledColumn:
    """A column: ``values[codes]``, where the code is not −1, which is missing."""

    name: str
    codes: Codes  # (n_rows,)
    values: Any  # pyarrow.Array, distinct, in the order of their appearance
    declared: bool = False  # as categories
    classes: bool | None = None  # of a target: whether its task has them; None: it has no task

    @cached_property
    def counts(self) -> Array:
        """How often each value occurs."""
        return np.bincount(self.codes + 1, minlength=len(self.values) + 1)[1:]

    @property
    def n_rows(self) -> int:
        return int(self.codes.size)

    @cached_property
    def n_known(self) -> int:
        return int(self.counts.sum())

    @property
    def n_missing(self) -> int:
        return self.n_rows - self.n_known

    @property
    def n_distinct(self) -> int:
        return len(self.values)

    @cached_property
    def kind(self) -> ColumnKind:
        return kind_of_arrow(self.values.type)

    @property
    def is_text(self) -> bool:
        return self.kind == "category"

    @property
    def is_number(self) -> bool:
        return self.kind == "number" and self.n_known > 0

    @property
    def many_values(self) -> bool:
        """Whether there are too many values for the number of rows."""
        return has_many_values(self.n_distinct, self.n_known)

    @property
    def type(self) -> str:
        """The type as tables show it: the kind of the column, or a narrower one."""
        import pyarrow.types as types

        if not self.n_known:
            return "empty"
        if self.kind == "category":
            if not self.declared and self.matching(ISO_DATE).all():
                return "date"
            return "text" if self.many_values and not self.declared else "category"
        if self.kind == "number":
            return "integer" if types.is_integer(self.values.type) else "number"
        return "Boolean" if self.kind == "boolean" else self.kind

    @cached_property
    def reads_as_classes(self) -> bool:
        """Whether it has classes as a target: as its task, or, where it has none, as text."""
        if self.classes is not None:
            return self.classes
        return self.is_text or (self.kind == "boolean" and self.n_known > 0)

    @property
    def too_many_classes(self) -> bool:
        """Whether ``task_of`` refuses it as a target, because it is an identifier."""
        return self.is_text and are_names(self.n_distinct, self.n_known)

    @cached_property
    def numbers(self) -> Array:
        """The distinct values of a column of numbers or Booleans, as floats."""
        import pyarrow as pa

        return np.asarray(self.values.cast(pa.float64(), safe=False).to_numpy())

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are finite and have no fraction."""
        finite = bool(np.isfinite(self.numbers).all())
        return finite and bool((np.floor(self.numbers) == self.numbers).all())

    @cached_property
    def order(self) -> Array:
        """The places of the distinct numbers, from the least to the greatest."""
        return np.argsort(self.numbers)

    @cached_property
    def ascending(self) -> tuple[Array, Array]:
        """The distinct numbers from the least to the greatest, and how often each occurs."""
        return self.numbers[self.order], self.counts[self.order]

    @property
    def mode(self) -> Any:
        """The most frequent value."""
        return self.values[int(self.counts.argmax())].as_py()

    def top(self, most: int) -> list[tuple[Any, int]]:
        """The most frequent values with their counts."""
        order = np.argsort(-self.counts, kind="stable")[:most]
        return [(self.values[int(i)].as_py(), int(self.counts[i])) for i in order]

    def quantile(self, share: float) -> float:
        """The quantile of the known cells at this share."""
        numbers, counts = self.ascending
        reached = np.cumsum(counts)
        return float(numbers[np.searchsorted(reached, share * reached[-1])])

    @cached_property
    def written_numbers(self) -> Array:
        """Which of the distinct values of text are numbers, in common notations."""
        return are_written_numbers(self.values)

    def share_matching(self, pattern: str) -> float:
        """The share of the known cells of text that match a regular expression."""
        return float(self.counts[self.matching(pattern)].sum() / max(self.n_known, 1))

    def matching(self, pattern: str) -> Array:
        """Which of the distinct values of text match."""
        import pyarrow.compute as pc

        found = pc.match_substring_regex(self.values, pattern)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


@final
@dataclass(frozen=True, eq=False)
class Profile:
    """The columns of a table, one of which may be the target."""

    columns: tuple[ProfiledColumn, ...]
    table: "pa.Table"  # the same columns, by which rows are called copies
    target: ProfiledColumn | None = None
    apart: frozenset[str] = frozenset()  # columns that no model learns from
    identifiers: frozenset[str] = frozenset()  # those of them that identify rows
    texts: frozenset[str] = frozenset()  # columns whose words are counted
    group: str | None = None  # the column whose rows are held out together
    questions: frozenset[str] = frozenset()  # columns of text that may be numbers or dates
    is_split: bool = True  # as any rows in memory: not by time, nor as somebody has named them

    @cached_property
    def features(self) -> tuple[ProfiledColumn, ...]:
        apart = self.apart
        return tuple(c for c in self.columns if c is not self.target and c.name not in apart)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def copies(self) -> Codes | None:
        """The first row that each row is a copy of, by the features; None: no copies.

        The same decision as that of the folds (``Dataset.copies``).
        """
        table = self._numbered_features
        return copies_in_table(table, table.column_names, texts=self._numbered_texts)

    @cached_property
    def near_copies(self) -> NearCopies | None:
        """Rows that are nearly copies of others, by the features, whose names are their places."""
        table = self._numbered_features
        return near_copies_in_table(table, table.column_names, texts=self._numbered_texts)

    def holds_together(self, near: NearCopies) -> bool:
        """Whether near copies are on one side of every split (``Dataset.units``)."""
        if not self.is_split:
            return False
        groups = [each.codes for each in self.columns if each.name == self.group]
        return near.are_held_together(groups[0] if groups else None)

    @cached_property
    def _numbered_features(self) -> "pa.Table":
        features = set(self.features)
        places = [j for j, column in enumerate(self.columns) if column in features]
        return self.table.select(places).rename_columns([str(j) for j in places])

    @property
    def _numbered_texts(self) -> list[str]:
        return [str(j) for j, column in enumerate(self.columns) if column.name in self.texts]

    def is_held_together(self, column: ProfiledColumn) -> bool:
        """Whether the rows of each value are held out together: the declared group, or its twin."""
        same = (each for each in self.columns if each.name == self.group)
        return any(each is column or _digest(each) == _digest(column) for each in same)

    def twin_of(self, column: ProfiledColumn) -> ProfiledColumn | None:
        """The first feature with the same codes, if it comes before this one.

        Codes follow the first appearance, so equal codes are equal up to the names of values.
        """
        first = self._first_with_codes.get(_digest(column), column)
        if first is column or column.n_distinct < 2:
            return None
        known = column.codes >= 0
        if self.copies is not None:  # in which all columns repeat together
            known &= self.copies == np.arange(self.n_rows)
        repeats = 2 * column.n_distinct <= known.sum()  # else any two columns may agree
        return first if repeats or column.values.equals(first.values) else None

    @cached_property
    def _first_with_codes(self) -> dict[bytes, ProfiledColumn]:
        first: dict[bytes, ProfiledColumn] = {}
        for column in self.features:
            first.setdefault(_digest(column), column)
        return first


def _digest(column: ProfiledColumn) -> bytes:
    return blake2b(np.ascontiguousarray(column.codes).data, digest_size=16).digest()


def profile_of(
    table: "pa.Table", target: str | None = None, *, classes: bool | None = None
) -> Profile:
    """Every column encoded; an unknown target is refused with the nearest name.

    ``classes`` says whether the task of the target has classes; None is of one without a task.
    """
    names: Sequence[str] = table.column_names
    place = None if target is None else column_index(names, target)
    columns = tuple(
        replace(_column(name, table.column(j)), classes=classes if j == place else None)
        for j, name in enumerate(names)
    )
    return Profile(columns, table, None if place is None else columns[place])


def _column(name: str, column: Any) -> ProfiledColumn:
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # more text than one array holds
        array = pa.concat_arrays(array.cast(pa.large_string()).chunks)
    declared = pa.types.is_dictionary(array.type)
    array = _without_encoding(array)
    if pa.types.is_nested(array.type) or pa.types.is_null(array.type):
        known = array.is_valid().to_numpy(zero_copy_only=False)
        codes = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
        return ProfiledColumn(name, codes, array.drop_null(), declared)
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return ProfiledColumn(name, codes, encoded.dictionary, declared)


def _without_encoding(array: Any) -> Any:
    """Categories as their values, decimals as floats, NaN as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = array.type
    if pa.types.is_dictionary(type_):
        array = decoded(array)
    elif pa.types.is_decimal(type_) or pa.types.is_float16(type_):
        array = array.cast(pa.float64())
    elif pa.types.is_string_view(type_):
        array = array.cast(pa.string())
    if pa.types.is_floating(array.type):
        absent = pc.is_nan(array)
        if pc.any(absent).as_py():
            array = pc.if_else(absent, None, array)
    return array


def time_of_rows(table: "pa.Table") -> str | None:
    """The first column of dates that never decrease from row to row; None where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        known = column.drop_null().combine_chunks()
        temporal = pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if len(known) < FEWEST_IN_ORDER or not (temporal or text):
            continue
        if text and not pc.all(pc.match_substring_regex(known, ISO_DATE)).as_py():
            continue
        upwards = pc.all(pc.less_equal(known[:-1], known[1:])).as_py()
        if upwards and known[0] != known[-1]:
            return name
    return None
