"""Whether a column can be sealed as a target: a seal cannot be changed once it is made."""

from typing import Any

import numpy as np

from likely.data.arrow import decoded
from likely.data.labels import are_names, refuse_names
from likely.errors import InvalidInput
from likely.sealing.fingerprints import row_fingerprints


def check_target(column: Any, name: str) -> None:
    """Refuse what no model could learn or score: gaps, infinities, one value, names, dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    if not len(column) or n_missing == len(column):
        raise InvalidInput(
            f"The target {name!r} has no value in {len(column):,} rows; at least two different "
            "ones were expected. Choose another column."
        )
    if n_missing:
        row = pc.index(pc.is_null(column, nan_is_null=True), True).as_py()
        raise InvalidInput(
            f"The target {name!r} is missing in {n_missing:,} rows, the first of them row {row}; a "
            "row without it can be neither learned from nor scored. Drop those rows first."
        )
    if pa.types.is_floating(column.type):
        _check_finite(column, name)
    if pa.types.is_temporal(column.type):
        raise InvalidInput(
            f"The target {name!r} holds {column.type} values; labels or numbers were expected. "
            "Turn them into numbers, such as days since the first, or choose another column."
        )
    _check_values(column, name)


def _check_finite(column: Any, name: str) -> None:
    import pyarrow.compute as pc

    row = pc.index(pc.is_finite(column), False).as_py()
    if row >= 0:
        raise InvalidInput(
            f"The target {name!r} is {column[row].as_py()} in row {row}; finite numbers were "
            "expected. Fix or drop such rows first."
        )


def _check_values(column: Any, name: str) -> None:
    import pyarrow as pa

    n_values = len(np.unique(row_fingerprints(pa.table({name: column}), [name], "")))
    if n_values < 2:
        raise InvalidInput(
            f"The target {name!r} has one value in all {len(column):,} rows; there is nothing to "
            "predict. Choose another column."
        )
    column = decoded(column)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if text and are_names(n_values, len(column)):
        refuse_names(name, column.unique().to_pylist(), len(column))
