"""What a RUN keeps beside its model: ``run.json``, held-out rows, and a look at its data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from likely.cli.settings import Settings

if TYPE_CHECKING:
    from likely.cli.train import Asked, Trained
    from likely.report.validation import Validation
    from likely.workbench.dataset import Dataset
    from likely.workbench.task import Task


def task_and_held_rows(
    model: Any, data: "Dataset", asked: "Asked", seed: int
) -> "tuple[Task | None, Validation | None]":
    """The task, and what the scored fit said of held-out rows; of a streamed file neither."""
    if data.target is None or not data.in_memory:
        return None, None
    from likely.cli.kept_rows import kept_rows, task_of_fit
    from likely.errors import InvalidInput

    try:
        task = task_of_fit(data, asked.model, asked.given)
    except InvalidInput:  # the model can do with targets that the report has no words for
        if data.declared:
            raise
        return None, None
    return task, None if model is None else kept_rows(
        model, data.table, task, data.roles, seed=seed
    )


def run_facts(settings: Settings, trained: "Trained") -> dict[str, Any]:
    """What ``run.json`` keeps."""
    from datetime import UTC, datetime

    from likely.cli.runs import seal_facts, versions

    facts, data = trained.facts, trained.data
    return {
        "command": settings.command,
        "seed": settings.seed,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": facts["model"],
        "parameters": {name: _written(value) for name, value in trained.parameters.items()},
        "target": facts["target"],
        "task": facts.get("task"),
        "group": facts.get("group"),
        "by_time": facts.get("by_time"),
        "dropped": list(data.dropped),
        "categories": list(data.categories),
        "beside": facts["beside"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": data.digest, "rows": facts["rows"]},
        "seal": None if data.seal is None else seal_facts(data.seal),
        "scores": facts["scores"],
        "versions": versions(),
    }


def write_evidence(folder: Path, trained: "Trained") -> None:
    """What the report reads beside ``run.json``."""
    from likely.cli.answer import as_json
    from likely.cli.runs import kept_beside
    from likely.files import write_atomically

    if trained.validation is not None:
        from likely.report.validation import write

        write(folder, trained.validation)
    data = trained.data
    if not data.in_memory:
        return
    from likely.workbench.look.look import look

    task = trained.facts.get("task") or {}
    found = look(data, kind=task.get("kind"), order=task.get("order"))
    write_atomically(folder / "look.json", (as_json(found.facts()) + "\n").encode())
    if data.seal is not None:
        for name, content in kept_beside(data.seal).items():
            write_atomically(folder / name, content)


def _written(value: Any) -> Any:
    """NaN as it was given, for JSON has none."""
    return "nan" if isinstance(value, float) and value != value else value
