"""Rows to predict, in the forms that need no data frame.

    {"age": [34, 51], "town": ["Ulm", "Bonn"]}                    columns
    [{"age": 34, "town": "Ulm"}, {"age": 51, "town": "Bonn"}]     rows by name
    array of shape (n, p), or a list of rows                      by position

Columns are found by name: their order does not matter, others are ignored, and one that is not
there is refused.  In rows by name, a cell that a row does not have is missing.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.formatting import listed
from likely.runtime.columns import Column, ColumnTable, column_of

FORMS = (
    "a dict of columns, a list of dicts, or an array or list of rows with the columns of the fit"
)


def table_of(
    rows: Any, names: Sequence[str] | None, n_columns: int, unneeded: Sequence[str] = ()
) -> ColumnTable:
    """The rows as a table with the columns of the fit; ``unneeded`` ones may be absent."""
    if isinstance(rows, Mapping):
        return _named_columns(rows, names, unneeded)
    if isinstance(rows, np.ndarray):
        return _by_position(rows, names, n_columns)
    if not isinstance(rows, list | tuple) or not rows or isinstance(rows[0], str):
        raise InvalidInput(f"The rows are {_in_words(rows)}; expected {FORMS}. Convert them.")
    if isinstance(rows[0], Mapping):
        keys = dict.fromkeys(key for row in rows for key in row)
        columns = {key: [row.get(key) for row in rows] for key in keys}
        return _named_columns(columns, names, unneeded)
    try:
        values = np.array(rows)
    except ValueError:
        raise InvalidInput(
            "The rows have different lengths; expected a value for each column in every row. Fill "
            "cells that are missing with None."
        ) from None
    if values.dtype.kind in "US":
        values = np.array(rows, dtype=object)  # numbers among text stay numbers
    return _by_position(values, names, n_columns)


def numbers_beside(rows: Any, given: Any, what: str, n_rows: int, *, positive: bool) -> Array:
    """An offset or an exposure: a number, one for each row, or the name of a column of the rows."""
    if isinstance(given, str):
        if isinstance(rows, Mapping) and given in rows:
            given = rows[given]
        elif isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
            given = [row.get(given) for row in rows]
        else:
            raise InvalidInput(
                f"{what} is {given!r}, and the rows have no column of that name. Give one number "
                "for each row, or rows with that column."
            )
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must hold numbers; {error}. Pass one number per row.") from None
    column = np.full(n_rows, column) if column.ndim == 0 else column
    if column.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has shape {column.shape}; there are {n_rows} rows. Pass one number per row."
        )
    valid = np.isfinite(column) & (column > 0) if positive else np.isfinite(column)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InvalidInput(
            f"{what} of row {row} is {column[row]:g}; it must be finite"
            f"{' and above 0' if positive else ''}. Fix it, or drop the row."
        )
    return column


def _named_columns(
    given: Mapping[Any, Any], names: Sequence[str] | None, unneeded: Sequence[str]
) -> ColumnTable:
    if names is None:
        raise InvalidInput(
            f"The rows have the columns {listed([str(name) for name in given])}; the model was "
            "fitted to an array, whose columns have no names. Pass an array with its columns in "
            "the same order."
        )
    by_name = {str(name): values for name, values in given.items()}
    missing = [name for name in names if name not in by_name]
    needed = [name for name in missing if name not in {*unneeded}]
    if needed:
        close = get_close_matches(needed[0], [name for name in by_name if name not in names], n=1)
        hint = f" Was {needed[0]!r} renamed to {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"The rows have no column {listed([repr(name) for name in needed])}; the model was "
            f"fitted with {listed(list(names))}. Add {'it' if len(needed) == 1 else 'them'}.{hint}"
        )
    found = {
        name: column_of(by_name[name], f"Column {name!r}") for name in names if name in by_name
    }
    if not found:
        raise InvalidInput(f"There are no columns; expected {FORMS}. Pass at least one row.")
    first, n_rows = next((name, len(column)) for name, column in found.items())
    for name, column in found.items():
        if len(column) != n_rows:
            raise InvalidInput(
                f"Column {name!r} has {len(column)} values and column {first!r} has {n_rows}; "
                "expected as many in each. Fill cells that are missing with None."
            )
    empty = Column("number", np.full(n_rows, np.nan))
    columns = [found.get(name, empty) for name in names]
    return _some(ColumnTable(columns, n_rows, tuple(names)))


def _by_position(values: Array, names: Sequence[str] | None, n_columns: int) -> ColumnTable:
    if values.ndim != 2:
        raise InvalidInput(
            f"The rows are an array of shape {values.shape}; expected (n, {n_columns}). Reshape "
            "it: values.reshape(1, -1) for one row."
        )
    if values.shape[1] != n_columns:
        raise InvalidInput(
            f"The rows have {values.shape[1]} columns; the model was fitted with {n_columns}. "
            "Pass the columns of the fit, in their order."
        )
    if values.dtype.kind == "O":
        values = _numbers_if_possible(values)
    known = None if names is None else tuple(names)
    columns = [column_of(values[:, j], f"Column {j}") for j in range(n_columns)]
    return _some(ColumnTable(columns, len(values), known))


def _numbers_if_possible(values: Array) -> Array:
    """Objects that all are numbers as floats; those with text stay as they are."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _some(table: ColumnTable) -> ColumnTable:
    if not table.n_rows:
        raise InvalidInput(f"There are no rows; expected {FORMS}. Pass at least one row.")
    return table


def _in_words(rows: Any) -> str:
    if isinstance(rows, list | tuple):
        return "a list of text" if rows else "an empty list"
    return "text" if isinstance(rows, str) else f"a {type(rows).__name__}"
