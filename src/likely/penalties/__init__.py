"""Penalties on coefficients, and the priors they stand for.

    value(θ) = Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j² + Σ_g γ_g ‖θ_g‖        λ: l1, κ: l2, γ: of groups

Penalties add: ``L1(0.5) + Group([["length", "width"]])``.  A model takes one as ``penalty=``, with
strengths and groups of its columns.

To add a penalty, write one class and list it in ``PENALTIES``: the laws in
``tests/laws/test_penalties.py`` read that list.
"""

from likely.penalties.base import (
    L1,
    L2,
    ElasticNet,
    NoPenalty,
    Penalty,
    PenaltySum,
    Strengths,
    soft_threshold,
)
from likely.penalties.group import Group

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

PENALTIES: dict[str, type[Penalty]] = {
    "none": NoPenalty,
    "l2": L2,
    "l1": L1,
    "elastic-net": ElasticNet,
    "group": Group,
    "sum": PenaltySum,
}
