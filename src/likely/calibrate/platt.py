"""Platt scaling: a logistic regression on a score.

    p(s = +1 | f) = σ(−(A f + B))
    targets: (N₊ + 1)/(N₊ + 2) for s = +1,  1/(N₋ + 2) for s = −1

(A, B) minimise the cross-entropy against the targets, which keeps them finite where the scores
separate the classes.  N₊ and N₋ are total weights.

References
----------
Platt, Probabilistic outputs for support vector machines, 1999, §2.2.
Lin, Lin & Weng, A note on Platt's probabilistic outputs, Machine Learning 68, 2007.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.scaling import Scaling, Scores, log_odds
from likely.inputs.estimators import warn_unless_converged
from likely.likelihoods.responses import likelihood_of
from likely.output.description import NamedColumn, NamedTable
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.special import log_expit, log_expit_complement, logsumexp
from likely.storage.declarations import Numbers, OneForEachPredictor, SameCount, Saved

TOL = 1e-16  # of the cross-entropy: 1e-8 of A and B, by one more pass over one column of scores


@final
@dataclass(frozen=True, eq=False)
class PlattObjective(SmoothObjective):
    """Σ_i w_i nll(t_i, η_i) with η = θ₀ + θ₁ f, for K columns at once: θ is (θ₀…, θ₁…)."""

    scores: Array  # (n, K), standardised; a column of zeros has no information
    targets: Array  # (n, K)
    weight: Array  # (n,)

    def second_order(self, theta: Array) -> SecondOrder:
        k = self.scores.shape[1]
        likelihood = likelihood_of("bernoulli")
        nll, slope, curvature = likelihood.derivatives(
            self.targets, theta[:k] + theta[k:] * self.scores
        )
        pull, bend = self.weight[:, None] * slope, self.weight[:, None] * curvature
        return SecondOrder(
            value=float(np.dot(self.weight, nll.sum(axis=1))),
            gradient=np.concatenate([pull.sum(axis=0), (pull * self.scores).sum(axis=0)]),
            hessian=self._hessian(bend),
        )

    def _hessian(self, bend: Array) -> Array:
        """Columns are independent of each other: four diagonals."""
        constant, cross = bend.sum(axis=0), (bend * self.scores).sum(axis=0)
        square = (bend * self.scores**2).sum(axis=0)
        square[~self.scores.any(axis=0)] = 1.0  # no slope to find; the gradient there is 0
        return np.block([[np.diag(constant), np.diag(cross)], [np.diag(cross), np.diag(square)]])


def platt_targets(positive: Array, weight: Array) -> Array:
    """The targets of rows that are in each class, (n, K) of Booleans; rows count by weight."""
    n_positive = np.dot(weight, positive)
    n_negative = weight.sum() - n_positive
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def fit_platt(scores: Array, positive: Array, weight: Array) -> tuple[Array, Array, Solution]:
    """A and B for each column of scores, (K,), and how their search ended."""
    targets = platt_targets(positive, weight)
    share = weight / weight.sum()
    centre = np.dot(share, scores)
    spread = np.sqrt(np.dot(share, (scores - centre) ** 2))
    constant = np.ptp(scores, axis=0) == 0  # rounding may leave a spread
    scale = np.where(constant, 1.0, spread)
    standard = np.where(constant, 0.0, (scores - centre) / scale)
    mean = np.dot(share, targets)
    start = np.concatenate([np.log(mean) - np.log1p(-mean), np.zeros(len(mean))])
    solution = minimise(Newton(), PlattObjective(standard, targets, weight), start, tol=TOL)
    intercept, slope = np.split(solution.theta, 2)
    return -slope / scale, slope * centre / scale - intercept, solution


@final
class PlattScaling(Scaling):
    """A classifier whose scores become probabilities by a logistic curve.

    More than two classes are calibrated one against the rest, and normalised to sum to 1.

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
    a_, b_ : arrays of shape (1,), or (n_classes,) for three classes and more
        A and B of σ(−(A f + B)); A is negative where the scores are informative.
    solution_ : Solution
        How the search ended: its trace, and why it stopped.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines, 1999, §2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from likely.calibrate.platt import PlattScaling
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PlattScaling(RidgeClassifier()).fit(X, y)
    >>> model.predict_proba(X[:2]).round(3)
    array([[1.   , 0.   ],
           [0.995, 0.005]])
    >>> bool(model.a_[0] < 0)
    True
    """

    saved: ClassVar = Scaling.saved | Saved(
        {"a_": Numbers(Array, "finite"), "b_": Numbers(Array, "finite"), "solution_": Solution},
        rules=(
            OneForEachPredictor("a_"),
            OneForEachPredictor("b_"),
            SameCount(1, "a_.shape", "b_.shape"),
        ),
    )

    plate_symbols = ("a", "b")

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def decision_function(self, X: Any) -> Array:
        """The calibrated log-odds, −(A f + B), (n,); for more classes, log p(k | x)."""
        return log_odds(self.predict_log_proba(X))

    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        f = scores.against_rest()
        positive = codes[:, None] == (np.arange(f.shape[1]) if f.shape[1] > 1 else [1])
        self.a_, self.b_, self.solution_ = fit_platt(f, positive, weight)
        warn_unless_converged(type(self).__name__, self.solution_)

    def _curves(self) -> tuple[NamedTable, ...]:
        columns = (
            NamedColumn("class", "class"),
            NamedColumn("a", "A", "signed"),
            NamedColumn("b", "B", "signed"),
        )
        rows = zip(self._curved_classes(), self.a_.tolist(), self.b_.tolist(), strict=True)
        return (NamedTable("curves", columns, tuple(rows), noun="class"),)

    def _log_proba(self, scores: Scores) -> Array:
        eta = -(self.a_ * scores.against_rest() + self.b_)
        if eta.shape[1] == 1:
            return np.concatenate([log_expit_complement(eta), log_expit(eta)], axis=1)
        each = log_expit(eta)
        return each - logsumexp(each, axis=1)[:, None]
