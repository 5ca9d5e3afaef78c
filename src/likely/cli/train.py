"""``likely train``: one model on one table, with a score on held-out rows."""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer, Exit, Refusal
from likely.cli.models import UNLABELLED, assigned, model_named, set_option, trainable
from likely.cli.options import OPTIONS, DataOptions, data_options, refuse_no_target
from likely.cli.suitability import (
    refuse_two_orders,
)
from likely.cli.terminal import Settings, global_options
from likely.cli.text_training import fit_text_stream, is_text_stream, refuse_counts
from likely.cli.training import (
    TrainedModel,
    TrainRequest,
    fit_direct,
    fit_prepared,
    with_unlabelled_marked,
)
from likely.cli.weka import (
    Weka,
    save_copy,
    score_loaded,
    scored_elsewhere,
    target_named,
    weka_options,
    words_of,
)
from likely.workbench.models.model_entry import ModelEntry

if TYPE_CHECKING:
    from likely.runs import RunFolder
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.look.look import Look
    from likely.workbench.scoring.column_effects import ColumnEffects
    from likely.workbench.verdict.verdict import Verdict


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@data_options(*OPTIONS)
@set_option
@click.option("-o", "output", metavar="RUN", help="Folder to write [default: runs/NNN-MODEL].")
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
    """Train MODEL on DATA or the training rows of a SEAL, and score it on held-out rows.

    A SEAL, DATA with -x, --group, --by-time, --kind or --order, and DATA with missing cells or
    dates that MODEL cannot use as they are, are scored by cross-validation, with the columns
    prepared inside each fit. Otherwise the columns are used as they are, and a fifth of the rows
    is held out for the score. The saved model is fitted to all rows.
    """
    if weka.seed is not None:
        settings.seed = weka.seed
    if weka.load is not None:
        return score_loaded(settings, weka)
    data, model = words_of(words, weka)
    chosen = model_named(model)
    refuse_unsaved(chosen, data, options.target)
    request = TrainRequest(chosen, assigned(chosen, assignments), weka, options)
    refuse_two_orders(options, request.given)
    return _trained_run(settings, data, request, output)


def refuse_unsaved(chosen: ModelEntry, data: str, target: str | None) -> None:
    """Refuse a model of another library if the package that saves it is not installed."""
    from likely.errors import InvalidInput
    from likely.persist.foreign import refuse_without_skops

    if not chosen.is_foreign:
        return
    try:
        refuse_without_skops(chosen.name)
    except InvalidInput as error:
        option = [] if target is None else ["--target", target]
        raise Refusal(
            f"{error} Without it, likely compare scores the model.",
            Exit.USAGE,
            shlex.join(["likely", "compare", data, chosen.name, *option]),
        ) from None


def _trained_run(
    settings: Settings, name: str, request: TrainRequest, output: str | None
) -> Answer:
    from likely.runs import RunFolder, new_run

    with new_run(request.model.short_name, output) as where, settings.using_jobs():
        trained = train_on(settings, name, request)
        draft = RunFolder(where.draft)
        found = looked_at(trained)
        write_evidence(draft, trained, found)
        effects = draft.effects()
        draft.write_model(trained.model, run_facts(settings, trained, found))
        saved = save_copy(trained.model, request.weka)
    place = where.path
    run = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None and request.model.supervised else "explain"
    judged = _verdict(trained, found, effects)
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={
            **trained.facts,
            "verdict": None if judged is None else judged.to_json(),
            "run": str(place),
        },
        findings=(*trained.findings, *(() if judged is None else judged.doubts)),
        files=(*RunFolder(place).model_files, *saved),
        next=f"likely {after} {run}",
    )


def train_on(settings: Settings, name: str, request: TrainRequest) -> TrainedModel:
    """Open the data, score the model on held-out rows, and fit it to all rows."""
    from likely.cli.suitability import naming_rows
    from likely.cli.terminal import wrapped

    data, weka = _opened(settings, name, request), request.weka
    data.refuse_sealed_rows("train")
    refuse_counts(data, request)
    mark = request.given.get(UNLABELLED)
    if mark is not None:
        data, request = with_unlabelled_marked(data, request, mark)
    with naming_rows(data.rows):
        if is_text_stream(data, request):
            trained = fit_text_stream(settings, data, request)
        elif _wants_preparation(data, request):
            trained = fit_prepared(settings, data, request)
        else:
            trained = fit_direct(settings, name, data, request)
    if mark is not None:
        trained = trained._replace(parameters={**trained.parameters, UNLABELLED: mark})
    if weka.test is None or data.target is None:
        return trained
    learned = replace(DataOptions.in_run(trained.facts), category=data.categories)
    text, facts = scored_elsewhere(trained.model, weka.test, learned, training=data)
    return trained._replace(
        text=f"{trained.text}\n\n{wrapped(text)}", facts={**trained.facts, "unguarded": facts}
    )


def _opened(settings: Settings, name: str, request: TrainRequest) -> "Dataset":
    """The data with the options about it, refused if the model cannot use them."""
    from likely.workbench.data.opening import dataset
    from likely.workbench.data.refusals import refuse_no_features

    data, options = dataset(name), request.options
    if request.weka.target is not None or (options.target is None and data.target is None):
        options = replace(options, target=target_named(request.weka, data.source.names))
    data = options.on(settings, data)
    _refuse_unused(request.model, data)
    if request.model.supervised:
        refuse_no_target(settings, data)
        refuse_no_features(data)
    return data


def _refuse_unused(chosen: ModelEntry, data: "Dataset") -> None:
    """Refuse weights, offsets, exposures or clusters that the fit of the model does not take."""
    import inspect

    from likely.workbench.data.roles import ARGUMENTS

    for role in data.roles.given():
        able = [
            model.name
            for model in trainable()
            if ARGUMENTS[role] in inspect.signature(model.load().fit).parameters
        ]
        if not chosen.accepts(ARGUMENTS[role]):
            raise Refusal(
                f"{chosen.name} does not take --{role}; {', '.join(able)} do. Leave the option "
                "out, or use one of these models.",
                Exit.USAGE,
                "likely models",
            )


def _wants_preparation(data: "Dataset", request: TrainRequest) -> bool:
    """Whether the table is prepared inside the fit, and scored by cross-validation."""
    chosen = request.model
    _refuse_split(chosen, data, request.options)
    if not chosen.supervised:
        return False
    if data.clusters is not None:
        if not chosen.streams:
            raise Refusal(
                f"--clusters was given; {chosen.name} cannot compute clustered errors on a table "
                "that needs preparation. Leave it out, or use one of "
                f"{', '.join(entry.name for entry in trainable() if entry.streams)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.sealed or not chosen.streams or request.weka.folds is not None:
        return True
    if data.group is not None or data.by_time is not None:
        return True
    if not data.in_memory:
        return False
    from likely.cli.suitability import needs_preparation

    return data.declared or needs_preparation(data, gaps=not chosen.missing)


def _refuse_split(chosen: ModelEntry, data: "Dataset", options: DataOptions) -> None:
    """Refuse --group and --by-time for a score of one part, whose rows are chosen individually."""
    column = options.group or options.by_time
    if column is None or (chosen.supervised and data.clusters is None):
        return
    option = "--group" if options.by_time is None else "--by-time"
    why = "--clusters was given" if chosen.supervised else f"{chosen.name} needs no target"
    raise Refusal(
        f"{option} {column} is for cross-validation, and {why}: the held-out rows are chosen "
        f"individually. Leave {option} out.",
        Exit.USAGE,
        "likely train --help",
    )


def run_facts(settings: Settings, trained: TrainedModel, found: "Look | None") -> dict[str, Any]:
    """The content of ``run.json``; ``found`` is what ``look`` says of the rows."""
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
        "declared_features": list(data.declared_features),
        "declared_texts": list(data.declared_texts),
        "identifiers": list(data.identifiers),
        "texts": list(data.texts),
        "findings": findings_kept(data, found),
        "roles": facts["roles"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": data.digest, "rows": facts["rows"]},
        "seal": None if data.seal is None else seal_facts(data.seal),
        "scores": facts["scores"],
    }


def _verdict(
    trained: TrainedModel, found: "Look | None", effects: "ColumnEffects | None"
) -> "Verdict | None":
    from likely.workbench.verdict.evidence import evidence_in_run
    from likely.workbench.verdict.verdict import verdict_on

    facts = {**trained.facts, "findings": findings_kept(trained.data, found)}
    return verdict_on(evidence_in_run(facts, held=trained.validation, effects=effects))


def findings_kept(data: "Dataset", found: "Look | None") -> list[dict[str, Any]]:
    """What ``look`` found before the rows were sealed; else in the rows of the run."""
    if data.seal is not None and data.seal.manifest.identifiers is not None:
        return [dict(each) for each in data.seal.manifest.findings]
    return [] if found is None else [each.record() for each in found.findings]


def looked_at(trained: TrainedModel) -> "Look | None":
    """The checks of the data; None for a file that was read in chunks."""
    from likely.workbench.look.look import look

    if not trained.data.in_memory:
        return None
    task = trained.facts.get("task") or {}
    return look(trained.data, kind=task.get("kind"), order=task.get("order"))


def write_evidence(run: "RunFolder", trained: TrainedModel, found: "Look | None") -> None:
    """Write what the report also needs: held-out predictions and the checks of the data."""
    if trained.validation is not None:
        run.write_validation(trained.validation)
    if found is not None:
        run.write_look(found.facts())
        _write_effects(run, trained)
    if trained.data.seal is not None and found is not None:
        run.write_kept_by(trained.data.seal)


def _write_effects(run: "RunFolder", trained: TrainedModel) -> None:
    """Write the importance and the effects of columns, measured on one held-out fold."""
    from likely.workbench.scoring.column_effects import held_out_effects_or_note

    if trained.validation is None:
        return
    seed = int(trained.facts.get("seed") or 0)
    found = held_out_effects_or_note(trained.model, trained.data, seed=seed)
    if found is not None:
        run.write_effects(found)


def _written(value: Any) -> Any:
    """NaN as text, because JSON has no NaN."""
    return "nan" if isinstance(value, float) and value != value else value
