"""The models of the workbench by their kebab-case names: the one registry.

To add a model, write one entry in ``MODELS``: ``compare``, ``train``, ``tune``, ``curve``,
``likely models``, the report and their tests read this table.  The order is that of tables: the
baseline first, then from simple to costly.

A model that cross-validates inside its fit is ``medium``; one that takes more than a second on
5,000 rows of 20 columns is ``high``, and tried only when requested.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from likely.errors import InvalidInput, UnknownName
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TargetKind
from likely.spaces import Space
from likely.workbench import model_spaces as spaces
from likely.workbench.model_entry import (
    InnerModel,
    ModelEntry,
    entry_of_estimator,
    entry_of_path,
    is_import_path,
)

BASELINE = "constant"
SEVERAL: frozenset[TargetKind] = frozenset({"classes", "ordinal"})

PATH = {"n_penalties": 15, "cv": 3}  # a coarse path: each fold of a comparison fits all of it
NEAR = 1e-6  # relative gap: of the log-likelihood, a hundredth of a nat in ten thousand

MODELS: dict[str, ModelEntry] = {
    entry.name: entry
    for entry in (
        ModelEntry(
            BASELINE,
            "Constant",
            CLASS_KINDS | NUMBER_KINDS,
            "The best constant: class shares, or the mean with its spread.",
        ),
        ModelEntry(
            "naive-bayes",
            "NaiveBayes",
            CLASS_KINDS,
            "Columns independent given the class; probabilities calibrated by one temperature.",
            settings={"calibrate": "temperature"},
            streams=True,
            missing=True,
            space=spaces.naive_bayes,
        ),
        ModelEntry(
            "discriminant",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian per class with one covariance: straight boundaries.",
            settings={"covariance": "tied"},
            streams=True,
            missing=True,
            space=spaces.discriminant,
        ),
        ModelEntry(
            "discriminant-full",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian per class with a covariance each: curved boundaries.",
            settings={"covariance": "full"},
            space=spaces.discriminant,
        ),
        ModelEntry(
            "logistic",
            "LogisticRegression",
            frozenset({"binary"}),
            "Log-odds linear in the columns, with a mild ridge.",
            streams=True,
            space=spaces.penalties_and_link,
        ),
        ModelEntry(
            "softmax",
            "SoftmaxRegression",
            SEVERAL,
            "Logistic regression for several classes, with a mild ridge.",
            also=frozenset({"binary"}),
            streams=True,
            space=spaces.penalties,
        ),
        ModelEntry(
            "ordinal",
            "OrdinalRegression",
            frozenset({"ordinal"}),
            "Ordered classes: one predictor, with thresholds.",
            streams=True,
            space=spaces.penalties_and_link,
        ),
        ModelEntry(
            "frank-hall",
            "FrankHall",
            frozenset({"ordinal"}),
            "Ordered classes by one logistic regression for each cut between them.",
            settings={"estimator": InnerModel("LogisticRegression", {})},
            space=spaces.inside_frank_hall,
        ),
        ModelEntry(
            "logistic-lasso",
            "PenaltyPath",
            frozenset({"binary"}),
            "Logistic regression with few columns, their number by cross-validation.",
            cost="high",
            settings={
                "model": InnerModel("LogisticRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            space=spaces.lasso_path,
        ),
        ModelEntry(
            "softmax-lasso",
            "PenaltyPath",
            SEVERAL,
            "Softmax regression with few columns, their number by cross-validation.",
            cost="high",
            also=frozenset({"binary"}),
            settings={
                "model": InnerModel("SoftmaxRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            space=spaces.lasso_path,
        ),
        ModelEntry(
            "linear",
            "LinearRegression",
            NUMBER_KINDS,
            "Least squares: a Gaussian about a linear mean.",
            streams=True,
            space=spaces.penalties,
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
            space=spaces.penalties,
        ),
        ModelEntry(
            "glm-negative-binomial",
            "GLM",
            frozenset({"count"}),
            "Counts more spread than the Poisson's (α = 1), with a linear log mean.",
            settings={"response": "negative_binomial"},
            space=spaces.penalties,
        ),
        ModelEntry(
            "glm-gamma",
            "GLM",
            frozenset({"positive"}),
            "Amounts of constant relative spread, with a linear log mean.",
            settings={"response": "gamma", "link": "log"},
            space=spaces.penalties,
        ),
        ModelEntry(
            "glm-inverse-gaussian",
            "GLM",
            frozenset({"positive"}),
            "Amounts with a heavier tail than the gamma's, with a linear log mean.",
            settings={"response": "inverse_gaussian", "link": "log"},
            space=spaces.penalties,
        ),
        ModelEntry(
            "ridge",
            "PenaltyPath",
            NUMBER_KINDS,
            "Least squares shrunk by a ridge, its strength by cross-validation.",
            cost="high",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l2", **PATH},
            space=spaces.path,
        ),
        ModelEntry(
            "lasso",
            "PenaltyPath",
            NUMBER_KINDS,
            "Least squares with few columns, their number by cross-validation.",
            cost="medium",
            settings={"model": InnerModel("LinearRegression", {}), "along": "l1", **PATH},
            space=spaces.lasso_path,
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


# of public estimators that have no name here
UNNAMED_SPACES: dict[str, spaces.Dimensions] = {"MaxEntropy": spaces.ridge}


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
        if model in MODELS:
            return MODELS[model]
        if is_import_path(model):
            return entry_of_path(model)
        raise UnknownName("model", model, MODELS)
    if model is None:
        raise InvalidInput(
            "No model was given; a name, an import path or an estimator was expected. Use "
            "model='logistic', for instance; compare shows which are good."
        )
    if isinstance(model, type) or not callable(getattr(model, "get_params", None)):
        raise InvalidInput(
            f"The model is {model!r}; expected a name, an import path or an estimator. "
            f"Choose one of {', '.join(MODELS)}, or pass NaiveBayes(), for instance."
        )
    given = entry_of_estimator(model)
    found = [entry.space for entry in _registered_like(given) if entry.space is not None]
    unnamed = None if given.is_foreign else UNNAMED_SPACES.get(given.estimator)
    return replace(given, space=found[0] if found else unnamed)


def entries_of(models: Any) -> list[ModelEntry]:
    """The entries of models as ``compare`` takes them: one, several, or a mapping of names."""
    if models is None:
        return []
    if isinstance(models, Mapping):
        models = list(models.values())
    alone = isinstance(models, str | ModelEntry) or not isinstance(models, Iterable)
    return [entry_for(model) for model in ([models] if alone else models)]


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
