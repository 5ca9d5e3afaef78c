"""The models of the workbench by their kebab-case names: the one registry.

To add a model, write one entry in ``MODELS``: ``compare``, ``train``, ``tune``, ``curve``,
``likely models``, the report and their tests read this table, in this order: the baseline first.

A model that searches its penalties inside its fit is ``medium``; one that takes more than a second
on 5,000 rows of 20 columns is ``high``, and tried only when requested.

The space of a model (``default_spaces``) says which of its settings are searched.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likely.errors import InvalidInput
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TARGET_KINDS, TargetKind
from likely.names import has_method, known_name
from likely.spaces import Space
from likely.workbench.models.default_spaces import (
    additive_space,
    counts_space,
    discriminant_space,
    frank_hall_space,
    lasso_path_space,
    naive_bayes_space,
    network_space,
    neural_space,
    path_space,
    penalties_space,
    ridge_space,
)
from likely.workbench.models.model_entry import (
    EXAMPLE_PATH,
    InnerModel,
    ModelEntry,
    class_at,
    is_import_path,
    refuse_short_name,
)

if TYPE_CHECKING:
    from likely.workbench.data.task import Task

BASELINE = "constant"
MEASURED: frozenset[TargetKind] = NUMBER_KINDS - {"count"}
COUNTED: frozenset[TargetKind] = frozenset({"count"})  # where it is named
AMOUNTS: frozenset[TargetKind] = frozenset({"positive"})
SEVERAL: frozenset[TargetKind] = frozenset({"classes", "ordinal"})

PATH = {"n_penalties": 15, "cv": 3}  # a coarse path: each fold of a comparison fits all of it
NEAR = 1e-6  # relative gap: of the log-likelihood, a hundredth of a nat in ten thousand
CALIBRATED = {"calibrate": "temperature"}  # evidence that says nothing leaves the class shares
NETWORKS = {  # a validation loss may stay level for twenty epochs and fall again
    "solver": "adam",
    "early_stopping": 30,
    "max_epochs": 500,
    "learning_rate": 3e-3,
    "n_networks": 5,
}
RIDGE = {"l2": "auto"}  # by marginal likelihood: a log link without a penalty runs away
COUNTS = {"response": "negative-binomial"}  # at α = 0 the Poisson
WITH_WORDS = {"l2": 1.0}  # there are more words than rows, too many to search a penalty in a fit
CLASSES_BY_WORDS = {"l2": 0.3}  # of 1, 0.3, 0.1, 0.03 the best on descriptions and docstrings


KINDS_BY_TYPE: Mapping[str | None, frozenset[TargetKind]] = {  # scikit-learn's names
    "classifier": CLASS_KINDS,
    "regressor": NUMBER_KINDS,
    "clusterer": frozenset(),
    "density_estimator": frozenset(),
    "outlier_detector": frozenset(),
}


MODELS: dict[str, ModelEntry] = {
    entry.name: entry
    for entry in (
        ModelEntry(
            BASELINE,
            "ConstantModel",
            CLASS_KINDS | NUMBER_KINDS,
            "The baseline: class shares, or the mean with its spread.",
        ),
        ModelEntry(
            "additive",
            "AdditiveClassifier",
            CLASS_KINDS | NUMBER_KINDS,
            "A smooth curve for each number (GAM), as smooth as the rows ask for (REML).",
            streams=True,
            missing=True,
            cost="medium",
            space=additive_space,
            for_numbers="AdditiveModel",
            by_kind={"positive": {"response": "gamma"}, "count": COUNTS},
            by_zeros={"response": "tweedie"},
        ),
        *(
            ModelEntry(
                f"additive-{response}",
                "AdditiveModel",
                AMOUNTS | (kinds & COUNTED),
                f"A smooth curve for each number (GAM), {of}.",
                settings={"response": response},
                also=kinds,
                for_zeros=bool(kinds),
                missing=True,
                cost="medium",
                space=additive_space,
            )
            for response, kinds, of in (
                ("log-normal", frozenset(), "for the logarithm of amounts"),
                ("gaussian", NUMBER_KINDS, "with one spread for all numbers"),
            )
        ),
        ModelEntry(
            "naive-bayes",
            "NaiveBayes",
            CLASS_KINDS,
            "Columns independent given the class; probabilities calibrated by one temperature.",
            settings=CALIBRATED,
            with_text={"smoothing": "auto", "calibrate": "length"},
            streams=True,
            missing=True,
            space=naive_bayes_space,
        ),
        ModelEntry(
            "bayesian-network",
            "BayesianNetworkClassifier",
            CLASS_KINDS,
            "Naive Bayes in which each column also depends on one other; numbers are binned.",
            settings=CALIBRATED,
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
            with_text=CLASSES_BY_WORDS,
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
            with_text=CLASSES_BY_WORDS,
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
            with_text=WITH_WORDS,
            streams=True,
            space=penalties_space,
        ),
        ModelEntry(
            "glm",
            "GLM",
            frozenset(),
            "Counts, amounts, shares, times: a response (response=poisson) and a link.",
            also=NUMBER_KINDS,
            with_text=WITH_WORDS,
            streams=True,
        ),
        ModelEntry(
            "glm-poisson",
            "GLM",
            frozenset({"count"}),
            "Counts whose log mean is linear.",
            settings={"response": "poisson", **RIDGE},
            with_text=WITH_WORDS,
            space=penalties_space,
        ),
        ModelEntry(
            "glm-negative-binomial",
            "GLM",
            frozenset({"count"}),
            "Overdispersed counts, with a linear log mean; alpha by maximum likelihood.",
            settings={"response": "negative-binomial", **RIDGE},
            with_text=WITH_WORDS,
            space=counts_space,
        ),
        ModelEntry(
            "glm-gamma",
            "GLM",
            AMOUNTS,
            "Amounts with a constant coefficient of variation and a linear log mean.",
            settings={"response": "gamma", "link": "log", **RIDGE},
            with_text=WITH_WORDS,
            space=penalties_space,
        ),
        ModelEntry(
            "glm-log-normal",
            "GLM",
            AMOUNTS,
            "Amounts whose logarithm is Gaussian around a linear predictor.",
            settings={"response": "log-normal", **RIDGE},
            with_text=WITH_WORDS,
            space=penalties_space,
        ),
        ModelEntry(
            "glm-tweedie",
            "GLM",
            frozenset(),
            "Amounts of which some are 0, with a linear log mean (Tweedie, power 1.5).",
            settings={"response": "tweedie", **RIDGE},
            also=NUMBER_KINDS,
            for_zeros=True,
            with_text=WITH_WORDS,
            space=penalties_space,
        ),
        ModelEntry(
            "glm-inverse-gaussian",
            "GLM",
            frozenset(),
            "Amounts with a heavier tail than the gamma's, with a linear log mean.",
            settings={"response": "inverse-gaussian", "link": "log"},
            also=AMOUNTS,
            with_text=WITH_WORDS,
            space=penalties_space,
        ),
        ModelEntry(
            "ridge",
            "PenaltyPath",
            MEASURED,
            "Ridge regression; the penalty is chosen by cross-validation.",
            cost="high",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l2", **PATH},
            also=COUNTED,
            space=path_space,
        ),
        ModelEntry(
            "lasso",
            "PenaltyPath",
            MEASURED,
            "Least squares with an L1 penalty chosen by cross-validation.",
            cost="medium",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l1", **PATH},
            also=COUNTED,
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
MODELS |= {e.name: e for e in [e.paired() for e in MODELS.values() if e.space is additive_space]}


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
            f"The model is {_described(model)}; expected a name, an import path or an estimator. "
            f"Choose one of {', '.join(MODELS)}, or pass NaiveBayes(), for instance."
        )
    given = entry_of_estimator(model)
    spaces = (entry.space for entry in _registered_like(given) if entry.space is not None)
    return replace(given, space=next(spaces, None))


def _described(given: Any) -> str:
    """What was given in place of a model: data by their shape, a class by its name."""
    if isinstance(given, type):
        return f"the class {given.__name__} (without brackets: {given.__name__}())"
    shape = getattr(given, "shape", None)
    if shape is not None:
        return f"data of shape {tuple(shape)} ({type(given).__name__})"
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}… ({type(given).__name__})"


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


def entries_for(
    kind: TargetKind,
    *,
    everything: bool = False,
    beside: frozenset[TargetKind] = frozenset(),
    zeros: bool = False,
) -> list[ModelEntry]:
    """The models for a kind of target, the baseline first; ``everything`` adds the slow ones."""
    kinds = {kind, *beside}
    suited = (e for e in MODELS.values() if kinds & e.targets or (zeros and e.for_zeros))
    return [entry for entry in suited if everything or entry.cost != "high"]


def entries_for_task(task: "Task", *, everything: bool = False) -> list[ModelEntry]:
    """The models that are tried for a target: whole numbers may be counts and amounts."""
    kind, zeros = task.kind, task.with_zeros
    return entries_for(kind, everything=everything, beside=task.beside, zeros=zeros)


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


def trainable() -> list[ModelEntry]:
    """Every registered model except the baseline, which is in every comparison."""
    return [entry for entry in MODELS.values() if entry.name != BASELINE]


def entry_of_estimator(estimator: Any) -> ModelEntry:
    """The entry of an estimator; its kinds of target follow from its class."""
    from likely.workbench.models.model_inside import unprepared

    inner = unprepared(estimator)
    name, kinds = type(inner).__name__, _kinds_of_instance(inner)
    return ModelEntry(name, name, frozenset(), "", also=kinds, example=estimator)


def entry_of_path(path: str) -> ModelEntry:
    """A class of another library by its import path."""
    from sklearn.base import ClassifierMixin, RegressorMixin

    found = class_at(path)
    summary = next(iter((found.__doc__ or "").strip().splitlines()), "")
    if issubclass(found, ClassifierMixin):
        return ModelEntry(path, path, frozenset(), summary, also=CLASS_KINDS)
    if issubclass(found, RegressorMixin):
        return ModelEntry(path, path, frozenset(), summary, also=NUMBER_KINDS)
    raise InvalidInput(
        f"{path} is neither a classifier nor a regressor; a model that predicts a target was "
        f"expected. Give the import path of one, such as {EXAMPLE_PATH}."
    )


def _kinds_of_instance(estimator: Any) -> frozenset[TargetKind]:
    """The kinds by scikit-learn's tags; every kind if there are no tags.

    A clusterer or a density predicts no target.
    """
    from sklearn.base import BaseEstimator
    from sklearn.utils import get_tags

    if not isinstance(estimator, BaseEstimator):
        return frozenset(TARGET_KINDS)
    try:
        kind = get_tags(estimator).estimator_type
    except AttributeError:  # of a part inside that is None, or no estimator
        raise InvalidInput(
            f"{' '.join(repr(estimator).split())} cannot be fitted: a part of it that must be an "
            "estimator is none. Give it one."
        ) from None
    return KINDS_BY_TYPE.get(kind, frozenset(TARGET_KINDS))
