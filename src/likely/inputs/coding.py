"""New rows of linear models and networks, by the coding of their fit (``data/coding.py``)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from likely._typing import NumbersAndCodes
from likely.data.block import Block
from likely.data.coding import Coding, refuse_missing_categories
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.errors import InvalidInput
from likely.inputs.estimators import columns_named, feature_names
from likely.inputs.rows import encode_new_rows
from likely.inputs.tables import without_columns
from likely.output.description import ColumnsRead, remark_on_many_values


def new_rows(estimator: Any, coding: Coding, X: Any) -> Design:
    """Rows to predict, by the coding of the fit; an unseen category has no coefficient.

    A model that was fitted by a formula reads the columns of its terms.
    """
    formula = vars(estimator).get("formula_")
    if formula is not None:
        X = formula.frame(X)
    beside = vars(estimator).get("beside_", ())
    if beside:  # a frame as it was given to fit holds the target, too
        known = set(feature_names(estimator))
        X = without_columns(X, [name for name in beside if name not in known])
    encoded = encode_new_rows(estimator, coding.schema, X)
    with columns_named(estimator):
        refuse_missing_categories(coding.schema, encoded)
    return coding.design(encoded.design)


def columns_coded(schema: Schema, names: Sequence[str], n_rows: int | None) -> ColumnsRead:
    """How many columns are numbers and how many categories; which of them to check."""
    kinds = Counter("categorical" if coded else "numeric" for coded in schema.as_codes)
    coded = [name for name, is_coded in zip(names, schema.as_codes, strict=True) if is_coded]
    remarks = remark_on_many_values(schema.sizes, coded, n_rows)
    return ColumnsRead(dict(kinds), remarks, complete=True).with_columns(names, schema.kinds)


def refuse_gaps(blocks: Iterable[Block], names: Callable[[], tuple[str, ...]]) -> None:
    """Refuse a missing or infinite number, and name the first."""
    for block in blocks:
        stored = block.X.stored()
        values: Any = stored.numeric if isinstance(stored, NumbersAndCodes) else stored
        if sparse.issparse(values):
            values = values.tocoo()
            bad = np.flatnonzero(~np.isfinite(values.data))
            if bad.size:
                i = bad[0]
                _refuse_cell(
                    block.start + int(values.row[i]), names()[values.col[i]], values.data[i]
                )
        elif not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            _refuse_cell(block.start + int(row), names()[column], values[row, column])


def _refuse_cell(row: int, name: str, value: float) -> None:
    missing = bool(np.isnan(value))
    what = "NaN" if missing else "infinity or a value too large for dtype('float64')"
    advice = (
        "Fill it, as likely.Prepared(model) does, drop the row, or use NaiveBayes, which sums "
        "missing cells out."
    )
    raise InvalidInput(
        f"Input X contains {what}: row {row}, column {name!r}. This model needs a finite "
        f"number in every cell. {advice if missing else 'Fill it with a number, or drop the row.'}"
    )
