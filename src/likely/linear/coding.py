"""How linear models code a table: which categories have a coefficient.

Without a penalty, the first category of a column is the reference and has no coefficient; with a
penalty every category has one, so that all are treated alike.
"""

from typing import Any

import numpy as np

from likely.data.schema import Schema
from likely.errors import InvalidInput
from likely.inputs.coding import Coding, category_flags
from likely.inputs.estimators import columns_named
from likely.inputs.rows import EncodedRows, RowExtras, TargetForm, check_rows
from likely.linear.covariance import kind_of_errors
from likely.linear.penalty import in_a_group, per_column
from likely.penalties import Strengths

LinearRows = EncodedRows[Coding]  # designs without an intercept


def open_linear(
    estimator: Any,
    X: Any,
    y: Any,
    extras: RowExtras,
    *,
    target: TargetForm,
    given: Strengths,
) -> LinearRows:
    """Check everything, and cut it into blocks.

    X is an array, a CSR array, a frame, or a file; y and the extras may be names of columns of a
    frame or a file.
    """
    refuse_idle_groups(estimator, extras.groups)
    estimator.beside_ = tuple(name for name in (y, *extras) if isinstance(name, str))
    found = check_rows(estimator, X, y, extras, target=target)
    rows = found.encode(category_flags(found.kinds))
    coding = Coding(rows.coding, _references(estimator, rows.coding, given))
    with columns_named(estimator):
        blocks = coding.to_fit(rows.blocks)
    return EncodedRows(blocks, coding, *rows[2:])


def refuse_idle_groups(estimator: Any, groups: Any) -> None:
    """Refuse groups unless the standard errors are clustered."""
    if groups is not None and kind_of_errors(estimator) != "clustered":
        raise InvalidInput(
            "groups were given, which only clustered standard errors use; the kind asked for is "
            f"{kind_of_errors(estimator)!r}. Ask for 'clustered', or leave the groups out."
        )


def _references(estimator: Any, schema: Schema, given: Strengths) -> tuple[bool, ...]:
    """Per column of codes, whether its coefficients are free and need a reference."""
    n = len(schema.kinds)
    free = np.zeros(n, dtype=bool)
    if any(schema.as_codes):
        l1, l2 = (
            per_column(estimator, name, strength, n)
            for name, strength in (("l1", given.l1), ("l2", given.l2))
        )
        free = (l1 == 0) & (l2 == 0) & ~in_a_group(estimator, given, n)
    flags = [bool(free[j]) for j, coded in enumerate(schema.as_codes) if coded]
    if not vars(estimator).get("fit_intercept", True) and True in flags:
        flags[flags.index(True)] = False  # one column has all its levels in place of an intercept
    return tuple(flags)
