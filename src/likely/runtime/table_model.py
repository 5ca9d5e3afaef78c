"""What a model of a table does in the runtime: encoded columns to probabilities or means."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.layouts.base import Design
from likely.data.schema import EncodedTable, Schema, warn_of_unseen
from likely.data.source import kinds_of
from likely.errors import BadCell, InvalidInput
from likely.runtime.columns import ColumnTable
from likely.runtime.count_rows import CountRows
from likely.runtime.saved_model import SavedModel

CHUNK_CELLS = 50_000  # rows are scored in pieces of so many cells, which bounds the memory
CHUNK_TEXTS = 1000  # rows with words


class Moves(NamedTuple):
    """What is added to the linear predictor of each row: offset + ln exposure."""

    total: Array | float = 0.0
    given: bool = False  # whether there is an offset or an exposure
    exposed: bool = False  # whether there is an exposure


class TableModel(ABC):
    """The contract of a model that reads encoded columns."""

    name: str  # of its class
    names: tuple[str, ...] | None  # of the columns of the fit
    n_columns: int
    unneeded: tuple[str, ...] = ()  # columns that may be absent
    classes: Array | None  # None for a model of numbers

    def rows(self, given: Any) -> Any:
        """Rows with the columns of the fit, of documents that are lists of word ids."""
        return given

    @abstractmethod
    def answer(self, table: ColumnTable, moves: Moves) -> Array:
        """log p(k | x), (n, n_classes), or E[y | x] of each row."""

    def chosen(self, table: ColumnTable, moves: Moves) -> Array:
        """The most probable class of each row; for a model of numbers, E[y | x]."""
        answer = self.answer(table, moves)
        return answer if self.classes is None else self.classes[answer.argmax(axis=1)]


class EncodedCells(NamedTuple):
    """The dense columns of a table by the schema of the fit, and the words of its texts."""

    schema: Schema  # of the dense columns
    table: EncodedTable
    words: CountRows | None

    def pieces(self, design: Design) -> Iterator[tuple[int, Design, CountRows | None]]:
        """The rows of the design and of the words, in pieces after the number of the first row."""
        n = design.n_rows
        size = max(1, CHUNK_CELLS // max(1, design.nbytes // 8 // max(1, n)))
        size = size if self.words is None else min(size, CHUNK_TEXTS)
        for start in range(0, n, size):
            stop = min(start + size, n)
            words = None if self.words is None else self.words.rows(start, stop)
            yield start, design.rows(start, stop), words


def encoded(schema: Schema, table: ColumnTable) -> EncodedCells:
    """The table by the schema of the fit; unseen categories are a warning."""
    kinds_of(table)  # others are refused
    p = len(table.columns)
    if table.words is not None:
        schema = _first_columns(schema, p, table.words.n_columns)
    found = schema.encode(table)
    warn_of_unseen(found.unseen)
    return EncodedCells(schema, found, table.words)


def _first_columns(schema: Schema, p: int, n_words: int) -> Schema:
    """The schema of the columns before the words."""
    if len(schema.kinds) != p + n_words:
        raise InvalidInput(
            f"The model has {len(schema.kinds)} columns; its preparation makes {p + n_words}. Save "
            "the model again."
        )
    names = None if schema.names is None else schema.names[:p]
    return Schema(names, schema.kinds[:p], schema.as_codes[:p], schema.categories[:p])


def named(error: BadCell, names: tuple[str, ...] | None) -> InvalidInput:
    """The error about a cell with the name of its column, where it has one."""
    return error if names is None else error.named(names)


def refuse_moves(model: TableModel, moves: Moves) -> None:
    """Refuse an offset or an exposure that a model does not have."""
    if moves.given:
        raise InvalidInput(
            f"An offset or an exposure was given, which {model.name} does not take. Leave it out."
        )


def columns_of(model: SavedModel) -> tuple[tuple[str, ...] | None, int]:
    """The names of the columns of the fit, and their number."""
    names, n_columns = model.feature_names, int(model.required("n_features_in_"))
    return names, n_columns


def first_gap(values: Array) -> tuple[int, int] | None:
    """The row and the column of the first value that is not finite."""
    bad = np.argwhere(~np.isfinite(values))
    return (int(bad[0][0]), int(bad[0][1])) if len(bad) else None
