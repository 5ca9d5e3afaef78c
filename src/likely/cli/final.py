"""``likely final``: evaluate a run, or predictions of another tool, on the sealed rows."""

import shlex
from math import isfinite
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.terminal import GlobalOptions, global_options

if TYPE_CHECKING:
    from likely.tasks.final_run import Evaluated, WrittenFeatures

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
    settings: GlobalOptions,
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
    from likely.tasks import final_run as task

    if features is not None:
        return _written(task.write_features(run, features), features)
    if predictions is not None:
        found = task.final_of_predictions(
            run, predictions, again=again, escrow=escrow, cv_estimate=cv_estimate
        )
        return _of_predictions(found, predictions)
    if cv_estimate is not None:
        raise click.UsageError(
            "--cv-estimate is of --predictions; a RUN has its own. Leave it out."
        )
    return _of_run(task.final(run, again=again, escrow=escrow), run)


def _of_run(found: "Evaluated", run: str) -> Answer:
    return Answer(
        text=f"{_text(found)}\n\nModel: {found.model} from {found.run}.",
        result={**found.to_json(), "run": str(found.run), "seal": str(found.seal)},
        findings=found.notes,
        files=found.files,
        next=f"likely report {shlex.quote(run)}",
    )


def _of_predictions(found: "Evaluated", predictions: str) -> Answer:
    return Answer(
        text=f"{_text(found)}\n\nPredictions: {predictions}.",
        result={**found.to_json(), "predictions": predictions, "seal": str(found.seal)},
        findings=found.notes,
        next=f"likely ledger show {shlex.quote(str(found.seal))}",
    )


def _written(found: "WrittenFeatures", output: str) -> Answer:
    from likely.output.formatting import count
    from likely.sealing.folder import ROW

    return Answer(
        text=f"{count(found.n_rows, 'sealed row')} without {found.target} written to "
        f"{found.path}; no evaluation was used. Predict them, and keep the column {ROW}.",
        result={"seal": str(found.seal), "rows": found.n_rows, "output": output},
        files=(found.path,),
        next=f"likely final {shlex.quote(str(found.seal))} --predictions FILE",
    )


def _text(found: "Evaluated") -> str:
    from likely.cli.terminal import heading, table, wrapped
    from likely.metrics.score import gain_title, title_of
    from likely.output.formatting import estimate_cells, percent_level

    score = found.score
    text = heading(wrapped(score.sentence))
    rows = []
    if score.gain is not None:
        rows.append([gain_title(score.measures), *estimate_cells(*score.gain[:3]), ""])
    rows += [
        [title_of(name, found.classes), *estimate_cells(*measure)]
        for name, measure in score.measures.items()
        if title_of(name) != score.title and isfinite(measure.value)
    ][:MOST_SHOWN]
    if not rows:
        return text
    header = ["sealed rows", "value", f"{percent_level(score.level)} interval", "baseline"]
    return f"{text}\n\n{table(header, rows)}"
