"""What every fitted mixture answers, and how it is fitted but for its family.

Abstract: ``MixtureModel`` and ``GaussianMixture`` differ in which families they build.
"""

import warnings
from abc import abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.errors import CollapsedComponent, InvalidInput
from likely.generative.clusters import (
    Clusters,
    MixtureProblem,
    aic,
    best_by_bic,
    bic,
    components_from,
    fit_clusters,
    n_parameters,
    pooled_totals,
)
from likely.generative.passes import Opened, generator
from likely.generative.starts import draw_subset
from likely.generative.surface import FittedComponents
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_expectations,
)
from likely.special import logsumexp
from likely.validate import warn_unless_converged

FORGETTING = 0.7  # γ_t = (t + 2)^−0.7: between ½ and 1, so that online EM converges


class FittedMixture(FittedComponents):
    """Components that are clusters."""

    n_components: Any
    max_components: int
    start: Any
    n_init: int
    tol: float
    max_iter: int
    regularisation: float
    n_features_in_: int
    totals_: ComponentTotals

    @abstractmethod
    def _open(self, X: Any, sample_weight: Any, *, reset: bool = True) -> Opened:
        """Check the rows and remember their columns; sets ``family_``."""

    @abstractmethod
    def _alpha(self) -> Any:
        """Imagined counts of the families of counts."""

    @abstractmethod
    def _given_start(self, problem: MixtureProblem) -> Components | None:
        """The components that ``start`` describes, if it describes parameters."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X; y is ignored.  X may be a file (see ``likely.read``)."""
        self._check_arguments()
        data = self._open(X, sample_weight)
        problem = self._problem(data)
        self.n_rows_ = float(problem.pooled.count.sum())
        self._keep(self._solved(problem))
        self.online_steps_ = 0
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One step of online EM on a batch of rows.

        The expected statistics move towards the batch's by γ_t = (t + 2)^−0.7 (Cappé &
        Moulines, On-line expectation–maximization algorithm, 2009).
        """
        self._check_arguments()
        if self.n_components == "auto":
            raise InvalidInput(
                "partial_fit needs a fixed number of components; n_components is 'auto'. "
                "Give a number, or call fit."
            )
        if not hasattr(self, "components_"):
            return self._first_batch(X, sample_weight)
        data = self._open(X, sample_weight, reset=False)
        problem = self._problem(data)
        here = self._expected(data)
        weight = float(here.count.sum())
        gamma = (self.online_steps_ + 2.0) ** -FORGETTING
        moved = self.totals_.scaled((1 - gamma) / self.totals_.count.sum())
        moved = moved + here.scaled(gamma / weight)
        self.n_rows_ += weight
        self.totals_ = moved.scaled(self.n_rows_)
        self.components_ = problem.maximised(self.totals_, self.n_rows_)
        self.online_steps_ += 1
        return self

    def predict(self, X: Any) -> Array:
        """The most probable component of each row."""
        return self.predict_log_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row."""
        return logsumexp(self._log_joint(X), axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(x) over the rows."""
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: Any) -> float:
        """Σ_i log p(x_i)."""
        return float(self.score_samples(X).sum())

    def bic(self, X: Any) -> float:
        """Bayes's information criterion on X, −2ℓ + p log n; lower is better."""
        scores = self.score_samples(X)
        return bic(float(scores.sum()), self.n_parameters(), len(scores))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on X, −2ℓ + 2p; lower is better."""
        return aic(self.log_likelihood(X), self.n_parameters())

    def n_parameters(self) -> int:
        """Free parameters, with the K − 1 of the mixing proportions."""
        check_is_fitted(self)
        return n_parameters(self.components_)

    @property
    def mixing_(self) -> Array:
        """π, (n_components,)."""
        return np.exp(self.components_.log_mixing)

    def _problem(self, data: Opened) -> MixtureProblem:
        return MixtureProblem(
            self.family_,
            data.blocks,
            data.executor,
            pooled_totals(self.family_, data.blocks, data.executor),
            self._alpha(),
            self.regularisation,
            self.tol,
            self.max_iter,
        )

    def _solved(self, problem: MixtureProblem) -> Clusters:
        rng = generator(self.random_state)
        self.bic_path_ = None
        if self.n_components != "auto" and self.start is not None:
            components = self._started(problem)
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

    def _started(self, problem: MixtureProblem) -> Components:
        """The start that was asked for: parameters, a fitted model, labels or soft rows."""
        given = self._given_start(problem)
        if given is None:
            rows = np.asarray(self.start)
            blocks = problem.blocks
            if not isinstance(blocks, ArrayBlocks) or len(rows) != blocks.n_rows:
                raise InvalidInput(
                    f"start has {len(rows)} rows and X has {blocks.n_rows}; labels and soft rows "
                    "are one per row of X. Give parameters instead."
                )
            k = int(self.n_components)
            soft = self._soft_rows(rows, k)
            if blocks.weight is not None:
                soft = soft * blocks.weight[:, None]
            given = components_from(problem, blocks.X.stored(), soft, problem.prior(k))
        if len(given.log_mixing) != self.n_components:
            raise InvalidInput(
                f"start has {len(given.log_mixing)} components; n_components is "
                f"{self.n_components}. Make them agree."
            )
        return given

    def _soft_rows(self, rows: Array, k: int) -> Array:
        """Labels 0, …, K − 1 as indicators; soft rows as they are."""
        n_given = int(rows.max()) + 1 if rows.ndim == 1 else rows.shape[1]
        if n_given > k or (rows.ndim == 2 and n_given < k) or rows.min() < 0:
            raise InvalidInput(
                f"start has {n_given} components, or a label below 0; n_components is {k}. "
                "Give labels from 0 to n_components − 1, or one column per component."
            )
        return np.eye(k)[rows] if rows.ndim == 1 else rows.astype(float)

    def _keep(self, found: Clusters) -> None:
        self.components_, self.solution_ = found.components, found.solution
        self.totals_ = found.totals
        self.converged_, self.n_iter_ = found.solution.converged, found.solution.n_iter
        self.lower_bound_ = -found.solution.trace[-1] / self.n_rows_
        self.history_ = [list(trace) for trace in found.traces]
        self.n_components_ = len(found.components.log_mixing)
        warn_unless_converged(self, found.solution)
        if found.collapsed:
            warnings.warn(
                f"Components {', '.join(map(str, found.collapsed))} shrank onto repeated rows in "
                f"every start; a stronger prior holds them open. Ask for fewer than "
                f"{self.n_components_} components, or raise regularisation.",
                CollapsedComponent,
                stacklevel=3,
            )

    def _first_batch(self, X: Any, sample_weight: Any) -> Self:
        """A short fit of the first batch is the start of an online fit."""
        data = self._open(X, sample_weight)
        problem = self._problem(data)
        self.n_rows_ = float(problem.pooled.count.sum())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one batch need not converge
            self._keep(self._solved(problem))
        self.online_steps_ = 0
        return self

    def _expected(self, data: Opened) -> ComponentTotals:
        term = partial(block_expectations, self.family_, self.components_)
        return data.executor.sum(term, data.blocks)

    def _check_arguments(self) -> None:
        k = self.n_components
        if k != "auto" and (not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1):
            raise InvalidInput(
                f"n_components must be a whole number from 1 up, or 'auto'; found {k!r}. "
                "Use 'auto' to choose by BIC."
            )
        if not (isinstance(self.n_init, int | np.integer) and self.n_init >= 1):
            raise InvalidInput(f"n_init must be at least 1; found {self.n_init!r}. Use 5.")
        if self.regularisation < 0:
            raise InvalidInput(
                f"regularisation must be 0 or more; found {self.regularisation}. Use 1e-6."
            )
