"""Whether a model is better than the baseline by other metrics, row by row.

    dᵢ = loss of the constant − loss of the model, for the same row

The mean of d has Student's interval, for rows in groups that of the groups.  The noise that both
share, because the rows are the same, is not in it; an interval of the model alone has it.  The
constant of a row is that of the other folds.
"""

from typing import TYPE_CHECKING

import numpy as np

from likely._typing import Array, Codes
from likely.intervals import Ends, about_mean, clustered_scatter, n_groups_of
from likely.metrics.baseline import BestConstant
from likely.metrics.prediction import Prediction, Truth

if TYPE_CHECKING:
    from likely.workbench.scoring.validation import Validation

LEVEL = 0.95


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
        wrong = (prediction.called != truth.y).astype(np.float64)
        return {"brier": np.square(p - own).sum(axis=1), "accuracy": wrong}
    error = truth.y - prediction.means
    middle = prediction.means if prediction.median is None else prediction.median
    squares = np.square(error)
    return {"rmse": squares, "r2": squares, "mae": np.abs(truth.y - middle)}
