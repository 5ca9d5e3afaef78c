"""``likely final``: evaluate a run, or predictions of another tool, on the sealed rows."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.terminal import Settings, global_options
from likely.errors import HonestyRefusal
from likely.tasks.request import Exit, Refusal

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.sealing.final_score import FinalScore
    from likely.sealing.folder import SealFolder
    from likely.workbench.verdict.verdict import Verdict

FEATURE_FILES = (".csv", ".tsv", ".parquet")
MOST_SHOWN = 6  # metrics in addition to the main one


@click.command()
@click.argument("run", metavar="RUN|SEAL")
@click.option(
    "--predictions",
    metavar="FILE",
    help="Predictions of another tool for the sealed rows of SEAL: sealed_row, and p_<class> for "
    "each class or prediction.",
)
@click.option(
    "--features",
    metavar="FILE",
    help="File to write the features of the sealed rows of SEAL to, for --predictions: .csv, .tsv "
    "or .parquet. Nothing is evaluated.",
)
@click.option(
    "--cv-estimate",
    type=float,
    metavar="NUMBER",
    help="Cross-validation estimate of the loss of --predictions, to be shown with the score.",
)
@click.option(
    "--again",
    metavar="REASON",
    help="Reason for an evaluation beyond the budget, recorded in the ledger.",
)
@click.option(
    "--escrow", metavar="FILE", help="File of the test labels, if they are kept elsewhere."
)
@global_options
@click.pass_obj
def final(
    settings: Settings,
    run: str,
    predictions: str | None,
    features: str | None,
    cv_estimate: float | None,
    again: str | None,
    escrow: str | None,
) -> Answer:
    """Evaluate RUN (a folder, or @last) on the sealed rows; this uses one evaluation.

    The predictions are recorded in the ledger before the test labels are read. After a crash, run
    the same command again: it does not use another evaluation.

    Predictions of another tool are evaluated in the same way: write the features of the sealed rows
    with likely final SEAL --features rows.csv, predict them, keep the column sealed_row, and run
    likely final SEAL --predictions FILE.
    """
    if features is not None and predictions is not None:
        raise click.UsageError(
            "--features and --predictions were given together; --features writes rows to predict, "
            "and --predictions reads their predictions. Give one of them."
        )
    if features is not None:
        return _written_features(_opened_seal(run, "--features"), features)
    if predictions is not None:
        seal = _opened_seal(run, "--predictions")
        return _of_predictions(seal, predictions, again, escrow, cv_estimate)
    if cv_estimate is not None:
        raise click.UsageError(
            "--cv-estimate is of --predictions; a RUN has its own. Leave it out."
        )
    return _of_run(run, again, escrow)


def _of_run(run: str, again: str | None, escrow: str | None) -> Answer:
    from likely.runs.catalogue import LAST, open_run, refuse_an_older_last
    from likely.runs.seals import seal_of

    _refuse_seal(run)
    opened = open_run(run)
    seal = seal_of(opened)
    if seal is None:
        _refuse_unsealed(opened)
        raise AssertionError("refused above")
    _refuse_changed(opened)
    _refuse_other_roles(opened, seal)
    if run == LAST:
        refuse_an_older_last(opened.path)
    _refuse_used_rows(seal, again, opened.path)
    score = _evaluated(opened, seal, again, escrow)
    facts = score.to_json()
    written = _saved_score(opened, score)
    judged = _verdict_on_run(opened, score)
    return Answer(
        text=f"{_text(score)}\n\nModel: {opened.facts.get('model')} from {opened.path}.",
        result={
            **facts,
            "verdict": None if judged is None else judged.to_json(),
            "run": str(opened.path),
            "seal": str(seal.path),
        },
        findings=_findings(score, judged),
        files=(written,),
        next=f"likely report {shlex.quote(run)}",
    )


def _saved_score(run: "Run", score: "FinalScore") -> Path:
    """The file of the score; if it cannot be written, the message has the score."""
    from likely.errors import CannotWrite

    try:
        return run.folder.write_final(score.to_json())
    except CannotWrite as error:
        message = f"{error} The evaluation is in the ledger, and was counted once: {score}"
        raise Refusal(message, Exit.DATA, shlex.join(["likely", "final", str(run.path)])) from None


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


def _written_features(seal: "SealFolder", output: str) -> Answer:
    """Write the features of the sealed rows, with a key of each row."""
    from likely.output.formatting import count
    from likely.sealing.folder import ROW
    from likely.sealing.recognition import log_event
    from likely.storage.files import file_made_whole

    path, table = Path(output), seal.keyed_features()
    suffix = path.suffix.lower()
    if suffix not in FEATURE_FILES:
        raise Refusal(
            f"{output!r} has the suffix {path.suffix!r}; expected one of "
            f"{', '.join(FEATURE_FILES)}. Choose another name.",
            Exit.USAGE,
            "likely final --help",
        )
    log_event(seal, "predict", {"data": output, "rows": table.num_rows})
    with file_made_whole(path) as file:
        if suffix == ".parquet":
            from pyarrow.parquet import write_table

            write_table(table, file)
        else:
            from pyarrow.csv import WriteOptions, write_csv

            write_csv(table, file, WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))
    return Answer(
        text=f"{count(table.num_rows, 'sealed row')} without {seal.manifest.target} written to "
        f"{path}; no evaluation was used. Predict them, and keep the column {ROW}.",
        result={"seal": str(seal.path), "rows": table.num_rows, "output": output},
        files=(path,),
        next=f"likely final {shlex.quote(str(seal.path))} --predictions FILE",
    )


def _of_predictions(
    seal: "SealFolder",
    predictions: str,
    again: str | None,
    escrow: str | None,
    cv_estimate: float | None,
) -> Answer:
    from likely.workbench.final.final import final_score_of_predictions

    _refuse_used_rows(seal, again)
    with _refusals_of(seal):
        score = final_score_of_predictions(
            seal,
            predictions,
            name=f"predictions in {Path(predictions).name}",
            again=again,
            escrow=escrow,
            cv_estimate=cv_estimate,
        )
    from likely.workbench.verdict.evidence import Evidence
    from likely.workbench.verdict.verdict import verdict_on

    return Answer(
        text=f"{_text(score)}\n\nPredictions: {predictions}.",
        result={**score.to_json(), "predictions": predictions, "seal": str(seal.path)},
        findings=_findings(score, verdict_on(Evidence(final=score, findings=score.findings))),
        next=f"likely ledger show {shlex.quote(str(seal.path))}",
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


def _evaluated(
    run: "Run", seal: "SealFolder", again: str | None, escrow: str | None
) -> "FinalScore":
    from likely.tasks.request import DataOptions
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


def _refuse_unsealed(run: "Run") -> None:
    data = str(run.facts.get("data", {}).get("name", "DATA"))
    target = run.facts.get("target")
    option = f" --target {shlex.quote(str(target))}" if target else ""
    raise Refusal(
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


def _text(score: "FinalScore") -> str:
    from likely.cli.terminal import heading, table, wrapped
    from likely.metrics.score import gain_title, title_of
    from likely.output.formatting import estimate_cells, percent_level

    text = heading(wrapped(score.sentence))
    rows = []
    if score.gain is not None:
        rows.append([gain_title(score.measures), *estimate_cells(*score.gain[:3]), ""])
    rows += [
        [title_of(name), *estimate_cells(*found)]
        for name, found in score.measures.items()
        if title_of(name) != score.title and isfinite(found.value)
    ][:MOST_SHOWN]
    if not rows:
        return text
    header = ["sealed rows", "value", f"{percent_level(score.level)} interval", "baseline"]
    return f"{text}\n\n{table(header, rows)}"


def _verdict_on_run(run: "Run", score: "FinalScore") -> "Verdict | None":
    from likely.workbench.verdict.evidence import evidence_in_run
    from likely.workbench.verdict.verdict import verdict_on

    folder = run.folder
    evidence = evidence_in_run(
        run.facts,
        look=folder.look(),
        held=folder.validation(),
        final=score,
        effects=folder.effects(),
    )
    return verdict_on(evidence)


def _findings(score: "FinalScore", judged: "Verdict | None") -> tuple[str, ...]:
    found = []
    if score.resumed:
        found.append(
            "These predictions were evaluated before, so no further evaluation was counted."
        )
    if not score.of_this_model:
        found.append("Value and interval are those of the best model so far, not of this one.")
    return (*found, *(() if judged is None else judged.doubts))
