"""Penalties on coefficients, and the priors they stand for.

    value(θ) = Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j² + Σ_g γ_g ‖θ_g‖        λ: l1, κ: l2, γ: of groups

Penalties add: ``L1(0.5) + Group([["length", "width"]])``.  A model takes one as ``penalty=``, with
strengths and groups of its columns.

Minus the log density of the prior is the penalty plus a constant, so a penalised fit is the
mode of a posterior.  Strengths are on the scale of the *summed* log-likelihood; each is a
number or one number per coefficient, and 0 means no penalty (a flat, improper
prior, whose log density is taken as 0).

    prox(u, t) = argmin_θ ½‖θ − u‖² + t · value(θ)

Of groups the prox first applies soft thresholds, then θ_g = (1 − tγ/‖u_g‖)₊ u_g; beside a ridge
that differs within a group the length of θ_g is the root of one equation.

To add a penalty, write one class and list it in ``PENALTIES``: the laws in
``tests/laws/test_penalties.py`` read that list.

References
----------
Parikh & Boyd, Proximal Algorithms, 2014, §6.5.  Yuan & Lin, Model selection and estimation in
regression with grouped variables, 2006.  Li & Lin, The Bayesian elastic net, 2010.  Simon,
Friedman, Hastie & Tibshirani, A sparse-group lasso, 2013.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi
from numbers import Real
from typing import NamedTuple, final

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, gammaln

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName
from likely.storage.declared import InRange

__all__ = [
    "L1",
    "L2",
    "PENALTIES",
    "ElasticNet",
    "Group",
    "NoPenalty",
    "Penalty",
    "PenaltySum",
    "Strengths",
    "soft_threshold",
]


Strength = float | Array  # one for all coefficients, or one for each
Groups = Codes | Sequence[Sequence[int | str]]  # the group of each, or the members of each group
ROUNDING = 2.0**-52


class Strengths(NamedTuple):
    """What every penalty is made of; a number is for all coefficients or columns."""

    l1: Strength = 0.0
    l2: Strength = 0.0
    groups: tuple["Group", ...] = ()


class Penalty(ABC):
    """The contract of a penalty: smooth part + rough part, both convex."""

    @property
    @abstractmethod
    def strengths(self) -> Strengths: ...

    def __add__(self, other: "Penalty") -> "Penalty":
        return PenaltySum((self, other))

    def __mul__(self, factor: float) -> "Penalty":
        """The penalty, ``factor`` times as strong."""
        return self.scaled(float(factor)) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    @abstractmethod
    def gradient(self, theta: Array) -> Array:
        """The gradient of the smooth part, ``value − rough().value``."""

    @abstractmethod
    def curvature(self, theta: Array) -> Array:
        """The second derivatives of the smooth part, one per coefficient."""

    @abstractmethod
    def rough(self) -> "Penalty":
        """The part without a gradient at 0, for objectives that take the smooth part in."""

    @abstractmethod
    def scaled(self, factor: float) -> "Penalty":
        """The penalty times ``factor``, for a part of the rows."""

    def corners(self, size: int) -> Array:
        """λ of the terms λ_j|θ_j|, one per coefficient; 0 where there is none."""
        return np.broadcast_to(np.asarray(self.strengths.l1, dtype=float), (size,))

    def grouped(self, size: int) -> "Group | None":
        """The terms γ_g‖θ_g‖ of that many coefficients; None where there is none."""
        return None

    def at_kink(self, theta: Array) -> Array:
        """Which coefficients are 0 where the penalty has no derivative, a mask."""
        group, corners = self.grouped(theta.size), (self.corners(theta.size) > 0) & (theta == 0)
        return corners if group is None else corners | group.whole_at_0(theta)

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        """The second derivatives in some coefficients, none at a kink, (c, c)."""
        group, smooth = self.grouped(theta.size), np.diag(self.curvature(theta)[columns])
        return smooth if group is None else smooth + group.bend(theta, columns)

    def least_subgradient(self, theta: Array, smooth: Array) -> Array:
        """The shortest of the subgradients ``smooth`` + ∂rough(θ): 0 at an optimum, also there."""
        corners, group = self.corners(theta.size), self.grouped(theta.size)
        beyond = smooth + corners * np.sign(theta)
        least = np.where(theta != 0, beyond, soft_threshold(smooth, corners))
        return least if group is None else group.shortest(theta, least)

    def free(self, size: int) -> Array:
        """Which coefficients it leaves alone, a mask."""
        l2, group = np.broadcast_to(np.asarray(self.strengths.l2), (size,)), self.grouped(size)
        outside = (self.corners(size) == 0) & (l2 == 0)
        return outside if group is None else outside & (group.of_each(size) == 0)

    @abstractmethod
    def prox(self, theta: Array, step: Array | float) -> Array:
        """The proximal operator of the whole penalty."""

    @abstractmethod
    def log_prior(self, theta: Array) -> float: ...


def soft_threshold(theta: Array, threshold: Strength) -> Array:
    """S(u, t) = sign(u) max(|u| − t, 0)."""
    return np.asarray(np.sign(theta) * np.maximum(np.abs(theta) - threshold, 0.0))


def checked_strength(name: str, strength: Strength) -> Strength:
    """A number as it is, any others as an array; refused below 0."""
    try:
        if strength is None or isinstance(strength, str):
            raise TypeError("no number")
        values = np.asarray(strength, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{name}={strength!r} was given to a penalty; a number was expected, or one for each "
            "coefficient. Use 1.0, or strengths by column name in l1 and l2 of a model, which take "
            "a mapping."
        ) from error
    wrong = values[~((values >= 0) & np.isfinite(values))]
    if wrong.size:
        raise InvalidInput(
            f"{name}={wrong.flat[0]:g} is not a strength; a penalty needs finite numbers of at "
            "least 0. Use 0 for no penalty."
        )
    if values.ndim:
        return values
    return values.item() if isinstance(strength, np.ndarray | np.generic) else strength


@final
@dataclass(frozen=True)
class NoPenalty(Penalty):
    """The flat prior: the posterior mode is the maximum of the likelihood."""

    @property
    def strengths(self) -> Strengths:
        return Strengths()

    def value(self, theta: Array) -> float:
        return 0.0

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return self

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return theta

    def log_prior(self, theta: Array) -> float:
        return 0.0


@final
@dataclass(frozen=True, eq=False)
class L2(Penalty):
    """½ Σ κ_j θ_j²: Gaussian priors of precision κ, weight decay, ridge."""

    saved_rules = (InRange("l2", "not negative"), InRange("l2", "finite"))

    l2: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l2", checked_strength("l2", self.l2))

    @classmethod
    def of_prior(cls, variance: Strength, *, noise: float = 1.0) -> "L2":
        """The prior N(0, τ²) on each coefficient, where τ² is ``variance``.

        ``noise`` is σ² of a Gaussian response, so that l2 = σ²/τ²; other models have none.

        >>> L2.of_prior(2.0, noise=1.0)
        L2(l2=0.5)
        """
        return cls(noise / _above_zero("variance", variance))

    @property
    def strengths(self) -> Strengths:
        return Strengths(l2=self.l2)

    def value(self, theta: Array) -> float:
        return 0.5 * float(np.sum(self.l2 * theta**2))

    def gradient(self, theta: Array) -> Array:
        return self.l2 * theta

    def curvature(self, theta: Array) -> Array:
        return self.l2 * np.ones_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return L2(factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return NoPenalty()

    def prox(self, theta: Array, step: Array | float) -> Array:
        return np.asarray(theta / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(0.0, self.l2, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class L1(Penalty):
    """Σ λ_j |θ_j|: Laplace priors of scale 1/λ, the lasso."""

    saved_rules = (InRange("l1", "not negative"), InRange("l1", "finite"))

    l1: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", checked_strength("l1", self.l1))

    @classmethod
    def of_prior(cls, scale: Strength, *, noise: float = 1.0) -> "L1":
        """The prior Laplace(0, b) on each coefficient, where b is ``scale``: l1 = σ²/b.

        >>> L1.of_prior(0.5)
        L1(l1=2.0)
        """
        return cls(noise / _above_zero("scale", scale))

    @property
    def strengths(self) -> Strengths:
        return Strengths(l1=self.l1)

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta)))

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return L1(factor * np.asarray(self.l1))

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return soft_threshold(theta, step * np.asarray(self.l1))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(self.l1, 0.0, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class ElasticNet(Penalty):
    """Σ λ_j |θ_j| + ½ Σ κ_j θ_j²: the prior is the product of the two, normalised."""

    saved_rules = (
        InRange("l1", "not negative"),
        InRange("l1", "finite"),
        InRange("l2", "not negative"),
        InRange("l2", "finite"),
    )

    l1: Strength = 1.0
    l2: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", checked_strength("l1", self.l1))
        object.__setattr__(self, "l2", checked_strength("l2", self.l2))

    @property
    def strengths(self) -> Strengths:
        return Strengths(self.l1, self.l2)

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta) + 0.5 * self.l2 * theta**2))

    def gradient(self, theta: Array) -> Array:
        return self.l2 * theta

    def curvature(self, theta: Array) -> Array:
        return self.l2 * np.ones_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return ElasticNet(factor * np.asarray(self.l1), factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return L1(self.l1)

    def prox(self, theta: Array, step: Array | float) -> Array:
        shrunk = soft_threshold(theta, step * np.asarray(self.l1))
        return np.asarray(shrunk / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(self.l1, self.l2, theta) - self.value(theta)


def _log_normaliser(l1: Strength, l2: Strength, theta: Array) -> float:
    """Σ_j log ∫ exp(−λ_j|x| − ½κ_j x²) dx, over the penalised coefficients.

    ∫ = √(2π/κ) erfcx(λ/√(2κ)); erfcx(x) = exp(x²) erfc(x) neither overflows nor cancels.
    """
    lam = np.broadcast_to(np.asarray(l1, dtype=float), theta.shape)
    kappa = np.broadcast_to(np.asarray(l2, dtype=float), theta.shape)
    curved, straight = kappa > 0, (kappa == 0) & (lam > 0)
    k = kappa[curved]
    gaussian = 0.5 * np.log(2 * pi / k) + np.log(erfcx(lam[curved] / np.sqrt(2 * k)))
    return float(gaussian.sum() + np.log(2 / lam[straight]).sum())


def _above_zero(name: str, value: Strength) -> Strength:
    if not np.all(np.asarray(value) > 0):
        raise InvalidInput(
            f"{name}={value!r} was given; a prior needs one above 0. Use a large one if it is weak."
        )
    return value if isinstance(value, float) else np.asarray(value, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Group(Penalty):
    """Σ_g γ_g ‖θ_g‖₂: a group of coefficients enters or leaves together.

    The prior of a group of p coefficients is ∝ exp(−γ‖θ_g‖), the spherical Laplace.

    In a model ``groups`` are of its columns: ``[["length", "width"], ["city"]]`` by name or by
    position, or the group of each column as a number from 0, −1 for none; None is one group for
    each column, which for a column of text is all its categories.  In softmax regression a group
    has the weights of all classes.
    """

    saved_rules = (InRange("strength", "not negative"), InRange("strength", "finite"))

    groups: Groups | None = None
    strength: Strength = 1.0  # γ, one for all groups or one for each

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", checked_strength("strength", self.strength))

    @property
    def strengths(self) -> Strengths:
        return Strengths(groups=(self,))

    def grouped(self, size: int) -> "Group | None":
        return _merged((self,), size)

    def on_columns(self, names: Sequence[str], column_of: Codes) -> "Group":
        """The groups of parameters, from the column of each; −1 is a free one.

        A column beyond the named ones is an intercept: a group of its own, as strong as any.
        """
        codes = self._codes(len(names), names)
        strengths = self._strengths(codes)
        if column_of.max(initial=-1) == len(names):
            codes = np.append(codes, codes.max(initial=-1) + 1)
            strengths = np.append(strengths, strengths.max(initial=0.0))
        return Group(np.append(codes, -1)[column_of], strengths)

    def members(self, size: int) -> Codes:
        """The group of each of ``size`` coefficients; −1 for none."""
        return self._codes(size)

    def of_each(self, size: int) -> Array:
        """γ of the group of each coefficient; 0 outside all groups."""
        codes = self._codes(size)
        return np.append(self._strengths(codes), 0.0)[codes]

    def norms(self, theta: Array) -> Array:
        """‖θ_g‖ of each group."""
        codes = self._codes(theta.size)
        inside, n = codes >= 0, int(codes.max(initial=-1)) + 1
        squares = np.bincount(codes[inside], weights=theta[inside] ** 2, minlength=n)
        return np.asarray(np.sqrt(squares))

    def whole_at_0(self, theta: Array) -> Array:
        """Which coefficients are in a group that is 0 and penalised, a mask."""
        at_0 = np.append(self.norms(theta) == 0, False)[self._codes(theta.size)]
        return np.asarray(at_0 & (self.of_each(theta.size) > 0))

    def bend(self, theta: Array, columns: Array) -> Array:
        """∇² of each γ‖θ_g‖ that is not 0: γ/‖θ_g‖ (I − uuᵀ) with u = θ_g/‖θ_g‖, (c, c)."""
        codes, each = self._codes(theta.size)[columns], self.of_each(theta.size)[columns]
        norm = np.append(self.norms(theta), 0.0)[codes]
        size = np.divide(each, norm, out=np.zeros(len(norm)), where=norm > 0)
        unit = np.divide(theta[columns], norm, out=np.zeros(len(norm)), where=norm > 0)
        same = (codes[:, None] == codes) & (codes >= 0)
        return np.asarray(np.diag(size) - same * size[:, None] * np.outer(unit, unit))

    def shortest(self, theta: Array, others: Array) -> Array:
        """The shortest of ``others`` + ∂ Σ γ‖θ_g‖; where θ_g = 0, that is any vector up to γ."""
        codes, each = self._codes(theta.size), self.of_each(theta.size)
        norm, length = (np.append(self.norms(v), 0.0)[codes] for v in (theta, others))
        slope = np.divide(each * theta, norm, out=np.zeros(len(norm)), where=norm > 0)
        taken = np.divide(each, length, out=np.zeros(len(norm)), where=length > 0)
        at_0 = others * np.maximum(1.0 - taken, 0.0)
        return np.where(norm > 0, others + slope, at_0)

    def value(self, theta: Array) -> float:
        return float(np.sum(self._strengths(self._codes(theta.size)) * self.norms(theta)))

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> "Group":
        return Group(self.groups, factor * np.asarray(self.strength))

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return _sparse_group_prox(theta, step, np.zeros(theta.size), np.zeros(theta.size), self)

    def log_prior(self, theta: Array) -> float:
        """A group's density is γᵖ Γ(p/2) / (2 π^{p/2} Γ(p)) · exp(−γ‖θ_g‖)."""
        codes = self._codes(theta.size)
        strengths, sizes = self._strengths(codes), np.bincount(codes[codes >= 0])
        proper = (strengths > 0) & (sizes > 0)
        p, lam = sizes[proper], strengths[proper]
        log_constant = p * np.log(lam) + gammaln(p / 2) - log(2) - p / 2 * log(pi) - gammaln(p)
        return float(log_constant.sum()) - self.value(theta)

    def _codes(self, size: int, names: Sequence[str] = ()) -> Codes:
        if self.groups is None:
            return np.arange(size)
        if len(self.groups) and not all(np.ndim(group) == 0 for group in self.groups):
            return _codes_of_lists(self.groups, size, names)
        codes = np.asarray(self.groups)
        if codes.shape != (size,) or codes.dtype.kind not in "iu":
            raise InvalidInput(
                f"groups={self.groups!r} was given for {size} columns; the number of a group for "
                "each of them was expected, or the columns of each group. "
                "Use [['length', 'width'], ['city']]."
            )
        return codes

    def _strengths(self, codes: Codes) -> Array:
        n, strengths = int(codes.max(initial=-1)) + 1, np.asarray(self.strength, dtype=float)
        if strengths.ndim and strengths.shape != (n,):
            raise InvalidInput(
                f"strength has shape {strengths.shape} for {n} groups; one number was expected, "
                "or one for each group. Give them in the order of the groups."
            )
        return np.broadcast_to(strengths, (n,))


@final
@dataclass(frozen=True, eq=False)
class PenaltySum(Penalty):
    """Penalties that add: the elastic net with groups, or strengths for some columns more.

    A coefficient is in one group at most.
    """

    parts: tuple[Penalty, ...]

    @cached_property
    def strengths(self) -> Strengths:
        each = [part.strengths for part in self.parts]
        l1, l2 = (sum(np.asarray(s[i], dtype=float) for s in each) for i in (0, 1))
        return Strengths(l1, l2, tuple(group for s in each for group in s.groups))

    def grouped(self, size: int) -> Group | None:
        return _merged(self.strengths.groups, size)

    def value(self, theta: Array) -> float:
        return sum(part.value(theta) for part in self.parts)

    def gradient(self, theta: Array) -> Array:
        return np.asarray(self.strengths.l2 * theta)

    def curvature(self, theta: Array) -> Array:
        return np.asarray(self.strengths.l2 * np.ones_like(theta))

    def scaled(self, factor: float) -> Penalty:
        return PenaltySum(tuple(part.scaled(factor) for part in self.parts))

    def rough(self) -> Penalty:
        return PenaltySum(tuple(part.rough() for part in self.parts))

    def prox(self, theta: Array, step: Array | float) -> Array:
        group, l2 = self.grouped(theta.size), self.curvature(theta)
        none = Group(np.full(theta.size, -1))
        return _sparse_group_prox(theta, step, self.corners(theta.size), l2, group or none)

    def log_prior(self, theta: Array) -> float:
        l1, l2, groups = self.strengths
        if not groups:
            return ElasticNet(l1, l2).log_prior(theta)
        if np.any(l1) or np.any(l2):
            raise InvalidInput(
                "The prior of groups beside l1 or l2 has no density in closed form; groups or an "
                "elastic net alone were expected. Use value(theta), which differs by a constant."
            )
        merged = _merged(groups, theta.size)
        return 0.0 if merged is None else merged.log_prior(theta)


def _sparse_group_prox(
    theta: Array, step: Array | float, l1: Array, l2: Array, group: Group
) -> Array:
    """Soft thresholds, then each group: r = ‖θ_g‖ solves Σ_j (u_j / ((1 + tκ_j) r + tγ))² = 1."""
    u, stretch = soft_threshold(theta, step * l1), 1.0 + step * l2
    out, codes = u / stretch, group.members(theta.size)
    strengths = step * group.of_each(theta.size)
    for g in range(int(codes.max(initial=-1)) + 1):
        inside = np.flatnonzero(codes == g)
        if inside.size and strengths[inside[0]] > 0:
            out[inside] = _shrunken(u[inside], stretch[inside], strengths[inside[0]])
    return np.asarray(out)


def _shrunken(u: Array, stretch: Array, threshold: float) -> Array:
    """argmin ½ Σ s_j x_j² − uᵀx + t‖x‖: 0, or u_j r / (s_j r + t) with r = ‖x‖."""
    length = float(np.linalg.norm(u))
    if length <= threshold:
        return np.zeros_like(u)
    if (stretch == stretch[0]).all():
        return np.asarray(u * ((length - threshold) / (length * stretch[0])))
    ends = [(length - threshold) / s for s in (stretch.max(), stretch.min())]
    r = float(
        brentq(
            lambda r: float(np.linalg.norm(u / (stretch * r + threshold))) - 1.0,
            ends[0] * (1 - ROUNDING),
            ends[1] * (1 + ROUNDING),
            xtol=ROUNDING * ends[0],
            rtol=4 * ROUNDING,
        )
    )
    return np.asarray(u * r / (stretch * r + threshold))


def _codes_of_lists(groups: Groups, size: int, names: Sequence[str]) -> Codes:
    """The group of each column, from the columns of each group."""
    codes = np.full(size, -1)
    for g, columns in enumerate(groups):
        for column in [columns] if isinstance(columns, str) else np.atleast_1d(columns).tolist():
            j = _position(column, size, names)
            if codes[j] >= 0:
                raise InvalidInput(
                    f"Column {column!r} is in two groups; a column was expected in one at most. "
                    "Leave it out of one of them."
                )
            codes[j] = g
    return codes


def _position(column: int | str, size: int, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise UnknownName("column for a group", column, names)
        return list(names).index(column)
    if not 0 <= column < size:
        raise InvalidInput(
            f"Column {column} was given in a group; there are {size}. Count from 0, or use names."
        )
    return column


def _merged(groups: tuple[Group, ...], size: int) -> Group | None:
    """Several sets of groups as one; those of strength 0 are none."""
    codes, strengths = np.full(size, -1), np.zeros(0)
    for group in groups:
        own, each = group.members(size), group.of_each(size)
        inside = each > 0
        if (codes[inside] >= 0).any():
            raise InvalidInput(
                f"Coefficient {int((inside & (codes >= 0)).argmax())} is in groups of two "
                "penalties that were added; one was expected. Leave it out of one of them."
            )
        _, first, place = np.unique(own[inside], return_index=True, return_inverse=True)
        codes[inside] = len(strengths) + place
        strengths = np.append(strengths, each[inside][first])
    return Group(codes, strengths) if len(strengths) else None


PENALTIES: dict[str, type[Penalty]] = {
    "none": NoPenalty,
    "l2": L2,
    "l1": L1,
    "elastic-net": ElasticNet,
    "group": Group,
    "sum": PenaltySum,
}
