"""``likely models``: what exists, and the parameters of one."""

import click

from likely.cli.answer import Answer
from likely.cli.registry import MODELS, Model, model_named, parameters
from likely.cli.settings import Settings, global_options
from likely.cli.show import heading, table, width, wrapped

NEEDS = {
    "none": "no target",
    "class": "classes",
    "two classes": "two classes",
    "ordered": "ordered classes",
    "number": "a number",
}
NARROWEST = 30  # columns left for what a parameter is for


@click.command()
@click.argument("name", required=False)
@global_options
@click.pass_obj
def models(settings: Settings, name: str | None) -> Answer:
    """List the models, or the parameters of the one called NAME."""
    return _all() if name is None else _one(model_named(name))


def _all() -> Answer:
    rows = [[model.name, NEEDS[model.target], model.summary] for model in MODELS.values()]
    return Answer(
        text=table(["model", "target", ""], rows, words=range(3), indent=0),
        result={"models": [_facts(model) for model in MODELS.values()]},
        next="likely models naive-bayes",
    )


def _one(model: Model) -> Answer:
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
    example = f"--set {found[0].name}={_shown(found[0].default)}"
    return Answer(
        text=f"{heading(model.name)}: {model.summary}\n"
        f"In Python: likely.{model.estimator}\n\n"
        + table(["parameter", "default", ""], rows, words=range(3)),
        result={
            **_facts(model),
            "parameters": [{"name": p.name, "default": p.default, "doc": p.doc} for p in found],
        },
        next=f"likely train DATA {model.name}{target} {example}",
    )


def _facts(model: Model) -> dict[str, object]:
    return {
        "name": model.name,
        "estimator": model.estimator,
        "needs_target": model.supervised,
        "target": model.target,
        "summary": model.summary,
    }


def _shown(default: object) -> str:
    return default if isinstance(default, str) else repr(default)
