"""The task of a target, where models are named for it: as its values say, or as the models need.

    some model suits the usual kind        the usual kind
    none does, all suit another            that kind, where the values allow it; ``doubt`` says so
    else                                   the usual kind, which then refuses a model by name

What the user or a seal says of the kind, or of the order, is taken as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.data.labels import are_names
from likely.errors import InvalidInput
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TARGET_KINDS, TargetKind
from likely.workbench.models import BASELINE, candidate_named
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.task import Task, task_of

if TYPE_CHECKING:
    import pyarrow as pa

ALL = frozenset(TARGET_KINDS)
PREFERRED: tuple[TargetKind, ...] = ("binary", "classes", "ordinal", "real", "count", "positive")
OF_RESPONSE: Mapping[str, TargetKind] = {  # what a generalized linear model says its numbers are
    "poisson": "count",
    "negative_binomial": "count",
    "gamma": "positive",
    "inverse_gaussian": "positive",
}
IN_WORDS: Mapping[TargetKind, str] = {
    "binary": "two classes",
    "classes": "classes",
    "ordinal": "classes in order",
    "count": "counts",
    "positive": "amounts above 0",
    "real": "real numbers",
}


class Suits(NamedTuple):
    """A model by its name, and the kinds of target that it is for."""

    name: str
    kinds: frozenset[TargetKind]
    first: TargetKind | None = None  # of them, where there is a choice


def suits_of(models: Any) -> list[Suits]:
    """Of names and estimators as ``compare`` takes them; the baseline suits everything."""
    if models is None:
        return []
    if isinstance(models, Mapping):
        models = list(models.values())
    alone = isinstance(models, str) or not isinstance(models, Iterable)
    return [_suits(model) for model in ([models] if alone else models) if not _is_baseline(model)]


def kind_of_response(response: object) -> TargetKind:
    """What a response of a generalized linear model says of its numbers."""
    return OF_RESPONSE.get(str(getattr(response, "name", response)).replace("-", "_"), "real")


def task_for_models(
    table: "pa.Table",
    target: str,
    models: Sequence[Suits] = (),
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
) -> Task:
    """The task that the models are to be scored by.

    >>> import pyarrow as pa
    >>> visits = pa.table({"visits": [0, 1, 2, 1, 0] * 20})
    >>> task_for_models(visits, "visits").kind
    'classes'
    >>> task_for_models(visits, "visits", suits_of("glm-poisson")).kind
    'count'
    """
    usual = task_of(table, target, ordered=order, kind=kind)
    if kind is not None or order is not None or not models:
        return usual
    if any(usual.kind in model.kinds for model in models):
        return usual
    shared = frozenset.intersection(*(model.kinds for model in models))
    first = [model.first for model in models if model.first is not None]
    for other in (*first, *PREFERRED):
        task = _allowed(table, usual, other) if other in shared else None
        if task is not None:
            return _said(task, usual, models, shared)
    return usual


def _suits(model: Any) -> Suits:
    from sklearn.base import BaseEstimator, is_classifier, is_regressor

    if isinstance(model, str):
        return Suits(model, candidate_named(model).suits)
    inner = model.model if isinstance(model, Prepared) else model
    name = type(inner).__name__
    if not isinstance(inner, BaseEstimator):
        return Suits(name, ALL)
    if is_classifier(inner):
        return Suits(name, CLASS_KINDS)
    if not is_regressor(inner):
        return Suits(name, ALL)
    return Suits(name, NUMBER_KINDS, kind_of_response(getattr(inner, "response", None)))


def _is_baseline(model: Any) -> bool:
    return isinstance(model, str) and model == BASELINE


def _allowed(table: "pa.Table", usual: Task, kind: TargetKind) -> Task | None:
    """The target as that kind; None where its values are of no such kind."""
    try:
        task = task_of(table, usual.target, kind=kind)
    except InvalidInput:
        return None
    if task.has_classes and not usual.has_classes and not _may_be_classes(table, task):
        return None
    return task


def _may_be_classes(table: "pa.Table", task: Task) -> bool:
    """Whether numbers repeat as classes do, and are whole."""
    whole = all(float(value).is_integer() for value in task.classes)
    return whole and not are_names(len(task.classes), table.num_rows)


def _said(task: Task, usual: Task, models: Sequence[Suits], shared: frozenset[TargetKind]) -> Task:
    """Why it is not the usual kind, and what else it could be."""
    names = list(dict.fromkeys(model.name for model in models))
    named = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    are = "is" if len(names) == 1 else "are"
    found = _found(usual)
    counts = task.kind == "real" and "count" in shared and usual.classes[0] >= 0
    other = "; give the kind 'count' if they are counts" if counts else ""
    doubt = f"{found}: taken as {IN_WORDS[task.kind]}, which {named} {are} for{other}."
    return replace(
        task,
        reason=f"{named} {are} for such targets",
        doubt=" ".join(filter(None, [doubt, task.doubt])),
    )


def _found(usual: Task) -> str:
    if not usual.has_classes:
        return "Whole numbers"
    labels = isinstance(usual.classes[0], str | bool)
    return f"{len(usual.classes)} different {'labels' if labels else 'whole numbers'}"
