"""What all calibrated classifiers share: scores, calibration, and predicted probabilities.

    decision_function         s_k(x) as it is; for two classes, s = (0, f(x))
    predict_log_proba         s_k(x) = log p(k | x)
    predict_proba             its logarithm

The first of these methods that the classifier has is used; rows are scored by models that have not
seen them.  A class with probability 0 is given the log-probability ``LOG_FLOOR``: one error would
otherwise have an infinite loss, with any calibration.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.explanations.any_model import explained
from likely.explanations.explanation import Explanation, like_its_rows
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import PlateParameter, conditional_plate
from likely.inputs.bounded_rows import counting_bounded
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    FoldRows,
    check_folds,
    column_needs,
    countable,
    fitted_copy,
    folds_of,
    refuse_single_rows,
    take_columns,
)
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import own_columns, refuse_file, rows_at
from likely.inputs.targets import (
    check_weight,
    classes_of,
    codes_among,
    label_array,
    refuse_one_class,
    required,
)
from likely.names import has_method
from likely.output.description import Description, Fact, NamedTable, describe
from likely.output.pictures import draw_reliability
from likely.special import LOG_FLOOR, logsumexp
from likely.storage.declarations import (
    FITTED_CLASSES,
    FITTED_COLUMNS,
    MODEL,
    Present,
    SameCount,
    Saved,
)

PREFIT = "prefit"
RESPONSES = ("decision_function", "predict_log_proba", "predict_proba")


@final
@dataclass(frozen=True, eq=False)
class Scores:
    """One score per class, (n, K), on the log scale."""

    values: Array
    kind: Literal["decision", "log-probability"]

    def against_rest(self) -> Array:
        """f(x), one column for two classes; for more, a column for each class against the rest.

        A log-probability becomes the log-odds; a decision is taken as it is.
        """
        if self.values.shape[1] == 2:
            return self.values[:, [1]] - self.values[:, [0]]
        if self.kind == "decision":
            return self.values
        rest = [np.delete(self.values, k, axis=1) for k in range(self.values.shape[1])]
        return self.values - np.stack([logsumexp(others, axis=1) for others in rest], axis=1)


class Scaling(ClassProbabilities, ClassifierMixin, Estimator):
    """A map from scores to probabilities on top of a classifier; each map is a final class."""

    saved: ClassVar = (
        FITTED_COLUMNS
        | FITTED_CLASSES
        | Saved(
            {"estimator_": MODEL},
            rules=(Present("estimator_.classes_"), SameCount("classes_", "estimator_.classes_")),
        )
    )

    plate_symbols: ClassVar[tuple[str, ...]]  # of the map, in the plate diagram
    estimator: Any
    cv: Any
    classes_: Array
    estimator_: Any

    @abstractmethod
    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        """Learn the map from scores and the true classes."""

    @abstractmethod
    def _log_proba(self, scores: Scores) -> Array:
        """log p(k | scores), (n, K)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, unless it is fitted, and the map from its scores of held-out rows."""
        refuse_file(X, type(self).__name__)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        X, n_rows = countable(X)
        y = label_array(required(y, self))
        classes_of(y, n_rows=n_rows)
        weight = check_weight(sample_weight, n_rows=n_rows)
        present = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        if isinstance(self.cv, str) and self.cv == PREFIT:
            self._fit_map_alone(X, y, weight, present)
        else:
            advice = "Use 5, or fit the estimator first."
            check_folds(self.cv, otherwise='"prefit"', advice=advice)
            self._fit_both(X, y, weight, present)
        take_columns(self, self.estimator_)
        return self

    def _fit_map_alone(self, X: Any, y: Array, weight: Array | None, present: Array) -> None:
        check_is_fitted(self.estimator)
        self.estimator_ = self.estimator
        self.classes_ = self.estimator_.classes_
        refuse_one_class(self.classes_, self)
        codes = codes_among(y[present], self.classes_)
        scores = scores_of(self.estimator_, rows_at(X, present))
        self._calibrate(scores, codes, _weights_of(present, weight))

    def _fit_both(self, X: Any, y: Array, weight: Array | None, present: Array) -> None:
        self.classes_, known = classes_of(y[present])
        refuse_one_class(self.classes_, self)
        codes = np.full(len(y), -1)
        codes[present] = known
        if isinstance(self.cv, int | np.integer):
            otherwise = 'calibrate a fitted estimator with cv="prefit"'
            refuse_single_rows(codes, self.classes_, otherwise=otherwise)
        folds = [fold for fold in folds_of(self.cv, X, y, codes=codes) if len(fold[1])]
        learn = partial(fitted_copy, self.estimator, X, y, weight)
        self.estimator_ = learn(present)  # first: errors count the caller's rows
        scores, scored = out_of_fold(learn, X, folds=folds, n_classes=len(self.classes_))
        self._calibrate(scores, codes[scored], _weights_of(scored, weight))

    def describe(self) -> Description:
        """The map from scores to probabilities, then the classifier that computes the scores."""
        check_is_fitted(self)
        inner = describe(self.estimator_)
        return Description(
            f"{type(self).__name__} of {type(self.estimator_).__name__}",
            fit=self._facts(),
            tables=self._curves(),
            parts=(inner,),
        )

    @like_its_rows
    def explain(self, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
        """What each column adds to the score before calibration; see the estimator's ``explain``.

        Calibration maps scores to probabilities, and has no columns of its own.  ``background``
        as in ``likely.explain``, for an estimator that does not explain itself.
        """
        check_is_fitted(self)
        found = explained(self.estimator_, X, against, background=background)
        name = type(self.estimator_).__name__
        return found.also(f"The {found.quantity} of {name} is explained, before its calibration.")

    def plate(self) -> Diagram:
        """The plate diagram: the score of each row is given, and the map to a class is learned."""
        parameters = [PlateParameter(symbol) for symbol in self.plate_symbols]
        return conditional_plate(type(self).__name__, parameters, given="sₙ")

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """The reliability of these rows: predicted probabilities and observed shares.

        In ten bins of equal numbers of rows with 95 % intervals, after calibration, and before it
        where the estimator has probabilities.  Of two classes the second; of several, each class
        against the rest, all together.  Use rows that were not calibrated on.  The matplotlib axes.
        """
        codes = codes_among(y, self.classes_, n_rows=len(self.predict(X)))
        chosen = slice(1, None) if len(self.classes_) == 2 else slice(None)
        actual = np.eye(len(self.classes_))[codes][:, chosen]
        curves = {f"after {type(self).__name__}": self.predict_proba(X)[:, chosen]}
        if has_method(self.estimator_, "predict_proba"):
            name = type(self.estimator_).__name__
            curves = {name: np.asarray(self.estimator_.predict_proba(X))[:, chosen], **curves}
        return draw_reliability(ax, curves, actual)

    def column_needs(self) -> ColumnNeeds:
        """The column needs of the classifier that is calibrated."""
        return column_needs(self.estimator)

    def _facts(self) -> tuple[Fact, ...]:
        """The number of parameters of the map."""
        return ()

    def _curves(self) -> tuple[NamedTable, ...]:
        """The table of the map of each class."""
        return ()

    def _curved_classes(self) -> list[str]:
        """The classes that have their own map: for two classes, the second."""
        labels = [str(label) for label in self.classes_.tolist()]
        return labels[1:] if len(labels) == 2 else labels

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        check_is_fitted(self)
        return self._log_proba(scores_of(self.estimator_, X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        tags.input_tags = of_estimator.input_tags
        tags.classifier_tags.multi_class = of_estimator.classifier_tags.multi_class
        return tags


def scores_of(estimator: Any, X: Any) -> Scores:
    """The scores of a fitted classifier, with the classes in their order."""
    name = next((name for name in RESPONSES if has_method(estimator, name)), None)
    if name is None:
        raise InvalidInput(
            f"{type(estimator).__name__} has none of {', '.join(RESPONSES)}; one is needed to "
            "calibrate. Use a classifier that scores its classes."
        )
    with np.errstate(divide="ignore"):  # log 0
        values = np.asarray(getattr(estimator, name)(X), dtype=np.float64)
        values = np.log(values) if name == "predict_proba" else values
    if values.ndim == 1:
        values = np.stack([np.zeros(len(values)), values], axis=1)
    _check_scores(values, estimator, name)
    if name == "decision_function":
        return Scores(values, "decision")
    return Scores(_possible(values), "log-probability")


def _check_scores(values: Array, estimator: Any, name: str) -> None:
    n_classes = len(estimator.classes_)
    if values.shape[1] != n_classes:
        raise InvalidInput(
            f"{name} of {type(estimator).__name__} has {values.shape[1]} columns; expected "
            f"{n_classes}, one per class. Use a classifier that scores each class against the rest."
        )
    bad = np.isnan(values) | (values == np.inf)
    if name == "decision_function":
        bad |= np.isinf(values)
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise InvalidInput(
            f"{name} of {type(estimator).__name__} is {values[bad][0]} at row {row}; expected "
            "finite scores. Fix the row, or the classifier."
        )


def _possible(log_proba: Array) -> Array:
    """Classes of probability 0 get the least log-probability of their row, or ``LOG_FLOOR``."""
    impossible = np.isneginf(log_proba)
    if not impossible.any():
        return log_proba
    least = np.min(log_proba, axis=1, keepdims=True, where=~impossible, initial=LOG_FLOOR)
    return np.where(impossible, least, log_proba)


def out_of_fold(
    learn: Callable[[Array], Any], X: Any, *, folds: FoldRows, n_classes: int
) -> tuple[Scores, Array]:
    """The scores of each fold's rows by a model of the others, and which rows they are.

    ``learn`` fits a new model to the rows it is given.
    """
    parts = []
    for others, fold in folds:
        model = learn(others)
        if len(model.classes_) != n_classes:
            raise InvalidInput(
                f"A fold leaves {len(model.classes_)} classes to learn from; expected all "
                f"{n_classes}. Use fewer or stratified folds, such as cv=5."
            )
        with counting_bounded():
            parts.append(scores_of(model, rows_at(X, fold)))
    scores = Scores(np.concatenate([part.values for part in parts]), parts[0].kind)
    return scores, np.concatenate([fold for _, fold in folds])


def log_odds(log_proba: Array) -> Array:
    """log p(1 | x) − log p(0 | x) for two classes, (n,); for more, log p(k | x) itself."""
    return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba


def _weights_of(rows: Array, weight: Array | None) -> Array:
    return np.ones(len(rows)) if weight is None else weight[rows]
