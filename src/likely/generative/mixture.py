"""Mixtures of any event model: clusters of rows with numbers, counts, Booleans and categories.

    p(x) = Σ_k π_k Π_j p(x_j | k)

Given the cluster, columns are independent, each with its own event model: naive Bayes with
unknown classes.

References
----------
McLachlan & Peel, Finite Mixture Models, §1 and §5.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Design
from likely.data.schema import Schema
from likely.description import ColumnsRead
from likely.distributions import DiagonalFamily, Dirichlet, GaussianPrior
from likely.errors import InvalidInput
from likely.generative.clusters import MixtureProblem
from likely.generative.description import columns_read
from likely.generative.events import (
    Event,
    encode_events,
    plan_events,
    product_family,
    recoded,
    with_input_tags,
)
from likely.generative.mixture_surface import FittedMixture
from likely.generative.priors import checked_smoothing
from likely.generative.starts import check_fitted_start, refuse_other_starts, same_categories
from likely.graphical.model.model_plates import ComponentParameters, event_parameters
from likely.inputs.estimators import feature_names
from likely.inputs.parameters import Estimator
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, encode_new_rows, recode_rows
from likely.inputs.tables import refuse_file
from likely.objectives.components import Components, ComponentTotals


class MixtureModel(FittedMixture, DensityMixin, Estimator):
    """A mixture of products of event models, by EM from several starts.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of components; ``"auto"`` tries 1, 2, … up to
        ``max_components``, until BIC has not decreased for three sizes, and keeps the lowest.
    event : str, Family or mapping, default="auto"
        The event model of every column, or of each by name or position, as in ``NaiveBayes``.
    smoothing : float, array of shape (n_features,) or Dirichlet, default=1.0
        Pseudo-counts added for each value, in event models of counts; α − 1 of a ``Dirichlet(α)``.
    prior : "estimate" or Dirichlet, default="estimate"
        The prior of the mixing proportions; ``"estimate"`` is maximum likelihood.
    gaussian_prior : GaussianPrior, default=None
        Pseudo-rows with the column's mean and variance in every component, for Gaussian columns.
    start : array or fitted mixture, default=None
        Where EM begins instead of random starts: labels (n,) or soft labels (n, K) of X, or
        another MixtureModel.
    n_init : int, default=5
        Number of random starts.  Each has a short run of EM; the best that does not collapse is
        continued to the end.
    max_components : int, default=10
        Largest number of components that ``n_components="auto"`` tries.
    regularisation : float, default=1e-6
        Strength of the prior on variances: pseudo-observations with the variance of the data, as a
        fraction of the rows.
    tol : float, default=1e-8
        EM stops when at most ``tol`` nats per row are left to gain, by Aitken's estimate; the unit
        of the weights has no effect.
    max_iter : int, default=1000
        Maximum number of EM iterations; 0 leaves the start as it is.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for the random starts and for ``sample``.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    distribution_ : Product
        The fitted components.
    solution_ : Solution
        How the best start ended; its trace is minus the penalised log-likelihood.
    log_likelihood_traces_ : list of lists
        The penalised log-likelihood, step by step: for the start that was kept, then for the
        short runs of the others.
    bic_path_ : array or None
        BIC for 1, 2, … components, when the number was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import MixtureModel
    >>> X = np.array([[0, 1], [1, 0], [0, 0], [9, 8], [8, 9], [10, 9]])
    >>> labels = MixtureModel(2, event="poisson", random_state=0).fit(X).predict(X)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] == labels[3]).all())
    True
    """

    def __init__(
        self,
        n_components: int | str = 1,
        event: "Event | Mapping[Any, Event]" = "auto",
        *,
        smoothing: float | Array | Dirichlet = 1.0,
        prior: str | Dirichlet = "estimate",
        gaussian_prior: GaussianPrior | None = None,
        start: Any = None,
        n_init: int = 5,
        max_components: int = 10,
        regularisation: float = 1e-6,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.event = event
        self.smoothing = smoothing
        self.prior = prior
        self.gaussian_prior = gaussian_prior
        self.start = start
        self.n_init = n_init
        self.max_components = max_components
        self.regularisation = regularisation
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, length: Any = 100
    ) -> tuple[Any, Array]:
        """Draw rows, and the component of each; ``length`` is the total of multinomial counts."""
        return self._draw(n_samples, random_state, length)

    def _plate_parameters(self) -> ComponentParameters:
        return event_parameters(self.event, self.smoothing)

    def __sklearn_tags__(self) -> Tags:
        return with_input_tags(super().__sklearn_tags__(), self.event)

    def _open(self, X: Any, sample_weight: Any, *, reset: bool = True) -> EncodedRows[Schema]:
        if not reset:
            advice = "Call fit, which streams it, or pass its batches one by one."
            refuse_file(X, f"partial_fit of {type(self).__name__}", advice)
        given = check_rows(self, X, None, RowExtras(sample_weight), target="none", reset=reset)
        if reset:
            self.plan_ = plan_events(self.event, given.kinds, sparse=given.sparse)
        rows = encode_events(given, self.plan_)
        if not reset:
            return self._widened(rows)
        self.schema_, self.library_ = rows.coding, rows.library
        self.family_ = self._product(sketch=not isinstance(rows.blocks, ArrayBlocks))
        return rows

    def _product(self, *, sketch: bool = False) -> Any:
        gaussian = DiagonalFamily(prior=self.gaussian_prior)
        return product_family(self.plan_, self.schema_.sizes, gaussian=gaussian, sketch=sketch)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns each event model reads, and which of them to check."""
        check_is_fitted(self)
        log_mixing = self.components_.log_mixing
        read = columns_read(self.distribution_, log_mixing, feature_names(self), n_rows)
        return read.with_columns(feature_names(self), self.schema_.kinds)

    def _widened(self, rows: EncodedRows[Schema]) -> EncodedRows[Schema]:
        """A later batch may have new categories; the earlier totals and components are extended."""
        wider = self.schema_ + rows.coding
        statistics = recoded(self.totals_.statistics, self.family_, self.schema_, wider)
        self.schema_ = wider
        self.family_ = self._product()
        self.totals_ = ComponentTotals(self.totals_.count, statistics)
        strength = self.regularisation * self.n_rows_
        prior = statistics.without_covariances().component_prior(
            self.family_, len(self.totals_.count), self._alpha(), strength, strong=False
        )
        self.components_ = Components(
            self.components_.log_mixing, self.family_.from_statistics(statistics + prior)
        )
        return recode_rows(rows, wider)

    def _alpha(self) -> Array:
        return checked_smoothing(self.smoothing, self.n_features_in_)

    def _given_start(self, problem: MixtureProblem) -> Components | None:
        if not isinstance(self.start, MixtureModel):
            refuse_other_starts(self.start, "a fitted MixtureModel")
            return None
        check_fitted_start(self.start, n_features=self.n_features_in_)
        theirs, ours = self.start.schema_, self.schema_
        if self.start.plan_.events != self.plan_.events or not same_categories(theirs, ours):
            raise InvalidInput(
                "start is a MixtureModel with other event models or categories than X has here; "
                "they must be the same. Fit it to the same columns, or give its labels, "
                "start=model.predict(X)."
            )
        return self.start.components_

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return encode_new_rows(self, self.schema_, X).design

    def _decode(self, drawn: Any) -> Any:
        return self.schema_.decode(drawn.numeric, np.asarray(drawn.codes), self.library_)
