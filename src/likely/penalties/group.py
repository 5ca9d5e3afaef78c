"""Groups of coefficients that enter or leave a model together.

    Σ_g γ_g ‖θ_g‖        prox: θ_g = (1 − tγ/‖u_g‖)₊ u_g, after the soft thresholds of an l1

Beside a ridge that differs within a group the length of θ_g is the root of one equation.

References
----------
Yuan & Lin, Model selection and estimation in regression with grouped variables, 2006.  Simon,
Friedman, Hastie & Tibshirani, A sparse-group lasso, 2013.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi
from typing import final

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from likely._typing import Array, Codes
from likely.errors import InvalidInput, UnknownName
from likely.penalties.base import Penalty, Strength, Strengths, checked_strength, soft_threshold
from likely.storage.declarations import InRange

Groups = Codes | Sequence[Sequence[int | str]]  # the group of each, or the members of each group
ROUNDING = 2.0**-52


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
        return self.merged((self,), size)

    @staticmethod
    def merged(groups: "Sequence[Group]", size: int) -> "Group | None":
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

    def scaled(self, factor: float) -> "Group":
        return Group(self.groups, factor * np.asarray(self.strength))

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return self.prox_with(theta, step, np.zeros(theta.size), np.zeros(theta.size))

    def prox_with(self, theta: Array, step: Array | float, l1: Array, l2: Array) -> Array:
        """That beside l1 and l2: soft thresholds, then each group.

        r = ‖θ_g‖ solves Σ_j (u_j / ((1 + tκ_j) r + tγ))² = 1.
        """
        u, stretch = soft_threshold(theta, step * l1), 1.0 + step * l2
        out, codes = u / stretch, self.members(theta.size)
        strengths = step * self.of_each(theta.size)
        for g in range(int(codes.max(initial=-1)) + 1):
            inside = np.flatnonzero(codes == g)
            if inside.size and strengths[inside[0]] > 0:
                out[inside] = _shrunken(u[inside], stretch[inside], strengths[inside[0]])
        return np.asarray(out)

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
