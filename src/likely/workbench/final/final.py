"""The fit and the score of a final evaluation.

a name          the model of that name, with its preparation, as in ``compare``
a study         its best settings, and its cross-validation estimate
an estimator    itself, as it is

Predictions for sealed rows that another tool made are a frame, a file or an array, checked:

    frame, file   the column ``sealed_row`` of ``Sealed.test_features``, in any order, and
                  p_<class>     the probability of each class: scored by log loss
                  prediction    a class, by error rate; or a mean, by mean squared error;
                                not read where the classes have probabilities
    array         (n, K) probabilities in the order of the classes, or (n,) classes or means,
                  in the order of ``Sealed.test_features``

A row is known by its key, which holds a fingerprint of its features, so that predictions cannot
be scored against other rows.  An array has no keys: only its length can be checked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import TableSource, arrow_table_of, in_one_table, refuse_twins, values_of
from likely.data.formats.registry import read
from likely.data.frames import frame_of, library_of
from likely.errors import HonestyRefusal, InvalidInput, LikelyWarning, warn_user
from likely.inputs.tables import names_in_fit
from likely.kinds import IN_WORDS, TargetKind
from likely.metrics.registry import LOSSES
from likely.output.formatting import count, listed
from likely.sealing.evaluation import evaluate
from likely.sealing.final_score import FinalScore, Predictions, Scorer
from likely.sealing.folder import ROW, TRAIN, SealFolder
from likely.sealing.judges import ModelSubmission, PredictionSubmission, Submission
from likely.sealing.manifest import Manifest
from likely.sealing.recognition import log_event
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import Task, task_of
from likely.workbench.final.final_scorer import TaskScorer, scorer_for, scorer_from
from likely.workbench.final.unfitted import SizesOfSeal, unfitted_copy
from likely.workbench.look.look import findings_beside_scores
from likely.workbench.models.model_inside import refuse_unused
from likely.workbench.models.registry import entry_for
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.search.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

PREDICTION, PROBABILITY = "prediction", "p_"
ROUNDING = 1e-3  # of the sum of a row's probabilities, as files with few decimals have it


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
    found = findings_beside_scores(training_rows(seal))
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


def outside_predictions(given: Any, seal: SealFolder) -> tuple[Predictions, TaskScorer]:
    """The predictions in the order of the sealed rows, and the scorer for them."""
    manifest = seal.manifest
    kind = cast("TargetKind | None", manifest.kind)
    task = task_of(seal.train, manifest.target, ordered=manifest.order, kind=kind)
    if isinstance(given, str | Path) or library_of(given) is not None:
        predictions, loss = _of_table(_table(given), task, seal)
    else:
        predictions, loss = _of_array(np.asarray(given), task, manifest.n_test)
    if not manifest.roles:
        return predictions, TaskScorer(task, LOSSES[loss])
    link = "log" if manifest.exposure is not None or task.kind == "count" else "identity"
    return predictions, TaskScorer(task, LOSSES[loss], seal, link)


def _table(given: Any) -> "pa.Table":
    if isinstance(given, str | Path):
        return in_one_table(read(given))
    return arrow_table_of(given)


def _of_table(table: "pa.Table", task: Task, seal: SealFolder) -> tuple[Predictions, str]:
    refuse_twins(table.column_names)
    table = table.take(_places(table, seal))
    given = [name for name in table.column_names if name.startswith(PROBABILITY)]
    if task.has_classes and given:
        if PREDICTION in table.column_names:
            warn_user(
                f"The predictions have the columns {PROBABILITY}<class> and {PREDICTION}; the "
                f"probabilities are scored, and {PREDICTION} is not read. Drop one of the two.",
                LikelyWarning,
            )
        return _probabilities(_proba_columns(table, given, task), task), "log-loss"
    if PREDICTION not in table.column_names:
        raise InvalidInput(
            f"The predictions have the columns {listed(table.column_names)}; expected "
            f"{_expected(task)} besides {ROW!r}. Add them, or rename yours."
        )
    return _values(values_of(table.column(PREDICTION)), task)


def _of_array(values: Array, task: Task, n_rows: int) -> tuple[Predictions, str]:
    if values.ndim == 0 or len(values) != n_rows:
        raise InvalidInput(
            f"The predictions have shape {values.shape}; expected one for each of the "
            f"{count(n_rows, 'sealed row')}, in the order of test_features(). Predict them all."
        )
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim == 1:
        return _values(values, task)
    if values.ndim > 2 or not task.has_classes or values.shape[1] != len(task.classes):
        wanted = (
            f"{len(task.classes)} columns, for {listed(list(map(str, task.classes)))} in this order"
            if task.has_classes
            else "one column of means"
        )
        raise InvalidInput(
            f"The predictions have shape {values.shape}; expected {wanted}. Give such an array, "
            f"or a frame with {_expected(task)}."
        )
    return _probabilities(_numbers(values), task), "log-loss"


def _places(table: "pa.Table", seal: SealFolder) -> Codes:
    """Where the prediction of each sealed row is, in the order of the seal."""
    if ROW not in table.column_names:
        raise InvalidInput(
            f"The predictions have the columns {listed(table.column_names)}; expected {ROW!r}, by "
            "which rows are matched. Copy it from test_features() (likely final SEAL --features "
            "FILE)."
        )
    keys, wanted = [str(key) for key in table.column(ROW).to_pylist()], seal.row_keys()
    place = {key: i for i, key in enumerate(keys)}
    if len(place) < len(keys):
        twice = next(key for i, key in enumerate(keys) if place[key] != i)
        raise InvalidInput(
            f"The predictions have the row {twice!r} twice; one prediction for each of the "
            f"{count(len(wanted), 'sealed row')} was expected. Keep one of them."
        )
    unknown = sorted(set(keys).difference(wanted))
    if unknown:
        raise InvalidInput(
            f"The predictions have the row {unknown[0]!r}, which is not one of the "
            f"{count(len(wanted), 'sealed row')} of {seal.path.name}. Copy the column {ROW!r} from "
            "test_features() of this seal, row by row."
        )
    missing = [key for key in wanted if key not in place]
    if missing:
        raise InvalidInput(
            f"The predictions lack {count(len(missing), 'sealed row')}, the first of them "
            f"{missing[0]!r}; one prediction for each of the {count(len(wanted), 'sealed row')} "
            "was expected. Predict them all."
        )
    return np.array([place[key] for key in wanted])


def _proba_columns(table: "pa.Table", given: Sequence[str], task: Task) -> Array:
    """The probabilities, (n, K), in the order of the classes."""
    wanted = [f"{PROBABILITY}{label}" for label in task.classes]
    wrong = [
        *(f"no column {name!r}" for name in wanted if name not in given),
        *(f"a column {name!r}" for name in given if name not in wanted),
    ]
    if wrong:
        raise InvalidInput(
            f"The predictions have {wrong[0]}; expected a probability for each class of "
            f"{task.target!r}: {listed(wanted)}. Add, rename or drop columns accordingly."
        )
    return np.column_stack([_numbers(values_of(table.column(name))) for name in wanted])


def _probabilities(proba: Array, task: Task) -> Predictions:
    """Log probabilities; what is no distribution over the classes is refused."""
    outside = (proba < 0) | (proba > 1 + ROUNDING)
    if outside.any():
        row, k = np.argwhere(outside)[0]
        raise InvalidInput(
            f"The probability of {task.classes[k]!r} is {proba[row, k]:g} in sealed row {row}; "
            "numbers from 0 to 1 were expected. Give probabilities, not logarithms or scores."
        )
    sums = proba.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > ROUNDING:
        raise InvalidInput(
            f"The probabilities of sealed row {worst} sum to {sums[worst]:.6g}; 1 was expected, to "
            f"within {ROUNDING:g}. Divide each row by its sum, if they are probabilities."
        )
    with np.errstate(divide="ignore"):  # log 0
        return {"log_proba": np.log(proba / sums[:, None])}


def _values(values: Array, task: Task) -> tuple[Predictions, str]:
    """Classes or means, one for each row."""
    if task.has_classes:
        return {"labels": _label_codes(values, task)}, "error-rate"
    return {"mean": _numbers(values)}, "mean-squared-error"


def _label_codes(values: Array, task: Task) -> Codes:
    """The place of each predicted class; text may stand for a number or a truth value."""
    place = {_written(label): k for k, label in enumerate(task.classes)}
    place |= {label: k for k, label in enumerate(task.classes)}
    labels = [label if label in place else _written(label) for label in values.tolist()]
    for row, label in enumerate(labels):
        if label not in place:
            found = values.tolist()[row]
            raise InvalidInput(
                f"The prediction {found!r} in sealed row {row} is no class of {task.target!r}; "
                f"expected one of {listed(list(map(str, task.classes)))}. Give classes, or "
                f"probabilities ({_expected(task)}); means need a seal of numbers (kind='real')."
            )
    return np.array([place[label] for label in labels])


def _written(label: Any) -> str:
    """A label as text, whether a file or a tool has it as a number, a truth value or a word."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return str(label).lower() if isinstance(label, bool) else str(label)


def _numbers(values: Array) -> Array:
    """The values as float64; what is not finite is refused."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"The predictions hold {values.ravel()[0]!r}; numbers were expected. Check the columns."
        ) from None
    if not np.isfinite(numbers).all():
        row, found = (
            int(np.argwhere(~np.isfinite(numbers))[0][0]),
            numbers[~np.isfinite(numbers)][0],
        )
        raise InvalidInput(
            f"The prediction of sealed row {row} is {found}; finite numbers were expected. No "
            "evaluation was used. Predict every row."
        )
    return numbers


def _expected(task: Task) -> str:
    if not task.has_classes:
        return f"the column {PREDICTION!r} with means of {IN_WORDS[task.kind]}"
    names = listed([f"{PROBABILITY}{label}" for label in task.classes])
    return f"the columns {names}, or {PREDICTION!r} with classes"
