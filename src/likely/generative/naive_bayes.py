"""Naive Bayes: features are independent given the class, each with its own event model.

    p(y = k | x) ∝ π_k Π_j p(x_j | k)

Every event model is a sum of sufficient statistics per class, so a fit is one pass, and
``partial_fit`` adds one more block.  Rows without a label enter by EM.

References
----------
McCallum & Nigam, A comparison of event models for naive Bayes text classification, 1998.
Nigam et al., Text classification from labeled and unlabeled documents using EM, 2000.
"""

from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Design
from likely.data.schema import Schema, TableKinds
from likely.description import ColumnsRead
from likely.distributions import Bernoulli, NamedForm
from likely.distributions.product import ProductStatistics
from likely.errors import InvalidInput
from likely.features.discretize import Discretizer
from likely.generative.bins import bins_in_words, edges_are_given, fit_bins, joined_numbers
from likely.generative.dependence import Dependence, dependence
from likely.generative.description import columns_read
from likely.generative.events import (
    Event,
    EventPlan,
    declared_categories,
    plan_events,
    recoded,
    with_input_tags,
)
from likely.generative.explanation import Explanation, explanation
from likely.generative.passes import Opened, log_score, open_rows
from likely.generative.priors import class_prior, smoothing_per_column
from likely.generative.reading import Reading
from likely.generative.surface import FittedClassifier
from likely.names import lookup
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    ComponentTotals,
    total,
)
from likely.objectives.temperature import fit_temperature
from likely.opening import encode, feature_names, naming_columns, refuse_files
from likely.solvers.em import EM
from likely.solvers.minimise import search
from likely.special import log_softmax
from likely.validate import all_classes, codes_among, warn_unless_converged


class NaiveBayes(FittedClassifier, ClassifierMixin, BaseEstimator):
    """Naive Bayes with any event model, mixed by column.

    Parameters
    ----------
    event : str, Family or mapping, default="auto"
        The event model of every column, or of each by name or position: ``bernoulli``,
        ``categorical``, ``multinomial``, ``complement``, ``poisson``, ``exponential``,
        ``laplace``, ``gaussian``, or a family of ``likely.distributions``.  ``auto`` reads the
        types: numbers are Gaussian, Booleans Bernoulli, text categorical, sparse multinomial.
    smoothing : float, array of shape (n_features,) or "auto", default=1.0
        Imagined counts per value, for the event models of counts.  ``"auto"`` chooses the
        strength that maximises the leave-one-out likelihood, for each event model.
    variance_floor : float, default=1e-9
        No variance of a column in a class is lower than this part of the column's own.
    prior : "estimate", "uniform" or array of shape (n_classes,), default="estimate"
        The class prior.
    unlabelled : label or nan, default=None
        The value in ``y`` that means unknown; such rows are used by EM.
    calibrate : "temperature", default=None
        Cool the log-odds by one temperature, chosen on out-of-fold scores: naive Bayes counts
        dependent evidence twice and is too sure of itself.
    discretize : str or Discretizer, default=None
        Cut the numbers that ``auto`` would call Gaussian into bins: ``"uniform"``,
        ``"quantile"``, ``"entropy"``, or a Discretizer.
    tol, max_iter : float, int
        EM stops when the likelihood gains less than ``tol`` nats per row.
    executor : str or Executor, default="auto"
        Where the sums over blocks are computed.
    random_state : int, RandomState or Generator, default=None
        Seeds ``sample``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        Weight of each class in the fit; expected, where labels were unknown.
    class_log_prior_ : array of shape (n_classes,)
    distribution_ : Product
        The fitted class-conditional distributions.
    smoothing_ : array of shape (n_features,)
        The smoothing that was used.
    temperature_ : float
        What log-odds are divided by; 1 without calibration.
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

    def __init__(
        self,
        event: "Event | Mapping[Any, Event]" = "auto",
        *,
        smoothing: float | str | Array = 1.0,
        variance_floor: float = 1e-9,
        prior: str | Array = "estimate",
        unlabelled: Any = None,
        calibrate: str | None = None,
        discretize: "str | Discretizer | None" = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.event = event
        self.smoothing = smoothing
        self.variance_floor = variance_floor
        self.prior = prior
        self.unlabelled = unlabelled
        self.calibrate = calibrate
        self.discretize = discretize
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    @naming_columns
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y.

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``);
        with a file, y and sample_weight are names of its columns.
        """
        data, plan = self._open(X, y, sample_weight)
        reading = self._reading(data, plan)
        self._remember(reading, data.classes, data.library)
        blocks = self._with_bins(data)
        here = data.totals
        if here is None:
            here = total(self.family_, len(self.classes_), blocks, data.executor)
        self._learn(here)
        self.solution_ = None
        if self.unlabelled is not None:
            self._learn_unlabelled(blocks, data.executor)
        self._cool(blocks, data.executor)
        return self

    @naming_columns
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the fit; the result equals one fit on all rows.

        ``classes`` names all classes that will ever come, in the first call.  New categories
        may appear at any time.
        """
        self._refuse_partial()
        refuse_files(X, self)
        first = "totals_" not in vars(self)
        known = all_classes(classes, None if first else self.classes_)
        data, plan = self._open(X, y, sample_weight, plan=None if first else self.plan_)
        codes = codes_among(data.classes, known)[data.blocks.y]  # type: ignore[attr-defined]
        reading = self._reading(data, plan) if first else self._wider(data.schema)
        design = reading.cut(reading.schema.encode(data.table).design)
        blocks = ArrayBlocks(design, codes, data.blocks.weight)  # type: ignore[attr-defined]
        here = total(reading.family, len(known), blocks, data.executor)
        if not first:
            here = ComponentTotals(self.totals_.count, self._recoded(reading)) + here
        self._remember(reading, known, data.library)  # only now: a refused batch changes nothing
        self._learn(here)
        self.solution_ = None
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        log_proba = super().predict_log_proba(X)
        if self.temperature_ == 1.0:
            return log_proba
        return log_softmax(log_proba / self.temperature_, axis=1)

    @naming_columns
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_classes); of counts, without the multinomial coefficient."""
        design = self._encode(X)
        return log_score(self.components_, self.family_, design, self.executor)

    def likelihood_gradient(self, X: Any, y: Any) -> Array:
        """∂ log-likelihood / ∂θ of a Bernoulli model, (n_classes, n_features)."""
        parts = self.distribution_.parts
        if len(parts) > 1 or not isinstance(parts[0], Bernoulli):
            raise InvalidInput(
                "The score is for a model whose columns are all Bernoulli; this one has "
                f"{', '.join(type(part).__name__ for part in parts)}. Set event='bernoulli'."
            )
        design = self._encode(X)
        blocks = ArrayBlocks(design, codes_among(y, self.classes_, n_rows=design.n_rows))
        here = total(self.family_, len(self.classes_), blocks, executor_for("serial", None))
        gradient: Array = parts[0].score(here.statistics.parts[0])
        return gradient

    def explain(self, X: Any, against: Any = None) -> Explanation:
        """Each feature's log-odds for every class against one (the first, unless named)."""
        stored = self._encode(X).stored()
        return explanation(
            self.distribution_.contributions(stored) / self.temperature_,
            self.class_log_prior_ / self.temperature_,
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
        """How many columns each event model reads, and which of them deserve a look."""
        check_is_fitted(self)
        return columns_read(self.distribution_, self.class_log_prior_, feature_names(self), n_rows)

    def _value_labels(self) -> list[list[str]]:
        labels = super()._value_labels()
        for column, intervals in bins_in_words(self.plan_, self.discretizer_).items():
            labels[column] = intervals
        return labels

    @property
    def class_coef_(self) -> Array:
        """Weights of the linear form, (n_classes, n_features)."""
        return self._linear_form()[0]

    @property
    def class_intercept_(self) -> Array:
        """Biases of the linear form, (n_classes,)."""
        return self._linear_form()[1]

    def __sklearn_tags__(self) -> Tags:
        return with_input_tags(super().__sklearn_tags__(), self.event)

    def _open(
        self, X: Any, y: Any, sample_weight: Any, *, plan: EventPlan | None = None
    ) -> tuple[Opened, EventPlan]:
        """The rows, and the event models of their columns: an earlier plan, or a new one."""
        if not self.variance_floor >= 0:
            raise InvalidInput(
                f"variance_floor must be 0 or more; found {self.variance_floor}. Use 1e-9."
            )
        plans = [] if plan is None else [plan]

        def as_codes(kinds: TableKinds, sparse: bool) -> tuple[bool, ...]:
            cut = self.discretize is not None
            if not plans:
                plans.append(plan_events(self.event, kinds, sparse=sparse, discretise=cut))
            return plans[0].as_codes

        data = open_rows(
            self,
            X,
            y,
            sample_weight,
            as_codes=as_codes,
            declare=lambda schema: declared_categories(plans[0], schema),
            unlabelled=self.unlabelled,
            reset=plan is None,
        )
        return data, plans[0]

    def _reading(self, data: Opened, plan: EventPlan) -> Reading:
        bins = fit_bins(self.discretize, plan, data.blocks, feature_names(self))
        sketch = not isinstance(data.blocks, ArrayBlocks)
        return Reading.of(plan, data.schema, bins, floor=self.variance_floor, sketch=sketch)

    def _wider(self, schema: Schema) -> Reading:
        """Room for categories that appear for the first time."""
        wider = self.schema_ + schema
        return Reading.of(self.plan_, wider, self.discretizer_, floor=self.variance_floor)

    def _recoded(self, reading: Reading) -> Any:
        """The earlier statistics, as they would be under wider categories."""
        return recoded(self.totals_.statistics, self.family_, self.schema_, reading.schema)

    def _remember(self, reading: Reading, classes: Array, library: str | None) -> None:
        self.classes_, self.library_ = classes, library
        self.plan_, self.schema_ = reading.plan, reading.schema
        self.discretizer_, self.family_ = reading.bins, reading.family

    def _with_bins(self, data: Opened) -> Any:
        if not isinstance(data.blocks, ArrayBlocks):
            return data.blocks
        return ArrayBlocks(self._cut(data.blocks.X), data.blocks.y, data.blocks.weight)

    def _cut(self, design: Design) -> Design:
        return Reading(self.plan_, self.schema_, self.discretizer_, self.family_).cut(design)

    def _learn(self, here: ComponentTotals) -> None:
        """Parameters from totals: the prior is one more block."""
        self.totals_ = here
        self.class_count_ = here.count
        self.smoothing_ = smoothing_per_column(self.smoothing, self.family_, here.statistics)
        self.temperature_ = 1.0
        self.components_ = self._components(here)

    def _components(self, here: ComponentTotals) -> Components:
        member = self.family_.from_statistics(here.statistics + self._pseudo_statistics())
        return Components(class_prior(self.prior, here.count), member)

    def _cool(self, blocks: Any, executor: Executor) -> None:
        """Choose the temperature, if asked for."""
        if self.calibrate is None:
            return
        lookup("calibration", self.calibrate, {"temperature": ""})
        self.temperature_, solution = fit_temperature(
            self.family_, len(self.classes_), blocks, executor, self._components
        )
        warn_unless_converged(self, solution)

    def _pseudo_statistics(self) -> ProductStatistics:
        shape = (len(self.classes_), self.n_features_in_)
        return self.family_.pseudo_statistics(self.smoothing_, shape)

    def _learn_unlabelled(self, blocks: Any, executor: Executor) -> None:
        estimate = isinstance(self.prior, str) and self.prior == "estimate"
        objective = ComponentsObjective(
            self.family_,
            blocks,
            executor,
            self._pseudo_statistics(),
            None if estimate else self.class_log_prior_,
        )
        solution, state = search(
            EM(), objective, self.components_, tol=self.tol, max_iter=self.max_iter
        )
        warn_unless_converged(self, solution)
        self.components_ = solution.theta
        self.class_count_ = state.totals.count
        self.solution_ = solution

    def _refuse_partial(self) -> None:
        for name in ("unlabelled", "calibrate", "discretize"):
            value = getattr(self, name)
            learned = not edges_are_given(value) if name == "discretize" else value is not None
            if learned:
                raise InvalidInput(
                    f"partial_fit cannot be exact with {name}={value!r}; "
                    f"set {name}=None, or call fit on all rows."
                )

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return self._cut(encode(self, self.schema_, X))

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
