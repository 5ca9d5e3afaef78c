"""Isotonic calibration: any increasing curve from score to probability.

    minimise Σ_i w_i (t_i − p(f_i))²   over non-decreasing functions p

The minimum is a step function, found by pooling adjacent violators; between the observed scores
the curve is linear, and beyond them constant.

References
----------
Zadrozny & Elkan, Transforming classifier scores into accurate multiclass probability
estimates, KDD 2002, §3.
"""

from typing import Any, ClassVar, final

import numpy as np
from sklearn.isotonic import IsotonicRegression

from likely._typing import Array, Codes
from likely.calibrate.scaling import Scaling, Scores
from likely.output.description import NamedColumn, NamedTable
from likely.storage.declarations import Between, Increasing, InRange, OneForEachPredictor, Saved
from likely.storage.values import same_count


@final
class IsotonicScaling(Scaling):
    """A classifier whose scores become probabilities by a non-decreasing curve.

    More than two classes are calibrated one against the rest, and normalised to sum to 1.  It
    needs more rows than a curve with two parameters: about a thousand.

    Parameters
    ----------
    estimator : classifier
        Anything with ``decision_function``, ``predict_log_proba`` or ``predict_proba``; for a
        probability, the score is its log-odds.
    cv : int, splitter or "prefit"
        How out-of-fold scores are computed: a number of stratified folds, a splitter, or
        ``"prefit"`` for an estimator that is already fitted, to rows other than these.  With
        folds, the estimator is fitted once more to all rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimator_ : classifier
        The estimator, fitted to all rows; with "prefit", the one that was given.
    thresholds_, levels_ : lists of one array, or of n_classes for three classes and more
        The corners of each curve: scores, and the probabilities there.

    References
    ----------
    Zadrozny & Elkan, Transforming classifier scores into accurate multiclass probability
    estimates, KDD 2002, §3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from likely.calibrate.isotonic import IsotonicScaling
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IsotonicScaling(GaussianNB()).fit(X, y)
    >>> model.predict_proba(X[[5, 13]]).round(2)
    array([[0.79, 0.21],
           [0.55, 0.45]])
    """

    saved: ClassVar = Scaling.saved | Saved(
        {"thresholds_": list[Array], "levels_": list[Array]},
        rules=(
            OneForEachPredictor("thresholds_"),
            OneForEachPredictor("levels_"),
            Increasing("thresholds_"),
            Increasing("levels_"),
            Between("levels_", 0.0, 1.0),
            InRange("thresholds_", "finite"),
        ),
    )

    plate_symbols = ("g",)

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        f = scores.against_rest()
        classes = range(f.shape[1]) if f.shape[1] > 1 else [1]
        curves = [
            IsotonicRegression(y_min=0.0, y_max=1.0).fit(column, codes == k, weight)
            for k, column in zip(classes, f.T, strict=True)
        ]
        self.thresholds_ = [curve.X_thresholds_ for curve in curves]
        self.levels_ = [curve.y_thresholds_ for curve in curves]

    def _curves(self) -> tuple[NamedTable, ...]:
        columns = (
            NamedColumn("class", "class"),
            NamedColumn("score", "score", "signed"),
            NamedColumn("probability", "probability", "number"),
        )
        curves = zip(self._curved_classes(), self.thresholds_, self.levels_, strict=True)
        rows = [
            (name, *corner)
            for name, scores, levels in curves
            for corner in zip(scores.tolist(), levels.tolist(), strict=True)
        ]
        return (NamedTable("curves", columns, tuple(rows), noun="corner"),)

    def _log_proba(self, scores: Scores) -> Array:
        """The curves' levels, normalised to sum to 1; equal probabilities where all are 0."""
        curves = zip(scores.against_rest().T, self.thresholds_, self.levels_, strict=True)
        level = np.stack([np.interp(f, x, p) for f, x, p in curves], axis=1)
        if level.shape[1] == 1:
            level = np.concatenate([1 - level, level], axis=1)
        total = level.sum(axis=1, keepdims=True)
        level = np.where(total > 0, level, 1.0)
        with np.errstate(divide="ignore"):  # log 0
            return np.log(level / level.sum(axis=1, keepdims=True))

    def check_saved(self) -> None:
        """Refuse curves without a level for each threshold."""
        for thresholds, levels in zip(self.thresholds_, self.levels_, strict=True):
            same_count("A curve", len(thresholds), len(levels))
            same_count("A curve", len(levels) > 0, True)
