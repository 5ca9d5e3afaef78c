"""mord has no proportional odds model: its all-threshold loss is another objective."""

from benchmarks.linear_problems import Ordered
from benchmarks.race import Fit, Skipped


def ordinal(problem: Ordered, tolerance: float) -> Fit:
    raise Skipped("its LogisticAT minimises the all-threshold loss, not the likelihood")
