"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.assignments import assigned, model_named, set_option, trainable
from likely.cli.exits import Exit, Refusal
from likely.cli.fits import Asked, Trained, fit_direct, fit_prepared
from likely.cli.kinds import (
    refuse_two_orders,
)
from likely.cli.options import DataOptions, data_options, refuse_no_target
from likely.cli.settings import Settings, global_options
from likely.cli.weka import (
    Weka,
    save_copy,
    score_loaded,
    scored_elsewhere,
    target_named,
    weka_options,
    words_of,
)
from likely.workbench.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.runs import RunFolder
    from likely.workbench.dataset import Dataset


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@data_options(
    *("target", "kind", "order", "weight", "offset", "exposure", "clusters", "drop", "category")
)
@set_option
@click.option("-o", "output", metavar="RUN", help="The folder to write; runs/NNN-MODEL if not set.")
@weka_options
@global_options
@click.pass_obj
def train(
    settings: Settings,
    words: tuple[str, ...],
    options: DataOptions,
    weka: Weka,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Train MODEL on DATA, and score it on rows that it did not see.

    Of a table without missing cells, a fifth is held out.  A SEAL, a table with missing cells, or
    -x, is scored by cross-validation, and columns are prepared inside the fit.  The model that is
    saved is then fitted on all rows.
    """
    if weka.seed is not None:
        settings.seed = weka.seed
    if weka.load is not None:
        return score_loaded(settings, weka)
    data, model = words_of(words, weka)
    chosen = model_named(model)
    _refuse_foreign(chosen, data, options.target)
    asked = Asked(chosen, assigned(chosen, assignments), weka, options)
    refuse_two_orders(options, asked.given)
    return _trained_run(settings, data, asked, output)


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


def _trained_run(settings: Settings, name: str, asked: Asked, output: str | None) -> Answer:
    from likely.cli.using import using_jobs
    from likely.runs import RunFolder, new_run

    with new_run(asked.model.name, output) as where, using_jobs(settings.jobs):
        trained = train_on(settings, name, asked)
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


def train_on(settings: Settings, name: str, asked: Asked) -> Trained:
    """Open the data, score on rows that were held out, fit on all of them."""
    from likely.cli.show import wrapped
    from likely.cli.suitable import naming_rows

    data, weka = _opened(settings, name, asked), asked.weka
    data.refuse_sealed_rows("train")
    with naming_rows(data.rows, data.target):
        if _wants_preparation(data, asked):
            trained = fit_prepared(settings, data, asked)
        else:
            trained = fit_direct(settings, name, data, asked)
    if weka.test is None or data.target is None:
        return trained
    learned = replace(DataOptions.in_run(trained.facts), category=data.categories)
    text, facts = scored_elsewhere(trained.model, weka.test, learned, training=data)
    return trained._replace(
        text=f"{trained.text}\n\n{wrapped(text)}", facts={**trained.facts, "unguarded": facts}
    )


def _opened(settings: Settings, name: str, asked: Asked) -> "Dataset":
    """The data with what was given about them, as far as the model can use it."""
    from likely.workbench.dataset import dataset

    _refuse_unused(asked)
    data, options = dataset(name), asked.options
    if asked.weka.target is not None or (options.target is None and data.target is None):
        options = replace(options, target=target_named(asked.weka, data.source.names))
    data = options.on(settings, data)
    if asked.model.supervised:
        refuse_no_target(settings, data)
        data.refuse_no_features()
    return data


def _refuse_unused(asked: Asked) -> None:
    """Columns beside the features that the fit of the model does not take."""
    import inspect

    from likely.workbench.roles import ARGUMENTS

    for role, argument in ARGUMENTS.items():
        if getattr(asked.options, role) is None:
            continue
        able = [
            model.name
            for model in trainable()
            if argument in inspect.signature(model.load().fit).parameters
        ]
        if asked.model.name not in able:
            raise Refusal(
                f"{asked.model.name} has no use for --{role}; it is for {', '.join(able)}. Leave "
                "it out, or use one of these.",
                Exit.USAGE,
                "likely models",
            )


def _wants_preparation(data: "Dataset", asked: Asked) -> bool:
    """Whether the table is prepared inside the fit, and scored by cross-validation."""
    chosen, beside = asked.model, data.roles.beside()
    if not chosen.supervised:
        return False
    if beside:
        if not chosen.streams:
            raise Refusal(
                f"{chosen.name} prepares its table inside the fit, which takes features and the "
                f"target alone; --{next(iter(beside))} was given. Leave it out, or use "
                f"one of {', '.join(entry.name for entry in trainable() if entry.streams)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.sealed or not chosen.streams or asked.weka.folds is not None:
        return True
    if not data.in_memory:
        return False
    if data.declared or chosen.missing:
        return data.declared
    from likely.cli.suitable import has_gaps_or_dates

    return has_gaps_or_dates(data.table, data.roles)


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
        "dropped": list(data.dropped),
        "categories": list(data.categories),
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
    if not data.in_memory:
        return
    from likely.workbench.look.look import look

    task = trained.facts.get("task") or {}
    found = look(data, kind=task.get("kind"), order=task.get("order"))
    run.write_look(found.facts())
    if data.seal is not None:
        run.write_kept_by(data.seal)


def _written(value: Any) -> Any:
    """NaN as it was given, for JSON has none."""
    return "nan" if isinstance(value, float) and value != value else value
