"""Ordered classes by M − 1 binary classifiers (Frank and Hall).

    γ_j(x) = P(Y > j | x), each by its own classifier of 1{Y > j},  j = 1 … M − 1
    P(Y = 1) = 1 − γ_1      P(Y = j) = γ_{j−1} − γ_j      P(Y = M) = γ_{M−1}

Nothing makes γ decrease with j, as in a single model: a negative difference is set to 0 and
its row is normalised to sum to 1.

References
----------
Frank & Hall, A simple approach to ordinal classification, ECML 2001, §3.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.explanations.any_model import explained
from likely.explanations.explanation import Explanation, like_its_rows, refuse_against
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import CUTS, PlateParameter, conditional_plate
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    column_needs,
    countable,
    fitted_copy,
    take_columns,
)
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import own_columns, refuse_file
from likely.inputs.targets import (
    check_labels,
    check_weight,
    ordered_classes,
    refuse_one_class,
    required,
)
from likely.likelihoods.ordinal import SurvivalDifferences, survival_differences
from likely.names import has_method
from likely.output.description import Description, describe
from likely.output.formatting import count
from likely.storage.declarations import FITTED_CLASSES, FITTED_COLUMNS, MODELS, SameCount, Saved
from likely.storage.values import same_count


@final
class FrankHall(ClassProbabilities, ClassifierMixin, Estimator):
    """A classifier of ordered classes, consisting of one binary classifier for each cut.

    Parameters
    ----------
    estimator : classifier with predict_proba
        The binary classifier that is fitted at each cut; with two classes, it is the model.
    order : sequence or None
        The classes from lowest to highest.  None is the order of y where it is an ordered
        categorical (pandas, polars' Enum, Arrow's dictionary), else of the sorted labels.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        From lowest to highest; the columns of ``predict_proba``.
    estimators_ : list of n_classes − 1 classifiers
        The j-th predicts whether y is above the j-th class.

    References
    ----------
    Frank & Hall, A simple approach to ordinal classification, ECML 2001, §3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from likely.linear.frank_hall import FrankHall
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = np.repeat(["low", "middle", "high"], 4)
    >>> model = FrankHall(LogisticRegression(), order=["low", "middle", "high"]).fit(X, y)
    >>> print(*model.predict([[1.0], [6.0], [10.0]]))
    low middle high
    >>> model.expected_rank([[1.0], [6.0], [10.0]]).round(1)
    array([1.1, 2.1, 2.9])
    """

    saved: ClassVar = (
        FITTED_COLUMNS
        | FITTED_CLASSES
        | Saved({"estimators_": MODELS}, rules=(SameCount("classes_ - 1", "estimators_"),))
    )

    def __init__(self, estimator: Any, *, order: Sequence[Any] | None = None) -> None:
        self.estimator = estimator
        self.order = order

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one binary classifier for each cut between neighbouring classes."""
        X, codes, weight = self._coded(X, y, sample_weight)
        present = np.arange(len(codes)) if weight is None else np.flatnonzero(weight)
        self.estimators_ = [
            fitted_copy(self.estimator, X, (codes > j).astype(int), weight, present)
            for j in range(len(self.classes_) - 1)
        ]
        take_columns(self, self.estimators_[0])
        return self

    def cut_steps(
        self, X: Any, y: Any, steps_of: Callable[[Any, Any, Array], Sequence[Any]]
    ) -> list[Self]:
        """This model at the start and after each step of the searches of all its cuts.

        ``steps_of(estimator, X, above)`` has the binary classifier of a cut at the start and after
        each step; one whose search has ended stays as it is.  This model itself is not changed.
        """
        model: Self = clone(self)
        X, codes, _ = model._coded(X, y, None)
        cuts = [
            steps_of(model.estimator, X, (codes > j).astype(int))
            for j in range(len(model.classes_) - 1)
        ]
        take_columns(model, cuts[0][-1])
        steps = [copy(model) for _ in range(max(map(len, cuts)))]
        for k, step in enumerate(steps):
            step.estimators_ = [cut[min(k, len(cut) - 1)] for cut in cuts]
        return steps

    def _coded(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Codes, Array | None]:
        """Checked rows, the rank of the class of each, and weights; sets ``classes_``."""
        self._check_estimator()
        refuse_file(X, type(self).__name__)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        X, n_rows = countable(X)
        check_labels(required(y, self), n_rows=n_rows)
        weight = check_weight(sample_weight, n_rows=n_rows)
        self.classes_, codes = ordered_classes(y, self.order, weight=weight)
        refuse_one_class(self.classes_, self)
        return X, codes, weight

    def predict_proba(self, X: Any) -> Array:
        """P(Y = k | x), (n, n_classes)."""
        return self._differences(X).probability()

    def predict_log_proba(self, X: Any) -> Array:
        """log P(Y = k | x), (n, n_classes)."""
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):  # log 0, where a difference was set to 0
            return np.log(proba)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def expected_rank(self, X: Any) -> Array:
        """Σ_k k P(Y = k | x), the lowest class having rank 1; (n,)."""
        proba = self.predict_proba(X)
        return proba @ np.arange(1.0, len(self.classes_) + 1)

    @like_its_rows
    def explain(self, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
        """What each column adds to the score of being above each cut between classes.

        The scores are those of the classifier of each cut; ``background`` as in ``likely.explain``.
        """
        check_is_fitted(self)
        refuse_against(against, "score of each cut")
        parts = [explained(model, X, background=background) for model in self.estimators_]
        first = parts[0]
        above = [np.flatnonzero(part.groups == 1)[0] for part in parts]
        pairs = list(zip(parts, above, strict=True))
        return replace(
            first,
            contributions=np.stack([part.contributions[:, :, k] for part, k in pairs], axis=2),
            base=np.stack([part.base[..., k] for part, k in pairs], axis=-1),
            groups=np.array([f"above {label}" for label in self.classes_.tolist()[:-1]], object),
            quantity=f"{first.quantity} of a class above the cut",
            against=None,
        )

    def crossings(self, X: Any) -> Array:
        """The rows where P(Y > j | x) increases with j, so that a probability was set to 0."""
        return self._differences(X).non_monotone

    def describe(self) -> Description:
        """One part for each cut between neighbouring classes."""
        check_is_fitted(self)
        labels = [str(label) for label in self.classes_.tolist()]
        parts = [describe(model) for model in self.estimators_]
        return Description(
            f"{type(self).__name__}: {len(labels)} ordered classes, {count(len(parts), 'cut')}",
            groups=tuple(labels),
            parts=tuple(
                replace(part, title=f"Above {label}: {part.title}")
                for label, part in zip(labels, parts, strict=False)
            ),
        )

    def column_needs(self) -> ColumnNeeds:
        """The column needs of the classifier of each cut."""
        return column_needs(self.estimator)

    def plate(self) -> Diagram:
        """The plate diagram: x is given, and each cut between classes has its own parameters."""
        return conditional_plate(type(self).__name__, (PlateParameter("θₖ", CUTS),))

    def _differences(self, X: Any) -> SurvivalDifferences:
        check_is_fitted(self)
        above = [model.predict_proba(X)[:, 1] for model in self.estimators_]
        return survival_differences(np.stack(above, axis=1))

    def _check_estimator(self) -> None:
        if not has_method(self.estimator, "predict_proba"):
            raise InvalidInput(
                f"{type(self.estimator).__name__} has no predict_proba; FrankHall subtracts "
                "probabilities. Use a probabilistic classifier, or calibrate this one: "
                f"PlattScaling({type(self.estimator).__name__}())."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def check_saved(self) -> None:
        """Refuse estimators of other classes than above a cut, 1, and not, 0."""
        for each in self.estimators_:
            held = vars(each)
            theirs = np.asarray(held.get("classes_", ())).tolist()
            same_count("The classes of an estimator", theirs, [0, 1])
            n_features = held.get("n_features_in_", self.n_features_in_)
            same_count("The columns of an estimator", n_features, self.n_features_in_)
