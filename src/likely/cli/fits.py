"""The two ways in which a model of a RUN is fitted and scored.

prepared    its table is prepared inside the fit; each row is predicted by a fit without its fold
direct      the columns as they are, of a table in memory or of a file; one part is held out
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.kinds import (
    about_order,
    about_task,
    settings_with_order,
    task_facts,
    task_for,
)
from likely.cli.options import DataOptions
from likely.cli.settings import Settings
from likely.cli.weka import Weka
from likely.workbench.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.description import ColumnsRead
    from likely.kinds import TargetKind
    from likely.metrics import Score
    from likely.workbench.dataset import Dataset
    from likely.workbench.folds import Folds
    from likely.workbench.one_part import OnePart
    from likely.workbench.task import Task
    from likely.workbench.validation import Validation

FOLDS = 5


class Asked(NamedTuple):
    """A model and how it is wanted."""

    model: ModelEntry
    given: dict[str, Any]  # by --set
    weka: Weka = Weka()
    options: DataOptions = DataOptions()


class Trained(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    data: "Dataset"
    parameters: dict[str, Any]
    validation: "Validation | None" = None


def fit_prepared(settings: Settings, data: "Dataset", asked: Asked) -> Trained:
    """Columns are prepared inside the fit, which is cross-validated on every row."""
    import numpy as np

    from likely.cli.score_table import score_findings, score_text
    from likely.cli.watch import watched
    from likely.workbench.one_part import FEWEST_ROWS

    chosen = asked.model
    task = task_for(data, chosen, asked.given)
    places, rows = np.flatnonzero(task.known(data.table)), data.of_task(task)
    model = chosen.build(task, asked.given, seed=settings.seed)
    n_folds, folds = asked.weka.folds or FOLDS, None
    if len(places) >= FEWEST_ROWS:
        folds = rows.folds(n_folds, seed=settings.seed)
    with watched(settings, f"cross-validating {chosen.name}", None):
        found = fit_and_validate(model, rows, folds, seed=settings.seed, places=places)
    facts = {
        **prepared_facts(found, rows, chosen),
        "events": {},
        "scores": None if found.score is None else found.score.to_json(),
    }
    findings = about_task(task) + dropped_columns(found.model)
    findings += score_findings(found.score, len(places))
    text = "\n\n".join([opening(facts), *score_text(found.score)])
    shown = plain_parameters(model)
    return Trained(found.model, facts, text, findings, data, shown, found.validation)


class Validated(NamedTuple):
    """A model with its preparation, fitted to all rows, and its cross-validation."""

    model: Any  # Prepared
    score: "Score | None"
    validation: "Validation | None"


def fit_and_validate(
    model: Any,
    rows: "Dataset",
    folds: "Folds | None",
    *,
    seed: int = 0,
    places: Any = None,
) -> Validated:
    """Cross-validate on the folds, where there are some, and fit to all rows.

    ``places`` are those of the rows in the whole table.
    """
    from dataclasses import replace

    from sklearn.base import clone

    from likely.workbench.held_out import Loop, cross_validate
    from likely.workbench.preparation.prepared import Prepared
    from likely.workbench.validation import validation_of

    whole = model if isinstance(model, Prepared) else Prepared(model)
    table, task, score, validation = rows.learned, rows.settled, None, None
    if folds is not None:
        held = cross_validate(whole, Loop(table, task, folds)).held
        score = replace(held.score(), group=rows.group)
        validation = validation_of(
            held, table, score, places=places, seed=seed, by_time=rows.by_time
        )
    fitted = clone(whole).fit(table.drop_columns([task.target]), table.column(task.target))
    return Validated(fitted, score, validation)


def prepared_facts(found: Validated, rows: "Dataset", chosen: ModelEntry) -> dict[str, Any]:
    """What ``run.json`` says of a model with its preparation inside."""
    task = rows.settled
    return {
        "model": chosen.name,
        "data": rows.label,
        "rows": rows.table.num_rows,
        "columns": [str(name) for name in found.model.feature_names_in_],
        "target": task.target,
        "group": rows.group,
        "by_time": rows.by_time,
        "beside": {},
        "classes": list(task.classes) if task.has_classes else None,
        "task": task_facts(task),
    }


def dropped_columns(model: Any) -> tuple[str, ...]:
    """A note about columns that the preparation left out."""
    gone = [name for name, what in model.steps_ if what.startswith("dropped")]
    if not gone:
        return ()
    more = f" and {len(gone) - 6} more" if len(gone) > 6 else ""
    return (f"Dropped as uninformative: {', '.join(gone[:6])}{more}. likely explain says why.",)


def plain_parameters(model: Any) -> dict[str, Any]:
    """The settings of an estimator that JSON has."""
    plain = (str, int, float, bool, list, dict)
    found = model.get_params(deep=True).items()
    return {name: value for name, value in found if isinstance(value, plain)}


def fit_direct(settings: Settings, name: str, data: "Dataset", asked: Asked) -> Trained:
    """The columns as they are; a file may be larger than memory."""
    from likely.cli.score_table import score_findings, score_text
    from likely.cli.suitable import Wish, check_suitable

    chosen = asked.model
    needed, findings = _needed(data, chosen)
    check_suitable(needed.source, Wish(name, chosen, needed.roles))
    given = settings_with_order(needed, chosen, asked.given)
    task = _task_in_memory(needed, chosen, given)
    given = chosen.arguments(None, seed=settings.seed) | given
    part, model = _scored_and_fitted(settings, needed, chosen, given, task)
    score, n_rows = None if part is None else part.score, needed.source.n_rows
    read: ColumnsRead = model.columns_read(n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": needed.target,
        "beside": needed.roles.beside(),
        "classes": model.classes_.tolist() if chosen.has_classes else None,
        "task": None if task is None else task_facts(task),
        "events": dict(read.kinds),
        "scores": None if score is None else score.to_json(),
    }
    doubt = about_order(chosen, model, given) if task is None else about_task(task)
    findings += doubt + read.remarks + _about_rows(part) + _about_split(data)
    findings += score_findings(score, n_rows)
    columns = f"Columns are read as: {read}." if read.kinds else ""
    said = " ".join(filter(None, [opening(facts), columns]))
    moved = bool(needed.roles.at_prediction())
    text = "\n\n".join([said, *score_text(score, moved=moved)])
    kept = None if task is None else _kept_rows(part, needed, settings.seed)
    return Trained(model, facts, text, findings, data, given, kept)


def _task_in_memory(data: "Dataset", chosen: ModelEntry, given: dict[str, Any]) -> "Task | None":
    """The task as the model takes it: a number that it tells apart as classes is a class.

    Of a streamed file, and of targets that no task has words for, there is none.
    """
    from likely.errors import InvalidInput
    from likely.workbench.task import task_of

    if data.target is None or not data.in_memory:
        return None
    try:
        task = task_for(data, chosen, given)
        if data.declared:
            return task
        if chosen.has_classes and not chosen.is_ordinal and not task.has_classes:
            return task_of(data.table, data.target, kind="classes")
        if not chosen.has_classes and given.get("response", "gaussian") == "gaussian":
            return task_of(data.table, data.target, kind="real")
    except InvalidInput:
        if data.declared:
            raise
        return None
    return task


def _kept_rows(part: "OnePart | None", data: "Dataset", seed: int) -> "Validation | None":
    """The held-out rows of a table in memory, for the report."""
    from likely.workbench.validation import validation_of

    if part is None or part.held is None or not data.in_memory:
        return None
    return validation_of(part.held, data.table, part.score, seed=seed)


def _about_rows(part: "OnePart | None") -> tuple[str, ...]:
    """Rows of the score that have no label, or one that the fit had not seen."""
    from likely.formatting import count

    if part is None:
        return ()
    said = []
    if part.n_unlabelled:
        rows = count(part.n_unlabelled, "held-out row")
        said.append(f"{rows} had no label; the score leaves them out.")
    if part.n_unseen:
        rows = count(part.n_unseen, "held-out row")
        said.append(
            f"{rows} had a class that the fit had not seen; such a row counts as if its "
            "probability were 2⁻⁵²."
        )
    return tuple(said)


def _about_split(data: "Dataset") -> tuple[str, ...]:
    """A seal by group or time, and a score on rows that were held out by neither."""
    column = data.group or data.by_time
    if column is None:
        return ()
    return (
        f"The rows of this score were held out one by one, not by {column} as the sealed rows "
        "are, so it may be too good. Without a weight, an offset, an exposure or clusters they "
        f"are held out by {column}.",
    )


def _scored_and_fitted(
    settings: Settings,
    data: "Dataset",
    chosen: ModelEntry,
    given: dict[str, Any],
    task: "Task | None",
) -> "tuple[OnePart | None, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.cli.watch import watched
    from likely.workbench.one_part import fit_on, hold_out

    make, kind = chosen.load(), _kind_taken(chosen, given)
    with watched(settings, f"scoring {chosen.name}", data.source.n_rows):
        part = hold_out(lambda: make(**given), data, kind, seed=settings.seed, task=task)
    with watched(settings, f"fitting {chosen.name}", data.source.n_rows):
        return part, fit_on(make(**given), data, data.source)


def _kind_taken(chosen: ModelEntry, given: dict[str, Any]) -> "TargetKind | None":
    """What a model takes its target for; None where it needs none."""
    if not chosen.supervised:
        return None
    if not chosen.has_classes:
        return chosen.with_settings(given).first_kind or "real"
    return "ordinal" if chosen.is_ordinal else "classes"


def _needed(data: "Dataset", chosen: ModelEntry) -> "tuple[Dataset, tuple[str, ...]]":
    """Without columns that no model sees; without the target, where none is needed."""
    from dataclasses import replace

    source = data.rows.drop(sorted(data.apart - {*data.roles.columns}))
    if chosen.supervised or data.target is None:
        return replace(data, source=source), ()
    said = f"Column {data.target!r} is left out: {chosen.name} needs no target."
    return replace(data, source=source.drop([data.target]), target=None), (said,)


def opening(facts: dict[str, Any]) -> str:
    from likely.cli.show import heading
    from likely.formatting import count

    text = f"{count(facts['rows'], 'row')}, {count(len(facts['columns']), 'column')}"
    if facts["target"] is not None:
        classes = facts["classes"]
        what = "a number" if classes is None else count(len(classes), "class", "classes")
        text += f", target {facts['target']} ({what})"
    text += "".join(f", {role} {name}" for role, name in facts["beside"].items())
    return f"{heading(facts['model'])} on {facts['data']}: {text}."
