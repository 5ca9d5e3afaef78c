"""The two ways in which a model of a RUN is fitted and scored.

prepared    its table is prepared inside the fit; each row is predicted by a fit without its fold
direct      the columns as they are, of a table in memory or of a file; one part is held out
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.kinds import (
    Said,
    about_order,
    about_task,
    said_or_sealed,
    settings_with_order,
    task_facts,
    task_for,
)
from likely.cli.parting import UNPARTED, parted_or_sealed
from likely.cli.roles import Roles
from likely.cli.settings import Settings
from likely.cli.weka import Weka
from likely.workbench.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.data.source import Source
    from likely.description import ColumnsRead
    from likely.kinds import TargetKind
    from likely.metrics import Score
    from likely.workbench.folds import Folds
    from likely.workbench.one_part import OnePart
    from likely.workbench.rows import Rows
    from likely.workbench.task import Task
    from likely.workbench.validation import Validation

FOLDS = 5


class Asked(NamedTuple):
    """A model and how it is wanted."""

    model: ModelEntry
    given: dict[str, Any]  # by --set
    weka: Weka = Weka()
    said: Said = Said()  # of the target


class Trained(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    data: "Data"
    parameters: dict[str, Any]
    validation: "Validation | None" = None


def fit_prepared(settings: Settings, data: "Data", asked: Asked, roles: Roles) -> Trained:
    """Columns are prepared inside the fit, which is cross-validated on every row."""
    import numpy as np

    from likely.cli.score_table import score_findings, score_text
    from likely.cli.tables import in_one_table
    from likely.cli.watch import watched
    from likely.workbench.one_part import FEWEST_ROWS
    from likely.workbench.rows import Rows

    table, chosen = in_one_table(data.source), asked.model
    manifest = None if data.seal is None else data.seal.manifest
    told = said_or_sealed(asked.said, manifest)
    task = task_for(table, str(roles.target), chosen, asked.given, told)
    places = np.flatnonzero(task.known(table))
    parting = parted_or_sealed(UNPARTED, data)
    rows = Rows(
        table.take(places),
        task,
        data.label,
        table.num_rows - len(places),
        *parting,
        sealed=manifest is not None,
        sealed_group=None if manifest is None else manifest.group,
    )
    model = chosen.build(task, asked.given, seed=settings.seed)
    n_folds, folds = asked.weka.folds or FOLDS, None
    if len(places) >= FEWEST_ROWS:
        folds = rows.folds(n_folds=n_folds, repeats=1, seed=settings.seed)
    with watched(settings, f"cross-validating {chosen.name}", None):
        found = fit_and_validate(model, rows, folds, seed=settings.seed, places=places)
    facts = {
        **prepared_facts(found, rows, chosen, data),
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
    rows: "Rows",
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
    table, task, score, validation = rows.learned, rows.task, None, None
    if folds is not None:
        held = cross_validate(whole, Loop(table, task, folds)).held
        score = replace(held.score(), group=rows.group)
        validation = validation_of(
            held, table, score, places=places, seed=seed, by_time=rows.by_time
        )
    fitted = clone(whole).fit(table.drop_columns([task.target]), table.column(task.target))
    return Validated(fitted, score, validation)


def prepared_facts(
    found: Validated, rows: "Rows", chosen: ModelEntry, data: "Data"
) -> dict[str, Any]:
    """What ``run.json`` says of a model with its preparation inside."""
    task = rows.task
    return {
        "model": chosen.name,
        "data": data.label,
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


def fit_direct(settings: Settings, name: str, data: "Data", asked: Asked, roles: Roles) -> Trained:
    """The columns as they are; a file may be larger than memory."""
    from likely.cli.score_table import score_findings, score_text
    from likely.cli.suitable import Wish, check_suitable

    chosen = asked.model
    source, roles, findings = _needed(data, roles, chosen)
    check_suitable(source, Wish(name, chosen, roles))
    given = settings_with_order(asked.said, chosen, asked.given, source, roles)
    asked = asked._replace(given=given)
    given = chosen.arguments(None, seed=settings.seed) | given
    task = _task_in_memory(source, asked, roles)
    part, model = _scored_and_fitted(settings, source, chosen, given, roles, task, data.in_memory)
    score = None if part is None else part.score
    read: ColumnsRead = model.columns_read(source.n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": source.n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": roles.target,
        "beside": roles.beside(),
        "classes": model.classes_.tolist() if chosen.has_classes else None,
        "task": None if task is None else task_facts(task),
        "events": dict(read.kinds),
        "scores": None if score is None else score.to_json(),
    }
    doubt = about_order(chosen, model, given) if task is None else about_task(task)
    findings += doubt + read.remarks + _about_rows(part) + _about_parting(data)
    findings += score_findings(score, source.n_rows)
    columns = f"Columns are read as: {read}." if read.kinds else ""
    said = " ".join(filter(None, [opening(facts), columns]))
    text = "\n\n".join([said, *score_text(score, moved=bool(roles.at_prediction()))])
    kept = None if task is None else _kept_rows(part, source, settings.seed)
    return Trained(model, facts, text, findings, data, given, kept)


def _task_in_memory(source: "Source", asked: Asked, roles: Roles) -> "Task | None":
    """The task as the model takes it: a number that it tells apart as classes is a class.

    Of a streamed file, and of targets that no task has words for, there is none.
    """
    from likely.cli.tables import TableSource
    from likely.errors import InvalidInput
    from likely.workbench.task import task_of

    if roles.target is None or not isinstance(source, TableSource):
        return None
    rows, target, chosen = source.table, roles.target, asked.model
    try:
        task = task_for(rows, target, chosen, asked.given, asked.said)
        if asked.said.anything:
            return task
        if chosen.has_classes and not chosen.is_ordinal and not task.has_classes:
            return task_of(rows, target, kind="classes")
        if not chosen.has_classes and asked.given.get("response", "gaussian") == "gaussian":
            return task_of(rows, target, kind="real")
    except InvalidInput:
        if asked.said.anything:
            raise
        return None
    return task


def _kept_rows(part: "OnePart | None", source: "Source", seed: int) -> "Validation | None":
    """The held-out rows of a table in memory, for the report."""
    from likely.cli.tables import TableSource
    from likely.workbench.validation import validation_of

    if part is None or part.held is None or not isinstance(source, TableSource):
        return None
    return validation_of(part.held, source.table, part.score, seed=seed)


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


def _about_parting(data: "Data") -> tuple[str, ...]:
    """A seal by group or time, and a score on rows that were held out by neither."""
    manifest = None if data.seal is None else data.seal.manifest
    column = None if manifest is None else manifest.group or manifest.by_time
    if column is None:
        return ()
    return (
        f"The rows of this score were held out one by one, not by {column} as the sealed rows "
        "are, so that it may be too good. Without a column beside the features it is by "
        f"{column}.",
    )


def _scored_and_fitted(
    settings: Settings,
    source: "Source",
    chosen: ModelEntry,
    given: dict[str, Any],
    roles: Roles,
    task: "Task | None",
    in_memory: bool,
) -> "tuple[OnePart | None, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.cli.watch import watched
    from likely.workbench.one_part import Examples, fit_on, hold_out

    make = chosen.load()
    examples = Examples(source, in_memory, *roles)
    kind = _kind_taken(chosen, given)
    with watched(settings, f"scoring {chosen.name}", source.n_rows):
        part = hold_out(lambda: make(**given), examples, kind, seed=settings.seed, task=task)
    with watched(settings, f"fitting {chosen.name}", source.n_rows):
        return part, fit_on(make(**given), examples, source)


def _kind_taken(chosen: ModelEntry, given: dict[str, Any]) -> "TargetKind | None":
    """What a model takes its target for; None where it needs none."""
    if not chosen.supervised:
        return None
    if not chosen.has_classes:
        return chosen.with_settings(given).first_kind or "real"
    return "ordinal" if chosen.is_ordinal else "classes"


def _needed(
    data: "Data", roles: Roles, chosen: ModelEntry
) -> "tuple[Source, Roles, tuple[str, ...]]":
    """Without the group of a seal, which names rows; without the target, where none is needed."""
    source, group = data.source, parted_or_sealed(UNPARTED, data).group
    if group is not None and group not in roles.columns:
        source = source.drop([group])
    if chosen.supervised or roles.target is None:
        return source, roles, ()
    said = f"Column {roles.target!r} is left out: {chosen.name} needs no target."
    return source.drop([roles.target]), roles._replace(target=None), (said,)


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
