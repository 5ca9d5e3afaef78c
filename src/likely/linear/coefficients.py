"""The coefficients of a linear model in words: those without standard errors, class by class."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.schema import Schema
from likely.description import (
    ColumnsRead,
    Description,
    NamedColumn,
    NamedTable,
    remark_on_many_values,
)

READING = "A coefficient is what one unit of its column adds to the linear predictor."


def describe_coefficients(
    title: str,
    terms: Sequence[str],
    coef: Array,
    constants: Sequence[tuple[str, Sequence[float]]],
    groups: Sequence[str],
    n_iter: int | None,
) -> Description:
    """Coefficients (K, d) of K predictors, which are called ``groups``, the largest first.

    ``constants`` are an intercept, or thresholds, with a value for each predictor.
    """
    rows: list[tuple[Any, ...]] = [
        (str(term), *values) for term, values in zip(terms, coef.T.tolist(), strict=True)
    ]
    rows += [(name, *values) for name, values in constants]
    size = np.abs(coef.T)
    table = NamedTable(
        "terms",
        (
            NamedColumn("term", "term"),
            *(NamedColumn("coef", group, "signed", group) for group in groups),
        ),
        tuple(rows),
        noun="coefficient",
        weights=(*map(tuple, size.tolist()), *((0.0,) * len(groups) for _ in constants)),
        last=len(constants),
    )
    return Description(
        title,
        groups=tuple(groups),
        tables=(table,),
        notes=(READING,),
        n_iter=n_iter,
    )


def columns_coded(schema: Schema, names: Sequence[str], n_rows: int | None) -> ColumnsRead:
    """Numbers have one coefficient each, categories one for every value."""
    kinds = Counter("categorical" if coded else "numeric" for coded in schema.as_codes)
    coded = [name for name, is_coded in zip(names, schema.as_codes, strict=True) if is_coded]
    return ColumnsRead(dict(kinds), remark_on_many_values(schema.sizes, coded, n_rows))
