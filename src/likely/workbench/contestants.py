"""Who is compared: names and estimators as contestants, with the baseline among them."""

from collections.abc import Iterable, Mapping
from typing import Any

from likely.workbench.contest import Contestant
from likely.workbench.model_entry import ModelEntry
from likely.workbench.models import BASELINE, MODELS, entries_for, entry_for
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.task import Task


def contestants_for(
    models: Any, task: Task, *, seed: int, everything: bool
) -> tuple[list[Contestant], tuple[str, ...]]:
    """The baseline and the models asked for, and the slow ones that were not."""
    left_out: tuple[str, ...] = ()
    if models is None:
        chosen = entries_for(task.kind, everything=everything)
        left_out = tuple(
            each.name for each in entries_for(task.kind, everything=True) if each not in chosen
        )
        named = {each.name: each.build(task, seed=seed) for each in chosen}
    else:
        named = _named(models, task, seed=seed)
    named = {BASELINE: MODELS[BASELINE].build(task), **named}
    return [Contestant(name, _with_preparation(name, one)) for name, one in named.items()], left_out


def _named(models: Any, task: Task, *, seed: int) -> dict[str, Any]:
    """Estimators by name; a second of one class gets a number, a name given twice counts once."""
    if isinstance(models, Mapping):
        return {str(name): entry_for(one).build(task, seed=seed) for name, one in models.items()}
    alone = isinstance(models, str | ModelEntry) or not isinstance(models, Iterable)
    found: dict[str, Any] = {}
    for model in [models] if alone else models:
        entry = entry_for(model)
        name, estimator = entry.name, entry.build(task, seed=seed)
        if entry.example is None:
            found[name] = estimator
            continue
        count = sum(known == name or known.startswith(f"{name} ") for known in found)
        found[name if not count else f"{name} {count + 1}"] = estimator
    return found


def _with_preparation(name: str, model: Any) -> Any:
    """The baseline looks at no column, so that it cannot fail for one."""
    return model if isinstance(model, Prepared) or name == BASELINE else Prepared(model)
