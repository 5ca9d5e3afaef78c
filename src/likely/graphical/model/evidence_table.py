"""A table of observations as codes of states: a row for each example, a column for each variable.

    codes[i, v] = the position of the state of row i among the states of variable v; −1 is missing

A cell whose text is a state is that state, also where the state is called "NA" or "None"; any other
cell that is empty or null is missing.  Numbers and Booleans match by their text, whole numbers
without a decimal point: 1, 1.0 and "1" are the state "1", and True is the state "True" (or "true",
or "TRUE").  Each distinct value of a column is looked up once.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from likely._typing import Array, Codes
from likely.data.formats.column_types import FALSE, TRUE
from likely.data.formats.column_types import MISSING as MISSING_WORDS
from likely.data.frames import ArrayTable, InMemoryTable, as_table, side_by_side
from likely.errors import BadCell, InvalidInput, UnknownState
from likely.graphical.model.graph_evidence import is_blank
from likely.graphical.model.variable import Variable, state_text
from likely.kinds import ColumnKind
from likely.output.formatting import listed, quoted

MISSING = -1
UNKNOWN = -2
MOST_KEYS = 2**62  # numbers of combinations of states that an int64 can hold

FindCode = Callable[[Variable, Any], int]


def codes_of_frame(variables: Sequence[Variable], frame: object) -> Codes:
    """The codes of a frame or an array, (n, n_variables) int32 in C order; −1 is missing.

    The columns of a frame are found by name.  A variable without a column is missing in every row;
    a column that is no variable is refused, because it may be one that is misspelt.  An array has a
    column for each variable, in their order; whole numbers in it are codes already, −1 for missing.
    """
    try:
        return codes_of_table(variables, as_table(frame))
    except BadCell as error:
        raise error.named([variable.name for variable in variables]) from None


def codes_of_table(variables: Sequence[Variable], table: InMemoryTable) -> Codes:
    """``codes_of_frame`` of a table; a bad cell is named by its position (``BadCell``)."""
    if isinstance(table, ArrayTable) and table.values.dtype.kind in "iu":
        return _checked_codes(variables, table.values)
    return codes_by_state(variables, table)


def code_of_value(variable: Variable, value: object) -> int:
    """The code of a value; −1 for blank text, −2 for what is no state."""
    found = variable.find(value)
    if found is None:
        return MISSING if is_blank(value) else UNKNOWN
    return found


def code_of_written(variable: Variable, text: str) -> int:
    """The code of a cell of a text file: a state as it is written, else the value it stands for."""
    found = variable.find(text)
    if found is not None:
        return found
    return MISSING if text in MISSING_WORDS else code_of_value(variable, _value_of(text))


def _value_of(text: str) -> bool | float | str:
    if text in TRUE or text in FALSE:
        return text in TRUE
    try:
        return float(text)
    except ValueError:
        return text


def codes_by_state(
    variables: Sequence[Variable], table: InMemoryTable, find: FindCode = code_of_value
) -> Codes:
    """The codes of a table whose cells are states, also where they are whole numbers."""
    missing = np.broadcast_to(np.int32(MISSING), table.n_rows)
    columns: list[Codes] = []
    for v, column in enumerate(_columns_of(variables, table)):
        if column is None:
            columns.append(missing)
        else:
            columns.append(_column_codes(variables, v, table, column, find))
    return side_by_side(columns, table.n_rows, np.int32)


def restored(values: Array, kind: ColumnKind) -> list[Any]:
    """Values of a column; Booleans beside a null are read as 0.0 and 1.0, and are restored."""
    given: list[Any] = values.tolist()
    return [bool(value) for value in given] if kind == "boolean" else given


def row_keys(codes: Codes, sizes: Sequence[int]) -> Array:
    """One number for each row, equal for equal rows and in the order of the rows; (n,) int64."""
    key, n_keys = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if n_keys * (size + 1) > MOST_KEYS:
            values, key = np.unique(key, return_inverse=True)
            n_keys = len(values)
        key = key * (size + 1) + (column + 1)  # −1 is a value, too
        n_keys *= size + 1
    return key


def distinct_rows(codes: Codes, sizes: Sequence[int], weight: Array | None) -> tuple[Codes, Array]:
    """The distinct rows in lexicographic order, and the total weight of each."""
    _, first, place = np.unique(row_keys(codes, sizes), return_index=True, return_inverse=True)
    total = np.bincount(place, weight, len(first)).astype(float)
    return np.ascontiguousarray(codes[first]), total


def _columns_of(variables: Sequence[Variable], table: InMemoryTable) -> list[int | None]:
    """The column of each variable; None where there is none."""
    known = [variable.name for variable in variables]
    if table.names is None:
        _refuse_other_width(variables, len(table.kinds))
        return list(range(len(known)))
    refuse_other_columns(known, table.names)
    place = {name: column for column, name in enumerate(table.names)}
    return [place.get(name) for name in known]


def refuse_other_columns(
    variables: Sequence[str], columns: Sequence[str], remedy: str | None = None
) -> None:
    """Refuse columns that are no variables: they may be misspelt."""
    known = set(variables)
    others = [name for name in columns if name not in known]
    if not others:
        return
    close = get_close_matches(others[0], variables, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    what = f"Column {others[0]!r} is no variable"
    if len(others) > 1:
        what = f"Columns {quoted(others)} are no variables"
    frame = f"Rename it, or leave it out: frame.drop(columns={others})."
    raise InvalidInput(
        f"{what} of the graph; its variables are {listed(variables)}.{hint} {remedy or frame}"
    )


def _refuse_other_width(variables: Sequence[Variable], n_columns: int) -> None:
    if n_columns != len(variables):
        raise InvalidInput(
            f"The array has {n_columns} columns; one for each of the {len(variables)} variables "
            "was expected, in their order. Pass a data frame to name the columns."
        )


def _column_codes(
    variables: Sequence[Variable], v: int, table: InMemoryTable, column: int, find: FindCode
) -> Codes:
    variable, factor = variables[v], table.factor(column)
    values = restored(factor.values, table.kinds[column])
    code = np.array([find(variable, value) for value in values], dtype=np.int32)
    codes = np.append(code, np.int32(MISSING))[factor.codes]  # the last entry is for null
    if (code == UNKNOWN).any() and (codes == UNKNOWN).any():  # a dictionary may have unused values
        row = int(np.argmax(codes == UNKNOWN))
        text = state_text(values[factor.codes[row]])
        raise BadCell(str(UnknownState(variable.name, text, variable.states)), row=row, column=v)
    return codes


def _checked_codes(variables: Sequence[Variable], values: Array) -> Codes:
    """An array of codes; one outside the states is refused, and so are states that are numbers."""
    _refuse_other_width(variables, values.shape[1])
    for variable in variables:
        _refuse_two_meanings(variable)
    sizes = np.array([variable.n_states for variable in variables])
    if (
        values.size
        and (bad := (values.max(axis=0) >= sizes) | (values.min(axis=0) < MISSING)).any()
    ):
        column = int(bad.argmax())
        wrong = (values[:, column] >= sizes[column]) | (values[:, column] < MISSING)
        row, variable = int(wrong.argmax()), variables[column]
        raise BadCell(
            f"the code {values[row, column]} was given for {variable.name!r}; 0 to "
            f"{variable.n_states - 1} was expected, or −1 for missing. Pass a data frame to give "
            "states by name.",
            row=row,
            column=column,
        )
    return np.ascontiguousarray(values, dtype=np.int32)


def _refuse_two_meanings(variable: Variable) -> None:
    """Refuse codes of a variable with a state that is a number, but not its own position."""
    for code, state in enumerate(variable.states):
        digits = state.removeprefix("-")
        number = int(state) if digits.isascii() and digits.isdigit() else code
        if number != code and str(number) == state:
            raise InvalidInput(
                f"An array of whole numbers holds codes, which are positions of states; the states "
                f"of {variable.name!r} are {listed(variable.states)}, so that its numbers have two "
                "meanings. Pass a data frame, whose cells are states by name."
            )
