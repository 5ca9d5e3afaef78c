"""Pictures of mixtures: the rows, the components, and their total density.

p(x) = Σ_k π_k p(x | k)
"""

import warnings
from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.estimators import feature_names
from likely.pictures import readable

POINTS = 400  # of a curve
CELLS = 120  # of a contour, along each axis
MARGIN = 0.1  # of the range of the rows, beyond them
LEVELS = (0.5, 0.1, 0.01)  # contours of a component, as shares of its highest density


def plot_mixture(model: Any, X: Array, axis: Any = None) -> Any:
    """Rows of one or two columns and the components of a fitted mixture; the matplotlib axes."""
    import matplotlib.pyplot as plt

    if X.shape[1] not in (1, 2):
        raise InvalidInput(
            f"A picture of a mixture has one or two columns; X has {X.shape[1]}. "
            "Fit and plot one or two of them."
        )
    axis = plt.subplots(layout="constrained")[1] if axis is None else axis
    with warnings.catch_warnings():  # a grid of numbers has no names of columns
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        (_curves if X.shape[1] == 1 else _contours)(model, X, axis)
    names = feature_names(model)
    axis.set_xlabel(names[0])
    if len(names) > 1:
        axis.set_ylabel(names[1])
    readable(axis)
    return axis


def _curves(model: Any, X: Array, axis: Any) -> None:
    """A histogram, π_k p(x | k) of each component, and their sum."""
    grid = _range(X[:, 0], POINTS)[:, None]
    joint = np.exp(model.predict_joint_log_proba(grid))
    axis.hist(X[np.isfinite(X[:, 0]), 0], bins="auto", density=True, color="0.85", label="rows")
    for k, density in enumerate(joint.T):
        axis.plot(grid[:, 0], density, label=f"component {k}")
    axis.plot(grid[:, 0], joint.sum(axis=1), color="black", linestyle=":", label="p(x)")
    axis.set_ylabel("density")
    axis.legend()


def _contours(model: Any, X: Array, axis: Any) -> None:
    """Rows by their most probable component, and contours of each component."""
    first, second = (_range(X[:, j], CELLS) for j in (0, 1))
    grid = np.stack([each.ravel() for each in np.meshgrid(first, second)], axis=1)
    joint = np.exp(model.predict_joint_log_proba(grid))
    component = model.predict(X)
    for k, density in enumerate(joint.T):
        color = f"C{k % 10}"
        axis.scatter(*X[component == k].T, s=8, color=color, label=f"component {k}")
        levels = sorted(share * density.max() for share in LEVELS)
        axis.contour(first, second, density.reshape(CELLS, CELLS), levels=levels, colors=color)
    axis.legend()


def _range(x: Array, n: int) -> Array:
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    margin = MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n)
