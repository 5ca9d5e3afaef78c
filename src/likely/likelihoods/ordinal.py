"""The ordinal response with cumulative links: K ordered classes and one η.

    g(P(Y > j)) = b_j + η,   b_0 > b_1 > … > b_{K−2},   classes 0 … K − 1
    P(Y = k) = G(u) − G(v),   G = g⁻¹,   u = b_{k−1} + η,   v = b_k + η,   b_{−1} = ∞, b_{K−1} = −∞

    nll = −ln(G(u) − G(v))        a = G′(u)/P      c = G′(v)/P      s = d ln G′/dη
    ∂u = ∂b_{y−1} = −a            ∂v = ∂b_y = c    ∂η = ∂u + ∂v     ∂u∂v = −ac
    ∂u∂η = a(a − c − s(u))        ∂v∂η = c(c − a + s(v))

The difference is taken between the two smaller tails and in logs, so that the probability of a
class far out in either tail has full precision.  Free parameters are b_0 and ln(b_{j−1} − b_j).

Second derivatives involve only η and the two thresholds around y, so they cost n, not n·K.
With the logit the two ends separate, and one exponential for each is enough:

    G(u) − G(v) = σ(u) σ(−v) (1 − e^(v−u))        q = 1/(e^(u−v) − 1), of the class alone
    −∂u = σ(−u) + q      ∂v = σ(v) + q      ∂u∂v = −q(1 + q)
    ∂u∂η = σ(u) σ(−u)      ∂v∂η = σ(v) σ(−v)

Where ln G′ is concave (every link here but the cauchit) nll is convex in η and b together.

Any model of ordered classes has survival probabilities γ_j = P(Y > j), which decrease with j:

    P(Y = 0) = 1 − γ_0      P(Y = j) = γ_{j−1} − γ_j      P(Y = K − 1) = γ_{K−2}

K − 1 models that were fitted separately may violate this, and the examples where they do are
reported.

References
----------
McCullagh (1980), Regression models for ordinal data, §2 and §5.
Pratt (1981), Concavity of the log likelihood, JASA 76, 103–106.
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.likelihoods.categorical import check_codes
from likely.links import Logit, UnitLink, log_between, log_ordered_classes, with_ends
from likely.special import exp, expm1, log, log1p
from likely.storage.declarations import InRange


@final
@dataclass(frozen=True, eq=False)
class OrdinalDerivatives:
    """nll of each example and its slopes in η and in the two thresholds around its class."""

    nll: Array  # (n,)
    slope: Array  # ∂nll/∂η, (n,)
    upper: Array  # ∂nll/∂b_{y−1}, (n,); 0 in the first class, which has none above
    lower: Array  # ∂nll/∂b_y, (n,); 0 in the last class


@final
@dataclass(frozen=True, eq=False)
class OrdinalInformation:
    """Expected curvatures of each example in η and the thresholds; tridiagonal in the latter."""

    eta: Array  # (n,)
    cross: Array  # η with b_j, (n, K − 1)
    diagonal: Array  # b_j with b_j, (n, K − 1)
    off_diagonal: Array  # b_j with b_{j+1}, (n, K − 2)


@final
@dataclass(frozen=True)
class Ordinal:
    """y is a class number from 0 to K − 1, in order; larger η means a larger y."""

    saved_rules = (InRange("n_classes", "at least 2"),)

    n_classes: int
    link: UnitLink = field(default_factory=Logit)

    def __post_init__(self) -> None:
        if self.n_classes < 2:
            raise InvalidInput(
                f"An ordinal response needs 2 or more classes; found {self.n_classes}. "
                "Give examples of another class."
            )

    def check(self, y: Codes) -> None:
        check_codes(y, self.n_classes)

    def nll(self, y: Codes, eta: Array, thresholds: Array) -> Array:
        upper, lower = self._ends(y, eta, thresholds)
        return -log_between(self.link, lower, upper)

    def derivatives(self, y: Codes, eta: Array, thresholds: Array) -> OrdinalDerivatives:
        upper, lower = self._ends(y, eta, thresholds)
        log_p = log_between(self.link, lower, upper)
        at_upper = exp(self.link.log_slope(upper) - log_p)
        at_lower = exp(self.link.log_slope(lower) - log_p)
        return OrdinalDerivatives(-log_p, at_lower - at_upper, -at_upper, at_lower)

    def threshold_gradient(self, y: Codes, derivatives: OrdinalDerivatives, weight: Array) -> Array:
        """Σ_i w_i ∂nll_i/∂b, (K − 1,)."""
        above = np.bincount(y, weight * derivatives.upper, minlength=self.n_classes)
        below = np.bincount(y, weight * derivatives.lower, minlength=self.n_classes)
        return above[1:] + below[:-1]

    def information(self, eta: Array, thresholds: Array) -> OrdinalInformation:
        """Σ_k (∂P_k)(∂P_k)ᵀ / P_k; costs n·K."""
        at = with_ends(thresholds) + np.asarray(eta)[:, None]  # (n, K + 1)
        log_root = log_between(self.link, at[:, 1:], at[:, :-1]) / 2
        log_slope = self.link.log_slope(at)
        upper, lower = exp(log_slope[:, :-1] - log_root), exp(log_slope[:, 1:] - log_root)
        change = upper - lower  # ∂P_k/∂η over √P_k
        return OrdinalInformation(
            eta=np.square(change).sum(axis=1),
            cross=change[:, 1:] * upper[:, 1:] - change[:, :-1] * lower[:, :-1],
            diagonal=np.square(upper[:, 1:]) + np.square(lower[:, :-1]),
            off_diagonal=-upper[:, 1:-1] * lower[:, 1:-1],
        )

    def survival(self, eta: Array, thresholds: Array) -> Array:
        """γ_j = P(Y > j), (n, K − 1)."""
        return self.link.inverse(np.asarray(eta)[:, None] + thresholds)

    def log_probability(self, eta: Array, thresholds: Array) -> Array:
        """ln P(Y = k), (n, K)."""
        return log_ordered_classes(self.link, eta, thresholds)

    def probability(self, eta: Array, thresholds: Array) -> Array:
        """P(Y = k), (n, K)."""
        return exp(self.log_probability(eta, thresholds))

    def mean(self, eta: Array, thresholds: Array) -> Array:
        """The expected class number, Σ_k k P(Y = k) = Σ_j γ_j."""
        return self.survival(eta, thresholds).sum(axis=1)

    def sample(self, eta: Array, thresholds: Array, rng: np.random.Generator) -> Codes:
        """One class number per example: the number of its γ above a uniform draw."""
        survival = self.survival(eta, thresholds)
        return (rng.random((len(survival), 1)) < survival).sum(axis=1)

    def thresholds_of_frequencies(self, frequency: Array) -> Array:
        """The b at which η = 0 gives these class frequencies, all above 0: where to start."""
        frequency = np.asarray(frequency, dtype=float)
        if not (frequency > 0).all():
            k = int(np.flatnonzero(~(frequency > 0))[0])
            raise InvalidInput(
                f"Every ordered class needs examples; class {k} has frequency {frequency[k]:g}. "
                "Merge it with a neighbouring class."
            )
        return self.link.link(survival_of_classes(frequency / frequency.sum()))

    def _ends(self, y: Codes, eta: Array, thresholds: Array) -> tuple[Array, Array]:
        padded = with_ends(thresholds)
        return padded[y] + eta, padded[np.add(y, 1)] + eta


def thresholds_of(free: Array) -> Array:
    """b_0 = free_0 and b_j = b_{j−1} − e^(free_j): any real vector gives ordered thresholds."""
    free = np.asarray(free, dtype=float)
    return free[0] - np.concatenate([[0.0], np.cumsum(exp(free[1:]))])


def free_of(thresholds: Array) -> Array:
    """The inverse of ``thresholds_of``."""
    thresholds = np.asarray(thresholds, dtype=float)
    gaps = -np.diff(thresholds)
    if not (gaps > 0).all():
        j = int(np.flatnonzero(~(gaps > 0))[0])
        raise InvalidInput(
            f"Thresholds must decrease; found b_{j} = {thresholds[j]:g} and b_{j + 1} = "
            f"{thresholds[j + 1]:g}. P(Y > j) decreases with j, so order them from large to small."
        )
    return np.concatenate([thresholds[:1], log(gaps)])


def thresholds_jacobian(free: Array) -> Array:
    """∂b_j/∂free_l, (K − 1, K − 1), lower triangular."""
    free = np.asarray(free, dtype=float)
    moves = np.concatenate([[1.0], -exp(free[1:])])
    return np.tril(np.ones((free.size, free.size))) * moves


@final
@dataclass(frozen=True, eq=False)
class OrdinalCurvature:
    """nll of each example and its derivatives in u and v; 0 at an end that is infinite."""

    nll: Array  # (n,)
    upper: Array  # ∂nll/∂u
    lower: Array  # ∂nll/∂v
    upper_eta: Array  # ∂²nll/∂u∂η
    lower_eta: Array  # ∂²nll/∂v∂η
    between: Array  # ∂²nll/∂u∂v

    @property
    def eta(self) -> Array:
        """∂nll/∂η."""
        return self.upper + self.lower

    @property
    def eta_eta(self) -> Array:
        """∂²nll/∂η²."""
        return self.upper_eta + self.lower_eta


def ordinal_curvature(
    likelihood: Ordinal, y: Codes, eta: Array, *, thresholds: Array
) -> OrdinalCurvature:
    """The observed curvature, by the form that the link allows."""
    form = _logit_form if isinstance(likelihood.link, Logit) else _general_form
    return form(likelihood, y, eta, thresholds)


def _logit_form(likelihood: Ordinal, y: Codes, eta: Array, thresholds: Array) -> OrdinalCurvature:
    padded = with_ends(thresholds)
    gap = padded[:-1] - padded[1:]  # u − v of each class, inf for the first and the last
    log_width, q = log(-expm1(-gap)), 1 / expm1(gap)
    u, v = padded[:-1][y] + eta, padded[1:][y] + eta
    at_u, at_v = exp(-np.abs(u)), exp(-np.abs(v))  # at most 1
    below_u = np.where(u >= 0, at_u, 1.0) / (1 + at_u)  # σ(−u)
    above_v = np.where(v >= 0, 1.0, at_v) / (1 + at_v)  # σ(v)
    extra = q[y]
    return OrdinalCurvature(
        nll=log1p(at_u + at_v + at_u * at_v) - np.minimum(u, 0) + np.maximum(v, 0) - log_width[y],
        upper=-below_u - extra,
        lower=above_v + extra,
        upper_eta=at_u / np.square(1 + at_u),
        lower_eta=at_v / np.square(1 + at_v),
        between=-extra * (1 + extra),
    )


def _general_form(likelihood: Ordinal, y: Codes, eta: Array, thresholds: Array) -> OrdinalCurvature:
    found = likelihood.derivatives(y, eta, thresholds)
    padded = with_ends(thresholds)
    a, c = -found.upper, found.lower
    with np.errstate(invalid="ignore"):  # 0 · inf at an infinite end, where a or c is 0
        bend_u = likelihood.link.log_slope_derivative(padded[:-1][y] + eta)
        bend_v = likelihood.link.log_slope_derivative(padded[1:][y] + eta)
        upper_eta = np.where(a > 0, a * (a - c - bend_u), 0.0)
        lower_eta = np.where(c > 0, c * (c - a + bend_v), 0.0)
    return OrdinalCurvature(found.nll, found.upper, found.lower, upper_eta, lower_eta, -a * c)


@final
@dataclass(frozen=True, eq=False)
class SurvivalDifferences:
    """The differences of survival probabilities, and where they are not a distribution."""

    difference: Array  # (n, M); rows sum to 1, entries may be negative
    non_monotone: Array  # the examples whose γ rises somewhere
    largest_rise: float  # max_j γ_j − γ_{j−1} over all examples, or 0

    def probability(self) -> Array:
        """The differences with negative ones set to 0 and their rows normalised to sum to 1."""
        clipped = np.maximum(self.difference, 0.0)
        return clipped / clipped.sum(axis=-1, keepdims=True)


def survival_differences(survival: Array) -> SurvivalDifferences:
    """Classes from γ, shape (n, M − 1) or (M − 1,)."""
    survival = np.asarray(survival, dtype=float)
    ends = (*survival.shape[:-1], 1)
    padded = np.concatenate([np.ones(ends), survival, np.zeros(ends)], axis=-1)
    difference = padded[..., :-1] - padded[..., 1:]
    lowest = difference.min(axis=-1)
    return SurvivalDifferences(
        difference=difference,
        non_monotone=np.flatnonzero(lowest < 0),
        largest_rise=float(max(0.0, -lowest.min(initial=0.0))),
    )


def survival_of_classes(probability: Array) -> Array:
    """γ_j = Σ_{k > j} P(Y = k), summed from the last class, where γ is smallest."""
    probability = np.asarray(probability, dtype=float)
    return np.cumsum(probability[..., ::-1], axis=-1)[..., -2::-1]


def cumulative_of_survival(survival: Array) -> Array:
    """P(Y ≤ j) = 1 − γ_j."""
    return np.subtract(1.0, survival)


def survival_of_cumulative(cumulative: Array) -> Array:
    """γ_j = 1 − P(Y ≤ j)."""
    return np.subtract(1.0, cumulative)
