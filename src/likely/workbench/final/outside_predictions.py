"""Predictions for sealed rows that another tool made: a frame, a file or an array, checked.

    frame, file   the column ``sealed_row`` of ``Sealed.test_features``, in any order, and
                  p_<class>     the probability of each class: scored by log loss
                  prediction    a class, by error rate; or a mean, by mean squared error;
                                not read where the classes have probabilities
    array         (n, K) probabilities in the order of the classes, or (n,) classes or means,
                  in the order of ``Sealed.test_features``

A row is known by its key, which holds a fingerprint of its features, so that predictions cannot
be scored against other rows.  An array has no keys: only its length can be checked.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import arrow_table_of, in_one_table, refuse_twins, values_of
from likely.data.formats.registry import read
from likely.data.frames import library_of
from likely.errors import InvalidInput, LikelyWarning, warn_user
from likely.kinds import IN_WORDS, TargetKind
from likely.metrics.registry import LOSSES
from likely.output.formatting import count, listed
from likely.sealing.final_score import Predictions
from likely.sealing.folder import ROW, SealFolder
from likely.workbench.data.task import Task, task_of
from likely.workbench.final.final_scorer import TaskScorer

if TYPE_CHECKING:
    import pyarrow as pa

PREDICTION, PROBABILITY = "prediction", "p_"
ROUNDING = 1e-3  # of the sum of a row's probabilities, as files with few decimals have it


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
