"""Objectives written out with NumPy, for the tests of solvers."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit

from likely.solvers.base import FirstOrder, FirstOrderObjective, SecondOrder, SmoothObjective


class Smooth(SmoothObjective, FirstOrderObjective):
    """Everything from ``second_order``, with an optional L1 penalty beside it."""

    groups = None

    def value(self, theta):
        return self.second_order(theta).value

    def first_order(self, theta):
        here = self.second_order(theta)
        return FirstOrder(here.value, here.gradient)

    def hessian_on(self, theta, columns):
        return self.second_order(theta).hessian[np.ix_(columns, columns)]

    def penalty(self, theta):
        return float(np.dot(self.l1, np.abs(theta)))

    def prox(self, theta, step):
        return np.sign(theta) * np.maximum(np.abs(theta) - step * self.l1, 0.0)


@dataclass(frozen=True, eq=False)
class Quadratic(Smooth):
    """½θᵀQθ − cᵀθ + Σ λ|θ|."""

    Q: np.ndarray
    c: np.ndarray
    l1: np.ndarray = None

    def second_order(self, theta):
        value = 0.5 * theta @ self.Q @ theta - self.c @ theta
        return SecondOrder(float(value), self.Q @ theta - self.c, self.Q)


@dataclass(frozen=True, eq=False)
class Logistic(Smooth):
    """Σ log(1 + exp(−s xᵀθ)) + ½ Σ κθ² + Σ λ|θ|, s = ±1."""

    X: np.ndarray
    sign: np.ndarray
    l2: np.ndarray
    l1: np.ndarray = None
    seen: list = field(default_factory=list)  # the columns every Hessian was asked for

    def second_order(self, theta):
        margin = self.sign * (self.X @ theta)
        wrong = expit(-margin)
        return SecondOrder(
            float(np.logaddexp(0, -margin).sum() + 0.5 * self.l2 @ theta**2),
            -self.X.T @ (self.sign * wrong) + self.l2 * theta,
            (self.X.T * (wrong * expit(margin))) @ self.X + np.diag(self.l2),
        )

    def hessian_on(self, theta, columns):
        self.seen.append(columns)
        return super().hessian_on(theta, columns)

    def total(self, theta):
        return self.value(theta) + self.penalty(theta)


def random_quadratic(seed, d, l1=0.0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return Quadratic(A @ A.T + np.eye(d), rng.normal(size=d), np.full(d, float(l1)))


def random_logistic(seed, n=60, d=5, *, l1=0.0, l2=0.5, scale=1.0):
    """An intercept in the last column, free of penalty."""
    rng = np.random.default_rng(seed)
    Z, scale = rng.normal(size=(n, d)), np.broadcast_to(scale, d)
    sign = np.where(rng.random(n) < expit(Z[:, 0]), 1.0, -1.0)
    free = np.append(np.ones(d), 0.0)
    return Logistic(
        X=np.column_stack([Z * scale, np.ones(n)]),
        sign=sign,
        l2=l2 * free * np.append(scale, 1.0) ** 2,  # the same model in other units
        l1=l1 * free,
    )


def rare_logistic(l1=0.0):
    """1 % of 2,000 rows and 29 of a group of 30, from the constant model; and the optimum.

    The group's column is centred, as a linear model sees it: its curvature besides that of the
    intercept can vanish.
    """
    group, sign = (
        np.repeat([1.0, 1, 0, 0], [29, 1, 20, 1980]),
        np.repeat([1.0, -1, 1, -1], [29, 1, 20, 1980]),
    )
    centre, lost = group.mean(), np.array([-l1 / 30, l1 / 2000])
    inside, outside = logit(np.array([29 / 30, 0.01]) + lost)  # λ = Σ(y − p) over the group
    objective = Logistic(
        X=np.column_stack([group - centre, np.ones(len(group))]),
        sign=sign,
        l2=np.zeros(2),
        l1=np.array([l1, 0.0]),
    )
    start = np.array([0.0, logit(49 / 2030)])
    return objective, start, np.array([inside - outside, outside + centre * (inside - outside)])
