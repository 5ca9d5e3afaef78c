"""What a fitted discriminant analysis answers: explanations, draws and the logistic form.

Abstract: ``DiscriminantAnalysis`` learns what these methods read.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.layouts.intercept import Design
from likely.distributions.responsibility import refuse_infinity
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.generative.surface import FittedClassifier
from likely.graphical.model.model_plates import ComponentParameters, gaussian_parameters
from likely.inputs.estimators import feature_names, naming_columns
from likely.inputs.rows import encode_new_rows
from likely.objectives.components import CooledEvidence
from likely.solvers.minimise import Solution


def _has_common_axes(model: "FittedDiscriminant") -> bool:
    if model.covariance == "tied":
        return True
    raise AttributeError(
        f"covariance is {model.covariance!r}; only the classes of a tied model have common axes. "
        "Set covariance='tied'."
    )


class FittedDiscriminant(FittedClassifier):
    """Gaussian classes with tied, full, diagonal or spherical covariance."""

    schema_: Any
    library_: Any
    temperature_: float
    outlier_share_: Array | None
    covariance: Any
    calibrate: Any

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class for two classes, else log-probabilities of each."""
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if len(self.classes_) == 2 else log_proba

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one (the first).

        For a tied model, relative to the mean of the classes; for full covariances, the evidence
        of a column given those before it.
        """
        X = np.asarray(self._encode(X).stored(), dtype=float)
        contributions, constant = self.distribution_.centred_contributions(X)
        if self._evidence.is_calibrated:  # the constant is evidence too
            beside = np.broadcast_to(constant, (len(X), 1, len(constant)))
            parts = np.concatenate([contributions, beside], axis=1)
            parts = self._evidence.contributions(parts, self.class_log_prior_)
            contributions, constant = parts[:, :-1], parts[:, -1]
        return log_odds_explanation(
            contributions,
            self.class_log_prior_ + constant,
            self.classes_,
            against,
            feature_names(self),
        )

    @available_if(_has_common_axes)
    @naming_columns
    def transform(self, X: Any) -> Array:
        """Rows on the canonical axes of a tied model, (n, at most n_classes − 1).

            (x − m̄) A,   AᵀΣA = I        m̄ = Σ_k π_k m_k

        Classes have unit covariance there; their means spread most along the first axis, and the
        other directions say nothing about the class.  Missing cells have their expectation.
        """
        scalings, _ = self._canonical()
        rows = np.asarray(self._encode(X).stored(), dtype=float)
        refuse_infinity(rows)
        if np.isnan(rows).any():
            rows = self.distribution_.expected_rows(rows, self.class_log_prior_)
        return np.dot(rows - np.dot(np.exp(self.class_log_prior_), self.means_), scalings)

    @property
    def scalings_(self) -> Array:
        """A of ``transform``, (n_features, n_axes)."""
        return self._canonical()[0]

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of each axis of ``transform`` in the spread of the means, (n_axes,)."""
        return self._canonical()[1]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw labelled rows."""
        X, component = self._draw(n_samples, random_state)
        return X, self.classes_[component]

    def export_to(self, estimator: Any) -> Any:
        """The posterior of a tied model as a ``LogisticRegression`` or ``SoftmaxRegression``.

        A clone of ``estimator`` is returned with the columns and classes of this model, ``coef_``
        and ``intercept_``: its probabilities are those of this model.  It has no standard errors.
        """
        check_is_fitted(self)
        if self.covariance != "tied":
            raise InvalidInput(
                f"covariance is {self.covariance!r}, and its posterior is not linear in x; a tied "
                "model was expected. Fit one with covariance='tied', or use predict_proba."
            )
        if self._evidence.is_calibrated:
            raise InvalidInput(
                f"calibrate is {self.calibrate!r}, and a calibrated posterior is not linear in x; "
                "a model without calibration was expected. Fit one with calibrate=None."
            )
        coef, intercept = self._linear_form()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a fit that only takes the columns and classes
            linear = clone(estimator).fit(self._decode(self.means_), self.classes_)
        reason = f"the posterior of a {type(self).__name__}, in closed form"
        theta = np.concatenate([coef.ravel(), intercept])
        linear.coef_, linear.intercept_, linear.inference_ = coef, intercept, None
        linear.solution_ = Solution(theta, True, reason, (0.0,), 0.0)
        return linear

    @property
    def means_(self) -> Array:
        return self.distribution_.mean

    @property
    def covariances_(self) -> Array:
        if self.covariance in ("tied", "full"):
            matrices: Array = self.distribution_.covariance
            return matrices[0] if self.covariance == "tied" else matrices
        variance: Array = self.distribution_.variance
        return variance[:, 0] if self.covariance == "spherical" else variance

    @property
    def coef_(self) -> Array:
        return self._linear_form()[0]

    @property
    def intercept_(self) -> Array:
        return self._linear_form()[1]

    @property
    def _evidence(self) -> CooledEvidence:
        return CooledEvidence(float(self.temperature_), self.outlier_share_)

    def _linear_weights(self) -> Array | None:
        return self.coef_ if self.covariance == "tied" else None

    def _plate_parameters(self) -> ComponentParameters:
        return gaussian_parameters(self.covariance)

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return encode_new_rows(self, self.schema_, X, sparse=False).design

    def _decode(self, drawn: Any) -> Any:
        return self.schema_.decode(drawn, np.empty((len(drawn), 0), np.int32), self.library_)

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    def _canonical(self) -> tuple[Array, Array]:
        """A and the shares of its axes: the singular vectors of the whitened means."""
        check_is_fitted(self)
        _has_common_axes(self)
        W, share = self.distribution_.factors[0].root, np.exp(self.class_log_prior_)
        apart = np.sqrt(share)[:, None] * (self.means_ - np.dot(share, self.means_))
        _, spread, axes = np.linalg.svd(np.dot(apart, W), full_matrices=False)
        kept = min(len(self.classes_) - 1, len(axes))
        scalings = np.dot(W, axes[:kept].T)
        largest = np.abs(scalings).argmax(axis=0)
        sign = np.where(scalings[largest, np.arange(kept)] < 0, -1.0, 1.0)
        return scalings * sign, spread[:kept] ** 2 / np.sum(spread**2)

    def _linear_form(self) -> tuple[Array, Array]:
        check_is_fitted(self)
        try:
            form = self.distribution_.linear_form()
        except InvalidInput as error:
            raise AttributeError(str(error)) from error
        if form.terms != "x":
            raise AttributeError(
                f"covariance is {self.covariance!r}; coef_ and intercept_ are of a tied model, "
                "the only one that is linear in x. Set covariance='tied'."
            )
        coef, intercept = form.coef, form.intercept + self.class_log_prior_
        if len(self.classes_) == 2:
            return coef[[1]] - coef[[0]], intercept[[1]] - intercept[[0]]
        return coef, intercept
