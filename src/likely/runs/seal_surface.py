"""``likely.seal`` and ``likely.open_seal``: sealing, with the models and the metrics.

Sealing does not depend on models: ``Sealed`` gets the function that fits and scores one, after it
has asked the RUNs and the seals nearby whether the rows were evaluated before.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from likely.data.arrow import TableSource
from likely.data.source import are_known
from likely.errors import InvalidInput
from likely.kinds import IN_WORDS, TargetKind
from likely.runs.known_ledgers import refuse_used_rows
from likely.sealing.create import Origin, SealTerms, create_seal
from likely.sealing.final_score import FinalScore, Scorer
from likely.sealing.folder import SUFFIX, SealFolder, open_folder
from likely.sealing.judges import JUDGES
from likely.sealing.sealed import Sealed
from likely.sealing.split import row_mask
from likely.workbench.data.dataset import UNNAMED, Dataset
from likely.workbench.data.opening import DataArguments, dataset, takes_data_arguments
from likely.workbench.data.task import task_of
from likely.workbench.data.unsettled import refuse_unsettled
from likely.workbench.look.findings import CODES, WITHOUT_LABELS, Mute
from likely.workbench.look.look import sorted_findings

if TYPE_CHECKING:
    import pyarrow as pa


@takes_data_arguments
def seal(
    data: Any,
    target: Any = None,
    *,
    test: Any = 0.2,
    budget: int = 1,
    judge: str = "plain",
    escrow: str | Path | None = None,
    seed: int = 0,
    name: str | None = None,
    folder: str | Path = ".",
    **about: Unpack[DataArguments],
) -> Sealed:
    """Seal part of the rows, to be used for one score at the end.

    Writes the folder ``NAME.seal``: the training rows, the features of the sealed rows, their
    labels (obscured, so that they are not read by accident), and a ledger of every evaluation.

    Parameters
    ----------
    data : data frame, array, Source, Dataset, built-in name, or path of a file
        A CSV, TSV, ARFF, JSON lines or Parquet file, or a data frame of any
        library that narwhals supports.
    target : str, or one label for each row
        The column to predict; built-in data have their own.
    test : float or sequence
        The share of the rows to seal; or the rows to seal, by index or as one Boolean per row.
    group : str, optional
        A column of groups; the rows of a group are sealed together.
    by_time : str, optional
        A column of times; the latest rows are sealed.
    kind : {"binary", "classes", "ordinal", "count", "positive", "real"}, optional
        The kind of target, where its values leave it open: grades from 1 to 5, for instance.  It
        is recorded in the seal.
    order : sequence, optional
        The classes from lowest to highest; the kind is then ordinal.
    weight, offset, exposure : str, optional
        Columns that are not features: the weight of a row, a term added to the linear predictor,
        a factor for the mean.  They are recorded in the seal.
    drop : sequence of str
        Columns to leave out of the seal.
    category : sequence of str
        Columns of numeric codes to treat as categories.
    feature : sequence of str, optional
        Columns to use as they are, although they look like identifiers or free text.
    text : sequence of str, optional
        Columns of text whose words are counted; free text is recognised.
    number, date, decimal, sheet : optional
        How numbers and dates of a file are written, as in ``read``.
    budget : int
        The number of evaluations of the sealed rows that are allowed without a reason.
    judge : {"plain", "ladder", "thresholdout"}
        What an evaluation reveals of the score; the last two allow many evaluations.
    escrow : path, optional
        A file for the test labels, instead of the folder; ``final`` needs this file.
    seed : int
        The seed of the split.
    name : str, optional
        The name of the folder, without its suffix; by default the file's.
    folder : path
        The folder in which the seal is written.

    Examples
    --------
    >>> import tempfile, likely, pyarrow as pa
    >>> rows = pa.table({"x": range(50), "y": ["no", "yes"] * 25})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sealed = likely.seal(rows, "y", name="toy", folder=folder)
    ...     print(sealed)
    <Sealed toy.seal: 40 rows to train on, 10 sealed, target 'y'; 0 of 1 evaluation used>
    """
    rows = dataset(data, target, **about)
    _refuse_sealed(rows)
    refuse_unsettled(rows)
    given, (rows, test) = rows, _labelled(rows, test)
    _check_roles(rows, judge)
    terms = _terms(rows, test=test, budget=budget, judge=judge, escrow=escrow, seed=seed)
    path = Path(folder) / f"{(name or _stem(rows)).removesuffix(SUFFIX)}{SUFFIX}"
    found = partial(findings_of_seal, given)
    folder_made = create_seal(_origin(rows), terms, path, notes=rows.notes, findings=found)
    return Sealed(folder_made, _final)


def _terms(
    rows: Dataset, *, test: Any, budget: int, judge: str, escrow: str | Path | None, seed: int
) -> SealTerms:
    """What is sealed, by whom it is judged, and what is known about its columns."""
    kind, order = _checked_kind(rows)
    return SealTerms(
        target=rows.required_target(),
        test=test,
        group=rows.group,
        by_time=rows.by_time,
        budget=budget,
        judge=judge,
        escrow=None if escrow is None else Path(escrow),
        seed=seed,
        kind=kind,
        order=order,
        weight=rows.weight,
        offset=rows.offset,
        exposure=rows.exposure,
        dropped=(*rows.dropped, *rows.unnamed_aside),
        categories=rows.categories,
        declared_features=rows.declared_features,
        declared_texts=rows.declared_texts,
        identifiers=rows.identifiers,
        texts=rows.texts,
        readings=rows.readings.to_json(),
    )


def findings_of_seal(rows: Dataset, train: "pa.Table") -> list[dict[str, Any]]:
    """What ``look`` finds: about columns and rows in all rows, about the target in training rows.

    So nothing that a seal records depends on the labels of its sealed rows.
    """
    from likely.workbench.look.look import findings_of

    training = replace(rows, source=TableSource(train))
    of_labels = frozenset(CODES) - WITHOUT_LABELS
    everywhere = findings_of(rows, Mute(of_labels, frozenset()))
    others = findings_of(training, Mute(WITHOUT_LABELS, frozenset()))
    return [each.record() for each in sorted_findings([*everywhere, *others])]


def open_seal(path: str | Path) -> Sealed:
    """The seal in a folder such as ``churn.seal``."""
    folder = open_folder(path)
    folder.ledger.entries()  # a broken ledger is refused here
    return Sealed(folder, _final)


def _refuse_sealed(rows: Dataset) -> None:
    if rows.seal is not None:
        raise InvalidInput(
            f"{rows.label} is sealed already; a file, a table or built-in data were expected. Use "
            "it as it is."
        )


def _labelled(rows: Dataset, test: Any) -> tuple[Dataset, Any]:
    """The rows that have a target, and of rows to seal that were named, those among them."""
    column = rows.required_target()
    if np.ndim(test) and column in rows.source.names:
        named = row_mask(np.asarray(test), rows.table.num_rows, "test")
        test = named[are_known(rows.table.column(column)).to_numpy(zero_copy_only=False)]
    return rows.labelled(), test


def _check_roles(rows: Dataset, judge: str) -> None:
    """Refuse invalid weights, offsets and exposures, and clusters."""
    if rows.clusters is not None:
        raise InvalidInput(
            f"{rows.clusters!r} was given as clusters, which a seal does not remember; they are "
            "for the standard errors of one fit. Leave it out, and train a model with it."
        )
    if rows.weight is not None and JUDGES.get(judge) is not None:
        raise InvalidInput(
            f"The weight {rows.weight!r} was given with the judge {judge!r}, which counts each "
            "sealed row once. Leave the weight out, or use the judge 'plain'."
        )
    rows.roles.weights(rows.table)
    rows.roles.offsets(rows.table)


def _checked_kind(rows: Dataset) -> tuple[TargetKind | None, tuple[Any, ...] | None]:
    """The kind of the target and the order of its classes; refused if the values forbid it."""
    roles = rows.roles
    if not rows.declared and not roles.at_prediction():
        return None, None
    task = task_of(
        rows.table, rows.required_target(), ordered=rows.order, kind=rows.kind, roles=roles
    )
    if rows.exposure is not None and not task.takes_exposure:
        why = f" ({task.reason})" if task.reason else ""
        raise InvalidInput(
            f"The exposure {rows.exposure!r} was given, and {task.target!r} is taken as "
            f"{IN_WORDS[task.kind]}{why}; an exposure multiplies the mean of counts or of amounts "
            "from 0 up. Give kind='count' (--kind count) if they are counts, or leave the "
            "exposure out."
        )
    if not rows.declared and task.kind != "count":  # what an exposure says; the rest, by values
        return None, None
    return task.kind, None if rows.order is None else task.order


def _origin(rows: Dataset) -> Origin:
    label = f"a {rows.library or 'pyarrow'} table" if rows.label == UNNAMED else rows.label
    if rows.place is not None:
        label = rows.place.name
    return Origin(rows.table, label, rows.digest, rows.library, rows.place)


def _stem(rows: Dataset) -> str:
    """``churn.csv`` is sealed as ``churn.seal``."""
    if rows.place is not None:
        return rows.place.name.split(".")[0]
    return "data" if rows.label in (UNNAMED, "standard input") else rows.label


def _final(
    seal: SealFolder,
    estimator: Any,
    *,
    predictions: Any,
    name: str,
    again: str | None,
    escrow: str | Path | None,
    cv_estimate: float | None,
    scorer: Scorer | None,
) -> FinalScore:
    # brings every model; a seal is made without
    from likely.workbench.final.final import final_score, final_score_of_predictions

    if (estimator is None) == (predictions is None):
        given = "No estimator and no" if estimator is None else "Both an estimator and"
        raise InvalidInput(
            f"{given} predictions were given; one of them is scored. Write "
            "final(estimator), or final(predictions=...) for those of another tool."
        )
    if predictions is None and getattr(estimator, "shape", None) is not None:
        raise InvalidInput(
            f"Data of shape {tuple(estimator.shape)} were given in place of an estimator; final "
            "takes a model, or the predictions of another tool by name. Write final(model), or "
            "final(predictions=...)."
        )
    if predictions is not None and scorer is not None:
        raise InvalidInput(
            "A scorer was given with predictions; a scorer of your own makes its predictions from "
            "a model. Leave it out: probabilities are scored by log loss, classes by error rate, "
            "means by mean squared error."
        )
    refuse_used_rows(seal, again)
    if predictions is None:
        return final_score(
            seal, estimator, again=again, escrow=escrow, cv_estimate=cv_estimate, scorer=scorer
        )
    return final_score_of_predictions(
        seal, predictions, name=name, again=again, escrow=escrow, cv_estimate=cv_estimate
    )
