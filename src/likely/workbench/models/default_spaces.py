"""The default search spaces: which settings of a model are searched, and between which values.

Penalties act on the *summed* log-likelihood, so their ends follow the data: an l1 that removes
every coefficient is at most Σ|yᵢ − ȳ| for columns scaled to one, and an l2 of ten times the
rows shrinks them to almost 0.
"""

from likely.spaces import Choice, Conditional, Dimension, Real
from likely.workbench.models.model_entry import Scale

L1_OFF = 0.5  # half of the draws have no l1: a lasso is a different model, not a little more ridge
WEAKEST_L2 = 1e-3  # a prior of standard deviation 30 on columns scaled to one
HIDDEN_LAYERS = ((), (10,), (30,), (100,), (300,), (30, 30), (100, 100), (50, 50, 50))
CLASS_LINKS = ("logit", "probit", "cloglog", "loglog")  # searched on request


def penalties_space(scale: Scale) -> dict[str, Dimension]:
    """The strengths of a ridge and a lasso penalty."""
    strongest = max(scale.rows * scale.spread, 1e-6)
    return {
        **ridge_space(scale),
        "l1": Real(1e-4 * strongest, strongest, log=True, zero=L1_OFF),
    }


def ridge_space(scale: Scale) -> dict[str, Dimension]:
    """The strength of a ridge."""
    return {"l2": Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True)}


def counts_space(scale: Scale) -> dict[str, Dimension]:
    """The overdispersion of counts, estimated or given, a ridge and a lasso."""
    given = [f"negative-binomial({alpha:g})" for alpha in (0.1, 0.3, 1, 3, 10)]
    return {"response": Choice(("negative-binomial", *given)), **penalties_space(scale)}


def additive_space(scale: Scale) -> dict[str, Dimension]:
    """How many pairs of columns may act together; smoothness is not searched, but estimated."""
    return {"interactions": Choice((0, 3, 10, 20))}


def frank_hall_space(scale: Scale) -> dict[str, Dimension]:
    """The settings of the logistic regression of each cut."""
    return {f"estimator__{name}": value for name, value in penalties_space(scale).items()}


def naive_bayes_space(scale: Scale) -> dict[str, Dimension]:
    """Smoothing, bins or variances, and calibration."""
    return {
        "smoothing": Real(1e-3, 1e2, log=True),
        "discretize": Choice((None, "quantile", "entropy")),
        "variance_floor": Conditional(Real(1e-9, 1e-1, log=True), "discretize", (None,)),
        "calibrate": Choice((None, "temperature")),
    }


def discriminant_space(scale: Scale) -> dict[str, Dimension]:
    """The form of the covariances and their shrinkage."""
    return {
        "covariance": Choice(("tied", "full", "diagonal", "spherical")),
        "shrinkage": Real(0.0, 1.0),  # of one variance: no effect
    }


def network_space(scale: Scale) -> dict[str, Dimension]:
    """Which columns depend on each other, how numbers are binned, and smoothing."""
    return {
        "structure": Choice(("tan", "naive-bayes", "chow-liu")),
        "discretize": Choice(("entropy", "quantile")),
        "smoothing": Real(1e-2, 1e2, log=True),
    }


def neural_space(scale: Scale) -> dict[str, Dimension]:
    """Layers, activation, penalties, dropout, and the rate, schedule and batch of steps.

    Steps are Adam's: those with momentum diverge for some rates that are good for others.
    """
    rows = max(scale.rows, 1)
    return {
        "hidden": Choice(HIDDEN_LAYERS),
        "activation": Choice(("relu", "tanh", "softplus")),
        "l2": Real(WEAKEST_L2, rows, log=True, zero=0.25),
        "l1": Real(1e-4 * rows, 0.1 * rows, log=True, zero=0.75),
        "dropout": Real(0.05, 0.5, zero=0.5),
        "learning_rate": Real(1e-4, 1e-2, log=True),
        "schedule": Choice(("constant", "cosine", "reduce-on-plateau")),
        "batch": Choice((16, 32, 64, 128)),
    }


def path_space(scale: Scale) -> dict[str, Dimension]:
    """The rule that chooses a point of a path of penalties."""
    return {"rule": Choice(("one-standard-error", "best"))}


def lasso_path_space(scale: Scale) -> dict[str, Dimension]:
    """The path chooses l1; a ridge in addition makes an elastic net."""
    l2 = Real(WEAKEST_L2, 10.0 * max(scale.rows, 1), log=True, zero=0.5)
    return {"model__l2": l2, **path_space(scale)}
