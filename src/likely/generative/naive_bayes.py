"""Naive Bayes: features are independent given the class, each with its own event model.

    p(y = k | x) ∝ π_k Π_j p(x_j | k)

Every event model is a sum of sufficient statistics per class, so a fit is one pass, and
``partial_fit`` adds one more block.  Rows without a label are included by EM.

References
----------
McCallum & Nigam, A comparison of event models for naive Bayes text classification, 1998.
Nigam et al., Text classification from labeled and unlabeled documents using EM, 2000.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.calibrate.length_evidence import HeldOutBlocks, HeldOutRows
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.data.sequences import is_sequences
from likely.distributions import Bernoulli, DiagonalFamily, Dirichlet, GaussianPrior, NamedForm
from likely.distributions.base import Statistics
from likely.distributions.evidence import RowSums
from likely.distributions.lengths import row_lengths, split_scores, word_features
from likely.distributions.priors import smoothing_per_column
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.features.discretize import Discretizer
from likely.generative.base import CLASS_COMPONENTS, FittedClassifier, warn_if_constant
from likely.generative.description import Dependence, columns_read, dependence
from likely.generative.events import (
    Event,
    EventPlan,
    EventRows,
    are_ids,
    bins_in_words,
    counts_of_documents,
    cut_numbers,
    encode_events,
    encode_or_count,
    fit_bins,
    joined_numbers,
    log_orders,
    plan_events,
    product_family,
    recoded,
    refuse_partial,
    with_input_tags,
)
from likely.generative.unlabelled import UnlabelledRows, warn_if_moved
from likely.graphical.model.model_plates import ComponentParameters, event_parameters
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    check_search,
    columns_named,
    feature_names,
    naming_columns,
    refuse_unless_number,
    unchanged_if_refused,
    warn_unless_converged,
)
from likely.inputs.rows import (
    CheckedRows,
    EncodedRows,
    RowExtras,
    check_rows,
    encode_new_rows,
    recode_rows,
)
from likely.inputs.soft_labels import hard_rows, soft_classes
from likely.inputs.tables import refuse_file
from likely.inputs.targets import all_classes, codes_among, is_soft
from likely.names import lookup
from likely.objectives.components import ComponentLearner, ComponentTotals, total
from likely.objectives.cooled_evidence import CooledEvidence
from likely.output.description import ColumnsRead
from likely.storage.declarations import Numbers, SameCount, Saved, StatisticsOf

UNCALIBRATED = CooledEvidence().attributes
CALIBRATIONS: dict[str, Any] = {  # of rows that are held out, by a model of their other folds
    "temperature": lambda held_out, learn: held_out.cooled(learn),
    "length": lambda held_out, learn: held_out.cooled_by_length(learn),
}


class NaiveBayes(FittedClassifier, ClassifierMixin, Estimator):
    """Naive Bayes with any event model, mixed by column.

    Parameters
    ----------
    event : str, Family or mapping, default="auto"
        The event model of every column, or of each by name or position: ``bernoulli``,
        ``categorical``, ``multinomial``, ``complement``, ``poisson``, ``exponential``,
        ``laplace``, ``gaussian``, or a family of ``likely.distributions``.  ``auto`` reads the
        types: numbers are Gaussian, Booleans Bernoulli, text categorical, sparse multinomial.
    smoothing : float, array of shape (n_features,), Dirichlet or "auto", default=1.0
        Pseudo-counts per value, in event models of counts; for Poisson columns, pseudo-rows with
        the column's mean.  ``Dirichlet(α)`` is α − 1 of them: the mode of the posterior.
        ``"auto"`` maximises the leave-one-out likelihood; the pseudo-counts of
        multinomial columns are then a share of a class's counts, most of them for words of many
        classes.  With ``calibrate="length"`` the strength is chosen on out-of-fold documents.
    variance_floor : float, default=1e-9
        Smallest variance in a class, as a fraction of the column's variance over all rows.  A
        column of at most 256 distinct values also has the floor u²/12, where u is the smallest gap
        between two of them: values are known to their unit only.  0 is no floor at all.
    gaussian_prior : GaussianPrior, default=None
        Pseudo-rows with the column's mean and variance in every class, for Gaussian columns.
    prior : "estimate", "uniform", Dirichlet or array of shape (n_classes,), default="estimate"
        Class probabilities: estimated (a ``Dirichlet`` is their prior), all equal, or given.
    unlabelled : label or nan, default=None
        The value in ``y`` that marks an unlabelled row; EM uses such rows.
    unlabelled_weight : float or "auto", default=1.0
        The weight λ of an unlabelled row relative to a labelled one; 0 does not use them.
        ``"auto"`` chooses it among 0 and five others, by labelled rows that are held out: EM runs
        25 times more.
    calibrate : "temperature" or "length", default=None
        Divide the evidence log p(x | k), but not the class prior, by a temperature chosen on
        out-of-fold predictions: naive Bayes counts dependent evidence twice.  ``temperature`` is
        one number; evidence against a class of n rows ends near log n nats.  ``length``, for
        documents, is T (1 + b L): it rises with the length L, the sum of a row's counts.
    discretize : str or Discretizer, default=None
        Cut numeric columns (those that ``auto`` would call Gaussian) into bins: ``"uniform"``,
        ``"quantile"``, ``"entropy"``, or a Discretizer.
    tol : float, default=1e-8
        EM stops when at most ``tol`` nats per row are left to gain, by Aitken's estimate; the unit
        of the weights has no effect.
    max_iter : int, default=1000
        Maximum number of EM iterations; 0 leaves the start as it is.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for ``sample``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        Weight of each class in the fit; expected, where labels were unknown.
    feature_count_ : array of shape (n_classes, n_features)
        Sums of Bernoulli and count columns in each class; expected, as ``class_count_``.
    class_log_prior_ : array of shape (n_classes,)
    distribution_ : Product
        The fitted class-conditional distributions.
    smoothing_ : array of shape (n_features,)
        The smoothing that was used; with "auto", of multinomial columns per count of the class.
    temperature_ : float
        T, what log p(x | k) is divided by; 1 without calibration.
    length_rate_ : float
        b, by which each word of a row raises its temperature T (1 + b L), if calibrated by length.
    mean_length_ : float or None
        If presence is calibrated by length, the mean L: absence is evidence in proportion to L.
    empty_score_ : array of shape (n_classes,) or None
        log p(x | k) of an empty document, if presence is calibrated by length.
    other_temperature_ : float or None
        What log p(x | k) of columns beside words is divided by, if calibrated by length.
    lowest_density_ : float or None
        The log-density of columns beside words below which a row says nothing about its class.
    outlier_share_ : array of shape (n_classes,) or None
        With calibration, the share of rows of a class that look like those of another: it bounds
        the evidence against the class.
    reads_ids_ : bool
        Whether it was fitted to sequences of word ids, and so reads lists of whole numbers.
    unlabelled_weight_ : float
        The weight λ that was used, when there were unlabelled rows.
    solution_ : Solution or None
        How EM ended, when there were unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import NaiveBayes
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 1, 0]])
    >>> model = NaiveBayes(event="bernoulli").fit(X, [1, 1, 0, 0])
    >>> model.predict_proba([[1, 0, 0]]).round(3)
    array([[0.25, 0.75]])
    """

    saved: ClassVar = CLASS_COMPONENTS | Saved(
        {
            "plan_": EventPlan,
            "discretizer_": Discretizer | None,
            "length_rate_": Numbers(float, "finite", "not negative"),
            "mean_length_": Numbers(float | None, "finite", "positive"),
            "empty_score_": Numbers(Array | None, "finite"),
            "other_temperature_": Numbers(float | None, "finite", "positive"),
            "lowest_density_": Numbers(float | None, "finite"),
        },
        {
            "reads_ids_": bool,
            "smoothing_": Array,
            "statistics_": Statistics,
            "unlabelled_weight_": float,
        },
        rules=(
            SameCount("classes_", "empty_score_"),
            StatisticsOf("statistics_", "family_", "components_.distribution"),
        ),
    )

    event: Any
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

    def __init__(
        self,
        event: "Event | Mapping[Any, Event]" = "auto",
        *,
        smoothing: float | str | Array | Dirichlet = 1.0,
        variance_floor: float = 1e-9,
        gaussian_prior: GaussianPrior | None = None,
        prior: str | Dirichlet | Array = "estimate",
        unlabelled: Any = None,
        unlabelled_weight: float | str = 1.0,
        calibrate: str | None = None,
        discretize: "str | Discretizer | None" = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.event = event
        self.smoothing = smoothing
        self.variance_floor = variance_floor
        self.gaussian_prior = gaussian_prior
        self.prior = prior
        self.unlabelled = unlabelled
        self.unlabelled_weight = unlabelled_weight
        self.calibrate = calibrate
        self.discretize = discretize
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    @naming_columns
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y.

        X is an array, a CSR array, a data frame, a file (its path, or ``likely.read``), or
        documents as sequences of word ids (``TokenIds``, or lists of unequal length: lists of
        equal length are a matrix, so give ``likely.Sequences.of(lists)`` for such ids); with a
        file, y and sample_weight are names of its columns.  A model that was fitted to sequences
        reads all lists of lists as ids.  y of shape (n, n_classes) holds
        one-hot or soft labels: rows of probabilities, of the classes that name the columns of a
        frame, or 0, 1, ….
        """
        soft = soft_classes(y) if is_soft(y) else None
        if soft is not None:
            X, y, sample_weight = hard_rows(X, y, sample_weight, calibrate=self.calibrate)
        rows, totals = self.encode_rows(X, y, sample_weight)
        if soft is not None:
            self.classes_ = soft[self.classes_]
        if totals is None:
            totals = total(self.family_, len(self.classes_), rows.blocks, rows.executor)
        self.fit_totals(totals, rows)
        warn_if_constant(self)
        return self

    def encode_rows(self, X: Any, y: Any, sample_weight: Any = None) -> EventRows:
        """Check and encode rows to learn from; classes, events, categories and bins are stored."""
        given = self._checked(X, y, sample_weight)
        cut = self.discretize is not None
        plan = plan_events(self.event, given.kinds, sparse=given.sparse, discretise=cut)
        rows, totals = encode_or_count(given, plan)
        bins = None
        if self.discretize is not None:
            bins = fit_bins(self.discretize, plan, rows.blocks, feature_names(self))
        in_memory = isinstance(rows.blocks, ArrayBlocks)
        self._remember_columns(plan, rows.coding, bins, sketch=not in_memory)
        self.classes_, self.library_ = rows.classes, rows.library
        return EventRows(self._with_bins(rows), totals)

    def fit_totals(
        self,
        totals: ComponentTotals,
        rows: EncodedRows[Schema],
        held_out: HeldOutRows | None = None,
    ) -> Self:
        """Fit to the totals of each class, as if to the rows that were summed.

        The rows, as ``encode_rows`` gives them, are read again where more than totals is needed:
        by EM, when there are unlabelled ones, and to choose a temperature, unless ``held_out``
        has the rows of the totals for that.
        """
        self.totals_, self.class_count_, self.solution_ = totals, totals.count, None
        self.statistics_ = totals.statistics
        self.smoothing_ = smoothing_per_column(self.smoothing, self.family_, totals.statistics)
        self.__dict__.update(UNCALIBRATED)
        learn = self._learner
        if self.unlabelled is not None:
            learn = self._learn_unlabelled(rows)
        if self.calibrate is not None:
            if held_out is None:
                held_out = HeldOutBlocks(len(self.classes_), rows.blocks, rows.executor)
            self._cool(held_out, learn)
        if self.unlabelled is None:
            self.components_ = self._learner(totals)  # after: a table of words is large
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the fit; the result equals one fit on all rows.

        ``classes``, in the first call, names all classes that will occur; categories may be new.
        """
        refuse_partial(self.unlabelled, self.calibrate, self.discretize)
        advice = "Call fit, which streams it, or pass its batches one by one."
        refuse_file(X, f"partial_fit of {type(self).__name__}", advice)
        first = "totals_" not in vars(self)
        known = all_classes(classes, None if first else self.classes_)
        with unchanged_if_refused(self), columns_named(self):
            earlier = None
            if first:
                rows = self.encode_rows(X, y, sample_weight).rows
                self.classes_ = known
            else:
                rows = encode_events(self._checked(X, y, sample_weight, reset=False), self.plan_)
                wider = self.schema_ + rows.coding  # categories that appear for the first time
                statistics = recoded(self.totals_.statistics, self.family_, self.schema_, wider)
                earlier = ComponentTotals(self.totals_.count, statistics)
                self._remember_columns(self.plan_, wider, self.discretizer_)
                rows = self._with_bins(recode_rows(rows, wider))
            codes = codes_among(rows.classes, known)[rows.blocks.y]  # type: ignore[attr-defined]
            blocks = replace(rows.blocks, y=codes)  # type: ignore[type-var]  # in memory
            here = total(self.family_, len(known), blocks, rows.executor)
            return self.fit_totals(here if earlier is None else earlier + here, rows)

    def __sklearn_tags__(self) -> Tags:
        return with_input_tags(super().__sklearn_tags__(), self.event)

    def column_needs(self) -> ColumnNeeds:
        """Categories, and words of a text, as they are."""
        text = bool(get_tags(self).input_tags.string)
        return ColumnNeeds(scale=False, categories=text, words=text)

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

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> CheckedRows:
        if not self.variance_floor >= 0:
            raise InvalidInput(
                f"variance_floor must be 0 or more; found {self.variance_floor}. Use 1e-9."
            )
        if not (isinstance(self.unlabelled_weight, str) and self.unlabelled_weight == "auto"):
            advice = "Use 1.0, less to trust the labelled rows more, or 'auto'."
            refuse_unless_number(
                "unlabelled_weight", self.unlabelled_weight, lowest=0.0, advice=advice
            )
        check_search(self.tol, self.max_iter)
        reads_ids = is_sequences(X)
        if not reset:
            X = self._without_ids(X)
        elif reads_ids:
            X = counts_of_documents(X, self.event)
        extras = RowExtras(sample_weight)
        checked = check_rows(
            self, X, y, extras, target="class", unlabelled=self.unlabelled, reset=reset
        )
        if reset:
            self.reads_ids_ = reads_ids
        return checked

    def _remember_columns(
        self, plan: EventPlan, schema: Schema, bins: Discretizer | None, *, sketch: bool = False
    ) -> None:
        """Store the encoding of the rows, and the families that follow from it."""
        self.plan_, self.schema_, self.discretizer_ = plan, schema, bins
        sizes = schema.sizes + (() if bins is None else tuple(map(int, bins.n_bins_)))
        gaussian = DiagonalFamily(floor=self.variance_floor, prior=self.gaussian_prior)
        words = "word" in schema.kinds
        self.family_ = product_family(
            plan, sizes, gaussian=gaussian, sketch=sketch, with_words=words
        )

    def _with_bins(self, rows: EncodedRows[Schema]) -> EncodedRows[Schema]:
        if self.discretizer_ is None or not isinstance(rows.blocks, ArrayBlocks):
            return rows
        return rows._replace(blocks=replace(rows.blocks, X=self._cut(rows.blocks.X)))

    @property
    def _learner(self) -> ComponentLearner:
        """How the classes follow from totals of labelled rows."""
        chosen = isinstance(self.smoothing, str)
        return ComponentLearner(self.family_, self.smoothing_, chosen, self.prior)

    def _cool(self, held_out: HeldOutRows, learn: ComponentLearner) -> None:
        """Choose the temperature, and with it the strength of smoothing that was left open.

        That is chosen again by documents that are left out, not by tokens.  ``learn`` gives the
        model of the labelled rows of other folds.
        """
        calibrated = lookup("calibration", self.calibrate, CALIBRATIONS)
        if self.calibrate == "length" and learn.is_chosen and self.unlabelled is None:
            self.smoothing_ = held_out.best_factor(learn) * self.smoothing_
            learn = self._learner
        self.__dict__.update(calibrated(held_out, learn).attributes)

    def _learn_unlabelled(self, rows: EncodedRows[Schema]) -> ComponentLearner:
        """EM; the answer learns from the labelled rows of other folds, and all unlabelled ones."""
        learn = self._learner
        both = UnlabelledRows(
            learn, len(self.classes_), rows.blocks, rows.executor, self.tol, self.max_iter
        )
        weight = self.unlabelled_weight
        self.unlabelled_weight_ = both.best_weight() if weight == "auto" else float(weight)
        self.components_, self.solution_, totals = both.complete(
            self.totals_, self.unlabelled_weight_
        )
        warn_unless_converged(type(self).__name__, self.solution_)
        self.class_count_, self.statistics_ = totals.count, totals.statistics
        counts = self.totals_.count, totals.count
        warn_if_moved(*counts, self.classes_, self.unlabelled_weight_, both.n_rows)
        return replace(learn, refined=partial(both.refined, self.unlabelled_weight_))

    def _plate_parameters(self) -> ComponentParameters:
        return event_parameters(self.event, self.smoothing)

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
