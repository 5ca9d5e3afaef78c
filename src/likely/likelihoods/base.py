"""The contracts of a response, and of a likelihood, which is a response and a link.

    Var[y] = ψ V(μ)        deviance(y, μ) = 2 ∫_μ^y (y − t)/V(t) dt
    nll′(η) = −(y − μ)/V(μ) · dμ/dη        E[nll″(η)] = (dμ/dη)²/V(μ)

``nll`` is minus the log-likelihood at dispersion ψ = 1, less terms without η: ½(y − μ)² for
the Gaussian, μ − y ln μ for the Poisson.  ``Response.log_prob`` keeps every term, at any ψ.
An example with weight n, whose y is the mean of n outcomes, has dispersion ψ/n.

A whole number has a mass under every response, so that families of counts and of amounts are
compared on one scale:

    P(y) of a family of counts        P(y − ½ < Y ≤ y + ½) of any other

So has an exact 0 among amounts: P(Y ≤ 0), where other amounts have densities.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.2 and §2.5.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.kinds import TargetKind
from likely.links import LINKS, Link, Power, common_means, valid_etas
from likely.names import check_part, lookup

LINKS_OF_NUMBER = {"power": Power}
SMALLEST_MEAN = 1e-100  # its cube, the smallest variance of any response, is above 0
LEAST_MASS = 1e-300  # a mass below it has lost its digits
LEAST_SHARE = 1e-7  # of a tail: a smaller difference of two has lost half of its digits
NEAREST_TO_END = 1e-8  # where a search starts when the mean of y is at an end, as with all y = 0


class Response(ABC):
    """A family of y given its mean.  Instances are values; y and mean are arrays of one shape."""

    target_kind: ClassVar[TargetKind] = "real"  # what the numbers of a column are, if it suits them
    has_trials: ClassVar[bool] = False  # whether y may be a proportion, with trials for its weight
    exponential_family: ClassVar[bool] = True  # whether ȳ is the likeliest constant, and y itself μ
    shape: ClassVar[str] = ""  # a parameter other than mean and dispersion that a fit may estimate

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def means(self) -> Interval:
        """The valid μ."""

    @property
    @abstractmethod
    def canonical(self) -> str:
        """The default link: the canonical one, or the log where the canonical one is unusual."""

    @property
    @abstractmethod
    def dispersion_is_known(self) -> bool:
        """True when ψ = 1 by definition; False when it is estimated."""

    @property
    def shape_is_known(self) -> bool:
        """False where a parameter other than mean and dispersion is estimated by the fit."""
        return True

    @abstractmethod
    def check(self, y: Array) -> None:
        """Refuse values of y that the family does not have."""

    @abstractmethod
    def variance(self, mean: Array) -> Array:
        """V(μ), the variance at dispersion 1."""

    def within(self, y: Array) -> Array | float:
        """The variance among the outcomes that y is the mean of: 0, if y is one outcome."""
        return 0.0

    @abstractmethod
    def nll(self, y: Array, mean: Array) -> Array:
        """−log p(y | μ) at dispersion 1, less terms without μ."""

    @abstractmethod
    def deviance(self, y: Array, mean: Array) -> Array:
        """Twice the log-likelihood at the best μ minus that at μ, at dispersion 1; per example.

        The best μ is y in an exponential family.
        """

    def slopes(self, y: Array, mean: Array, mean_slope: Array) -> tuple[Array, Array]:
        """nll′ and E[nll″] in η, where dμ/dη is ``mean_slope``."""
        pull = mean_slope / self.variance(mean)
        return (mean - y) * pull, mean_slope * pull

    @abstractmethod
    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ, ψ) with all its terms."""

    def log_mass(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log P(y − ½ < Y ≤ y + ½) of whole numbers y; of a family of counts log P(Y = y).

        It is a difference of tails on the nearer side.  Where that has no digits left, far out or
        where Y varies by millions, the mass is the density times the unit, which is then as good.
        """
        named = self.distribution(mean, dispersion)
        if self.target_kind == "count" or self.has_trials or named is None:
            return self.log_prob(y, mean, dispersion)
        right = np.greater(y, mean)
        near = np.where(right, named.sf(y - 0.5), named.cdf(y + 0.5))
        mass = near - np.where(right, named.sf(y + 0.5), named.cdf(y - 0.5))
        known = (mass > LEAST_MASS) & (mass > LEAST_SHARE * near)
        known |= np.less_equal(y, self.means.low)  # where there may be no density
        inside = np.where(known, np.broadcast_to(mean, np.shape(mass)), y)  # a stand-in, not used
        with np.errstate(divide="ignore"):  # of a value that the family does not have
            log_mass = np.log(np.where(known, mass, 1.0))
        density = self.log_prob(np.where(known, inside, y), mean, dispersion)
        return np.where(known, log_mass, density)

    def log_from_zero(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log P(Y ≤ 0) where y is 0, and log p(y) above, for amounts of which some are exactly 0.

        So no family is scored by a probability at 0 and another by a density: a Gaussian has all
        that it gives to numbers below 0 there, and a change of unit changes all of them alike.
        """
        zero = np.equal(y, 0)
        above = self.log_prob(np.where(zero, 1.0, y), mean, dispersion)
        return np.where(zero, self.log_at_zero(mean, dispersion), above)

    def log_at_zero(self, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log P(Y ≤ 0); −∞ of a continuous family of numbers above 0."""
        if self.target_kind == "count" or self.has_trials:
            return self.log_prob(np.zeros_like(mean), mean, dispersion)
        return np.full(np.shape(mean), -np.inf)

    def or_perfect(
        self,
        log_prob: Callable[[Array | float], Array],
        y: Array,
        mean: Array,
        dispersion: Array | float,
    ) -> Array:
        """log p as a function of ψ; at ψ = 0, of a perfect fit, ∞ where y is μ, −∞ elsewhere."""
        perfect = np.asarray(dispersion) == 0
        if not perfect.any():
            return log_prob(dispersion)
        usual = log_prob(np.where(perfect, 1.0, dispersion))
        at_mean = np.where(self.deviance(y, mean) == 0, np.inf, -np.inf)
        return np.where(perfect, at_mean, usual)

    def weighted_log_prob(
        self, y: Array, mean: Array, weight: Array | None, dispersion: float = 1.0
    ) -> Array:
        """w log p(y | μ, ψ), as for w equal rows; a proportion of w trials is one count."""
        each = self.log_prob(y, mean, dispersion)
        return each if weight is None else weight * each

    @abstractmethod
    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        """One y for each entry of ``mean``."""

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        """SciPy's distribution of y, for quantiles; None where it has none."""
        return None

    def likelihood(self, link: str | Link | None = None) -> "Likelihood":
        """This response and a link, by name or as it is; ``None`` is the response's own link."""
        link = lookup("link", self.canonical if link is None else link, LINKS, LINKS_OF_NUMBER)
        check_part("link", link, Link, LINKS)
        if not fits(self, link):
            raise InvalidInput(
                f"The link {link.name!r} gives means in {_shown(link.means)}; a {self.name} "
                f"response needs them in {_shown(self.means)}. "
                f"Choose one of {', '.join(fitting_links(self))}."
            )
        return self.with_link(link)

    def with_link(self, link: Link) -> "Likelihood":
        """The likelihood of this response and ``link``, in a more stable form if there is one."""
        return Composition(self, link)


@dataclass(frozen=True)
class Likelihood(ABC):
    """p(y | η), as functions of y and η alone.  Each form is a final class."""

    response: Response
    link: Link

    def nll(self, y: Array, eta: Array) -> Array:
        return self.derivatives(y, eta)[0]

    @abstractmethod
    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """nll, its slope in η, and its expected curvature, from one evaluation of the link."""

    def mean(self, eta: Array) -> Array:
        return self.link.inverse(eta)

    @property
    def etas(self) -> Interval:
        """The valid η: those of the link whose means the response can have."""
        return valid_etas(self.link, self.response.means)

    def eta_of_mean(self, mean: Array) -> Array:
        """g(μ); a mean at or beyond an end of its interval is first moved just inside."""
        low, high = common_means(self.link, self.response.means)
        mean = np.where(np.greater(mean, low), mean, low + NEAREST_TO_END)
        mean = np.where(np.less(mean, high), mean, high - NEAREST_TO_END)
        return self.link.link(mean[()])

    def check(self, y: Array) -> None:
        self.response.check(y)

    def sample(
        self, eta: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return self.response.sample(self.mean(eta), rng, dispersion)


@final
@dataclass(frozen=True)
class Composition(Likelihood):
    """The chain rule, for any response and link.  Where η is not valid, nll is inf and flat."""

    def nll(self, y: Array, eta: Array) -> Array:
        valid, eta = self._valid(eta)
        return np.where(valid, self.response.nll(y, self._inside(eta)), np.inf)[()]

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        valid, eta = self._valid(eta)
        mean = self._inside(eta)
        slope, curvature = self.response.slopes(y, mean, self.link.slope(eta))
        return (
            np.where(valid, self.response.nll(y, mean), np.inf)[()],
            np.where(valid, slope, 0.0)[()],
            np.where(valid, curvature, 0.0)[()],
        )

    def _valid(self, eta: Array) -> tuple[Array, Array]:
        """Which η are valid, and η with 1, valid for every link, in place of the others."""
        low, high = self.etas
        valid = (eta > low) & (eta < high)
        return valid, np.where(valid, eta, 1.0)

    def _inside(self, eta: Array) -> Array:
        """μ, kept where V(μ) is neither 0 nor inf if rounding moved it to an end."""
        low, high = self.response.means
        lowest = low + SMALLEST_MEAN if np.isfinite(low) else -1 / SMALLEST_MEAN
        highest = np.nextafter(high, low) if np.isfinite(high) else 1 / SMALLEST_MEAN
        return np.clip(self.link.inverse(eta), lowest, highest)


def refuse(response: Response, y: Array, valid: Array, expected: str, advice: str) -> None:
    """Raise for the first entry of y that is not ``valid``."""
    if valid.all():
        return
    i = int(np.flatnonzero(~np.ravel(valid))[0])
    raise InvalidInput(
        f"A {response.name} response must be {expected}; found {np.ravel(y)[i]:g} "
        f"at example {i}. {advice}"
    )


def fits(response: Response, link: Link) -> bool:
    """Whether every valid η gives a mean that the response can have.

    The identity and the log work for every response: η is kept where its mean is valid.
    """
    inside = response.means.low <= link.means.low and link.means.high <= response.means.high
    return inside or link.in_part


def fitting_links(response: Response) -> list[str]:
    """The names of the links that suit a response."""
    return [name for name, link in LINKS.items() if fits(response, link)]


def _shown(interval: Interval) -> str:
    return f"({interval.low:g}, {interval.high:g})"
