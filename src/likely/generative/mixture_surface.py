"""What all mixtures share: the fit, except for its family, and the methods of a fitted mixture.

Abstract: ``MixtureModel`` and ``GaussianMixture`` differ in which families they build.
"""

import warnings
from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.data.schema import Schema
from likely.errors import InvalidInput
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
from likely.generative.plots import plot_mixture
from likely.generative.priors import mixing_prior
from likely.generative.starts import draw_subset, kept_rows, soft_rows
from likely.generative.surface import FittedComponents, check_search, warn_if_constant
from likely.graphical.drawing.diagram import Diagram, Node
from likely.graphical.model.model_plates import component_plate
from likely.inputs.estimators import (
    generator,
    naming_columns,
    refuse_unless_number,
    refuse_unless_whole,
    unchanged_if_refused,
    warn_unless_converged,
)
from likely.inputs.rows import EncodedRows
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_expectations,
)

FORGETTING = 0.7  # of g = (t + 2)^−0.7: between ½ and 1, so that online EM converges


class FittedMixture(FittedComponents):
    """Components that are clusters."""

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
        return [model._at(components, k) for k, components in enumerate(path)]

    def _at(self, components: Components, step: int) -> Self:
        """This mixture with other components, after so many steps."""
        there = copy(self)
        there.components_, there.n_iter_ = components, step
        there.n_components_ = len(components.log_mixing)
        return there

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
