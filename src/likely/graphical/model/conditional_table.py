"""Conditional tables: whose they are, whether their rows sum to 1, and what is done if they do not.

    Σ_x P(x | pa) = 1        for every row pa of a table

Rounding in a file leaves sums that are off by up to a few 1e-7; these tables are kept as they are,
so that they are written back bit for bit.  Rows that are further off are divided by their sums,
with one warning that names the worst of them; beyond ``SUM_TOLERANCE`` they are refused.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, RoundedTables, warn_user
from likely.graphical.model.factor import Factor

# Twenty states printed with four digits are off by up to 1e-3.  A typing error is larger.
SUM_TOLERANCE = 1e-3
FILE_ROUNDING = 1e-6  # rows of known networks, with six digits or more, are off by at most 3e-7
ROUNDING = 1e-12  # of a sum of probabilities that were given in full


def parents_of(tables: Iterable[Factor], names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The parents of each variable: those before the last of a table, which it describes."""
    parents: dict[str, tuple[str, ...]] = {}
    for factor in tables:
        if not factor.scope:
            raise InvalidInput("A factor has no variable; a conditional table was expected.")
        *above, child = factor.scope
        if child in parents:
            raise InvalidInput(
                f"{child!r} has two tables; one was expected. The last variable of a factor is the "
                "one that its table describes."
            )
        parents[child] = tuple(above)
    absent = [name for name in names if name not in parents]
    if absent:
        raise InvalidInput(
            f"There is no table for {', '.join(absent[:5])}; one for every variable was expected. "
            "The last variable of a factor is the one that its table describes."
        )
    return {name: parents[name] for name in names}


def sums_to_one(table: Factor) -> bool:
    """Whether each row sums to 1, up to rounding."""
    return bool((_errors(table) <= ROUNDING).all())


def with_sums_of_one(tables: Sequence[Factor]) -> tuple[Factor, ...]:
    """The tables, with rows divided by their sums where these are not 1; a wrong row is refused."""
    errors = [_errors(table) for table in tables]
    worst = [float(each.max(initial=0.0)) for each in errors]
    for table, error in zip(tables, worst, strict=True):
        if error > SUM_TOLERANCE:
            raise InvalidInput(wrong_sum(table, wrong_row(table) or 0))
    rough = [j for j, error in enumerate(worst) if error > FILE_ROUNDING]
    if not rough:
        return tuple(tables)
    j = max(rough, key=worst.__getitem__)
    n_rows = sum(int((errors[k] > FILE_ROUNDING).sum()) for k in rough)
    warn_user(
        f"{_sum_of(tables[j], int(errors[j].argmax()))}; 1 was expected. {_how_many(n_rows)} "
        "divided by the sum. Give more digits, or divide the rows yourself.",
        RoundedTables,
    )
    return tuple(_divided(table) if k in rough else table for k, table in enumerate(tables))


def wrong_row(table: Factor) -> int | None:
    """The first row of a conditional table that does not sum to 1, rows counted in order."""
    wrong = _errors(table) > SUM_TOLERANCE
    return int(wrong.argmax()) if wrong.any() else None


def wrong_sum(table: Factor, row: int) -> str:
    """What is wrong with a row that does not sum to 1."""
    return f"{_sum_of(table, row)}; 1 was expected. Correct the row, or divide it by its sum."


def _errors(table: Factor) -> Array:
    """|Σ_x P(x | pa) − 1| of each row, an axis for each parent."""
    with np.errstate(over="ignore"):  # infinity is not 1 either
        return np.asarray(np.abs(table.table.sum(axis=-1) - 1.0))


def _sum_of(table: Factor, row: int) -> str:
    above = table.variables[:-1]
    cell = np.unravel_index(row, [variable.n_states for variable in above])
    named = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(above, cell, strict=True))
    with np.errstate(over="ignore"):
        total = float(table.table[cell].sum())
    where = f" in the row {named}" if named else ""
    return f"The table of {table.scope[-1]!r} sums to {total:.9g}{where}"


def _how_many(n_rows: int) -> str:
    if n_rows == 1:
        return "The row was"
    return f"This and {n_rows - 1:,} other {'row was' if n_rows == 2 else 'rows were'}"


def _divided(table: Factor) -> Factor:
    total = table.table.sum(axis=-1, keepdims=True)
    own = table.log_table - np.log(total) if table.scale == "log" else table.table / total
    return Factor(table.variables, own, scale=table.scale, name=table.name)
