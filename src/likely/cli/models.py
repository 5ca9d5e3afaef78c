"""``likely models``: the list of models, and the parameters of one."""

import click

from likely.cli.answer import Answer
from likely.cli.assignments import model_named, parameters, trainable
from likely.cli.settings import Settings, global_options
from likely.cli.terminal import heading, table, width, wrapped
from likely.kinds import kinds_in_order, kinds_in_words
from likely.workbench.model_entry import ModelEntry

NARROWEST = 30  # letters left for the description of a parameter


@click.command()
@click.argument("name", required=False)
@global_options
@click.pass_obj
def models(settings: Settings, name: str | None) -> Answer:
    """List the models, or the parameters of the model NAME."""
    return _all() if name is None else _one(model_named(name))


def _all() -> Answer:
    rows = [[model.name, kinds_in_words(model.suits), model.summary] for model in trainable()]
    return Answer(
        text=table(["model", "target", ""], rows, words=range(3), indent=0),
        result={"models": [_facts(model) for model in trainable()]},
        next="likely models naive-bayes",
    )


def _one(model: ModelEntry) -> Answer:
    found = parameters(model)
    first = max(len(parameter.name) for parameter in found)
    second = max(len(_shown(parameter.default)) for parameter in found)
    room = max(width() - first - second - 6, NARROWEST)
    rows = []
    for parameter in found:
        lines = wrapped(parameter.doc, width() - room).splitlines() or [""]
        rows.append([parameter.name, _shown(parameter.default), lines[0].strip()])
        rows.extend(["", "", line.strip()] for line in lines[1:])
    target = " --target COL" if model.supervised else ""
    return Answer(
        text=f"{heading(model.name)}: {model.summary}\n"
        f"In Python: {model.estimator if model.is_foreign else f'likely.{model.estimator}'}\n\n"
        + table(["parameter", "default", ""], rows, words=range(3)),
        result={
            **_facts(model),
            "parameters": [{"name": p.name, "default": p.default, "doc": p.doc} for p in found],
        },
        next=f"likely train DATA {model.name}{target}",
    )


def _facts(model: ModelEntry) -> dict[str, object]:
    return {
        "name": model.name,
        "estimator": model.estimator,
        "needs_target": model.supervised,
        "targets": kinds_in_order(model.suits),
        "summary": model.summary,
    }


def _shown(default: object) -> str:
    return default if isinstance(default, str) else repr(default)
