"""What a fitted naive Bayes answers: explanations, linear forms, draws, and how columns were read.

Abstract: ``NaiveBayes`` learns what these methods read.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import executor_for
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Design
from likely.description import ColumnsRead
from likely.distributions import Bernoulli, NamedForm
from likely.distributions.evidence import RowSums
from likely.distributions.lengths import row_lengths, split_scores, word_features
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.features.discretize import Discretizer
from likely.generative.bins import bins_in_words, cut_numbers, joined_numbers
from likely.generative.dependence import Dependence, dependence
from likely.generative.description import columns_read
from likely.generative.documents import are_ids, counts_of_documents, log_orders
from likely.generative.events import EventPlan
from likely.generative.surface import FittedClassifier
from likely.graphical.model.model_plates import ComponentParameters, event_parameters
from likely.inputs.estimators import ColumnNeeds, feature_names
from likely.inputs.labels import codes_among
from likely.inputs.rows import encode_new_rows
from likely.objectives.components import total
from likely.objectives.cooled_evidence import CooledEvidence


class FittedNaiveBayes(FittedClassifier):
    """Classes whose columns are independent, each with its own event model."""

    n_features_in_: int
    plan_: EventPlan
    discretizer_: Discretizer | None
    class_count_: Array
    statistics_: Any  # of all classes: a ProductStatistics
    library_: Any
    temperature_: float
    outlier_share_: Array | None
    length_rate_: float
    mean_length_: float | None
    empty_score_: Array | None
    other_temperature_: float | None
    lowest_density_: float | None
    reads_ids_: bool
    event: Any
    smoothing: Any

    def column_needs(self) -> ColumnNeeds:
        """Categories, and words of a text, as they are."""
        text = bool(get_tags(self).input_tags.string)
        return ColumnNeeds(scale=False, categories=text, words=text)

    def _plate_parameters(self) -> ComponentParameters:
        return event_parameters(self.event, self.smoothing)

    def likelihood_gradient(self, X: Any, y: Any) -> Array:
        """∂ log-likelihood / ∂θ of a Bernoulli model, (n_classes, n_features)."""
        parts = self.distribution_.parts
        if len(parts) > 1 or not isinstance(parts[0], Bernoulli):
            raise InvalidInput(
                "The score function needs a model whose columns are all Bernoulli; this one has "
                f"{', '.join(type(part).__name__ for part in parts)}. Set event='bernoulli'."
            )
        design = self._encode(X)
        blocks = ArrayBlocks(design, codes_among(y, self.classes_, n_rows=design.n_rows))
        here = total(self.family_, len(self.classes_), blocks, executor_for("serial", None))
        gradient: Array = parts[0].score(here.statistics.parts[0])
        return gradient

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_classes), with every constant: its log-sum-exp is log p(x).

        Of a sequence of word ids it is the probability of the words in their order; that of the
        counts is larger, by the number of orders.
        """
        joint = super().predict_joint_log_proba(X)
        return joint if not self._are_ids(X) else joint - log_orders(X, self.event)[:, None]

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """Each feature's log-odds for every class against one (the first, unless named)."""
        stored = self._encode(X).stored()
        return log_odds_explanation(
            self._calibrated_contributions(stored),
            self.class_log_prior_,
            self.classes_,
            against,
            feature_names(self),
        )

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, length: Any = 100
    ) -> tuple[Any, Array]:
        """Draw labelled rows; ``length`` is the total of a row's multinomial counts."""
        X, component = self._draw(n_samples, random_state, length=length)
        return X, self.classes_[component]

    def dependence(self, X: Any, y: Any) -> Dependence:
        """How far the features are from independent given the class, and the full table's fit."""
        design = self._encode(X)
        codes = codes_among(y, self.classes_, n_rows=design.n_rows)
        return dependence(self.distribution_, design.stored(), codes, feature_names(self))

    def logistic_form(self) -> NamedForm:
        """The equivalent logistic model, log p(x, k) = b_k + w_kᵀ T(x) + (a shared term).

        T(x) is x for Bernoulli, count and waiting-time columns, (x, x²) for Gaussian ones, and an
        indicator per value for categories; a Laplace column has no such form.
        """
        check_is_fitted(self)
        form = self.distribution_.named_form(feature_names(self), self.schema_.categories)
        return form._replace(intercept=self.class_log_prior_ + form.intercept)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns each event model reads, and which columns to check."""
        check_is_fitted(self)
        names = feature_names(self)
        read = columns_read(self.distribution_, self.class_log_prior_, names, n_rows)
        return read.with_columns(names, self.schema_.kinds)

    @property
    def _evidence(self) -> CooledEvidence:
        return CooledEvidence.of_attributes(partial(getattr, self))

    def _calibrated_contributions(self, stored: Any) -> Array:
        evidence, log_prior = self._evidence, self.class_log_prior_
        length = row_lengths(self.family_, stored) if evidence.needs_length else None
        each = self.distribution_.contributions(stored)
        words = word_features(self.family_)
        absent = self._contributions_of_absence(words)
        if evidence.others is None:
            return evidence.contributions(each, log_prior, length, absent)
        score = split_scores(self.family_, self.distribution_, stored).others
        out = np.empty(each.shape)
        out[:, words] = evidence.contributions(
            each[:, words], log_prior, length, None if absent is None else absent[words]
        )
        out[:, ~words] = evidence.others.factor_contributions(each[:, ~words], log_prior, score)
        return out

    def _contributions_of_absence(self, words: Array) -> Array | None:
        """Those of an empty document, (n_features, n_classes), where absent words are evidence."""
        if self.mean_length_ is None:
            return None
        out = np.zeros((self.n_features_in_, len(self.classes_)))
        for part, features in self.distribution_.by_part():
            if words[list(features)].any():
                out[list(features)] = part.contributions(np.zeros((1, len(features))))[0]
        return out

    def _row_sums(self) -> RowSums | None:
        statistics = vars(self).get("statistics_")  # expected, where labels were unknown
        return None if statistics is None else RowSums(self.class_count_, statistics)

    def _value_labels(self) -> list[list[str]]:
        bins = bins_in_words(self.plan_, self.discretizer_)
        return [bins.get(j, labels) for j, labels in enumerate(super()._value_labels())]

    @property
    def feature_count_(self) -> Array:
        """N_kj = Σ_i w_i [y_i = k] x_ij of Bernoulli and count columns, (n_classes, n_features)."""
        check_is_fitted(self)
        try:
            return self.family_.feature_counts(self.statistics_)
        except InvalidInput as error:
            raise AttributeError(str(error)) from error

    @property
    def class_coef_(self) -> Array:
        """Weights of the linear form, (n_classes, n_features)."""
        return self._linear_form()[0]

    @property
    def class_intercept_(self) -> Array:
        """Biases of the linear form, (n_classes,)."""
        return self._linear_form()[1]

    def _cut(self, design: Design) -> Design:
        bins = self.discretizer_
        return design if bins is None else cut_numbers(design, self.plan_, bins)

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        X = self._without_ids(X)
        return self._cut(encode_new_rows(self, self.schema_, X).design)

    def _are_ids(self, X: Any) -> bool:
        reads_ids = getattr(self, "reads_ids_", False)  # not there if fitted to sums of classes
        return are_ids(X, reads_ids=reads_ids, n_columns=self.n_features_in_)

    def _without_ids(self, X: Any) -> Any:
        """Counts in place of sequences of ids; other rows as they are."""
        if not self._are_ids(X):
            return X
        return counts_of_documents(X, self.event, self.n_features_in_)

    def _decode(self, drawn: Any) -> Any:
        if self.discretizer_ is not None:
            drawn = joined_numbers(drawn, self.plan_, self.discretizer_)
        return self.schema_.decode(drawn.numeric, drawn.codes, self.library_)

    def _linear_form(self) -> tuple[Array, Array]:
        check_is_fitted(self)
        try:
            form = self.distribution_.linear_form()
        except InvalidInput as error:
            raise AttributeError(str(error)) from error
        return form.coef, form.intercept + self.class_log_prior_
