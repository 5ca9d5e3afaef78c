"""The checks of the whole table: its rows, its target, and both together.

Columns of numbers that are nearly linear functions of others are found in the order of the table.
The residual variance of each, given those before it, is a pivot of the Cholesky factor of the
correlations (Golub and Van Loan, Matrix Computations, §4.2), so that all are found in one pass:

    R²_j = 1 − L²_jj,     R = L Lᵀ
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from likely._typing import Array
from likely.data.hashed_splits import some_rows
from likely.kinds import FEATURE_KINDS
from likely.numerics.keyed_random import FIRST, GOLDEN
from likely.output.formatting import count, listed, percent
from likely.workbench.look.findings import Finding, Severity, finding
from likely.workbench.look.leaks import (
    FEWEST_DEPENDENT_ROWS,
    MOST_COLUMNS,
    MOST_DEPENDENT_ROWS,
)
from likely.workbench.look.profile import Profile, ProfiledColumn

ROWS_PER_COLUMN = 2  # complete ones; with fewer, chance alone looks like dependence
MOST_MISSING = 0.2  # of the cells of a column that is examined
DEPENDENT = 0.99  # of the variance: standard errors are ten times as large as without the others
MOST_EXPLAINING = 3  # columns that are named beside one that depends on them
NAMED = 0.1  # standard deviations; a column with a smaller effect is not named
Check = Callable[[Profile], Finding | None]
WARN_SHARE = 0.01  # of the rows are copies
FEWEST_OF_CLASS = 10  # rows: two for each of five folds
IMBALANCE = 10.0  # the largest class against the smallest
MOSTLY_ONE = 0.75  # of the rows are of the largest class
TEXT_CLASSES = 1000  # more are text, with however many rows to each
MOST_NAMED = 4  # classes in a sentence


def repeated_names(profile: Profile) -> Finding | None:
    counts = Counter(column.name for column in profile.columns)
    twice = [name for name, count in counts.items() if count > 1]
    if not twice:
        return None
    named = ", ".join(f"{name!r} {counts[name]} times" for name in twice[:MOST_NAMED])
    return finding("LK111", f"Names of columns repeat: {named}", twice)


def repeated_rows(profile: Profile) -> Finding | None:
    """Rows equal in all columns, more often than by chance."""
    if profile.copies is None:
        return None
    rows = np.arange(profile.n_rows)
    first = _first_equal(profile.columns, profile.n_rows)
    copies = np.flatnonzero((first != rows) & (profile.copies != rows))
    if not copies.size:
        return None
    row = int(copies[0])
    where = f"row {row} repeats row {int(first[row])}, counted from 0"
    if copies.size == 1:
        return finding("LK201", f"One row repeats an earlier one ({where})")
    share = copies.size / profile.n_rows
    found = f"{copies.size:,} rows ({percent(share)}) repeat earlier ones ({where}, and so on)"
    return finding("LK201", found, severity="warn" if share > WARN_SHARE else None)


def contradictions(profile: Profile) -> Finding | None:
    """Rows equal in all features whose targets differ, more often than by chance."""
    target = profile.target
    if target is None or (first := profile.copies) is None:
        return None
    known = (target.codes >= 0) & (target.codes[first] >= 0)
    rows = np.flatnonzero(known & (target.codes != target.codes[first]))
    if not rows.size:
        return None
    row, before = int(rows[0]), int(first[rows[0]])
    several = "One row differs" if rows.size == 1 else f"{rows.size:,} rows differ"
    return finding(
        "LK202",
        f"{several} in the target alone from an earlier row (row {row} from row {before}, "
        "counted from 0)",
        [target.name],
    )


def empty_rows(profile: Profile) -> Finding | None:
    features = [column for column in profile.features if column.n_known]
    if not features:
        return None
    empty = np.all([column.codes < 0 for column in features], axis=0)
    n = int(empty.sum())
    if not n:
        return None
    has = "One row has" if n == 1 else f"{n:,} rows have"
    return finding("LK203", f"{has} no feature at all (row {int(empty.argmax())}, counted from 0)")


def missing_target(profile: Profile) -> Finding | None:
    target = profile.target
    if target is None or not target.n_missing:
        return None
    found = (
        f"The target {target.name!r} is missing in {target.n_missing:,} of {target.n_rows:,} rows"
    )
    return finding("LK301", found, [target.name], severity=None if target.n_known else "stop")


def one_class(profile: Profile) -> Finding | None:
    target = profile.target
    if target is None or target.n_distinct != 1:
        return None
    return finding(
        "LK302", f"The target {target.name!r} is {target.mode!r} in every row", [target.name]
    )


def tiny_classes(profile: Profile) -> Finding | None:
    target = _classes(profile)
    if target is None:
        return None
    tiny = np.flatnonzero(target.counts < FEWEST_OF_CLASS)
    if not tiny.size:
        return None
    named = [
        f"class {target.values[int(i)].as_py()}: {count(int(target.counts[i]), 'row')}"
        for i in tiny[:MOST_NAMED]
    ]
    more = ", …" if tiny.size > MOST_NAMED else ""
    classes = "One class has" if tiny.size == 1 else f"{tiny.size} classes have"
    found = f"{classes} fewer than {FEWEST_OF_CLASS} rows ({', '.join(named)}{more})"
    return finding("LK303", found, [target.name])


def imbalance(profile: Profile) -> Finding | None:
    target = _classes(profile)
    if target is None or target.counts.max() < IMBALANCE * target.counts.min():
        return None
    if target.counts.max() < MOSTLY_ONE * target.n_known:
        return None
    large, small = int(target.counts.argmax()), int(target.counts.argmin())
    shares = " and ".join(
        f"{target.values[i].as_py()!r} has {percent(target.counts[i] / target.n_known)} of the rows"
        for i in (large, small)
    )
    return finding("LK304", f"Of the target {target.name!r}, {shares}", [target.name])


def many_classes(profile: Profile) -> Finding | None:
    target = profile.target
    if target is None or not _too_many(target):
        return None
    found = (
        f"The target {target.name!r} is text with {target.n_distinct:,} distinct values in "
        f"{target.n_known:,} rows"
    )
    severity: Severity = "stop" if target.too_many_classes else "warn"
    return finding("LK305", found, [target.name], severity=severity)


def no_target(profile: Profile) -> Finding | None:
    target = profile.target
    if target is None or target.kind in FEATURE_KINDS or not target.n_known:
        return None
    what = "dates" if target.kind == "date" else str(target.values.type)
    return finding("LK306", f"The target {target.name!r} holds {what}", [target.name])


TABLE_CHECKS: Mapping[str, Check] = {
    "LK111": repeated_names,
    "LK201": repeated_rows,
    "LK202": contradictions,
    "LK203": empty_rows,
    "LK301": missing_target,
    "LK302": one_class,
    "LK303": tiny_classes,
    "LK304": imbalance,
    "LK305": many_classes,
    "LK306": no_target,
}


def _first_equal(columns: Sequence[ProfiledColumn], n_rows: int) -> Array:
    """For each row, the first row that equals it."""
    key = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:  # a hash of the codes, one column after the other
        key = (key ^ (column.codes + 1).astype(np.uint64)) * FIRST + GOLDEN
        key ^= key >> np.uint64(29)
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    found = first[same]
    suspects = np.flatnonzero(found != np.arange(n_rows))
    if suspects.size:  # equal hashes are checked to be equal rows
        equal = np.ones(suspects.size, dtype=bool)
        for column in columns:
            equal &= column.codes[suspects] == column.codes[found[suspects]]
        found[suspects[~equal]] = suspects[~equal]
    return found


def _classes(profile: Profile) -> ProfiledColumn | None:
    """The target, if it has classes that can be counted."""
    target = profile.target
    if target is None or not target.reads_as_classes or target.n_distinct < 2 or _too_many(target):
        return None
    return target


def _too_many(target: ProfiledColumn) -> bool:
    return target.too_many_classes or (target.is_text and target.n_distinct > TEXT_CLASSES)


def dependent_columns(profile: Profile, left_out: Sequence[str]) -> dict[str, str]:
    """Columns with a remark: how much of them is explained, and by which."""
    columns = [each for each in profile.features if _is_usable(each, left_out)]
    if not 2 <= len(columns) <= MOST_COLUMNS:
        return {}
    known = np.logical_and.reduce([column.codes >= 0 for column in columns])
    rows = some_rows(known, MOST_DEPENDENT_ROWS)
    if rows.size < max(FEWEST_DEPENDENT_ROWS, ROWS_PER_COLUMN * len(columns)):
        return {}
    values = np.column_stack([column.numbers[column.codes[rows]] for column in columns])
    names = [column.name for column in columns]
    return {
        names[j]: f"{percent(share)} explained by {listed([names[i] for i in by], MOST_EXPLAINING)}"
        for j, share, by in _dependent(_standardised(values))
    }


def _is_usable(column: ProfiledColumn, left_out: Sequence[str]) -> bool:
    if not column.is_number or column.declared or column.name in left_out:
        return False
    few_missing = column.n_missing <= MOST_MISSING * column.n_rows
    return few_missing and column.n_distinct > 2 and bool(np.isfinite(column.numbers).all())


def _standardised(values: Array) -> Array:
    """Columns of mean 0 and length 1; a constant one is 0."""
    size = np.abs(values).max(axis=0)
    scaled = values / np.where(size > 0, size, 1.0)  # so that no square overflows
    centred = scaled - scaled.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray(centred / np.where(length > 1e-12, length, np.inf))


def _dependent(values: Array) -> Iterator[tuple[int, float, list[int]]]:
    """The place of each dependent column, its R², and the places of those that explain it."""
    kept: list[int] = []
    basis = np.empty_like(values)  # orthonormal, of the columns kept so far
    triangle = np.zeros((values.shape[1],) * 2)
    for j in range(values.shape[1]):
        k = len(kept)
        if not values[:, j].any():
            continue
        inside = basis[:, :k].T @ values[:, j]
        residual = values[:, j] - basis[:, :k] @ inside
        share = 1 - float(residual @ residual)
        if k and share >= DEPENDENT:
            effects = np.abs(np.linalg.solve(triangle[:k, :k], inside))
            strongest = np.argsort(-effects, kind="stable")
            yield j, share, [kept[i] for i in strongest if effects[i] >= NAMED] or [kept[0]]
            continue
        length = float(np.sqrt(residual @ residual))
        triangle[:k, k], triangle[k, k] = inside, length
        basis[:, k] = residual / length
        kept.append(j)
