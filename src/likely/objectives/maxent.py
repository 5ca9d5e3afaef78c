"""The objective of a maximum-entropy model: feature functions of (x, y), one weight for each.

    p(y | x) = e^{wᵀf(x, y)} / Z(x)        Z(x) = Σ_y′ e^{wᵀf(x, y′)}
    F(w) = −Σ_i v_i log p(y_i | x_i) + ½ Σ_j κ_j w_j²
    ∇F = Σ_i v_i ( E_{p(y|x_i)} f(x_i, y) − f(x_i, y_i) ) + κ ∘ w
    ∇²F = Σ_i v_i Cov_{p(y|x_i)} f(x_i, y) + diag κ

The gradient is expected minus observed feature totals: at an unpenalised optimum they are equal,
and of all models with these totals this one has the largest entropy.

A block's X holds f as rows of K·J numbers, all features of the first class, then of the second, ….

References
----------
Berger, Della Pietra & Della Pietra, A maximum entropy approach to natural language processing,
1996.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.linear import PenalisedSum, Terms, Total, weighted, weighted_sum
from likely.objectives.scores import RowScores, Scoring
from likely.objectives.softmax import (
    categorical_curvature,
    cross_entropy,
    cross_entropy_slope,
    hard_labels,
    row_weights,
)
from likely.penalties.base import Penalty
from likely.solvers.base import FirstOrder, SecondOrder
from likely.special import softmax


@final
@dataclass(frozen=True, eq=False)
class FeatureTotals(FieldwiseAdditive):
    """Σ_i v_i f(x_i, y_i), and Σ_i v_i E[f(x_i, y)] under the model; (J,) each."""

    observed: Array
    expected: Array


def class_features(n_classes: int, block: Block) -> Array:
    """f of every class, (n, K, J)."""
    values: Any = block.X.stored()
    return np.asarray(values).reshape(len(values), n_classes, -1)


def relative_features(n_classes: int, block: Block) -> Array:
    """f(x, k) − f(x, 0): terms that all classes share are exactly 0, without rounding."""
    features = class_features(n_classes, block)
    return features - features[:, :1, :]


def block_eta(features: Array, w: Array) -> Array:
    """wᵀf(x_i, k), (n, K)."""
    return np.dot(features.reshape(-1, len(w)), w).reshape(features.shape[:2])


def block_value(n_classes: int, w: Array, block: Block) -> Total:
    eta = block_eta(relative_features(n_classes, block), w)
    return Total(weighted_sum(block.weight, cross_entropy(block.target, eta)))


def block_first_order(n_classes: int, w: Array, block: Block) -> FirstOrder:
    features = relative_features(n_classes, block)
    nll, slope = cross_entropy_slope(block.target, block_eta(features, w))
    if block.weight is not None:
        slope = slope * block.weight[:, None]
    gradient = np.dot(slope.ravel(), features.reshape(-1, len(w)))
    return FirstOrder(weighted_sum(block.weight, nll), gradient)


def block_second_order(n_classes: int, w: Array, block: Block) -> SecondOrder:
    here = block_first_order(n_classes, w, block)
    features = relative_features(n_classes, block)
    probability = softmax(block_eta(features, w), axis=1)
    centred = features - np.einsum("ik,ikj->ij", probability, features)[:, None, :]
    mass = (row_weights(block)[:, None] * probability).ravel()
    flat = centred.reshape(-1, len(w))
    return SecondOrder(here.value, here.gradient, np.dot(flat.T, flat * mass[:, None]))


def block_feature_totals(n_classes: int, w: Array, block: Block) -> FeatureTotals:
    features = class_features(n_classes, block)
    probability, flat = softmax(block_eta(features, w), axis=1), features.reshape(-1, len(w))
    seen = np.zeros_like(probability)
    seen[np.arange(block.n_rows), block.target] = weighted(block.weight, np.ones(block.n_rows))
    mass = row_weights(block)[:, None] * probability
    return FeatureTotals(np.dot(seen.ravel(), flat), np.dot(mass.ravel(), flat))


@final
@dataclass(frozen=True, eq=False)
class MaxEntropyScores(RowScores):
    """One predictor for each label: the rows of X_i are f(x_i, k)."""

    slope: Array  # p − t, (n, K)
    weight: Array
    probability: Array  # (n, K)
    features: Array  # (n, K, J)

    @property
    def curvature(self) -> Array:
        return categorical_curvature(self.probability)

    def predictors(self, root: Array) -> Array:
        return np.asarray(self.features @ root)

    def on_parameters(self, slope: Array) -> Array:
        return np.einsum("nk,nkj->nj", slope, self.features)


def maxent_scores(n_classes: int, w: Array, block: Block) -> Iterator[MaxEntropyScores]:
    features = relative_features(n_classes, block)
    eta = block_eta(features, w)
    for codes, weight in hard_labels(block, n_classes):
        _, slope = cross_entropy_slope(codes, eta)
        yield MaxEntropyScores(slope, weight, softmax(eta, axis=1), features)


@final
@dataclass(frozen=True, eq=False)
class MaxEntropyObjective(PenalisedSum):
    """One weight for each feature function."""

    n_classes: int
    penalty_on: Penalty
    blocks: Blocks
    executor: Executor
    unit: float | None = None

    @property
    def terms(self) -> Terms:
        return Terms(
            partial(block_value, self.n_classes),
            partial(block_first_order, self.n_classes),
            partial(block_second_order, self.n_classes),
        )

    @property
    def scoring(self) -> Scoring:
        return Scoring(partial(maxent_scores, self.n_classes), self.n_classes)

    @property
    def size(self) -> int:
        return self.blocks.n_features // self.n_classes

    def feature_totals(self, theta: Array) -> FeatureTotals:
        return self.total(partial(block_feature_totals, self.n_classes), theta)
