"""How naive Bayes reads a table: its event models, its categories, its bins and its families."""

from typing import NamedTuple, Self

from likely.data.layouts.intercept import Design
from likely.data.schema import Schema
from likely.distributions import ProductFamily
from likely.features.discretize import Discretizer
from likely.generative.bins import cut_numbers
from likely.generative.events import EventPlan, product_family


class Reading(NamedTuple):
    """All that turns rows into what the families read."""

    plan: EventPlan
    schema: Schema
    bins: Discretizer | None
    family: ProductFamily

    @classmethod
    def of(
        cls,
        plan: EventPlan,
        schema: Schema,
        bins: Discretizer | None,
        *,
        floor: float,
        sketch: bool = False,
    ) -> Self:
        """With the families that follow from the sizes of the categories and of the bins."""
        sizes = schema.sizes + (() if bins is None else tuple(map(int, bins.n_bins_)))
        return cls(plan, schema, bins, product_family(plan, sizes, floor=floor, sketch=sketch))

    def cut(self, design: Design) -> Design:
        """The design with its discretised numbers replaced by codes."""
        return design if self.bins is None else cut_numbers(design, self.plan, self.bins)
