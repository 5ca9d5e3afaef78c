"""Whether one model is better than another, from their scores on the same folds.

    d_j = score of one − score of the other on fold j, of J        s² = Σ (d_j − d̄)² / (J − 1)
    t = d̄ / √((1/J + n_test/n_train) s²)        J − 1 degrees of freedom

Training sets of different folds overlap, so their scores are not independent and s²/J
underestimates the variance of d̄.  The second term in the bracket is the correction of Nadeau and
Bengio; it is also used for the interval of a single model's mean score.

Whether a model is better than the baseline by other metrics, row by row.

    dᵢ = loss of the constant − loss of the model, for the same row

The mean of d has Student's interval, for rows in groups that of the groups.  The noise that both
share, because the rows are the same, is not in it; an interval of the model alone has it.  The
constant of a row is that of the other folds.  A few rows may carry a loss alone (``lone_rows``).

References
----------
Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52, §5.1.
Bouckaert & Frank (2004), Evaluating the replicability of significance tests, PAKDD, §3.
"""

from collections.abc import Collection, Mapping
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from likely._typing import Array, Codes
from likely.metrics.base import Better
from likely.metrics.baseline import BestConstant
from likely.metrics.prediction import Prediction, Truth
from likely.numerics.intervals import (
    Ends,
    about_mean,
    clustered_scatter,
    n_groups_of,
    student_quantile,
)

if TYPE_CHECKING:
    from likely.workbench.scoring.validation import Validation

LEVEL = 0.95
NOTABLE = 0.1  # of R², between models that the scores do not tell apart
FEWEST_ROWS = 20  # with fewer, a row that weighs much is nothing unusual
MOST_LONE = 3  # rows that are blamed for a bad gain


class Paired(NamedTuple):
    """A mean difference over folds, its interval, and its p-value."""

    difference: float
    low: float
    high: float
    t: float
    p: float  # two-sided; NaN where a score is not finite
    n: int  # J, the folds of all repeats


class Standing(NamedTuple):
    """The paired tests of a model on the same folds; None in place of a test against itself."""

    name: str
    against_best: Paired | None  # this model's score less the best one's
    against_baseline: Paired | None


class DecisiveRows(NamedTuple):
    """Rows without which the model would be clearly better than the baseline."""

    rows: tuple[int, ...]  # their numbers, the worst first
    share: float  # of all that the model loses to the baseline, row by row
    gain: float  # mean over all rows
    without: float  # mean over the others

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": list(self.rows),
            "share": self.share,
            "gain": self.gain,
            "gain_without": self.without,
        }


def standings(
    per_fold: Mapping[str, Array],
    scores: Mapping[str, float],
    *,
    better: Better,
    baseline: str,
    test_per_train: float,
    never_best: Collection[str] = (),
    r2: Mapping[str, float] | None = None,
) -> list[Standing]:
    """Models by their scores, the best first; those without one are last.

    ``never_best`` are below the others: their means are worse than a constant's.  Paired tests are
    over the folds.  Where they find no model above another clearly better than it, and its R² is
    larger by ``NOTABLE`` than that of the best score, it is the first: means decide a tie.  Of
    several such models whose R² is about the same, the one with the best score is.
    """
    sign = 1 if better == "lower" else -1

    def place(name: str) -> tuple[bool, bool, float]:
        return bool(np.isnan(scores[name])), name in never_best, sign * scores[name]

    names = sorted(scores, key=place)
    known = r2 or {}

    def against(name: str, other: str) -> Paired | None:
        if name == other or other not in per_fold:
            return None
        with np.errstate(invalid="ignore"):  # inf − inf: the test then says NaN
            gap = per_fold[name] - per_fold[other]
        return corrected_test(gap, test_per_train=test_per_train)

    def is_level(name: str) -> bool:
        """Whether no model with a better score is clearly better."""
        tests = (against(name, above) for above in names[: names.index(name)])
        return all(test is not None and test.p >= 1 - LEVEL for test in tests)

    place_of_baseline = names.index(baseline) if baseline in names else 0
    candidates = [name for name in names[:place_of_baseline] if name not in never_best]
    least = known.get(next(iter(names), ""), inf) + NOTABLE
    closer = [name for name in candidates if known.get(name, -inf) > least]
    closer = [name for name in closer if is_level(name)]
    if closer:
        largest = max(known[name] for name in closer)
        first = next(name for name in closer if known[name] >= largest - NOTABLE)
        names = [first, *(name for name in names if name != first)]
    return [Standing(name, against(name, names[0]), against(name, baseline)) for name in names]


def corrected_test(differences: Array, *, test_per_train: float, level: float = 0.95) -> Paired:
    """The corrected resampled t-test; ``test_per_train`` is n_test/n_train."""
    n, mean = len(differences), float(np.mean(differences))
    low, high = corrected_interval(differences, test_per_train=test_per_train, level=level)
    error = standard_error(differences, test_per_train=test_per_train)
    if n < 2 or not np.isfinite(error):
        return Paired(mean if np.isfinite(mean) else nan, low, high, nan, nan, n)
    certain = 0.0 if mean == 0 else float(np.copysign(inf, mean))  # equal on every fold
    t = mean / error if error > 0 else certain
    return Paired(mean, low, high, t, 2 * float(stdtr(n - 1, -abs(t))), n)


def corrected_interval(values: Array, *, test_per_train: float, level: float = 0.95) -> Ends:
    """The interval of the mean score over folds; infinite where it is unknown."""
    n, mean = len(values), float(np.mean(values))
    error = standard_error(values, test_per_train=test_per_train)
    if n < 2 or not np.isfinite(error):
        return -inf, inf
    half = student_quantile(level, n - 1) * error
    return mean - half, mean + half


def standard_error(values: Array, *, test_per_train: float) -> float:
    """√((1/J + n_test/n_train) s²); NaN for a single fold, or where a value is not finite."""
    n = len(values)
    if n < 2 or not np.isfinite(values).all():
        return nan
    spread = float(np.var(values, ddof=1))
    if spread <= (np.finfo(float).eps * float(np.abs(values).max())) ** 2:  # rounding alone
        return 0.0
    return sqrt((1 / n + test_per_train) * spread)


def paired_differences(held: "Validation") -> dict[str, Ends]:
    """The intervals of the mean differences, by metric; above 0 the model is better.

    Empty where rows do not tell the constant: one part that was held out, rows by time, or with
    offsets and exposures; and where the groups of rows are not known.
    """
    folds, score = np.unique(held.fold), held.score
    lost = score.n_groups is not None and held.groups is None
    other = held.facts.get("by_time") or lost or score.baseline_link
    if len(folds) < 2 or other or held.prediction.labels is not None:
        return {}
    weight, found = held.truth.weights, {}
    constant = _constants(held.truth, held.fold)
    theirs, ours = (_losses(held.truth, each) for each in (constant, held.prediction))
    for name in ours:
        if name in score.estimates:
            found[name] = mean_ends(theirs[name] - ours[name], weight, held.groups, LEVEL)
    return found


def mean_ends(d: Array, weight: Array, groups: Codes | None, level: float) -> Ends:
    """Student's interval of a mean of rows, or of rows in groups."""
    mean, n = float(np.average(d, weights=weight)), float(weight.sum())
    if groups is None:
        return about_mean(mean, float(np.dot(weight, np.square(d - mean))), n, level)
    scatter = clustered_scatter((weight * (d - mean))[:, None], groups, n)
    return about_mean(mean, float(scatter[0, 0]), n_groups_of(groups), level)


def _constants(truth: Truth, fold: Array) -> Prediction:
    """The best constant of the other folds, for each row."""
    parts, places = [], []
    for held in np.unique(fold):
        places.append(np.flatnonzero(fold == held))
        constant = BestConstant.of(truth.rows(fold != held))
        parts.append(constant.prediction(truth.rows(places[-1])))
    return Prediction.joined(parts).rows(np.argsort(np.concatenate(places), kind="stable"))


def _losses(truth: Truth, prediction: Prediction) -> dict[str, Array]:
    """The losses of rows whose mean is a metric, or a function of it that does not fall."""
    if prediction.log_proba is not None:
        p, own = np.exp(prediction.log_p), np.eye(prediction.log_p.shape[1])[truth.y]
        wrong = (prediction.predicted != truth.y).astype(np.float64)
        return {"brier": np.square(p - own).sum(axis=1), "accuracy": wrong}
    error = truth.y - prediction.means
    middle = prediction.means if prediction.median is None else prediction.median
    squares = np.square(error)
    return {"rmse": squares, "r2": squares, "mae": np.abs(truth.y - middle)}


def lone_rows(gain: Array, weight: Array, row: Codes) -> DecisiveRows | None:
    """The fewest rows, at most three, without which a gain is clearly above 0; None without any.

    ``gain`` is that over the baseline, row by row, and ``row`` the numbers of the rows.
    """
    if len(gain) < FEWEST_ROWS or _clearly_gains(gain, weight):
        return None
    worst = np.argsort(gain, kind="stable")[:MOST_LONE]
    for k in range(1, len(worst) + 1):
        rest = np.delete(np.arange(len(gain)), worst[:k])
        if _clearly_gains(gain[rest], weight[rest]):
            lost = -np.minimum(gain, 0.0) * weight
            return DecisiveRows(
                tuple(row[worst[:k]].tolist()),
                float(lost[worst[:k]].sum() / lost.sum()),
                float(np.average(gain, weights=weight)),
                float(np.average(gain[rest], weights=weight[rest])),
            )
    return None


def _clearly_gains(gain: Array, weight: Array) -> bool:
    mean = float(np.average(gain, weights=weight))
    scatter = float(np.dot(weight, np.square(gain - mean)))
    return about_mean(mean, scatter, float(weight.sum()), 0.95)[0] > 0
