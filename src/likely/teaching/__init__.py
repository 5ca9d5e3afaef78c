"""Teaching helpers: losses, one update, a cascade; no estimator needs them.

``docs/models/teaching.rst`` compares them on a few examples.
"""

from likely.teaching.cascade import Cascade, CascadeObjective
from likely.teaching.hinge import KinkedObjective, Smoothing
from likely.teaching.losses import LOSSES, SquareErrorLogistic, canonical_update, loss_objective
from likely.teaching.margin import MARGIN_LOSSES, MarginLoss
from likely.teaching.plots import plot_margin_losses

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
    "plot_margin_losses",
]
