"""The models of the workbench by their kebab-case names: the one registry.

To add a model, write one entry in ``MODELS``: ``compare``, ``train``, ``tune``, ``curve``,
``likely models``, the report and their tests read this table.  The order is that of tables: the
baseline first, then from simple to costly.

A model that cross-validates inside its fit is ``medium``; one that takes more than a second on
5,000 rows of 20 columns is ``high``, and tried only when requested.

The space of a model says which of its settings are worth searching, and between which values.
Penalties act on the *summed* log-likelihood, so their ends follow the data: an l1 that removes
every coefficient is at most Σ|yᵢ − ȳ| for columns scaled to one, and an l2 of ten times the
rows shrinks them to almost 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from likely.errors import InvalidInput
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TargetKind
from likely.names import has_method, known_name
from likely.spaces import Choice, Conditional, Dimension, Real, Space
from likely.workbench.import_paths import is_import_path, refuse_short_name
from likely.workbench.model_entry import (
    InnerModel,
    ModelEntry,
    Scale,
    entry_of_estimator,
    entry_of_path,
)

BASELINE = "constant"
SEVERAL: frozenset[TargetKind] = frozenset({"classes", "ordinal"})

PATH = {"n_penalties": 15, "cv": 3}  # a coarse path: each fold of a comparison fits all of it
NEAR = 1e-6  # relative gap: of the log-likelihood, a hundredth of a nat in ten thousand
L1_OFF = 0.5  # half of the draws have no l1: a lasso is a different model, not a little more ridge
WEAKEST_L2 = 1e-3  # a prior of standard deviation 30 on columns scaled to one
CALIBRATED = {"calibrate": "temperature"}  # evidence that says nothing leaves the class shares
NETWORKS = {  # a validation loss may stay level for twenty epochs and fall again
    "early_stopping": True,
    "patience": 30,
    "max_epochs": 500,
    "learning_rate": 3e-3,
    "n_networks": 5,
}
COUNTS = {"response": "negative-binomial"}  # at α = 0 the Poisson
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


MODELS: dict[str, ModelEntry] = {
    entry.name: entry
    for entry in (
        ModelEntry(
            BASELINE,
            "Constant",
            CLASS_KINDS | NUMBER_KINDS,
            "The baseline: class shares, or the mean with its spread.",
        ),
        ModelEntry(
            "naive-bayes",
            "NaiveBayes",
            CLASS_KINDS,
            "Columns independent given the class; probabilities calibrated by one temperature.",
            settings=CALIBRATED,
            streams=True,
            missing=True,
            space=naive_bayes_space,
        ),
        ModelEntry(
            "bayesian-network",
            "BayesianNetworkClassifier",
            CLASS_KINDS,
            "Naive Bayes in which each column also depends on one other; numbers are binned.",
            missing=True,
            space=network_space,
        ),
        ModelEntry(
            "discriminant",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian per class with one covariance; probabilities calibrated by a temperature.",
            settings={"covariance": "tied", **CALIBRATED},
            streams=True,
            missing=True,
            space=discriminant_space,
        ),
        ModelEntry(
            "discriminant-full",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian and a covariance per class, shrunk towards a common one; calibrated.",
            settings={"covariance": "full", "shrinkage": "pooled", **CALIBRATED},
            space=discriminant_space,
        ),
        ModelEntry(
            "logistic",
            "LogisticRegression",
            frozenset({"binary"}),
            "Log-odds linear in the columns, with a weak L2 penalty.",
            streams=True,
            space=penalties_space,
        ),
        ModelEntry(
            "softmax",
            "SoftmaxRegression",
            SEVERAL,
            "Logistic regression for several classes; its L2 penalty by marginal likelihood.",
            also=frozenset({"binary"}),
            settings={"l2": "auto"},
            streams=True,
            space=penalties_space,
        ),
        ModelEntry(
            "max-entropy",
            "MaxEntropy",
            frozenset(),
            "Maximum entropy classifier; on the command line the same as softmax.",
            also=CLASS_KINDS,
            space=ridge_space,
        ),
        ModelEntry(
            "ordinal",
            "OrdinalRegression",
            frozenset({"ordinal"}),
            "Ordered classes: one predictor, with thresholds.",
            streams=True,
            space=penalties_space,
        ),
        ModelEntry(
            "frank-hall",
            "FrankHall",
            frozenset({"ordinal"}),
            "Ordered classes by one logistic regression for each cut between them.",
            settings={"estimator": InnerModel("LogisticRegression", {})},
            space=frank_hall_space,
        ),
        ModelEntry(
            "logistic-lasso",
            "PenaltyPath",
            frozenset({"binary"}),
            "Logistic regression with an L1 penalty chosen by cross-validation.",
            cost="high",
            settings={
                "model": InnerModel("LogisticRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            space=lasso_path_space,
        ),
        ModelEntry(
            "softmax-lasso",
            "PenaltyPath",
            SEVERAL,
            "Softmax regression with an L1 penalty chosen by cross-validation.",
            cost="high",
            also=frozenset({"binary"}),
            settings={
                "model": InnerModel("SoftmaxRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            space=lasso_path_space,
        ),
        ModelEntry(
            "linear",
            "LinearRegression",
            NUMBER_KINDS,
            "Least squares: a Gaussian around a linear mean.",
            streams=True,
            space=penalties_space,
        ),
        ModelEntry(
            "glm",
            "GLM",
            frozenset(),
            "Counts, amounts, shares, times: a response (response=poisson) and a link.",
            also=NUMBER_KINDS,
            streams=True,
        ),
        ModelEntry(
            "glm-poisson",
            "GLM",
            frozenset({"count"}),
            "Counts whose log mean is linear.",
            settings={"response": "poisson"},
            space=penalties_space,
        ),
        ModelEntry(
            "glm-negative-binomial",
            "GLM",
            frozenset({"count"}),
            "Overdispersed counts, with a linear log mean; alpha by maximum likelihood.",
            settings={"response": "negative-binomial"},
            space=counts_space,
        ),
        ModelEntry(
            "glm-gamma",
            "GLM",
            frozenset({"positive"}),
            "Amounts with a constant coefficient of variation and a linear log mean.",
            settings={"response": "gamma", "link": "log"},
            space=penalties_space,
        ),
        ModelEntry(
            "glm-inverse-gaussian",
            "GLM",
            frozenset({"positive"}),
            "Amounts with a heavier tail than the gamma's, with a linear log mean.",
            settings={"response": "inverse-gaussian", "link": "log"},
            space=penalties_space,
        ),
        ModelEntry(
            "ridge",
            "PenaltyPath",
            NUMBER_KINDS,
            "Ridge regression; the penalty is chosen by cross-validation.",
            cost="high",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l2", **PATH},
            space=path_space,
        ),
        ModelEntry(
            "lasso",
            "PenaltyPath",
            NUMBER_KINDS,
            "Least squares with an L1 penalty chosen by cross-validation.",
            cost="medium",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l1", **PATH},
            space=lasso_path_space,
        ),
        ModelEntry(
            "neural-network",
            "NeuralNetworkClassifier",
            CLASS_KINDS | NUMBER_KINDS,
            "Layers of units, trained with early stopping; n_networks averages several.",
            cost="high",
            settings=NETWORKS,
            space=neural_space,
            stop_unpromising=True,
            for_numbers="NeuralNetworkRegressor",
            # Ordered classes are categorical: response="ordinal" gained 0 to 0.10 nats a row where
            # one score orders them, lost 0.23 where none does, and was slower.
            by_kind={"positive": {"response": "gamma", "link": "log"}, "count": COUNTS},
        ),
        ModelEntry(
            "mixture",
            "MixtureModel",
            frozenset(),
            "Soft clusters and a density, by EM; needs no target.",
            settings={"n_components": "auto"},
            streams=True,
            missing=True,
        ),
    )
}


def entry_for(model: Any) -> ModelEntry:
    """The entry of a registered name, of an import path, or of an estimator.

    >>> entry_for("logistic").estimator
    'LogisticRegression'
    >>> sorted(entry_for("sklearn.tree.DecisionTreeClassifier").suits)
    ['binary', 'classes', 'ordinal']
    """
    if isinstance(model, ModelEntry):
        return model
    if isinstance(model, str):
        if is_import_path(model):
            return entry_of_path(model)
        refuse_short_name(model)
        return MODELS[known_name("model", model, MODELS)]
    if model is None:
        raise InvalidInput(
            "No model was given; a name, an import path or an estimator was expected. Use "
            "model='logistic', for instance; compare shows which are good."
        )
    if isinstance(model, type) or not has_method(model, "get_params"):
        raise InvalidInput(
            f"The model is {model!r}; expected a name, an import path or an estimator. "
            f"Choose one of {', '.join(MODELS)}, or pass NaiveBayes(), for instance."
        )
    given = entry_of_estimator(model)
    spaces = (entry.space for entry in _registered_like(given) if entry.space is not None)
    return replace(given, space=next(spaces, None))


def entries_of(models: Any) -> list[ModelEntry]:
    """The entries of models as ``compare`` takes them: one, several, or a mapping of names."""
    if models is None:
        return []
    if isinstance(models, Mapping):
        models = list(models.values())
    alone = isinstance(models, str | ModelEntry) or not isinstance(models, Iterable)
    alone |= has_method(models, "get_params")  # a forest is an iterable of its trees
    return [entry_for(model) for model in ([models] if alone else models)]


def entries_by_name(models: Any) -> dict[str, ModelEntry]:
    """Models as ``compare`` takes them, each with its name in a table.

    A second estimator of one class gets a number; a name that is given twice counts once.
    """
    if isinstance(models, Mapping):
        return {str(name): entry_for(one) for name, one in models.items()}
    found: dict[str, ModelEntry] = {}
    for entry in entries_of(models):
        name = entry.name
        count = sum(known == name or known.startswith(f"{name} ") for known in found)
        again = count and entry.example is not None
        found[f"{name} {count + 1}" if again else name] = entry
    return found


def entries_for(kind: TargetKind, *, everything: bool = False) -> list[ModelEntry]:
    """The models for a kind of target, the baseline first; ``everything`` adds the slow ones."""
    return [
        entry
        for entry in MODELS.values()
        if kind in entry.targets and (everything or entry.cost != "high")
    ]


def space_of(model: Any, *, rows: int = 1000, spread: float = 1.0) -> Space:
    """The usual search space of a model, at the scale of a table.

    >>> space_of("discriminant").names
    ['covariance', 'shrinkage']
    """
    return entry_for(model).space_for(rows=rows, spread=spread)


def _registered_like(given: ModelEntry) -> list[ModelEntry]:
    """The registered models of the same class, with the same kind of model inside."""
    return [
        entry
        for entry in MODELS.values()
        if entry.estimator == given.estimator and not given.is_foreign and given.resembles(entry)
    ]
