"""The objective of softmax regression: a penalised sum over examples, one predictor per class.

    η_ik = x̃_iᵀθ_k        p_ik = e^{η_ik} / Σ_l e^{η_il}        x̃ = [x; 1]
    f(Θ) = −Σ_i w_i Σ_k t_ik ln p_ik + ½ Σ κ_kj θ_kj²           F = f + Σ λ_kj |θ_kj|
    ∂f/∂θ_k = Σ_i w_i (p_ik − t_ik) x̃_i + κ_k ∘ θ_k
    ∂²f/∂θ_k∂θ_l = −Σ_i w_i p_ik p_il x̃_i x̃_iᵀ  (k ≠ l);        over l the blocks sum to 0
    ∂²f  ≼  (I − 11ᵀ/K) ⊗ ½ Σ_i w_i x̃_i x̃_iᵀ + diag κ            at every Θ

θ is flat, class by class: K rows of [coefficients…, intercept].  t is one-hot (y holds class
numbers) or soft (y holds rows that sum to 1).

A vector added to all θ_k changes no probability.  Where no penalty determines it, ``tie`` does: it
adds ½ Σ_j τ_j (Σ_k θ_kj)² / K, which is 0 at the optimum that is centred over classes.  With a
reference class, whose weights are 0, there are K − 1 rows, and they are determined.

References
----------
Böhning (1992), Multinomial logistic regression algorithm, §2 (the bound).
Bishop, Pattern Recognition and Machine Learning, §4.3.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.layouts.base import Design
from likely.likelihoods.categorical import Categorical
from likely.objectives.linear import PenalisedSum, Terms, Total, weighted_sum
from likely.objectives.scores import RowScores, Scoring
from likely.penalties.base import Penalty
from likely.solvers.base import FirstOrder, SecondOrder
from likely.special import logsumexp, softmax

PAIRS_AT_ONCE = 32  # columns of weights that are in memory with a block


@final
@dataclass(frozen=True)
class SoftmaxClasses:
    """The number of classes, and the reference class, if any, whose weights are 0."""

    count: int
    reference: int | None = None

    @property
    def weighted(self) -> int:
        """How many classes have a row of θ."""
        return self.count - (self.reference is not None)

    def rows(self, theta: Array) -> Array:
        """Θ, (K or K − 1, p)."""
        return theta.reshape(self.weighted, -1)

    def number(self, row: int) -> int:
        """The class of a row of Θ."""
        return row if self.reference is None or row < self.reference else row + 1

    def widen(self, eta: Array) -> Array:
        """The reference class has η = 0."""
        return eta if self.reference is None else np.insert(eta, self.reference, 0.0, axis=1)

    def narrow(self, slope: Array) -> Array:
        return slope if self.reference is None else np.delete(slope, self.reference, axis=1)

    def eta(self, theta: Array, block: Block) -> Array:
        """XΘᵀ, (n, K)."""
        return self.widen(block.X.matmat(self.rows(theta).T))

    def flat_gradient(self, residual: Array, block: Block) -> Array:
        """Xᵀ(P − T), class by class."""
        return block.X.rmatmat(self.narrow(residual)).T.ravel()


def cross_entropy(y: Array, eta: Array) -> Array:
    """−Σ_k t_k ln p_k of each example, from class numbers or from rows of t; (n,)."""
    if y.ndim == 1:
        return Categorical(eta.shape[1]).nll(y, eta)
    return y.sum(axis=1) * logsumexp(eta, axis=1) - np.einsum("ik,ik->i", y, eta)


def cross_entropy_slope(y: Array, eta: Array) -> tuple[Array, Array]:
    """The cross-entropy (n,) and its derivative p Σ_k t_k − t in η, (n, K)."""
    if y.ndim == 1:
        nll, slope, _ = Categorical(eta.shape[1]).derivatives(y, eta)
        return nll, slope
    return cross_entropy(y, eta), y.sum(axis=1, keepdims=True) * softmax(eta, axis=1) - y


def row_weights(block: Block) -> Array:
    """w_i Σ_k t_ik: the weight of an example."""
    total = np.ones(block.n_rows) if block.target.ndim == 1 else block.target.sum(axis=1)
    return total if block.weight is None else block.weight * total


def block_value(classes: SoftmaxClasses, theta: Array, block: Block) -> Total:
    return Total(weighted_sum(block.weight, cross_entropy(block.target, classes.eta(theta, block))))


def block_first_order(classes: SoftmaxClasses, theta: Array, block: Block) -> FirstOrder:
    nll, slope = cross_entropy_slope(block.target, classes.eta(theta, block))
    if block.weight is not None:
        slope = slope * block.weight[:, None]
    return FirstOrder(weighted_sum(block.weight, nll), classes.flat_gradient(slope, block))


def block_second_order(classes: SoftmaxClasses, theta: Array, block: Block) -> SecondOrder:
    here = block_first_order(classes, theta, block)
    everything = np.arange(len(theta))
    hessian = block_hessian_on(classes, theta, everything, block).value
    return SecondOrder(here.value, here.gradient, np.asarray(hessian))


def block_hessian_on(classes: SoftmaxClasses, theta: Array, columns: Array, block: Block) -> Total:
    """The Hessian on some entries of θ: a sandwich of −p_k p_l for each pair of classes.

    Over all classes its rows add up to 0, which gives the blocks on the diagonal.
    """
    probability = softmax(classes.eta(theta, block), axis=1)
    k, j = np.divmod(columns, len(theta) // classes.weighted)
    features = np.unique(j)
    place = np.searchsorted(features, j)
    whole = np.array_equal(columns, np.arange(len(theta)))  # then slices, which are faster
    size = len(features)
    entries: dict[int, Any] = {
        classes.number(a): slice(a * size, (a + 1) * size) if whole else np.flatnonzero(k == a)
        for a in range(classes.weighted)
    }
    out = np.zeros((len(columns), len(columns)))
    for a, b, part in _pairs(probability, block, features):
        for one, other in ((a, a), (b, b), (a, b), (b, a)):
            if one not in entries or other not in entries:  # the reference class has none
                continue
            rows, others = entries[one], entries[other]
            sign = 1.0 if one == other else -1.0
            if whole:
                out[rows, others] += sign * part
            else:
                out[rows[:, None], others] += sign * part[place[rows][:, None], place[others]]
    return Total(out)


def _pairs(probability: Array, block: Block, features: Array) -> Iterator[tuple[int, int, Array]]:
    """Each pair of classes, with Σ w p_k p_l xxᵀ on the features."""
    wanted = None if len(features) == block.X.n_features else features
    first, second = np.triu_indices(probability.shape[1], 1)
    weight = row_weights(block)[:, None]
    for start in range(0, len(first), PAIRS_AT_ONCE):
        a, b = first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
        D = weight * probability[:, a] * probability[:, b]
        yield from zip(a.tolist(), b.tolist(), block.X.sandwiches(D, wanted), strict=True)


def block_hessian_times(
    classes: SoftmaxClasses, theta: Array, direction: Array, block: Block
) -> Total:
    probability = softmax(classes.eta(theta, block), axis=1)
    moved = probability * classes.eta(direction, block)
    moved -= probability * moved.sum(axis=1, keepdims=True)
    return Total(classes.flat_gradient(row_weights(block)[:, None] * moved, block))


def block_gram(columns: Array | None, block: Block) -> Total:
    """Σ w_i x̃_i x̃_iᵀ."""
    return Total(block.X.sandwich(row_weights(block), columns))


def block_shared_curvature(classes: SoftmaxClasses, theta: Array, block: Block) -> Total:
    """The mean over classes of the diagonal blocks of the Hessian."""
    probability = softmax(classes.eta(theta, block), axis=1)
    curvature = classes.narrow(probability * (1.0 - probability)).mean(axis=1)
    return Total(block.X.sandwich(row_weights(block) * curvature))


@final
@dataclass(frozen=True, eq=False)
class SoftmaxScores(RowScores):
    """One predictor for each class that has weights: X_i = I ⊗ x_iᵀ."""

    slope: Array  # p − t, (n, m)
    weight: Array
    probability: Array  # (n, m)
    X: Design

    @property
    def curvature(self) -> Array:
        return categorical_curvature(self.probability)

    def predictors(self, root: Array) -> Array:
        n, m = self.slope.shape
        classes = root.reshape(m, -1, root.shape[1])
        side_by_side = np.ascontiguousarray(classes.transpose(1, 0, 2)).reshape(
            classes.shape[1], -1
        )
        return self.X.matmat(side_by_side).reshape(n, m, -1)

    def on_parameters(self, slope: Array) -> Array:
        rows = self.X.matmat(np.eye(self.X.n_features))  # any layout, as numbers
        return (slope[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)


def softmax_scores(classes: SoftmaxClasses, theta: Array, block: Block) -> Iterator[SoftmaxScores]:
    """The scores of a block; a soft label splits the row among the classes."""
    eta = classes.eta(theta, block)
    for codes, weight in hard_labels(block, classes.count):
        _, slope = cross_entropy_slope(codes, eta)
        probability = classes.narrow(softmax(eta, axis=1))
        yield SoftmaxScores(classes.narrow(slope), weight, probability, block.X)


def hard_labels(block: Block, n_classes: int) -> Iterator[tuple[Array, Array]]:
    """Class numbers and weights: a soft label t is the row t_k times in class k."""
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    if block.target.ndim == 1:
        yield block.target, weight
        return
    for k in range(n_classes):
        yield np.full(block.n_rows, k), weight * block.target[:, k]


def categorical_curvature(probability: Array) -> Array:
    """diag p − ppᵀ of each example, (n, m, m)."""
    out = -probability[:, :, None] * probability[:, None, :]
    at = np.arange(probability.shape[1])
    out[:, at, at] = probability * (1.0 - probability)
    return out


def block_class_weight(n_classes: int, block: Block) -> Total:
    """The weight of each class, (K,)."""
    parts = hard_labels(block, n_classes)
    return Total(
        sum(
            (np.bincount(codes, weight, minlength=n_classes) for codes, weight in parts),
            np.zeros(n_classes),
        )
    )


@final
@dataclass(frozen=True, eq=False)
class SoftmaxObjective(PenalisedSum):
    """One predictor per class; the tie is added to the penalty."""

    n_classes: int
    penalty_on: Penalty
    blocks: Blocks
    executor: Executor
    reference: int | None = None
    tie: Array | None = None  # τ, one per column; None is 0
    unit: float | None = None

    @property
    def classes(self) -> SoftmaxClasses:
        return SoftmaxClasses(self.n_classes, self.reference)

    @property
    def terms(self) -> Terms:
        return Terms(
            partial(block_value, self.classes),
            partial(block_first_order, self.classes),
            partial(block_second_order, self.classes),
        )

    @property
    def scoring(self) -> Scoring:
        return Scoring(partial(softmax_scores, self.classes), self.classes.weighted)

    @property
    def size(self) -> int:
        return self.classes.weighted * self.blocks.n_features

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        term = partial(block_hessian_on, self.classes)
        total = np.asarray(self.total(term, theta, columns).value)
        return total + self.smooth_hessian(theta, columns)

    def hessian_times(self, theta: Array, direction: Array) -> Array:
        term = partial(block_hessian_times, self.classes)
        total = np.asarray(self.total(term, theta, direction).value)
        return total + self.penalty_on.curvature(theta) * direction + self._tied(direction)

    def curvature_bound(self, columns: Array | None = None) -> Array:
        """½ Σ w x̃x̃ᵀ + κ on some columns, for any one class: an upper bound on every Hessian."""
        gram = self.executor.sum(partial(block_gram, columns), self.blocks).value
        kappa = self._least_ridge()
        return 0.5 * gram + np.diag(kappa if columns is None else kappa[columns])

    def shared_curvature(self, theta: Array) -> Array:
        """Σ w x̃x̃ᵀ Σ_k p_k(1 − p_k)/K + κ: the curvature that classes share at θ, (p, p)."""
        term = partial(block_shared_curvature, self.classes)
        return self.total(term, theta).value + np.diag(self._least_ridge())

    def smooth(self, theta: Array) -> float:
        return super().smooth(theta) + 0.5 * float(np.dot(theta, self._tied(theta)))

    def smooth_gradient(self, theta: Array) -> Array:
        return super().smooth_gradient(theta) + self._tied(theta)

    def smooth_hessian(self, theta: Array, columns: Array) -> Array:
        ridge = super().smooth_hessian(theta, columns)
        if self.tie is None:
            return ridge
        j = columns % self.blocks.n_features
        return ridge + np.where(j[:, None] == j, self.tie[j] / self.classes.weighted, 0.0)

    def _least_ridge(self) -> Array:
        """κ of each column, the minimum over classes."""
        kappa = self.penalty_on.curvature(np.zeros(self.size))
        return np.asarray(self.classes.rows(kappa).min(axis=0))

    def _tied(self, theta: Array) -> Array:
        """τ_j Σ_l θ_lj / K for every class."""
        if self.tie is None:
            return np.zeros_like(theta)
        rows = self.classes.rows(theta)
        return np.broadcast_to(self.tie * rows.mean(axis=0), rows.shape).ravel()
