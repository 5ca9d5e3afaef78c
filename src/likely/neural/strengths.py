"""How strongly the predictor of a network depends on each column, on rows that it was trained on.

    strength of x_j  ∝  sd(x_j) · mean over rows and outputs of |∂η_k/∂x_j|

The slopes are those of the function that was learned.  Products of absolute weights along all paths
are not: after a few epochs they are mostly those of the random start values.  η of classes is
centred over the classes, because a shift of all of them changes no probability.

References
----------
Simonyan, Vedaldi & Zisserman (2014), Deep inside convolutional networks: visualising image
classification models and saliency maps, ICLR workshop.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from likely._typing import Array
from likely.neural.architecture import Architecture
from likely.neural.formulas import Trace, backward, forward
from likely.neural.outputs import Output
from likely.neural.training.problem import TrainingProblem

ROWS = 200  # a mean over rows is known to some per cent; a wide network has costly slopes


def column_strengths(problem: TrainingProblem, thetas: Sequence[Array]) -> Array:
    """The share of each input, (n_inputs,), in the mean predictor of one or more networks."""
    X = problem.training.some_columns()
    X = X[:: 1 + (X.shape[0] - 1) // ROWS]
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    each = [theta.astype(np.float64) for theta in thetas]
    traces = [forward(problem.architecture, theta, X) for theta in each]
    strength = np.zeros(X.shape[1])
    for direction in _directions(problem.output):
        slope = sum(
            _slope(problem.architecture, theta, trace, direction)
            for theta, trace in zip(each, traces, strict=True)
        )
        strength += X.std(axis=0) * np.abs(slope).mean(axis=0)
    return np.asarray(strength / max(strength.sum(), np.finfo(float).tiny))


def _directions(output: Output) -> Array:
    """Which combinations of the outputs matter, one a row."""
    directions = np.eye(output.n_outputs)
    centred = output.n_classes is not None and output.n_outputs > 1
    return directions - 1 / output.n_outputs if centred else directions


def _slope(architecture: Architecture, theta: Array, trace: Trace, direction: Array) -> Array:
    """∂η/∂x of each row along a direction of the outputs, (n, n_inputs)."""
    n = len(trace.eta)
    deltas, _ = backward(architecture, theta, trace, np.tile(direction, (n, 1)))
    return np.asarray(deltas[0] @ architecture.unpack(theta)[0].weight)
