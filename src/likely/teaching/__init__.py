"""The pieces of the lectures that no estimator needs: losses, one update, a cascade.

They are made to be compared with each other on a few examples; ``docs/models/teaching.rst`` does.
"""

from likely.teaching.cascade import Cascade, CascadeObjective
from likely.teaching.hinge import KinkedObjective, Smoothing
from likely.teaching.losses import LOSSES, SquareErrorLogistic, canonical_update, loss_objective
from likely.teaching.margin import MARGIN_LOSSES, MarginLoss

__all__ = [
    "LOSSES",
    "MARGIN_LOSSES",
    "Cascade",
    "CascadeObjective",
    "KinkedObjective",
    "MarginLoss",
    "Smoothing",
    "SquareErrorLogistic",
    "canonical_update",
    "loss_objective",
]
