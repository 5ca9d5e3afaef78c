"""``likely final``: evaluate a run on the sealed rows."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer, Exit, Refusal
from likely.cli.terminal import Settings, global_options
from likely.errors import HonestyRefusal

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.sealing.final_score import FinalScore
    from likely.sealing.folder import SealFolder

GAIN = "gain over the baseline"
MOST_SHOWN = 6  # metrics beside the main one


@click.command()
@click.argument("run")
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
def final(settings: Settings, run: str, again: str | None, escrow: str | None) -> Answer:
    """Evaluate RUN (a folder, or @last) on the sealed rows; this uses one evaluation.

    The predictions are recorded in the ledger before the test labels are read. After a crash, run
    the same command again: it does not use another evaluation.
    """
    from likely.runs.catalogue import LAST, open_run, refuse_an_older_last
    from likely.runs.seals import seal_of

    opened = open_run(run)
    seal = seal_of(opened)
    if seal is None:
        _refuse_unsealed(opened)
        raise AssertionError("refused above")
    _refuse_changed(opened)
    if run == LAST:
        refuse_an_older_last(opened.path)
    score = _looked(opened, seal, again, escrow)
    facts = _facts(score)
    written = opened.folder.write_final(facts)
    return Answer(
        text=f"{_text(score)}\n\nModel: {opened.facts.get('model')} from {opened.path}.",
        result={**facts, "run": str(opened.path), "seal": str(seal.path)},
        findings=_findings(score),
        files=(written,),
        next=f"likely report {shlex.quote(run)}",
    )


def _looked(run: "Run", seal: "SealFolder", again: str | None, escrow: str | None) -> "FinalScore":
    from likely.cli.options import DataOptions
    from likely.workbench.final import final_score_of_fit
    from likely.workbench.final_scorers import estimated_loss, scorer_of
    from likely.workbench.opening import dataset

    given = DataOptions.in_run(run.facts)
    rows = dataset(seal, kind=given.kind, order=given.order).with_task(run.model)
    scorer = scorer_of(rows.settled, run.model, seal.manifest.judge)
    try:
        return final_score_of_fit(
            seal,
            run.model,
            trained_on=str(run.facts["data"]["sha256"]),
            scorer=scorer,
            again=again,
            escrow=escrow,
            cv_estimate=estimated_loss(scorer, _estimates(run)),
        )
    except HonestyRefusal as error:
        next = f"likely ledger show {shlex.quote(str(seal.path))}"
        raise Refusal(str(error), Exit.HONESTY, next) from None


def _estimates(run: "Run") -> dict[str, float]:
    """The cross-validation estimate of each metric."""
    scores = run.facts.get("scores") or {}
    found = {
        line["metric"]: float(line["value"])
        for line in scores.get("measures", ())
        if "metric" in line and line["value"] is not None
    }
    if scores.get("cv_estimate") is not None and "metric" in scores:
        found[scores["metric"]] = float(scores["cv_estimate"])
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
    from likely.workbench.dataset import roles_in_run

    if not run.folder.is_as_written():
        raise Refusal(
            f"The model in {run.path} was changed after training; it may have been trained on "
            "other rows. Train it again on the seal.",
            Exit.HONESTY,
            "likely train --help",
        )
    beside = roles_in_run(run.facts).at_prediction()
    if beside or run.facts.get("target") is None:
        what = f"needs the column {beside[0]!r} as well" if beside else "has no target"
        raise Refusal(
            f"The model in {run.path} {what}; final scores predictions of the target from features "
            "only. Train another model on the seal.",
            Exit.DATA,
            "likely models",
        )


def _facts(score: "FinalScore") -> dict[str, Any]:
    from dataclasses import fields

    return {
        field.name: getattr(score, field.name) for field in fields(score) if field.name != "model"
    }


def _text(score: "FinalScore") -> str:
    from likely.cli.terminal import heading, table, wrapped
    from likely.formatting import percent_level
    from likely.metrics import METRICS

    text = heading(wrapped(str(score)))
    measures = score.extras.get("measures") or {}
    gain = {"value": score.gain, "low": score.gain_low, "high": score.gain_high}
    rows = [] if score.gain is None else [[GAIN, *_cells(gain)]]
    rows += [
        [metric.title, *_cells(line)]
        for name, metric in METRICS.items()
        if (line := measures.get(name)) is not None and metric.title != score.metric
    ][:MOST_SHOWN]
    if not rows:
        return text
    header = ["sealed rows", "value", f"{percent_level(score.level)} interval", "baseline"]
    return f"{text}\n\n{table(header, rows)}"


def _cells(line: dict[str, Any]) -> list[str]:
    from likely.formatting import estimate_cells

    constant = [] if line.get("constant") is None else [line["constant"]]
    cells = estimate_cells(line["value"], line["low"], line["high"], *constant)
    return cells if constant else [*cells, ""]


def _findings(score: "FinalScore") -> tuple[str, ...]:
    found = []
    if score.resumed:
        found.append(
            "These predictions were evaluated before, so no further evaluation was counted."
        )
    if not score.of_this_model:
        found.append("Value and interval are those of the best model so far, not of this one.")
    elif not _is_better(score):
        found.append("The model is not clearly better than the baseline on the sealed rows.")
    return tuple(found)


def _is_better(score: "FinalScore") -> bool:
    """By the paired gain over the baseline, or by the interval where no gain may be shown."""
    return score.high < score.constant if score.gain_low is None else score.gain_low > 0
