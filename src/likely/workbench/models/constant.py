"""The best constant as an estimator: the baseline in every table of models."""

from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import UnknownName
from likely.inputs.tables import check_table, own_columns
from likely.inputs.targets import check_labels, check_offset, check_response, check_weight
from likely.kinds import CLASS_KINDS, TARGET_KINDS, TargetKind
from likely.likelihoods.base import Response
from likely.likelihoods.predictive import PredictiveFamily
from likely.likelihoods.responses import response_named
from likely.metrics.baseline import BestConstant, class_log_shares
from likely.metrics.prediction import Truth
from likely.output.description import Description, Fact
from likely.output.formatting import count


def _of_classes(model: Any) -> bool:
    return model.kind in CLASS_KINDS


@final
class ConstantModel(BaseEstimator):
    """The distribution of y without any feature.

    Parameters
    ----------
    kind : {"binary", "classes", "ordinal", "count", "positive", "real"}, default="classes"
        The kind of target.  Class shares; or the mean, with the likeliest family of the models that
        are tried: for counts a negative binomial (Poisson if they are not overdispersed) or others
        by masses, for amounts a gamma, log-normal, inverse Gaussian or Gaussian, for other numbers
        a Gaussian.
    response : str or Response, default=None
        Another family for numbers, as in ``GLM``: ``inverse_gaussian``, ``tweedie``, …

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_log_prior_ : array of shape (n_classes,)
        The logarithms of the class shares.
    response_ : Response
        For numbers: the family.
    mean_, dispersion_ : float
    link_ : {"log", "identity"}
        For numbers: the scale on which offsets change the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from likely.workbench.models.constant import ConstantModel
    >>> model = ConstantModel().fit(np.zeros((4, 1)), ["a", "b", "b", "b"])
    >>> model.predict_proba([[7.0]])
    array([[0.25, 0.75]])
    """

    def __init__(
        self, kind: TargetKind = "classes", response: str | Response | None = None
    ) -> None:
        self.kind = kind
        self.response = response

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Learn from y; X may contain anything, and only its columns are stored.

        An exposure multiplies the mean of a row.  An offset is on the scale of the logarithm of a
        count's or an amount's mean, and is added to that of other numbers; classes ignore it.
        """
        if self.kind not in TARGET_KINDS:
            raise UnknownName("kind of target", self.kind, TARGET_KINDS)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        n_rows = check_table(self, X, reset=True).n_rows
        weight = check_weight(sample_weight, n_rows=n_rows)
        weight = np.ones(n_rows) if weight is None else weight
        if _of_classes(self):
            known = check_labels(y, n_rows=n_rows)
            log_share = class_log_shares(known.codes, weight, len(known.classes))
            seen = np.isfinite(log_share)  # weight 0 is the row absent
            self.classes_, self.class_log_prior_ = known.classes[seen], log_share[seen]
            return self
        y = check_response(y, n_rows=n_rows, estimator=self)
        family = None if self.response is None else response_named(self.response)
        if family is not None:
            family.check(y)
        positive = self.kind != "real" if family is None else family.means.low >= 0
        self.link_ = "log" if positive or exposure is not None else "identity"
        truth = Truth(y, weight, kind=self.kind)
        if offset is not None or exposure is not None:
            moved = check_offset(offset, exposure, n_rows=n_rows)
            truth = truth.moved_by(np.asarray(moved), self.link_)
        level = BestConstant.of(truth, family).level
        assert level is not None, "numbers have a level"
        self.response_, self.mean_, self.dispersion_ = level.response, level.mean, level.dispersion
        return self

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The most frequent class, or the mean, for every row."""
        n_rows = self._n_rows(X)
        if _of_classes(self):
            return np.repeat(self.classes_[[self.class_log_prior_.argmax()]], n_rows)
        moved = check_offset(offset, exposure, n_rows=n_rows)
        mean = self.mean_ * np.exp(moved) if self.link_ == "log" else self.mean_ + moved
        return np.full(n_rows, mean)

    @available_if(_of_classes)
    def predict_log_proba(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The logarithms of the class shares, (n, n_classes)."""
        n_rows = self._n_rows(X)
        return np.tile(self.class_log_prior_, (n_rows, 1))

    @available_if(_of_classes)
    def predict_proba(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """The class shares, (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def offset_link(self) -> str:
        """The link on whose scale offsets change the mean."""
        check_is_fitted(self)
        return "identity" if _of_classes(self) else self.link_

    def predictive_family(self) -> PredictiveFamily | None:
        """The family of numbers around their mean; None for classes."""
        check_is_fitted(self)
        if _of_classes(self):
            return None
        return PredictiveFamily.of(self.response_, float(self.dispersion_))

    def describe(self) -> Description:
        """The class shares, or the mean with its family."""
        check_is_fitted(self)
        if not _of_classes(self):
            return Description(
                f"Constant: {self.response_.name} response",
                fit=(
                    Fact("mean", "mean", float(self.mean_)),
                    Fact("dispersion", "dispersion", float(self.dispersion_)),
                ),
            )
        labels = tuple(str(label) for label in self.classes_.tolist())
        return Description(
            f"Constant: {count(len(labels), 'class', 'classes')}",
            groups=labels,
            shares=tuple(np.exp(self.class_log_prior_).tolist()),
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, or R²."""
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if _of_classes(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _n_rows(self, X: Any) -> int:
        check_is_fitted(self)
        return check_table(self, X, reset=False).n_rows

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        if _of_classes(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(poor_score=True)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags(poor_score=True)
            tags.target_tags.positive_only = self.kind == "positive"
        return tags
