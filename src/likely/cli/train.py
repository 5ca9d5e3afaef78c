"""``likely train``: one model on one table, with a score on rows that the fit did not see."""

import shlex
from typing import Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.registry import Model, arguments, model_named
from likely.cli.settings import Settings, global_options


@click.command()
@click.argument("data")
@click.argument("model")
@click.option("--target", metavar="COL", help="The column to predict; built-in data know theirs.")
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
        trained = train_on(settings, data, chosen, given, target)
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
    settings: Settings, name: str, chosen: Model, given: dict[str, Any], target: str | None
) -> Trained:
    """Open the data, score on held-out rows, fit on all of them."""
    from likely.cli.held_out import fitted
    from likely.cli.reading import in_words, reading
    from likely.cli.scores import held_out_scores
    from likely.cli.tables import open_data
    from likely.cli.watch import watched

    data = open_data(name)
    target = data.target if target is None else target
    check_target(settings, data.source.names, target, needed=chosen.supervised)
    source = data.source
    findings: tuple[str, ...] = ()
    if not chosen.supervised and target is not None:
        findings = (f"Column {target!r} is left out: {chosen.name} needs no target.",)
        source, target = source.drop([target]), None
    make = chosen.load()
    with watched(settings, f"scoring {chosen.name}", source.n_rows):
        scores = held_out_scores(
            lambda: make(**given), source, target, settings.seed, in_memory=data.in_memory
        )
    with watched(settings, f"fitting {chosen.name}", source.n_rows):
        model = fitted(make(**given), source, target, in_memory=data.in_memory)
    read = reading(model, source.n_rows)
    facts = {
        "model": chosen.name,
        "data": data.label,
        "rows": source.n_rows,
        "columns": [str(feature) for feature in model.feature_names_in_],
        "target": target,
        "classes": model.classes_.tolist() if chosen.supervised else None,
        "events": read.events,
        "scores": scores.facts,
    }
    opening = " ".join(filter(None, [_opening(facts), in_words(read.events)]))
    text = "\n\n".join([opening, *scores.text])
    return Trained(model, facts, text, findings + read.findings + scores.findings, data.digest)


def check_target(
    settings: Settings, names: tuple[str, ...], target: str | None, *, needed: bool
) -> None:
    """Refuse a target that is not there, and suggest the nearest column."""
    from difflib import get_close_matches

    if target is None and needed:
        raise Refusal(
            "No target was given; this model needs to know which column to predict. Add --target "
            f"with one of the columns {_listed(names)}.",
            Exit.DATA,
            f"{settings.command} --target {shlex.quote(names[-1])}",
        )
    if target is None or target in names:
        return
    near = {name.lower(): name for name in names}
    close = get_close_matches(target.lower(), near, n=1)
    nearest = near[close[0]] if close else names[-1]
    hint = f" Did you mean {nearest!r}?" if close else ""
    words = [nearest if word == target else word for word in shlex.split(settings.command)]
    words = [f"--target={nearest}" if word == f"--target={target}" else word for word in words]
    raise Refusal(
        f"There is no column {target!r}; the columns are {_listed(names)}.{hint}",
        Exit.DATA,
        shlex.join(words),
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
        classes = count(len(facts["classes"]), "class", "classes")
        text += f", target {facts['target']} ({classes})"
    return f"{heading(facts['model'])} on {facts['data']}: {text}."


def _listed(names: tuple[str, ...], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
