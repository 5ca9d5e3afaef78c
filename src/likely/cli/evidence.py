"""What a RUN keeps beside its model: its facts, held-out rows, and a look at its data."""

from typing import TYPE_CHECKING, Any

from likely.cli.roles import Roles
from likely.cli.settings import Settings

if TYPE_CHECKING:
    from likely.cli.train import Asked, Trained
    from likely.data.source import Source
    from likely.runs import RunFolder
    from likely.workbench.task import Task
    from likely.workbench.validation import Validation


def task_and_held_rows(
    model: Any, source: "Source", asked: "Asked", roles: Roles, seed: int
) -> "tuple[Task | None, Validation | None]":
    """The task, and what the scored fit said of held-out rows; of a streamed file neither."""
    from likely.cli.tables import TableSource

    if roles.target is None or not isinstance(source, TableSource):
        return None, None
    from likely.cli.kept_rows import kept_rows, task_of_fit
    from likely.errors import InvalidInput

    rows = source.table
    try:
        task = task_of_fit(rows, roles.target, asked.model, asked.given, asked.said)
    except InvalidInput:  # the model can do with targets that the report has no words for
        if asked.said.anything:
            raise
        return None, None
    return task, None if model is None else kept_rows(model, rows, task, roles, seed=seed)


def run_facts(settings: Settings, trained: "Trained") -> dict[str, Any]:
    """How the model of a RUN came about."""
    from datetime import UTC, datetime

    from likely.runs.seals import seal_facts

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
        "beside": facts["beside"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": data.digest, "rows": facts["rows"]},
        "seal": None if data.seal is None else seal_facts(data.seal),
        "scores": facts["scores"],
    }


def write_evidence(run: "RunFolder", trained: "Trained") -> None:
    """What the report reads beside the model and its facts."""
    if trained.validation is not None:
        run.write_validation(trained.validation)
    data = trained.data
    if data.seal is None and not data.in_memory:
        return
    from likely.workbench.look.look import look

    rows = data.source.table if data.seal is None else data.seal.path  # type: ignore[attr-defined]  # in memory
    task = trained.facts.get("task") or {}
    found = look(
        rows,
        None if data.seal is not None else trained.facts["target"],
        kind=task.get("kind"),
        order=task.get("order"),
    )
    run.write_look(found.facts())
    if data.seal is not None:
        run.write_kept_by(data.seal)


def _written(value: Any) -> Any:
    """NaN as it was given, for JSON has none."""
    return "nan" if isinstance(value, float) and value != value else value
