"""Scores of a fitted model on rows that it has not seen: sealed ones, or those of another file.

An evaluation on sealed rows is counted by the ledger of their seal (``likely final``).  The score
on another file is not, and says so.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.errors import HonestyRefusal
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, opened_as_trained

if TYPE_CHECKING:
    from likely.numerics.intervals import Estimate
    from likely.runs import Run
    from likely.sealing.final_score import FinalScore
    from likely.sealing.folder import SealFolder
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.verdict.verdict import Verdict

FEATURE_FILES = (".csv", ".tsv", ".parquet")
SEALED_WITH = tuple(name for name in SCORED if name not in ("target", "kind", "order"))
UNGUARDED = "unguarded: evaluations on this file are not counted. Use likely seal and likely final."


class Evaluated(NamedTuple):
    """The score of one evaluation, the verdict on it, and where they were written."""

    score: "FinalScore"
    verdict: "Verdict | None"
    seal: Path
    run: Path | None = None  # None for predictions of another tool
    model: str | None = None
    files: tuple[Path, ...] = ()
    classes: tuple[Any, ...] | None = None  # of the model of a RUN

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known about the score."""
        found = []
        if self.score.resumed:
            found.append(
                "These predictions were evaluated before, so no further evaluation was counted."
            )
        if not self.score.of_this_model:
            found.append("Value and interval are those of the best model so far, not of this one.")
        return (*found, *(() if self.verdict is None else self.verdict.doubts))

    def to_json(self) -> dict[str, Any]:
        """The score, and the verdict on the model of a RUN."""
        if self.run is None:
            return self.score.to_json()
        judged = None if self.verdict is None else self.verdict.to_json()
        return {**self.score.to_json(), "verdict": judged}


def final(run: str | Path, *, again: str | None = None, escrow: str | None = None) -> Evaluated:
    """Evaluate a RUN on the sealed rows of its seal; this uses one evaluation.

    Parameters
    ----------
    run : str or Path
        The folder that ``train`` or ``likely train`` wrote, or ``@last``.
    again : str, optional
        Why one more evaluation than the budget is needed; the ledger records it.
    escrow : str, optional
        The file of the test labels, if they are kept elsewhere.
    """
    from likely.runs.catalogue import LAST, open_run, refuse_an_older_last
    from likely.runs.seals import seal_of

    name = str(run)
    _refuse_seal(name)
    opened = open_run(name)
    seal = seal_of(opened)
    if seal is None:
        raise _unsealed(opened)
    _refuse_changed(opened)
    _refuse_other_roles(opened, seal)
    if name == LAST:
        refuse_an_older_last(opened.path)
    _refuse_used_rows(seal, again, opened.path)
    score = _evaluated(opened, seal, again, escrow)
    written = _saved_score(opened, score)
    return Evaluated(
        score,
        _verdict_on_run(opened, score),
        seal.path,
        opened.path,
        opened.facts.get("model"),
        (written,),
        None if (classes := opened.facts.get("classes")) is None else tuple(classes),
    )


def final_of_predictions(
    seal: str,
    predictions: str,
    *,
    again: str | None = None,
    escrow: str | None = None,
    cv_estimate: float | None = None,
) -> Evaluated:
    """Evaluate the predictions of another tool, in a file, on the sealed rows of a seal."""
    from likely.workbench.final.final import final_score_of_predictions
    from likely.workbench.verdict.checks import Evidence
    from likely.workbench.verdict.verdict import verdict_on

    opened = _opened_seal(seal, "--predictions")
    _refuse_used_rows(opened, again)
    with _refusals_of(opened):
        score = final_score_of_predictions(
            opened,
            predictions,
            name=f"predictions in {Path(predictions).name}",
            again=again,
            escrow=escrow,
            cv_estimate=cv_estimate,
        )
    verdict = verdict_on(Evidence(final=score, findings=score.findings))
    return Evaluated(score, verdict, opened.path)


class WrittenFeatures(NamedTuple):
    """The features of sealed rows, in a file, for another tool to predict."""

    path: Path
    n_rows: int
    target: str
    seal: Path


def write_features(seal: str, output: str) -> WrittenFeatures:
    """Write the features of the sealed rows, with a key of each row; nothing is evaluated."""
    from likely.sealing.recognition import log_event
    from likely.storage.files import file_made_whole

    opened, path = _opened_seal(seal, "--features"), Path(output)
    table, suffix = opened.keyed_features(), path.suffix.lower()
    if suffix not in FEATURE_FILES:
        raise Refusal(
            f"{output!r} has the suffix {path.suffix!r}; expected one of "
            f"{', '.join(FEATURE_FILES)}. Choose another name.",
            Exit.USAGE,
            "likely final --help",
        )
    log_event(opened, "predict", {"data": output, "rows": table.num_rows})
    with file_made_whole(path) as file:
        if suffix == ".parquet":
            from pyarrow.parquet import write_table

            write_table(table, file)
        else:
            from pyarrow.csv import WriteOptions, write_csv

            write_csv(table, file, WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))
    return WrittenFeatures(path, table.num_rows, opened.manifest.target, opened.path)


def _opened_seal(path: str, option: str) -> "SealFolder":
    from likely.sealing.folder import is_seal, open_folder

    if not is_seal(Path(path)):
        raise Refusal(
            f"{option} was given with {path}, which is not a SEAL; the sealed rows of a SEAL are "
            "predicted. Give the folder that likely seal wrote.",
            Exit.USAGE,
            "likely final --help",
        )
    return open_folder(path)


def _refuse_seal(path: str) -> None:
    from likely.sealing.folder import is_seal

    if is_seal(Path(path)):
        raise Refusal(
            f"{path} is a SEAL; a RUN that was trained on it, or predictions of its rows, are "
            "evaluated. Name the RUN, or give --predictions FILE.",
            Exit.USAGE,
            f"likely final {shlex.quote(path)} --features rows.csv",
        )


def _refuse_used_rows(seal: "SealFolder", again: str | None, *runs: Path) -> None:
    """Refuse a seal of which RUNs know evaluations that its ledger does not have."""
    from likely.runs.known_ledgers import refuse_used_rows

    with _refusals_of(seal):
        refuse_used_rows(seal, again, *runs)


@contextmanager
def _refusals_of(seal: "SealFolder") -> Iterator[None]:
    """An honesty refusal with the command that shows the ledger."""
    try:
        yield
    except HonestyRefusal as error:
        next = f"likely ledger show {shlex.quote(str(seal.path))}"
        raise Refusal(str(error), Exit.HONESTY, next) from None


def _unsealed(run: "Run") -> Refusal:
    """The refusal of a RUN that was trained on rows without a seal."""
    data = str(run.facts.get("data", {}).get("name", "DATA"))
    target = run.facts.get("target")
    option = f" --target {shlex.quote(str(target))}" if target else ""
    option += DataOptions.in_run(run.facts).words(*SEALED_WITH)
    return Refusal(
        f"{run.path} was trained on {data}, which has no sealed rows; final needs test rows that "
        "were set aside before training. Seal the data, and train on the seal.",
        Exit.HONESTY,
        f"likely seal {shlex.quote(data)}{option}",
    )


def _refuse_changed(run: "Run") -> None:
    if not run.is_as_written():
        raise Refusal(
            f"The model in {run.path} is not the one that the RUN records (model_sha256); it may "
            "have been trained on other rows. Train it again on the seal.",
            Exit.HONESTY,
            "likely train --help",
        )
    if run.facts.get("target") is None:
        raise Refusal(
            f"The model in {run.path} has no target; final scores predictions of the target. Train "
            "another model on the seal.",
            Exit.DATA,
            "likely models",
        )


def _refuse_other_roles(run: "Run", seal: "SealFolder") -> None:
    """Refuse a model that needs an offset or an exposure that the seal does not have."""
    from likely.workbench.data.roles import roles_in_run

    sealed = seal.manifest.roles.values()
    for column in roles_in_run(run.facts).at_prediction():
        if column not in sealed:
            raise Refusal(
                f"The model in {run.path} needs the column {column!r} as well, which is a feature "
                f"in {seal.path}. Train a model without it, or seal the data with that offset or "
                "exposure.",
                Exit.DATA,
                "likely seal --help",
            )


def _evaluated(
    run: "Run", seal: "SealFolder", again: str | None, escrow: str | None
) -> "FinalScore":
    from likely.workbench.final.final import final_score_of_fit
    from likely.workbench.final.final_scorer import scorer_for

    given = DataOptions.in_run(run.facts)
    scorer = scorer_for(run.model, seal, kind=given.kind, order=given.order)
    with _refusals_of(seal):
        return final_score_of_fit(
            seal,
            run.model,
            trained_on=str(run.facts["data"]["sha256"]),
            scorer=scorer,
            again=again,
            escrow=escrow,
            cv_estimate=scorer.estimated_loss(_estimates(run)),
            model_sha256=run.facts["model_sha256"],
        )


def _estimates(run: "Run") -> dict[str, float]:
    """The cross-validation estimate of each metric; after a search, also that of the search."""
    from likely.numerics.intervals import measures_from_json

    scores = run.facts.get("scores") or {}
    measures = measures_from_json(scores.get("measures", ()))
    found = {name: each.value for name, each in measures.items() if isfinite(each.value)}
    if scores.get("cv_estimate") is not None:
        found[scores["cv_metric"]] = float(scores["cv_estimate"])
    return found


def _saved_score(run: "Run", score: "FinalScore") -> Path:
    """The file of the score; if it cannot be written, the message has the score."""
    from likely.errors import CannotWrite

    try:
        return run.folder.write_final(score.to_json())
    except CannotWrite as error:
        message = f"{error} The evaluation is in the ledger, and was counted once: {score}"
        raise Refusal(message, Exit.DATA, shlex.join(["likely", "final", str(run.path)])) from None


def _verdict_on_run(run: "Run", score: "FinalScore") -> "Verdict | None":
    from likely.workbench.comparison.records import comparisons_in
    from likely.workbench.verdict.checks import evidence_in_run
    from likely.workbench.verdict.verdict import verdict_on

    folder = run.folder
    evidence = evidence_in_run(
        run.facts,
        look=folder.look(),
        held=folder.validation(),
        final=score,
        effects=folder.effects(),
        comparisons=comparisons_in(folder.path),
    )
    return verdict_on(evidence)


def scored_elsewhere(
    model: Any,
    test: str,
    learned: DataOptions,
    *,
    training: "Dataset | None" = None,
    seal: "SealFolder | None" = None,
) -> tuple[str, dict[str, Any]]:
    """The score of a fitted model on another file: text and facts.

    ``learned`` are the options that the model was trained with, including its target. The baseline
    is learned from the training rows; there is none where they are not known. A file that holds
    sealed rows is refused, because its score would be an evaluation that is not counted.
    """
    from likely.output.formatting import count
    from likely.workbench.data.opening import dataset
    from likely.workbench.data.roles import UnusedColumns
    from likely.workbench.data.task import task_of_fit
    from likely.workbench.scoring.held_out import predict_elsewhere

    read = {name: getattr(learned, name) for name in ("number", "date", "decimal")}
    data, target = opened_as_trained({"readings": read}, test), str(learned.target)
    data.refuse_sealed_rows("score", also=seal if training is None else training.seal)
    if target not in data.source.names:
        raise Refusal(
            f"{test} has no column {target!r}; a score needs the target. Give a file that has it.",
            Exit.DATA,
            "likely train --help",
        )
    present = [name for name in learned.category if name in data.source.names]
    rows = dataset(
        data,
        target,
        category=present,
        weight=learned.weight,
        offset=learned.offset,
        exposure=learned.exposure,
    )
    rows = replace(rows, found_unused=UnusedColumns())  # the model knows its columns
    task = task_of_fit(model, rows.table, target, kind=learned.kind, order=learned.order)
    new = rows.table.column(target).filter(~task.known(rows.table)).drop_null().to_pylist()
    rows = rows.of_task(task)
    held = predict_elsewhere(model, rows, rows if training is None else training)
    if held is None:
        raise Refusal(
            f"{test} has no row with a known {target!r} and a weight above 0; a score needs at "
            "least one. Give another file.",
            Exit.DATA,
            "likely train --help",
        )
    score = held.score()
    found = score.main if training is not None else score.main._replace(baseline=nan)
    text, facts = _unguarded(score.metric, found, score.n_rows, test)
    n_left_out = rows.n_without_target
    if n_left_out:
        text += f" {count(n_left_out, 'row')} not scored: {_reason(new, n_left_out)}."
    return text, facts | {"left_out": n_left_out}


def _reason(new: Sequence[Any], n_rows: int) -> str:
    """Why so many rows are not scored, of which some have labels that the model does not know."""
    from likely.output.formatting import quoted

    missing = "the target is missing"
    if not len(new):
        return missing
    unknown = f"the model has not learned {quoted(sorted({*map(str, new)}))}"
    return unknown if len(new) == n_rows else f"{unknown}, or {missing}"


def _unguarded(
    metric: str, found: "Estimate", n_rows: int, test: str
) -> tuple[str, dict[str, Any]]:
    """The score as text, and as values."""
    from likely.metrics.score import score_sentence, title_of
    from likely.output.formatting import count

    sentence = score_sentence(title_of(metric), found, f"{count(n_rows, 'row')} of {test}")
    text = f"{sentence.removesuffix('.')}; {UNGUARDED}"
    facts = {
        "data": test,
        "rows": n_rows,
        "metric": metric,
        **found.to_json(),
        "baseline": None if isnan(found.baseline) else found.baseline,
        "guarded": False,
    }
    return text, facts
