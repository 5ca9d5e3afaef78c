"""Whether the parameters of a file's neural network can have been learned: nothing overflows.

Π_l max(1, max |W^(l)|)      small enough that no layer overflows
thresholds of ordered classes, which are sums of e^free, finite
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.likelihoods.ordinal import thresholds_of
from likely.neural.architecture import Architecture
from likely.neural.outputs import OrdinalOutput
from likely.storage.values import unlike

LARGEST_WEIGHT = 1e9  # of a network in float32, whose layers multiply
LARGEST_PRODUCT = 1e150  # of the largest weights of all layers; answers are in float64
LARGEST_THRESHOLD = 1e15  # on the scale of a probit or logit, where 40 is certainty


def check_network(learned: dict[str, Any]) -> None:
    """Refuse weights, of the network and of those that it averages, whose answers overflow."""
    average = learned["average_"]
    for theta in (learned["parameters_"], *(() if average is None else average.parameters)):
        _check_parameters(learned["architecture_"], learned["output_"], theta.astype(np.float64))


def _check_parameters(architecture: Architecture, output: Any, theta: Array) -> None:
    last = architecture.places[-1].all  # of a number, in its own unit
    hidden = np.delete(theta, last) if output.n_classes is None else theta
    if not (np.abs(hidden) <= LARGEST_WEIGHT).all():
        raise unlike("parameters_", "at most 1e9")
    largest = [np.abs(theta[place.all]).max(initial=1.0) for place in architecture.places]
    if np.log10(largest).sum() > np.log10(LARGEST_PRODUCT):
        raise unlike("The largest weights of the layers", "at most 1e150, multiplied")
    if isinstance(output, OrdinalOutput):
        with np.errstate(over="ignore"):
            thresholds = thresholds_of(architecture.extra(theta))
        if not (np.abs(thresholds) <= LARGEST_THRESHOLD).all():
            raise unlike("The thresholds of the classes", "at most 1e15 in size")
