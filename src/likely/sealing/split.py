"""Which rows are set apart: stratified, by group, the latest in time, or given rows.

The rows of a seal, and those of a validation or test set in memory (``likely.split``).

Rows that must stay together form a *unit*: rows equal in all features, or nearly (see
``likely.data.near_copies``), or rows of one group.
Units are taken in the order of a hash of the seed, within each stratum of the target, until the
share is reached: with single rows it is reached to the nearest row in all, and each class has its
share to within one row (SEL-1).  Few or large groups may not come near the share in this way; then
they are chosen without strata, at random among the sets of groups that do.

Rows that are equal by chance, as in a table of a few columns of categories, are split like other
rows: ``likely.data.copies`` tells them apart.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from likely._typing import Array, Codes
from likely.data.copies import copies_in_table, joined_units
from likely.data.hashed_splits import hashed_uniforms
from likely.data.near_copies import units_in_table
from likely.errors import InvalidInput
from likely.kinds import NUMBER_KINDS
from likely.output.formatting import count, percent, short_number
from likely.sealing.fingerprints import row_fingerprints

if TYPE_CHECKING:
    import pyarrow as pa

Strata: TypeAlias = tuple[Codes, str, str]  # of rows, what they are in words, the target
Twins: TypeAlias = tuple[Codes, tuple[str, ...]]  # which rows are equal, and notes

MOST_CLASSES = 20  # distinct integers; more of them are amounts
N_BINS = 10  # strata of a target of amounts
FEW_UNITS = 12  # whose 2¹² sets can all be tried
NEAR = 0.05  # of all rows: as near to the share as any, and there is room for chance
NAMED_ROWS = "the rows that were named"  # the rule of such a split, in words
LOOSE = 2.0  # a share that is further off than this factor is refused
ZONE = r"(?P<zone>Z|[+-]\d{2}:?\d{2})$"  # at the end of an ISO time
ISO_DATE = r"^\d{4}-\d{2}(-\d{2}([T ].*)?)?$"  # text of which the order is the order in time


class Split(NamedTuple):
    """The rows that are set apart, the rule in words, and notes about it."""

    sealed: Array  # Booleans, one per row
    rule: str
    notes: tuple[str, ...]


def split_rows(
    table: "pa.Table",
    target: str,
    *,
    test: Any,
    group: str | None = None,
    by_time: str | None = None,
    seed: int = 0,
    part: str = "sealed",
    kind: str | None = None,
    texts: Sequence[str] = (),
    apart: Iterable[str] = (),
) -> Split:
    """The rows to set apart; the columns exist and the target has no missing value.

    ``part`` is what they are called in messages, ``kind`` that of the target, if it is known.
    ``texts`` are columns of texts, which are not equal by chance, and ``apart`` columns that are
    not features, such as identifiers.
    """
    features = [name for name in table.column_names if name not in {target, *apart}]
    strata = partial(strata_of, table.column(target), kind)
    if np.ndim(test):
        found = _named_rows(table, features, np.asarray(test), part)
    elif by_time is not None:
        found = _latest(table, by_time, _twins(table, features, texts, but=by_time), test, part)
    elif group is not None:
        twins = _twins(table, features, texts, but=group)
        found = _by_group(table, group, twins, (*strata(), target), test=test, seed=seed)
    else:
        units, notes = _twins(table, features, texts, near=True)
        classes, words = strata()
        sealed = _take_units(units, classes, test, seed)
        found = Split(sealed, f"stratified by {words.format(target)}", notes)
    n_sealed = int(found.sealed.sum())
    if not 0 < n_sealed < table.num_rows:
        share = "A choice" if np.ndim(test) else f"A share of {test:g}"
        raise InvalidInput(
            f"{share} of {table.num_rows} rows ({found.rule}) leaves {n_sealed} {part} "
            f"rows and {table.num_rows - n_sealed} to train on; both need at least one. "
            "Choose another share, or another column to split by."
        )
    return found


def _named_rows(table: "pa.Table", features: Sequence[str], rows: Array, part: str) -> Split:
    """The rows that were named, by index or by one Boolean each; duplicates are counted."""
    sealed = row_mask(rows, table.num_rows, "test" if part == "sealed" else part)
    units = _codes(row_fingerprints(table, features, ""))
    n_twins = int(np.isin(units[sealed], units[~sealed]).sum())
    note = f"{n_twins:,} of the {part} rows equal a training row in all features."
    return Split(sealed, NAMED_ROWS, (note,) if n_twins else ())


def row_mask(rows: Array, n: int, name: str) -> Array:
    """Rows that were named by index, or by one Boolean each, as Booleans."""
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise InvalidInput(
                f"{name} has {rows.size} Booleans; there are {n} rows. Give one for each row."
            )
        return rows
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise InvalidInput(
            f"{name} is an array of {rows.dtype} with shape {rows.shape}; expected a share, "
            "indices of rows in one dimension, or a Boolean for each. Give whole numbers from 0 up."
        )
    outside = rows[(rows < 0) | (rows >= n)]
    if outside.size:
        raise InvalidInput(
            f"{name} names row {outside[0]}; there are rows 0 to {n - 1}. Remove it from the list."
        )
    return np.isin(np.arange(n), rows)


def _by_group(
    table: "pa.Table", group: str, twins: Twins, by: Strata, *, test: float, seed: int
) -> Split:
    (equal, notes), (strata, words, target) = twins, by
    groups, alone = _groups(table, group)
    units = joined_units(groups, equal)
    if units.max() < groups.max():
        merged = int(groups.max() - units.max())
        notes = (*notes, f"{merged + 1:,} groups of {group} have equal rows; they stay together.")
    if alone:
        notes = (*notes, f"{count(alone, 'row')} without {group}: each is a group of its own.")
    rule = f"whole groups of {group}"
    sealed = _take_units(units, strata, test, seed)
    if units.max() < FEW_UNITS or abs(sealed.mean() - test) > NEAR:
        sealed = _nearest_units(units, test, seed)
    else:
        rule += f", stratified by {words.format(target)}"
    _check_share(sealed, test, group, int(units.max()) + 1)
    return Split(sealed, rule, notes)


def _groups(table: "pa.Table", group: str) -> tuple[Codes, int]:
    """The group of each row, and how many rows have none: each of these is its own group."""
    import pyarrow.compute as pc

    codes = _codes(row_fingerprints(table, [group], ""))
    missing = np.asarray(pc.is_null(table.column(group), nan_is_null=True))
    alone = int(missing.sum())
    codes = np.where(missing, codes.max() + np.cumsum(missing), codes)
    return _codes(codes), alone


def _check_share(sealed: Array, test: float, group: str, n_units: int) -> None:
    """Refuse whole groups that cannot come near the share."""
    share = float(sealed.mean())
    if n_units < 2:
        raise InvalidInput(
            f"All rows belong to one group of {group!r}, or are linked to it by equal rows; at "
            "least two groups are needed to split. Choose another column, or leave it out."
        )
    if not test / LOOSE <= share <= test * LOOSE:
        raise InvalidInput(
            f"A share of {test:g} cannot be made of whole groups of {group!r}; the nearest is "
            f"{short_number(share, 3)}. Give that share, or choose another column to split by."
        )


def _latest(table: "pa.Table", by_time: str, twins: Twins, test: float, part: str) -> Split:
    """The latest rows; rows of the same time stay together.  Copies of earlier rows are counted."""
    import pyarrow.compute as pc

    column = times_of(table.column(by_time), by_time)
    rank = pc.rank(column, sort_keys="ascending", tiebreaker="min").to_numpy() - 1
    start = table.num_rows - round(test * table.num_rows)
    first = np.sort(rank)[min(start, table.num_rows - 1)]
    sealed = rank >= first
    n_twins = int(np.isin(twins[0][sealed], twins[0][~sealed]).sum())
    note = f"{n_twins:,} of the {part} rows equal an earlier training row in all other features."
    return Split(np.asarray(sealed), f"the latest by {by_time}", (note,) if n_twins else ())


def times_of(column: Any, name: str) -> Any:
    """The column as values that sort in order of time; other columns are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_null(column, nan_is_null=True)
    if pc.any(missing).as_py():
        raise InvalidInput(
            f"Column {name!r} has {pc.sum(missing).as_py():,} missing times, the first in row "
            f"{pc.index(missing, True).as_py()}; a split by time needs them all. Fill them in, or "
            "drop those rows."
        )
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        matches = pc.match_substring_regex(column, ISO_DATE)
        if pc.all(matches).as_py():
            return _iso_times(column, name)
        found = column[pc.index(matches, False).as_py()].as_py()
    else:
        found = kind
    raise InvalidInput(
        f"Column {name!r} cannot be put in order of time: found {found!r}. Write times as numbers "
        "or as ISO dates such as 2024-05-31."
    )


def _iso_times(column: Any, name: str) -> Any:
    """ISO times in one form: a blank between date and time, and no zone."""
    import pyarrow.compute as pc

    zones = pc.struct_field(pc.extract_regex(column, ZONE), "zone").unique().to_pylist()
    if len(zones) > 1:
        shown = " and ".join("none" if zone is None else zone for zone in zones[:2])
        raise InvalidInput(
            f"Column {name!r} has times of several zones: {shown}; their order as text is not that "
            "in time. Write them all in one zone, such as UTC."
        )
    return pc.replace_substring_regex(pc.replace_substring(column, "T", " "), ZONE, "")


def strata_of(column: Any, kind: str | None = None) -> tuple[Codes, str]:
    """Classes, or tenths of a column of amounts or of a kind of numbers; and them in words."""
    import pyarrow as pa

    codes = _codes(row_fingerprints(pa.table({"y": column}), ["y"], ""))
    if not _is_number(column.type):
        return codes, "{}"
    is_whole = pa.types.is_integer(column.type)
    if is_whole and codes.max() < MOST_CLASSES and kind not in NUMBER_KINDS:
        return codes, "{}"
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    edges = np.quantile(values, np.linspace(0, 1, N_BINS + 1)[1:-1])
    return np.searchsorted(edges, values), "tenths of {}"


def _is_number(type_: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    )


def _twins(
    table: "pa.Table",
    features: Sequence[str],
    texts: Sequence[str],
    but: str | None = None,
    *,
    near: bool = False,
) -> Twins:
    """A number for each set of rows that are copies: equal in all features, not by chance.

    Or ``near``ly so, where such rows can be kept together.
    """
    columns = [name for name in features if name != but]
    copies = copies_in_table(table, columns, texts=texts)
    units = units_in_table(table, columns, texts=texts) if near else copies
    if units is None:
        return np.arange(table.num_rows), ()
    nearly = "" if copies is not None and np.array_equal(units, copies) else ", or nearly"
    n_twins = int((np.bincount(units)[units] > 1).sum())
    what = f"{n_twins:,} rows ({percent(n_twins / table.num_rows)}) equal another in all features"
    what += nearly
    return _codes(units), (f"{what}; equal rows were kept together, on one side of the split.",)


def _take_units(units: Codes, strata: Codes, test: float, seed: int) -> Array:
    """Which rows are sealed: whole units, first those of several rows, then single rows."""
    _, first_row, unit, size = np.unique(
        units, return_index=True, return_inverse=True, return_counts=True
    )
    order = hashed_uniforms(0, units.size, seed)[first_row]
    stratum = strata[first_row]  # of the unit's first row
    taken = np.zeros(size.size, dtype=bool)
    _, place = np.unique(stratum, return_inverse=True)
    shares = rows_of_strata(np.bincount(place, weights=size), test, seed)
    for k, share in enumerate(shares):
        member = np.flatnonzero(place == k)
        member = member[np.argsort(order[member], kind="stable")]
        large, single = member[size[member] > 1], member[size[member] == 1]
        ends = np.cumsum(size[large])
        taken[large] = ends - size[large] / 2 < test * ends[-1] if large.size else False
        wanted = share - size[large][taken[large]].sum()
        taken[single[: max(wanted, 0)]] = True
    return taken[unit]


def rows_of_strata(sizes: Array, test: float, seed: int) -> Codes:
    """How many rows of each stratum are set apart: its share, rounded up or down.

    Together they are the share of all rows, to the nearest row; the strata with the largest
    fractions are rounded up, and the seed decides between equal ones.  A share that is a whole
    number but for its last digit has the largest fraction, or none.
    """
    exact = test * sizes
    rows = np.floor(exact).astype(np.int64)
    n_more = round(test * sizes.sum()) - int(rows.sum())
    chance = hashed_uniforms(0, sizes.size, seed)
    order = np.lexsort((chance, -np.round(exact - rows, 9)))
    rows[order[: max(n_more, 0)]] += 1
    return rows


def _nearest_units(units: Codes, test: float, seed: int) -> Array:
    """Whole units that come nearest to the share; the seed chooses among equally good sets."""
    _, first_row, unit, size = np.unique(
        units, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(hashed_uniforms(0, units.size, seed)[first_row], kind="stable")
    wanted = test * units.size
    taken = np.zeros(size.size, dtype=bool)
    if size.size <= FEW_UNITS:
        taken[order] = _nearest_set(size[order], wanted, NEAR * units.size)
    else:
        total = 0.0
        for one in order:
            if abs(total + size[one] - wanted) < abs(total - wanted):
                taken[one] = True
                total += size[one]
    return taken[unit]


def _nearest_set(size: Array, wanted: float, room: float) -> Array:
    """The first of all sets, in the order of the units, whose sum is nearest."""
    n = size.size
    sets = (np.arange(1, 2**n - 1)[:, None] >> np.arange(n)) % 2 == 1  # not none, and not all
    if not len(sets):
        return np.zeros(n, dtype=bool)
    distance = np.abs(sets @ size - wanted)
    return np.asarray(sets[np.argmax(distance <= max(distance.min(), room))])


def _codes(values: Array) -> Codes:
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)
