"""Any one-dimensional exponential family, from its statistic, base measure and log-partition.

    p(x | ω) = h(x) exp{ ωᵀT(x) − A(ω) }        ∇A(ω) = E[T]        ∇²A(ω) = Cov[T]

Fitting matches moments: the mean of T over the data is E[T] at the maximum of the
likelihood.  With a shared base measure the log-odds of two components are linear in T(x):

    log p(x|1)/p(x|0) = (ω₁ − ω₀)ᵀT(x) − A(ω₁) + A(ω₀)

Where T(x) = (x, x²), the difference of the two moments cancels far from 0.  Sums and densities are
therefore those of x − c, with c near the mean of the component; ω stays that of x:

    ωᵀT(x) − A(ω) = ω'ᵀT(x − c) − A(ω')        ω' = (ω₁ + 2cω₂, ω₂)

To add a family, make one ``ExponentialFamily`` and list it in ``EXPONENTIAL_FAMILIES``.

References
----------
Wainwright & Jordan, Graphical Models, Exponential Families, and Variational Inference, §3.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.distributions.base import Distribution, LinearForm, Statistics, refuse_values
from likely.distributions.gaussian import diagonal_moments
from likely.distributions.parameters import numbers, refuse_parameters
from likely.distributions.responsibility import Responsibility, observed_sums
from likely.errors import InvalidInput
from likely.numerics.cholesky import ROUNDING
from likely.special import expit, lgamma, log_softmax, logit, logsumexp


@final
@dataclass(frozen=True, eq=False)
class MomentStatistics(Statistics):
    """Σ_i r_ik T(x_ij − c_kj) and Σ_i r_ik over the observed cells."""

    saved_before: ClassVar = {"origin": 0.0}  # what files of earlier versions lack

    sums: Array  # (n_components, n_features, n_terms)
    weight: Array  # (n_components, n_features)
    origin: Array | float = 0.0  # c, (n_components, n_features): the means where T is (x, x²)

    def __add__(self, other: Self) -> Self:
        if np.ndim(self.origin) == np.ndim(other.origin) == 0:
            return type(self)(self.sums + other.sums, self.weight + other.weight)
        heavier = np.where(self.weight >= other.weight, self.origin, other.origin)
        sums = self.about(heavier).sums + other.about(heavier).sums
        weight = self.weight + other.weight
        mean = heavier + np.divide(
            sums[..., 0], weight, out=np.zeros(weight.shape), where=weight > 0
        )
        return type(self)(sums, weight, heavier).about(mean)

    def scaled(self, factor: float) -> Self:
        return replace(self, sums=factor * self.sums, weight=factor * self.weight)

    def about(self, origin: Array | float) -> Self:
        """The same rows with another c: x − c' is (x − c) + (c − c')."""
        shift = self.origin - origin
        if not np.any(shift):
            return self
        first, second = self.sums[..., 0], self.sums[..., 1]
        moved = first + self.weight * shift, second + shift * (2 * first + self.weight * shift)
        return replace(self, sums=np.stack(moved, axis=-1), origin=origin)

    def prior_statistics(
        self, family: Any, alpha: Any, shape: tuple[int, int]
    ) -> "MomentStatistics":
        weight = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        mean, origin = self.typical(family)
        about = np.broadcast_to(origin, shape) if np.ndim(self.origin) else 0.0
        return type(self)(weight[..., None] * mean, weight, about)

    def typical(self, family: "ExponentialFamily") -> tuple[Array, Array]:
        """The mean statistic over all components, (n_features, n_terms), and its c."""
        total = self.weight.sum(axis=0)
        origin = np.zeros(self.weight.shape[1])
        np.divide((self.weight * self.origin).sum(axis=0), total, out=origin, where=total > 0)
        sums = self.about(np.broadcast_to(origin, self.weight.shape)).sums.sum(axis=0)
        centre = np.broadcast_to(np.asarray(family.centre), sums.shape).copy()
        total = total[:, None]
        return np.divide(sums, total, out=centre, where=total > 0), origin


@final
@dataclass(frozen=True, eq=False)
class ExponentialFamily:
    """A family given by its functions; x is one number per feature."""

    name: str
    statistic: Callable[[Array], Array]  # T: (…,) → (…, n_terms)
    log_base: Callable[[Array], Array]  # log h: (…,) → (…,)
    log_partition: Callable[[Array], Array]  # A: (…, n_terms) → (…,)
    mean_statistic: Callable[[Array], Array]  # ∇A, ω → E[T]
    natural: Callable[[Array], Array]  # its inverse, E[T] → ω
    draw: Callable[[Array, np.random.Generator], Array]  # ω (…, n_terms) → x (…,)
    valid: Callable[[Array], Array]  # which x have a probability
    centre: tuple[float, ...]  # E[T] of a pseudo-observation
    located: bool = False  # whether T(x) is (x, x²), and x − c has a density of the family too

    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False

    def check(self, X: Matrix) -> None:
        bad = ~self.valid(X) & ~np.isnan(X)
        refuse_values(
            X, bad, f"A {self.name} feature cannot take such a value", "Choose another family."
        )

    def statistics(self, X: Array, responsibility: Responsibility) -> MomentStatistics:
        X = np.asarray(X, dtype=float)
        if self.located:
            moments = diagonal_moments(X, responsibility)
            sums = np.stack([np.zeros(moments.mean.shape), moments.scatter], axis=-1)
            weight = np.broadcast_to(moments.weight, moments.mean.shape)
            return MomentStatistics(sums, weight, moments.mean)
        T = self.statistic(X)
        per_term = [observed_sums(responsibility, T[..., t]) for t in range(T.shape[-1])]
        sums = np.stack([term.sums for term in per_term], axis=-1)
        return MomentStatistics(sums, np.broadcast_to(per_term[0].weight, sums.shape[:2]))

    def pseudo_statistics(self, alpha: Any, shape: tuple[int, int]) -> MomentStatistics:
        """``alpha`` pseudo-observations at the centre of the family."""
        weight = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        return MomentStatistics(weight[..., None] * np.asarray(self.centre), weight)

    def leave_one_out(self, statistics: MomentStatistics, alpha: float) -> float:
        return 0.0  # nothing is smoothed

    def from_statistics(self, statistics: MomentStatistics) -> "ExponentialMember":
        """ω such that E[T] is the mean of T; a component without examples has the mean of all."""
        sums, weight = statistics.sums, statistics.weight[..., None]
        typical, centre = statistics.typical(self)
        mean = np.broadcast_to(typical, sums.shape).copy()
        np.divide(sums, weight, out=mean, where=weight > 0)
        origin = np.where(statistics.weight > 0, statistics.origin, centre)
        with np.errstate(divide="ignore", invalid="ignore"):  # looked at below
            natural = self.seen_from(self.natural(mean), -origin)
            if self.located:
                flat = mean[..., 1] - mean[..., 0] ** 2 <= np.square(ROUNDING * origin)
                natural[flat] = np.inf  # equal numbers
        if not np.isfinite(natural).all():
            k, j = np.argwhere(~np.isfinite(natural))[0, :2]
            raise InvalidInput(
                f"The {self.name} feature {j} has mean statistic {mean[k, j]} in component {k}, at "
                "the boundary of its range; no finite natural parameter gives it. "
                "Add pseudo_statistics, or use the event model of that name."
            )
        return ExponentialMember.trusted(self, natural)

    def seen_from(self, natural: Array, origin: Array | float) -> Array:
        """ω of x − c."""
        if not self.located or not np.any(origin):
            return natural
        first = natural[..., 0] + 2 * origin * natural[..., 1]
        return np.stack([first, natural[..., 1]], axis=-1)


@final
@dataclass(frozen=True, eq=False)
class ExponentialMember(Distribution):
    """A product over features of members of one exponential family."""

    family: ExponentialFamily
    natural: Array  # ω, (n_components, n_features, n_terms)

    def __post_init__(self) -> None:
        natural = numbers(f"a {self.family.name}", "natural parameters", self.natural)
        n_terms = len(self.family.centre)
        if natural.ndim != 3 or natural.shape[2] != n_terms:
            raise InvalidInput(
                f"The natural parameters of a {self.family.name} have shape {natural.shape}; "
                f"expected (n_components, n_features, {n_terms}). Give that array."
            )
        with np.errstate(all="ignore"):  # looked at below
            good = np.isfinite(self.family.log_partition(natural))[..., None] & np.isfinite(natural)
        refuse_parameters(
            f"a {self.family.name}", "natural parameters", natural, good, "where A(ω) is finite"
        )
        object.__setattr__(self, "natural", natural)

    @property
    def n_components(self) -> int:
        return int(self.natural.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.natural.shape[1])

    @property
    def n_parameters(self) -> int:
        return int(self.natural.size)

    def own_family(self) -> ExponentialFamily:
        return self.family

    @property
    def mean_statistic(self) -> Array:
        """E[T], (n_components, n_features, n_terms)."""
        return self.family.mean_statistic(self.natural)

    @property
    def event(self) -> str:
        return self.family.name

    def impossible(self, values: Array) -> Array:
        return np.asarray((~self.family.valid(values) | np.isinf(values)) & ~np.isnan(values))

    def log_density(self, X: Matrix) -> Array:
        X = np.asarray(X, dtype=float)
        base = np.where(np.isnan(X), 0.0, self.family.log_base(X))
        return self.log_score(X) + base.sum(axis=1, keepdims=True)

    def log_score(self, X: Matrix) -> Array:
        return self.contributions(X).sum(axis=1)

    def log_likelihood_of(self, statistics: MomentStatistics) -> float:
        natural = self.family.seen_from(self.natural, statistics.origin)
        inner = np.sum(statistics.sums * natural, axis=-1)
        return float(np.sum(inner - statistics.weight * self.family.log_partition(natural)))

    def contributions(self, X: Matrix) -> Array:
        X = np.asarray(X, dtype=float)
        if self.family.located:
            origin = self.mean_statistic[..., 0]
            natural = self.family.seen_from(self.natural, origin)
            T = self.family.statistic(X[:, None, :] - origin)
            inner = np.einsum("ikjt,kjt->ijk", T, natural)
        else:
            natural = self.natural
            inner = np.einsum("ijt,kjt->ijk", self.family.statistic(X), natural)
        shares = inner - self.family.log_partition(natural).T
        return np.where(np.isnan(shares), 0.0, shares)  # a missing cell is summed out

    def linear_form(self) -> LinearForm:
        """Linear in T(x): the equivalent logistic coefficients of NB-15."""
        coef = self.natural.reshape(self.n_components, -1)
        terms = "x" if self.natural.shape[2] == 1 else "T(x)"
        return LinearForm(coef, -self.family.log_partition(self.natural).sum(axis=1), terms)

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        return self.family.draw(self.natural[component], rng)


# The functions below are named, not lambdas, so that a family can be pickled.


def _one(x: Array) -> Array:
    return x[..., None]


def _zero(x: Array) -> Array:
    return np.zeros(np.shape(x))


def _binary(x: Array) -> Array:
    return (x == 0) | (x == 1)


def _count(x: Array) -> Array:
    return (x >= 0) & (x == np.floor(x))


def _positive(x: Array) -> Array:
    return x >= 0


def _bernoulli_partition(omega: Array) -> Array:
    return np.logaddexp(0.0, omega[..., 0])


def _bernoulli_draw(omega: Array, rng: np.random.Generator) -> Array:
    return (rng.random(omega.shape[:-1]) < expit(omega[..., 0])).astype(float)


BERNOULLI = ExponentialFamily(
    name="bernoulli",
    statistic=_one,
    log_base=_zero,
    log_partition=_bernoulli_partition,
    mean_statistic=expit,
    natural=logit,
    draw=_bernoulli_draw,
    valid=_binary,
    centre=(0.5,),
)


def _poisson_base(x: Array) -> Array:
    return -lgamma(x + 1.0)


def _poisson_partition(omega: Array) -> Array:
    return np.exp(omega[..., 0])


def _poisson_draw(omega: Array, rng: np.random.Generator) -> Array:
    return rng.poisson(np.exp(omega[..., 0])).astype(float)


POISSON = ExponentialFamily(
    name="poisson",
    statistic=_one,
    log_base=_poisson_base,
    log_partition=_poisson_partition,
    mean_statistic=np.exp,
    natural=np.log,
    draw=_poisson_draw,
    valid=_count,
    centre=(1.0,),
)


def _exponential_partition(omega: Array) -> Array:
    return -np.log(-omega[..., 0])


def _negative_reciprocal(a: Array) -> Array:
    """−1 / a, its own inverse: E[x] = −1/ω."""
    return -1 / a


def _exponential_draw(omega: Array, rng: np.random.Generator) -> Array:
    return rng.exponential(-1 / omega[..., 0])


EXPONENTIAL = ExponentialFamily(
    name="exponential",
    statistic=_one,
    log_base=_zero,
    log_partition=_exponential_partition,
    mean_statistic=_negative_reciprocal,
    natural=_negative_reciprocal,
    draw=_exponential_draw,
    valid=_positive,
    centre=(1.0,),
)


def _gaussian_statistic(x: Array) -> Array:
    return np.stack([x, x**2], axis=-1)


def _gaussian_base(x: Array) -> Array:
    return np.full(np.shape(x), -0.5 * np.log(2 * np.pi))


def _gaussian_partition(omega: Array) -> Array:
    a, b = omega[..., 0], omega[..., 1]  # m/v and −1/(2v)
    return -(a**2) / (4 * b) - 0.5 * np.log(-2 * b)


def _gaussian_mean(omega: Array) -> Array:
    variance = -0.5 / omega[..., 1]
    mean = omega[..., 0] * variance
    return np.stack([mean, mean**2 + variance], axis=-1)


def _gaussian_natural(mean: Array) -> Array:
    square = mean[..., 0] ** 2
    variance = np.maximum(mean[..., 1] - square, 0.0)
    variance = np.where(variance > ROUNDING * square, variance, 0.0)  # all digits cancelled
    return np.stack([mean[..., 0] / variance, -0.5 / variance], axis=-1)


def _gaussian_draw(omega: Array, rng: np.random.Generator) -> Array:
    variance = -0.5 / omega[..., 1]
    return omega[..., 0] * variance + np.sqrt(variance) * rng.standard_normal(variance.shape)


GAUSSIAN = ExponentialFamily(
    name="gaussian",
    statistic=_gaussian_statistic,
    log_base=_gaussian_base,
    log_partition=_gaussian_partition,
    mean_statistic=_gaussian_mean,
    natural=_gaussian_natural,
    draw=_gaussian_draw,
    valid=np.isfinite,
    centre=(0.0, 1.0),
    located=True,
)


def categorical_family(n_values: int) -> ExponentialFamily:
    """One of ``n_values`` values 0, 1, …, in minimal form: T(x) is one-hot without the last."""
    return ExponentialFamily(
        name=f"categorical-{n_values}",
        statistic=partial(_categorical_statistic, n_values),
        log_base=_zero,
        log_partition=_categorical_partition,
        mean_statistic=_categorical_mean,
        natural=_categorical_natural,
        draw=_categorical_draw,
        valid=partial(_category, n_values),
        centre=(1 / n_values,) * (n_values - 1),
    )


def _categorical_statistic(n_values: int, x: Array) -> Array:
    return np.where(np.isnan(x)[..., None], np.nan, x[..., None] == np.arange(n_values - 1))


def _category(n_values: int, x: Array) -> Array:
    return _count(x) & (x < n_values)


def _with_last(omega: Array) -> Array:
    """The last value's ω is 0."""
    return np.concatenate([omega, np.zeros((*omega.shape[:-1], 1))], axis=-1)


def _categorical_partition(omega: Array) -> Array:
    return logsumexp(_with_last(omega), axis=-1)


def _categorical_mean(omega: Array) -> Array:
    return np.exp(log_softmax(_with_last(omega)))[..., :-1]


def _categorical_natural(mean: Array) -> Array:
    return np.log(mean) - np.log1p(-mean.sum(axis=-1, keepdims=True))


def _categorical_draw(omega: Array, rng: np.random.Generator) -> Array:
    cumulative = np.cumsum(_categorical_mean(omega), axis=-1)
    return (rng.random(omega.shape[:-1])[..., None] >= cumulative).sum(axis=-1).astype(float)


EXPONENTIAL_FAMILIES = {f.name: f for f in (BERNOULLI, POISSON, EXPONENTIAL, GAUSSIAN)}
