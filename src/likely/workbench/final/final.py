"""The fit and the score of a final evaluation.

a name          the model of that name, with its preparation, as in ``compare``
a study         its best settings, and its cross-validation estimate
an estimator    itself, as it is
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from likely.data.arrow import TableSource, values_of
from likely.data.frames import frame_of
from likely.errors import HonestyRefusal, InvalidInput
from likely.inputs.tables import names_in_fit
from likely.sealing.evaluation import evaluate
from likely.sealing.final_score import FinalScore
from likely.sealing.folder import TRAIN, SealFolder
from likely.sealing.manifest import Manifest
from likely.sealing.recognition import log_event
from likely.sealing.scorer import Scorer
from likely.sealing.submission import ModelSubmission, PredictionSubmission, Submission
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.final.final_scorer import scorer_for, scorer_from
from likely.workbench.final.outside_predictions import outside_predictions
from likely.workbench.final.unfitted import SizesOfSeal, unfitted_copy
from likely.workbench.look.look import flattering_findings
from likely.workbench.models.model_inside import refuse_unused
from likely.workbench.models.registry import entry_for
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.search.study import Study


def final_score(
    seal: SealFolder,
    given: Any,
    *,
    again: str | None = None,
    escrow: str | Path | None = None,
    cv_estimate: float | None = None,
    scorer: Scorer | None = None,
) -> FinalScore:
    """Fit what was given to the training rows of the seal, and score it on the sealed ones.

    The arguments are those of ``Sealed.final``.
    """
    seal.label_file(escrow)  # a missing file is found before the fit
    _refuse_own_scorer(seal.manifest, scorer)
    manifest = seal.manifest
    unfitted, data, estimates = _chosen(given, training_rows(seal))
    model = _fitted(_unfitted(unfitted, seal), data, manifest.library)
    if scorer is None:
        scorer = scorer_for(model, seal)
        cv_estimate = scorer.estimated_loss(estimates) if cv_estimate is None else cv_estimate
    return final_score_of_fit(
        seal,
        model,
        trained_on=manifest.files[TRAIN],
        scorer=scorer,
        again=again,
        escrow=escrow,
        cv_estimate=cv_estimate,
    )


def _unfitted(model: Any, seal: SealFolder) -> Any:
    """A copy that knows no rows; the ledger records a model that was refused."""
    try:
        return unfitted_copy(model, SizesOfSeal(seal.manifest.n_train, seal.manifest.n_test))
    except HonestyRefusal:
        log_event(seal, "refused", {"command": "final", "reason": "a fitted model"})
        raise


def training_rows(seal: SealFolder) -> Dataset:
    """The training rows of the seal, with all that it records about them."""
    return replace(dataset(seal), source=TableSource(seal.train))


def _refuse_own_scorer(manifest: Manifest, scorer: Scorer | None) -> None:
    """Refuse a custom scorer for rows with weights, offsets or exposures: it does not see them."""
    for role, name in manifest.roles.items() if scorer is not None else ():
        raise InvalidInput(
            f"The seal has the {role} {name!r}, and a scorer was given, which sees features and "
            "labels only. Leave the scorer out."
        )


def final_score_of_fit(
    seal: SealFolder,
    model: Any,
    *,
    trained_on: str,
    scorer: Scorer,
    again: str | None = None,
    escrow: str | Path | None = None,
    cv_estimate: float | None = None,
    model_sha256: str | None = None,
) -> FinalScore:
    """Score a fitted model on the sealed rows.

    ``trained_on`` is the SHA-256 of the file of its training rows, and ``model_sha256`` that of
    the file of the model, where there is one: by it the ledger knows whose score it is.
    """
    columns = names_in_fit(model) or training_rows(seal).features.column_names
    submission = ModelSubmission(
        model=model,
        name=" ".join(repr(model).split()),  # without line breaks
        columns=list(columns),
        trained_on=trained_on,
        scorer=scorer,
        cv_estimate=cv_estimate,
        model_sha256=model_sha256,
    )
    return _evaluated(seal, submission, again, escrow, frozenset(columns))


def final_score_of_predictions(
    seal: SealFolder,
    given: Any,
    *,
    name: str = "predictions",
    again: str | None = None,
    escrow: str | Path | None = None,
    cv_estimate: float | None = None,
) -> FinalScore:
    """Score predictions for the sealed rows that another tool made."""
    predictions, scorer = outside_predictions(given, seal)
    submission = PredictionSubmission(
        predictions=predictions, name=name, scorer=scorer, cv_estimate=cv_estimate
    )
    return _evaluated(seal, submission, again, escrow)


def _evaluated(
    seal: SealFolder,
    submission: Submission,
    again: str | None,
    escrow: str | Path | None,
    features: frozenset[str] | None = None,
) -> FinalScore:
    """The score, with the findings about columns that the model uses; None: it may use all."""
    made = partial(scorer_from, seal=seal)
    score = evaluate(seal, submission, scorer_of_commit=made, again=again, escrow=escrow)
    found = flattering_findings(training_rows(seal))
    used = [each for each in found if features is None or features >= {*each.columns}]
    return replace(score, findings=tuple(each.record() for each in used))


def _chosen(given: Any, data: Dataset) -> tuple[Any, Dataset, Mapping[str, float]]:
    """A model that is not yet fitted, its rows, and its cross-validation estimates, by metric."""
    if isinstance(given, Study):
        _refuse_other_study(given, data)
        score = given.nested_score_ if given.outer else given.best_score_
        rows = data.of_task(given.question.objective.rows.settled)
        return given.best_model(), rows, {given.metric.name: score}
    named = given if isinstance(given, str) else None
    data = data.with_task(named)
    model = entry_for(given).build(data.settled)
    return model if named is None else prepared(model), data, {}


def _refuse_other_study(study: Study, data: Dataset) -> None:
    """Refuse a study of another target, or with other weights, offsets or exposures."""
    rows = study.question.objective.rows
    if rows.target != data.target:
        raise InvalidInput(
            f"The study is about {rows.target!r}, and {data.target!r} is sealed; a study of the "
            "same target was expected. Tune a model on the seal."
        )
    theirs, ours = (
        " and ".join(f"the {role} {name!r}" for role, name in each.roles.given().items())
        or "no weight, offset or exposure"
        for each in (rows, data)
    )
    if theirs != ours:
        raise InvalidInput(
            f"The study has {theirs}, and the seal has {ours}; a final score needs a model "
            "that was tuned with the same columns. Tune a model on the seal without options."
        )


def _fitted(model: Any, data: Dataset, library: str | None) -> Any:
    """The fit to a frame of the sealed library; ordered categories stay a column of it.

    An error about columns that the model cannot read says what to do.
    """
    table, target, name = data.table, data.required_target(), type(model).__name__
    ordered = getattr(table.column(target).type, "ordered", False)
    y = frame_of(table, library)[target] if ordered else values_of(table.column(target))
    columns = {at: values_of(table.column(column)) for at, column in data.roles.to_fit().items()}
    refuse_unused(model, columns)
    try:
        return model.fit(frame_of(data.features, library), y, **columns)
    except (TypeError, ValueError) as error:
        if isinstance(model, Prepared):
            raise
        raise InvalidInput(
            f"{name} cannot be fitted to the training rows as they are ({error}). "
            f"likely.Prepared({name}()) handles missing cells, text and dates, as compare does."
        ) from error
