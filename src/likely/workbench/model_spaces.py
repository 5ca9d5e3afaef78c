"""Which settings of each model are worth searching, and between which values.

Penalties act on the *summed* log-likelihood, so their ends follow the data: an l1 that removes
every coefficient is at most Σ|yᵢ − ȳ| for columns scaled to one, and an l2 of ten times the
rows leaves next to nothing of them.

To add a space, write one function of a ``Scale`` and give it to the model's entry in
``likely.workbench.models``.
"""

from collections.abc import Callable
from typing import NamedTuple

from likely.spaces import Choice, Conditional, Dimension, Real

L1_OFF = 0.5  # half of the draws have no l1: a lasso is a different model, not a little more ridge
WEAKEST_L2 = 1e-3  # a prior of standard deviation 30 on columns scaled to one
CLASS_LINKS = ("logit", "probit", "cloglog", "loglog")


class Scale(NamedTuple):
    """The rows of a table, and the standard deviation of its target (1 for classes)."""

    rows: int = 1000
    spread: float = 1.0


Dimensions = Callable[[Scale], dict[str, Dimension]]


def penalties(scale: Scale) -> dict[str, Dimension]:
    """A ridge and a lasso."""
    strongest = max(scale.rows * scale.spread, 1e-6)
    return {
        **ridge(scale),
        "l1": Real(1e-4 * strongest, strongest, log=True, zero=L1_OFF),
    }


def ridge(scale: Scale) -> dict[str, Dimension]:
    """The strength of a ridge."""
    return {"l2": Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True)}


def penalties_and_link(scale: Scale) -> dict[str, Dimension]:
    """The link of class probabilities, a ridge and a lasso."""
    return {"link": Choice(CLASS_LINKS), **penalties(scale)}


def inside_frank_hall(scale: Scale) -> dict[str, Dimension]:
    """The settings of the logistic regression of each cut."""
    return {f"estimator__{name}": value for name, value in penalties_and_link(scale).items()}


def naive_bayes(scale: Scale) -> dict[str, Dimension]:
    """Smoothing, bins or variances, and calibration."""
    return {
        "smoothing": Real(1e-3, 1e2, log=True),
        "discretize": Choice((None, "quantile", "entropy")),
        "variance_floor": Conditional(Real(1e-9, 1e-1, log=True), "discretize", (None,)),
        "calibrate": Choice((None, "temperature")),
    }


def discriminant(scale: Scale) -> dict[str, Dimension]:
    """The form of the covariances and their shrinkage."""
    shrunk = ("tied", "full", "diagonal")  # one variance has nothing to shrink towards
    return {
        "covariance": Choice((*shrunk, "spherical")),
        "shrinkage": Conditional(Real(0.0, 1.0), "covariance", shrunk),
    }


def path(scale: Scale) -> dict[str, Dimension]:
    """The rule that chooses a point of a path of penalties."""
    return {"rule": Choice(("one-standard-error", "best"))}


def lasso_path(scale: Scale) -> dict[str, Dimension]:
    """The path takes care of l1; a ridge beside it makes an elastic net."""
    beside = Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True, zero=0.5)
    return {"model__l2": beside, **path(scale)}
