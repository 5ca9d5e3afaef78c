"""``likely final``: evaluate a run on the sealed rows."""

import shlex
from math import isfinite
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer, Exit, Refusal
from likely.cli.terminal import Settings, global_options
from likely.errors import HonestyRefusal

if TYPE_CHECKING:
    from likely.intervals import Estimate
    from likely.runs import Run
    from likely.sealing.final_score import FinalScore
    from likely.sealing.folder import SealFolder

MOST_SHOWN = 6  # metrics in addition to the main one


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
    _refuse_other_roles(opened, seal)
    if run == LAST:
        refuse_an_older_last(opened.path)
    score = _evaluated(opened, seal, again, escrow)
    facts = score.to_json()
    written = opened.folder.write_final(facts)
    return Answer(
        text=f"{_text(score)}\n\nModel: {opened.facts.get('model')} from {opened.path}.",
        result={**facts, "run": str(opened.path), "seal": str(seal.path)},
        findings=_findings(score),
        files=(written,),
        next=f"likely report {shlex.quote(run)}",
    )


def _evaluated(
    run: "Run", seal: "SealFolder", again: str | None, escrow: str | None
) -> "FinalScore":
    from likely.cli.options import DataOptions
    from likely.workbench.final import final_score_of_fit
    from likely.workbench.final_scorer import scorer_for

    given = DataOptions.in_run(run.facts)
    scorer = scorer_for(run.model, seal, kind=given.kind, order=given.order)
    try:
        return final_score_of_fit(
            seal,
            run.model,
            trained_on=str(run.facts["data"]["sha256"]),
            scorer=scorer,
            again=again,
            escrow=escrow,
            cv_estimate=scorer.estimated_loss(_estimates(run)),
        )
    except HonestyRefusal as error:
        next = f"likely ledger show {shlex.quote(str(seal.path))}"
        raise Refusal(str(error), Exit.HONESTY, next) from None


def _estimates(run: "Run") -> dict[str, float]:
    """The cross-validation estimate of each metric; after a search, also that of the search."""
    from likely.intervals import measures_from_json

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
            f"The model in {run.path} was changed after training; it may have been trained on "
            "other rows. Train it again on the seal.",
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
    from likely.workbench.dataset import roles_in_run

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
    from likely.formatting import estimate_cells, percent_level
    from likely.metrics.score import gain_title, title_of

    text = heading(wrapped(str(score)))
    rows = []
    if score.gain is not None:
        rows.append([gain_title(score.measures), *estimate_cells(*score.gain[:3]), ""])
    rows += [
        [title, *_cells(found)]
        for name, found in score.measures.items()
        if (title := title_of(name)) != score.metric and isfinite(found.value)
    ][:MOST_SHOWN]
    if not rows:
        return text
    header = ["sealed rows", "value", f"{percent_level(score.level)} interval", "baseline"]
    return f"{text}\n\n{table(header, rows)}"


def _cells(found: "Estimate") -> list[str]:
    from likely.formatting import estimate_cells

    if isfinite(found.baseline):
        return estimate_cells(*found)
    return [*estimate_cells(*found[:3]), ""]


def _findings(score: "FinalScore") -> tuple[str, ...]:
    found = []
    if score.resumed:
        found.append(
            "These predictions were evaluated before, so no further evaluation was counted."
        )
    if not score.of_this_model:
        found.append("Value and interval are those of the best model so far, not of this one.")
    elif not score.better_than_baseline:
        found.append("The model is not clearly better than the baseline on the sealed rows.")
    return tuple(found)
