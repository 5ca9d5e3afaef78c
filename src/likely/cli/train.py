"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from typing import Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.registry import Model, arguments, model_named
from likely.cli.roles import Roles, check_roles
from likely.cli.settings import Settings, global_options

MOST_NAMED = 6  # classes in a note


@click.command()
@click.argument("data")
@click.argument("model")
@click.option("--target", metavar="COL", help="The column to predict; built-in data know theirs.")
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
@global_options
@click.pass_obj
def train(
    settings: Settings,
    data: str,
    model: str,
    target: str | None,
    weight: str | None,
    offset: str | None,
    exposure: str | None,
    groups: str | None,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Train MODEL on DATA, and score it on a fifth of the rows that it did not see.

    The model that is saved is then fitted on all rows.
    """
    from likely.cli.runs import place_for_run, write_run
    from likely.cli.using import using_jobs

    chosen = model_named(model)
    given = arguments(chosen, assignments, settings.seed)
    with place_for_run(model, output) as (draft, place), using_jobs(settings.jobs):
        roles = Roles(target, weight, offset, exposure, groups)
        trained = train_on(settings, data, chosen, given, roles)
        write_run(draft, trained.model, run_facts(settings, chosen, given, trained))
    name = "@last" if output is None else shlex.quote(str(place))
    return Answer(
        text=f"{trained.text}\n\nSaved to {click.style(str(place), bold=True)}.",
        result={**trained.facts, "run": str(place)},
        findings=trained.findings,
        files=(place / "model.likely", place / "run.json"),
        next=f"likely explain {name}",
    )


class Trained(NamedTuple):
    """A model fitted on all rows, and what is known about it."""

    model: Any
    facts: dict[str, Any]
    text: str
    findings: tuple[str, ...]
    digest: str


def train_on(
    settings: Settings, name: str, chosen: Model, given: dict[str, Any], roles: Roles
) -> Trained:
    """Open the data, score on held-out rows, fit on all of them."""
    from likely.cli.held_out import fitted
    from likely.cli.reading import in_words, reading
    from likely.cli.scores import held_out_scores
    from likely.cli.suitable import Wish, check_suitable
    from likely.cli.tables import open_data
    from likely.cli.watch import watched

    data = open_data(name)
    roles = roles._replace(target=data.target if roles.target is None else roles.target)
    check_roles(settings, data.source.names, chosen, roles)
    source = data.source
    findings: tuple[str, ...] = ()
    if not chosen.supervised and roles.target is not None:
        findings = (f"Column {roles.target!r} is left out: {chosen.name} needs no target.",)
        source, roles = source.drop([roles.target]), roles._replace(target=None)
    check_suitable(source, Wish(name, chosen, roles))
    make = chosen.load()
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
        model = fitted(make(**given), source, roles, in_memory=data.in_memory)
    read = reading(model, source.n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": source.n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": roles.target,
        "beside": roles.beside(),
        "classes": model.classes_.tolist() if _has_classes(chosen) else None,
        "events": read.events,
        "scores": scores.facts,
    }
    findings += _about_order(chosen, facts["classes"], given) + read.findings + scores.findings
    opening = " ".join(filter(None, [_opening(facts), in_words(read.events)]))
    return Trained(model, facts, "\n\n".join([opening, *scores.text]), findings, data.digest)


def _has_classes(chosen: Model) -> bool:
    return chosen.target not in ("none", "number")


def _about_order(chosen: Model, classes: Any, given: dict[str, Any]) -> tuple[str, ...]:
    """Words have no order of their own: say which one was taken."""
    if chosen.target != "ordered" or "order" in given or not isinstance(classes[0], str):
        return ()
    return (
        f"The classes are taken in alphabetical order: {' < '.join(classes[:MOST_NAMED])}"
        f"{' < …' if len(classes) > MOST_NAMED else ''}. Give another with "
        '--set order=["…","…"], from lowest to highest.',
    )


def run_facts(
    settings: Settings, chosen: Model, given: dict[str, Any], trained: Trained
) -> dict[str, Any]:
    """What ``run.json`` keeps."""
    from datetime import UTC, datetime

    from likely.cli.runs import versions

    facts = trained.facts
    return {
        "command": settings.command,
        "seed": settings.seed,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": chosen.name,
        "parameters": {name: _written(value) for name, value in given.items()},
        "target": facts["target"],
        "beside": facts["beside"],
        "columns": facts["columns"],
        "classes": facts["classes"],
        "data": {"name": facts["data"], "sha256": trained.digest, "rows": facts["rows"]},
        "scores": facts["scores"],
        "versions": versions(),
    }


def _written(value: Any) -> Any:
    """NaN as it was given, for JSON has none."""
    return "nan" if isinstance(value, float) and value != value else value


def _opening(facts: dict[str, Any]) -> str:
    from likely.cli.show import count, heading

    text = f"{count(facts['rows'], 'row')}, {count(len(facts['columns']), 'column')}"
    if facts["target"] is not None:
        classes = facts["classes"]
        what = "a number" if classes is None else count(len(classes), "class", "classes")
        text += f", target {facts['target']} ({what})"
    text += "".join(f", {role} {name}" for role, name in facts["beside"].items())
    return f"{heading(facts['model'])} on {facts['data']}: {text}."
