"""The objective of ordinal regression: coefficients and decreasing thresholds.

    f(β, b) = Σ_i w_i nll(y_i, x_iᵀβ + o_i; b) + ½ Σ_j κ_j β_j²        b_0 > b_1 > … > b_{K−2}

The thresholds themselves are parameters: f is convex in (β, b) for every link with a log-concave
density, and inf where two thresholds meet or cross, so that a line search avoids such points.

    ∂²f/∂β∂β = Xᵀ diag(h) X      ∂²f/∂β∂b_j = Σ over the examples of the classes j and j + 1
    ∂²f/∂b∂b tridiagonal

An example depends on two thresholds, so the observed Hessian costs no more than n·p·(p + K).  With
the cauchit, which is not log-concave, it may be indefinite far from the optimum; there it is
replaced by its expectation, which is never indefinite.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.layouts.base import Design
from likely.likelihoods.ordinal import Ordinal, OrdinalCurvature, ordinal_curvature
from likely.numerics.cholesky import factorise
from likely.objectives.linear import PenalisedSum, Terms, Total, block_eta, weighted, weighted_sum
from likely.objectives.scores import RowScores, Scoring
from likely.penalties.base import Penalty
from likely.solvers.base import FirstOrder, SecondOrder

CHUNK_CELLS = 2**15  # rows × classes of a temporary: a quarter of a megabyte
FEWEST_CHUNK_ROWS = 256


@final
@dataclass(frozen=True, eq=False)
class OrdinalScores(RowScores):
    """Two predictors for each example: u and v, at the thresholds above and below its class."""

    slope: Array  # (n, 2); 0 at an end that is infinite
    weight: Array
    here: OrdinalCurvature
    codes: Codes
    X: Design
    n_classes: int

    @property
    def curvature(self) -> Array:
        """Observed curvatures, as in the Hessian."""
        between = self.here.between
        upper, lower = self.here.upper_eta - between, self.here.lower_eta - between
        return np.stack([upper, between, between, lower], axis=1).reshape(-1, 2, 2)

    def predictors(self, root: Array) -> Array:
        p = self.X.n_features
        ends = np.zeros((len(root) - p + 2, root.shape[1]))  # 0 at the infinite ones
        ends[1:-1] = root[p:]
        shared = self.X.matmat(root[:p])
        return np.stack([shared + ends[self.codes], shared + ends[self.codes + 1]], axis=1)

    def on_parameters(self, slope: Array) -> Array:
        rows = self.X.matmat(np.eye(self.X.n_features))  # any layout, as numbers
        n, n_ends = len(rows), self.n_classes + 1
        ends = np.zeros((n, n_ends))
        ends[np.arange(n), self.codes] = slope[:, 0]
        ends[np.arange(n), self.codes + 1] = slope[:, 1]
        return np.hstack([slope.sum(axis=1)[:, None] * rows, ends[:, 1:-1]])


def ordinal_scores(likelihood: Ordinal, theta: Array, block: Block) -> Iterator[OrdinalScores]:
    here = _curvature(likelihood, theta, block)
    slope, weight = np.column_stack([here.upper, here.lower]), np.ones(block.n_rows)
    weight = weighted(block.weight, weight)
    yield OrdinalScores(slope, weight, here, block.target, block.X, likelihood.n_classes)


@final
@dataclass(frozen=True, eq=False)
class OrdinalObjective(PenalisedSum):
    """θ = (β, b): p coefficients, then K − 1 thresholds."""

    likelihood: Ordinal
    penalty_on: Penalty
    blocks: Blocks
    executor: Executor
    unit: float | None = None

    @property
    def terms(self) -> Terms:
        return Terms(
            partial(block_value, self.likelihood),
            partial(block_first_order, self.likelihood),
            partial(block_observed, self.likelihood),
        )

    @property
    def scoring(self) -> Scoring:
        return Scoring(partial(ordinal_scores, self.likelihood), n_predictors=2)

    @property
    def size(self) -> int:
        return self.blocks.n_features + self.likelihood.n_classes - 1

    def allows(self, theta: Array) -> bool:
        """Whether the thresholds decrease."""
        return bool((np.diff(theta[self.blocks.n_features :]) < 0).all())

    def start(self, frequency: Array) -> Array:
        """β = 0 and the thresholds that give these class frequencies."""
        thresholds = self.likelihood.thresholds_of_frequencies(frequency)
        return np.concatenate([np.zeros(self.blocks.n_features), thresholds])

    def second_order(self, theta: Array) -> SecondOrder:
        """With the observed Hessian, or its expectation where it is not positive definite."""
        here = self.observed(theta)
        if self.likelihood.link.log_concave or _is_positive_definite(here.hessian):
            return here
        return self.expected(theta)

    def observed(self, theta: Array) -> SecondOrder:
        """With the observed Hessian for any link, used for standard errors."""
        return super().second_order(theta)

    def expected(self, theta: Array) -> SecondOrder:
        """With the expected Hessian, Fisher's information plus the penalty's curvature."""
        return self.penalised(theta, self.total(partial(block_expected, self.likelihood), theta))


def block_value(likelihood: Ordinal, theta: Array, block: Block) -> Total:
    beta, thresholds = _parts(theta, block)
    nll = likelihood.nll(block.target, block_eta(beta, block), thresholds)
    return Total(weighted_sum(block.weight, nll))


def block_first_order(likelihood: Ordinal, theta: Array, block: Block) -> FirstOrder:
    here = _curvature(likelihood, theta, block)
    sums = _class_sums(likelihood, block, here.upper, here.lower)
    return FirstOrder(weighted_sum(block.weight, here.nll), _gradient(here, block, sums))


def block_observed(likelihood: Ordinal, theta: Array, block: Block) -> SecondOrder:
    here = _curvature(likelihood, theta, block)
    p = block.X.n_features
    sums = _class_sums(
        likelihood, block, here.upper, here.lower, here.upper_eta, here.lower_eta, here.between
    )
    upper, lower, between = sums[:, 2] - sums[:, 4], sums[:, 3] - sums[:, 4], sums[:, 4]
    hessian = np.empty((theta.size, theta.size))
    hessian[:p, :p] = block.X.sandwich(weighted(block.weight, here.eta_eta))
    hessian[:p, p:] = _cross(likelihood, here, block)
    hessian[p:, :p] = hessian[:p, p:].T
    hessian[p:, p:] = _tridiagonal(upper[1:] + lower[:-1], between[1:-1])
    return SecondOrder(weighted_sum(block.weight, here.nll), _gradient(here, block, sums), hessian)


def block_expected(likelihood: Ordinal, theta: Array, block: Block) -> SecondOrder:
    here = _curvature(likelihood, theta, block)
    beta, thresholds = _parts(theta, block)
    p, eta = block.X.n_features, block_eta(beta, block)
    hessian = np.zeros((theta.size, theta.size))
    for rows in _chunks(block.n_rows, likelihood.n_classes):
        weight = np.ones(rows.stop - rows.start) if block.weight is None else block.weight[rows]
        information = likelihood.information(eta[rows], thresholds)
        design = block.X.rows(rows.start, rows.stop)
        hessian[:p, :p] += design.sandwich(weight * information.eta)
        hessian[:p, p:] += design.rmatmat(weight[:, None] * information.cross)
        diagonal = np.dot(weight, information.diagonal)
        hessian[p:, p:] += _tridiagonal(diagonal, np.dot(weight, information.off_diagonal))
    hessian[p:, :p] = hessian[:p, p:].T
    sums = _class_sums(likelihood, block, here.upper, here.lower)
    return SecondOrder(weighted_sum(block.weight, here.nll), _gradient(here, block, sums), hessian)


def _parts(theta: Array, block: Block) -> tuple[Array, Array]:
    return theta[: block.X.n_features], theta[block.X.n_features :]


def _curvature(likelihood: Ordinal, theta: Array, block: Block) -> OrdinalCurvature:
    beta, thresholds = _parts(theta, block)
    eta = block_eta(beta, block)
    return ordinal_curvature(likelihood, block.target, eta, thresholds=thresholds)


def _gradient(here: OrdinalCurvature, block: Block, sums: Array) -> Array:
    """(∂f/∂β, ∂f/∂b), with the slopes at both ends summed by class in the first two columns."""
    on_coef = block.X.rmatmat(weighted(block.weight, here.eta))
    return np.concatenate([on_coef, sums[1:, 0] + sums[:-1, 1]])


def _cross(likelihood: Ordinal, here: OrdinalCurvature, block: Block) -> Array:
    """∂²f/∂β∂b, (p, K − 1): Xᵀ times a matrix with two numbers in each row."""
    n_ends = likelihood.n_classes + 1  # with the two infinite ones, dropped at the end
    out = np.zeros((block.X.n_features, n_ends))
    upper = weighted(block.weight, here.upper_eta)
    lower = weighted(block.weight, here.lower_eta)
    for rows in _chunks(block.n_rows, n_ends):
        code, row = block.target[rows], np.arange(rows.stop - rows.start)
        ends = np.zeros((row.size, n_ends))
        ends[row, code] = upper[rows]
        ends[row, code + 1] = lower[rows]
        out += block.X.rows(rows.start, rows.stop).rmatmat(ends)
    return out[:, 1:-1]


def _class_sums(likelihood: Ordinal, block: Block, *values: Array) -> Array:
    """Σ w_i v_i over each class, (K, len(values)), by a product that releases the GIL."""
    n = block.n_rows
    weight = np.ones(n) if block.weight is None else block.weight
    members = sparse.csc_array(
        (weight, block.target.astype(np.int32), np.arange(n + 1, dtype=np.int32)),
        shape=(likelihood.n_classes, n),
    )
    return np.asarray(members @ np.column_stack(values))


def _is_positive_definite(hessian: Array) -> bool:
    try:
        factorise(hessian, hold=False)
    except LinAlgError:
        return False
    return True


def _tridiagonal(diagonal: Array, off_diagonal: Array) -> Array:
    return np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)


def _chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows with small n × K temporaries."""
    size = max(FEWEST_CHUNK_ROWS, CHUNK_CELLS // n_columns)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
