"""Mixtures: soft clusters of rows, and a density estimate.

    GaussianMixture   p(x) = Σ_k π_k N(x; m_k, Σ_k)
    MixtureModel      p(x) = Σ_k π_k Π_j p(x_j | k)        of numbers, counts, Booleans, categories

In the second, columns are independent given the cluster, each with its own event model: naive Bayes
with unknown classes.  They differ in the families that they build, and share the rest.

References
----------
McLachlan & Peel, Finite Mixture Models, §1 and §5.
Bishop, Pattern Recognition and Machine Learning, §9.2.
"""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.distributions import (
    DiagonalFamily,
    Dirichlet,
    FullFamily,
    FullGaussian,
    GaussianPrior,
)
from likely.distributions.priors import checked_smoothing, log_shares, mixing_prior
from likely.errors import InvalidInput
from likely.generative.base import (
    COMPONENTS,
    ComponentProbabilities,
    FittedComponents,
    warn_if_constant,
)
from likely.generative.clusters import (
    Clusters,
    MixtureProblem,
    aic,
    best_by_bic,
    bic,
    components_from,
    fit_clusters,
    pooled_totals,
    warn_collapsed,
    warn_if_flat,
)
from likely.generative.description import DescribedComponents, columns_read, plot_mixture
from likely.generative.events import (
    Event,
    EventPlan,
    encode_events,
    plan_events,
    product_family,
    recoded,
    with_input_tags,
)
from likely.generative.starts import (
    check_fitted_start,
    converted_gaussians,
    described_start,
    draw_subset,
    gaussians,
    kept_rows,
    refuse_other_starts,
    same_categories,
    soft_rows,
)
from likely.graphical.drawing.diagram import Diagram, Node
from likely.graphical.model.model_plates import (
    ComponentParameters,
    component_plate,
    event_parameters,
    gaussian_parameters,
)
from likely.inputs.estimators import (
    Estimator,
    check_search,
    feature_names,
    generator,
    naming_columns,
    refuse_unless_number,
    refuse_unless_whole,
    unchanged_if_refused,
    warn_unless_converged,
)
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, encode_new_rows, recode_rows
from likely.inputs.tables import refuse_file
from likely.names import lookup
from likely.objectives.components import Components, ComponentTotals, block_expectations
from likely.output.description import ColumnsRead
from likely.solvers.minimise import Solution
from likely.storage.declarations import Numbers, Saved

FORGETTING = 0.7  # of g = (t + 2)^−0.7: between ½ and 1, so that online EM converges
FAMILIES: dict[str, DiagonalFamily | FullFamily] = {
    "full": FullFamily(),
    "tied": FullFamily(tied=True),
    "diagonal": DiagonalFamily(),
    "spherical": DiagonalFamily(spherical=True),
}


class FittedMixture(FittedComponents, ComponentProbabilities, DescribedComponents):
    """Components that are clusters."""

    saved: ClassVar = COMPONENTS | Saved(
        {
            "solution_": Solution,
            "totals_": ComponentTotals,
            "n_rows_": Numbers(float, "not negative"),
            "n_components_": int,
            "converged_": bool,
            "n_iter_": int,
            "lower_bound_": float,
            "log_likelihood_traces_": list[Any],
        },
        {"bic_path_": Array | None, "online_steps_": int, "squared_weight_": float},
    )

    n_components: Any
    max_components: int
    prior: Any
    start: Any
    n_init: int
    tol: float
    max_iter: int
    regularisation: float
    n_features_in_: int
    totals_: ComponentTotals

    @abstractmethod
    def _open(self, X: Any, sample_weight: Any, *, reset: bool = True) -> EncodedRows[Schema]:
        """Check the rows and remember their columns; sets ``family_``."""

    @abstractmethod
    def _alpha(self) -> Any:
        """Pseudo-counts of the families of counts."""

    @abstractmethod
    def _given_start(self, problem: MixtureProblem) -> Components | None:
        """The components that ``start`` describes, if it describes parameters."""

    @naming_columns
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X; y is ignored.  X may be a file (see ``likely.read``)."""
        self._check_arguments()
        self._fit_all(X, sample_weight)
        warn_if_constant(self)
        return self

    @naming_columns
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One step of online EM on a batch of rows.

        The expected statistics, per unit of weight, move towards the batch's by γ:

            γ / (1 − γ) = (b / u) · g / (1 − g)        g = (n / u + 1)^−0.7        u = Σb² / Σb

        with b the batch's weight, n that of all batches before it, and u the weight of a
        typical batch, this one included.  Equal batches have γ = (t + 2)^−0.7 (Cappé &
        Moulines, On-line expectation–maximization algorithm, 2009); a batch of small weight
        has a small effect, and the unit of the weights has none.
        """
        self._check_arguments()
        if self.n_components == "auto":
            raise InvalidInput(
                "partial_fit needs a fixed number of components; n_components is 'auto'. "
                "Give a number, or call fit."
            )
        if vars(self).get("components_") is None:
            with warnings.catch_warnings():
                # one batch need not converge
                warnings.simplefilter("ignore", ConvergenceWarning)
                self._fit_all(X, sample_weight)
            return self
        with unchanged_if_refused(self):
            data = self._open(X, sample_weight, reset=False)
            problem = self._problem(data)
            term = partial(block_expectations, self.family_, self.components_)
            self._move(data.executor.sum(term, data.blocks))
            scale = self.totals_.statistics.without_covariances()
            problem = replace(problem, pooled=replace(self.totals_, statistics=scale))
            self.components_ = problem.maximised(self.totals_, self.n_rows_)
            self.online_steps_ += 1
        return self

    def plot(self, X: Any, ax: Any = None) -> Any:
        """Draw rows of one or two columns with the components; the matplotlib axes.

        One column: a histogram, each π_k p(x | k), and their sum p(x).  Two columns: the rows in
        the colour of their most probable component, and contours of each.
        """
        design = self._encode(X)
        if any(self.schema_.as_codes):
            raise InvalidInput(
                "A picture of a mixture has columns of numbers; X has columns of categories. Fit "
                "and plot one or two columns of numbers."
            )
        return plot_mixture(self, np.asarray(design.stored(), dtype=float), ax)

    def em_steps(self, X: Any, sample_weight: Any = None) -> list[Self]:
        """The mixture at its start and after each step of EM, the last as ``fit`` would leave it.

        Of random starts the one of the highest likelihood is followed.
        """
        self._check_arguments()
        model: Self = clone(self)
        data = model._open(X, sample_weight)
        problem = model._problem(data)
        model.n_rows_ = float(problem.pooled.count.sum())
        start = model._solved(replace(problem, max_iter=0), kept_rows(sample_weight)).components
        n_components, path = len(start.log_mixing), list[Components]()
        problem.solve(
            start, problem.prior(n_components), watch=lambda state: path.append(state.theta)
        )
        steps = [copy(model) for _ in path]
        for k, (step, components) in enumerate(zip(steps, path, strict=True)):
            step.components_, step.n_iter_, step.n_components_ = components, k, n_components
        return steps

    def n_steps(self) -> int | None:
        return int(self.n_iter_)

    def predict(self, X: Any) -> Array:
        """The most probable component of each row."""
        return self.predict_log_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(x) over the rows."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion on X, −2ℓ + p log n; lower is better."""
        scores = self.score_samples(X)
        return bic(float(scores.sum()), self.n_parameters(), len(scores))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on X, −2ℓ + 2p; lower is better."""
        return aic(self.log_likelihood(X), self.n_parameters())

    @property
    def weights_(self) -> Array:
        """π, (n_components,)."""
        return np.exp(self.components_.log_mixing)

    def plate(self) -> Diagram:
        """The plate diagram: the hidden component and the features of each row, and parameters."""
        return component_plate(type(self).__name__, Node("cₙ"), self._plate_parameters())

    def _fit_all(self, X: Any, sample_weight: Any) -> None:
        """EM on all rows; it also starts an online fit."""
        data = self._open(X, sample_weight)
        problem = self._problem(data)
        self.n_rows_ = float(problem.pooled.count.sum())
        self._keep(self._solved(problem, kept_rows(sample_weight)))
        self.online_steps_ = 0
        self.squared_weight_ = self.n_rows_**2

    def _move(self, here: ComponentTotals) -> None:
        """Totals and weights after a batch; the totals represent all rows so far."""
        earlier, weight = self.n_rows_, float(here.count.sum())
        self.n_rows_ = earlier + weight
        self.squared_weight_ += weight**2
        gamma = online_share(earlier, weight, self.squared_weight_ / self.n_rows_)
        moved = self.totals_.scaled((1 - gamma) / self.totals_.count.sum())
        self.totals_ = (moved + here.scaled(gamma / weight)).scaled(self.n_rows_)

    def _problem(self, data: EncodedRows[Schema]) -> MixtureProblem:
        return MixtureProblem(
            self.family_,
            data.blocks,
            data.executor,
            pooled_totals(self.family_, data.blocks, data.executor),
            self._alpha(),
            self.regularisation,
            self.tol,
            self.max_iter,
            mixing_prior=mixing_prior(self.prior),
        )

    def _solved(self, problem: MixtureProblem, kept: Array | None) -> Clusters:
        rng = generator(self.random_state)
        self.bic_path_ = None
        if self.n_components != "auto" and self.start is not None:
            components = self._started(problem, kept)
            return problem.solve(components, problem.prior(int(self.n_components)))
        subset = draw_subset(problem.blocks, problem.family)
        if self.n_components != "auto":
            return fit_clusters(problem, subset, int(self.n_components), self.n_init, rng)
        if self.start is not None:
            raise InvalidInput(
                "start fixes the number of components, and n_components is 'auto'. "
                "Give one of them."
            )
        best, self.bic_path_ = best_by_bic(
            lambda k: fit_clusters(problem, subset, k, self.n_init, rng),
            self.n_rows_,
            min(self.max_components, len(subset.points)),
        )
        return best

    def _started(self, problem: MixtureProblem, kept: Array | None) -> Components:
        """The given start: parameters, a fitted model, labels or soft labels."""
        k = int(self.n_components)
        given = self._given_start(problem)
        if given is None:
            blocks = problem.blocks
            if not isinstance(blocks, ArrayBlocks):
                raise InvalidInput(
                    "start holds labels or soft labels and X is a file; these need rows in "
                    "memory. Give a fitted mixture instead, or no start."
                )
            soft = soft_rows(self.start, k, blocks.n_rows, kept)
            if blocks.weight is not None:
                soft = soft * blocks.weight[:, None]
            given = components_from(problem, blocks.X.stored(), soft, problem.prior(k))
        if len(given.log_mixing) != k:
            raise InvalidInput(
                f"start has {len(given.log_mixing)} components; n_components is {k}. "
                "Make them agree."
            )
        return given

    def _keep(self, found: Clusters) -> None:
        self.components_, self.solution_ = found.components, found.solution
        self.totals_ = found.totals
        self.converged_, self.n_iter_ = found.solution.converged, found.solution.n_iter
        self.lower_bound_ = -found.solution.trace[-1] / self.n_rows_
        self.log_likelihood_traces_ = [list(trace) for trace in found.traces]
        self.n_components_ = len(found.components.log_mixing)
        warn_unless_converged(type(self).__name__, found.solution)
        if found.collapsed:
            warn_collapsed(found.collapsed, self.n_components_, given_start=self.start is not None)
        else:
            warn_if_flat(found.totals.statistics, regularised=self.regularisation > 0)

    def _check_arguments(self) -> None:
        k = self.n_components
        if k != "auto" and (not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1):
            raise InvalidInput(
                f"n_components must be a whole number from 1 up, or 'auto'; found {k!r}. "
                "Use 'auto' to choose by BIC."
            )
        refuse_unless_whole("n_init", self.n_init, lowest=1, advice="Use 5.")
        refuse_unless_whole("max_components", self.max_components, lowest=1, advice="Use 10.")
        check_search(self.tol, self.max_iter)
        refuse_unless_number("regularisation", self.regularisation, lowest=0, advice="Use 1e-6.")


def online_share(earlier: float, weight: float, typical: float) -> float:
    """γ of ``partial_fit``, in (0, 1): 0 for a batch of no weight."""
    g = (earlier / typical + 1) ** -FORGETTING
    odds = weight / typical * g / (1 - g)
    return odds / (1 + odds)


class GaussianMixture(FittedMixture, DensityMixin, Estimator):
    """A mixture of Gaussians, by EM from several starts.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of Gaussians; ``"auto"`` tries 1, 2, … up to
        ``max_components``, until BIC has not decreased for three sizes, and keeps the lowest.
    covariance : {"full", "tied", "diagonal", "spherical"}, default="full"
        One matrix per component, one for all, variances only, or one variance per component.
    prior : "estimate" or Dirichlet, default="estimate"
        The prior of the mixing proportions; ``"estimate"`` is maximum likelihood.
    gaussian_prior : GaussianPrior, default=None
        Pseudo-rows with the mean and the variance of the columns in every component, in addition to
        ``regularisation``.
    start : mapping, array or fitted mixture, default=None
        Where EM begins instead of random starts: a mapping with ``weights`` (K,), ``means``
        (K, d) and ``covariances``, in the shapes of the fitted attributes, whose names
        (``weights_``) and ``mixing``, ``mean``, ``covariance`` do as well; labels (n,) or soft
        labels (n, K) of X; or another GaussianMixture.
    n_init : int, default=5
        Number of random starts.  Each has a short run of EM; the best that does not collapse is
        continued to the end.
    max_components : int, default=10
        Largest number of components that ``n_components="auto"`` tries.
    regularisation : float, default=1e-6
        Strength of the prior on covariances: pseudo-observations with the variance of the data, as
        a fraction of the rows.  0 is maximum likelihood.
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
    means_ : array of shape (n_components, n_features)
    covariances_ : array
        (K, d, d) full, (d, d) tied, (K, d) diagonal, (K,) spherical.
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
    >>> from likely import GaussianMixture
    >>> X = np.array([-2.1, -1.7, -1.3, -0.9, 2.6, 3.1, 3.4, 3.9]).reshape(-1, 1)
    >>> sorted(GaussianMixture(2, random_state=0).fit(X).means_.round(2).ravel().tolist())
    [-1.5, 3.25]
    """

    def __init__(
        self,
        n_components: int | str = 1,
        covariance: str = "full",
        *,
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
        self.covariance = covariance
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

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows, and the component of each."""
        return self._draw(n_samples, random_state)

    @property
    def means_(self) -> Array:
        return self.distribution_.mean

    @property
    def covariances_(self) -> Array:
        if isinstance(self.distribution_, FullGaussian):
            matrices = self.distribution_.covariance
            return matrices[0] if self.covariance == "tied" else matrices
        variance: Array = self.distribution_.variance
        return variance[:, 0] if self.covariance == "spherical" else variance

    def _plate_parameters(self) -> ComponentParameters:
        return gaussian_parameters(self.covariance)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _open(self, X: Any, sample_weight: Any, *, reset: bool = True) -> EncodedRows[Schema]:
        family = lookup("covariance", self.covariance, FAMILIES)
        self.family_ = replace(family, prior=self.gaussian_prior)
        extras = RowExtras(sample_weight)
        given = check_rows(self, X, None, extras, target="none", sparse=False, reset=reset)
        rows = given.as_numbers()
        self.schema_, self.library_ = rows.coding, rows.library
        return rows

    def _alpha(self) -> float:
        return 0.0

    def _given_start(self, problem: MixtureProblem) -> Components | None:
        if isinstance(self.start, GaussianMixture):
            check_fitted_start(self.start, n_features=self.n_features_in_)
            given = self.start.components_
            return Components(given.log_mixing, converted_gaussians(given, self.covariance))
        if isinstance(self.start, Mapping):
            mixing, mean, covariance = described_start(
                self.start, self.covariance, int(self.n_components), self.n_features_in_
            )
            return Components(log_shares(mixing), gaussians(mean, covariance, self.covariance))
        refuse_other_starts(self.start, "a fitted GaussianMixture")
        return None

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return encode_new_rows(self, self.schema_, X, sparse=False).design

    def _decode(self, drawn: Any) -> Any:
        return self.schema_.decode(drawn, np.empty((len(drawn), 0), np.int32), self.library_)


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

    saved: ClassVar = FittedMixture.saved | Saved({"plan_": EventPlan})

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
