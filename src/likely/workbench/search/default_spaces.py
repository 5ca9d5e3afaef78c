"""Which settings of each model are worth searching, and between which values.

Penalties act on the *summed* log-likelihood, so their ends follow the data: an l1 that removes
every coefficient is at most Σ|yᵢ − ȳ| for columns scaled to one, and an l2 of ten times the
rows leaves next to nothing of them.

To add a model, write one function of a ``Scale`` and list it in ``SPACES``.
"""

from collections.abc import Callable
from typing import NamedTuple

from likely.errors import InvalidInput, UnknownName
from likely.spaces import Choice, Conditional, Dimension, Real, Space
from likely.workbench.models import CANDIDATES

L1_OFF = 0.5  # half of the draws have no l1: a lasso is a different model, not a little more ridge
WEAKEST_L2 = 1e-3  # a prior of standard deviation 30 on columns scaled to one
CLASS_LINKS = ("logit", "probit", "cloglog", "loglog")


class Scale(NamedTuple):
    """The rows of a table, and the standard deviation of its target (1 for classes)."""

    rows: int = 1000
    spread: float = 1.0


def space_of(model: str, *, rows: int = 1000, spread: float = 1.0) -> Space:
    """The usual space of a candidate, by its kebab-case name or its name in ``likely``.

    >>> space_of("discriminant").names
    ['covariance', 'shrinkage']
    """
    named = model if model in SPACES else CANDIDATES[model].estimator if model in CANDIDATES else ""
    if named in SPACES:
        return Space(SPACES[named](Scale(rows, spread)))
    if model in CANDIDATES:
        raise InvalidInput(
            f"{model} has no settings to tune; expected a model with some. "
            "Declare a space of your own, or train it as it is."
        )
    raise UnknownName("model", model, CANDIDATES)


def _penalties(scale: Scale) -> dict[str, Dimension]:
    strongest = max(scale.rows * scale.spread, 1e-6)
    return {
        "l2": Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True),
        "l1": Real(1e-4 * strongest, strongest, log=True, zero=L1_OFF),
    }


def _naive_bayes(scale: Scale) -> dict[str, Dimension]:
    return {
        "smoothing": Real(1e-3, 1e2, log=True),
        "discretize": Choice((None, "quantile", "entropy")),
        "variance_floor": Conditional(Real(1e-9, 1e-1, log=True), "discretize", (None,)),
        "calibrate": Choice((None, "temperature")),
    }


def _discriminant(scale: Scale) -> dict[str, Dimension]:
    shrunk = ("tied", "full", "diagonal")  # one variance has nothing to shrink towards
    return {
        "covariance": Choice((*shrunk, "spherical")),
        "shrinkage": Conditional(Real(0.0, 1.0), "covariance", shrunk),
    }


def _with_link(scale: Scale) -> dict[str, Dimension]:
    return {"link": Choice(CLASS_LINKS), **_penalties(scale)}


def _inside_frank_hall(scale: Scale) -> dict[str, Dimension]:
    return {f"estimator__{name}": value for name, value in _with_link(scale).items()}


def _path(scale: Scale) -> dict[str, Dimension]:
    return {"rule": Choice(("one-standard-error", "best"))}


def _lasso_path(scale: Scale) -> dict[str, Dimension]:
    """The path takes care of l1; a ridge beside it makes an elastic net."""
    ridge = Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True, zero=0.5)
    return {"model__l2": ridge, **_path(scale)}


def _l2_only(scale: Scale) -> dict[str, Dimension]:
    return {"l2": _penalties(scale)["l2"]}


# by the name of the candidate, or of its estimator in ``likely``
SPACES: dict[str, Callable[[Scale], dict[str, Dimension]]] = {
    "NaiveBayes": _naive_bayes,
    "DiscriminantAnalysis": _discriminant,
    "LogisticRegression": _with_link,
    "SoftmaxRegression": _penalties,
    "MaxEntropy": _l2_only,
    "OrdinalRegression": _with_link,
    "LinearRegression": _penalties,
    "GLM": _penalties,
    "FrankHall": _inside_frank_hall,
    "ridge": _path,
    "lasso": _lasso_path,
    "logistic-lasso": _lasso_path,
    "softmax-lasso": _lasso_path,
}
