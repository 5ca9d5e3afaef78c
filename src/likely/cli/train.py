"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.assignments import assigned, model_named, set_option, trainable
from likely.cli.exits import Exit, Refusal
from likely.cli.fits import Asked, Trained, fit_direct, fit_prepared
from likely.cli.kinds import (
    kind_options,
    refuse_two_orders,
    said,
    said_in_run,
)
from likely.cli.roles import Roles, check_roles
from likely.cli.settings import Settings, global_options
from likely.cli.weka import (
    save_copy,
    score_loaded,
    scored_elsewhere,
    target_named,
    weka_of,
    weka_options,
    words_of,
)
from likely.workbench.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.cli.tables import Data
    from likely.runs import RunFolder


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option("--weight", metavar="COL", help="How much each row counts; 2 is the row twice.")
@click.option("--offset", metavar="COL", help="Added to each row's linear predictor.")
@click.option("--exposure", metavar="COL", help="Multiplies each row's mean, as time at risk does.")
@click.option("--groups", metavar="COL", help="Rows that belong together, for clustered errors.")
@set_option
@click.option("-o", "output", metavar="RUN", help="The folder to write; runs/NNN-MODEL if not set.")
@kind_options
@weka_options
@global_options
@click.pass_obj
def train(
    settings: Settings,
    words: tuple[str, ...],
    target: str | None,
    weight: str | None,
    offset: str | None,
    exposure: str | None,
    groups: str | None,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Train MODEL on DATA, and score it on rows that it did not see.

    Of a table without missing cells, a fifth is held out.  A SEAL, a table with missing cells, or
    -x, is scored by cross-validation, and columns are prepared inside the fit.  The model that is
    saved is then fitted on all rows.
    """
    weka = weka_of(click.get_current_context())
    if weka.seed is not None:
        settings.seed = weka.seed
    if weka.load is not None:
        return score_loaded(settings, weka)
    data, model = words_of(words, weka)
    chosen = model_named(model)
    _refuse_foreign(chosen, data, target)
    asked = Asked(chosen, assigned(chosen, assignments), weka, said())
    refuse_two_orders(asked.said, asked.given)
    roles = Roles(target, weight, offset, exposure, groups)
    return _trained_run(settings, data, asked, roles, output)


def _refuse_foreign(chosen: ModelEntry, data: str, target: str | None) -> None:
    """A RUN holds its model, and a model file holds nothing that other code must rebuild."""
    if chosen.is_foreign:
        name = chosen.estimator.rpartition(".")[2]
        option = [] if target is None else ["--target", target]
        raise Refusal(
            f"{chosen.name} belongs to another library; train saves its model, and a model file "
            "holds models of likely alone. Score it with likely compare, search its settings with "
            f"likely tune, or fit Prepared({name}()) in Python.",
            Exit.USAGE,
            shlex.join(["likely", "compare", data, chosen.name, *option]),
        )


def _trained_run(
    settings: Settings, name: str, asked: Asked, roles: Roles, output: str | None
) -> Answer:
    from likely.cli.using import using_jobs
    from likely.runs import RunFolder, new_run

    with new_run(asked.model.name, output) as where, using_jobs(settings.jobs):
        trained = train_on(settings, name, asked, roles)
        draft = RunFolder(where.draft)
        write_evidence(draft, trained)
        draft.write_model(trained.model, run_facts(settings, trained))
        saved = save_copy(trained.model, asked.weka)
    place = where.path
    run = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None and asked.model.supervised else "explain"
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "run": str(place)},
        findings=trained.findings,
        files=(*RunFolder(place).model_files, *saved),
        next=f"likely {after} {run}",
    )


def train_on(settings: Settings, name: str, asked: Asked, roles: Roles) -> Trained:
    """Open the data, score on rows that were held out, fit on all of them."""
    from likely.cli.guard import refuse_sealed_rows_in
    from likely.cli.show import wrapped
    from likely.cli.suitable import naming_rows
    from likely.cli.tables import open_data

    data, weka = open_data(name), asked.weka
    target = roles.target or data.target or target_named(weka, data.source.names)
    if weka.target is not None:
        target = target_named(weka, data.source.names)
    roles = roles._replace(target=target)
    check_roles(settings, data.source.names, asked.model, roles)
    refuse_other_target(data, roles)
    refuse_sealed_rows_in(data, name, doing="train")
    with naming_rows(data.source, roles.target):
        if _wants_preparation(data, asked, roles):
            trained = fit_prepared(settings, data, asked, roles)
        else:
            trained = fit_direct(settings, name, data, asked, roles)
    if weka.test is None or roles.target is None:
        return trained
    about = said_in_run(trained.facts)
    text, facts = scored_elsewhere(trained.model, roles.target, weka.test, data, about=about)
    return trained._replace(
        text=f"{trained.text}\n\n{wrapped(text)}", facts={**trained.facts, "unguarded": facts}
    )


def refuse_other_target(data: "Data", roles: Roles) -> None:
    if data.seal is not None and roles.target not in (None, data.target):
        raise Refusal(
            f"{data.label} seals the target {data.target!r}, and {roles.target!r} was given; its "
            "sealed rows can score one target. Leave --target out, or seal the data for the other.",
            Exit.DATA,
            "likely seal --help",
        )


def _wants_preparation(data: "Data", asked: Asked, roles: Roles) -> bool:
    """Whether the table is prepared inside the fit, and scored by cross-validation."""
    chosen = asked.model
    if not chosen.supervised:
        return False
    if roles.beside():
        if not chosen.streams:
            raise Refusal(
                f"{chosen.name} prepares its table inside the fit, which takes features and the "
                f"target alone; --{next(iter(roles.beside()))} was given. Leave it out, or use "
                f"one of {', '.join(entry.name for entry in trainable() if entry.streams)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.seal is not None or not chosen.streams or asked.weka.folds is not None:
        return True
    if not data.in_memory:
        return False
    if asked.said.anything or chosen.missing:
        return asked.said.anything
    from likely.cli.suitable import has_gaps_or_dates

    return has_gaps_or_dates(data.source.table, roles)  # type: ignore[attr-defined]  # in memory


def run_facts(settings: Settings, trained: Trained) -> dict[str, Any]:
    """What ``run.json`` keeps."""
    from datetime import UTC, datetime

    from likely.runs.seals import seal_facts

    facts, data = trained.facts, trained.data
    return {
        "command": settings.command,
        "seed": settings.seed,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": facts["model"],
        "parameters": {name: _written(value) for name, value in trained.parameters.items()},
        "target": facts["target"],
        "task": facts.get("task"),
        "group": facts.get("group"),
        "by_time": facts.get("by_time"),
        "beside": facts["beside"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": data.digest, "rows": facts["rows"]},
        "seal": None if data.seal is None else seal_facts(data.seal),
        "scores": facts["scores"],
    }


def write_evidence(run: "RunFolder", trained: Trained) -> None:
    """What the report reads beside the model and its facts: held-out rows, a look at the data."""
    if trained.validation is not None:
        run.write_validation(trained.validation)
    data = trained.data
    if data.seal is None and not data.in_memory:
        return
    from likely.workbench.look.look import look

    rows = data.source.table if data.seal is None else data.seal.path  # type: ignore[attr-defined]  # in memory
    task = trained.facts.get("task") or {}
    found = look(
        rows,
        None if data.seal is not None else trained.facts["target"],
        kind=task.get("kind"),
        order=task.get("order"),
    )
    run.write_look(found.facts())
    if data.seal is not None:
        run.write_kept_by(data.seal)


def _written(value: Any) -> Any:
    """NaN as it was given, for JSON has none."""
    return "nan" if isinstance(value, float) and value != value else value
