"""The models of the command line, by their kebab-case names.

To add a model, write one line in ``likely.workbench.models.CANDIDATES``, and here only if it has
no target or is to be streamed from a file: ``train``, ``explain``, ``models`` and their tests
read this table.
"""

import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NoReturn, final

import likely
from likely.cli.exits import Exit, Refusal
from likely.errors import UnknownName
from likely.kinds import NUMBER_KINDS
from likely.workbench.models import BASELINE, CANDIDATES, Candidate

Target = Literal["none", "class", "two classes", "ordered", "number"]


@final
@dataclass(frozen=True)
class Model:
    """A public estimator under its command-line name."""

    name: str
    estimator: str  # its name in ``likely``
    target: Target  # what it predicts
    summary: str
    defaults: dict[str, Any] = field(default_factory=dict)  # where they differ from Python's
    gaps: bool = False  # whether cells may be missing
    streams: bool = True  # whether it may be fitted as it is, to a table larger than memory

    @property
    def supervised(self) -> bool:
        """Whether it needs a target."""
        return self.target != "none"

    def load(self) -> type[Any]:
        found: type[Any] = getattr(likely, self.estimator)
        return found


DIRECT = {  # fitted to the columns as they are, from memory or from a file
    model.name: model
    for model in (
        Model(
            "naive-bayes",
            "NaiveBayes",
            "class",
            "Columns independent given the class: any types, missing cells, any size.",
            gaps=True,
        ),
        Model(
            "discriminant",
            "DiscriminantAnalysis",
            "class",
            "A Gaussian per class: numbers that depend on one another.",
            gaps=True,
        ),
        Model(
            "mixture",
            "MixtureModel",
            "none",
            "Soft clusters and a density, by EM; needs no target.",
            {"n_components": "auto"},
            gaps=True,
        ),
        Model(
            "linear",
            "LinearRegression",
            "number",
            "Least squares, ridge and lasso: a number, with standard errors.",
        ),
        Model(
            "glm",
            "GLM",
            "number",
            "Counts, amounts, shares, times: a response (response=poisson) and a link.",
        ),
        Model(
            "logistic",
            "LogisticRegression",
            "two classes",
            "The log-odds of two classes, by coefficients with standard errors.",
        ),
        Model(
            "softmax",
            "SoftmaxRegression",
            "class",
            "Logistic regression for any number of classes.",
        ),
        Model(
            "ordinal",
            "OrdinalRegression",
            "ordered",
            'Classes with an order (order=["low","high"]): one predictor, with thresholds.',
        ),
    )
}


def _of_candidate(candidate: Candidate) -> Model:
    """A model whose table is prepared inside its fit."""
    return Model(
        candidate.name,
        candidate.estimator,
        _target_of(candidate),
        candidate.summary,
        {name: value for name, value in candidate.settings.items() if _is_plain(value)},
        gaps=True,
        streams=False,
    )


def _target_of(candidate: Candidate) -> Target:
    if candidate.tasks <= NUMBER_KINDS:
        return "number"
    if candidate.tasks == {"binary"}:
        return "two classes"
    return "ordered" if candidate.tasks == {"ordinal"} else "class"


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


MODELS = DIRECT | {
    name: _of_candidate(candidate)
    for name, candidate in CANDIDATES.items()
    if name not in DIRECT and name != BASELINE  # which learns nothing, and is in every comparison
}


class Parameter(NamedTuple):
    """A constructor argument, its default here, and what it is for."""

    name: str
    default: Any
    doc: str


def model_named(name: str) -> Model:
    """The model, or a usage error that suggests the nearest."""
    if name not in MODELS:
        raise Refusal(str(UnknownName("model", name, MODELS)), Exit.USAGE, "likely models")
    return MODELS[name]


def kebab(estimator: object) -> str:
    """The command-line name of an estimator: its model's, or its own in kebab-case."""
    kind = type(estimator).__name__
    names = {model.estimator: model.name for model in DIRECT.values()}
    return names.get(kind, re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower())


def parameters(model: Model) -> list[Parameter]:
    """The constructor's arguments with one line each from the docstring."""
    estimator = model.load()
    docs = _documented(inspect.getdoc(estimator) or "")
    return [
        Parameter(name, model.defaults.get(name, argument.default), docs.get(name, ""))
        for name, argument in inspect.signature(estimator).parameters.items()
    ]


def arguments(model: Model, assignments: Sequence[str], seed: int) -> dict[str, Any]:
    """Constructor arguments: defaults, the seed, and what ``--set`` gives."""
    defaults = dict(model.defaults)
    if any(parameter.name == "random_state" for parameter in parameters(model)):
        defaults["random_state"] = seed
    return {**defaults, **assigned(model, assignments)}


def assigned(model: Model, assignments: Sequence[str]) -> dict[str, Any]:
    """What ``--set name=value`` gives; ``name.key=value`` fills a mapping."""
    known = [parameter.name for parameter in parameters(model)]
    given: dict[str, Any] = {}
    for assignment in assignments:
        left, equals, right = assignment.partition("=")
        name, dot, key = left.strip().partition(".")
        if not equals:
            _refuse(
                model, f"--set takes name=value; found {assignment!r}. Write --set {name}=VALUE."
            )
        if name not in known:
            _refuse(model, str(UnknownName(f"parameter of {model.name}", name, known)))
        if name in given and not (dot and isinstance(given[name], dict)):
            _refuse(model, f"--set gives {name!r} twice; once was expected. Leave one of them out.")
        if dot:
            given.setdefault(name, {})[key] = value_of(right)
        else:
            given[name] = _missing_or_value(name, right)
    return given


def _missing_or_value(name: str, text: str) -> Any:
    """``unlabelled=nan``, in any case, is a missing label: NaN, which JSON lacks."""
    if name == "unlabelled" and text.strip().lower() == "nan":
        return float("nan")
    return value_of(text)


def value_of(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _refuse(model: Model, message: str) -> NoReturn:
    raise Refusal(message, Exit.USAGE, f"likely models {model.name}")


def _documented(docstring: str) -> dict[str, str]:
    """The first sentence under each entry of the NumPy section Parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    if section is None:
        return {}
    found: dict[str, str] = {}
    entries = re.split(r"^(?=\S)", section.group(1), flags=re.M)
    for entry in filter(str.strip, entries):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        text = " ".join(body.split()) or kind
        sentence = re.split(r"(?<=[.;])\s", text.replace("``", ""), maxsplit=1)[0]
        for name in names.split(","):
            found[name.strip()] = sentence.rstrip(";.") + "."
    return found
