"""Penalties on coefficients, and the priors they stand for.

    value(θ) = Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j² + Σ_g γ_g ‖θ_g‖        λ: l1, κ: l2, γ: of groups

Penalties add: ``L1(0.5) + Group([["length", "width"]])``.  A model takes one as ``penalty=``, with
strengths and groups of its columns.

Minus the log density of the prior is the penalty plus a constant, so a penalised fit is the
mode of a posterior.  Strengths are on the scale of the *summed* log-likelihood; each is a
number or one number per coefficient, and 0 means no penalty (a flat, improper
prior, whose log density is taken as 0).

    prox(u, t) = argmin_θ ½‖θ − u‖² + t · value(θ)

To add a penalty, write one class in ``elastic_net.py`` or ``group.py`` and list it in
``PENALTIES``: the laws in ``tests/laws/test_penalties.py`` read that list.

References
----------
Parikh & Boyd, Proximal Algorithms, 2014, §6.5.  Yuan & Lin, Model selection and estimation in
regression with grouped variables, 2006.  Li & Lin, The Bayesian elastic net, 2010.
"""

from likely.penalties.base import Penalty, Strengths, soft_threshold
from likely.penalties.elastic_net import L1, L2, ElasticNet, NoPenalty
from likely.penalties.group import Group, PenaltySum

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
