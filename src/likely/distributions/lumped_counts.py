"""Counts of some sides of a die, and of all others as one side: the model of the some is the same.

    N_k,others = Σ_{v not chosen} N_kv        α_others = Σ α_v        m_others = Σ m_v

Sides of a multinomial that are merged are again one side, with the sum of their counts and of their
pseudo-counts.  So φ_kv of the chosen sides is what it is in the table of all sides, and documents
that have no other words need a table of their own words only.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from likely._typing import Array
from likely.distributions.base import Statistics
from likely.distributions.multinomial import MultinomialStatistics
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.distributions.smoothing import UNSEEN, components_with


@final
@dataclass(frozen=True, eq=False)
class LumpedCounts(Statistics):
    """Counts of the chosen sides, with those of all others as the last."""

    own: MultinomialStatistics  # (n_components, n_chosen + 1)
    spread: Array  # m_v of the sides, (n_chosen + 1,)

    @classmethod
    def of(cls, counts: Array, others: Array, raised: float) -> Self:
        """``counts`` (n_components, n_chosen) and those of all other sides, (n_components,).

        ``raised`` is Σ (C_v + ½) over the other sides, C_v the number of components with a side.
        """
        spread = np.append(components_with(counts) + UNSEEN, raised)
        table = np.vstack([counts.T, others]).T  # a word's counts side by side
        return cls(MultinomialStatistics(table), spread / spread.sum())

    def __add__(self, other: Any) -> Any:
        return self.own + other

    def add_into(self, total: Any) -> Any:
        return self.own.add_into(total)

    def scaled(self, factor: float) -> Self:
        return type(self)(self.own.scaled(factor), self.spread)

    def imagined_as_chosen(self, family: Any, alpha: Array, shape: tuple[int, int]) -> Any:
        return self.own.shared_out(float(alpha.sum()), self.spread)


@final
@dataclass(frozen=True, eq=False)
class LumpedColumns:
    """Some columns of a table of one family of counts, with all others as one at the end."""

    chosen: Array  # their positions

    def family(self, family: ProductFamily) -> ProductFamily:
        """The family of these columns."""
        (part,) = family.parts
        columns = range(len(self.chosen) + 1)
        selection = Selection(coded=False, columns=columns, features=columns, everything=True)
        return ProductFamily((ProductPart(part.family, selection),))

    def sums(self, per_column: Array) -> Array:
        """The values of the chosen columns, and the sum of all others."""
        others = np.ones(len(per_column), dtype=bool)
        others[self.chosen] = False
        return np.append(per_column[self.chosen], per_column[others].sum())
