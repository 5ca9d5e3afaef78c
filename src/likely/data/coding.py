"""How a table becomes columns of numbers: numbers as they are, categories as codes.

    η = b + Σ_j x_j β_j + Σ_c β_c[category of column c]

A column of categories stands for one column of 0 and 1 per category; with a reference, its first
category has none.  Categories are sorted, or in an order of their own.  Linear models and networks
read tables like this.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.block import ArrayBlocks, Block, Blocks, checked, redesigned
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.schema import EncodedTable, Schema
from likely.errors import BadCell, InvalidInput

MOST_TO_EXPAND = 200  # coefficients: beyond, sums by code beat BLAS on indicators
CELLS_TO_EXPAND = 1_000_000  # 8 MB of indicators: beyond, compiled sums by code beat them


@final
@dataclass(frozen=True, eq=False)
class Coding:
    """How columns become coefficients."""

    schema: Schema
    reference: tuple[bool, ...]  # per column of codes, whether its first category has none
    order: tuple[tuple[int, ...], ...] = ()  # per column of codes, the codes in order; (): sorted

    def __post_init__(self) -> None:
        sizes = self.schema.sizes
        for size, places in zip(sizes, self.order, strict=bool(self.order)):
            if sorted(places) != list(range(size)):
                raise InvalidInput(
                    f"The order of {size} categories is {places}; each of 0 to {size - 1} was "
                    "expected once. Fit the model again."
                )

    @property
    def n_coefficients(self) -> int:
        return self.schema.as_codes.count(False) + sum(self._sizes())

    def design(self, encoded: Design) -> Design:
        """The encoded columns as the model reads them: floats, and codes after the reference."""
        if isinstance(encoded, Mixed):
            codes = np.ascontiguousarray(encoded.codes, dtype=np.int32)
            if self.order:
                codes = np.asarray(self._in_order(codes.copy()), dtype=np.int32)
            if any(self.reference):
                codes = codes - np.asarray(self.reference, dtype=np.int32)
            return Mixed(encoded.numeric, np.maximum(codes, -1), self._sizes())
        values: Any = encoded.stored()
        if isinstance(encoded, Csr):
            return Csr(_floats_of_sparse(values))
        kept = values.dtype in (np.float64, np.float32)
        return Dense(values if kept else values.astype(np.float64))

    def _in_order(self, codes: Codes) -> Codes:
        """The place of each category in its column's order."""
        for j, places in enumerate(self.order):
            if list(places) != sorted(places):
                codes[:, j] = np.append(np.argsort(places), -1)[codes[:, j]]  # the last: missing
        return codes

    def to_fit(self, blocks: Blocks) -> Blocks:
        """Encoded rows to learn from, as the model reads them: a missing category is refused."""
        if not isinstance(blocks, ArrayBlocks):
            return redesigned(checked(blocks, self.check), self.design, self.n_coefficients)
        refuse_missing_categories(self.schema, EncodedTable(blocks.X, ()))
        design = self.design(blocks.X)
        cells = design.n_rows * design.n_features
        few = design.n_features <= MOST_TO_EXPAND and cells <= CELLS_TO_EXPAND
        if isinstance(design, Mixed) and few:
            design = design.expanded()
        return replace(blocks, X=design)

    def check(self, block: Block) -> None:
        """Refuse a missing category in a row of a file; rows of weight 0 are ignored."""
        present = None if block.weight is None else block.weight > 0
        refuse_missing_categories(self.schema, EncodedTable(block.X, ()), present)

    def names(self) -> tuple[str, ...]:
        """One name per coefficient: the column's, or column[category]."""
        plain = [self._label(j) for j, coded in enumerate(self.schema.as_codes) if not coded]
        levels = [
            f"{self._label(j)}[{value}]"
            for (j, values), dropped in zip(self._levels(), self.reference, strict=True)
            for value in values[int(dropped) :]
        ]
        return tuple(plain + levels)

    def references(self) -> tuple[tuple[str, Any], ...]:
        """The columns of categories that have a reference, each with it."""
        return tuple(
            (self._label(j), values[0])
            for (j, values), dropped in zip(self._levels(), self.reference, strict=True)
            if dropped and values
        )

    def _levels(self) -> list[tuple[int, list[Any]]]:
        """Each column of codes with its categories in order."""
        known = [
            (j, each.tolist()) for j, each in enumerate(self.schema.categories) if each is not None
        ]
        if not self.order:
            return known
        pairs = zip(known, self.order, strict=True)
        return [(j, [values[code] for code in places]) for (j, values), places in pairs]

    def column_of_coefficient(self) -> Array:
        """The input column that each coefficient belongs to."""
        if not any(self.schema.as_codes):
            return np.arange(len(self.schema.as_codes))
        plain = [j for j, coded in enumerate(self.schema.as_codes) if not coded]
        coded = [j for j, is_coded in enumerate(self.schema.as_codes) if is_coded]
        repeats = [np.full(size, j) for j, size in zip(coded, self._sizes(), strict=True)]
        return np.concatenate([np.asarray(plain, dtype=np.intp), *repeats]).astype(np.intp)

    def _sizes(self) -> tuple[int, ...]:
        pairs = zip(self.schema.sizes, self.reference, strict=True)
        return tuple(max(size - int(dropped), 0) for size, dropped in pairs)

    def _label(self, j: int) -> str:
        return f"x{j}" if self.schema.names is None else self.schema.names[j]


def refuse_missing_categories(
    schema: Schema, encoded: EncodedTable, present: Array | None = None
) -> None:
    """Refuse missing categories: codes of −1 in a column without unseen categories."""
    if not isinstance(encoded.design, Mixed):
        return
    unseen = {name for name, _ in encoded.unseen}
    coded = [j for j, is_coded in enumerate(schema.as_codes) if is_coded]
    for position, j in enumerate(coded):
        missing = encoded.design.codes[:, position] < 0
        if present is not None:
            missing &= present
        name = f"column {j}" if schema.names is None else schema.names[j]
        if missing.any() and name not in unseen:
            raise BadCell(
                "Input X contains NaN: there is no category. This model needs one in every "
                "row. Fill it, as likely.Prepared(model) does, or drop the row.",
                row=int(missing.argmax()),
                column=j,
            )


def _floats_of_sparse(values: Any) -> Any:
    return values if values.dtype == np.float64 else values.astype(np.float64)
