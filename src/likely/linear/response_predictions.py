"""Means of a new response, and intervals: quantiles of y with the uncertainty of its mean.

    P(Y ≤ y | x) = ∫ F(y | g⁻¹(η)) N(η; η̂, se²) dη        se² = xᵀCx

F is the distribution of the response at the estimated dispersion (and α), which are treated as
known.  The integral is a sum over nodes: Gauss and Hermite's where y varies more than its mean is
uncertain, else equally spaced ones, because F is then nearly a step.  The quantile is searched for
between those of the smallest and the largest mean, for counts among whole numbers.  Counts have at
least the level asked for, because no quantile splits a count.

References
----------
Gelman et al., Bayesian Data Analysis, 3rd ed., §4.1 (the normal approximation to the posterior) and
§14.3 (predictive distributions).
"""

from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from likely._typing import Array
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, redesigned
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput, NarrowIntervals, OutsideLink, warn_user
from likely.fitting.goodness import GoodnessOfFit
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.quantile_search import search_quantiles, search_whole_quantiles
from likely.likelihoods.tweedie import Tweedie
from likely.links import Identity, mean_or_end, outside
from likely.objectives.linear import LinearObjective
from likely.output.formatting import count, short_number
from likely.penalties.base import NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

OVERDISPERSED = 1.5  # Pearson χ²/df above which intervals for counts are clearly too narrow
HERMITE = 9  # nodes where y varies more than its mean is uncertain
REACH, SPACING = 6.0, 0.05  # equally spaced nodes, in standard errors
ROWS = 1000  # at once
SHARP = 16 * np.finfo(float).eps  # of the mean: y varies by rounding only, and is the mean
FAR = 40.0  # standard deviations: no share of a double is beyond
BEYOND = 1e300  # a mean of which nothing is known
CONSTANT_TOL = 1e-14  # one parameter: exact costs one more step
LARGEST = 1e12  # beyond, whole numbers of doubles are far apart, and quantiles are of reals


def check_exposure(link: str, exposure: object) -> None:
    if exposure is not None and link != "log":
        raise InvalidInput(
            f"exposure multiplies a mean, which only the log link turns into an offset; the link "
            f"is {link!r}. Use link='log', or give an offset."
        )


def mean_within(likelihood: Likelihood, eta: Array) -> Array:
    """E[y | η]; 0 or 1, or nan where y has no such ends, where η is invalid, with a warning."""
    means = likelihood.response.means
    warn_outside(likelihood, eta, f"its mean is {'taken as 0 or 1' if means.high == 1 else 'nan'}")
    return mean_or_end(likelihood.link, means, eta)


def constant_mean(
    likelihood: Likelihood,
    y: Array,
    weight: Array,
    offset: Array | float = 0.0,
    *,
    intercept: bool = True,
) -> Array:
    """E[y] of each row under the constant model, g(μ_i) = b + o_i; without an intercept b is 0.

    b is that of maximum likelihood; without offsets μ_i = ȳ in an exponential family.
    """
    if not intercept:
        return likelihood.mean(np.broadcast_to(offset, y.shape))
    mean = np.dot(weight, y) / weight.sum()
    if not np.any(offset) and likelihood.response.exponential_family:
        return np.full(len(y), mean)
    offsets = np.broadcast_to(np.asarray(offset, dtype=float), y.shape)
    rows = ArrayBlocks(Dense(np.empty((len(y), 0))), y, weight, offsets)
    blocks = redesigned(rows, Intercept, 1)
    unit = float(np.dot(weight, likelihood.response.deviance(y, np.full(len(y), mean)))) or None
    objective = LinearObjective(likelihood, NoPenalty(), blocks, Serial(), unit)
    start = np.atleast_1d(likelihood.eta_of_mean(np.asarray(mean)) - offsets.mean())
    found = minimise(Newton(), objective, start, tol=CONSTANT_TOL)
    return likelihood.mean(float(found.theta[0]) + offsets)


def warn_outside(likelihood: Likelihood, eta: Array, then: str) -> None:
    """Warn of predictors that have no valid mean."""
    low, high = likelihood.etas
    beyond = outside(likelihood.etas, eta)
    if beyond.any():
        row = int(beyond.argmax())
        everywhere = "logit" if likelihood.response.means.high == 1 else "log"
        valid = f"below {high:g}" if low == -np.inf else f"above {low:g}"
        valid = valid if np.inf in (-low, high) else f"between {low:g} and {high:g}"
        warn_user(
            f"The linear predictor of row {row} is {eta[row]:.3g}; the link "
            f"{likelihood.link.name!r} of a {likelihood.response.name} response needs it {valid}, "
            f"so {then}, for {count(int(beyond.sum()), 'row')}. "
            f"Use the {everywhere} link, which has a mean everywhere.",
            OutsideLink,
        )


def check_interval_of(of: str, *, numbers: bool = True) -> str:
    """What an interval is for, the mean or y; by default y, and the mean where y is 0 or 1."""
    if of not in ("auto", "mean", "y"):
        raise InvalidInput(
            f"of={of!r} was given; 'mean' or 'y' was expected, or 'auto'. Use of='mean'."
        )
    if of == "auto":
        return "y" if numbers else "mean"
    return of


def refuse_zero_or_one(response: str) -> NoReturn:
    """Refuse an interval for y of a response of two values."""
    raise InvalidInput(
        f"An interval for y was asked of a {response} response, which is 0 or 1; an interval for "
        "numbers was expected. Ask for of='mean', the interval of its probability."
    )


def refuse_quasi(response: str, dispersion: float) -> NoReturn:
    """Refuse an interval for y of a quasi-likelihood, which is no distribution."""
    raise InvalidInput(
        "An interval for y was asked of a fit with standard_errors='quasi', whose variance is "
        f"{dispersion:.3g} times that of a {response} response: there is no distribution with this "
        "variance to take quantiles of. Use response='negative-binomial' for overdispersed counts, "
        "or of='mean'."
    )


def student_interval(
    mean: Array, mean_se: Array, dispersion: float | Array, df: float, level: float
) -> Array:
    """μ̂ ± t √(se² + ψ) of a Gaussian response, exact for least squares: (n, 2)."""
    reach = stdtrit(df, (1 + level) / 2) * np.hypot(mean_se, np.sqrt(dispersion))
    return np.column_stack([mean - reach, mean + reach])


def interval_of_amounts(eta: Array, spread: Array, sigma: float, df: float, level: float) -> Array:
    """The interval of a new y, (n, 2), exact for least squares on ln y."""
    known = np.maximum(np.square(spread) - sigma**4 / (2 * df), 0.0)  # the error of E[ln y]
    ends = student_interval(eta - sigma**2 / 2, np.sqrt(known), sigma**2, df, level)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(ends))


def warn_of_narrow(fit: GoodnessOfFit) -> None:
    """Warn where counts vary clearly more than their family says."""
    known = fit.response == "negative-binomial" or fit.alpha is not None
    if not known and fit.is_overdispersed(OVERDISPERSED):
        warn_user(
            f"Pearson χ²/df is {short_number(fit.pearson_dispersion)}: the responses vary more "
            f"than those of a {fit.response}, so intervals for y are too narrow. Use "
            "response='negative-binomial' for counts (the model negative-binomial).",
            NarrowIntervals,
        )


class _Nodes(NamedTuple):
    """Points of a standard normal, and their weights."""

    z: Array
    weight: Array


def response_interval(
    likelihood: Likelihood, dispersion: float, eta: Array, eta_se: Array, level: float
) -> Array:
    """The quantiles of y that leave out the same share on either side, (n, 2); nan without one.

    Rows with the same predictor and error, as of tables of categories, have the same.
    """
    if likelihood.response.has_trials:
        refuse_zero_or_one(likelihood.response.name)
    warn_outside(likelihood, eta, "its interval is nan")
    out = np.full((len(eta), 2), np.nan)
    known = _have_means(likelihood, eta) & np.isfinite(eta_se)
    both = np.stack([eta[known], eta_se[known]])
    (etas, errors), place = np.unique(both, axis=1, return_inverse=True)
    found = [
        _quantiles(likelihood, dispersion, etas[i : i + ROWS], errors[i : i + ROWS], level)
        for i in range(0, len(etas), ROWS)
    ]
    out[known] = np.concatenate([np.zeros((0, 2)), *found])[place]
    return out


def _have_means(likelihood: Likelihood, eta: Array) -> Array:
    low, high = likelihood.etas
    return np.isfinite(eta) & (eta > low) & (eta < high)


@np.errstate(over="ignore")  # means and variances of any size
def _quantiles(
    likelihood: Likelihood, dispersion: float, eta: Array, se: Array, level: float
) -> Array:
    """Both quantiles, for rows with a valid mean."""
    response, mean = likelihood.response, likelihood.mean(eta)
    if isinstance(response, Gaussian) and isinstance(likelihood.link, Identity):
        reach = ndtri((1 + level) / 2) * np.hypot(se, np.sqrt(dispersion))  # y is Gaussian, too
        return np.column_stack([mean - reach, mean + reach])
    if isinstance(response, Tweedie):
        response = response.member  # of power 1: counts
    noise = np.sqrt(dispersion * response.variance(mean))
    unknown = np.abs(likelihood.link.slope(eta)) * se
    sharp = np.maximum(noise, unknown) <= SHARP * np.abs(mean)
    wide, out = unknown > noise, np.column_stack([mean, mean])
    for rows, nodes in ((wide & ~sharp, _spaced()), (~wide & ~sharp, _hermite())):
        if rows.any():
            predictor = eta[rows, None] + se[rows, None] * nodes.z
            means = likelihood.mean(np.clip(predictor, *_inside(likelihood)))
            low, high = response.means
            means = np.clip(means, np.nextafter(low, high), np.nextafter(high, low))
            mixture = response.distribution(means, dispersion)
            extremes = np.column_stack([means.min(axis=1), means.max(axis=1)])
            ends = _Ends(response, extremes, dispersion)
            tail, counts = (1 - level) / 2, response.target_kind == "count"
            for side, share in enumerate((tail, 1 - tail)):
                found = _quantile(ends, mixture, nodes.weight, share, counts=counts)
                out[rows, side] = found
    return out


class _Ends(NamedTuple):
    """The distributions at the smallest and the largest mean of each row."""

    response: Response
    means: Array  # (n, 2)
    dispersion: float

    def quantiles(self, share: float) -> tuple[Array, Array]:
        """Theirs; SciPy has none of very large counts, whose mean and spread are enough."""
        huge = (self.means > LARGEST) & (self.response.target_kind == "count")
        mixture = self.response.distribution(np.where(huge, LARGEST, self.means), self.dispersion)
        found = np.where(huge, np.nan, mixture.ppf(share))  # it may not end
        spread = np.sqrt(self.dispersion * self.response.variance(self.means))
        beyond = self.means + FAR * spread * np.array([-1.0, 1.0])
        low, high = np.where(np.isfinite(found), found, beyond).T
        return np.maximum(low, self.response.means.low), high


def _quantile(ends: _Ends, mixture: Any, weight: Array, share: float, *, counts: bool) -> Array:
    """The least y with Σ weight F(y) ≥ share, of each row.

    Larger means have larger quantiles, so that it lies between those of the ends.
    """
    low, high = ends.quantiles(share)

    def cdf(y: Array) -> Array:
        return np.asarray(mixture.cdf(y[:, None]) @ weight)

    if counts and (np.abs(high) < LARGEST).all():
        return search_whole_quantiles(cdf, share, low - 1, high)
    found = search_quantiles(cdf, share, low, high)
    found = np.where(found > BEYOND, np.inf, found)
    return np.floor(found) if counts else found


def _hermite() -> _Nodes:
    z, weight = np.polynomial.hermite_e.hermegauss(HERMITE)
    return _Nodes(z, weight / weight.sum())


def _spaced() -> _Nodes:
    z = np.arange(-REACH, REACH + SPACING / 2, SPACING)
    weight = ndtr(z + SPACING / 2) - ndtr(z - SPACING / 2)
    return _Nodes(z, weight / weight.sum())


def _inside(likelihood: Likelihood) -> tuple[float, float]:
    """The valid η, just inside its ends."""
    low, high = likelihood.etas
    return float(np.nextafter(low, high)), float(np.nextafter(high, low))
