"""Any one-dimensional exponential family, from its statistic, base measure and log-partition.

    p(x | ω) = h(x) exp{ ωᵀT(x) − A(ω) }        ∇A(ω) = E[T]        ∇²A(ω) = Cov[T]

Fitting matches moments: the mean of T over the data is E[T] at the maximum of the
likelihood.  With a shared base measure the log-odds of two components are linear in T(x):

    log p(x|1)/p(x|0) = (ω₁ − ω₀)ᵀT(x) − A(ω₁) + A(ω₀)

To add a family, make one ``ExponentialFamily`` and list it in ``EXPONENTIAL_FAMILIES``.

References
----------
Wainwright & Jordan, Graphical Models, Exponential Families, and Variational Inference, §3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array, Matrix
from likely.distributions.base import Distribution, FieldwiseStatistics, LinearForm, refuse_values
from likely.distributions.responsibility import Responsibility, observed_sums
from likely.special import expit, lgamma, log_softmax, logsumexp


@final
@dataclass(frozen=True, eq=False)
class MomentStatistics(FieldwiseStatistics):
    """Σ_i r_ik T(x_ij) and Σ_i r_ik over the observed cells."""

    sums: Array  # (n_components, n_features, n_terms)
    weight: Array  # (n_components, n_features)


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

    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False

    def check(self, X: Matrix) -> None:
        bad = ~self.valid(X) & ~np.isnan(X)
        refuse_values(
            X, bad, f"A {self.name} feature cannot take such a value", "Choose another family."
        )

    def statistics(self, X: Array, responsibility: Responsibility) -> MomentStatistics:
        T = self.statistic(np.asarray(X, dtype=float))
        per_term = [observed_sums(responsibility, T[..., t]) for t in range(T.shape[-1])]
        sums = np.stack([term.sums for term in per_term], axis=-1)
        return MomentStatistics(sums, np.broadcast_to(per_term[0].weight, sums.shape[:2]))

    def pseudo_statistics(self, alpha: Any, shape: tuple[int, int]) -> MomentStatistics:
        """``alpha`` imagined examples at the family's own centre, ω = 0 where that is valid."""
        n_terms = self.statistic(np.ones(1)).shape[-1]
        weight = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        if not weight.any():
            return MomentStatistics(np.zeros((*shape, n_terms)), weight)
        centre = self.mean_statistic(np.zeros((1, n_terms)))[0]
        return MomentStatistics(weight[..., None] * centre, weight)

    def from_statistics(self, statistics: MomentStatistics) -> "ExponentialMember":
        """ω such that E[T] is the mean of T."""
        weight = statistics.weight[..., None]
        return ExponentialMember(self, self.natural(statistics.sums / weight))


@final
@dataclass(frozen=True, eq=False)
class ExponentialMember(Distribution):
    """A product over features of members of one exponential family."""

    family: ExponentialFamily
    natural: Array  # ω, (n_components, n_features, n_terms)

    @property
    def n_components(self) -> int:
        return int(self.natural.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.natural.shape[1])

    @property
    def n_parameters(self) -> int:
        return int(self.natural.size)

    @property
    def mean_statistic(self) -> Array:
        """E[T], (n_components, n_features, n_terms)."""
        return self.family.mean_statistic(self.natural)

    def log_prob(self, X: Matrix) -> Array:
        base = np.nansum(self.family.log_base(np.asarray(X, dtype=float)), axis=1)
        return self.log_score(X) + base[:, None]

    def log_score(self, X: Matrix) -> Array:
        return self.contributions(X).sum(axis=1)

    def log_likelihood_of(self, statistics: MomentStatistics) -> float:
        inner = np.sum(statistics.sums * self.natural, axis=-1)
        return float(np.sum(inner - statistics.weight * self.family.log_partition(self.natural)))

    def contributions(self, X: Matrix) -> Array:
        T = self.family.statistic(np.asarray(X, dtype=float))
        inner = np.einsum("ijt,kjt->ijk", T, self.natural)
        return np.nan_to_num(inner - self.family.log_partition(self.natural).T, nan=0.0)

    def linear_form(self) -> LinearForm:
        """Linear in T(x): the equivalent logistic coefficients of NB-15."""
        coef = self.natural.reshape(self.n_components, -1)
        terms = "x" if self.natural.shape[2] == 1 else "T(x)"
        return LinearForm(coef, -self.family.log_partition(self.natural).sum(axis=1), terms)

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        return self.family.draw(self.natural[component], rng)


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


BERNOULLI = ExponentialFamily(
    name="bernoulli",
    statistic=_one,
    log_base=_zero,
    log_partition=lambda omega: np.logaddexp(0.0, omega[..., 0]),
    mean_statistic=expit,
    natural=lambda mean: np.log(mean) - np.log1p(-mean),
    draw=lambda omega, rng: (rng.random(omega.shape[:-1]) < expit(omega[..., 0])).astype(float),
    valid=_binary,
)

POISSON = ExponentialFamily(
    name="poisson",
    statistic=_one,
    log_base=lambda x: -lgamma(x + 1.0),
    log_partition=lambda omega: np.exp(omega[..., 0]),
    mean_statistic=np.exp,
    natural=np.log,
    draw=lambda omega, rng: rng.poisson(np.exp(omega[..., 0])).astype(float),
    valid=_count,
)

EXPONENTIAL = ExponentialFamily(
    name="exponential",
    statistic=_one,
    log_base=_zero,
    log_partition=lambda omega: -np.log(-omega[..., 0]),
    mean_statistic=lambda omega: -1 / omega,
    natural=lambda mean: -1 / mean,
    draw=lambda omega, rng: rng.exponential(-1 / omega[..., 0]),
    valid=_positive,
)


def _gaussian_partition(omega: Array) -> Array:
    a, b = omega[..., 0], omega[..., 1]  # m/v and −1/(2v)
    return -(a**2) / (4 * b) - 0.5 * np.log(-2 * b)


def _gaussian_mean(omega: Array) -> Array:
    variance = -0.5 / omega[..., 1]
    mean = omega[..., 0] * variance
    return np.stack([mean, mean**2 + variance], axis=-1)


def _gaussian_natural(mean: Array) -> Array:
    variance = mean[..., 1] - mean[..., 0] ** 2
    return np.stack([mean[..., 0] / variance, -0.5 / variance], axis=-1)


def _gaussian_draw(omega: Array, rng: np.random.Generator) -> Array:
    variance = -0.5 / omega[..., 1]
    return omega[..., 0] * variance + np.sqrt(variance) * rng.standard_normal(variance.shape)


GAUSSIAN = ExponentialFamily(
    name="gaussian",
    statistic=lambda x: np.stack([x, x**2], axis=-1),
    log_base=lambda x: np.full(np.shape(x), -0.5 * np.log(2 * np.pi)),
    log_partition=_gaussian_partition,
    mean_statistic=_gaussian_mean,
    natural=_gaussian_natural,
    draw=_gaussian_draw,
    valid=np.isfinite,
)


def categorical_family(n_values: int) -> ExponentialFamily:
    """One of ``n_values`` values 0, 1, …, in minimal form: T(x) is one-hot without the last."""
    values = np.arange(n_values - 1)

    def padded(omega: Array) -> Array:
        return np.concatenate([omega, np.zeros((*omega.shape[:-1], 1))], axis=-1)

    def draw(omega: Array, rng: np.random.Generator) -> Array:
        cumulative = np.cumsum(np.exp(log_softmax(padded(omega))), axis=-1)[..., :-1]
        return (rng.random(omega.shape[:-1])[..., None] >= cumulative).sum(axis=-1).astype(float)

    return ExponentialFamily(
        name=f"categorical-{n_values}",
        statistic=lambda x: np.where(np.isnan(x)[..., None], np.nan, x[..., None] == values),
        log_base=_zero,
        log_partition=lambda omega: logsumexp(padded(omega), axis=-1),
        mean_statistic=lambda omega: np.exp(log_softmax(padded(omega)))[..., :-1],
        natural=lambda mean: np.log(mean) - np.log1p(-mean.sum(axis=-1, keepdims=True)),
        draw=draw,
        valid=lambda x: _count(x) & (x < n_values),
    )


EXPONENTIAL_FAMILIES = {f.name: f for f in (BERNOULLI, POISSON, EXPONENTIAL, GAUSSIAN)}
