"""Rows that models of the other folds score, by which evidence is calibrated.

    HeldOutBlocks   rows in blocks: the totals of all folds are summed in one pass

A model is learned from totals, so that no fold is a refit.  ``evidence`` and ``length_evidence``
have the formulas.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, final

from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.distributions.lumped_counts import LumpedColumns
from likely.distributions.product import ProductFamily
from likely.objectives.components import Components, ComponentTotals
from likely.objectives.cooled_evidence import CooledEvidence
from likely.objectives.evidence import calibrate_evidence
from likely.objectives.length_evidence import best_factor, calibrate_by_length


class Learn(Protocol):
    """A model of totals."""

    def __call__(
        self,
        totals: ComponentTotals,
        *,
        factor: float = 1.0,
        columns: LumpedColumns | None = None,
    ) -> Components:
        """The model; ``factor`` multiplies its smoothing, ``columns`` are those of the totals."""


class HeldOutRows(ABC):
    """Rows whose scores come from models that were not trained on them."""

    @abstractmethod
    def best_factor(self, learn: Learn) -> float:
        """What to multiply the strength of smoothing by."""

    @abstractmethod
    def cooled(self, learn: Learn) -> CooledEvidence:
        """The evidence with one temperature."""

    @abstractmethod
    def cooled_by_length(self, learn: Learn) -> CooledEvidence:
        """The evidence with a temperature that grows with the length of a row."""


@final
@dataclass(frozen=True, eq=False)
class HeldOutBlocks(HeldOutRows):
    """Rows in blocks, which are read once for the totals of all folds, and again to be scored."""

    family: ProductFamily
    n_components: int
    blocks: Blocks
    executor: Executor

    def best_factor(self, learn: Learn) -> float:
        def learned(factor: float, totals: ComponentTotals) -> Components:
            return learn(totals, factor=factor)

        return best_factor(self.family, self.n_components, self.blocks, self.executor, learned)

    def cooled(self, learn: Learn) -> CooledEvidence:
        return calibrate_evidence(self.family, self.n_components, self.blocks, self.executor, learn)

    def cooled_by_length(self, learn: Learn) -> CooledEvidence:
        return calibrate_by_length(
            self.family, self.n_components, self.blocks, self.executor, learn
        )
