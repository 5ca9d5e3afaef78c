"""Checked rows as event models read them: with declared categories, or counted at once.

Small whole numbers that are all read as categories are found and counted in one pass; any other
rows are encoded first, and counted by the fit.
"""

from typing import NamedTuple

import numpy as np

from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense, Mixed
from likely.data.schema import Schema
from likely.distributions.product import ProductStatistics
from likely.generative.events import EventPlan, declared_categories
from likely.inputs.rows import CheckedRows, EncodedRows, RowsInMemory, recode_rows
from likely.objectives.components import ComponentTotals
from likely.objectives.value_counts import count_values


class EventRows(NamedTuple):
    """Encoded rows, and their totals where these were counted on the way."""

    rows: EncodedRows[Schema]
    totals: ComponentTotals | None = None


def encode_events(given: CheckedRows, plan: EventPlan) -> EncodedRows[Schema]:
    """The rows with the categories that the plan declares, or that they have."""
    rows = given.encode(plan.as_codes)
    declared = declared_categories(plan, rows.coding)
    return rows if declared is rows.coding else recode_rows(rows, declared)


def encode_or_count(given: CheckedRows, plan: EventPlan) -> EventRows:
    """Rows with classes, encoded; small whole numbers are counted in the same pass."""
    counted = _counted(given, plan) if isinstance(given, RowsInMemory) else None
    return EventRows(encode_events(given, plan)) if counted is None else counted


def _counted(given: RowsInMemory, plan: EventPlan) -> EventRows | None:
    """Small whole numbers read as categories: one pass finds and counts them."""
    X, codes, n_classes = given.table.native, given.y, len(given.classes)
    if not all(plan.as_codes) or not isinstance(X, np.ndarray) or X.dtype.kind != "i":
        return None
    assert codes is not None  # the rows have classes
    counted = count_values(ArrayBlocks(Dense(X), codes, given.weight), n_classes, given.executor)
    sizes = None if counted is None else counted.sizes()
    if counted is None or sizes is None:
        return None
    categories = tuple(np.arange(size) for size in sizes)
    schema = Schema(given.kinds.names, given.kinds.kinds, plan.as_codes, categories)
    if declared_categories(plan, schema) is not schema:
        return None
    blocks = ArrayBlocks(Mixed(np.empty((len(X), 0)), X, sizes), codes)
    totals = ComponentTotals(
        np.bincount(codes[codes >= 0], minlength=n_classes).astype(float),
        ProductStatistics((counted.statistics(sizes),)),
    )
    return EventRows(EncodedRows(blocks, schema, given.classes, given.executor, None), totals)
