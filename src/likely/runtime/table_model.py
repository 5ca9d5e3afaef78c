"""What a model of a table does in the runtime: encoded columns to probabilities or means."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.layouts.intercept import Design
from likely.data.schema import EncodedTable, Schema, warn_of_unseen
from likely.data.source import TableKinds, refuse_others
from likely.errors import BadCell, InvalidInput
from likely.runtime.columns import ColumnTable
from likely.runtime.saved_model import SavedModel

CHUNK_CELLS = 50_000  # rows are scored in pieces of so many cells, which bounds the memory


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

    @abstractmethod
    def answer(self, table: ColumnTable, moves: Moves) -> Array:
        """log p(k | x), (n, n_classes), or E[y | x] of each row."""

    def chosen(self, table: ColumnTable, moves: Moves) -> Array:
        """The most probable class of each row; for a model of numbers, E[y | x]."""
        answer = self.answer(table, moves)
        return answer if self.classes is None else self.classes[answer.argmax(axis=1)]


def encoded(schema: Schema, table: ColumnTable) -> EncodedTable:
    """The table by the schema of the fit; unseen categories are a warning."""
    refuse_others(TableKinds(table.names, table.kinds))
    found = schema.encode(table)
    warn_of_unseen(found.unseen)
    return found


def pieces(design: Design) -> Iterator[tuple[int, Design]]:
    """The rows in pieces, each with the number of its first row."""
    size = max(1, CHUNK_CELLS // max(1, design.nbytes // 8 // max(1, design.n_rows)))
    for start in range(0, design.n_rows, size):
        yield start, design.rows(start, min(start + size, design.n_rows))


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
    return model.feature_names, int(model.required("n_features_in_"))


def first_gap(values: Array) -> tuple[int, int] | None:
    """The row and the column of the first value that is not finite."""
    bad = np.argwhere(~np.isfinite(values))
    return (int(bad[0][0]), int(bad[0][1])) if len(bad) else None
