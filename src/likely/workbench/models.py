"""The models that the workbench can try, by their kebab-case names, and what each is for.

To add one, write one entry in ``CANDIDATES``: ``compare``, ``tune`` and their tests read this
table.  The order is that of tables: the baseline first, then from simple to dear.

A model that cross-validates inside its fit is ``medium``; one that takes more than a second on
5,000 rows of 20 columns is ``high``, and tried only when asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, final

import likely
from likely.errors import InvalidInput, UnknownName
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TARGET_KINDS, TargetKind

if TYPE_CHECKING:
    from likely.workbench.task import Task

Cost = Literal["low", "medium", "high"]
Need = Literal["no-missing", "scaled", "numbers"]

BASELINE = "constant"
_HOME = {"Constant": "likely.workbench.constant"}  # where it is not a public name of ``likely``


class Part(NamedTuple):
    """An estimator inside another: its public name and arguments."""

    estimator: str
    settings: Mapping[str, Any]


@final
@dataclass(frozen=True)
class Candidate:
    """A model with the settings that suit a task."""

    name: str
    estimator: str  # its name in ``likely``
    tasks: frozenset[TargetKind]
    summary: str
    cost: Cost = "low"
    settings: Mapping[str, Any] = field(default_factory=dict)  # constructor arguments
    by_task: Mapping[TargetKind, Mapping[str, Any]] = field(default_factory=dict)  # more of them
    needs: frozenset[Need] = frozenset()  # what has to be done to a table first
    also: frozenset[TargetKind] = frozenset()  # tasks that it can do, if it is asked for by name

    @property
    def suits(self) -> frozenset[TargetKind]:
        """All tasks that it can do."""
        return self.tasks | self.also

    def load(self) -> type[Any]:
        return _class_named(self.estimator)

    def arguments(self, task: "Task", *, seed: int = 0) -> dict[str, Any]:
        """Constructor arguments for a task, with the order of its classes where one is taken."""
        takes = signature(self.load()).parameters
        found = {**self.settings, **self.by_task.get(task.kind, {})}
        if "order" in takes and task.order is not None:
            found["order"] = list(task.order)
        if "random_state" in takes:
            found["random_state"] = seed
        return {name: _made(value) for name, value in found.items()}

    def build(
        self, task: "Task", settings: Mapping[str, Any] | None = None, *, seed: int = 0
    ) -> Any:
        """A fresh estimator; ``settings`` overrule, and ``part__name`` reaches inside."""
        if task.kind not in self.suits:
            raise InvalidInput(
                f"{self.name} is for {', '.join(kinds_in_order(self.suits))} targets; "
                f"{task.target!r} is {task.kind}. Choose one of "
                f"{', '.join(each.name for each in candidates_for(task, everything=True))}"
                f"{_or_say(task, self.suits)}."
            )
        model = self.load()(**self.arguments(task, seed=seed))
        return model.set_params(**settings) if settings else model


NEEDS_NUMBERS: frozenset[Need] = frozenset({"numbers"})
NEEDS_CELLS: frozenset[Need] = frozenset({"no-missing"})
NEEDS_SCALE: frozenset[Need] = frozenset({"no-missing", "scaled"})
SEVERAL: frozenset[TargetKind] = frozenset({"classes", "ordinal"})

PATH = {"n_penalties": 15, "cv": 3}  # a coarse path: each fold of a comparison walks it anew
NEAR = 1e-6  # relative gap: of the log-likelihood, a hundredth of a nat in ten thousand

CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        Candidate(
            BASELINE,
            "Constant",
            CLASS_KINDS | NUMBER_KINDS,
            "The best constant: class shares, or the mean with its spread.",
            by_task={kind: {"target": kind} for kind in NUMBER_KINDS},
        ),
        Candidate(
            "naive-bayes",
            "NaiveBayes",
            CLASS_KINDS,
            "Columns independent given the class, its probabilities cooled by one temperature.",
            settings={"calibrate": "temperature"},
        ),
        Candidate(
            "discriminant",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian per class with one covariance: straight boundaries.",
            settings={"covariance": "tied"},
            needs=NEEDS_NUMBERS,
        ),
        Candidate(
            "discriminant-full",
            "DiscriminantAnalysis",
            CLASS_KINDS,
            "A Gaussian per class with a covariance each: curved boundaries.",
            settings={"covariance": "full"},
            needs=NEEDS_NUMBERS,
        ),
        Candidate(
            "logistic",
            "LogisticRegression",
            frozenset({"binary"}),
            "Log-odds linear in the columns, with a mild ridge.",
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "softmax",
            "SoftmaxRegression",
            SEVERAL,
            "Logistic regression for several classes, with a mild ridge.",
            needs=NEEDS_SCALE,
            also=frozenset({"binary"}),
        ),
        Candidate(
            "ordinal",
            "OrdinalRegression",
            frozenset({"ordinal"}),
            "Ordered classes: one predictor, with thresholds.",
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "frank-hall",
            "FrankHall",
            frozenset({"ordinal"}),
            "Ordered classes by one logistic regression for each cut between them.",
            settings={"estimator": Part("LogisticRegression", {})},
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "logistic-lasso",
            "PenaltyPath",
            frozenset({"binary"}),
            "Logistic regression with few columns, their number by cross-validation.",
            cost="high",
            settings={
                "model": Part("LogisticRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "softmax-lasso",
            "PenaltyPath",
            SEVERAL,
            "Softmax regression with few columns, their number by cross-validation.",
            cost="high",
            also=frozenset({"binary"}),
            settings={
                "model": Part("SoftmaxRegression", {"l2": 0.0, "tol": NEAR}),
                "along": "l1",
                **PATH,
            },
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "linear",
            "LinearRegression",
            NUMBER_KINDS,
            "Least squares: a Gaussian about a linear mean.",
            needs=NEEDS_CELLS,
        ),
        Candidate(
            "glm-poisson",
            "GLM",
            frozenset({"count"}),
            "Counts whose log mean is linear.",
            settings={"response": "poisson"},
            needs=NEEDS_CELLS,
        ),
        Candidate(
            "glm-negative-binomial",
            "GLM",
            frozenset({"count"}),
            "Counts more spread than the Poisson's (α = 1), with a linear log mean.",
            settings={"response": "negative_binomial"},
            needs=NEEDS_CELLS,
        ),
        Candidate(
            "glm-gamma",
            "GLM",
            frozenset({"positive"}),
            "Amounts of constant relative spread, with a linear log mean.",
            settings={"response": "gamma", "link": "log"},
            needs=NEEDS_CELLS,
        ),
        Candidate(
            "glm-inverse-gaussian",
            "GLM",
            frozenset({"positive"}),
            "Amounts with a heavier tail than the gamma's, with a linear log mean.",
            settings={"response": "inverse_gaussian", "link": "log"},
            needs=NEEDS_CELLS,
        ),
        Candidate(
            "ridge",
            "PenaltyPath",
            NUMBER_KINDS,
            "Least squares shrunk by a ridge, its strength by cross-validation.",
            cost="high",
            settings={"model": Part("LinearRegression", {}), "along": "l2", **PATH},
            needs=NEEDS_SCALE,
        ),
        Candidate(
            "lasso",
            "PenaltyPath",
            NUMBER_KINDS,
            "Least squares with few columns, their number by cross-validation.",
            cost="medium",
            settings={"model": Part("LinearRegression", {}), "along": "l1", **PATH},
            needs=NEEDS_SCALE,
        ),
    )
}


def candidate_named(name: str) -> Candidate:
    if name not in CANDIDATES:
        raise UnknownName("model", name, CANDIDATES)
    return CANDIDATES[name]


def candidates_for(task: "Task | TargetKind", *, everything: bool = False) -> list[Candidate]:
    """Those that suit the task, the baseline first; ``everything`` adds the slow ones."""
    kind = task if isinstance(task, str) else task.kind
    return [
        candidate
        for candidate in CANDIDATES.values()
        if kind in candidate.tasks and (everything or candidate.cost != "high")
    ]


def kinds_in_order(kinds: Iterable[TargetKind]) -> list[TargetKind]:
    return [kind for kind in TARGET_KINDS if kind in kinds]


def _or_say(task: "Task", kinds: frozenset[TargetKind]) -> str:
    """The kind that a model would need, where the values may be of it."""
    labels = task.classes
    if labels and (isinstance(labels[0], str | bool) or labels[0] < 0):
        kinds = kinds & CLASS_KINDS
    if len(labels) != 2:
        kinds = kinds - {"binary"}
    said = " or ".join(repr(kind) for kind in kinds_in_order(kinds))
    return f", or give the kind {said} if that is what it holds" if said else ""


def _class_named(name: str) -> type[Any]:
    home = likely if name in likely.__all__ else import_module(_HOME[name])
    found: type[Any] = getattr(home, name)
    return found


def _made(value: Any) -> Any:
    """A part as an estimator; anything else as it is."""
    if isinstance(value, Part):
        return _class_named(value.estimator)(**value.settings)
    return value
