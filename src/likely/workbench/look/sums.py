"""Targets that are computed from a few columns of numbers: sums, differences, comparisons.

A number is regressed on the columns, one more at a time, each time on the one with which the
residual correlates most (orthogonal matching pursuit), and on all of them at once; the target is
computed from them where nothing is left.  For classes, the sum and the difference of each pair of
columns are examined as a single column is.

References
----------
Pati, Rezaiifar & Krishnaprasad (1993), Orthogonal matching pursuit, Asilomar Conference.
"""

from itertools import combinations

import numpy as np

from likely._typing import Array
from likely.output.formatting import all_listed
from likely.workbench.look.findings import MOST_NAMED, Finding, finding
from likely.workbench.look.leaks import EXPLAINED, explained_share, some_rows, suspicion_of
from likely.workbench.look.profile import Profile, ProfiledColumn

MOST_ROWS = 5_000  # examined
MOST_COLUMNS = 400  # of numbers
ROWS_PER_COLUMN = 3
FEWEST_ROWS = 30
UNEXPLAINED = 1e-6  # of the variance
MOST_SUMMED = 4  # columns of a sum
MOST_PAIRED = 20  # columns of which all pairs are examined
SEPARATED = 0.99  # of the entropy of classes, explained by a pair
BINS = 64


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def computed_target(profile: Profile) -> Finding | None:
    """A number that is a linear function of few columns; classes that compare two of them."""
    suspicion, target = suspicion_of(profile), profile.target
    columns = [each for each in profile.features if each.is_number and each.n_distinct > 1]
    if suspicion is None or target is None or not 2 <= len(columns) <= MOST_COLUMNS:
        return None
    known = np.logical_and.reduce([each.codes >= 0 for each in (*columns, target)])
    rows = some_rows(known, MOST_ROWS)
    if rows.size < max(FEWEST_ROWS, ROWS_PER_COLUMN * len(columns)):
        return None
    values = np.column_stack([each.numbers[each.codes[rows]] for each in columns])
    if not np.isfinite(values).all():
        return None
    if target.reads_as_classes:
        return _separated(columns, values, target, rows)
    y = target.numbers[target.codes[rows]]
    x, y = _standard(values), _standard(y)
    found = _summed(x, y) if np.isfinite(x).all() and np.isfinite(y).all() else ()
    if len(found) < 2:  # one alone is for another check
        return None
    names = [columns[j].name for j in found]
    named = all_listed([repr(name) for name in names[:MOST_NAMED]])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    what = f"The target {target.name!r} is a linear function of {named}{more}"
    return finding("LK404", what, names)


def _summed(x: Array, y: Array) -> tuple[int, ...]:
    """The columns of which y is a linear function; empty if it is none."""
    taken: list[int] = []
    left = y
    while len(taken) < min(MOST_SUMMED, x.shape[1]):
        gain = np.abs(x.T @ left)
        gain[taken] = -1.0
        taken.append(int(gain.argmax()))
        left = y - x[:, taken] @ np.linalg.lstsq(x[:, taken], y, rcond=None)[0]
        if left @ left <= UNEXPLAINED * (y @ y):
            return tuple(sorted(taken))
    slope = np.linalg.lstsq(x, y, rcond=None)[0]
    left = y - x @ slope
    if left @ left > UNEXPLAINED * (y @ y):
        return ()
    return tuple(int(j) for j in np.flatnonzero(np.abs(slope) > UNEXPLAINED**0.5))


def _separated(
    columns: list[ProfiledColumn], values: Array, target: ProfiledColumn, rows: Array
) -> Finding | None:
    """The pair whose sum or difference explains the classes, though neither does alone."""
    if values.shape[1] > MOST_PAIRED:
        return None
    labels = target.codes[rows]
    alone = [explained_share(labels, _bins(values[:, j])) for j in range(values.shape[1])]
    for i, j in combinations(range(values.shape[1]), 2):
        for sign, word in ((1.0, "sum"), (-1.0, "difference")):
            if max(alone[i], alone[j]) >= EXPLAINED:
                continue
            share = explained_share(labels, _bins(values[:, i] + sign * values[:, j]))
            if share >= SEPARATED:
                names = [columns[i].name, columns[j].name]
                what = f"The {word} of {names[0]!r} and {names[1]!r} tells the target"
                return finding("LK404", f"{what} {target.name!r}", names)
    return None


def _bins(x: Array) -> Array:
    """Bins of about equal size, in which equal numbers are together; 0 has its own."""
    ends = np.quantile(x, np.linspace(0, 1, min(BINS, x.size // 8) + 1)[1:-1])
    ends = np.unique(np.append(ends, 0.0))
    return 2 * np.searchsorted(ends, x) + (x == 0.0)


def _standard(x: Array) -> Array:
    apart = x - x.mean(axis=0)
    spread = apart.std(axis=0)
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))
