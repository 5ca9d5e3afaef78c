"""Why scores may be too good: columns that leak the target, and rows that are nearly copies.

These are suspicions, no proofs.

How much one column explains of another is estimated by leaving one out:

    share(y | v) = 1 − L / H(y)        L = −(1/n) Σ_i ln (n_{v y} − 1 + α p_y) / (n_v − 1 + α)

over rows i with y = y_i and v = v_i: each row is predicted from the others with its value, so that
an identifier explains nothing.  For a target that is a number, the same with squares of ranks:

    share = 1 − Σ_i (r_i − r̄_{−i, v})² / Σ_i (r_i − r̄)²

A column that holds mean targets of categories, or a function of them such as log-odds, follows them
more closely than their own noise allows: around the curve of the means ȳ_v on the values v of a
column that knows nothing of the targets,

    F = Σ_v n_v (ȳ_v − f(v))² / Σ_v s_v²        s_v² = Σ_{i: v_i = v} (y_i − ȳ_v)² / (n_v − 1)

is at least about 1, and is 0 for a column that was made from them.  f is a polynomial, a line or a
cubic, of the values or of their ranks; both sums are over values of several rows, whose noise may
differ, with Satterthwaite's degrees of freedom.

A target may be computed from a few columns: a sum, a difference, a comparison.  A number is
regressed on the columns, one more at a time, each time on the one with which the residual
correlates most (orthogonal matching pursuit), and on all of them at once; the target is computed
from them where nothing is left.  For classes, the sum and the difference of each pair of columns
are examined as a single column is.

Rows may be copies of others but for noise in the last digits, or for one column
(``likely.data.near_copies``).  Folds keep these together, too, if they can.

References
----------
Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics 2.
Pati, Rezaiifar & Krishnaprasad (1993), Orthogonal matching pursuit, Asilomar Conference.
Stone, Cross-validatory choice and assessment of statistical predictions, JRSS B 36 (1974), §3.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.hashed_splits import some_rows
from likely.data.near_copies import FOLDS
from likely.output.formatting import all_listed, count, percent
from likely.workbench.look.column_checks import group_of_rows
from likely.workbench.look.findings import Finding, Severity, finding
from likely.workbench.look.profile import Profile, ProfiledColumn

MOST_DEPENDENT_ROWS = 5_000  # examined
MOST_COLUMNS = 400  # of numbers; more are not examined
FEWEST_DEPENDENT_ROWS = 30
ALPHA = 0.1  # the weight of the overall shares, in rows
BINS = 64  # of a number; a threshold anywhere is then at most 1/64 of the rows off
ROWS_PER_BIN = 8
MOST_ROWS = 50_000  # examined; the shares are then known to a fraction of a percent
FEWEST_ROWS = 20
EXPLAINED = 0.95  # of the entropy; the best legitimate columns of iris and wine explain less
EXPLAINED_COPY = 0.8  # by a column of as many values as there are classes: 97 % of them agree
NEARLY_EXPLAINED = 0.9  # of the entropy; in public tables nearly all such columns are no predictors
NEARLY_EXPLAINED_FEW = 0.65  # the same of a few values: of even classes 94 % of the rows agree
EXPLAINED_RANKS = 0.98  # of the variance of ranks; measurements of one thing often agree to 0.95
MOST_VALUES = 8  # of a column whose values are few: into so many a number may have been cut
FEWEST_EXCEPTIONS = 5  # rows that do not have the most frequent value
FEWEST_MISSING = 10
FEWEST_MEANS = 10  # different values of a column that may hold mean targets
MOST_CODED = 10  # classes whose shares are examined
TOO_CLOSE = 1e-6  # P(F) of means that follow a column, and
FOLLOWED = 0.5  # the least share of their variance that it explains
DEGREES = (1, 3)  # of the curve of the means
EVEN = 1e-6  # steps, relatively, of the levels of a design
QUARTERS = 4  # of a target that is a number, to compare how often a cell is missing
SURE = 0.001  # the chance of a false alarm among all columns
GAP = 0.1  # between the largest and the smallest share of missing cells
ROWS_PER_SUMMED = 3
MOST_IN_SUM = 6  # columns in a sentence about a sum
UNEXPLAINED = 1e-6  # of the variance
MOST_SUMMED = 4  # columns of a sum
MOST_PAIRED = 20  # columns of which all pairs are examined
SEPARATED = 0.99  # of the entropy of classes, explained by a pair


def explained_share(of: Codes, by: Codes) -> float:
    """How much of the entropy of ``of`` is explained by ``by``, by leaving one out: at most 1."""
    size = int(of.max()) + 1
    cells, count = np.unique(by.astype(np.int64) * size + of, return_counts=True)
    share = np.bincount(of, minlength=size) / of.size
    inside = np.bincount(by)[cells // size]
    foretold = (count - 1 + ALPHA * share[cells % size]) / (inside - 1 + ALPHA)
    known = share[share > 0]
    entropy = -float(known @ np.log(known))
    loss = -float(count @ np.log(foretold)) / of.size
    return 1 - loss / entropy if entropy > 0 else 0.0


def explained_variance(of: Array, by: Codes) -> float:
    """How much of the variance of ``of`` is explained by ``by``, by leaving one out: at most 1."""
    count, total = np.bincount(by), np.bincount(by, weights=of)
    others = np.maximum(count[by] - 1, 1)
    foretold = np.where(count[by] > 1, (total[by] - of) / others, of.mean())
    spread = float(((of - of.mean()) ** 2).sum())
    return 1 - float(((of - foretold) ** 2).sum()) / spread if spread > 0 else 0.0


def binned(column: ProfiledColumn, most: int = BINS) -> Codes:
    """Codes from 0: missing, then a column's values; of a number, bins of about equal size."""
    n_bins = min(most, column.n_rows // ROWS_PER_BIN)
    if not (column.is_number and column.n_distinct > n_bins):
        return column.codes + np.int32(1)
    middle = _middle_ranks(column)
    bin_of = np.minimum(middle * n_bins // column.n_known, n_bins - 1).astype(np.int32) + 1
    return np.append(bin_of, np.int32(0))[column.codes]  # code −1 is the last


def ranks(column: ProfiledColumn) -> Array:
    """The rank of each row's number, from 0 to 1; ties share their mean."""
    return (_middle_ranks(column) / column.n_known)[column.codes]


def _middle_ranks(column: ProfiledColumn) -> Array:
    """The middle rank of each distinct number."""
    middle = np.empty(column.n_distinct)
    counts = column.counts[column.order]
    middle[column.order] = np.cumsum(counts) - counts / 2
    return middle


@final
@dataclass(frozen=True, eq=False)
class Suspicion:
    """The target on the examined rows, with which columns are compared."""

    profile: Profile
    target: ProfiledColumn

    @cached_property
    def rows(self) -> Array:
        return some_rows(self.target.codes >= 0, MOST_ROWS)

    @cached_property
    def by_target(self) -> Codes:
        """The target as classes, or as bins of a number."""
        return binned(self.target)[self.rows]

    @cached_property
    def ranks(self) -> Array:
        return ranks(self.target)[self.rows]

    def of_target(self, column: ProfiledColumn) -> float:
        """How much of the target the column explains."""
        by = binned(column)[self.rows]
        if self.target.reads_as_classes:
            return explained_share(self.by_target, by)
        return explained_variance(self.ranks, by)

    def of_target_by_mode(self, column: ProfiledColumn) -> float:
        """How much of the classes is explained by the most frequent value, and missing cells."""
        codes = column.codes[self.rows]
        kinds = np.where(codes == column.counts.argmax(), 1, 2)
        return explained_share(self.by_target, np.where(codes < 0, 0, kinds))

    def by_column(self, column: ProfiledColumn) -> float:
        """How much of a column of few values the target explains."""
        most = self.target.n_distinct if self.target.reads_as_classes else MOST_VALUES
        exceptions = column.n_rows - column.counts.max()
        if not 2 <= column.n_distinct <= most or exceptions < FEWEST_EXCEPTIONS:
            return 0.0
        return explained_share(column.codes[self.rows] + 1, self.by_target)


def suspicion_of(profile: Profile) -> Suspicion | None:
    """The target to compare columns with; None if none was given or it cannot be used."""
    target = profile.target
    if target is None or target.n_distinct < 2 or target.n_known < FEWEST_ROWS:
        return None
    usable = target.is_number or target.reads_as_classes
    return Suspicion(profile, target) if usable else None


def leak(column: ProfiledColumn, suspicion: Suspicion) -> str | None:
    """A column that explains the target almost alone, or is explained by it."""
    if not column.n_known or column.kind == "other":
        return None
    least, target = EXPLAINED_RANKS, suspicion.target
    if target.reads_as_classes:
        least = EXPLAINED_COPY if column.n_distinct == target.n_distinct else EXPLAINED
    share = suspicion.of_target(column)
    if share >= least:
        return f"it explains {percent(share)} of the target"
    share = suspicion.by_column(column)
    return f"the target explains {percent(share)} of it" if share >= EXPLAINED else None


def nearly_alone(column: ProfiledColumn, suspicion: Suspicion) -> str | None:
    """A column that predicts classes nearly alone, though an honest one may do so, too."""
    target = suspicion.target
    exceptions = target.n_known - target.counts.max()
    if not target.reads_as_classes or exceptions < FEWEST_EXCEPTIONS:
        return None
    if not column.n_known or column.kind == "other" or leak(column, suspicion) is not None:
        return None
    few = column.n_distinct <= MOST_VALUES
    share = suspicion.of_target(column)
    if share >= (NEARLY_EXPLAINED_FEW if few else NEARLY_EXPLAINED):
        return f"it explains {percent(share)} of the target"
    share = suspicion.of_target_by_mode(column)
    if share < NEARLY_EXPLAINED_FEW:
        return None
    states = [*([str(column.mode)] if column.counts.max() > 1 else []), "missing"]
    what = " or ".join(states if column.n_missing else states[:1])
    return f"whether it is {what} explains {percent(share)} of the target"


def made_from_target(column: ProfiledColumn, suspicion: Suspicion) -> str | None:
    """A column of numbers that follows the mean targets of its own values too closely."""
    target = suspicion.target
    known = column.codes[suspicion.rows] >= 0
    if not column.is_number or column.n_distinct < FEWEST_MEANS or _is_even(column):
        return None
    codes, y = column.codes[suspicion.rows][known], target.codes[suspicion.rows][known]
    if not target.reads_as_classes:
        answers = [target.numbers[y]]
    elif target.n_distinct <= MOST_CODED:
        n_shares = target.n_distinct if target.n_distinct > 2 else 1
        answers = [(y == k).astype(np.float64) for k in range(n_shares)]
    else:
        return None
    if any(_follows_means(column.numbers, codes, answer) for answer in answers):
        return f"{column.n_distinct:,} values"
    return None


@np.errstate(over="ignore", invalid="ignore")
def _is_even(column: ProfiledColumn) -> bool:
    steps = np.diff(column.ascending[0])
    return not np.isfinite(steps).all() or bool(np.ptp(steps) <= EVEN * steps.max())


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def _follows_means(values: Array, codes: Codes, y: Array) -> bool:
    from scipy.special import fdtr

    count = np.bincount(codes, minlength=len(values))
    seen = np.flatnonzero(count)
    if seen.size < FEWEST_MEANS or codes.size - seen.size < FEWEST_ROWS or not np.isfinite(y).all():
        return False
    mean = np.bincount(codes, weights=y, minlength=len(values)) / np.maximum(count, 1)
    inside = np.bincount(codes, weights=np.square(y - mean[codes]), minlength=len(values))[seen]
    weight, x, m = count[seen], values[seen], mean[seen]
    m = m - np.average(m, weights=weight)
    between = float(weight @ np.square(m))
    if not (0 < between < np.inf and inside.sum() > EVEN * y.size * float(np.var(y))):
        return False
    often = weight > 1
    variance = inside[often] / (weight[often] - 1)
    total, squares = float(variance.sum()), np.square(variance)
    free_around = total**2 / float(squares.sum()) if total > 0 else 0.0
    if free_around < FEWEST_MEANS:
        return False
    free_inside = total**2 / float((squares / (weight[often] - 1)).sum())
    for at in (x, x.argsort().argsort().astype(np.float64)):
        for degree in DEGREES:
            apart = weight * np.square(m - _curve(at, m, weight, degree))
            free = free_around - degree - 1
            f = float(apart[often].sum()) / total * free_around / free
            followed = float(apart.sum()) < (1 - FOLLOWED) * between
            if followed and fdtr(free, free_inside, f) < TOO_CLOSE:
                return True
    return False


def _curve(x: Array, y: Array, weight: Array, degree: int) -> Array:
    """The polynomial in x that fits y, at x; nan if x is too large."""
    x = x - np.average(x, weights=weight)
    if not 0 < float(np.abs(x).max()) < np.inf:
        return np.full(x.shape, np.nan)
    basis = np.vander(x / np.abs(x).max(), degree + 1)
    root = np.sqrt(weight)
    slope = np.linalg.lstsq(basis * root[:, None], root * y, rcond=None)[0]
    return np.asarray(basis @ slope)


def missing_by_target(column: ProfiledColumn, suspicion: Suspicion) -> str | None:
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
    return f"{percent(low)} to {percent(high)}"


def _chance(rows: Array, empty: Array) -> float:
    """P(χ² ≥ Σ (seen − expected)² / expected) for a table of two columns."""
    from scipy.special import chdtrc

    share = empty.sum() / rows.sum()
    statistic = float(((empty - rows * share) ** 2 / (rows * share * (1 - share))).sum())
    return float(chdtrc(rows.size - 1, statistic))


LEAK_CHECKS = {
    "LK401": leak,
    "LK402": missing_by_target,
    "LK403": made_from_target,
    "LK405": nearly_alone,
}


@np.errstate(over="ignore", invalid="ignore")  # numbers of any size
def computed_target(profile: Profile) -> Finding | None:
    """A number that is a linear function of few columns; classes that compare two of them."""
    suspicion, target = suspicion_of(profile), profile.target
    columns = [each for each in profile.features if each.is_number and each.n_distinct > 1]
    if suspicion is None or target is None or not 2 <= len(columns) <= MOST_COLUMNS:
        return None
    known = np.logical_and.reduce([each.codes >= 0 for each in (*columns, target)])
    rows = some_rows(known, MOST_DEPENDENT_ROWS)
    if rows.size < max(FEWEST_DEPENDENT_ROWS, ROWS_PER_SUMMED * len(columns)):
        return None
    values = np.column_stack([each.numbers[each.codes[rows]] for each in columns])
    if not np.isfinite(values).all():
        return None
    if target.reads_as_classes:
        return _separated_by_pair(columns, values, target, rows)
    y = target.numbers[target.codes[rows]]
    x, y = _in_deviations(values), _in_deviations(y)
    found = _summands(x, y) if np.isfinite(x).all() and np.isfinite(y).all() else ()
    if len(found) < 2:  # one alone is for another check
        return None
    names = [columns[j].name for j in found]
    named = all_listed([repr(name) for name in names[:MOST_IN_SUM]])
    more = f" and {len(names) - MOST_IN_SUM} more" if len(names) > MOST_IN_SUM else ""
    what = f"The target {target.name!r} is a linear function of {named}{more}"
    return finding("LK404", what, names)


def _summands(x: Array, y: Array) -> tuple[int, ...]:
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


def _separated_by_pair(
    columns: list[ProfiledColumn], values: Array, target: ProfiledColumn, rows: Array
) -> Finding | None:
    """The pair whose sum or difference explains the classes, though neither does alone."""
    if values.shape[1] > MOST_PAIRED:
        return None
    labels = target.codes[rows]
    alone = [
        explained_share(labels, _bins_of_numbers(values[:, j])) for j in range(values.shape[1])
    ]
    for i, j in combinations(range(values.shape[1]), 2):
        for sign, word in ((1.0, "sum"), (-1.0, "difference")):
            if max(alone[i], alone[j]) >= EXPLAINED:
                continue
            share = explained_share(labels, _bins_of_numbers(values[:, i] + sign * values[:, j]))
            if share >= SEPARATED:
                names = [columns[i].name, columns[j].name]
                what = f"The {word} of {names[0]!r} and {names[1]!r} tells the target"
                return finding("LK404", f"{what} {target.name!r}", names)
    return None


def _bins_of_numbers(x: Array) -> Array:
    """Bins of about equal size, in which equal numbers are together; 0 has its own."""
    ends = np.quantile(x, np.linspace(0, 1, min(BINS, x.size // 8) + 1)[1:-1])
    ends = np.unique(np.append(ends, 0.0))
    return 2 * np.searchsorted(ends, x) + (x == 0.0)


def _in_deviations(x: Array) -> Array:
    apart = x - x.mean(axis=0)
    spread = apart.std(axis=0)
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))


def near_copies(profile: Profile) -> Finding | None:
    """Rows that equal others after rounding, or in all columns but one, beyond chance."""
    near = profile.near_copies
    if near is None:
        return None
    what = "but for small differences"
    if near.but:
        named = (repr(profile.columns[int(place)].name) for place in near.but)
        what = f"in all features but {all_listed(list(named))}"
    groups = [each.name for each in profile.columns if group_of_rows(each, profile) is not None]
    hint = f"; {groups[0]!r} may be their group" if groups else ""
    rows = f"{count(near.n, 'row')} ({percent(near.n / near.n_examined)})"
    together = profile.holds_together(near)
    kept = "; they are held out together" if together else ""
    severity: Severity | None = "note" if together else None
    return finding("LK205", f"{rows} equal an earlier row {what}{hint}{kept}", severity=severity)


def too_few_different(profile: Profile) -> Finding | None:
    """Copies that no split can keep apart: fewer different rows than folds, or one row a fold."""
    columns = profile.features
    if not columns or profile.texts & {each.name for each in columns}:
        return None
    copies = profile.copies
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
