"""Temperature scaling: one number divides all scores.

    p(k | x) ∝ exp(s_k(x) / T)        T minimises −Σ_i w_i log p(y_i | x_i)

The loss is convex in 1/T.  The most probable class stays the most probable.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
"""

from functools import partial
from typing import Any, ClassVar, final

from likely._typing import Array, Codes
from likely.calibrate.evidence import (
    TemperatureObjective,
    Wording,
    search_temperature,
    temperature_loss,
)
from likely.calibrate.scaling import Scaling, Scores, log_odds
from likely.output.description import Fact
from likely.solvers.minimise import Solution
from likely.special import log_softmax
from likely.storage.declarations import Numbers, Saved

WORDS = Wording("all classes are equally probable", "use the estimator as it is")


@final
class TemperatureScaling(Scaling):
    """A classifier whose log-probabilities are divided by a temperature.

    Parameters
    ----------
    estimator : classifier
        Anything with ``decision_function``, ``predict_log_proba`` or ``predict_proba``.  A
        decision function is read as logits for several classes, as log-odds for two.
    cv : int, splitter or "prefit"
        How held-out scores are computed: a number of stratified folds, a splitter, or
        ``"prefit"`` for an estimator that is already fitted, to rows other than these.  With
        folds, the estimator is fitted once more to all rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimator_ : classifier
        The estimator, fitted to all rows; with "prefit", the one that was given.
    temperature_ : float
        T: above 1 if the estimator is overconfident, below 1 if it is underconfident.
    solution_ : Solution
        How the search for log 1/T ended: its trace, and why it stopped.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from likely.calibrate.temperature import TemperatureScaling
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TemperatureScaling(GaussianNB()).fit(X, y)
    >>> print(f"{model.temperature_:.0f} times too sure")
    7 times too sure
    """

    saved: ClassVar = Scaling.saved | Saved(
        {"temperature_": Numbers(float, "finite", "positive"), "solution_": Solution}
    )

    plate_symbols = ("T",)

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def decision_function(self, X: Any) -> Array:
        """The calibrated log-odds, (n,); for more than two classes, log p(k | x)."""
        return log_odds(self.predict_log_proba(X))

    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        centred = scores.values - scores.values.max(axis=1, keepdims=True)
        objective = TemperatureObjective(partial(temperature_loss, centred, codes, weight))
        self.temperature_, self.solution_ = search_temperature(objective, WORDS)

    def _facts(self) -> tuple[Fact, ...]:
        return (Fact("temperature", "temperature", float(self.temperature_)),)

    def _log_proba(self, scores: Scores) -> Array:
        return log_softmax(scores.values / self.temperature_, axis=1)
