"""``likely.report``: one HTML file about a run, a model, a study, a comparison or a final score.

What the report of a RUN reads from its folder is computed here for objects in Python: predictions
of held-out rows, the checks of the data, the description of the model, the importance of columns.
"""

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from likely.errors import InvalidInput
from likely.inputs.foreign_models import predictive_family
from likely.inputs.tables import as_frame, own_columns, rows_at
from likely.metrics.baseline import BestConstant
from likely.output.description import describe
from likely.output.formatting import count, html_paragraph
from likely.reports.page import Report, report_of
from likely.runs.catalogue import open_run, place_of_run
from likely.runs.folder import RunFacts, RunFolder, read_run, versions
from likely.runs.seals import ledger_facts, seal_facts
from likely.sealing.final_score import FinalScore
from likely.storage.files import write_atomically
from likely.workbench.comparison.comparison import Comparison
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of_fit
from likely.workbench.look.look import look
from likely.workbench.models.model_inside import unprepared
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.scoring.column_effects import (
    MOST_COLUMNS,
    ColumnEffects,
    effects_on,
    held_out_effects_or_note,
)
from likely.workbench.scoring.cross_validation import Loop, cross_validate
from likely.workbench.scoring.held_out import FEWEST_ROWS, HeldOut
from likely.workbench.scoring.predictions import predict_features, truth_of, with_density
from likely.workbench.scoring.validation import Validation, validation_of
from likely.workbench.search.study import Study
from likely.workbench.search.study_text import study_facts

OUTPUT = "report.html"
FOLDS = 5


@final
@dataclass(frozen=True, eq=False)
class WrittenReport:
    """A report, and the file that it was written to.

    Attributes
    ----------
    html : str
        The whole page.
    path : Path or None
        The file; None where none was written.
    sections : tuple of str
        The titles of its sections.
    left_out : tuple of str
        What the report does not have, and why.
    """

    html: str = field(repr=False)
    path: Path | None
    sections: tuple[str, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        where = "not written" if self.path is None else str(self.path)
        return f"Report with {count(len(self.sections), 'section')}, {where}."

    def link(self) -> str:
        """A link for a notebook: relative, as the pages of a notebook are served, if it may be."""
        sections = count(len(self.sections), "section")
        if self.path is None:
            return html_paragraph(str(self))
        path = self.path.resolve()
        near = path.is_relative_to(Path.cwd())
        link = quote(path.relative_to(Path.cwd()).as_posix()) if near else path.as_uri()
        name = escape(str(self.path))
        return f"<p>Report with {sections}: <a href='{link}' target='_blank'>{name}</a></p>"

    _repr_html_ = link


def report(
    of: Any, X: Any = None, y: Any = None, *, path: str | os.PathLike[str] | None = OUTPUT
) -> WrittenReport:
    """Write a report as ``likely report`` does: one HTML file that needs no network.

    Parameters
    ----------
    of : str, Path, estimator, Study, Comparison, FinalScore, or a list of them
        A RUN by its folder or ``"@last"``; a fitted model, reported on rows X, y that it has not
        seen; a model that is not fitted, cross-validated on X, y; what ``tune``, ``compare`` and
        ``final`` return.
    X, y : the rows and their targets, for a model
        y may be the name of a column of X.
    path : str, Path or None, default="report.html"
        The file to write; None writes none.

    Returns
    -------
    WrittenReport
        ``path``, ``html``, and the titles of the ``sections``.

    Examples
    --------
    >>> import likely
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = likely.NaiveBayes().fit(X[::2], y[::2])
    >>> found = likely.report(model, X[1::2], y[1::2], path=None)
    >>> found.sections[:2]
    ('Result', 'Run')
    """
    given = list(of) if isinstance(of, list | tuple) else [of]
    if not given:
        raise InvalidInput("An empty list was given; a run or a model was expected. Give one.")
    if isinstance(X, str | os.PathLike) and y is None:
        raise InvalidInput(
            f"X is {os.fspath(X)!r}; the rows of a model were expected. The file to write is "
            f"path={os.fspath(X)!r}."
        )
    made = report_of([_facts(each, X, y) for each in given])
    target = None if path is None else Path(path)
    if target is not None:
        write_atomically(target, made.html.encode())
    return _written(made, target)


def facts_of_run(name: str) -> RunFacts:
    """The facts of a RUN, with the description of its model if that was saved."""
    place = place_of_run(name)
    if RunFolder(place).is_unsaved:
        return read_run(place)
    run = open_run(name)
    return read_run(run.path, run=run.facts, description=describe(run.model))


def _written(made: Report, path: Path | None) -> WrittenReport:
    titles = dict.fromkeys(each.title for part in made.parts for each in part.sections)
    left = dict.fromkeys(f"{each.title}: {each.why}" for each in made.left_out)
    return WrittenReport(made.html, path, tuple(titles), tuple(left))


def _facts(of: Any, X: Any, y: Any) -> RunFacts:
    if isinstance(of, str | os.PathLike):
        return facts_of_run(str(os.fspath(of)))
    if isinstance(of, Study):
        return _of_study(of)
    if isinstance(of, Comparison):
        return _of_comparison(of)
    if isinstance(of, FinalScore):
        return _of_final(of)
    if not hasattr(of, "fit"):
        raise InvalidInput(
            f"{of!r:.80} was given; a run folder, a model, or what tune, compare or final return "
            'was expected. Give one, such as likely.report("@last").'
        )
    return _of_model(of, X, y)


def _of_study(study: Study) -> RunFacts:
    objective = study.question.objective
    rows = objective.rows
    folds = objective.folds if rows.table.num_rows >= FEWEST_ROWS else None
    found = _cross_validated(study.best_model(), rows, folds, name=study.question.model)
    return RunFacts(**{**vars(found), "study": study_facts(study)})


def _of_comparison(comparison: Comparison) -> RunFacts:
    """The comparison, and its best model cross-validated on the same folds."""
    best = comparison.best
    found = _cross_validated(
        comparison.best_model(), comparison.rows, comparison.folds, name=best.name
    )
    return RunFacts(**{**vars(found), "comparisons": (comparison.facts(),)})


def _of_final(score: FinalScore) -> RunFacts:
    """What a final score shows about its model; the ledger is with its seal."""
    model = score.model
    known = model is not None
    name = type(unprepared(model)).__name__ if known else "predictions of another tool"
    run = {
        "model": name,
        "target": "the target",
        "data": {"name": "sealed rows", "rows": score.n_rows},
        "findings": score.findings,
        "versions": versions(),
    }
    return RunFacts(
        name,
        run,
        final=score.to_json(),
        description=describe(model) if known else None,
        in_python=True,
    )


def _of_model(model: Any, X: Any, y: Any) -> RunFacts:
    if X is None or y is None:
        raise InvalidInput(
            f"A report of {type(model).__name__} needs rows to score; X or y was not given. Use "
            "likely.report(model, X, y), with rows that the model has not seen."
        )
    name = type(unprepared(model) if isinstance(model, Prepared) else model).__name__
    try:
        check_is_fitted(model)
    except NotFittedError:
        rows = dataset(X, y).with_task(model)
        folds = rows.folds(FOLDS) if rows.table.num_rows >= FEWEST_ROWS else None
        return _cross_validated(prepared(model), rows, folds, name=name)
    return _of_fitted(model, X, y, name)


def _cross_validated(model: Any, rows: Dataset, folds: Any, *, name: str) -> RunFacts:
    """The facts of a model that is cross-validated and fitted to all rows."""
    validation = effects = None
    if folds is not None:
        held = cross_validate(model, Loop(rows, folds)).held
        validation = validation_of(held, rows.model_columns, held.score(), by_time=rows.by_time)
        effects = held_out_effects_or_note(model, rows)
    fitted = rows.fit(clone(model))
    return _run_facts(name, fitted, rows, validation, effects)


def _of_fitted(model: Any, X: Any, y: Any, name: str) -> RunFacts:
    """The facts of a fitted model, scored on rows that were given."""
    X, y = own_columns(as_frame(X), y)
    rows = dataset(X, y)
    task = task_of_fit(model, rows.table, rows.required_target())
    known = rows.counted(task)
    if len(known) < rows.table.num_rows:
        X, y = rows_at(X, known), rows_at(y, known)
    rows = rows.of_task(task)
    held = _predicted(model, X, rows)
    validation = validation_of(held, rows.model_columns, held.score())
    effects = None
    if len(known) >= FEWEST_ROWS and len(rows.features.column_names) <= MOST_COLUMNS:
        effects = effects_on(model, X, y, held_out=False)
    return _run_facts(name, model, rows, validation, effects)


def _predicted(model: Any, X: Any, rows: Dataset) -> HeldOut:
    """The predictions of rows in the form that the model was fitted to."""
    task = rows.settled
    truth = truth_of(task, rows.table)
    prediction = predict_features(model, task, X)
    family = None if task.has_classes else predictive_family(model)
    if family is not None:
        prediction = with_density(prediction, family, truth.y, task)
    index = np.arange(len(truth.y))
    constant = BestConstant.of(truth).prediction(truth)
    return HeldOut(
        task, truth, prediction, constant, index, np.zeros_like(index), families=(family,)
    )


def _run_facts(
    name: str,
    model: Any,
    rows: Dataset,
    validation: Validation | None,
    effects: ColumnEffects | None,
) -> RunFacts:
    task = rows.settled
    seal = None if rows.seal is None else seal_facts(rows.seal)
    run = {
        "model": name,
        "target": task.target,
        "task": {"kind": task.kind, "reason": task.reason},
        "group": rows.group,
        "by_time": rows.by_time,
        "roles": rows.roles.given(),
        "classes": list(task.classes) if task.has_classes else None,
        "data": {"name": rows.label, "sha256": rows.digest, "rows": rows.table.num_rows},
        "seed": 0,
        "versions": versions(),
        "seal": seal,
        "scores": None if validation is None else validation.score.to_json(),
    }
    return RunFacts(
        name,
        run,
        look=look(rows).facts(),
        validation=validation,
        effects=effects,
        ledger=None if rows.seal is None else ledger_facts(rows.seal.path, seal or {}),
        description=describe(model),
        in_python=True,
    )
