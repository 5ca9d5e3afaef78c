"""The ridge penalty of largest marginal likelihood: ``l2="auto"``.

    w ~ N(0, I/λ),   p(y | X, λ) = ∫ p(y | X, w) p(w | λ) dw        (Laplace's approximation)
    λ = γ / ‖ŵ‖²,    γ = tr[(H + λI)⁻¹ H]                           (at its maximum)

γ is the effective number of weights: what the rows determine.  Where columns have no information
‖ŵ‖ shrinks, λ grows, and the model becomes the constant.  The fixed point is iterated from a strong
penalty, so that of several the most cautious is found; each step is a fit.  On the way

    −∂ log p(y | X, λ) / ∂ log λ = ½ (λ‖ŵ‖² − γ)

adds up to the evidence for the columns, against the constant.  Unless it is strong (3 nats), the
constant is kept.

λ is at least 1, the usual prior of columns scaled to one: rows to come may differ from those seen.
With very many rows for each weight the penalty hardly matters, and it is 1; so it is for more
weights than their Hessian may have.

References
----------
MacKay (1992), The evidence framework applied to classification networks, Neural Computation 4.
Kass & Raftery (1995), Bayes factors, JASA 90.
Bishop, Pattern Recognition and Machine Learning, §3.5.2 and §4.4.
"""

from collections.abc import Callable
from copy import copy
from math import log
from typing import Any, NamedTuple

import numpy as np

from likely.data.block import Blocks
from likely.errors import InvalidInput
from likely.linear.coding import LinearRows
from likely.linear.covariance import MOST_FOR_INFERENCE
from likely.linear.penalty import is_auto, is_penalised

USUAL = 1.0  # the least λ, and that where there is nothing to choose
ENOUGH = 100  # rows for each weight
MOST_WEIGHTS = MOST_FOR_INFERENCE // 2  # with those that classes share, their Hessian is known
MOST_STEPS = 20
NEAR = 0.05  # of log λ: a smaller step changes no probability that matters
CLEAR = 3.0  # nats of evidence for the columns: "strong", in the words of Kass and Raftery
STRONGEST = 10.0  # λ for each row: the model is the constant


class Determined(NamedTuple):
    """What a fit with a given λ has determined."""

    effective: float  # γ, without intercepts
    squares: float  # ‖ŵ‖²

    def slope(self, strength: float) -> float:
        """−∂ log p(y | X, λ) / ∂ log λ."""
        return (strength * self.squares - self.effective) / 2


def forget_choice(model: Any) -> None:
    """Forget the λ of an earlier fit; one that is to be chosen is the usual one at first."""
    if is_auto(model.l2):
        model.l2_ = USUAL
    elif "l2_" in vars(model):
        del model.l2_


def marginal_l2_of(model: Any, rows: LinearRows) -> float:
    """λ that the marginal likelihood of the rows prefers for a softmax regression."""
    if is_penalised(model.l1):
        raise InvalidInput(
            f"l1={model.l1!r} and l2='auto' were given; the marginal likelihood that chooses l2 is "
            "that of a ridge alone. Give l2 as a number, or leave l1 out."
        )
    n_free, probe = len(rows.classes) - 1, copy(model)
    n_weights = n_free * rows.blocks.n_features
    shared = n_free == 1 and model.reference is None  # by two opposite weights
    constants = n_free if model.fit_intercept else 0
    probe.standard_errors = "model"

    def fitted_at(l2: float) -> Determined:
        probe.l2 = l2
        probe.fit_opened(rows, warned_by=model)
        effective = probe.inference_.n_parameters - constants
        squares = float(np.square(probe.coef_).sum())
        return Determined(effective, squares / 2 if shared else squares)

    return marginal_l2(fitted_at, n_weights, total_weight(rows.blocks, ENOUGH * n_weights))


def total_weight(blocks: Blocks, enough: float) -> float:
    """The weights of all rows together, or of the first that are enough."""
    found = 0.0
    for block in blocks:
        found += block.n_rows if block.weight is None else float(block.weight.sum())
        if found >= enough:
            break
    return found


def marginal_l2(fitted_at: Callable[[float], Determined], n_weights: int, n_rows: float) -> float:
    """λ of the largest marginal likelihood; ``fitted_at`` fits with a λ."""
    if not 0 < n_weights <= MOST_WEIGHTS or n_rows >= ENOUGH * n_weights:
        return USUAL
    strength = strongest = STRONGEST * n_rows
    found, evidence = fitted_at(strength), 0.0
    for _ in range(MOST_STEPS):
        ratio = max(found.effective, 0.0) / found.squares if found.squares > 0 else strongest
        better = min(max(ratio, USUAL), strongest)
        if abs(log(better / strength)) < NEAR:
            break
        last, found = found, fitted_at(better)
        slopes = last.slope(strength) + found.slope(better)
        evidence += log(strength / better) * slopes / 2
        strength = better
    return strength if evidence > CLEAR else strongest
