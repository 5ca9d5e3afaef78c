"""Folds: which rows are held out together, by a hash of the row's index and the seed.

    rows           fold of row i from hash(i, seed), for any blocks and any order of work
    stratified     classes assigned in turn, so that their counts differ by at most one row
    grouped        whole groups, the largest first, each to the fold that stays best balanced
    by time        n + 1 pieces in the order of time; piece f + 1 is held out, the pieces before it
                   are training rows
    copies         rows that are copies of each other (``likely.data.copies``) are never on both
                   sides: they are in one fold; by time, an earlier copy of a row that is held out
                   is not a training row

Every row is held out once per repeat, except by time, where the first piece is only used for
training and there are no repeats.

References
----------
Stone (1974), Cross-validatory choice and assessment of statistical predictions, JRSS B 36, §3.
Roberts et al. (2017), Cross-validation strategies for data with temporal, spatial, hierarchical,
or phylogenetic structure, Ecography 40.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, NoReturn, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.copies import joined_units
from likely.data.hashed_splits import hashed_uniforms, stratified_fold_of
from likely.errors import InvalidInput
from likely.output.formatting import count
from likely.sealing.split import times_of

if TYPE_CHECKING:
    import pyarrow as pa


LEARNED_ONLY = -1  # the fold of rows that are never held out


class Fold(NamedTuple):
    """The training rows and the held-out rows, both ascending."""

    train: Codes
    test: Codes


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Folds:
    """A plan of folds; iterating gives each ``Fold``, repeat by repeat, as scikit-learn's ``cv``.

    ``n_folds`` equal to ``n_rows`` leaves one row out at a time.
    """

    n_rows: int
    n_folds: int = 5
    repeats: int = 1
    seed: int = 0
    stratify: Codes | None = None  # (n_rows,) class codes
    groups: Array | None = None  # (n_rows,); rows of one group stay together
    time: Array | None = None  # (n_rows,); later rows are predicted from earlier ones
    copies: Codes | None = None  # (n_rows,); the first row that each is a copy of

    def __post_init__(self) -> None:
        for name in ("stratify", "groups", "time", "copies"):
            given = getattr(self, name)
            if given is not None and len(given) != self.n_rows:
                _refuse(
                    f"{name} has {len(given)} entries; there are {self.n_rows} rows",
                    "Give one for each row",
                )
        if self.repeats < 1:
            _refuse(f"repeats={self.repeats}; a whole number from 1 up was expected", "Use 1")
        if self.time is not None and (self.repeats > 1 or self.groups is not None):
            _refuse(
                "time was given with groups or repeats; time has one order and no second split",
                "Use repeats=1 and no groups",
            )
        self._check_number()

    def _check_number(self) -> None:
        units = self.units
        parts = self.n_rows if units is None else len(np.unique(units))
        one, what = ("row", "rows") if self.groups is None else ("group", "groups")
        if self.groups is None and units is not None:
            one, what = "different row", "different rows"
        elif self.copies is not None:
            joined = " of groups that share equal rows"
            one, what = f"set{joined}", f"sets{joined}"
        if self.time is not None:
            parts = len(np.unique(self.time)) - 1
            one, what = "time after the first", "times after the first"
        if not 2 <= self.n_folds <= parts:
            few = f"there {'is' if parts == 1 else 'are'} only {count(parts, one, what)}"
            _refuse(
                f"n_folds={self.n_folds}; {few if self.n_folds > 1 else '2 or more were expected'}",
                f"Use 2 to {parts}" if parts > 1 else f"Give more {what}",
            )

    def __len__(self) -> int:
        return self.n_folds * self.repeats

    def __iter__(self) -> Iterator[Fold]:
        for repeat in range(self.repeats):
            yield from self.of_repeat(repeat)

    def of_repeat(self, repeat: int) -> Iterator[Fold]:
        """The folds of one repeat."""
        fold = self.fold_of_rows(repeat)
        for held in range(self.n_folds):
            learned = fold < held if self.time is not None else fold != held
            test = np.flatnonzero(fold == held)
            if self.time is not None and self.copies is not None:
                learned &= ~np.isin(self.copies, self.copies[test])
            yield Fold(np.flatnonzero(learned), test)

    @cached_property
    def test_per_train(self) -> float:
        """n_test/n_train, on average over the folds."""
        return float(np.mean([len(fold.test) / len(fold.train) for fold in self]))

    def held_out_whole(self, codes: Codes) -> list[int]:
        """The codes, ascending, all of whose rows are in one fold of some repeat."""
        found = (np.setdiff1d(codes[fold.test], codes[fold.train]) for fold in self)
        return sorted({int(code) for gone in found for code in gone})

    def fold_of_rows(self, repeat: int = 0) -> Codes:
        """The fold of each row in one repeat; −1 is never held out."""
        if self.time is not None:
            return _by_time(self.time, self.n_folds)
        seed = self.seed + _STRIDE * repeat
        labels = np.zeros(self.n_rows, dtype=np.int64) if self.stratify is None else self.stratify
        units = self.units
        if self.groups is None or units is None:
            return stratified_fold_of(labels, seed, self.n_folds, self.copies)
        return _by_group(units, labels, seed, self.n_folds)

    @cached_property
    def units(self) -> Codes | None:
        """Rows that count as one in intervals: groups, copies, or both joined; None: each row."""
        if self.copies is None:
            return self.groups
        return self.copies if self.groups is None else joined_units(self.groups, self.copies)


def share_of_rows(rows: Codes, share: float, strata: Codes, seed: int) -> Codes:
    """A share of the rows of each stratum, at least one: those that a hash puts first.

    ``strata`` are of the whole table.  A larger share contains a smaller one.
    """
    order = rows[np.argsort(hashed_uniforms(0, len(strata), seed)[rows])]
    labels = strata[order]
    kept = [
        order[labels == label][: ceil(share * np.count_nonzero(labels == label))]
        for label in np.unique(labels)
    ]
    return np.sort(np.concatenate(kept))


def split_text(group: str | None, by_time: str | None) -> str:
    """How rows were split, as text after the number of folds: ``, whole groups of shop``."""
    if by_time is not None:
        return f", each predicted from the rows before it by {by_time}"
    return "" if group is None else f", whole groups of {group}"


_STRIDE = 1_000_003  # between the seeds of repeats: neighbouring seeds of a user share none


def _by_time(time: Array, n_folds: int) -> Codes:
    """Pieces of about equal size; rows of the same time stay together."""
    moments, place, count = np.unique(time, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - count / 2
    piece = np.floor(middle / len(time) * (n_folds + 1)).astype(np.int64)
    if len(np.unique(piece)) <= n_folds:  # a time fills more than a piece: count times instead
        piece = np.arange(len(moments)) * (n_folds + 1) // len(moments)
    return np.asarray(piece[place] + LEARNED_ONLY, dtype=np.int32)


def _by_group(groups: Array, labels: Codes, seed: int, n_folds: int) -> Codes:
    """Greedy: the fold where Σ (rows / rows of the class)², over folds and classes, is smallest.

    All rows together count as one more class, so that no fold stays empty.
    """
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    _, label = np.unique(labels, return_inverse=True)
    n_groups, n_labels = len(first), int(label.max()) + 1
    count = np.zeros((n_groups, n_labels + 1))
    np.add.at(count, (group, label), 1.0)
    count[:, -1] = count.sum(axis=1)
    share = count / count.sum(axis=0)
    drawn = hashed_uniforms(0, len(groups), seed)[first]  # keyed by the group's first row
    here = np.zeros((n_folds, n_labels + 1))
    fold = np.empty(n_groups, dtype=np.int32)
    for g in np.lexsort((drawn, -count[:, -1])):
        # (s + a)² − s² = a(2s + a): adding a to a fold costs least where s is least along a
        cost = here @ share[g]
        fold[g] = int(cost.argmin())
        here[fold[g]] += share[g]
    return fold[group]


def _refuse(found: str, advice: str) -> NoReturn:
    raise InvalidInput(f"{found}. {advice}.")


def codes_of(table: "pa.Table", name: str) -> Codes:
    """Whole numbers in the order of a column's values; each missing value is different."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    rank = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    codes = np.array(rank.to_numpy(), dtype=np.int64)
    gaps = np.asarray(pc.is_null(column).to_numpy())
    codes[gaps] = codes.max() + 1 + np.arange(int(gaps.sum()))
    return codes


def time_of(table: "pa.Table", name: str) -> Codes:
    """Whole numbers in the order of time; a column without an order in time is refused."""
    import pyarrow.compute as pc

    rank = pc.rank(times_of(table.column(name), name), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(rank.to_numpy()).astype(np.int64)
