"""What a format loses: names it has no place for, and logs that it must write as numbers.

    f = exp(log f)        log f < log(5e-324) would be written as 0, log f > log(1.8e308) not at all

UAI, BIF and XMLBIF hold linear tables.  Where exp would turn a possible configuration into an
impossible one, or a number into infinity, the graph is refused; where only digits change, the
file is written with a warning.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from likely._typing import Array
from likely.errors import FormatLoss, InvalidInput, warn_user
from likely.formatting import count
from likely.graphical.factor import Factor


def linear_tables(factors: Iterable[Factor], format: str) -> tuple[list[Array], list[str]]:
    """The tables as linear numbers, and in words what was lost by exp."""
    tables, largest, n_changed = [], 0.0, 0
    for factor in factors:
        tables.append(factor.stored if factor.scale == "linear" else _exponential(factor, format))
        with np.errstate(divide="ignore"):
            back = np.log(tables[-1]) if factor.scale == "log" else factor.stored
        different = back != factor.stored
        if different.any():
            n_changed += 1
            largest = max(largest, float(np.abs(back - factor.stored)[different].max()))
    lost = [f"the logs of {count(n_changed, 'factor')}, which change by up to {largest:.1g}"]
    return tables, lost if n_changed else []


def warn_of_loss(path: Path, format: str, lost: list[str]) -> None:
    """Say what was left out of a file, if anything."""
    if lost:
        warn_user(
            f"{path}: {format} cannot hold {'; '.join(lost)}. Write a .json file to keep all of "
            "the graph.",
            FormatLoss,
        )


def factor_names_lost(factors: Iterable[Factor]) -> list[str]:
    """In words, the names of factors that a format has no place for."""
    n_named = sum(1 for factor in factors if factor.name)
    return [count(n_named, "name of a factor", "names of factors")] if n_named else []


def _exponential(factor: Factor, format: str) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        table = np.exp(factor.stored)
    outside = np.isinf(table) | ((table == 0) & (factor.stored > -np.inf))
    if outside.any():
        cell = tuple(int(i) for i in np.argwhere(outside)[0])
        named = ", ".join(
            f"{v.name}={v.states[i]}" for v, i in zip(factor.variables, cell, strict=True)
        )
        raise InvalidInput(
            f"The table of {factor.title} holds the log {factor.stored[cell]:g} at ({named}), and "
            f"{format} holds exp of it, which is {table[cell]:g} in floating point; logs from -745 "
            "to 709 were expected. Write a .json file, which keeps logs, or add a constant to the "
            "factor."
        )
    return table
