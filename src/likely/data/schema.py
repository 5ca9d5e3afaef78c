"""The kinds and categories of columns, learned from blocks, and the encoded design.

    categories(A ∪ B) = categories(A) ∪ categories(B)      per column read as codes

A schema is a summary like any other: blocks are described one by one and added.
Columns that are not read as codes pass through as numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import is_not
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.categories import (
    CodedValues,
    codes_in,
    codes_of_factor,
    distinct_by_column,
    distinct_of_factor,
    union,
)
from likely.data.frames import InMemoryTable, as_table, frame_of, is_sparse, side_by_side
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.source import column_indices, column_label, kinds_of
from likely.errors import InvalidInput, UnseenCategories, warn_user
from likely.kinds import ColumnKind
from likely.numerics.additive import Additive
from likely.storage.values import same_count

MISSING = "missing"  # the category of a cell that has none, where a model reads it as one
NUMERIC = frozenset({"number", "boolean", "word"})


class EncodedTable(NamedTuple):
    """A design, and the first value of each column that the schema had not seen."""

    design: Design
    unseen: tuple[tuple[str, object], ...]  # (the column, the value); their code is −1


class LearnedSchema(NamedTuple):
    """The schema of a table, and the table encoded by it."""

    schema: "Schema"
    design: Design


@final
@dataclass(frozen=True, eq=False)
class Schema(Additive):
    """Names, kinds and categories of columns."""

    names: tuple[str, ...] | None  # None for a bare array
    kinds: tuple[ColumnKind, ...]
    as_codes: tuple[bool, ...]  # which columns are read as category codes
    categories: tuple[Array | None, ...]  # sorted distinct values; None where not read as codes

    @classmethod
    def of(cls, table: object, as_codes: Sequence[bool]) -> "Schema":
        """The schema of one table; missing values are not a category."""
        read = as_table(table)
        flags = _check_columns(read, as_codes)
        X = read.integers() if flags and all(flags) else None
        if X is not None:
            return cls._of_integers(read, X)
        found = [values for values, _ in _described(read, flags)]
        return cls(read.names, read.kinds, flags, tuple(found))

    @classmethod
    def learn(cls, table: object, as_codes: Sequence[bool]) -> LearnedSchema:
        """The schema of a table and the encoded table; each column is encoded once."""
        read = as_table(table)
        flags = _check_columns(read, as_codes)
        X = read.integers() if flags and all(flags) else None
        if X is not None:
            schema = cls._of_integers(read, X)
            return LearnedSchema(schema, schema._design_of_integers(X))
        columns = range(len(flags))
        if not any(flags):
            schema = cls(read.names, read.kinds, flags, (None,) * len(flags))
            return LearnedSchema(schema, schema._design_of_numbers(read, columns))
        found: list[Array | None] = []
        coded: list[Codes] = []
        for values, factor in _described(read, flags):
            found.append(values)
            if values is not None and factor is not None:
                coded.append(codes_of_factor(factor, values))
        schema = cls(read.names, read.kinds, flags, tuple(found))
        schema._refuse_text(read, columns)
        return LearnedSchema(schema, schema._mixed(read, columns, coded))

    @classmethod
    def _of_integers(cls, read: InMemoryTable, X: Array) -> "Schema":
        """The schema of an array of integers or Booleans, every column read as codes."""
        pairs = zip(distinct_by_column(X), read.kinds, strict=True)
        found = [values.astype(bool) if kind == "boolean" else values for values, kind in pairs]
        return cls(read.names, read.kinds, (True,) * len(found), tuple(found))

    def __add__(self, other: "Schema") -> "Schema":
        if (self.names, self.as_codes) != (other.names, other.as_codes):
            raise InvalidInput(
                f"Tables with the columns {_listed(self)} and {_listed(other)} cannot be joined. "
                "Rows of one data set have the same columns in the same order; select them first."
            )
        pairs = zip(self.categories, other.categories, strict=True)
        return Schema(
            self.names,
            tuple(map(_common_kind, self.kinds, other.kinds)),
            self.as_codes,
            tuple(None if a is None or b is None else union(a, b) for a, b in pairs),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many categories each column of codes has."""
        return tuple(int(values.size) for values in self._known_categories())

    def encode(self, table: object) -> EncodedTable:
        """The table as a design; a category that is not in the schema has code −1."""
        read = as_table(table)
        columns = self._columns_of(read)
        if not any(self.as_codes):
            return EncodedTable(self._design_of_numbers(read, columns), ())
        in_order = list(columns) == list(range(len(read.kinds)))
        X = read.integers() if self._codes_are_values() and in_order else None
        if X is not None and _within(X, self.sizes):
            return EncodedTable(Mixed(np.empty((X.shape[0], 0)), X, self.sizes), ())
        return self._encode_by_column(read, columns)

    def recoding(self, wider: "Schema") -> tuple[Codes, ...]:
        """Per column of codes, for each code here the code in ``wider``."""
        pairs = zip(self._known_categories(), wider._known_categories(), strict=True)
        return tuple(codes_in(mine, theirs) for mine, theirs in pairs)

    def recoded(self, design: Design, wider: "Schema") -> Design:
        """A design by this schema as ``wider``, which has more categories, would encode it."""
        if not isinstance(design, Mixed):
            return design
        codes, mapping = design.codes, self.recoding(wider)
        if not all(np.array_equal(new, np.arange(len(new))) for new in mapping):
            columns = [np.append(new, np.int32(-1))[codes[:, j]] for j, new in enumerate(mapping)]
            codes = side_by_side(columns, design.n_rows, np.int32)
        return Mixed(design.numeric, codes, wider.sizes)

    def decode(self, numeric: Array, codes: Codes, like: str | None = None) -> Any:
        """Decoded rows, with the columns in their original order.

        ``like`` is the data frame library of the result (see ``library_of``); Arrow's table
        when it is None.  Without names the result is an array, of floats if all are numbers.
        """
        columns = self.decoded_columns(numeric, codes)
        if self.names is not None:
            return frame_of(dict(zip(self.names, columns, strict=True)), like)
        if all(column.dtype.kind in "fiu" for column in columns):
            return side_by_side(columns, numeric.shape[0], np.float64)
        return side_by_side(columns, numeric.shape[0], object)

    def _known_categories(self) -> list[Array]:
        return [values for values in self.categories if values is not None]

    def _codes_are_values(self) -> bool:
        """Whether every column is read as codes and its categories are 0, …, V − 1."""
        return bool(self.as_codes) and all(
            values is not None
            and values.dtype.kind in "biu"
            and (not values.size or (values[0] == 0 and values[-1] == values.size - 1))
            for values in self.categories
        )

    def _columns_of(self, read: InMemoryTable) -> list[int]:
        """Where each column of the schema is in the table: by name if both have names."""
        if self.names is not None and read.names is not None:
            return column_indices(read.names, self.names)
        if len(read.kinds) != len(self.kinds):
            raise InvalidInput(
                f"The table has {len(read.kinds)} columns; {len(self.kinds)} were expected. "
                "Pass the columns that the model was fitted on, in the same order."
            )
        return list(range(len(self.kinds)))

    def _refuse_text(self, read: InMemoryTable, columns: Sequence[int]) -> None:
        kinds = read.kinds  # made again each time it is asked for
        if not {*kinds} - NUMERIC:
            return
        for position, column in enumerate(columns):
            if not self.as_codes[position] and kinds[column] not in NUMERIC:
                raise InvalidInput(
                    f"{column_label(self.names, position)} must hold numbers; found "
                    f"{'text' if kinds[column] == 'category' else 'other values'}. "
                    "Convert it, drop it, or use a model that reads categories."
                )

    def _encode_by_column(self, read: InMemoryTable, columns: Sequence[int]) -> EncodedTable:
        self._refuse_text(read, columns)
        coded: list[Codes] = []
        unseen: list[tuple[str, object]] = []
        for position, values in enumerate(self.categories):
            if values is None:
                continue
            factor = read.factor(columns[position])
            codes = codes_of_factor(factor, values)
            coded.append(codes)
            new = (codes < 0) & (factor.codes >= 0)
            if new.any():
                if factor.values.dtype.kind == "f":
                    _refuse_infinity(factor.values, self.names, position)
                name = f"column {position}" if self.names is None else self.names[position]
                unseen.append((name, factor.values[factor.codes[new.argmax()]]))
        return EncodedTable(self._mixed(read, columns, coded), tuple(unseen))

    def _design_of_integers(self, X: Array) -> Mixed:
        """An array of integers that the schema was learned from: as it is, if they are codes."""
        if not self._codes_are_values():
            pairs = zip(X.T, self._known_categories(), strict=True)
            X = side_by_side([codes_in(*pair) for pair in pairs], X.shape[0], np.int32)
        return Mixed(np.empty((X.shape[0], 0)), X, self.sizes)

    def _design_of_numbers(self, read: InMemoryTable, columns: Sequence[int]) -> Design:
        self._refuse_text(read, columns)
        X = read.matrix(columns)
        return Csr(X) if is_sparse(X) else Dense(X)

    def _mixed(self, read: InMemoryTable, columns: Sequence[int], coded: Sequence[Codes]) -> Mixed:
        """The numbers of the table, and the codes of its other columns."""
        numbers = [columns[j] for j, is_coded in enumerate(self.as_codes) if not is_coded]
        numeric: Any = np.empty((read.n_rows, 0))
        if numbers:
            numeric = read.matrix(numbers)
            if not is_sparse(numeric):  # words are
                numeric = np.ascontiguousarray(numeric, dtype=np.float64)
        return Mixed(numeric, side_by_side(coded, read.n_rows, np.int32), self.sizes)

    def decoded_columns(self, numeric: Array, codes: Codes) -> list[Array]:
        """The values of each column, in their original order."""
        columns, next_number, next_code = [], 0, 0
        for kind, values in zip(self.kinds, self.categories, strict=True):
            if values is None:
                columns.append(_number_or_boolean(numeric[:, next_number], kind))
                next_number += 1
            else:
                columns.append(_category_values(codes[:, next_code], values))
                next_code += 1
        return columns

    def check_saved(self) -> None:
        """Refuse descriptions of different numbers of columns, or codes without categories."""
        described = {len(self.kinds), len(self.as_codes), len(self.categories)}
        described |= set() if self.names is None else {len(self.names)}
        same_count("A schema", sorted(described), [len(self.kinds)])
        coded = tuple(map(is_not, self.categories, repeat(None)))
        same_count("The categories of a schema", coded, self.as_codes)


def warn_of_unseen(unseen: Sequence[tuple[str, object]]) -> None:
    """Warn of categories that the schema had not seen, if there are any."""
    if unseen:
        shown = ", ".join(cell_shown(name, _plain(value)) for name, value in unseen[:3])
        warn_user(
            f"Categories not seen in training are ignored: {shown}"
            f"{' and others' if len(unseen) > 3 else ''}. Fit again with rows that have them.",
            UnseenCategories,
        )


def cell_shown(name: str, value: object) -> str:
    """A column and one of its categories; that of empty cells is a word that no cell has."""
    return f"{name} (an empty cell, or {MISSING!r})" if value == MISSING else f"{name}={value!r}"


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _described(
    read: InMemoryTable, flags: Sequence[bool]
) -> Iterator[tuple[Array | None, CodedValues | None]]:
    """The categories of each column and its codes; two Nones where it is read as numbers."""
    for position, coded in enumerate(flags):
        if not coded:
            yield None, None
            continue
        factor = read.factor(position)
        values = distinct_of_factor(factor)
        if values.dtype.kind == "f":
            _refuse_infinity(values, read.names, position)
        yield values, factor


def _refuse_infinity(values: Array, names: Sequence[str] | None, position: int) -> None:
    if np.isinf(values).any():
        raise InvalidInput(
            f"{column_label(names, position)} holds inf (infinity); values must be finite or "
            "missing. Remove the row, or replace the value by NaN."
        )


def _check_columns(read: InMemoryTable, as_codes: Sequence[bool]) -> tuple[bool, ...]:
    kinds = kinds_of(read)
    flags = tuple(map(bool, as_codes))
    if len(flags) != len(kinds.kinds):
        raise InvalidInput(
            f"The table has {len(kinds.kinds)} columns; {len(flags)} flags were given. "
            "Give one flag per column: whether it is read as codes."
        )
    return flags


def _common_kind(a: ColumnKind, b: ColumnKind) -> ColumnKind:
    return a if a == b else "number" if "category" not in (a, b) else "category"


def _within(X: Array, sizes: Sequence[int]) -> bool:
    """Whether every code is one of its column's; a single bound is tried first."""
    if not X.size:
        return True
    low = X.min() if X.dtype.kind == "i" else 0
    if low < 0:
        return False
    return bool(X.max() < min(sizes)) or bool((X.max(axis=0) < np.array(sizes)).all())


def _listed(schema: Schema) -> str:
    return str(len(schema.kinds)) if schema.names is None else ", ".join(schema.names)


def _number_or_boolean(column: Array, kind: ColumnKind) -> Array:
    if kind == "boolean" and not np.isnan(column).any():
        return column.astype(bool)
    return column


def _category_values(codes: Codes, values: Array) -> Array:
    if (codes >= 0).all():
        return values[codes]
    if values.dtype.kind in "iuf":
        return np.append(values.astype(float), np.nan)[codes]
    with_missing = np.empty(values.size + 1, dtype=object)  # born as None
    with_missing[:-1] = values
    return with_missing[codes]
