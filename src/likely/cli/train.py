"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import (
    Said,
    about_order,
    about_task,
    kind_options,
    refuse_two_orders,
    said,
    said_in_run,
    said_or_sealed,
    settings_with_order,
    task_facts,
    task_for,
)
from likely.cli.parting import UNPARTED, parted_or_sealed
from likely.cli.registry import DIRECT, Model, arguments, assigned, model_named
from likely.cli.roles import Roles, check_roles
from likely.cli.settings import Settings, global_options
from likely.cli.weka import (
    Weka,
    save_copy,
    score_loaded,
    scored_elsewhere,
    target_named,
    weka_of,
    weka_options,
    words_of,
)

if TYPE_CHECKING:
    from likely.cli.scores import Told
    from likely.cli.tables import Data
    from likely.data.source import Source
    from likely.workbench.validation import Validation


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@click.option("--target", metavar="COL", help="The column to predict; a SEAL knows its own.")
@click.option("--weight", metavar="COL", help="How much each row counts; 2 is the row twice.")
@click.option("--offset", metavar="COL", help="Added to each row's linear predictor.")
@click.option("--exposure", metavar="COL", help="Multiplies each row's mean, as time at risk does.")
@click.option("--groups", metavar="COL", help="Rows that belong together, for clustered errors.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the model (see: likely models MODEL); event.age=poisson sets one column.",
)
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
    asked = Asked(chosen, assigned(chosen, assignments), weka, said())
    refuse_two_orders(asked.said, asked.given)
    roles = Roles(target, weight, offset, exposure, groups)
    return _trained_run(settings, data, asked, roles, output)


class Asked(NamedTuple):
    """A model and how it is wanted."""

    model: Model
    given: dict[str, Any]  # by --set
    weka: Weka = Weka()
    said: Said = Said()  # of the target


class Trained(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    data: "Data"
    parameters: dict[str, Any]
    validation: "Validation | None" = None


def _trained_run(
    settings: Settings, name: str, asked: Asked, roles: Roles, output: str | None
) -> Answer:
    from likely.cli.evidence import run_facts, write_evidence
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
            trained = _prepared(settings, data, asked, roles)
        else:
            trained = _direct(settings, name, data, asked, roles)
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
                f"one of {', '.join(DIRECT)}.",
                Exit.USAGE,
                "likely models",
            )
        return False
    if data.seal is not None or not chosen.streams or asked.weka.folds is not None:
        return True
    if not data.in_memory:
        return False
    if asked.said.anything or chosen.gaps:
        return asked.said.anything
    from likely.cli.suitable import has_gaps_or_dates

    return has_gaps_or_dates(data.source.table, roles)  # type: ignore[attr-defined]  # in memory


def _prepared(settings: Settings, data: "Data", asked: Asked, roles: Roles) -> Trained:
    from likely.cli.tables import in_one_table
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

    rows, chosen = in_one_table(data.source), asked.model
    told = said_or_sealed(asked.said, None if data.seal is None else data.seal.manifest)
    task = task_for(rows, str(roles.target), chosen, asked.given, told)
    model = estimator_of(chosen, task, asked.given, settings.seed)
    n_folds = asked.weka.folds or FOLDS
    with watched(settings, f"cross-validating {chosen.name}", None):
        found = fit_and_validate(model, data, rows, task, n_folds=n_folds, seed=settings.seed)
    scores = score_facts(found.validation, n_folds)
    facts = {**facts_of(found, chosen, data), "events": {}, "scores": scores}
    findings = about_task(task) + dropped_columns(found.model)
    findings += score_findings(scores, found.rows.num_rows)
    text = "\n\n".join([opening(facts), *score_text(scores)])
    shown = plain_parameters(model)
    return Trained(found.model, facts, text, findings, data, shown, found.validation)


def plain_parameters(model: Any) -> dict[str, Any]:
    """The settings of an estimator that JSON has."""
    plain = (str, int, float, bool, list, dict)
    found = model.get_params(deep=True).items()
    return {name: value for name, value in found if isinstance(value, plain)}


def _direct(settings: Settings, name: str, data: "Data", asked: Asked, roles: Roles) -> Trained:
    """The columns as they are; a file may be larger than memory."""
    from likely.cli.evidence import task_and_held_rows
    from likely.cli.reading import in_words, reading
    from likely.cli.suitable import Wish, check_suitable

    chosen = asked.model
    source, roles, findings = _needed(data, roles, chosen)
    check_suitable(source, Wish(name, chosen, roles))
    given = settings_with_order(asked.said, chosen, asked.given, source, roles)
    asked = asked._replace(given=given)
    given = arguments(chosen, (), settings.seed) | given
    scores, model = _scored_and_fitted(settings, source, chosen, given, roles, data.in_memory)
    task, kept = task_and_held_rows(scores.model, source, asked, roles, settings.seed)
    read = reading(model, source.n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": source.n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": roles.target,
        "beside": roles.beside(),
        "classes": model.classes_.tolist() if _has_classes(chosen) else None,
        "task": None if task is None else task_facts(task),
        "events": read.events,
        "scores": scores.facts,
    }
    doubt = about_order(chosen, model, given) if task is None else about_task(task)
    findings += doubt + read.findings + scores.findings + _about_parting(data)
    said = " ".join(filter(None, [opening(facts), in_words(read.events)]))
    return Trained(model, facts, "\n\n".join([said, *scores.text]), findings, data, given, kept)


def _about_parting(data: "Data") -> tuple[str, ...]:
    """A seal by group or time, and a score on rows that were held out by neither."""
    manifest = None if data.seal is None else data.seal.manifest
    column = None if manifest is None else manifest.group or manifest.by_time
    if column is None:
        return ()
    return (
        f"The rows of this score were held out one by one, not by {column} as the sealed rows "
        "are, so that it may be too good. Without a column beside the features it is by "
        f"{column}.",
    )


def _scored_and_fitted(
    settings: Settings,
    source: "Source",
    chosen: Model,
    given: dict[str, Any],
    roles: Roles,
    in_memory: bool,
) -> "tuple[Told, Any]":
    """The score of a fit to four fifths of the rows, and the fit to all of them."""
    from likely.cli.held_out import fitted
    from likely.cli.scores import held_out_scores
    from likely.cli.watch import watched

    make = chosen.load()
    with watched(settings, f"scoring {chosen.name}", source.n_rows):
        scores = held_out_scores(
            lambda: make(**given),
            source,
            roles,
            settings.seed,
            target=chosen.target,
            in_memory=in_memory,
        )
    with watched(settings, f"fitting {chosen.name}", source.n_rows):
        return scores, fitted(make(**given), source, roles, in_memory=in_memory)


def _needed(data: "Data", roles: Roles, chosen: Model) -> "tuple[Source, Roles, tuple[str, ...]]":
    """Without the group of a seal, which names rows; without the target, where none is needed."""
    source, group = data.source, parted_or_sealed(UNPARTED, data).group
    if group is not None and group not in roles.columns:
        source = source.drop([group])
    if chosen.supervised or roles.target is None:
        return source, roles, ()
    said = f"Column {roles.target!r} is left out: {chosen.name} needs no target."
    return source.drop([roles.target]), roles._replace(target=None), (said,)


def _has_classes(chosen: Model) -> bool:
    return chosen.target not in ("none", "number")


def opening(facts: dict[str, Any]) -> str:
    from likely.cli.show import heading
    from likely.formatting import count

    text = f"{count(facts['rows'], 'row')}, {count(len(facts['columns']), 'column')}"
    if facts["target"] is not None:
        classes = facts["classes"]
        what = "a number" if classes is None else count(len(classes), "class", "classes")
        text += f", target {facts['target']} ({what})"
    text += "".join(f", {role} {name}" for role, name in facts["beside"].items())
    return f"{heading(facts['model'])} on {facts['data']}: {text}."
