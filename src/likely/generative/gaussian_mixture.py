"""Mixtures of Gaussians: soft clusters, and a density estimate.

    p(x) = Σ_k π_k N(x; m_k, Σ_k)

References
----------
Bishop, Pattern Recognition and Machine Learning, §9.2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.layouts.intercept import Design
from likely.data.schema import Schema
from likely.distributions import (
    DiagonalFamily,
    DiagonalGaussian,
    Dirichlet,
    FullFamily,
    FullGaussian,
    GaussianPrior,
)
from likely.errors import InvalidInput
from likely.generative.clusters import MixtureProblem
from likely.generative.mixture_surface import FittedMixture
from likely.generative.starts import check_fitted_start, given_array, refuse_other_starts
from likely.graphical.model.model_plates import ComponentParameters, gaussian_parameters
from likely.inputs.parameters import Estimator
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, encode_new_rows
from likely.names import lookup
from likely.objectives.components import Components, log_shares

FAMILIES: dict[str, DiagonalFamily | FullFamily] = {
    "full": FullFamily(),
    "tied": FullFamily(tied=True),
    "diagonal": DiagonalFamily(),
    "spherical": DiagonalFamily(spherical=True),
}
STARTS = (  # entries of a mapping, by the names of the fitted attributes and of the formula
    ("weights", ("weights", "weights_", "mixing")),
    ("means", ("means", "means_", "mean")),
    ("covariances", ("covariances", "covariances_", "covariance")),
)


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
            return Components(given.log_mixing, self._converted(given))
        if isinstance(self.start, Mapping):
            mixing, mean, covariance = self._described(self.start)
            return Components(log_shares(mixing), self._member(mean, covariance))
        refuse_other_starts(self.start, "a fitted GaussianMixture")
        return None

    def _converted(self, given: Components) -> FullGaussian | DiagonalGaussian:
        """The Gaussians of another kind of covariance, converted to this kind."""
        mean: Array = given.distribution.mean  # type: ignore[attr-defined]  # it is Gaussian
        matrices: Array = given.distribution.covariance  # type: ignore[attr-defined]
        k, d = mean.shape
        matrices = np.broadcast_to(matrices, (k, d, d))
        if self.covariance == "full":
            return FullGaussian(mean, matrices.copy())
        if self.covariance == "tied":
            share = np.exp(given.log_mixing)
            return FullGaussian(mean, np.average(matrices, axis=0, weights=share)[None])
        variance = np.diagonal(matrices, axis1=1, axis2=2)
        return self._member(
            mean, variance.mean(axis=1) if self.covariance == "spherical" else variance
        )

    def _described(self, start: Mapping[str, Any]) -> tuple[Array, Array, Array]:
        """Mixing (K,), mean (K, d) and covariance of a mapping, checked."""
        names = {name: next((key for key in keys if key in start), None) for name, keys in STARTS}
        missing = [name for name, key in names.items() if key is None]
        if missing:
            raise InvalidInput(
                f"start lacks {', '.join(missing)}; it needs weights, means and covariances. "
                "Give all three, or labels of the rows."
            )
        k, d = int(self.n_components), self.n_features_in_
        shapes = {
            "full": (k, d, d),
            "tied": (d, d),
            "diagonal": (k, d),
            "spherical": (k,),
        }
        variances = self.covariance in ("diagonal", "spherical")
        return (
            given_array(start, str(names["weights"]), (k,), positive=True),
            given_array(start, str(names["means"]), (k, d)),
            given_array(
                start, str(names["covariances"]), shapes[self.covariance], positive=variances
            ),
        )

    def _member(self, mean: Array, covariance: Array) -> FullGaussian | DiagonalGaussian:
        if self.covariance in ("full", "tied"):
            d = mean.shape[1]
            return FullGaussian.from_covariance(mean, covariance.reshape(-1, d, d))
        spherical = self.covariance == "spherical"
        variance = covariance[:, None] if spherical else covariance
        return DiagonalGaussian(mean, np.broadcast_to(variance, mean.shape).copy(), spherical)

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return encode_new_rows(self, self.schema_, X, sparse=False).design

    def _decode(self, drawn: Any) -> Any:
        return self.schema_.decode(drawn, np.empty((len(drawn), 0), np.int32), self.library_)
