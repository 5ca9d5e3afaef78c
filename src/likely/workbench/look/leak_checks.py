"""Columns that know too much about the target: suspects, not proofs."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.workbench.look.leaks import (
    binned,
    explained_share,
    explained_variance,
    ranks,
    some_rows,
)
from likely.workbench.look.profile import Column, Profile

MOST_ROWS = 50_000  # looked at; the shares are then known to a fraction of a percent
FEWEST_ROWS = 20
SETTLED = 0.95  # of the entropy; the best honest single columns of iris and wine settle less
SETTLED_RANKS = 0.98  # of the variance of ranks; measurements of one thing often agree to 0.95
MOST_VALUES = 8  # of a column into which a number, the target, may have been cut
FEWEST_EXCEPTIONS = 5  # rows that do not have the most frequent value
FEWEST_MISSING = 10
QUARTERS = 4  # of a target that is a number, to compare how often a cell is missing
SURE = 0.001  # the chance of a false alarm among all columns
GAP = 0.1  # between the largest and the smallest share of missing cells


@final
@dataclass(frozen=True, eq=False)
class Suspicion:
    """The target on the rows looked at, against which columns are held."""

    profile: Profile
    target: Column

    @cached_property
    def rows(self) -> Array:
        return some_rows(self.target.codes >= 0, MOST_ROWS)

    @cached_property
    def by_target(self) -> Codes:
        """Classes, or bins of a number."""
        return binned(self.target)[self.rows]

    @cached_property
    def ranks(self) -> Array:
        return ranks(self.target)[self.rows]

    def of_target(self, column: Column) -> float:
        """How much of the target the column settles."""
        by = binned(column)[self.rows]
        if self.target.reads_as_classes:
            return explained_share(self.by_target, by)
        return explained_variance(self.ranks, by)

    def by_column(self, column: Column) -> float:
        """How much of a column of few values the target settles."""
        most = self.target.n_distinct if self.target.reads_as_classes else MOST_VALUES
        exceptions = column.n_rows - column.counts.max()
        if not 2 <= column.n_distinct <= most or exceptions < FEWEST_EXCEPTIONS:
            return 0.0
        return explained_share(column.codes[self.rows] + 1, self.by_target)


def suspicion_of(profile: Profile) -> Suspicion | None:
    """None where there is no target to suspect anything of."""
    target = profile.target
    if target is None or target.n_distinct < 2 or target.n_known < FEWEST_ROWS:
        return None
    usable = target.is_number or target.reads_as_classes
    return Suspicion(profile, target) if usable else None


def leak(column: Column, suspicion: Suspicion) -> str | None:
    """A column that settles the target almost alone, or is settled by it."""
    if not column.n_known or column.kind == "other":
        return None
    settled = SETTLED if suspicion.target.reads_as_classes else SETTLED_RANKS
    share = suspicion.of_target(column)
    if share >= settled:
        return f"it settles {share:.1%} of the target"
    share = suspicion.by_column(column)
    return f"the target settles {share:.1%} of it" if share >= SETTLED else None


def missing_by_target(column: Column, suspicion: Suspicion) -> str | None:
    """The χ² test of independence of "missing" and the target."""
    missing = column.codes[suspicion.rows] < 0
    n = missing.size
    if not FEWEST_MISSING <= missing.sum() <= n - FEWEST_MISSING:
        return None
    groups = binned(suspicion.target, QUARTERS)[suspicion.rows]
    rows = np.bincount(groups)
    empty = np.bincount(groups, weights=missing)
    rows, empty = rows[rows >= FEWEST_ROWS], empty[rows >= FEWEST_ROWS]
    if rows.size < 2 or not 0 < empty.sum() < rows.sum():
        return None
    low, high = (empty / rows).min(), (empty / rows).max()
    level = SURE / len(suspicion.profile.features)
    if high - low < GAP or _chance(rows, empty) > level:
        return None
    return f"{low:.0%} to {high:.0%}"


def _chance(rows: Array, empty: Array) -> float:
    """P(χ² ≥ Σ (seen − expected)² / expected) for a table of two columns."""
    from scipy.special import chdtrc

    share = empty.sum() / rows.sum()
    statistic = float(((empty - rows * share) ** 2 / (rows * share * (1 - share))).sum())
    return float(chdtrc(rows.size - 1, statistic))


LEAK_CHECKS = {"LK401": leak, "LK402": missing_by_target}
