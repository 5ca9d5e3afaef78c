"""Additive models of numbers: smooth curves below any response of a GLM.

    E[y | x] = g⁻¹(b + Σ_j f_j(x_j) + Σ_(a,b) f_ab(x_a, x_b) + offset)

Outside the rows of the fit curves tell nothing.  With ``extrapolate="bounded"`` each number is kept
within its range in the fit, a tenth of its width added on either side, and so is the linear
predictor, whose mean is then kept within the range of y: widened likewise where the link is the
identity, and at most the largest y elsewhere (of a log-normal the median is).  A prediction warns
of the rows that this changed (``OutsideFit``), and ``n_bounded`` counts them.

A negative binomial's means are those of a quasi-Poisson fit, whose dispersion is estimated inside
REML, and α is estimated afterwards at these means, by the restricted likelihood, which allows for
the coefficients: the weights of a negative binomial flatten where the mean is large, so that few
rows would steer its tail.

A log-normal whose σ is estimated is a Gaussian model of ln y, with σ²/2 added to its predictor.
"""

from functools import partial
from math import log
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.additive.additive_fit import (
    Wishes,
    block_extremes,
    encoded,
    fit_terms,
    numbers_alone,
    phi_blocks,
)
from likely.additive.fitted_terms import TERMS, FittedTerms
from likely.additive.terms import BEYOND
from likely.compute.executor import Executor
from likely.data.block import Blocks, redesigned
from likely.data.layouts.intercept import Intercept
from likely.data.schema import Schema
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, refuse_against
from likely.fitting.framing import refuse_extreme_responses
from likely.fitting.predictor import OF_LOGARITHMS, estimates_sigma, logarithms
from likely.inputs.estimators import Estimator, columns_named, feature_names, generator
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.inputs.targets import check_offset, check_response, check_weight
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.likelihoods.responses import likelihood_of, response_named
from likely.linear.fit import LinearRows
from likely.linear.glm import GLM
from likely.linear.response_predictions import (
    check_exposure,
    check_interval_of,
    constant_mean,
    mean_within,
    response_interval,
)
from likely.linear.surface import RELATIVE
from likely.links import Link
from likely.numerics.intervals import refuse_level
from likely.objectives.inference import (
    FitStatistics,
    block_log_likelihood,
    fit_statistics,
    gaussian_log_likelihood,
    has_constant_variance,
)
from likely.objectives.overdispersion import (
    alpha_at_means,
    block_excess,
    no_columns,
    restricted_alpha,
)
from likely.output.description import Description
from likely.storage.declarations import Increasing, Numbers, SameCount, Saved

EXTRAPOLATIONS = ("bounded", "linear")
ROUNDING = 1e-9  # of a predictor


class AdditiveModel(FittedTerms, RegressorMixin, Estimator):
    """A generalized additive model (GAM): a smooth curve for each number.

    Each column has a curve whose smoothness the data choose (REML), each category a shrunken
    coefficient, each missing cell one of its own.

    Parameters
    ----------
    response : str or Response, default="gaussian"
        The family of y given x, as in ``GLM``.
    link : str or Link, default=None
        None is the response's default; the log for gamma and inverse Gaussian responses.
    terms : "auto" or mapping, default="auto"
        How columns enter, by name: ``Smooth(k=20)``, ``Smooth(cyclic=24)``, ``"linear"`` or
        ``"category"``.  Others are chosen by the rule: curves, and circles for whole numbers in
        columns that are called hour, month or weekday.
    interactions : int or sequence of pairs, default=0
        How many pairs of columns may be added at most, where the evidence for them is clear, or
        the pairs themselves: ``[("hour", "workingday")]``.
    extrapolate : {"bounded", "linear"}, default="bounded"
        What predictions do beyond the rows of the fit: the linear predictor is kept near its range,
        or every curve goes on as its tangent, with bands that widen.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for ``sample``.

    Attributes
    ----------
    terms_ : AdditiveTerms
        The functions of each column; ``term_names_`` names them.
    edf_ : array
        The effective number of coefficients, one for each function; ``summary()`` adds them up.
    strength_ : array
        λ of each group of functions.
    dispersion_ : float
        φ, estimated for every response but those of 0 and 1; of a log-normal σ², of ln y.
    alpha_, sigma_ : float
        Of a negative binomial and of a log-normal: as in ``GLM``.
    deviance_explained_ : float
        The share of the deviance of the constant that the model explains.
    log_likelihood_, n_counted_ : float
        Of the rows of the fit, and how many parameters ``aic`` and ``bic`` count.
    linear_ : GLM
        The linear model of the functions.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import AdditiveModel
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> model = AdditiveModel().fit(x, np.sin(6 * x[:, 0]))
    >>> model.predict([[0.25], [0.75]]).round(2)
    array([ 1.  , -0.98])
    """

    saved: ClassVar = TERMS | Saved(
        {"linear_": GLM, "eta_range_": Numbers(Array, "not NaN")},
        {"alpha_": Numbers(float, "not negative"), "sigma_": Numbers(float, "not negative")},
        rules=(
            SameCount(2, "eta_range_"),
            Increasing("eta_range_"),
            SameCount("terms_.n_columns", "covariance_.shape.1 - 1"),
        ),
    )

    def __init__(
        self,
        response: str | Response = "gaussian",
        link: str | Link | None = None,
        *,
        terms: Any = "auto",
        interactions: Any = 0,
        extrapolate: str = "bounded",
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.response = response
        self.link = link
        self.terms = terms
        self.interactions = interactions
        self.extrapolate = extrapolate
        self.executor = executor
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Fit to rows X with responses y.

        X is an array, a data frame, or a file (its path, or ``likely.read``); with a frame or a
        file, the other arguments may be names of its columns.
        """
        if self.extrapolate not in EXTRAPOLATIONS:
            raise InvalidInput(
                f"extrapolate={self.extrapolate!r} was given; one of {', '.join(EXTRAPOLATIONS)} "
                "was expected. Use extrapolate='bounded'."
            )
        wanted = self._likelihood()
        check_exposure(wanted.link.name, exposure)
        extras = RowExtras(sample_weight, offset, exposure)
        named = (y, sample_weight, offset, exposure)
        self.beside_ = tuple(name for name in named if isinstance(name, str))
        moved = {"offset": offset, "exposure": exposure}
        self.moved_by_ = tuple(name for name, each in moved.items() if each is not None)
        checked = check_rows(self, X, y, extras, target="number", sparse=False)
        names, wishes = feature_names(self), Wishes(self.terms, self.interactions)
        rows = encoded(checked, wishes, names)
        estimates_alpha = isinstance(wanted.response, NegativeBinomial)
        searched = Poisson().with_link(wanted.link) if estimates_alpha else wanted
        amounts, logged = rows, estimates_sigma(wanted)
        if logged:
            refuse_extreme_responses(rows.blocks)
            searched, rows = OF_LOGARITHMS, rows._replace(blocks=logarithms(rows.blocks))
        linear = GLM(searched.response, searched.link, standard_errors=None, executor=self.executor)
        with columns_named(self):
            found = fit_terms(self, linear, rows, wishes, names, likelihood=searched)
        self._store_terms(found, linear, rows.library)
        if "sigma_" in vars(self):  # of an earlier fit
            del self.sigma_
        if logged:
            self._store_amounts(rows)
        with rows.executor.session():
            blocks = phi_blocks(amounts, found.terms) if logged else found.blocks
            self._store_goodness(wanted, amounts._replace(blocks=blocks), found.given[0])
        return self

    def _likelihood(self) -> Likelihood:
        """The response and the link; the log where the canonical one has no mean everywhere."""
        response = likelihood_of(self.response).response
        usual = response.canonical in ("inverse", "inverse-squared")
        return likelihood_of(self.response, "log" if usual and self.link is None else self.link)

    def _store_amounts(self, logarithms: EncodedRows[Schema]) -> None:
        """The model of y, of that of ln y; the intercept has the variance of σ̂²/2 too."""
        linear = self.linear_.of_amounts(type(self).__name__, logarithms)
        left = max(self.n_rows_ - float(self.edf_.sum()) - 1, 1.0)
        self.sigma_ = linear.sigma_
        self.covariance_[0, -1, -1] += self.sigma_**4 / (2 * left)

    def _store_goodness(
        self, wanted: Likelihood, rows: EncodedRows[Schema], given_strengths: Array
    ) -> None:
        """α at the means of the fit, the range of the predictor, and how well rows are fitted.

        With α the covariance is that of counts whose variance is μ + αμ²: V + V(B/φ² − H/φ)V.
        """
        blocks, executor, linear = rows.blocks, rows.executor, self.linear_
        theta = np.append(linear.coef_, linear.intercept_)
        framed = redesigned(blocks, Intercept, blocks.n_features + 1)
        if "alpha_" in vars(self):  # of an earlier fit
            del self.alpha_
        if isinstance(wanted.response, NegativeBinomial):
            given = wanted.response.alpha
            if isinstance(given, str):
                given = alpha_at_means(linear.likelihood_, theta, framed, executor)
                given = self._restricted_alpha(given, theta, framed, executor)
                self.n_counted_ += 1
            self.alpha_ = linear.count_alpha_ = float(given)
            if self.alpha_ > 0:
                term = partial(block_excess, linear.likelihood_, self.alpha_, self.dispersion_)
                excess = np.asarray(executor.sum(partial(term, theta), framed).value)
                moved = np.eye(len(theta))
                moved[:-1, -1] = -self.centre_
                V = given_strengths @ moved
                self.covariance_[0] += V @ excess @ V.T
                linear.likelihood_ = NegativeBinomial(self.alpha_).with_link(wanted.link)
        elif "count_alpha_" in vars(linear):
            given = linear.count_alpha_
            linear.count_alpha_ = self._restricted_alpha(given, theta, framed, executor)
        likelihood = linear.likelihood_
        extremes = executor.sum(partial(block_extremes, linear), blocks)
        low, high = extremes.low, extremes.high
        beyond = BEYOND * (high - low)
        if likelihood.link.name == "identity":
            wider = BEYOND * (extremes.most - extremes.least)
            ends = extremes.least - wider, extremes.most + wider
        else:  # a smallest mean that is 0 has no finite predictor
            most = float(likelihood.eta_of_mean(np.asarray(extremes.most)))
            if isinstance(likelihood.response, LogNormal):  # of medians: a mean may be far above
                most += likelihood.response.log_variance / 2
            rising = float(likelihood.mean(np.asarray(1.0))) > float(
                likelihood.mean(np.asarray(0.5))
            )
            ends = (-np.inf, most) if rising else (most, np.inf)
        bounds = max(low - beyond, ends[0]), min(high + beyond, ends[1])
        self.eta_range_ = np.array([min(bounds), max(bounds)])
        here = fit_statistics(likelihood, theta, framed, executor)
        self._store_likelihood(here, theta, framed, executor)
        if likelihood.link.name != "identity" and extremes.least == extremes.most == 0.0:
            self.deviance_explained_ = float("nan")  # no constant has a finite predictor
            return
        constant = GLM(likelihood.response, likelihood.link, standard_errors=None)
        constant.fit_opened(without_columns_of(rows))
        null_theta = np.array([constant.intercept_])
        none = redesigned(redesigned(blocks, no_columns, 0), Intercept, 1)
        null = fit_statistics(likelihood, null_theta, none, executor)
        explained = 1 - here.deviance / null.deviance if null.deviance > 0 else float("nan")
        self.deviance_explained_ = float(explained)

    def _restricted_alpha(
        self, alpha: float, theta: Array, framed: Blocks, executor: Executor
    ) -> float:
        """α of the restricted likelihood, from that of maximum likelihood; 0 stays 0."""
        if not alpha > 0:
            return alpha
        ridge = np.append(self.strength_[self.terms_.group_of_column] / self.dispersion_, 0.0)
        likelihood = self.linear_.likelihood_
        return restricted_alpha(likelihood, theta, ridge, alpha, framed, executor)

    def _store_likelihood(
        self, here: FitStatistics, theta: Array, framed: Blocks, executor: Executor
    ) -> None:
        """ℓ at φ̂; at its maximum over φ of a Gaussian, and of a log-normal that of ln y."""
        likelihood, found = self.linear_.likelihood_, here.log_likelihood
        if "sigma_" in vars(self):
            square = here.deviance / here.n  # in units of σ̂²
            found += here.n / 2 * (square - 1 - log(square)) if square > 0 else np.inf
        elif has_constant_variance(likelihood):
            found = gaussian_log_likelihood(here.n, here.deviance)
        elif not likelihood.response.dispersion_is_known:
            term = partial(block_log_likelihood, likelihood, theta, self.dispersion_)
            found = float(executor.sum(term, framed).value)
        self.log_likelihood_ = float(found)

    # Answers.

    def offset_link(self) -> str:
        """The name of the link on whose scale an offset is added."""
        check_is_fitted(self)
        return str(self.linear_.offset_link())

    def linear_predictor(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """η of each row, within its range unless ``extrapolate="linear"``."""
        X, offset, exposure = own_columns(X, offset, exposure)
        check_is_fitted(self)
        check_exposure(self.linear_.likelihood_.link.name, exposure)
        eta, far = self._eta(X)
        bounded = self._bounded(eta)
        if self._extrapolates_bounded:
            self._note_bounded(far, moved(eta, bounded))
        return bounded + check_offset(offset, exposure, n_rows=len(eta))

    def _eta(self, X: Any) -> tuple[Array, Array]:
        """η of each row, and which of its numbers are far from those of the fit."""
        coef, intercept = self.linear_.coef_, float(self.linear_.intercept_)
        found = [(part.phi @ coef + intercept, part.far) for part in self._pieces(X)]
        eta, far = zip(*found, strict=True)
        return np.concatenate(eta), np.concatenate(far)

    def _bounded(self, eta: Array) -> Array:
        return np.clip(eta, *self.eta_range_) if self._extrapolates_bounded else eta

    @property
    def _extrapolates_bounded(self) -> bool:
        return self.extrapolate == "bounded"

    def n_bounded(self, X: Any) -> int:
        """How many rows are so far outside the fit that their prediction is bounded."""
        eta, far = self._eta(X)
        return int(np.sum(far.any(axis=1) | moved(eta, np.clip(eta, *self.eta_range_))))

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """E[y | x] of each row."""
        eta = self.linear_predictor(X, offset=offset, exposure=exposure)
        return mean_within(self.linear_.likelihood_, eta)

    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        exposure: Any = None,
        of: str = "auto",
    ) -> Array:
        """An interval of each row, (n, 2): for a new response, or for its mean (``of="mean"``)."""
        X, offset, exposure = own_columns(X, offset, exposure)
        check_is_fitted(self)
        refuse_level(level)
        link, response = self.linear_.likelihood_.link, self.linear_.response_of_new()
        likelihood = response.with_link(link)
        wanted = check_interval_of(of, numbers=not response.has_trials)
        eta = self.linear_predictor(X, offset=offset, exposure=exposure)
        spread = self._errors(X)
        if wanted == "mean":
            reach = float(ndtri((1 + level) / 2)) * spread
            ends = np.sort([likelihood.mean(eta - reach), likelihood.mean(eta + reach)], axis=0)
            return np.clip(ends.T, *likelihood.response.means)
        return response_interval(likelihood, self._density_dispersion(), eta, spread, level)

    def predict_distribution(
        self, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> PredictiveDistribution:
        """The distribution of y given each row: the response around its mean.

        Its coefficients are treated as known, also those of categories that the fit did not have.
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        response = self.linear_.response_of_new()
        return PredictiveDistribution(response, mean, self._density_dispersion())

    def predictive_family(self) -> PredictiveFamily | None:
        """The response, with the dispersion of the fit."""
        check_is_fitted(self)
        link = self.linear_.likelihood_.link.name
        return PredictiveFamily.of(self.linear_.response_of_new(), self._density_dispersion(), link)

    def _density_dispersion(self) -> float:
        """ψ of p(y | x): 1 where the family fixes it."""
        known = self.linear_.likelihood_.response.dispersion_is_known
        return 1.0 if known else float(self.linear_.dispersion_)

    def deviance(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Twice the log-likelihood of the saturated model minus that of the model."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        each = self.linear_.likelihood_.response.deviance(y, mean)
        return float(self.linear_.deviance_unit * np.dot(weight, each))

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """log p(y_i | x_i) of each row, with all its terms.

        Categories that the fit did not have vary as those that it had.
        """
        y, mean, _ = self._with_means(X, y, None, offset, exposure)
        response = self.linear_.likelihood_.response
        found = response.log_prob(y, mean, self._density_dispersion())
        return self._with_new(X, np.asarray(found), y, mean)

    def _with_new(self, X: object, found: Array, y: Array, mean: Array) -> Array:
        """Log-densities, with those of rows whose categories the fit did not have in place."""
        spread, likelihood = self.new_spread(X), self.linear_.likelihood_
        new = spread > 0
        psi, link = self._density_dispersion(), likelihood.link.name
        family = PredictiveFamily.of(likelihood.response, psi, link)
        if family is not None and new.any():
            found = found.copy()
            found[new] = family.log_density(y[new], mean[new], spread[new], counts=False)
        return found

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Σ w_i log p(y_i | x_i), with all its terms."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        response = self.linear_.likelihood_.response
        each = response.weighted_log_prob(y, mean, weight, self._density_dispersion())
        alone = self._with_new(X, np.full(len(y), np.nan), y, mean)
        return float(np.where(np.isnan(alone), each, weight * alone).sum())

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """D², the share of the constant's deviance that is explained; R² for a Gaussian."""
        offset, exposure = own_columns(X, offset, exposure)[1:]
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        offsets = check_offset(offset, exposure, n_rows=len(y))
        likelihood = self.linear_.likelihood_
        constant = constant_mean(likelihood, y, weight, offsets)
        left = float(np.dot(weight, likelihood.response.deviance(y, mean)))
        null = float(np.dot(weight, likelihood.response.deviance(y, constant)))
        return 1 - left / null if null > 0 else float("nan")

    def sample(
        self, X: Any, random_state: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Array:
        """One y for each row, drawn from the fitted model."""
        mean = self.predict(X, offset=offset, exposure=exposure)
        rng = generator(self.random_state if random_state is None else random_state)
        return self.linear_.likelihood_.response.sample(mean, rng, self._density_dispersion())

    def check_k(
        self,
        X: object,
        y: object,
        *,
        offset: object = None,
        exposure: object = None,
        random_state: object = 0,
    ) -> Description:
        """Whether each number has enough functions, by the order of the deviance residuals."""
        y, mean, _ = self._with_means(X, y, None, offset, exposure)
        each = np.maximum(self.linear_.likelihood_.response.deviance(y, mean), 0.0)
        residuals = np.sign(y - mean) * np.sqrt(each)
        return self._checked(X, residuals[:, None], random_state)

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each term adds to the linear predictor of each row, without its offset.

        Relative to the mean of the training rows; a pair of columns is a term of its own.  Before
        the predictor is bounded.
        """
        check_is_fitted(self)
        link = self.linear_.likelihood_.link.name
        quantity = "prediction" if link == "identity" else f"linear predictor ({link} link)"
        refuse_against(against, quantity)
        return Explanation(
            self.contributions(X),
            self._base(),
            np.array(["coef"], dtype=object),
            self.term_names_,
            quantity=quantity,
            notes=(RELATIVE,),
        )

    def _with_means(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> tuple[Array, Array, Array]:
        """The responses, checked; their predicted means; and their weights."""
        refuse_without_offset(self, offset=offset, exposure=exposure)
        mean = self.predict(X, offset=offset, exposure=exposure)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        y = check_response(y, n_rows=len(mean), estimator=self)
        self.linear_.likelihood_.check(y)
        weight = check_weight(sample_weight, n_rows=len(mean))
        return y, mean, np.ones(len(mean)) if weight is None else weight

    def _described(self) -> str:
        likelihood = self.linear_.likelihood_
        return f"{likelihood.response.name} response, {likelihood.link.name} link"

    @property
    def _estimates_dispersion(self) -> bool:
        return not self.linear_.likelihood_.response.has_trials

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        try:
            low = response_named(self.response).means.low
        except InvalidInput:  # fit says so
            low = -np.inf
        tags.target_tags.positive_only = low >= 0
        return tags


def moved(eta: Array, bounded: Array) -> Array:
    """Which predictors were moved, by more than rounding."""
    return np.asarray(np.abs(eta - bounded) > ROUNDING * (1 + np.abs(bounded)))


def without_columns_of(rows: EncodedRows[Schema]) -> LinearRows:
    """The same rows for a model of the intercept alone."""
    blocks = redesigned(rows.blocks, no_columns, 0)
    return EncodedRows(blocks, numbers_alone(0), rows.classes, rows.executor, None)
