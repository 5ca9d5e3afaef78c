"""Separation: whether a plane separates two classes, and what proves it.

    complete         s_i (wᵀx_i + b) > 0 for all i
    quasi-complete   s_i (wᵀx_i + b) ≥ 0 for all i, and > 0 for some, but no plane is complete
    overlapping      neither                                                       s_i = ±1

A plane is shown by its w and b.  That there is none is proved by convex weights λ for which the
weighted means of the two classes coincide, so that the convex hulls of the classes intersect:

    Σ_{s_i=+1} λ_i x_i = Σ_{s_i=−1} λ_i x_i        Σ_{s_i=+1} λ_i = Σ_{s_i=−1} λ_i = 1,  λ ≥ 0

That point would be on both sides of a separating plane.  With every λ_i > 0 not even a
quasi-complete plane exists (Stiemke).  Logistic regression without a penalty has finite
coefficients only where the classes overlap.

Both come from linear programs, the planes as solutions and the weights as multipliers:

    maximise Σ_i a_iᵀβ   subject to a_iᵀβ ≥ 0,  |β_j| ≤ 1        a_i = s_i (x_i, 1)
    maximise δ           subject to a_iᵀβ ≥ δ,  |w_j| ≤ 1

At the optimum 0 of the first, λ_i ∝ 1 + the multiplier of example i.

References
----------
Albert & Anderson, On the existence of maximum likelihood estimates in logistic regression models,
1984.  Konis, Linear programming algorithms for detecting separated data in binary logistic
regression models, 2007, §4.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.tables import finite_numbers
from likely.inputs.targets import check_labels
from likely.output.formatting import short_number

Bounds = Sequence[tuple[float | None, float | None]]

LEAST_MARGIN = 1e-6  # of columns scaled to [−1, 1]; ten times what the linear program lets pass
AGREEMENT = 1e-8  # how far, as part of a column's range, the weighted means may be apart
TERMS_SHOWN = 6  # of a class, in a printed certificate


_HEADLINES = {
    "complete": "The classes are linearly separable.",
    "quasi-complete": "The classes touch: a plane separates them, with some examples on the plane.",
    "overlapping": "The classes overlap: no plane separates them.",
}


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Separability:
    """The result, and its proof.  ``print`` shows the proof, ``verify`` repeats it."""

    kind: str  # "complete", "quasi-complete" or "overlapping"
    classes: Array  # (2,); the plane has the second one on its positive side
    sign: Array  # (n,), +1 for examples of the second class
    coef: Array | None = None  # w, of unit length; None where the classes overlap
    intercept: float | None = None
    margin: float | None = None  # the distance of the nearest example from the plane
    weight: Array | None = None  # λ, (n,); None where the classes are separable
    meeting_point: Array | None = None  # the weighted mean of either class

    @property
    def separable(self) -> bool:
        """Whether some plane has all of one class on one side and all of the other on the other."""
        return self.kind == "complete"

    @property
    def finite_fit(self) -> bool:
        """Whether logistic regression without a penalty has finite coefficients."""
        return self.kind == "overlapping"

    def with_plane(self, X: Array, theta: Array) -> Self:
        """A copy with the plane θ = (w, b), ‖w‖ = 1."""
        distance = self.sign * (np.dot(X, theta[:-1]) + theta[-1])
        margin = float(distance.min()) if self.separable else 0.0
        return replace(self, coef=theta[:-1], intercept=float(theta[-1]), margin=margin)

    def with_weight(self, X: Array, weight: Array) -> Self:
        """A copy with the weights λ, and the point that both weighted classes have in common."""
        point = np.dot(np.where(self.sign > 0, weight, 0.0), X)
        return replace(self, weight=weight, meeting_point=point)

    def verify(self, X: Any, y: Any) -> bool:
        """Whether the certificate holds for these examples, by sums and products alone."""
        X, labels = finite_numbers(X), check_labels(y)
        sign = np.where(labels.codes == 1, 1.0, -1.0)
        same = np.array_equal(sign, self.sign) and np.array_equal(labels.classes, self.classes)
        if not same or X.shape[0] != sign.size:
            return False
        plane = self.coef is None or self._plane_holds(X, sign)
        weights = self.weight is None or self._weights_hold(X, sign)
        return plane and weights

    def _plane_holds(self, X: Array, sign: Array) -> bool:
        distance = sign * (np.dot(X, np.asarray(self.coef)) + self.intercept)
        if self.separable:
            return bool(distance.min() > 0)
        return bool(distance.max() > 0 and distance.min() >= -LEAST_MARGIN * distance.max())

    def _weights_hold(self, X: Array, sign: Array) -> bool:
        weight = np.asarray(self.weight)
        totals = np.array([weight[sign > 0].sum(), weight[sign < 0].sum()])
        apart = np.abs(np.dot(sign * weight, X - X[0]))  # from one of them, as digits may be few
        enough = weight.min() > 0 if self.finite_fit else weight.min() >= 0
        close = (apart <= AGREEMENT * np.ptp(X, axis=0)).all()
        return bool(enough and close and np.allclose(totals, 1.0, atol=AGREEMENT))

    def __str__(self) -> str:
        lines = [_HEADLINES[self.kind]]
        if self.coef is not None:
            plane = " ".join(f"{w:+.4g}·x{j}" for j, w in enumerate(self.coef) if w != 0)
            lines.append(f"Plane: {plane} {self.intercept:+.4g} = 0; {self.classes[1]} where > 0.")
        if self.margin:
            lines.append(f"The nearest example is {short_number(self.margin)} away from it.")
        if self.weight is not None and self.meeting_point is not None:
            place = ", ".join(map(short_number, self.meeting_point.tolist()))
            lines.append(f"Weighted means of the two classes coincide at ({place}):")
            lines += [self._combination(k) for k in (0, 1)]
        return "\n".join(lines)

    def _combination(self, k: int) -> str:
        weight = np.where(self.sign > 0, k == 1, k == 0) * np.asarray(self.weight)
        rows = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]
        terms = " + ".join(f"{short_number(weight[i])}·row {i}" for i in rows[:TERMS_SHOWN])
        more = f" + {rows.size - TERMS_SHOWN} more" if rows.size > TERMS_SHOWN else ""
        return f"  class {self.classes[k]}: {terms}{more}"


def separability(X: Any, y: Any) -> Separability:
    """A plane that separates the two classes of ``y``, or a proof that none exists.

    A plane within a millionth of the columns' ranges of an example counts as touching it.
    One linear program of n constraints where the classes overlap, two otherwise.

    Parameters
    ----------
    X : array or frame of numbers, shape (n, d)
    y : array of shape (n,)
        Two classes, of any type.

    Examples
    --------
    >>> print(separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    The classes overlap: no plane separates them.
    Weighted means of the two classes coincide at (0.5, 0.5):
      class 0: 0.5·row 0 + 0.5·row 3
      class 1: 0.5·row 1 + 0.5·row 2
    """
    X = finite_numbers(X)
    classes, codes = check_labels(y, n_rows=X.shape[0])
    if len(classes) != 2:
        raise InvalidInput(
            f"y has {len(classes)} classes; a plane separates 2. "
            "Ask for one class against the others: separability(X, y == label)."
        )
    sign, units = np.where(codes == 1, 1.0, -1.0), _Units.of(X)
    A = sign[:, None] * np.column_stack([units.scaled(X), np.ones(len(X))])
    found = Separability(kind="overlapping", classes=classes, sign=sign)
    weak = _weakest_plane(A)
    if weak.weight is not None:
        return found.with_weight(X, weak.weight)
    strict = _widest_plane(A)
    if strict.weight is None:
        return replace(found, kind="complete").with_plane(X, units.original(strict.beta))
    touching = replace(found, kind="quasi-complete").with_weight(X, strict.weight)
    return touching.with_plane(X, units.original(weak.beta))


class _Answer(NamedTuple):
    """A plane in scaled columns, or the weights that show there is none."""

    beta: Array
    weight: Array | None


class _Units(NamedTuple):
    """Columns moved and scaled to [−1, 1], because the solver has absolute tolerances."""

    middle: Array
    half: Array

    @classmethod
    def of(cls, X: Array) -> "_Units":
        low, high = X.min(axis=0), X.max(axis=0)
        return cls(low / 2 + high / 2, np.where(high > low, high / 2 - low / 2, 1.0))

    def scaled(self, X: Array) -> Array:
        return (X - self.middle) / self.half

    def original(self, beta: Array) -> Array:
        """The same plane for the original X, with w of unit length."""
        w = beta[:-1] / self.half
        theta = np.append(w, beta[-1] - np.dot(w, self.middle))
        length = float(np.linalg.norm(w))
        return np.asarray(theta / length if length > 0 else theta)


def _weakest_plane(A: Array) -> _Answer:
    """Any β ≠ 0 with Aβ ≥ 0 that is not 0 on all examples; else all-positive weights."""
    found = solve_program(-A.sum(axis=0), -A, np.zeros(len(A)), [(-1.0, 1.0)] * A.shape[1])
    beta = np.asarray(found.x)
    if np.dot(A, beta).max() > LEAST_MARGIN:
        return _Answer(beta, None)
    return _Answer(beta, _normalised(A, 1.0 - np.asarray(found.ineqlin.marginals)))


def _widest_plane(A: Array) -> _Answer:
    """The β with the largest least margin δ in scaled columns; weights where δ is 0."""
    n, d = A.shape
    bounds: Bounds = [*[(-1.0, 1.0)] * (d - 1), (None, None), (0.0, None)]
    found = solve_program(-np.eye(d + 1)[d], np.column_stack([-A, np.ones(n)]), np.zeros(n), bounds)
    beta, margin = np.asarray(found.x[:-1]), float(found.x[-1])
    if margin > LEAST_MARGIN:
        return _Answer(beta, None)
    return _Answer(beta, _normalised(A, -np.asarray(found.ineqlin.marginals)))


def solve_program(c: Array, A: Array, b: Array, bounds: Bounds) -> Any:
    from scipy.optimize import linprog

    found = linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs")
    if found.status != 0:
        raise InvalidInput(
            f"The linear program for {len(A)} examples ended without an answer: {found.message} "
            "Standardise the columns, or drop those that are nearly the same."
        )
    return found


def _normalised(A: Array, weight: Array) -> Array:
    """Non-negative, with sum 1 in each class."""
    weight, positive = np.maximum(weight, 0.0), A[:, -1] > 0
    totals = np.where(positive, weight[positive].sum(), weight[~positive].sum())
    return np.asarray(weight / totals)
