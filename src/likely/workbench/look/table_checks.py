"""The checks of the whole table: its rows, its target, and both together.

Rows that are nearly copies of others: equal but for noise in the last digits, or for one column.

A table is made coarser, and the rule of ``likely.data.copies`` is asked again: numbers are rounded
to a thousandth of their standard deviation, on two grids, of which one is shifted by half a step;
or one column after the other is left out.  Folds keep copies together, and these they do not.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from likely._typing import Array, Codes
from likely.data.copies import copies_in
from likely.kinds import FEATURE_KINDS
from likely.numerics.keyed_random import FIRST, GOLDEN
from likely.output.formatting import count, percent
from likely.workbench.look.column_checks import group_of_rows
from likely.workbench.look.findings import Finding, Severity, finding
from likely.workbench.look.leaks import some_rows
from likely.workbench.look.profile import Profile, ProfiledColumn

MOST_ROWS = 20_000  # examined
MOST_COLUMNS = 60  # with more, none is left out
FEWEST_LEFT = 3  # columns beside the one that is left out
KINDS = ("number", "boolean", "category")
STEP = 1e-3  # standard deviations
FEWEST = 10  # near copies that are reported
WORTH_SAYING = 0.05  # of the rows
FOLDS = 5  # a row of more copies than a fold holds, and fewer different rows, are reported
Check = Callable[[Profile], Finding | None]
UNLIKELY = 0.1  # copies of a row, by chance
RARE = 0.05  # duplicates are reported if this many by chance is less probable than this
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
    first = _first_equal(profile.columns, profile.n_rows)
    copies = _surprising(first != np.arange(profile.n_rows), profile, profile.columns)
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
    if target is None or not profile.features:
        return None
    first = _first_equal(profile.features, profile.n_rows)
    other = (target.codes != target.codes[first]) & (target.codes >= 0) & (target.codes[first] >= 0)
    rows = _surprising(other, profile, profile.features)
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


def _surprising(repeated: Array, profile: Profile, columns: Sequence[ProfiledColumn]) -> Array:
    """The repeated rows that chance does not explain.

    Of rows that are unlikely to have copies, the number of copies is about Poisson.  Equal texts
    are never by chance.
    """
    if any(column.name in profile.texts for column in columns):
        return np.flatnonzero(repeated)
    if not repeated.any():
        return np.empty(0, dtype=np.int64)
    from scipy.special import gammainc

    chance = chance_copies(columns)
    unlikely = chance < UNLIKELY
    rows = np.flatnonzero(repeated & unlikely)
    expected = chance[unlikely].sum() / 2  # each pair was counted from both of its rows
    by_chance = gammainc(rows.size, expected) if rows.size else 1.0  # P(at least so many)
    return rows if by_chance < RARE else rows[:0]


def chance_copies(columns: Sequence[ProfiledColumn]) -> Array:
    """How many other rows would equal each row if columns were independent.

        cᵢ = (n_{j* v} − 1) Π_{j ≠ j*} p_{j v},     v = x_ij

    For the column j* with the most distinct values, the counts of ties are used.
    """
    sharpest = max(columns, key=lambda column: column.n_distinct)
    log_chance = np.log(np.maximum(_ties(sharpest) - 1, np.finfo(float).tiny))
    seen = {sharpest.codes.tobytes()}
    for column in columns:
        code = column.codes.tobytes()
        if code not in seen:  # a copy of a column brings no news
            seen.add(code)
            log_chance += np.log(_ties(column) / column.n_rows)
    return np.asarray(np.exp(log_chance))


def _ties(column: ProfiledColumn) -> Array:
    """How many rows have each row's value, where missing is a value."""
    return np.append(column.counts, column.n_missing)[column.codes]


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


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def near_copies(profile: Profile) -> Finding | None:
    """Rows that equal others after rounding, or in all columns but one, beyond chance."""
    columns = [each for each in profile.features if each.n_distinct > 1 and each.kind in KINDS]
    if not columns or profile.texts & {each.name for each in profile.features}:
        return None
    rows = some_rows(np.ones(profile.n_rows, dtype=bool), MOST_ROWS)
    coded = np.column_stack([each.codes[rows] for each in columns])
    exact = _number(copies_in(coded))
    for shift in (0.0, 0.5):
        stepped = np.column_stack([_in_steps(each, rows, shift) for each in columns])
        more = _number(copies_in(stepped)) - exact
        if more >= max(FEWEST, WORTH_SAYING * rows.size):
            return _said(profile, more, rows, "but for small differences")
    if not FEWEST_LEFT < len(columns) <= MOST_COLUMNS:
        return None
    for j, column in enumerate(columns):
        more = _number(copies_in(np.delete(coded, j, axis=1))) - exact
        if more >= max(FEWEST, WORTH_SAYING * rows.size):
            return _said(profile, more, rows, f"in all features but {column.name!r}")
    return None


def too_few_different(profile: Profile) -> Finding | None:
    """Copies that no split can keep apart: fewer different rows than folds, or one row a fold."""
    columns = profile.features
    if not columns or profile.texts & {each.name for each in columns}:
        return None
    values = [np.append(each.numbers, np.nan) if each.is_number else None for each in columns]
    table = [
        each.codes.astype(np.float64) if of is None else of[each.codes]  # code −1 is the last
        for each, of in zip(columns, values, strict=True)
    ]
    copies = copies_in(np.column_stack(table))
    if copies is None:
        return None
    size = np.bincount(copies)
    n_different, largest = int(np.count_nonzero(size)), int(size.max())
    if n_different < FOLDS:
        return finding("LK206", f"There are only {n_different} different rows")
    if largest * FOLDS > profile.n_rows:
        share = percent(largest / profile.n_rows)
        return finding("LK206", f"One row occurs {largest:,} times ({share} of all rows)")
    return None


def _in_steps(column: ProfiledColumn, rows: Codes, shift: float) -> Array:
    """The codes of a column; of numbers, those of their steps."""
    if not column.is_number:
        return column.codes[rows]
    x = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
    spread = float(np.nanstd(x)) if np.isfinite(x).any() else 0.0
    steps = np.rint(x / (STEP * spread) + shift) if 0 < spread < np.inf else column.numbers
    return np.append(steps, np.nan)[column.codes[rows]]  # code −1 is the last


def _number(copies: Codes | None) -> int:
    """How many rows are copies of earlier ones."""
    return 0 if copies is None else int((copies != np.arange(copies.size)).sum())


def _said(profile: Profile, n: int, rows: Codes, what: str) -> Finding:
    share = percent(n / rows.size)
    groups = [each.name for each in profile.columns if group_of_rows(each, profile) is not None]
    hint = f"; {groups[0]!r} may be their group" if groups else ""
    return finding("LK205", f"{count(n, 'row')} ({share}) equal an earlier row {what}{hint}")
