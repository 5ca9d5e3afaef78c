"""``likely curve``: how a model's score goes with rows, steps of the fit, or a setting."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.kinds import about_task
from likely.cli.options import DataOptions, data_options, open_data, open_with_target
from likely.cli.settings import Settings, global_options
from likely.errors import UnknownName

if TYPE_CHECKING:
    from likely.cli.runs import Run
    from likely.workbench.curves import Curve
    from likely.workbench.dataset import Dataset


class Asked(NamedTuple):
    """Rows, the model to be followed on them, and where its curve is kept."""

    rows: "Dataset"
    name: str  # of the model
    model: Any  # a name, or an estimator
    home: Path | None  # a SEAL or a RUN


@click.command()
@click.argument("data", metavar="DATA|SEAL|RUN")
@click.argument("model", required=False)
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option(
    "--of", "of", default="size", metavar="AXIS", help="size, iterations, or a setting; size."
)
@click.option("--values", metavar="A,B,…", help="Where to look: shares of the rows, steps, values.")
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Parts of the rows; 5.")
@click.option("-o", "output", metavar="FILE", help="Also a picture (.svg, .png, .pdf) or .json.")
@global_options
@click.pass_obj
def curve(
    settings: Settings,
    data: str,
    model: str | None,
    options: DataOptions,
    of: str,
    values: str | None,
    folds: int,
    output: str | None,
) -> Answer:
    """Score MODEL on training and held-out rows of DATA or a SEAL, along one axis.

    A gap that closes as rows are added asks for more rows; two curves that met ask for another
    model.  Of a RUN the model and its settings are known.  The curve is kept in the SEAL, in the
    RUN, or in the newest RUN of that model on DATA, and is in its report.
    """
    from likely.cli.kept_curves import refuse_unknown_suffix, write_curve
    from likely.cli.using import using_jobs
    from likely.cli.watch import watched
    from likely.workbench.curves import learning_curve

    refuse_unknown_suffix(output)
    asked = (_of_run if _is_run(data) else _of_data)(settings, data, model, options)
    with (
        using_jobs(settings.jobs),
        watched(settings, f"curve of {asked.name}", None, unit="fits"),
        _refusing_unknown_axis(asked.name),
    ):
        found = learning_curve(
            asked.rows,
            model=asked.model,
            of=of,
            values=_parsed(values),
            folds=folds,
            seed=settings.seed,
            name=asked.name,
        )
    if all(point.problem for point in found.points):
        problem = f"{asked.name} failed: {found.points[-1].problem}"
        raise Refusal(
            f"No point of the curve could be scored; at least one was expected. {problem}",
            Exit.DATA,
            "likely look --help",
        )
    drawn = () if output is None else (write_curve(found, output),)
    return _answer(found, asked, data, drawn, options)


def _answer(
    found: "Curve", asked: Asked, data: str, drawn: tuple[Path, ...], options: DataOptions
) -> Answer:
    """The curve, kept and drawn."""
    from likely.cli.kept_curves import keep_curve

    facts = found.facts() | ({"run": asked.home.name} if asked.home and _is_run(data) else {})
    kept = () if asked.home is None else keep_curve(asked.home, facts)
    return Answer(
        text=_text(found, asked, kept, drawn),
        result=facts,
        findings=about_task(found.rows.settled),
        files=(*kept, *drawn),
        next=_next(data, asked, options),
    )


@contextmanager
def _refusing_unknown_axis(model: str) -> Iterator[None]:
    """A setting that the model does not have is a mistake on the command line."""
    try:
        yield
    except UnknownName as error:
        raise Refusal(str(error), Exit.USAGE, f"likely models {model}") from None


def _is_run(name: str) -> bool:
    from likely.cli.runs import LAST, MODEL_FILE, RUNS

    return name == LAST or any((path / MODEL_FILE).is_file() for path in (Path(name), RUNS / name))


def _of_data(settings: Settings, data: str, model: str | None, options: DataOptions) -> Asked:
    """A model by its name, on DATA or on the training rows of a SEAL."""
    from likely.cli.compare import refuse_unknown_models
    from likely.cli.kept_curves import run_of

    if model is None:
        raise click.UsageError(
            f"No model was given for {data}; a RUN knows its own, other data do not. Add one of "
            "those that likely models names."
        )
    refuse_unknown_models((model,))
    rows = open_with_target(settings, data, options)
    home = run_of(rows.digest, str(rows.target), model) if rows.seal is None else rows.seal.path
    return Asked(rows, model, model, home)


def _of_run(settings: Settings, name: str, model: str | None, options: DataOptions) -> Asked:
    """The model of a RUN with its settings, on its rows, held out as they were for its score."""
    from likely.cli.kinds import task_for
    from likely.cli.registry import MODELS
    from likely.cli.runs import open_run, seal_of

    run = open_run(name)
    facts, given = run.facts, run.facts.get("parameters") or {}
    own, column = str(facts.get("model")), str(facts.get("target"))
    other = model not in (None, own) or options.target not in (None, column)
    if other or options.beyond_target:
        raise click.UsageError(
            f"{name} is a {own} for {column}, and something else was given. Leave MODEL and the "
            "options about the data (--target, --kind, --order, --group, --by-time, --drop, "
            "--category) out, or give the data in place of the run."
        )
    _refuse_roles(run, name)
    seal = seal_of(run)
    data = str(facts["data"]["name"]) if seal is None else str(seal.path)
    if seal is None:
        _refuse_missing(name, data)
    rows = open_data(settings, data, DataOptions.in_run(facts))
    if seal is None and rows.digest != facts["data"]["sha256"]:
        _refuse_changed(name, data, "has changed since")
    if facts.get("task") is None:  # a file that was streamed
        rows = rows.of_task(task_for(rows, MODELS[own], given))
    return Asked(rows, own, run.model, run.path)


def _refuse_roles(run: "Run", name: str) -> None:
    if run.facts.get("target") is None or run.facts.get("beside"):
        role = next(iter(run.facts.get("beside") or {}), None)
        what = "predicts no target" if role is None else f"was trained with --{role}"
        raise Refusal(
            f"{name} {what}; a curve scores predictions of a target from the features alone. Draw "
            "one of another run.",
            Exit.DATA,
            f"likely explain {shlex.quote(name)}",
        )


def _refuse_missing(name: str, data: str) -> None:
    from likely.workbench.builtin import BUILTIN

    if data not in BUILTIN and not Path(data).exists():
        _refuse_changed(name, data, "is not here")


def _refuse_changed(name: str, data: str, what: str) -> NoReturn:
    """A curve of other rows would tell of another model."""
    raise Refusal(
        f"{name} was trained on {data}, which {what}; its curve needs the same rows. Put them "
        "back, or train again.",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )


def _parsed(values: str | None) -> list[Any] | None:
    return None if values is None else [_value(word.strip()) for word in values.split(",")]


def _value(word: str) -> Any:
    """A number, True, False, None, or text."""
    named = {"true": True, "false": False, "none": None}
    if word.lower() in named:
        return named[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _text(found: "Curve", asked: Asked, kept: tuple[Path, ...], drawn: tuple[Path, ...]) -> str:
    from likely.cli.show import heading, wrapped

    title, _, rest = str(found).partition("\n")
    told = [f"Wrote {path}." for path in drawn]
    if kept:
        whose = "the reports of its runs" if asked.rows.sealed else "its report"
        told.append(f"Kept in {kept[0]}, for {whose}.")
    elif not drawn:
        told.append("It was not kept: -o FILE does so, and a RUN keeps its own for its report.")
    return f"{heading(title)}\n{rest}\n\n{wrapped(' '.join(told))}"


def _next(data: str, asked: Asked, options: DataOptions) -> str:
    """Of a RUN its report; of others the settings."""
    if _is_run(data):
        return f"likely report {shlex.quote(data)}"
    words = shlex.quote("FILE" if data == "-" else data)
    about = "" if asked.rows.sealed else f" --target {shlex.quote(str(asked.rows.target))}"
    return f"likely tune {words} {asked.name}{about}{options.words()}"
