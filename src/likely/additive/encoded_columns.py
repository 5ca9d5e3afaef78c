"""The columns of encoded rows, and what is summed of them before terms are made."""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array, Codes, NumbersAndCodes
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.errors import BadCell
from likely.numerics.additive import FieldwiseAdditive
from likely.numerics.quantiles import LIMIT, QuantileSummary


def numbers_and_codes(design: Design) -> tuple[Array, Codes]:
    """The numeric columns and the columns of codes of encoded rows."""
    stored = design.stored()
    if isinstance(stored, NumbersAndCodes):
        return np.asarray(stored.numeric, dtype=np.float64), stored.codes
    values = np.asarray(stored, dtype=np.float64)
    return values, np.empty((len(values), 0), dtype=np.int32)


def refuse_infinity(numeric: Array, schema: Schema, start: int = 0) -> None:
    """Refuse the first infinite cell of encoded rows, the first of which is row ``start``."""
    infinite = np.isinf(numeric)
    if infinite.any():
        row, place = np.argwhere(infinite)[0]
        raise BadCell(
            "found inf (infinity); numbers must be finite or missing. Remove the row, or replace "
            "the value by NaN.",
            row=start + int(row),
            column=[j for j, coded in enumerate(schema.as_codes) if not coded][place],
        )


@final
@dataclass(frozen=True, eq=False)
class ColumnTotals(FieldwiseAdditive):
    """The values of each numeric column, and the weight of the missing cells of each column."""

    values: "Summaries"
    missing: Array  # numbers, then codes


@final
@dataclass(frozen=True, eq=False)
class Summaries:
    """One summary for each column, which add one by one."""

    each: tuple[QuantileSummary, ...]

    def __add__(self, other: "Summaries") -> "Summaries":
        return Summaries(tuple(a + b for a, b in zip(self.each, other.each, strict=True)))


def block_columns(limit: int | None, block: Block) -> ColumnTotals:
    numeric, codes = numbers_and_codes(block.X)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    each = tuple(QuantileSummary.of(x, weight, limit=limit) for x in numeric.T)
    gaps = np.hstack([np.isnan(numeric), codes < 0])
    return ColumnTotals(Summaries(each), weight @ gaps)


def column_totals(blocks: Blocks, executor: Executor) -> ColumnTotals:
    """The values of all columns, in one pass: all of them in memory, else a summary."""
    limit = None if isinstance(blocks, ArrayBlocks) else LIMIT
    return executor.sum(partial(block_columns, limit), blocks)
