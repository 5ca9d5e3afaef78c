"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import (
    about_order,
    about_task,
    refuse_two_orders,
    settings_with_order,
    task_facts,
    task_for,
)
from likely.cli.options import DataOptions, data_options, refuse_no_target
from likely.cli.registry import DIRECT, MODELS, Model, arguments, assigned, model_named
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

if TYPE_CHECKING:
    from likely.cli.scores import Told
    from likely.report.validation import Validation
    from likely.workbench.dataset import Dataset


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@data_options(
    *("target", "kind", "order", "weight", "offset", "exposure", "clusters", "drop", "category")
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the model (see: likely models MODEL); event.age=poisson sets one column.",
)
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
    asked = Asked(chosen, assigned(chosen, assignments), weka, options)
    refuse_two_orders(options, asked.given)
    return _trained_run(settings, data, asked, output)


class Asked(NamedTuple):
    """A model and how it is wanted."""

    model: Model
    given: dict[str, Any]  # by --set
    weka: Weka = Weka()
    options: DataOptions = DataOptions()


class Trained(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    data: "Dataset"
    parameters: dict[str, Any]
    validation: "Validation | None" = None


def _trained_run(settings: Settings, name: str, asked: Asked, output: str | None) -> Answer:
    from likely.cli.evidence import run_facts, write_evidence
    from likely.cli.runs import place_for_run, write_run
    from likely.cli.using import using_jobs

    with place_for_run(asked.model.name, output) as where, using_jobs(settings.jobs):
        trained = train_on(settings, name, asked)
        write_evidence(where.draft, trained)
        write_run(where.draft, trained.model, run_facts(settings, trained))
        saved = save_copy(trained.model, asked.weka)
    place = where.path
    run = "@last" if output is None else shlex.quote(str(place))
    after = "final" if trained.data.seal is not None and asked.model.supervised else "explain"
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "run": str(place)},
        findings=trained.findings,
        files=(*(place / file for file in ("model.likely", "run.json")), *saved),
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
            trained = _prepared(settings, data, asked)
        else:
            trained = _direct(settings, name, data, asked)
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
            for model in MODELS.values()
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
                f"one of {', '.join(DIRECT)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.sealed or not chosen.streams or asked.weka.folds is not None:
        return True
    if not data.in_memory:
        return False
    if data.declared or chosen.gaps:
        return data.declared
    from likely.cli.suitable import has_gaps_or_dates

    return has_gaps_or_dates(data.table, data.roles)


def _prepared(settings: Settings, data: "Dataset", asked: Asked) -> Trained:
    from likely.cli.validated import (
        FOLDS,
        dropped_columns,
        estimator_of,
        facts_of,
        fit_and_validate,
        score_facts,
        score_findings,
        score_text,
    )
    from likely.cli.watch import watched

    chosen = asked.model
    rows = data.of_task(task_for(data, chosen, asked.given))
    model = estimator_of(chosen, rows.settled, asked.given, settings.seed)
    n_folds = asked.weka.folds or FOLDS
    with watched(settings, f"cross-validating {chosen.name}", None):
        found = fit_and_validate(model, rows, n_folds=n_folds, seed=settings.seed)
    scores = score_facts(found.validation, n_folds)
    facts = {**facts_of(found, chosen), "events": {}, "scores": scores}
    findings = about_task(rows.settled) + dropped_columns(found.model)
    findings += score_findings(scores, rows.table.num_rows)
    text = "\n\n".join([opening(facts), *score_text(scores)])
    shown = plain_parameters(model)
    return Trained(found.model, facts, text, findings, data, shown, found.validation)


def plain_parameters(model: Any) -> dict[str, Any]:
    """The settings of an estimator that JSON has."""
    plain = (str, int, float, bool, list, dict)
    found = model.get_params(deep=True).items()
    return {name: value for name, value in found if isinstance(value, plain)}


def _direct(settings: Settings, name: str, data: "Dataset", asked: Asked) -> Trained:
    """The columns as they are; a file may be larger than memory."""
    from likely.cli.evidence import task_and_held_rows
    from likely.cli.reading import in_words, reading
    from likely.cli.suitable import Wish, check_suitable

    chosen = asked.model
    needed, findings = _needed(data, chosen)
    check_suitable(needed.source, Wish(name, chosen, needed.roles))
    given = settings_with_order(needed, chosen, asked.given)
    asked = asked._replace(given=given)
    given = arguments(chosen, (), settings.seed) | given
    scores, model = _scored_and_fitted(settings, needed, chosen, given)
    task, kept = task_and_held_rows(scores.model, needed, asked, settings.seed)
    n_rows = needed.source.n_rows
    read = reading(model, n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": needed.target,
        "beside": needed.roles.beside(),
        "classes": model.classes_.tolist() if _has_classes(chosen) else None,
        "task": None if task is None else task_facts(task),
        "events": read.events,
        "scores": scores.facts,
    }
    doubt = about_order(chosen, model, given) if task is None else about_task(task)
    findings += doubt + read.findings + scores.findings + _about_split(data)
    said = " ".join(filter(None, [opening(facts), in_words(read.events)]))
    return Trained(model, facts, "\n\n".join([said, *scores.text]), findings, data, given, kept)


def _about_split(data: "Dataset") -> tuple[str, ...]:
    """A seal by group or time, and a score on rows that were held out by neither."""
    column = data.group or data.by_time
    if column is None:
        return ()
    return (
        f"The rows of this score were held out one by one, not by {column} as the sealed rows "
        "are, so that it may be too good. Without a weight, an offset, an exposure or clusters "
        f"they are held out by {column}.",
    )


def _scored_and_fitted(
    settings: Settings, data: "Dataset", chosen: Model, given: dict[str, Any]
) -> "tuple[Told, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.cli.held_out import fitted
    from likely.cli.scores import held_out_scores
    from likely.cli.watch import watched

    make, source, roles = chosen.load(), data.source, data.roles
    with watched(settings, f"scoring {chosen.name}", source.n_rows):
        scores = held_out_scores(
            lambda: make(**given),
            source,
            roles,
            settings.seed,
            target=chosen.target,
            in_memory=data.in_memory,
        )
    with watched(settings, f"fitting {chosen.name}", source.n_rows):
        return scores, fitted(make(**given), source, roles, in_memory=data.in_memory)


def _needed(data: "Dataset", chosen: Model) -> "tuple[Dataset, tuple[str, ...]]":
    """Without columns that no model sees; without the target, where none is needed."""
    roles = data.roles
    source = data.rows.drop(sorted(data.apart - {*roles.columns}))
    if chosen.supervised or data.target is None:
        return replace(data, source=source), ()
    said = f"Column {data.target!r} is left out: {chosen.name} needs no target."
    return replace(data, source=source.drop([data.target]), target=None), (said,)


def _has_classes(chosen: Model) -> bool:
    return chosen.target not in ("none", "number")


def opening(facts: dict[str, Any]) -> str:
    from likely.cli.show import count, heading

    text = f"{count(facts['rows'], 'row')}, {count(len(facts['columns']), 'column')}"
    if facts["target"] is not None:
        classes = facts["classes"]
        what = "a number" if classes is None else count(len(classes), "class", "classes")
        text += f", target {facts['target']} ({what})"
    text += "".join(f", {role} {name}" for role, name in facts["beside"].items())
    return f"{heading(facts['model'])} on {facts['data']}: {text}."
