"""What is fitted and scored when a seal is opened.

a name          the model of that name, with its preparation, as ``compare`` has it
a study         its best settings, and its cross-validation estimate
an estimator    itself, as it is
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sklearn.base import clone

from likely.data.arrow import values_of
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.inputs.tables import names_in_fit
from likely.kinds import TargetKind
from likely.sealing.evaluation import Submission, evaluate
from likely.sealing.final_score import FinalScore
from likely.sealing.folder import TRAIN, SealFolder
from likely.sealing.manifest import Manifest
from likely.sealing.scorer import Scorer
from likely.workbench.final_scorer import scorer_for, scorer_from
from likely.workbench.models import entry_for
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.search.study import Study
from likely.workbench.task import task_for_models

if TYPE_CHECKING:
    import pyarrow as pa


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
    _refuse_roles(seal.manifest.roles)
    seal.check()
    seal.label_file(escrow)  # a missing file is found before the fit
    table, manifest = seal.train(), seal.manifest
    unfitted, estimates = _chosen(given, table, manifest)
    X = frame_of(table.select(_features(table, manifest)), manifest.library)
    model = _fitted(clone(unfitted), X, _labels(table, manifest))
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


def _refuse_roles(roles: Mapping[str, str]) -> None:
    """Refuse a seal or a study with weights, offsets or exposures: a final score has none."""
    for role, name in roles.items():
        raise InvalidInput(
            f"The seal or the study has the {role} {name!r}; a final score is of predictions from "
            f"features only. Leave the {role} out of both to use final."
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
) -> FinalScore:
    """Score a fitted model on the sealed rows.

    ``trained_on`` is the SHA-256 of the file of its training rows.
    """
    _refuse_roles(seal.manifest.roles)
    columns = names_in_fit(model) or _features(seal.features(), seal.manifest)
    submission = Submission(
        model=model,
        name=" ".join(repr(model).split()),  # without line breaks
        columns=list(columns),
        trained_on=trained_on,
        scorer=scorer,
        cv_estimate=cv_estimate,
    )
    return evaluate(seal, submission, scorer_of_commit=scorer_from, again=again, escrow=escrow)


def _chosen(given: Any, train: "pa.Table", manifest: Manifest) -> tuple[Any, Mapping[str, float]]:
    """A model that is not yet fitted, and its cross-validation estimates, by metric."""
    if isinstance(given, Study):
        return _of_study(given, manifest)
    kind = cast("TargetKind | None", manifest.kind)
    named = given if isinstance(given, str) else None
    task = task_for_models(train, manifest.target, named, kind=kind, order=manifest.order)
    model = entry_for(given).build(task)
    return model if named is None else prepared(model), {}


def _of_study(study: Study, manifest: Manifest) -> tuple[Any, Mapping[str, float]]:
    rows = study.question.objective.rows
    _refuse_roles(rows.roles.given())
    target = rows.settled.target
    if target != manifest.target:
        raise InvalidInput(
            f"The study is about {target!r}, and {manifest.target!r} is sealed; one of the same "
            "target was expected. Tune a model on the seal."
        )
    score = study.nested_score_ if study.outer else study.best_score_
    return study.best_model(), {study.metric.name: score}


def _features(table: "pa.Table", manifest: Manifest) -> list[str]:
    return [
        name
        for name in table.column_names
        if name not in (manifest.target, manifest.group, *manifest.dropped)
    ]


def _labels(table: "pa.Table", manifest: Manifest) -> Any:
    """The target as values; ordered categories stay a column of the frame."""
    column = table.column(manifest.target)
    if getattr(column.type, "ordered", False):
        return frame_of(table, manifest.library)[manifest.target]
    return values_of(column)


def _fitted(model: Any, X: Any, y: Any) -> Any:
    """The fit; an error about columns that the model cannot read names the remedy."""
    try:
        return model.fit(X, y)
    except (TypeError, ValueError) as error:
        if isinstance(model, Prepared):
            raise
        name = type(model).__name__
        raise InvalidInput(
            f"{name} cannot be fitted to the training rows as they are ({error}). "
            f"likely.Prepared({name}()) handles missing cells, text and dates, as compare does."
        ) from error
