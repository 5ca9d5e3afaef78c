"""Firth's penalised likelihood: logistic regression whose estimates are always finite.

    f(θ) = nll(θ) − ½ ln |I(θ)|        I = Σ w c x xᵀ,   c = p(1 − p)
    ∇f = Σ_i w_i [(p_i − y_i) − h_i (½ − p_i)] x_i,   h_i = c_i x_iᵀ I⁻¹ x_i

The penalty is Jeffreys' prior.  One evaluation costs two passes: I, then the leverages h.

A coefficient is tested by the penalised likelihood with it fixed at 0.  |I| uses all columns in
both fits: without the tested column it would depend on that column's unit.

    T_j = 2 (min {f(θ): θ_j = 0} − min f)  ~  χ²₁

References
----------
Firth, Bias reduction of maximum likelihood estimates, Biometrika 80, 1993.
Heinze & Schemper, A solution to the problem of separation in logistic regression, 2002.
"""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array
from likely.cholesky import factorise
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.likelihoods.base import Likelihood
from likely.objectives.linear import block_eta, block_second_order, weighted
from likely.objectives.penalised import Total
from likely.solvers.base import SecondOrder, SmoothObjective


def block_leverage_score(
    likelihood: Likelihood, theta: Array, inverse: Array, block: Block
) -> Total:
    """Σ w h (½ − p) x."""
    eta = block_eta(theta, block)
    curvature = likelihood.derivatives(block.target, eta)[2]
    leverage = curvature * block.X.row_quadratic(inverse)
    pull = leverage * (0.5 - likelihood.mean(eta))
    return Total(block.X.rmatmat(weighted(block.weight, pull)))


@final
@dataclass(frozen=True, eq=False)
class Within(SmoothObjective):
    """An objective on the span of some directions: θ = Sφ."""

    objective: SmoothObjective
    span: Array  # S
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        here, S = self.objective.second_order(self.span @ theta), self.span
        return SecondOrder(here.value, S.T @ here.gradient, S.T @ here.hessian @ S)


@final
@dataclass(frozen=True, eq=False)
class FirthObjective(SmoothObjective):
    """The objective for the logit link."""

    likelihood: Likelihood
    blocks: Blocks
    executor: Executor
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        """With the information as the Hessian, as in Fisher scoring."""
        here = self.executor.sum(partial(block_second_order, self.likelihood, theta), self.blocks)
        factor = factorise(here.hessian)
        inverse = np.nan_to_num(factor.inverse(), nan=0.0)
        term = partial(block_leverage_score, self.likelihood, theta, inverse)
        pull = np.asarray(self.executor.sum(term, self.blocks).value)
        return SecondOrder(
            here.value - factor.log_determinant() / 2, here.gradient - pull, here.hessian
        )
