"""Scores where an example has several predictors: the middle of a robust covariance.

    η_i = X_iθ      s_i = ∂nll_i/∂η_i, (m,)      C_i = ∂²nll_i/∂η_i², (m, m)      u_i = X_iᵀs_i
    meat      M = Σ w_i ũ_i ũ_iᵀ,   ũ_i = X_iᵀ(I − C_iV_i)^(−a/2) s_i,   V_i = X_i(H + P)⁻¹X_iᵀ
    clusters  M = Σ_g u_g u_gᵀ,     u_g = Σ_{i in g} w_i u_i

The m predictors are the classes of softmax regression, the labels of a maximum-entropy model, or
the two thresholds around an ordered class.  With m = 1 this is ``objectives/inference.py``, where
C_iV_i is the leverage h_i.  a is 0 for HC0 and HC1, 1 for HC2 and 2 for HC3; with a = 2, B ũ_i is
the change of the estimate by one Newton step when the example is left out.

References
----------
Mancl & DeRouen (2001), A covariance estimator for GEE with improved small-sample properties,
Biometrics 57.  Bell & McCaffrey (2002), Bias reduction in standard errors for linear regression
with multi-stage samples, Survey Methodology 28.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks, Block
from likely.objectives.inference import NOTHING_LEFT, ClusterScores, cluster_scores
from likely.objectives.linear import Total

CHUNK_CELLS = 2**20  # numbers in a temporary: 8 MB


class RowScores(ABC):
    """Slopes and curvatures of some examples, and how their predictors depend on θ."""

    slope: Array  # s, (n, m)
    weight: Array  # (n,)

    @property
    @abstractmethod
    def curvature(self) -> Array:
        """C, (n, m, m)."""

    @abstractmethod
    def predictors(self, root: Array) -> Array:
        """X_i times the columns of ``root``, (n, m, rank)."""

    @abstractmethod
    def on_parameters(self, slope: Array) -> Array:
        """X_iᵀ s_i of each example, (n, p)."""


class Scoring(NamedTuple):
    """How the scores of a model's examples are computed."""

    of: Callable[[Array, Block], Iterable[RowScores]]  # at θ; soft labels are several parts
    n_predictors: int  # m


def block_scores_meat(
    scoring: Scoring, theta: Array, root: Array, exponent: int, block: Block
) -> Total:
    """Σ w ũũᵀ; ``root`` is R with (H + P)⁻¹ = RRᵀ."""
    total = np.zeros((theta.size, theta.size))
    each = max(theta.size, scoring.n_predictors * root.shape[1] if exponent else 0)
    for part in _chunks(block, each):
        for scores in scoring.of(theta, part):
            slope = scores.slope
            if exponent:
                slope = without_leverage(slope, scores.curvature, scores.predictors(root), exponent)
            u = scores.on_parameters(slope)
            total += np.dot(u.T, scores.weight[:, None] * u)
    return Total(total)


def block_scores_of_clusters(scoring: Scoring, theta: Array, block: Block) -> ClusterScores:
    found = ClusterScores(np.empty(0, dtype=np.intp), np.empty((0, theta.size)))
    for part in _chunks(block, theta.size):
        for scores in scoring.of(theta, part):
            u = scores.weight[:, None] * scores.on_parameters(scores.slope)
            found = found + cluster_scores(part.group, u)
    return found


def without_leverage(slope: Array, curvature: Array, predictors: Array, exponent: int) -> Array:
    """(I − CV)^(−a/2) s with V = AAᵀ, A = ``predictors``; ``exponent`` is a, 1 or 2.

    With V = SSᵀ the powers of CV are C S(SᵀCS)ᵏSᵀ, so that no matrix is inverted.  A direction
    with leverage 1 is left as it is.
    """
    values, vectors = np.linalg.eigh(predictors @ predictors.transpose(0, 2, 1))
    S = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    leverage, axes = np.linalg.eigh(S.transpose(0, 2, 1) @ curvature @ S)
    left = np.where(leverage < 1 - NOTHING_LEFT, 1 - leverage, np.inf)
    # (left^(−a/2) − 1)/h, without the difference
    grown = 1 / left if exponent == 2 else 1 / (np.sqrt(left) * (1 + np.sqrt(left)))
    pulled = np.einsum("nmq,nm->nq", S @ axes, slope)
    return np.asarray(slope + np.einsum("nmq,nq->nm", curvature @ S @ axes, grown * pulled))


def _chunks(block: Block, each: int) -> Iterable[Block]:
    """The block in slices of rows with small temporaries, of ``each`` numbers per row."""
    rows = max(1, CHUNK_CELLS // each)
    return ArrayBlocks(
        block.X, block.y, block.weight, block.offset, block.group, rows_per_block=rows
    )
